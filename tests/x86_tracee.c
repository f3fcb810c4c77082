// SPDX-License-Identifier: GPL-2.0-only
#include "tests/x86_tracee.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* Bits of RFLAGS that user-space instructions compute. */
#define FLAGS_COMPARED 0xcd5UL
#define FLAG_TF 0x100UL
/* AC and ID keep the value of the last instruction, and cannot be set here. */
#define FLAGS_KEPT 0x240000UL

enum {
	REPEATS_MAX = 1 << 10
};

static const size_t places[] = {
	offsetof(struct user_regs_struct, rax),	    offsetof(struct user_regs_struct, rcx),
	offsetof(struct user_regs_struct, rdx),	    offsetof(struct user_regs_struct, rbx),
	offsetof(struct user_regs_struct, rsp),	    offsetof(struct user_regs_struct, rbp),
	offsetof(struct user_regs_struct, rsi),	    offsetof(struct user_regs_struct, rdi),
	offsetof(struct user_regs_struct, r8),	    offsetof(struct user_regs_struct, r9),
	offsetof(struct user_regs_struct, r10),	    offsetof(struct user_regs_struct, r11),
	offsetof(struct user_regs_struct, r12),	    offsetof(struct user_regs_struct, r13),
	offsetof(struct user_regs_struct, r14),	    offsetof(struct user_regs_struct, r15),
	offsetof(struct user_regs_struct, fs_base), offsetof(struct user_regs_struct, gs_base)};

enum {
	PLACES = sizeof(places) / sizeof(places[0])
};

static unsigned long long value_at(const struct user_regs_struct *regs, size_t i)
{
	unsigned long long value;

	memcpy(&value, (const char *)regs + places[i], sizeof(value));
	return value;
}

void x86_state_set(struct interpret_state *state, const struct user_regs_struct *regs)
{
	size_t i;

	memset(state, 0, sizeof(*state));
	state->pc = regs->rip;
	state->flags = regs->eflags;
	state->flags_known = ~FLAGS_KEPT;
	state->known = (1U << PLACES) - 1;
	for (i = 0; i < PLACES; i++)
		state->reg[i] = value_at(regs, i);
}

void x86_state_get(const struct interpret_state *state, struct user_regs_struct *regs)
{
	size_t i;

	regs->rip = state->pc;
	regs->eflags = state->flags;
	for (i = 0; i < PLACES; i++)
		memcpy((char *)regs + places[i], &state->reg[i], sizeof(state->reg[i]));
}

int x86_state_differs(const struct interpret_state *state, const struct user_regs_struct *regs)
{
	size_t i;

	if (state->pc != regs->rip)
		return 33;
	if ((state->flags ^ regs->eflags) & state->flags_known & FLAGS_COMPARED)
		return 32;
	for (i = 0; i < PLACES; i++) {
		if (state->known >> i & 1 && state->reg[i] != value_at(regs, i))
			return (int)i;
	}
	return -1;
}

static uint8_t *region(unsigned long address, size_t bytes, int protection)
{
	void *at = mmap((void *)address, bytes, protection,
			MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	return at == (void *)address ? at : NULL;
}

bool x86_tracee_open(struct x86_tracee *tracee)
{
	int status;

	tracee->code = region(TRACEE_CODE, TRACEE_CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC);
	tracee->data = region(TRACEE_DATA, TRACEE_DATA_BYTES, PROT_READ | PROT_WRITE);
	if (tracee->code == NULL || tracee->data == NULL)
		abort();
	tracee->pid = fork();
	if (tracee->pid == 0) {
		/* Self-modifying code is excluded. */
		if (mprotect(tracee->code, TRACEE_CODE_BYTES, PROT_READ | PROT_EXEC) == 0 &&
		    ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
			raise(SIGSTOP);
		_exit(1);
	}
	if (tracee->pid < 0 || waitpid(tracee->pid, &status, 0) != tracee->pid ||
	    !WIFSTOPPED(status))
		return false;
	ptrace(PTRACE_SETOPTIONS, tracee->pid, NULL, (void *)PTRACE_O_EXITKILL);
	return ptrace(PTRACE_GETREGS, tracee->pid, NULL, &tracee->first) == 0;
}

void x86_tracee_close(struct x86_tracee *tracee)
{
	if (tracee->pid > 0) {
		kill(tracee->pid, SIGKILL);
		waitpid(tracee->pid, NULL, 0);
	}
	munmap(tracee->code, TRACEE_CODE_BYTES);
	munmap(tracee->data, TRACEE_DATA_BYTES);
}

/* Return the end of a cpuid instruction at @pc, or 0 for another instruction. */
static unsigned long long cpuid_end(const struct x86_tracee *tracee, unsigned long long pc)
{
	static const uint8_t prefixes[] = {0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x26,
					   0x2e, 0x36, 0x3e, 0x64, 0x65};
	const uint8_t *code = tracee->code + (pc - TRACEE_CODE), *at = code;

	if (pc - TRACEE_CODE > TRACEE_CODE_BYTES - 16)
		return 0;
	while (at < code + 14 && (*at >> 4 == 4 || memchr(prefixes, *at, sizeof(prefixes)) != NULL))
		at++;
	return at[0] == 0x0f && at[1] == 0xa2 ? pc + (unsigned long long)(at + 2 - code) : 0;
}

int x86_tracee_step(struct x86_tracee *tracee, struct user_regs_struct *regs)
{
	unsigned long long pc = regs->rip, end = cpuid_end(tracee, pc);
	int status, repeats = 0;

	if (ptrace(PTRACE_SETREGS, tracee->pid, NULL, regs) < 0)
		return SIGKILL;
	do {
		if (ptrace(PTRACE_SINGLESTEP, tracee->pid, NULL, NULL) < 0 ||
		    waitpid(tracee->pid, &status, 0) != tracee->pid || !WIFSTOPPED(status))
			abort();
		if (WSTOPSIG(status) != SIGTRAP)
			return WSTOPSIG(status);
		if (ptrace(PTRACE_GETREGS, tracee->pid, NULL, regs) < 0)
			abort();
		regs->eflags &= ~FLAG_TF; /* set by single-stepping */
	} while (regs->rip == pc && repeats++ < REPEATS_MAX);
	/* Some hypervisors emulate cpuid, and stop only after the next instruction. */
	if (end != 0 && regs->rip != end)
		return SIGXCPU;
	return regs->rip == pc ? SIGXCPU : 0;
}
