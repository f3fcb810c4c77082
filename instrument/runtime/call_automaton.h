/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Contexts of calls as states of an automaton that is built while the program runs, after
 * Spivey, "Fast, accurate call graph profiling" (2004), and as a calling context tree,
 * after Ammons, Ball, Larus, "Exploiting hardware performance counters with flow and
 * context sensitive profiling" (1997): both are an automaton that a call takes from one
 * state to another, by one access of a hash table where it has done so before. A return
 * goes back to the state of the frame below. They differ in which state a call leads to
 * for the first time.
 *
 * Frames are known by their place on the stack: what was left by longjmp() or an exception
 * is seen to be gone when something is called or returns above it.
 *
 * Runs inside the program: without libc, in a thread's own memory, and at any time, also
 * in a signal's handler while the same thread is in here. Each count is changed by one
 * instruction, and transitions stay where they are.
 *
 * What is usual the program does itself (calls/call_code.h): it follows a transition that is
 * in the cache, from or to the last frame.
 */
#ifndef DCPI_INSTRUMENT_RUNTIME_CALL_AUTOMATON_H
#define DCPI_INSTRUMENT_RUNTIME_CALL_AUTOMATON_H

#include "instrument/calls/call_layout.h"

/**
 * call_automaton_begin() - a thread begins
 *
 * @area: may be that of a thread that has ended: its frames are forgotten, its contexts stay
 * @at:   where it is, from %gs' base; the same for all threads
 */
void call_automaton_begin(struct call_area *area, uint32_t at, enum call_policy policy,
			  enum call_metric metric);

/**
 * call_automaton_enter() - a procedure is entered
 * @site:  where it was called, or 0
 * @stack: where its return address is
 *
 * Frames at or below @stack are gone: a tail call has the place of who made it.
 */
void call_automaton_enter(struct call_area *area, uint32_t procedure, uint32_t site,
			  uint64_t stack);

/** call_automaton_visit() - likewise one that calls nothing, and is not told to return. Not
 * charged: only if nothing is measured. */
void call_automaton_visit(struct call_area *area, uint32_t procedure, uint32_t site,
			  uint64_t stack);

/** call_automaton_stay() - one that was visited makes a call that never comes back.
 * @stack: the stack pointer there */
void call_automaton_stay(struct call_area *area, uint32_t procedure, uint64_t stack);

/** call_automaton_signal() - a procedure is entered as the handler of a signal, which may
 * have a stack of its own. */
void call_automaton_signal(struct call_area *area, uint32_t procedure, uint64_t stack);

/** call_automaton_visit_signal() - likewise one that calls nothing. */
void call_automaton_visit_signal(struct call_area *area, uint32_t procedure);

/** call_automaton_leave() - the procedure that was entered with @stack returns. */
void call_automaton_leave(struct call_area *area, uint64_t stack);

/** call_automaton_jump() - the procedure that was entered with @stack ends in a tail call. */
void call_automaton_jump(struct call_area *area, uint64_t stack);

/**
 * call_automaton_resume() - @procedure goes on, where it may have been jumped to
 * @stack: the stack pointer; the procedure's frame is above
 */
void call_automaton_resume(struct call_area *area, uint32_t procedure, uint64_t stack);

#endif
