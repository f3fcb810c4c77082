// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads and writes of x86-64 instructions, compared with the processor itself. Everything not
 * listed as written is unchanged, and written values do not depend on anything not listed as read.
 * Covers integer registers, flags and memory.
 */
#include "tests/lib/unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analysis/insn/insn.h"
#include "tests/fixtures/elf_text.h"
#include "tests/fixtures/x86_tracee.h"

enum {
	TRIALS = 40000,
	INTEGERS = 16,
	DATA_MIDDLE = 0x8000, /* in the tracee's data: about where registers point */
	DATA_NEAR = 0x200,    /* accesses begin within this distance */
	DATA_FAR = 0x2000,    /* repeated accesses end within this distance */
	DATA_BYTES = 2 * DATA_FAR
};

struct trial {
	struct x86_tracee *tracee;
	struct elf_text text;
	uint64_t seed;
	uint8_t code[16];
	struct insn insn;
	uint64_t data[DATA_BYTES / 8];
};

/* The part of the machine state that is compared. */
struct machine {
	struct user_regs_struct regs;
	uint8_t data[DATA_BYTES];
};

static const uint64_t flag_bits[] = {0x001, 0x800, 0x0d4, 0x400};

static uint32_t draw(struct trial *trial, uint32_t below)
{
	return (uint32_t)(unit_random(&trial->seed) % below);
}

static unsigned long long *integer(struct user_regs_struct *regs, unsigned int number)
{
	unsigned long long *const at[INTEGERS] = {&regs->rax, &regs->rcx, &regs->rdx, &regs->rbx,
						  &regs->rsp, &regs->rbp, &regs->rsi, &regs->rdi,
						  &regs->r8,  &regs->r9,  &regs->r10, &regs->r11,
						  &regs->r12, &regs->r13, &regs->r14, &regs->r15};

	return at[number];
}

static uint64_t random_value(struct trial *trial)
{
	uint64_t value = unit_random(&trial->seed);

	switch (draw(trial, 6)) {
	case 0:
		return value;
	case 1:
		return value & 0xff;
	case 2:
		return -(value & 3);
	default:
		return TRACEE_DATA + DATA_MIDDLE + (value & 0xf8);
	}
}

static void registers_draw(struct trial *trial, struct user_regs_struct *regs,
			   const struct insn_regs *kept)
{
	unsigned int i;

	for (i = 0; i < INTEGERS; i++) {
		if (!insn_regs_has(kept, i))
			*integer(regs, i) = random_value(trial);
	}
	for (i = 0; i < sizeof(flag_bits) / sizeof(flag_bits[0]); i++) {
		if (!insn_regs_has(kept, INSN_REG_FLAGS + i))
			regs->eflags = (regs->eflags & ~flag_bits[i]) |
				       (unit_random(&trial->seed) & flag_bits[i]);
	}
	/* Some processors do not return to a stack pointer that is not canonical. */
	if (!insn_regs_has(kept, 4))
		regs->rsp = (uint64_t)((int64_t)(regs->rsp << 16) >> 16);
	if (!insn_regs_has(kept, 1) && draw(trial, 2) == 0)
		regs->rcx &= 31; /* counts */
}

/* Take code from a library, or make it at random. */
static void code_draw(struct trial *trial)
{
	static const uint8_t prefixes[] = {0x66, 0xf3, 0xf2, 0x48, 0x49, 0x4c, 0x40};
	size_t i = 0;

	if (draw(trial, 2) == 0) {
		memcpy(trial->code,
		       trial->text.code + draw(trial, (uint32_t)trial->text.bytes - 16),
		       sizeof(trial->code));
		return;
	}
	for (i = 0; i < sizeof(trial->code); i++)
		trial->code[i] = (uint8_t)unit_random(&trial->seed);
	i = 0;
	while (draw(trial, 2) == 0 && i < 3)
		trial->code[i++] = prefixes[draw(trial, sizeof(prefixes))];
	if (draw(trial, 2) == 0)
		trial->code[i] = 0x0f;
}

/* INSN_OTHER is excluded: enter walks through frames that do not exist. */
static bool is_comparable(const struct insn *insn)
{
	return insn->class != INSN_OTHER && insn->flow == INSN_FLOW_NEXT &&
	       insn->class != INSN_SYSTEM && insn->class != INSN_BARRIER &&
	       (insn->flags & INSN_FP) == 0 && !insn->memory.segment &&
	       (insn->reads.words[1] | insn->writes.words[1]) == 0;
}

/* Return true if the memory operand is within the compared memory. */
static bool is_near(const struct insn *insn, struct user_regs_struct *regs)
{
	const struct insn_memory *memory = &insn->memory;
	uint64_t address = (uint64_t)memory->displacement;

	if ((insn->flags & INSN_WRITES_MEMORY) == 0)
		return true;
	if (memory->base != INSN_REG_NONE)
		address += *integer(regs, memory->base);
	if (memory->index != INSN_REG_NONE)
		address += *integer(regs, memory->index) << memory->scale;
	return address - (TRACEE_DATA + DATA_MIDDLE - DATA_NEAR) < 2UL * DATA_NEAR;
}

/* Return: true if it was executed without a signal. */
static bool execute(struct trial *trial, struct machine *machine)
{
	uint8_t *data = trial->tracee->data + DATA_MIDDLE - DATA_FAR;

	memcpy(data, trial->data, DATA_BYTES);
	if (x86_tracee_step(trial->tracee, &machine->regs) != 0)
		return false;
	memcpy(machine->data, data, DATA_BYTES);
	return true;
}

static void trial_fail(const struct trial *trial, const char *what, unsigned int number)
{
	char text[INSN_TEXT_BYTES], hex[3 * INSN_BYTES_MAX + 1] = "";
	size_t i;

	for (i = 0; i < trial->insn.bytes; i++)
		snprintf(hex + 3 * i, 4, "%02x ", trial->code[i]);
	(void)insn_x86_decoder.format(text, trial->code, sizeof(trial->code), TRACEE_CODE);
	fail_msg("%s(%s): %s %u", hex, text, what, number);
}

static void unwritten_check(const struct trial *trial, struct machine *before,
			    struct machine *after)
{
	const struct insn_regs *writes = &trial->insn.writes;
	unsigned int i;

	for (i = 0; i < INTEGERS; i++) {
		if (!insn_regs_has(writes, i) &&
		    *integer(&before->regs, i) != *integer(&after->regs, i))
			trial_fail(trial, "changes register", i);
	}
	for (i = 0; i < sizeof(flag_bits) / sizeof(flag_bits[0]); i++) {
		if (!insn_regs_has(writes, INSN_REG_FLAGS + i) &&
		    (before->regs.eflags ^ after->regs.eflags) & flag_bits[i])
			trial_fail(trial, "changes flags", i);
	}
	if ((trial->insn.flags & INSN_WRITES_MEMORY) == 0 &&
	    memcmp(trial->data, after->data, DATA_BYTES) != 0)
		trial_fail(trial, "changes memory", 0);
}

/*
 * Return the flag bits that differ. Excludes flags that shifts and multiplications leave undefined,
 * which may be unchanged: no program depends on them.
 */
static uint64_t flags_differ(const struct trial *trial, struct machine *const one[2],
			     struct machine *const other[2])
{
	uint64_t differ = one[1]->regs.eflags ^ other[1]->regs.eflags;
	uint64_t computed = (one[0]->regs.eflags ^ one[1]->regs.eflags) |
			    (other[0]->regs.eflags ^ other[1]->regs.eflags);

	switch (trial->insn.class) {
	case INSN_SHIFT:
	case INSN_MULTIPLY:
	case INSN_DIVIDE:
		return differ & computed;
	default:
		return differ;
	}
}

/* @one, @other: states before and after */
static void written_check(const struct trial *trial, struct machine *const one[2],
			  struct machine *const other[2])
{
	uint64_t flags = flags_differ(trial, one, other);
	const struct insn_regs *writes = &trial->insn.writes;
	unsigned int i;

	for (i = 0; i < INTEGERS; i++) {
		if (insn_regs_has(writes, i) &&
		    *integer(&one[1]->regs, i) != *integer(&other[1]->regs, i))
			trial_fail(trial, "what it does not read changes register", i);
	}
	for (i = 0; i < sizeof(flag_bits) / sizeof(flag_bits[0]); i++) {
		if (insn_regs_has(writes, INSN_REG_FLAGS + i) && flags & flag_bits[i])
			trial_fail(trial, "what it does not read changes flags", i);
	}
	if (memcmp(one[1]->data, other[1]->data, DATA_BYTES) != 0)
		trial_fail(trial, "what it does not read changes memory", 0);
}

/* Return: true if there was a result to compare. */
static bool trial_run(struct trial *trial)
{
	static const struct insn_regs none;
	struct machine before, after, other_before, other;
	size_t i;

	code_draw(trial);
	if (insn_x86_decoder.decode(&trial->insn, trial->code, sizeof(trial->code), TRACEE_CODE) ==
		    0 ||
	    !is_comparable(&trial->insn))
		return false;
	memcpy(trial->tracee->code, trial->code, sizeof(trial->code));
	for (i = 0; i < DATA_BYTES / 8; i++)
		trial->data[i] = unit_random(&trial->seed);
	before.regs = trial->tracee->first;
	before.regs.rip = TRACEE_CODE;
	registers_draw(trial, &before.regs, &none);
	if (!is_near(&trial->insn, &before.regs))
		return false;
	after = before;
	if (!execute(trial, &after))
		return false;
	if (after.regs.rip != TRACEE_CODE + trial->insn.bytes)
		trial_fail(trial, "another length", (unsigned int)(after.regs.rip - TRACEE_CODE));
	unwritten_check(trial, &before, &after);
	other_before = before;
	registers_draw(trial, &other_before.regs, &trial->insn.reads);
	other = other_before;
	if (!execute(trial, &other))
		trial_fail(trial, "what it does not read makes it fault", 0);
	written_check(trial, (struct machine *const[2]){&before, &after},
		      (struct machine *const[2]){&other_before, &other});
	return true;
}

static void test_effects_agree_with_cpu(void **state)
{
	struct x86_tracee tracee;
	struct trial trial = {.tracee = &tracee, .seed = 17};
	unsigned int i, compared = 0;

	(void)state;
	if (!elf_text_open(&trial.text, "/usr/lib/x86_64-linux-gnu/libc.so.6"))
		skip();
	if (!x86_tracee_open(&tracee))
		skip();
	for (i = 0; i < TRIALS; i++)
		compared += trial_run(&trial);
	x86_tracee_close(&tracee);
	elf_text_close(&trial.text);
	assert_true(compared > TRIALS / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_effects_agree_with_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
