// SPDX-License-Identifier: GPL-2.0-only
/*
 * The Alpha decoder: its text is compared with binutils' for words of all kinds, its registers with
 * examples, and any word must satisfy the invariants.
 */
#include "tests/lib/unit.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/insn/insn.h"
#include "tests/eval/truth/sim_insn.h"

#define OBJDUMP "alpha-linux-gnu-objdump"

static int format(char text[INSN_TEXT_BYTES], uint32_t word, uint64_t address)
{
	uint8_t code[4] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
			   (uint8_t)(word >> 24)};

	return insn_alpha_decoder.format(text, code, sizeof(code), address);
}

static size_t decode(struct insn *insn, uint32_t word)
{
	uint8_t code[4] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
			   (uint8_t)(word >> 24)};

	return insn_alpha_decoder.decode(insn, code, sizeof(code), 0x1000);
}

/*
 * Remove differences of formatting: blanks, leading zeros of addresses, and numbers of opcodes that
 * only PALcode has.
 */
static void normalize(char *text)
{
	char *to = text;

	for (const char *from = text; *from != '\0'; from++) {
		if (*from == ' ' || *from == '\t' || *from == '\n')
			continue;
		*to++ = *from;
		if (to - text >= 2 && to[-2] == '0' && to[-1] == 'x')
			while (from[1] == '0' && isxdigit((unsigned char)from[2]))
				from++;
	}
	*to = '\0';
	if (strncmp(text, ".long", 5) == 0 || strncmp(text, "pal", 3) == 0)
		strcpy(text, ".word");
	if (strncmp(text, ".word", 5) == 0)
		strcpy(text, ".word");
}

/* Make words with a useful distribution: often few registers, zero, small functions. */
static uint32_t random_word(uint64_t *random)
{
	uint64_t bits = unit_random(random);
	uint32_t word = (uint32_t)bits;

	bits >>= 32;
	if ((bits & 3) == 0)
		word |= 31U << 21;
	if ((bits >> 2 & 3) == 0)
		word |= 31U << 16;
	if ((bits >> 4 & 7) == 0)
		word |= 31U;
	if ((bits >> 7 & 1) == 0)
		word &= ~0xe000U;
	if ((bits >> 8 & 7) == 0)
		word = (word & ~(31U << 16)) | (word >> 21 & 31) << 16;
	if ((bits >> 11 & 7) == 0)
		word &= 0xfc0000ff;
	return word;
}

#define EXHAUSTIVE_OPERATES (14 * 2048 * 4)
#define WORDS (EXHAUSTIVE_OPERATES + 200000)

static size_t make_words(uint32_t *words)
{
	/* Ra, Rb, Rc: all different, all equal, with zeros. */
	static const uint32_t registers[4] = {1U << 21 | 2U << 16 | 3, 31U << 21 | 2U << 16 | 3,
					      1U << 21 | 31U << 16 | 3, 31U << 21 | 31U << 16 | 31};
	uint64_t random = 7;
	size_t count = 0;

	for (uint32_t opcode = 0x10; opcode < 0x1e; opcode++)
		for (uint32_t function = 0; function < 2048; function++)
			for (int i = 0; i < 4; i++)
				words[count++] = opcode << 26 | function << 5 | registers[i];
	while (count < WORDS)
		words[count++] = random_word(&random);
	return count;
}

static void test_text_agrees_with_binutils(void **state)
{
	char path[] = "/tmp/unit_insn_alpha.XXXXXX", command[256], line[512], text[INSN_TEXT_BYTES];
	uint32_t *words = calloc(WORDS, sizeof(*words));
	size_t count, compared = 0, defined = 0;
	int fd = mkstemp(path);
	FILE *objdump;

	(void)state;
	assert_non_null(words);
	assert_true(fd >= 0);
	count = make_words(words);
	assert_int_equal(write(fd, words, count * sizeof(*words)), count * sizeof(*words));
	close(fd);
	snprintf(command, sizeof(command), OBJDUMP " -D -z -b binary -m alpha %s", path);
	objdump = popen(command, "r");
	assert_non_null(objdump);
	while (fgets(line, sizeof(line), objdump) != NULL) {
		char *theirs = strchr(line, '\t');
		unsigned long address;

		if (theirs == NULL || sscanf(line, "%lx:", &address) != 1)
			continue;
		theirs = strchr(theirs + 1, '\t');
		assert_non_null(theirs);
		assert_true(address / 4 < count);
		normalize(theirs);
		defined += format(text, words[address / 4], address) == 0;
		normalize(text);
		if (strcmp(text, theirs) != 0)
			fail_msg("%08x: \"%s\", binutils: \"%s\"", words[address / 4], text,
				 theirs);
		compared++;
	}
	assert_int_equal(pclose(objdump), 0);
	unlink(path);
	free(words);
	assert_int_equal(compared, count);
	assert_true(defined > 100000);
}

/* Invariants of any word: registers exist, and decode and format agree. */
static void test_any_word_is_valid(void **state)
{
	uint64_t random = 11;
	char text[INSN_TEXT_BYTES];

	(void)state;
	for (int i = 0; i < 500000; i++) {
		uint32_t word = i % 2 == 0 ? random_word(&random) : (uint32_t)unit_random(&random);
		struct insn insn;
		size_t bytes = decode(&insn, word);

		assert_int_equal(bytes == 4, format(text, word, 0x1000) == 0);
		assert_true(strlen(text) > 0);
		if (bytes == 0)
			continue;
		assert_false(insn_regs_has(&insn.reads, 31) || insn_regs_has(&insn.writes, 31));
		assert_false(insn_regs_has(&insn.reads, 95) || insn_regs_has(&insn.writes, 95));
		for (int s = 0; s < INSN_SOURCES; s++)
			assert_true(insn.sources[s] == INSN_REG_NONE ||
				    insn_regs_has(&insn.reads, insn.sources[s]));
		assert_true(insn.destination == INSN_REG_NONE ||
			    insn_regs_has(&insn.writes, insn.destination));
		assert_true(insn.class < INSN_CLASSES);
		assert_int_equal(insn.opcode, word);
		if (insn.flow == INSN_FLOW_BRANCH || insn.flow == INSN_FLOW_CALL)
			assert_int_equal(insn.target % 4, 0);
	}
}

/* The simulator of the truth harness has an independent decoder. */
static struct insn_regs simulator_regs(const uint8_t *regs, size_t count)
{
	struct insn_regs set = {0};

	for (size_t i = 0; i < count; i++)
		if (regs[i] < SIM_REG_FP)
			insn_regs_add(&set, regs[i]);
		else if (regs[i] < SIM_REG_FLAGS)
			insn_regs_add(&set, INSN_REG_FP + regs[i] - SIM_REG_FP);
	return set;
}

/* Calls without a link register are jumps here; the simulator uses the hint. */
static bool same_flow(const struct insn *insn, enum sim_flow flow)
{
	static const uint8_t flows[] = {
		[SIM_NEXT] = INSN_FLOW_NEXT,
		[SIM_CONDITIONAL] = INSN_FLOW_BRANCH,
		[SIM_DIRECT] = INSN_FLOW_JUMP,
		[SIM_CALL] = INSN_FLOW_CALL,
		[SIM_INDIRECT] = INSN_FLOW_JUMP_INDIRECT,
		[SIM_INDIRECT_CALL] = INSN_FLOW_CALL_INDIRECT,
		[SIM_RETURN] = INSN_FLOW_RETURN,
	};

	if (insn->class == INSN_CONTROL && insn->destination == INSN_REG_NONE &&
	    (flow == SIM_CALL || flow == SIM_INDIRECT_CALL))
		return insn->flow == INSN_FLOW_JUMP || insn->flow == INSN_FLOW_JUMP_INDIRECT;
	return flows[flow] == insn->flow;
}

/* Compare kinds of work that have timings of their own; other kinds may be divided differently. */
static bool same_work(const struct insn *insn, enum sim_kind kind)
{
	/* An instruction without destination is a no-op there. */
	if (insn->destination == INSN_REG_NONE && kind == SIM_NOP)
		return true;
	switch (insn->class) {
	case INSN_LOAD:
		return kind == ((insn->flags & INSN_FP) != 0 ? SIM_FP_LOAD : SIM_LOAD);
	case INSN_STORE:
		return kind == ((insn->flags & INSN_FP) != 0 ? SIM_FP_STORE : SIM_STORE);
	case INSN_MULTIPLY:
		return kind == (insn->operand_bytes == 4 ? SIM_MUL32 : SIM_MUL64) ||
		       kind == SIM_MULH;
	case INSN_FP_ADD:
		return kind == SIM_FP_ADD || kind == SIM_FP_COMPARE;
	case INSN_FP_MULTIPLY:
		return kind == SIM_FP_MUL;
	case INSN_FP_DIVIDE:
		return kind == (insn->operand_bytes == 4 ? SIM_FP_DIV32 : SIM_FP_DIV64);
	default:
		return true;
	}
}

/* The simulated machine has no FIX extension, and the simulator no VAX formats. */
static bool is_on_the_21164(uint32_t word)
{
	uint32_t opcode = word >> 26;

	return opcode != 0x14 && opcode != 0x15 && !(opcode == 0x1c && (word >> 5 & 0x70) == 0x70);
}

static void test_effect_agrees_with_simulator(void **state)
{
	uint64_t random = 13;
	size_t compared = 0;

	(void)state;
	for (int i = 0; i < 500000; i++) {
		uint32_t word = random_word(&random);
		struct insn_regs reads, writes;
		struct sim_op op;
		struct insn insn;

		if (decode(&insn, word) == 0 || insn.class == INSN_SYSTEM || !is_on_the_21164(word))
			continue;
		op = sim_isa_alpha(word);
		reads = simulator_regs(op.sources, SIM_SOURCES);
		writes = simulator_regs(op.targets, op.target_count);
		if (memcmp(&reads, &insn.reads, sizeof(reads)) != 0 ||
		    memcmp(&writes, &insn.writes, sizeof(writes)) != 0 ||
		    !same_flow(&insn, op.flow) || !same_work(&insn, op.kind))
			fail_msg("%08x: other registers, flow (%d, %d) or work (%d, %d)", word,
				 insn.flow, op.flow, insn.class, op.kind);
		compared++;
	}
	assert_true(compared > 100000);
}

static void test_truncated_code(void **state)
{
	uint8_t code[4] = {0x43, 0x05, 0xe1, 0x43};
	char text[INSN_TEXT_BYTES];
	struct insn insn;

	(void)state;
	for (size_t bytes = 0; bytes < 4; bytes++) {
		uint8_t *cut = malloc(bytes + 1); /* exact size, for ASan */

		assert_non_null(cut);
		memcpy(cut, code, bytes);
		assert_int_equal(insn_alpha_decoder.decode(&insn, cut, bytes, 0), 0);
		assert_int_equal(insn_alpha_decoder.format(text, cut, bytes, 0), -EINVAL);
		free(cut);
	}
}

struct expected {
	uint32_t word;
	const char *text;
	enum insn_flow flow;
	enum insn_class class;
	uint64_t reads;	 /* integer registers */
	uint64_t writes; /* integer registers */
	unsigned int flags;
	int64_t immediate;
	uint64_t target;
};

#define R(n) (UINT64_C(1) << (n))

/* Examples at address 0x1000. */
static const struct expected examples[] = {
	{0xa4a20000, "ldq t4, 0(t1)", INSN_FLOW_NEXT, INSN_LOAD, R(2), R(5), INSN_READS_MEMORY, 0,
	 0},
	{0x40209401, "addq t0, 0x4, t0", INSN_FLOW_NEXT, INSN_ALU, R(1), R(1), 0, 4, 0},
	{0x20420020, "lda t1, 32(t1)", INSN_FLOW_NEXT, INSN_ALU, R(2), R(2), 0, 32, 0},
	{0x27bb0002, "ldah gp, 2(t12)", INSN_FLOW_NEXT, INSN_ALU, R(27), R(29), 0, 0x20000, 0},
	{0x203fffff, "lda t0, -1", INSN_FLOW_NEXT, INSN_ALU, 0, R(1), 0, -1, 0},
	{0xb4a30000, "stq t4, 0(t2)", INSN_FLOW_NEXT, INSN_STORE, R(5) | R(3), 0,
	 INSN_WRITES_MEMORY, 0, 0},
	{0x402003a5, "cmpult t0, v0, t4", INSN_FLOW_NEXT, INSN_ALU, R(1) | R(0), R(5), 0, 0, 0},
	{0xf4bffff3, "bne t4, 0xfd0", INSN_FLOW_BRANCH, INSN_CONTROL, R(5), 0, 0, 0, 0xfd0},
	{0x44220483, "cmoveq t0, t1, t2", INSN_FLOW_NEXT, INSN_CMOV, R(1) | R(2) | R(3), R(3),
	 INSN_CONDITIONAL, 0, 0},
	{0x4c220403, "mulq t0, t1, t2", INSN_FLOW_NEXT, INSN_MULTIPLY, R(1) | R(2), R(3), 0, 0, 0},
	{0x2ffe0000, "unop", INSN_FLOW_NEXT, INSN_NOP, 0, 0, 0, 0, 0},
	{0x47ff041f, "nop", INSN_FLOW_NEXT, INSN_NOP, 0, 0, 0, 0, 0},
	{0x6bfa8001, "ret", INSN_FLOW_RETURN, INSN_CONTROL, R(26), 0, 0, 0, 0},
	{0x6b5b4000, "jsr ra, (t12), 0x1004", INSN_FLOW_CALL_INDIRECT, INSN_CONTROL, R(27), R(26),
	 INSN_LINKS, 0, 0},
	{0x6be10000, "jmp (t0)", INSN_FLOW_JUMP_INDIRECT, INSN_CONTROL, R(1), 0, 0, 0, 0},
	{0xd3400010, "bsr ra, 0x1044", INSN_FLOW_CALL, INSN_CONTROL, 0, R(26), INSN_LINKS, 0,
	 0x1044},
	{0xc3e00001, "br 0x1008", INSN_FLOW_JUMP, INSN_CONTROL, 0, 0, 0, 0, 0x1008},
	{0xa8a20000, "ldl_l t4, 0(t1)", INSN_FLOW_NEXT, INSN_ATOMIC, R(2), R(5), INSN_READS_MEMORY,
	 0, 0},
	{0xb8a20000, "stl_c t4, 0(t1)", INSN_FLOW_NEXT, INSN_ATOMIC, R(2) | R(5), R(5),
	 INSN_WRITES_MEMORY, 0, 0},
	{0x0000009e, "rduniq", INSN_FLOW_NEXT, INSN_SYSTEM, 0, R(0), INSN_SERIALIZES, 0, 0},
	{0x00000081, "bugchk", INSN_FLOW_STOP, INSN_SYSTEM, 0, 0, INSN_SERIALIZES, 0, 0},
	{0x63ff4400, "wmb", INSN_FLOW_NEXT, INSN_BARRIER, 0, 0, 0, 0, 0},
};

static void test_examples(void **state)
{
	char text[INSN_TEXT_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		const struct expected *e = &examples[i];
		struct insn insn;

		assert_int_equal(decode(&insn, e->word), 4);
		assert_int_equal(format(text, e->word, 0x1000), 0);
		assert_string_equal(text, e->text);
		assert_int_equal(insn.flow, e->flow);
		assert_int_equal(insn.class, e->class);
		assert_int_equal(insn.reads.words[0], e->reads);
		assert_int_equal(insn.writes.words[0], e->writes);
		assert_int_equal(insn.flags, e->flags);
		assert_int_equal(insn.immediate, e->immediate);
		assert_int_equal(insn.target, e->target);
	}
}

static void test_floating_point_registers(void **state)
{
	struct insn insn;

	(void)state;
	assert_int_equal(decode(&insn, 0x5c22b003 & ~0x1000U), 0); /* opcode 17, unknown function */
	assert_int_equal(decode(&insn, 0x58221403), 4);		   /* addt $f1,$f2,$f3 */
	assert_int_equal(insn.class, INSN_FP_ADD);
	assert_int_equal(insn.reads.words[0], 0);
	assert_int_equal(insn.reads.words[1], R(1) | R(2));
	assert_int_equal(insn.writes.words[1], R(3));
	assert_int_equal(insn.destination, INSN_REG_FP + 3);
	assert_int_equal(decode(&insn, 0x8c220008), 4); /* ldt $f1,8(t1) */
	assert_int_equal(insn.memory.base, 2);
	assert_int_equal(insn.memory.displacement, 8);
	assert_int_equal(insn.writes.words[1], R(1));
	assert_int_equal(insn.flags, INSN_READS_MEMORY | INSN_FP);
	assert_int_equal(decode(&insn, 0x70221f03 & ~(31U << 16) & ~0x1000U),
			 0);				/* ftoit needs Rb 31 */
	assert_int_equal(decode(&insn, 0x703f0e03), 4); /* ftoit $f1,t2 */
	assert_int_equal(insn.reads.words[1], R(1));
	assert_int_equal(insn.writes.words[0], R(3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_agrees_with_binutils),
		cmocka_unit_test(test_any_word_is_valid),
		cmocka_unit_test(test_effect_agrees_with_simulator),
		cmocka_unit_test(test_truncated_code),
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_floating_point_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
