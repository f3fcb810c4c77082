// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/register_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "kmod/uapi/dcpi_uapi.h"

/* A new thread evicts the one in its slot. */
#define THREADS 512
#define FRAMES 4
#define WAITING_MAX 4096
/* Procedures are smaller, and the parts of a divided procedure rarely so far apart. */
#define CODE_BYTES (UINT64_C(1) << 20)

/* @since: samples of the thread after this one */
struct frame {
	struct register_sample sample;
	uint64_t since;
};

/* @frames: outer frames first; their stack pointers descend */
struct thread {
	uint32_t tid;
	uint32_t event;
	uint32_t depth;
	struct frame frames[FRAMES];
};

struct register_pairs {
	struct register_pairs_counts counts;
	size_t waiting_count;
	struct register_sample waiting[WAITING_MAX];
	struct thread threads[THREADS];
};

struct register_pairs *register_pairs_create(void)
{
	return calloc(1, sizeof(struct register_pairs));
}

void register_pairs_destroy(struct register_pairs *pairs)
{
	free(pairs);
}

/* Return: the thread of a sample, without frames if it is new or another program by now. */
static struct thread *thread_of(struct register_pairs *pairs, const struct register_sample *sample)
{
	uint32_t event = dcpi_tag_event(sample->tag);
	struct thread *thread = &pairs->threads[(sample->tid * 31 + event) % THREADS];

	if (thread->tid != sample->tid || thread->event != event ||
	    (sample->known && thread->depth > 0 && thread->frames[0].sample.tag != sample->tag)) {
		thread->tid = sample->tid;
		thread->event = event;
		thread->depth = 0;
	}
	return thread;
}

/* Frames below the stack pointer have returned. */
static void frames_return(struct thread *thread, uint64_t sp)
{
	while (thread->depth > 0 && thread->frames[thread->depth - 1].sample.sp < sp)
		thread->depth--;
}

/* If there are too many frames, the outermost one is dropped. */
static struct frame *frame_push(struct thread *thread)
{
	if (thread->depth == FRAMES) {
		memmove(&thread->frames[0], &thread->frames[1],
			(FRAMES - 1) * sizeof(thread->frames[0]));
		thread->depth--;
	}
	return &thread->frames[thread->depth++];
}

static struct source_pair pair_of(const struct frame *frame, const struct register_sample *to)
{
	const struct register_sample *from = &frame->sample;
	struct source_pair pair = {
		.from = from->pc,
		.to = to->pc,
		.tag = to->tag,
		.samples = frame->since,
	};

	for (uint32_t i = 0; i < REGISTER_PAIR_REGISTERS; i++) {
		pair.delta[i] = (int64_t)(to->reg[i] - from->reg[i]);
		if (pair.delta[i] != 0)
			pair.changed |= UINT32_C(1) << i;
	}
	return pair;
}

static bool is_near(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) < CODE_BYTES;
}

static void sample_pair(struct register_pairs *pairs, const struct register_sample *sample,
			register_pairs_fn emit, void *context)
{
	struct thread *thread = thread_of(pairs, sample);
	struct frame *frame;
	struct source_pair pair;

	for (uint32_t i = 0; i < thread->depth; i++)
		thread->frames[i].since++;
	if (!sample->known)
		return;
	frames_return(thread, sample->sp);
	frame = thread->depth > 0 ? &thread->frames[thread->depth - 1] : NULL;
	if (frame == NULL || frame->sample.sp != sample->sp) {
		pairs->counts.first++;
		frame = frame_push(thread);
	} else if (!is_near(frame->sample.pc, sample->pc)) {
		pairs->counts.distant++;
	} else {
		pairs->counts.pairs++;
		pair = pair_of(frame, sample);
		emit(context, &pair);
	}
	frame->sample = *sample;
	frame->since = 0;
}

static int by_time(const void *a, const void *b)
{
	const struct register_sample *x = a, *y = b;

	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

void register_pairs_settle(struct register_pairs *pairs, register_pairs_fn emit, void *context)
{
	qsort(pairs->waiting, pairs->waiting_count, sizeof(pairs->waiting[0]), by_time);
	for (size_t i = 0; i < pairs->waiting_count; i++)
		sample_pair(pairs, &pairs->waiting[i], emit, context);
	pairs->waiting_count = 0;
}

/* Samples of other CPUs that belong before these ones may follow: no pair may contain them. */
static void overflow(struct register_pairs *pairs, register_pairs_fn emit, void *context)
{
	register_pairs_settle(pairs, emit, context);
	for (size_t i = 0; i < THREADS; i++)
		pairs->threads[i].depth = 0;
}

void register_pairs_add(struct register_pairs *pairs, const struct register_sample *sample,
			register_pairs_fn emit, void *context)
{
	if (pairs->waiting_count == WAITING_MAX)
		overflow(pairs, emit, context);
	pairs->waiting[pairs->waiting_count++] = *sample;
}

struct register_pairs_counts register_pairs_counts(const struct register_pairs *pairs)
{
	return pairs->counts;
}
