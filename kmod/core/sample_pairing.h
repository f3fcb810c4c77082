/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pairs of samples: a sample of a thread, and the next sample that strikes the same activation of a
 * procedure. One machine of states for dcpi.ko and the BPF program, one for each CPU and event,
 * stepped at each sample of the event while it is not idle.
 *
 * The registers of such a pair count the iterations of a loop between the two samples. Each sample
 * in a loop, except the last one of each activation, has a next sample. So the mean number of
 * iterations from a sample to the next, times the samples in the loop, is the number of iterations
 * (daemon/source/register_pairs.h). The first sample of a pair is chosen at random. The second one
 * must be exactly the next sample of the activation. So samples of callees, of the kernel and of
 * other threads in between are skipped. Samples that are hundreds of periods apart, as examined
 * samples are, would rarely be in one activation.
 *
 * The examination of a sample takes time, in which the thread makes no progress. If a pair began
 * with an examined sample, it would have fewer iterations than other samples. So an examined sample
 * only arms the pairing, and the pair begins with the next sample in user mode.
 *
 * Invariant: begun pairs = matched + ended + expired + waiting ones.
 *
 * Failures: a thread that moves to another CPU may return. Its samples there are not seen, so the
 * reader must reject pairs with a different number of migrations. A pairing that waits too long is
 * given up, since each step costs more than an ordinary sample. This drops the pairs of loops that
 * spend nearly all of their time in callees. On arm64, a leaf procedure without a frame has the
 * stack pointer of its caller, and a sample in it ends a pair that began in the caller. So the
 * pairs of loops that call leaf procedures have too few iterations there.
 */
#ifndef DCPI_SAMPLE_PAIRING_H
#define DCPI_SAMPLE_PAIRING_H

#include <linux/types.h>

/* Samples of the CPU that a pairing waits for */
#define SAMPLE_PAIRING_WAIT 32
/* Procedures are smaller, and the parts of a divided procedure rarely so far apart. */
#define SAMPLE_PAIRING_CODE_BYTES (1ULL << 20)

/**
 * enum sample_pairing_outcome - the result of a sample
 * @SAMPLE_PAIRING_WAITS:    none yet
 * @SAMPLE_PAIRING_BEGINS:   this sample is the first one of a pair
 * @SAMPLE_PAIRING_MATCHED:  this sample is the second one of the pair
 * @SAMPLE_PAIRING_ENDED:    the activation of the procedure has ended
 * @SAMPLE_PAIRING_EXPIRED:  no sample of the activation in SAMPLE_PAIRING_WAIT
 * @SAMPLE_PAIRING_DISARMED: no sample in user mode in SAMPLE_PAIRING_WAIT
 */
enum sample_pairing_outcome {
	SAMPLE_PAIRING_WAITS,
	SAMPLE_PAIRING_BEGINS,
	SAMPLE_PAIRING_MATCHED,
	SAMPLE_PAIRING_ENDED,
	SAMPLE_PAIRING_EXPIRED,
	SAMPLE_PAIRING_DISARMED,
	SAMPLE_PAIRING_OUTCOMES
};

/* A value of @thread: the pair begins with the next sample in user mode. */
#define SAMPLE_PAIRING_ARMED (~0ULL)

/**
 * struct sample_pairing - zero-initialised is idle
 * @thread:  the thread, see sample_pairing_thread(); SAMPLE_PAIRING_ARMED; or 0: idle
 * @sp, @pc: of the first sample
 * @samples: samples of the thread since the first one
 * @left:    samples of the CPU until the pairing is given up
 */
struct sample_pairing {
	__u64 thread;
	__u64 sp;
	__u64 pc;
	__u32 samples;
	__u32 left;
};

/**
 * sample_pairing_thread() - name a thread that runs a program
 * @process: dcpi_tag() of its process and generation alone
 * @tid:     > 0
 *
 * Return: neither 0 nor SAMPLE_PAIRING_ARMED.
 */
static inline __attribute__((always_inline)) __u64 sample_pairing_thread(__u64 process, __u32 tid)
{
	return process | tid;
}

static inline __attribute__((always_inline)) int
sample_pairing_is_idle(const struct sample_pairing *pairing)
{
	return pairing->thread == 0;
}

/** sample_pairing_has_begun() - return true if there was a first sample */
static inline __attribute__((always_inline)) int
sample_pairing_has_begun(const struct sample_pairing *pairing)
{
	return pairing->thread != 0 && pairing->thread != SAMPLE_PAIRING_ARMED;
}

/** sample_pairing_arm() - begin a pair soon; @pairing is idle */
static inline __attribute__((always_inline)) void sample_pairing_arm(struct sample_pairing *pairing)
{
	pairing->thread = SAMPLE_PAIRING_ARMED;
	pairing->samples = 0;
	pairing->left = SAMPLE_PAIRING_WAIT;
}

/** sample_pairing_begin() - wait for the second sample of a pair; after SAMPLE_PAIRING_BEGINS */
static inline __attribute__((always_inline)) void
sample_pairing_begin(struct sample_pairing *pairing, __u64 thread, __u64 pc, __u64 sp)
{
	pairing->thread = thread;
	pairing->sp = sp;
	pairing->pc = pc;
	pairing->samples = 0;
	pairing->left = SAMPLE_PAIRING_WAIT;
}

/* A sample of the thread in user mode. A larger stack pointer is that of a caller. */
static inline __attribute__((always_inline)) enum sample_pairing_outcome
sample_pairing_compare(const struct sample_pairing *pairing, __u64 pc, __u64 sp)
{
	if (sp < pairing->sp)
		return SAMPLE_PAIRING_WAITS;
	if (sp == pairing->sp &&
	    pc - pairing->pc + SAMPLE_PAIRING_CODE_BYTES < 2 * SAMPLE_PAIRING_CODE_BYTES)
		return SAMPLE_PAIRING_MATCHED;
	return SAMPLE_PAIRING_ENDED;
}

/**
 * sample_pairing_step() - present the next sample of the CPU to a pairing that is not idle
 * @thread:  of the sample
 * @is_user: it struck user mode
 *
 * Return: its outcome, after which @pairing is idle and has the number of @samples. After
 * SAMPLE_PAIRING_WAITS it waits; after SAMPLE_PAIRING_BEGINS it is armed until
 * sample_pairing_begin().
 */
static inline __attribute__((always_inline)) enum sample_pairing_outcome
sample_pairing_step(struct sample_pairing *pairing, __u64 thread, int is_user, __u64 pc, __u64 sp)
{
	enum sample_pairing_outcome outcome = SAMPLE_PAIRING_WAITS;

	if (pairing->thread == SAMPLE_PAIRING_ARMED) {
		if (is_user)
			return SAMPLE_PAIRING_BEGINS;
		if (--pairing->left != 0)
			return SAMPLE_PAIRING_WAITS;
		pairing->thread = 0;
		return SAMPLE_PAIRING_DISARMED;
	}
	if (thread == pairing->thread) {
		pairing->samples++;
		if (is_user)
			outcome = sample_pairing_compare(pairing, pc, sp);
	}
	if (outcome == SAMPLE_PAIRING_WAITS && --pairing->left == 0)
		outcome = SAMPLE_PAIRING_EXPIRED;
	if (outcome != SAMPLE_PAIRING_WAITS)
		pairing->thread = 0;
	return outcome;
}

#endif
