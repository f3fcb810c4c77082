// SPDX-License-Identifier: GPL-2.0-only
/*
 * The code that runs inside a rewritten program. It has no libc, no writable data of its own, no
 * vector registers and no pointers that would need relocation; it makes system calls only. errno
 * belongs to libc and stays unchanged.
 *
 * The program enters this code if a thread's word or the process' word is not ready, and at points
 * where a mode has a slow path.
 */
#include <linux/mman.h>

#include "instrument/runtime/runtime_mode.h"
#include "instrument/runtime/runtime_system.h"
#include "instrument/runtime/thread_window.h"

static uint32_t *guard_of(struct profile_layout_state *state)
{
	return (uint32_t *)((char *)state + state->guard);
}

/* Several counters start at equal distances. */
static int32_t spread(const struct profile_layout_state *state, int32_t checks, uint32_t counter)
{
	int64_t period = state->bursts.checks;

	if (period <= 0 || checks < 0)
		return checks;
	return (int32_t)((checks + period * counter / PROFILE_LAYOUT_COUNTERS) % period);
}

/* The number to start with is already in the thread's memory. */
static void begin_checks(const struct profile_layout_state *state)
{
	const struct profile_layout_switch *bursts;

	if (state->bursts.burst == 0)
		return;
	bursts = runtime_memory_at(state, thread_window_base()).area;
	runtime_set_checks(state, 0, bursts->checks);
	for (uint32_t c = 1; c < PROFILE_LAYOUT_COUNTERS; c++)
		runtime_set_checks(state, c, spread(state, bursts->checks, c));
}

/* Called by runtime_entry() below. */
void runtime_enter(struct profile_layout_state *state);

__attribute__((used)) void runtime_enter(struct profile_layout_state *state)
{
	uint64_t signals;
	struct process_area *area = process_area_lock(&signals);
	uint32_t image;

	if (area->ready != PROFILE_LAYOUT_READY) {
		thread_window_begin(area);
		area->ready = PROFILE_LAYOUT_READY;
	}
	image = process_area_add(area, state);
	if (*guard_of(state) != PROFILE_LAYOUT_PROCESS_READY)
		CALL3(SYS_madvise, guard_of(state), PROFILE_LAYOUT_PAGE, MADV_WIPEONFORK);
	thread_window_map(area, thread_window_own(area), image);
	__atomic_store_n(guard_of(state), PROFILE_LAYOUT_PROCESS_READY, __ATOMIC_RELEASE);
	if (state->slot != 0)
		__asm__ volatile("movl %0, %%fs:(%1)"
				 :
				 : "r"(PROFILE_LAYOUT_THREAD_READY), "r"(state->slot)
				 : "memory");
	begin_checks(state);
	process_area_unlock(area, signals);
}

/* Called by runtime_slow_entry() below. */
void runtime_slow(struct profile_layout_state *state, struct runtime_frame *frame);

__attribute__((used)) void runtime_slow(struct profile_layout_state *state,
					struct runtime_frame *frame)
{
	struct runtime_memory memory = runtime_memory_at(state, thread_window_base());

	runtime_mode_slow(state, &memory, frame);
}

/* With unwind information for all registers, since the program's frames may need any of them. */
#define PUSH(reg)                                                                                  \
	"	push " reg "\n"                                                                    \
	"	.cfi_adjust_cfa_offset 8\n"                                                              \
	"	.cfi_rel_offset " reg ", 0\n"
#define POP(reg)                                                                                   \
	"	pop " reg "\n"                                                                     \
	"	.cfi_adjust_cfa_offset -8\n"                                                             \
	"	.cfi_restore " reg "\n"

/* PROFILE_LAYOUT_ENTER, PROFILE_LAYOUT_SLOW, with the unwind rules at the start of runtime_entry()
 * and runtime_slow_entry() */
__asm__(".section .text.first, \"ax\"\n"
	"	.globl runtime_first\n"
	"runtime_first:\n"
	"	.cfi_startproc\n"
	"	jmp runtime_entry\n"
	"	.balign 16, 0xcc\n"
	"	.cfi_def_cfa_offset 16\n"
	"	jmp runtime_slow_entry\n"
	"	.balign 16, 0xcc\n"
	"	.cfi_endproc\n"
	"	.text\n");

/*
 * The caller has pushed the state's address. All registers are restored except the flags. The stack
 * may have any alignment.
 */
/* clang-format off */
__asm__("	.text\n"
	"runtime_entry:\n"
	"	.cfi_startproc\n"
	PUSH("%rax")
	PUSH("%rcx")
	PUSH("%rdx")
	PUSH("%rsi")
	PUSH("%rdi")
	PUSH("%r8")
	PUSH("%r9")
	PUSH("%r10")
	PUSH("%r11")
	PUSH("%rbp")
	"	mov %rsp, %rbp\n"
	"	.cfi_def_cfa_register %rbp\n"
	"	mov 88(%rsp), %rdi\n"
	"	and $-16, %rsp\n"
	"	cld\n"
	"	call runtime_enter\n"
	"	mov %rbp, %rsp\n"
	"	.cfi_def_cfa_register %rsp\n"
	POP("%rbp")
	POP("%r11")
	POP("%r10")
	POP("%r9")
	POP("%r8")
	POP("%rdi")
	POP("%rsi")
	POP("%rdx")
	POP("%rcx")
	POP("%rax")
	"	ret\n"
	"	.cfi_endproc\n");

/*
 * The program's %rdi is on the stack, and the state's address in that register. Above it are the
 * return address and the last members of a struct runtime_frame. All registers are restored, as are
 * the arithmetic flags and the direction flag.
 */
__asm__("	.text\n"
	"runtime_slow_entry:\n"
	"	.cfi_startproc\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_rel_offset %rdi, 0\n"
	PUSH("%r15")
	PUSH("%r14")
	PUSH("%r13")
	PUSH("%r12")
	PUSH("%r11")
	PUSH("%r10")
	PUSH("%r9")
	PUSH("%r8")
	PUSH("%rsi")
	PUSH("%rbp")
	PUSH("%rbx")
	PUSH("%rdx")
	PUSH("%rcx")
	PUSH("%rax")
	"	pushfq\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	lahf\n"
	"	seto %al\n"
	"	push %rax\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	mov %rsp, %rsi\n"
	"	mov %rsp, %rbp\n"
	"	.cfi_def_cfa_register %rbp\n"
	"	and $-16, %rsp\n"
	"	cld\n"
	"	call runtime_slow\n"
	"	mov %rbp, %rsp\n"
	"	.cfi_def_cfa_register %rsp\n"
	"	testl $0x400, 8(%rsp)\n"
	"	jz 1f\n"
	"	std\n"
	"1:	pop %rax\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	add $127, %al\n"
	"	sahf\n"
	"	lea 8(%rsp), %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	POP("%rax")
	POP("%rcx")
	POP("%rdx")
	POP("%rbx")
	POP("%rbp")
	POP("%rsi")
	POP("%r8")
	POP("%r9")
	POP("%r10")
	POP("%r11")
	POP("%r12")
	POP("%r13")
	POP("%r14")
	POP("%r15")
	POP("%rdi")
	"	ret\n"
	"	.cfi_endproc\n");
/* clang-format on */
