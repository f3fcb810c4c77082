// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/runtime/call_slow.h"

#include "instrument/runtime/call_automaton.h"
#include "instrument/runtime/thread_window.h"

#define SIGNALS 64

/* Inserted code that finds no transition in a table reads this member instead of the @from of
 * one. */
_Static_assert(__builtin_offsetof(struct thread_window, no_state) ==
		       __builtin_offsetof(struct call_transition, from),
	       "no state");

void call_slow_begin(const struct profile_layout_state *state, const struct runtime_memory *memory)
{
	call_automaton_begin(memory->area, (uint32_t)(state->range + state->head_bytes),
			     (enum call_policy)state->parameters[CALL_LAYOUT_POLICY],
			     (enum call_metric)state->parameters[CALL_LAYOUT_METRIC]);
}

/* Return true in a signal handler: the kernel enters it with pointers to the data that it has put
 * on the stack. */
static int is_handler(const struct runtime_frame *frame)
{
	return frame->rdx == runtime_stack(frame) + sizeof(uint64_t) &&
	       frame->rsi == frame->rdx + CALL_LAYOUT_UCONTEXT && frame->rdi - 1 < SIGNALS &&
	       frame->rax == 0;
}

void call_slow(const struct runtime_memory *memory, const struct runtime_frame *frame)
{
	uint64_t stack = runtime_stack(frame);
	uint32_t procedure = (uint32_t)frame->argument;

	switch ((enum call_operation)runtime_operation(frame)) {
	case CALL_OPERATION_ENTER:
		if (is_handler(frame))
			call_automaton_signal(memory->area, procedure, stack);
		else
			call_automaton_enter(memory->area, procedure, stack);
		break;
	case CALL_OPERATION_VISIT:
		if (is_handler(frame))
			call_automaton_visit_signal(memory->area, procedure);
		else
			call_automaton_visit(memory->area, procedure, stack);
		break;
	case CALL_OPERATION_NORETURN:
		call_automaton_noreturn(memory->area, procedure, stack);
		break;
	case CALL_OPERATION_LEAVE:
		call_automaton_leave(memory->area, stack);
		break;
	case CALL_OPERATION_JUMP:
		call_automaton_jump(memory->area, stack);
		break;
	case CALL_OPERATION_RESUME:
		call_automaton_resume(memory->area, procedure, stack);
		break;
	case CALL_OPERATIONS:
		break;
	}
}
