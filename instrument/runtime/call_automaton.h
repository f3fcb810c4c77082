/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Call contexts as states of an automaton that is built while the program runs. There are two
 * policies: Spivey, "Fast, accurate call graph profiling" (2004), and a calling context tree
 * (Ammons, Ball, Larus, "Exploiting hardware performance counters with flow and context sensitive
 * profiling", 1997).
 *
 * With both, a call changes the state by a transition. If the same call was made in this state
 * before, the transition is found by one access of a hash table. A return goes back to the state of
 * the frame below. The policies differ in the state that a new transition leads to.
 *
 * Frames are identified by their position on the stack. A frame that longjmp() or an exception has
 * left is detected when a procedure above it is called or returns.
 *
 * The code runs inside the program: without libc, in a thread's own memory, and at any time, also
 * in a signal handler that interrupts it in the same thread. Each count is changed by one
 * instruction, and transitions never move.
 *
 * The program handles the usual cases itself (calls/call_code.h): it follows cached transitions
 * from or to the last frame.
 */
#ifndef DCPI_INSTRUMENT_RUNTIME_CALL_AUTOMATON_H
#define DCPI_INSTRUMENT_RUNTIME_CALL_AUTOMATON_H

#include "instrument/calls/call_layout.h"

/**
 * call_automaton_begin() - initialise a thread's automaton
 *
 * @area: may be that of a thread that has ended: its frames are dropped, its contexts stay
 * @at:   offset of @area from the %gs base; the same for all threads
 */
void call_automaton_begin(struct call_area *area, uint32_t at, enum call_policy policy,
			  enum call_metric metric);

/**
 * call_automaton_enter() - record that a procedure is entered, by the call that the caller's frame
 * has announced (call_code_site())
 * @stack: address of the return address
 *
 * Frames at or below @stack no longer exist: a tail call has the position of its caller.
 */
void call_automaton_enter(struct call_area *area, uint32_t procedure, uint64_t stack);

/** call_automaton_visit() - record the entry of a procedure that makes no calls and does not report
 * its return. Nothing is charged: only for CALL_METRIC_NONE. */
void call_automaton_visit(struct call_area *area, uint32_t procedure, uint64_t stack);

/**
 * call_automaton_noreturn() - record that a visited procedure makes a noreturn call.
 * @stack: stack pointer at the call
 */
void call_automaton_noreturn(struct call_area *area, uint32_t procedure, uint64_t stack);

/** call_automaton_signal() - record that a procedure is entered as a signal handler, which may have
 * a stack of its own. */
void call_automaton_signal(struct call_area *area, uint32_t procedure, uint64_t stack);

/** call_automaton_visit_signal() - as call_automaton_visit(), for a signal handler that makes no
 * calls. */
void call_automaton_visit_signal(struct call_area *area, uint32_t procedure);

/** call_automaton_leave() - record that the procedure entered with @stack returns. */
void call_automaton_leave(struct call_area *area, uint64_t stack);

/** call_automaton_jump() - record that the procedure entered with @stack ends in a tail call. */
void call_automaton_jump(struct call_area *area, uint64_t stack);

/**
 * call_automaton_resume() - record that @procedure continues where longjmp() or an unwinder may
 * have led
 * @stack: stack pointer; the procedure's frame is above
 */
void call_automaton_resume(struct call_area *area, uint32_t procedure, uint64_t stack);

#endif
