// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/insn/insn_alpha_text.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/insn/alpha_opcodes.h"

#define INSN_BYTES 4
#define REG_RA 26U

/* clang-format off */
static const char *const int_names[32] = {
	"v0", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "s0", "s1",
	"s2", "s3", "s4", "s5", "fp", "a0", "a1", "a2", "a3", "a4", "a5",
	"t8", "t9", "t10", "t11", "ra", "t12", "at", "gp", "sp", "zero",
};
/* clang-format on */

/* struct alpha_text - an instruction to be formatted */
struct alpha_text {
	const struct alpha_op *op;
	uint32_t word;
	uint64_t address;
	char *text;
	char second[8]; /* second operand of integer operations */
	char qualifier[ALPHA_QUALIFIER_BYTES];
};

#define PRINT(t, ...) ((void)snprintf((t)->text, INSN_TEXT_BYTES, __VA_ARGS__))

static const char *ra_name(const struct alpha_text *t)
{
	return int_names[alpha_ra(t->word)];
}

static const char *rb_name(const struct alpha_text *t)
{
	return int_names[alpha_rb(t->word)];
}

static const char *rc_name(const struct alpha_text *t)
{
	return int_names[alpha_rc(t->word)];
}

/* Pseudo-instructions of operations whose first operand is zero. */
static const char *pseudo_of(const char *name)
{
	static const char *const names[][2] = {
		{"or", "mov"},	  {"ornot", "not"},	{"addl", "sextl"},    {"subl", "negl"},
		{"subq", "negq"}, {"subl/v", "negl/v"}, {"subq/v", "negq/v"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i][0], name) == 0)
			return names[i][1];
	return NULL;
}

static void format_operate(struct alpha_text *t)
{
	const char *pseudo;
	bool from_zero = alpha_ra(t->word) == ALPHA_ZERO, copies;

	copies = strcmp(t->op->name, "or") == 0 && !alpha_has_literal(t->word) &&
		 alpha_ra(t->word) == alpha_rb(t->word);
	pseudo = from_zero || copies ? pseudo_of(t->op->name) : NULL;
	if (copies && from_zero) {
		if (alpha_rc(t->word) == ALPHA_ZERO)
			PRINT(t, "nop");
		else
			PRINT(t, "clr %s", rc_name(t));
	} else if (pseudo != NULL) {
		PRINT(t, "%s %s, %s", pseudo, t->second, rc_name(t));
	} else {
		PRINT(t, "%s %s, %s, %s", t->op->name, ra_name(t), t->second, rc_name(t));
	}
}

/* Format copies of a sign, which are used to move FP registers. */
static bool format_copy_sign(struct alpha_text *t)
{
	unsigned int a = alpha_ra(t->word), b = alpha_rb(t->word), c = alpha_rc(t->word);
	bool negates = strcmp(t->op->name, "cpysn") == 0;

	if (!negates && strcmp(t->op->name, "cpys") != 0)
		return false;
	if (a == b && negates)
		PRINT(t, "fneg $f%u, $f%u", a, c);
	else if (a != b && a == ALPHA_ZERO && !negates)
		PRINT(t, "fabs $f%u, $f%u", b, c);
	else if (a != b || negates)
		return false;
	else if (a == ALPHA_ZERO && c == ALPHA_ZERO)
		PRINT(t, "fnop");
	else if (a == ALPHA_ZERO)
		PRINT(t, "fclr $f%u", c);
	else
		PRINT(t, "fmov $f%u, $f%u", a, c);
	return true;
}

/* Format subtractions from zero that assemblers call negation: not chopped, not /u. */
static bool format_fp_negate(struct alpha_text *t)
{
	static const char *const qualifiers[] = {"", "/s", "/su", "/sui"};
	bool vax = t->op->qualifiers == ALPHA_VAX;

	if (strncmp(t->op->name, "sub", 3) != 0 || alpha_ra(t->word) != ALPHA_ZERO)
		return false;
	for (size_t i = 0; i < 4; i++) {
		if (strcmp(t->qualifier, qualifiers[i]) != 0 || (vax && i > 1))
			continue;
		PRINT(t, "neg%c%s $f%u, $f%u", t->op->name[3], t->qualifier, alpha_rb(t->word),
		      alpha_rc(t->word));
		return true;
	}
	return false;
}

static void format_operate_fp(struct alpha_text *t)
{
	if (format_copy_sign(t) || format_fp_negate(t))
		return;
	PRINT(t, "%s%s $f%u, $f%u, $f%u", t->op->name, t->qualifier, alpha_ra(t->word),
	      alpha_rb(t->word), alpha_rc(t->word));
}

static void format_memory(struct alpha_text *t)
{
	int displacement = (int16_t)(t->word & 0xffff);

	if (t->op->form == ALPHA_MEMORY_FP)
		PRINT(t, "%s $f%u, %d(%s)", t->op->name, alpha_ra(t->word), displacement,
		      rb_name(t));
	else if (t->op->form == ALPHA_LOAD_ADDRESS && alpha_rb(t->word) == ALPHA_ZERO)
		PRINT(t, "%s %s, %d", t->op->name, ra_name(t), displacement);
	else if (alpha_is_unop(t->word))
		PRINT(t, "unop");
	else
		PRINT(t, "%s %s, %d(%s)", t->op->name, ra_name(t), displacement, rb_name(t));
}

static void format_branch(struct alpha_text *t)
{
	uint64_t target = alpha_branch_target(t->word, t->address);

	if (t->op->form == ALPHA_BRANCH_FP)
		PRINT(t, "%s $f%u, 0x%" PRIx64, t->op->name, alpha_ra(t->word), target);
	else if (strcmp(t->op->name, "br") == 0 && alpha_ra(t->word) == ALPHA_ZERO)
		PRINT(t, "br 0x%" PRIx64, target);
	else
		PRINT(t, "%s %s, 0x%" PRIx64, t->op->name, ra_name(t), target);
}

/* The hint is the expected target of jmp and jsr, and a number for the others. */
static void format_jump(struct alpha_text *t)
{
	uint32_t hint = t->word & 0x3fff;
	bool unlinked = alpha_ra(t->word) == ALPHA_ZERO;
	bool returns = strcmp(t->op->name, "ret") == 0, jumps = strcmp(t->op->name, "jmp") == 0;

	if (returns && unlinked && alpha_rb(t->word) == REG_RA && hint == 1)
		PRINT(t, "ret");
	else if (jumps && unlinked && hint == 0)
		PRINT(t, "jmp (%s)", rb_name(t));
	else if (returns || strcmp(t->op->name, "jcr") == 0)
		PRINT(t, "%s %s, (%s), %#x", t->op->name, ra_name(t), rb_name(t), hint);
	else
		PRINT(t, "%s %s, (%s), 0x%" PRIx64, t->op->name, ra_name(t), rb_name(t),
		      t->address + INSN_BYTES + (uint64_t)((int64_t)((uint64_t)hint << 50) >> 48));
}

static void format_pal(struct alpha_text *t)
{
	static const struct {
		uint32_t function;
		const char *name;
	} names[] = {
		{0x00, "halt"},	  {0x02, "draina"},  {0x80, "bpt"},
		{0x81, "bugchk"}, {0x83, "callsys"}, {0x86, "imb"},
		{0x9e, "rduniq"}, {0x9f, "wruniq"},  {0xaa, "gentrap"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].function == t->word) {
			PRINT(t, "%s", names[i].name);
			return;
		}
	PRINT(t, "call_pal 0x%x", t->word);
}

static void format_rest(struct alpha_text *t)
{
	switch (t->op->form) {
	case ALPHA_UNARY:
	case ALPHA_UNARY_REG:
		PRINT(t, "%s %s, %s", t->op->name, t->second, rc_name(t));
		break;
	case ALPHA_CONSTANT:
		PRINT(t, "%s %s", t->op->name, rc_name(t));
		break;
	case ALPHA_TO_FP:
		PRINT(t, "%s %s, $f%u", t->op->name, ra_name(t), alpha_rc(t->word));
		break;
	case ALPHA_FROM_FP:
		PRINT(t, "%s $f%u, %s", t->op->name, alpha_ra(t->word), rc_name(t));
		break;
	case ALPHA_FPCR:
		PRINT(t, "%s $f%u", t->op->name, alpha_ra(t->word));
		break;
	case ALPHA_MISC_A:
		PRINT(t, "%s %s", t->op->name, ra_name(t));
		break;
	case ALPHA_MISC_AB:
		if (alpha_rb(t->word) == ALPHA_ZERO)
			PRINT(t, "%s %s", t->op->name, ra_name(t));
		else
			PRINT(t, "%s %s, %s", t->op->name, ra_name(t), rb_name(t));
		break;
	case ALPHA_MISC_AT_B:
		PRINT(t, "%s (%s)", t->op->name, rb_name(t));
		break;
	default:
		PRINT(t, "%s", t->op->name);
		break;
	}
}

static void format_op(struct alpha_text *t)
{
	switch (t->op->form) {
	case ALPHA_PAL:
		format_pal(t);
		break;
	case ALPHA_LOAD_ADDRESS:
	case ALPHA_MEMORY:
	case ALPHA_MEMORY_FP:
		format_memory(t);
		break;
	case ALPHA_BRANCH:
	case ALPHA_BRANCH_FP:
		format_branch(t);
		break;
	case ALPHA_JUMP:
		format_jump(t);
		break;
	case ALPHA_OPERATE:
	case ALPHA_REGISTERS:
		format_operate(t);
		break;
	case ALPHA_OPERATE_FP:
		format_operate_fp(t);
		break;
	case ALPHA_UNARY_FP:
		PRINT(t, "%s%s $f%u, $f%u", t->op->name, t->qualifier, alpha_rb(t->word),
		      alpha_rc(t->word));
		break;
	default:
		format_rest(t);
		break;
	}
}

int insn_alpha_format(char text[INSN_TEXT_BYTES], const uint8_t *code, size_t bytes,
		      uint64_t address)
{
	struct alpha_text t = {.address = address, .text = text};

	if (bytes < INSN_BYTES) {
		snprintf(text, INSN_TEXT_BYTES, ".byte");
		for (size_t i = 0; i < bytes; i++)
			snprintf(text + strlen(text), INSN_TEXT_BYTES - strlen(text), " 0x%02x",
				 code[i]);
		return -EINVAL;
	}
	memcpy(&t.word, code, sizeof(t.word));
	t.word = le32toh(t.word);
	t.op = alpha_op_find(t.word);
	if (t.op == NULL) {
		snprintf(text, INSN_TEXT_BYTES, ".word 0x%08x", t.word);
		return -EINVAL;
	}
	if (alpha_has_literal(t.word))
		snprintf(t.second, sizeof(t.second), "%#x", alpha_literal(t.word));
	else
		snprintf(t.second, sizeof(t.second), "%s", int_names[alpha_rb(t.word)]);
	alpha_op_qualifier(t.qualifier, t.op, t.word);
	format_op(&t);
	return 0;
}
