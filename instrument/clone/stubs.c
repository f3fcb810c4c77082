// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/stubs.h"

#include <string.h>

#include "instrument/profile/profile_layout.h"

#define ARCH_SET_FS 0x1002
#define NR_ARCH_PRCTL 158

/* Push the state's address and call the runtime, which is at the start of the added code. */
static void make_enter(struct stubs *stubs)
{
	static const uint8_t push[] = {0x57};			      /* push %rdi */
	static const uint8_t lea[] = {0x48, 0x8d, 0x3d, 0, 0, 0, 0};  /* lea state(%rip), %rdi */
	static const uint8_t swap[] = {0x48, 0x87, 0x3c, 0x24};	      /* xchg %rdi, (%rsp) */
	static const uint8_t drop[] = {0x48, 0x8d, 0x64, 0x24, 0x08}; /* lea 8(%rsp), %rsp */
	static const uint8_t ret[] = {0xc3};
	struct machine_code *code = &stubs->code;

	machine_code_bind_label(code, stubs->enter);
	machine_code_bytes(code, push, sizeof(push));
	machine_code_stack(code, 8);
	machine_code_refer(code, lea, sizeof(lea), 3, STUBS_STATE);
	machine_code_bytes(code, swap, sizeof(swap));
	machine_code_leave(code, MACHINE_CALL, stubs->runtime + PROFILE_LAYOUT_ENTER);
	machine_code_bytes(code, drop, sizeof(drop));
	machine_code_stack(code, -8);
	machine_code_bytes(code, ret, sizeof(ret));
}

/* A slow path: save %rdi and continue in the runtime. */
static void make_slow(struct stubs *stubs)
{
	static const uint8_t push[] = {0x57};			     /* push %rdi */
	static const uint8_t lea[] = {0x48, 0x8d, 0x3d, 0, 0, 0, 0}; /* lea state(%rip), %rdi */
	struct machine_code *code = &stubs->code;

	machine_code_bind_label(code, stubs->slow);
	machine_code_bytes(code, push, sizeof(push));
	machine_code_stack(code, 8);
	machine_code_refer(code, lea, sizeof(lea), 3, STUBS_STATE);
	machine_code_leave(code, MACHINE_JUMP, stubs->runtime + PROFILE_LAYOUT_SLOW);
	machine_code_stack(code, -8);
}

/*
 * A static program has no thread pointer yet when it starts: it gets a temporary one. The words
 * found there are not ready, so the runtime is called.
 */
static void make_start(struct stubs *stubs, uint64_t entry, const struct runtime_code *runtime)
{
	static const uint8_t lea[] = {0x48, 0x8d, 0x35, 0, 0, 0, 0}; /* lea dummy(%rip), %rsi */
	static const uint32_t unknown = PROFILE_LAYOUT_UNKNOWN;
	uint8_t set[] = {0xc7, 0x86, 0, 0, 0, 0, 0, 0, 0, 0}; /* movl $unknown, slot(%rsi) */
	const uint32_t slot = (uint32_t)(int32_t)runtime->slot;
	static const uint8_t call[] = {0xbf,
				       ARCH_SET_FS & 0xff,
				       ARCH_SET_FS >> 8,
				       0,
				       0, /* mov, %edi */
				       0xb8,
				       NR_ARCH_PRCTL,
				       0,
				       0,
				       0, /* mov, %eax */
				       0x0f,
				       0x05, /* syscall */
				       0x31,
				       0xff,
				       0x31,
				       0xf6,
				       0x31,
				       0xc0}; /* clear the registers again */
	struct machine_code *code = &stubs->code;

	machine_code_bind_label(code, stubs->start);
	machine_code_refer(code, lea, sizeof(lea), 3, STUBS_DUMMY);
	memcpy(set + 2, &slot, sizeof(slot));
	memcpy(set + 6, &unknown, sizeof(unknown));
	machine_code_bytes(code, set, sizeof(set));
	machine_code_bytes(code, call, sizeof(call));
	machine_code_leave(code, MACHINE_JUMP, entry);
}

static void make_check_counters(struct stubs *stubs, const struct runtime_code *runtime,
				const struct burst_switch *bursts)
{
	stubs->tested = machine_code_label(&stubs->code);
	machine_code_bind_label(&stubs->code, stubs->tested);
	burst_switch_code_routine(&stubs->code, runtime, bursts, false, 0);
	for (uint32_t c = 0; c == 0 || c < bursts->counters; c++) {
		stubs->counted[c] = machine_code_label(&stubs->code);
		machine_code_bind_label(&stubs->code, stubs->counted[c]);
		burst_switch_code_routine(&stubs->code, runtime, bursts, true, c);
	}
}

int stubs_make(struct stubs *ret, uint64_t runtime, uint64_t entry, const struct runtime_code *code,
	       const struct burst_switch *bursts)
{
	*ret = (struct stubs){.runtime = runtime};
	ret->enter = machine_code_label(&ret->code);
	ret->slow = machine_code_label(&ret->code);
	ret->start = machine_code_label(&ret->code);
	make_start(ret, entry, code);
	machine_code_frame(&ret->code, STUBS_FRAME);
	make_enter(ret);
	make_slow(ret);
	if (bursts != NULL)
		make_check_counters(ret, code, bursts);
	return machine_code_layout(&ret->code);
}

void stubs_deinit(struct stubs *stubs)
{
	machine_code_deinit(&stubs->code);
}
