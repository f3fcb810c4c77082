/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a thread knows of its calls, in its block of the profile's file: an automaton whose
 * states are contexts, built as the program runs, and the frames that are active. One
 * source for the code that runs inside the program (runtime/call_automaton.h) and for
 * those who read the file (call_profile.h): no libc, fixed widths.
 *
 * All that is zero has not been used yet, so the file has holes where it is.
 */
#ifndef DCPI_INSTRUMENT_CALL_LAYOUT_H
#define DCPI_INSTRUMENT_CALL_LAYOUT_H

#include <stdint.h>

#define CALL_LAYOUT_MAGIC UINT32_C(0x6c6c6163) /* "call" */

/*
 * Room in each thread. Frames: those of 8 MiB of stack, the usual most, at 16 bytes each.
 * A call or a context that there is no room for is counted as lost, by name.
 */
#define CALL_LAYOUT_FRAMES (1U << 19)
#define CALL_LAYOUT_STATES (1U << 18)
#define CALL_LAYOUT_HISTORY (1U << 22)
/*
 * Transitions are found by a hash table of their numbers, of 2^n slots, n from the first to
 * the last of these, of which at most 3/4 are used; and those that were gone lately by a
 * smaller one, in which each has one place, with room for some. The last ones to a procedure
 * are in a table of its own, by their states' lowest bits: the code at entries looks there
 * first.
 */
#define CALL_LAYOUT_BITS_FIRST 8U
#define CALL_LAYOUT_BITS_LAST 19U
#define CALL_LAYOUT_TRANSITIONS (3U << (CALL_LAYOUT_BITS_LAST - 2))
#define CALL_LAYOUT_CACHE_BITS 13U
#define CALL_LAYOUT_CACHE (1U << CALL_LAYOUT_CACHE_BITS)
#define CALL_LAYOUT_WAYS 4U
#define CALL_LAYOUT_LAST 256U /* one byte */

/* States that always are: nothing is active; what there was no room for. */
#define CALL_LAYOUT_ROOT 0U
#define CALL_LAYOUT_OTHER 1U

/* Bit 31 of an entry of a history: a later activation of the same procedure has followed. */
#define CALL_LAYOUT_MARK UINT32_C(0x80000000)
/* Stands for the kernel, as who calls handlers of signals. */
#define CALL_LAYOUT_SIGNAL UINT32_C(0x7fffffff)
/* Not a state: such a transition finds a state by the digest of its history. */
#define CALL_LAYOUT_DIGEST UINT32_MAX

/*
 * The kernel enters a handler of signals with pointers to what is on the stack for it: its
 * struct ucontext, in %rdx, and the siginfo this far behind, in %rsi.
 */
#define CALL_LAYOUT_UCONTEXT 304

/** enum call_policy - what tells contexts apart */
enum call_policy {
	CALL_POLICY_CALLS,   /* the most recent activations and who called them (Spivey) */
	CALL_POLICY_CONTEXT, /* the path from the root, cut where it recurs (Ammons, Ball, Larus) */
};

/** enum call_metric - what is summed in each state beside calls */
enum call_metric {
	CALL_METRIC_NONE,
	CALL_METRIC_CYCLES,	  /* of the time stamp counter */
	CALL_METRIC_INSTRUCTIONS, /* executed in procedures that were rewritten */
};

/** enum call_operation - what the program asks the runtime for, at a point */
enum call_operation {
	CALL_OPERATION_ENTER,
	CALL_OPERATION_VISIT,  /* likewise, and it calls nothing: it has no frame */
	CALL_OPERATION_STAY,   /* that is to have one after all: its call never comes back */
	CALL_OPERATION_LEAVE,  /* before a return */
	CALL_OPERATION_JUMP,   /* before a tail call */
	CALL_OPERATION_RESUME, /* the procedure may have been jumped into */
	CALL_OPERATIONS,
};

/** enum call_parameter - what the runtime is told when the program begins */
enum call_parameter {
	CALL_LAYOUT_POLICY,
	CALL_LAYOUT_METRIC,
};

/** enum call_loss - why something is not in the automaton */
enum call_loss {
	CALL_LOSS_FULL,	     /* calls: no room for their context; they are in CALL_LAYOUT_OTHER */
	CALL_LOSS_NESTED,    /* likewise, in a handler that interrupted the making of a context */
	CALL_LOSS_DEEP,	     /* calls: more frames than there is room for; in their callers */
	CALL_LOSS_UNMATCHED, /* returns: nobody saw the call (the parent made it before fork) */
	CALL_LOSSES,
};

#define CALL_LAYOUT_GAP 2U

/* Of frames: threads that share their memory may all of them have gone as far out of bounds. */
#define CALL_LAYOUT_SLACK (1U << 12)

/**
 * struct call_frame - an activation
 * @stack:  where its return address is; and 1 more of a handler of signals
 * @signal: it stands for the kernel, which has called the next one: CALL_LAYOUT_GAP, frames
 *          that the kernel has, else 0. The first of them is no frame: who was interrupted
 *          may have been about to make it one, and has filled it in
 */
struct call_frame {
	uint64_t stack;
	uint32_t state;
	uint32_t signal;
};

/**
 * struct call_transition - from state to state; its number never changes
 * @site:  of the call, CALL_POLICY_CONTEXT; else 0
 * @calls: that went this way
 */
struct call_transition {
	uint64_t calls;
	uint32_t procedure;
	uint32_t site;
	uint32_t to;
	uint32_t from;
};

/**
 * struct call_state - a context
 * @metric:    while it was the current one
 * @procedure: the last one of its history
 * @first:     CALL_POLICY_CALLS: where its history begins; CALL_POLICY_CONTEXT: its parent
 * @length:    of its history, in procedures
 */
struct call_state {
	uint64_t metric;
	uint32_t procedure;
	uint32_t site;
	uint32_t first;
	uint32_t length;
};

/**
 * struct call_head - of a thread; zero before its first call
 * @self:         its address in the program
 * @policy:       enum call_policy
 * @metric:       enum call_metric
 * @clock:        the metric when it was looked at last
 * @instructions: executed, if that is the metric; the program adds to it
 * @depth:        where the current one of @frames[] is, from %gs' base; that of none is @frames
 * @state_count:  of @states[]
 * @history_count: of @history[]
 * @transition_count: of @transitions[]; 0 is none
 * @bits:         there are 1 << @bits slots, from number 1 << @bits on; older tables before
 * @building:     the automaton is being changed
 * @frames:       where @frames[] is, from %gs' base
 * @losses:       by enum call_loss
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
};

/**
 * struct call_area - of a thread: its head and tables
 * @below, @above: zero: no place of the stack is in front of them
 * @slots: numbers of transitions; 0: free
 * @cache: where transitions are, from %gs' base. What is there in the place of a transition's @from
 *         is no state (struct thread_window)
 * @last:  likewise, of each procedure: by which it was called lately
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

/* The last frame that may be the current one; the next one is written to. */
#define CALL_LAYOUT_LAST_FRAME (CALL_LAYOUT_FRAMES - 1)

/* Instructions can multiply by 8, and by three. */
_Static_assert(sizeof(struct call_state) == 3 * 8, "a state's size");

/** call_layout_spread() - what is added to a state for a procedure's place in the cache. */
static inline uint32_t call_layout_spread(uint32_t procedure)
{
	return procedure * UINT32_C(0x9e3779b1) >> (32 - CALL_LAYOUT_CACHE_BITS);
}

/** call_layout_place() - of a transition in the cache */
static inline uint32_t call_layout_place(uint32_t from, uint32_t procedure)
{
	return (from + call_layout_spread(procedure)) & (CALL_LAYOUT_CACHE - 1);
}

#endif
