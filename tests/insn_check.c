// SPDX-License-Identifier: GPL-2.0-only
#include "tests/insn_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool regs_hold(const struct insn_regs *set, uint8_t reg)
{
	return reg == INSN_REG_NONE || insn_regs_has(set, reg);
}

static bool is_direct(const struct insn *insn)
{
	return insn->flow == INSN_FLOW_BRANCH || insn->flow == INSN_FLOW_JUMP ||
	       insn->flow == INSN_FLOW_CALL;
}

static bool touches_fp(const struct insn *insn)
{
	const uint64_t fp = UINT64_C(0xffffffff) | UINT64_C(1) << (INSN_REG_X87 - INSN_REG_FP);

	return ((insn->reads.words[1] | insn->writes.words[1]) & fp) != 0;
}

static const char *registers_check(const struct insn *insn)
{
	size_t i;

	for (i = 0; i < INSN_SOURCES; i++) {
		if (!regs_hold(&insn->reads, insn->sources[i]))
			return "a source is not read";
		if (insn->flags & INSN_ZEROES && insn->sources[i] != INSN_REG_NONE)
			return "a result that depends on nothing has a source";
	}
	if (!regs_hold(&insn->writes, insn->destination))
		return "the destination is not written";
	if (!regs_hold(&insn->reads, insn->memory.base) ||
	    !regs_hold(&insn->reads, insn->memory.index))
		return "an address register is not read";
	return NULL;
}

const char *insn_check(const struct insn *insn, const struct insn_decoder *decoder)
{
	bool calls = insn->flow == INSN_FLOW_CALL || insn->flow == INSN_FLOW_CALL_INDIRECT;

	if (insn->bytes == 0 || insn->bytes > INSN_BYTES_MAX ||
	    insn->bytes % decoder->alignment != 0)
		return "length";
	if (insn->class >= INSN_CLASSES || insn->flow > INSN_FLOW_STOP)
		return "class or flow";
	if (!is_direct(insn) && insn->target != 0)
		return "a target of what does not go there";
	if (insn->flow != INSN_FLOW_NEXT && insn->flow != INSN_FLOW_STOP &&
	    insn->class != INSN_CONTROL && insn->class != INSN_SYSTEM)
		return "a jump of another class";
	if (calls && (insn->flags & INSN_LINKS) == 0)
		return "a call without return address";
	if ((insn->class == INSN_LOAD && (insn->flags & INSN_READS_MEMORY) == 0) ||
	    (insn->class == INSN_STORE && (insn->flags & INSN_WRITES_MEMORY) == 0))
		return "a load or store without memory";
	if (insn->memory.pc_relative &&
	    (insn->memory.base != INSN_REG_NONE || insn->memory.index != INSN_REG_NONE))
		return "a PC-relative address with registers";
	if (touches_fp(insn) && (insn->flags & INSN_FP) == 0)
		return "FP registers without the flag";
	return registers_check(insn);
}

static const char *same_again(const struct insn *insn, const uint8_t *code,
			      const struct insn_decoder *decoder)
{
	struct insn again;

	memset(&again, 0x5a, sizeof(again));
	if (decoder->decode(&again, code, insn->bytes, insn->address) != insn->bytes)
		return "not the same without what follows";
	if (again.opcode != insn->opcode || again.target != insn->target ||
	    again.immediate != insn->immediate ||
	    memcmp(&again.reads, &insn->reads, sizeof(again.reads)) != 0 ||
	    memcmp(&again.writes, &insn->writes, sizeof(again.writes)) != 0 ||
	    again.flags != insn->flags || again.class != insn->class || again.flow != insn->flow)
		return "not the same a second time";
	if (insn->bytes > 1 && decoder->decode(&again, code, insn->bytes - 1U, insn->address) != 0)
		return "decoded though it is cut off";
	return NULL;
}

/* Copy the code to the end of a readable page: libraries are not built with ASan. */
static uint8_t *before_guard(const uint8_t *code, size_t bytes)
{
	static uint8_t *page;
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

	if (page == NULL) {
		page = mmap(NULL, 2 * page_bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (page == MAP_FAILED || mprotect(page + page_bytes, page_bytes, PROT_NONE) != 0 ||
		    bytes > page_bytes)
			abort();
	}
	if (bytes > 0)
		memcpy(page + page_bytes - bytes, code, bytes);
	return page + page_bytes - bytes;
}

const char *insn_check_bytes(const uint8_t *code, size_t bytes, uint64_t address,
			     const struct insn_decoder *decoder)
{
	uint8_t *copy = before_guard(code, bytes);
	const char *wrong = NULL;
	char text[INSN_TEXT_BYTES];
	struct insn insn;
	size_t length;
	int err;

	memset(text, 'x', sizeof(text));
	length = decoder->decode(&insn, copy, bytes, address);
	err = decoder->format(text, copy, bytes, address);
	if (memchr(text, '\0', sizeof(text)) == NULL)
		wrong = "text does not end";
	else if ((err == 0) != (length != 0))
		wrong = "decoded and formatted are not the same";
	else if (length > bytes || (length != 0 && length != insn.bytes))
		wrong = "length";
	else if (length != 0)
		wrong = insn_check(&insn, decoder);
	if (wrong == NULL && length != 0)
		wrong = same_again(&insn, before_guard(code, length), decoder);
	return wrong;
}

static void append(char text[INSN_DESCRIPTION_BYTES], const char *format, ...)
{
	size_t length = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + length, INSN_DESCRIPTION_BYTES - length, format, args);
	va_end(args);
}

static const char *register_name(char name[8], unsigned int reg, enum insn_isa isa)
{
	static const char *const x86[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"};
	static const char *const x86_flags[] = {"cf", "of", "zf", "df"};

	if (isa == INSN_ISA_X86_64 && reg < 8)
		return x86[reg];
	if (isa == INSN_ISA_X86_64 && reg >= INSN_REG_FLAGS && reg < INSN_REG_FLAGS + 4)
		return x86_flags[reg - INSN_REG_FLAGS];
	if (isa == INSN_ISA_ARM64 && reg == 31)
		return "sp";
	if (reg == INSN_REG_FLAGS)
		return "nzcv";
	if (reg == INSN_REG_X87)
		return "st";
	if (reg < INSN_REG_FLAGS)
		snprintf(name, 8, "%c%u", isa == INSN_ISA_ARM64 ? 'x' : 'r', reg);
	else if (reg >= INSN_REG_MASK)
		snprintf(name, 8, "k%u", reg - INSN_REG_MASK);
	else
		snprintf(name, 8, "v%u", reg - INSN_REG_FP);
	return name;
}

static void append_regs(char text[INSN_DESCRIPTION_BYTES], const struct insn_regs *set,
			enum insn_isa isa)
{
	unsigned int reg;
	char name[8];

	append(text, ";");
	for (reg = 0; reg < INSN_REGS; reg++) {
		if (insn_regs_has(set, reg))
			append(text, " %s", register_name(name, reg, isa));
	}
}

static void append_memory(char text[INSN_DESCRIPTION_BYTES], const struct insn *insn,
			  enum insn_isa isa)
{
	const struct insn_memory *memory = &insn->memory;
	char name[8];

	if (memory->base == INSN_REG_NONE && memory->index == INSN_REG_NONE &&
	    !memory->pc_relative && memory->displacement == 0)
		return;
	append(text, " [%s%s", memory->segment ? "segment " : "", memory->pc_relative ? "pc " : "");
	if (memory->base != INSN_REG_NONE)
		append(text, "%s", register_name(name, memory->base, isa));
	if (memory->index != INSN_REG_NONE)
		append(text, "+%s<<%u", register_name(name, memory->index, isa), memory->scale);
	if (memory->displacement != 0)
		append(text, "%+" PRId64, memory->displacement);
	append(text, "]%u%s", memory->bytes, memory->pushes ? "!" : "");
}

static void append_kind(char text[INSN_DESCRIPTION_BYTES], const struct insn *insn)
{
	static const char *const flows[] = {"next", "branch",	     "jump",   "jump-indirect",
					    "call", "call-indirect", "return", "stop"};
	static const char *const classes[INSN_CLASSES] = {
		"other",	  "nop",	"alu",
		"shift",	  "cmov",	"multiply",
		"divide",	  "load",	"store",
		"prefetch",	  "control",	"fp-move",
		"fp-transfer",	  "fp-add",	"fp-convert",
		"fp-multiply",	  "fp-fma",	"fp-divide",
		"fp-sqrt",	  "vector-alu", "vector-multiply",
		"vector-shuffle", "crypto",	"atomic",
		"barrier",	  "string",	"system"};
	static const char *const flags[] = {"reads",	   "writes", "fp",    "serializes",
					    "conditional", "links",  "zeroes"};
	size_t i;

	append(text, " %s %s %u", flows[insn->flow], classes[insn->class], insn->operand_bytes);
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (insn->flags >> i & 1)
			append(text, " %s", flags[i]);
	}
}

void insn_describe(char text[INSN_DESCRIPTION_BYTES], const uint8_t *code, size_t bytes,
		   uint64_t address, const struct insn_decoder *decoder)
{
	char assembler[INSN_TEXT_BYTES];
	struct insn insn;

	(void)decoder->format(assembler, code, bytes, address);
	snprintf(text, INSN_DESCRIPTION_BYTES, "%s;", assembler);
	if (decoder->decode(&insn, code, bytes, address) == 0)
		return;
	append_kind(text, &insn);
	append_regs(text, &insn.reads, decoder->isa);
	append_regs(text, &insn.writes, decoder->isa);
	append(text, ";");
	append_memory(text, &insn, decoder->isa);
	if (insn.target != 0)
		append(text, " ->0x%" PRIx64, insn.target);
	if (insn.immediate != 0)
		append(text, " #%" PRId64, insn.immediate);
}
