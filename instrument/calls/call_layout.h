/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The call data of a thread, in its block of the profile's file: an automaton whose states are
 * contexts, built as the program runs, and the active frames. The layout is shared by the code that
 * runs inside the program (runtime/call_automaton.h) and the readers of the file (call_profile.h):
 * no libc, fixed widths.
 *
 * Data that is zero has not been used yet, so the file has holes there.
 */
#ifndef DCPI_INSTRUMENT_CALL_LAYOUT_H
#define DCPI_INSTRUMENT_CALL_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define CALL_LAYOUT_MAGIC UINT32_C(0x336c6c63) /* "cll3" */

/*
 * Capacities per thread. Frames: enough for 8 MiB of stack, the usual limit, at 16 bytes each.
 * Calls or contexts that exceed a capacity are counted as lost, by reason.
 */
#define CALL_LAYOUT_FRAMES (1U << 19)
#define CALL_LAYOUT_STATES (1U << 18)
#define CALL_LAYOUT_HISTORY (1U << 22)
/*
 * A hash table of transition numbers finds transitions. It has 2^n slots, n from the first to the
 * last of these numbers. At most half of the slots are used, or 3/4 in the largest table. A smaller
 * table, the cache, has recently used transitions, each in one set of a few ways. In addition, each
 * procedure has a table of the last transitions to it, indexed by the lowest bits of their states:
 * the code at entries looks there first.
 */
#define CALL_LAYOUT_BITS_FIRST 8U
#define CALL_LAYOUT_BITS_LAST 19U
#define CALL_LAYOUT_TRANSITIONS (3U << (CALL_LAYOUT_BITS_LAST - 2))
#define CALL_LAYOUT_CACHE_BITS 13U
#define CALL_LAYOUT_CACHE (1U << CALL_LAYOUT_CACHE_BITS)
#define CALL_LAYOUT_WAYS 4U
#define CALL_LAYOUT_LAST 256U /* one byte */

/* Predefined states: no active procedure; contexts for which there was no room. */
#define CALL_LAYOUT_ROOT 0U
#define CALL_LAYOUT_OTHER 1U

/* Bit 31 of an entry of a history: a later activation of the same procedure follows. */
#define CALL_LAYOUT_MARK UINT32_C(0x80000000)
/* Stands for the kernel, as the caller of signal handlers. */
#define CALL_LAYOUT_SIGNAL UINT32_C(0x7fffffff)
/* Call site of a frame that stands for the kernel, which has called the next frame. */
#define CALL_LAYOUT_KERNEL UINT32_MAX
/* Not a state: a transition from it finds a state by the digest of its history. */
#define CALL_LAYOUT_DIGEST UINT32_MAX

/*
 * The kernel enters a signal handler with pointers to data on the stack: its struct ucontext in
 * %rdx, and the siginfo, at this offset after it, in %rsi.
 */
#define CALL_LAYOUT_UCONTEXT 304

/** enum call_policy - how contexts are distinguished */
enum call_policy {
	CALL_POLICY_CALLS,   /* the most recent activations and their callers (Spivey) */
	CALL_POLICY_CONTEXT, /* the path from the root, cut at recursion (Ammons, Ball, Larus) */
};

/** enum call_metric - metric summed in each state, in addition to calls */
enum call_metric {
	CALL_METRIC_NONE,
	CALL_METRIC_CYCLES,	  /* cycles of the time stamp counter */
	CALL_METRIC_INSTRUCTIONS, /* executed in procedures that were rewritten */
};

/** enum call_operation - requests of the program to the runtime, at a point */
enum call_operation {
	CALL_OPERATION_ENTER,
	CALL_OPERATION_VISIT,	 /* entry of a procedure without calls: it has no frame */
	CALL_OPERATION_NORETURN, /* its call never returns, so it needs a frame */
	CALL_OPERATION_LEAVE,	 /* before a return */
	CALL_OPERATION_JUMP,	 /* before a tail call */
	CALL_OPERATION_RESUME,	 /* the procedure may have been jumped into */
	CALL_OPERATIONS,
};

/** enum call_parameter - parameters of the runtime, set when the program begins */
enum call_parameter {
	CALL_LAYOUT_POLICY,
	CALL_LAYOUT_METRIC,
};

/** enum call_loss - reasons for data that is not in the automaton */
enum call_loss {
	CALL_LOSS_FULL,	     /* calls: no room for their context; they are in CALL_LAYOUT_OTHER */
	CALL_LOSS_NESTED,    /* calls in a signal handler that interrupted the creation of a context
			      * */
	CALL_LOSS_DEEP,	     /* calls: more frames than there is room for; charged to callers */
	CALL_LOSS_UNMATCHED, /* returns whose call was not recorded (made before fork) */
	CALL_LOSSES,
};

/*
 * The kernel occupies this many frames; the first of them is unused, because the interrupted code
 * may have been about to push it, and may have filled it in.
 */
#define CALL_LAYOUT_GAP 2U

/* Slack of frames: each of the threads that share memory may exceed the bounds by one. */
#define CALL_LAYOUT_SLACK (1U << 12)

/**
 * struct call_frame - an activation
 * @stack: address of its return address; for a signal handler, plus 1
 * @state, @site: read by one instruction, and compared with those of transitions
 * @site:  number of its last call that may lead to a procedure of the image, if sites are
 *         distinguished; 0: none; or CALL_LAYOUT_KERNEL
 */
struct call_frame {
	uint64_t stack;
	uint32_t state;
	uint32_t site;
};

/**
 * struct call_transition - a transition between states; its number never changes
 * @site:  number of the call site in the caller; 0: unknown, or not distinguished
 * @calls: number of calls by this transition
 */
struct call_transition {
	uint64_t calls;
	uint32_t procedure;
	uint32_t to;
	uint32_t from;
	uint32_t site;
};

/**
 * struct call_state - a context
 * @metric:    sum while it was the current state
 * @procedure: the last one of its history
 * @site:      CALL_POLICY_CALLS: digest of its history; CALL_POLICY_CONTEXT: the site of the
 *             transition by which it was created
 * @first:     CALL_POLICY_CALLS: index of its history; CALL_POLICY_CONTEXT: its parent
 * @length:    length of its history, in procedures
 */
struct call_state {
	uint64_t metric;
	uint32_t procedure;
	uint32_t site;
	uint32_t first;
	uint32_t length;
};

/**
 * struct call_head - head of a thread's data; zero before its first call
 * @self:         its address in the program
 * @policy:       enum call_policy
 * @metric:       enum call_metric
 * @clock:        value of the metric at the last event
 * @instructions: executed instructions, if that is the metric; incremented by the program
 * @depth:        offset of the current frame in @frames[] from the base of %gs; @frames if there is
 *                no frame
 * @state_count:  number of states in use
 * @history_count: number of history entries in use
 * @transition_count: number of transitions in use; transition 0 means none
 * @bits:         the hash table has 1 << @bits slots, from number 1 << @bits on; older tables are
 *                before it
 * @building:     the automaton is being changed
 * @frames:       offset of @frames[] from the base of %gs
 * @losses:       by enum call_loss
 * @event_cycles: cycles of an empty event, measured at the start: each call and each return adds
 * one to the metric of the state that it ends
 */
struct call_head {
	uint64_t self;
	uint32_t magic;
	uint32_t policy;
	uint32_t metric;
	uint32_t depth;
	uint64_t clock;
	uint64_t instructions;
	uint32_t state_count;
	uint32_t history_count;
	uint32_t transition_count;
	uint32_t bits;
	uint32_t building;
	uint32_t frames;
	uint64_t losses[CALL_LOSSES];
	uint64_t event_cycles;
};

/**
 * struct call_area - data of a thread: its head and tables
 * @below, @above: zero: they compare below any stack address
 * @slots: numbers of transitions; 0: free
 * @cache: offsets of transitions from the base of %gs. An unused entry is 0 and refers to struct
 *         thread_window, where the value at the offset of a transition's @from is not a state
 * @last:  for each procedure: offsets of transitions that called it recently
 */
struct call_area {
	struct call_head head;
	struct call_frame below[CALL_LAYOUT_SLACK];
	struct call_frame frames[CALL_LAYOUT_FRAMES + 1];
	struct call_frame above[CALL_LAYOUT_SLACK];
	uint32_t cache[CALL_LAYOUT_WAYS][CALL_LAYOUT_CACHE];
	struct call_state states[CALL_LAYOUT_STATES];
	struct call_transition transitions[CALL_LAYOUT_TRANSITIONS];
	uint32_t slots[2U << CALL_LAYOUT_BITS_LAST];
	uint32_t history[CALL_LAYOUT_HISTORY];
	uint32_t last[][CALL_LAYOUT_LAST];
};

/* The last frame that may be the current one; the one after it is written to. */
#define CALL_LAYOUT_LAST_FRAME (CALL_LAYOUT_FRAMES - 1)

/* Addressing can multiply by 8, and lea by three. */
_Static_assert(sizeof(struct call_state) == 3 * 8, "a state's size");
_Static_assert(offsetof(struct call_frame, site) ==
			       offsetof(struct call_frame, state) + sizeof(uint32_t) &&
		       offsetof(struct call_transition, site) ==
			       offsetof(struct call_transition, from) + sizeof(uint32_t),
	       "compared by one instruction");

/**
 * call_layout_spread() - return the addend that maps a state to a procedure's place in the cache
 */
static inline uint32_t call_layout_spread(uint32_t procedure)
{
	return procedure * UINT32_C(0x9e3779b1) >> (32 - CALL_LAYOUT_CACHE_BITS);
}

/** call_layout_place() - return the place of a transition in the cache */
static inline uint32_t call_layout_place(uint32_t from, uint32_t procedure)
{
	return (from + call_layout_spread(procedure)) & (CALL_LAYOUT_CACHE - 1);
}

#endif
