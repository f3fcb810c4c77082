// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/register_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "db/profile.h"
#include "kmod/core/sample_pairing.h"

/* A new thread evicts the one in its slot. */
#define THREADS 512
#define FRAMES 4
#define WAITING_MAX 4096
/* Pairs that wait for their second snapshot, by CPU and event. A new one evicts the one in its
 * slot. */
#define FIRST_SNAPSHOTS 512
/*
 * Samples of a frame between two readings. A reading comes some time after the last sample, and
 * this time varies.
 */
#define READING_SAMPLES 12
/* Frames without optimization are rarely larger. */
#define FRAME_BYTES 65536

/*
 * @words: of memory, if @has_words
 * @fp:    frame pointer; 0: the register has another use
 * @pc:    of the last sample before they were read
 * @own:   samples of the frame after they were read
 */
struct reading {
	bool has_words;
	uint64_t fp;
	uint64_t pc;
	uint64_t own;
	uint32_t words[REGISTER_PAIR_WORDS];
};

/* @since: samples of the thread after this one */
struct frame {
	struct dcpi_snapshot sample;
	uint64_t since;
	struct reading reading;
};

/* @frames: outer frames first; their stack pointers descend. @sampled: since the last reading */
struct thread {
	uint32_t tid;
	uint32_t event;
	uint32_t depth;
	bool sampled;
	struct frame frames[FRAMES];
};

/*
 * @pairs:    pairs that were emitted; the other counts are of samples that are no pair:
 * @first:    no earlier sample of this frame is known
 * @distant:  the code of the earlier sample is too far away for one procedure
 * @migrated: the thread has moved to another CPU in between
 * @orphans:  the first snapshot is not known
 * @words:    pairs of readings of memory; not in any of the others
 */
struct register_pairs {
	uint64_t pairs;
	uint64_t words;
	uint64_t first;
	uint64_t distant;
	uint64_t migrated;
	uint64_t orphans;
	size_t waiting_count;
	size_t next_read;
	struct dcpi_snapshot waiting[WAITING_MAX];
	struct thread threads[THREADS];
	struct dcpi_snapshot first_snapshots[FIRST_SNAPSHOTS];
};

struct register_pairs *register_pairs_create(void)
{
	return calloc(1, sizeof(struct register_pairs));
}

void register_pairs_destroy(struct register_pairs *pairs)
{
	free(pairs);
}

static uint64_t sp_of(const struct dcpi_snapshot *snapshot)
{
	return snapshot->registers[DCPI_SNAPSHOT_SP];
}

static uint64_t fp_of(const struct dcpi_snapshot *snapshot)
{
	return snapshot->registers[DCPI_SNAPSHOT_FP];
}

static bool same_program(const struct dcpi_snapshot *a, const struct dcpi_snapshot *b)
{
	return a->pid == b->pid && a->generation == b->generation;
}

/* Return: the thread of a sample, without frames if it is new or another program by now. */
static struct thread *thread_of(struct register_pairs *pairs, const struct dcpi_snapshot *sample)
{
	struct thread *thread = &pairs->threads[(sample->tid * 31 + sample->event) % THREADS];

	if (thread->tid != sample->tid || thread->event != sample->event ||
	    (sample->known != 0 && thread->depth > 0 &&
	     !same_program(&thread->frames[0].sample, sample))) {
		thread->tid = sample->tid;
		thread->event = sample->event;
		thread->depth = 0;
	}
	return thread;
}

/* Frames below the stack pointer have returned. */
static void frames_return(struct thread *thread, uint64_t sp)
{
	while (thread->depth > 0 && sp_of(&thread->frames[thread->depth - 1].sample) < sp)
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
	thread->frames[thread->depth].reading.has_words = false;
	return &thread->frames[thread->depth++];
}

static void pair_emit(struct register_pairs *pairs, const struct dcpi_snapshot *from,
		      const struct dcpi_snapshot *to, uint64_t samples, register_pairs_fn emit,
		      void *context)
{
	struct source_pair pair = {
		.from = from->pc,
		.to = to->pc,
		.tag = dcpi_tag(to->pid, to->generation, to->event),
		.samples = samples,
	};

	for (uint32_t i = 0; i < REGISTER_PAIR_REGISTERS; i++) {
		if ((from->known & to->known & UINT32_C(1) << i) == 0)
			continue;
		pair.delta[i] = (int64_t)(to->registers[i] - from->registers[i]);
		if (pair.delta[i] != 0)
			pair.changed |= UINT32_C(1) << i;
	}
	pairs->pairs++;
	emit(context, &pair);
}

static bool is_near(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) < SAMPLE_PAIRING_CODE_BYTES;
}

static void sample_pair(struct register_pairs *pairs, const struct dcpi_snapshot *sample,
			register_pairs_fn emit, void *context)
{
	struct thread *thread = thread_of(pairs, sample);
	struct frame *frame;

	for (uint32_t i = 0; i < thread->depth; i++)
		thread->frames[i].since++;
	if (sample->known == 0)
		return;
	frames_return(thread, sp_of(sample));
	frame = thread->depth > 0 ? &thread->frames[thread->depth - 1] : NULL;
	if (frame == NULL || sp_of(&frame->sample) != sp_of(sample)) {
		pairs->first++;
		frame = frame_push(thread);
	} else if (!is_near(frame->sample.pc, sample->pc)) {
		pairs->distant++;
	} else {
		pair_emit(pairs, &frame->sample, sample, frame->since, emit, context);
	}
	frame->sample = *sample;
	frame->since = 0;
	frame->reading.own++;
	thread->sampled = true;
}

static int by_time(const void *a, const void *b)
{
	const struct dcpi_snapshot *x = a, *y = b;

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

void register_pairs_add(struct register_pairs *pairs, const struct dcpi_snapshot *snapshot,
			register_pairs_fn emit, void *context)
{
	if (pairs->waiting_count == WAITING_MAX)
		overflow(pairs, emit, context);
	pairs->waiting[pairs->waiting_count++] = *snapshot;
}

static bool reading_read(struct reading *reading, const struct dcpi_snapshot *sample,
			 register_pairs_read_fn read, void *context)
{
	const size_t stack_bytes =
		(PROFILE_WORD_FRAME - PROFILE_WORD_STACK) * (size_t)PROFILE_WORD_BYTES;
	uint32_t *frame_words = &reading->words[PROFILE_WORD_FRAME - PROFILE_WORD_STACK];

	_Static_assert(REGISTER_PAIR_WORDS == PROFILE_WORD_END - PROFILE_WORD_STACK,
		       "room for all words");
	if (sp_of(sample) < PROFILE_WORD_STACK_BELOW ||
	    !read(context, sample, sp_of(sample) - PROFILE_WORD_STACK_BELOW, reading->words,
		  stack_bytes))
		return false;
	reading->fp = 0;
	if (fp_of(sample) >= sp_of(sample) && fp_of(sample) - sp_of(sample) < FRAME_BYTES) {
		reading->fp = fp_of(sample);
		if (!read(context, sample, fp_of(sample) - PROFILE_WORD_FRAME_BELOW, frame_words,
			  PROFILE_WORD_FRAME_BELOW))
			return false;
	}
	reading->pc = sample->pc;
	reading->own = 0;
	return reading->has_words = true;
}

static struct source_pair words_pair(const struct reading *from, const struct reading *to,
				     const struct dcpi_snapshot *sample)
{
	struct source_pair pair = {.from = from->pc,
				   .to = to->pc,
				   .tag = dcpi_tag(sample->pid, sample->generation, sample->event),
				   .samples = from->own};
	bool has_frame = from->fp != 0 && from->fp == to->fp;
	uint32_t count = has_frame ? REGISTER_PAIR_WORDS : PROFILE_WORD_FRAME - PROFILE_WORD_STACK;

	for (uint32_t i = 0; i < count && pair.word_count < REGISTER_PAIR_CHANGES; i++) {
		if (to->words[i] != from->words[i])
			pair.words[pair.word_count++] = (struct word_change){
				.number = (uint8_t)(PROFILE_WORD_STACK + i),
				.delta = (int32_t)(to->words[i] - from->words[i]),
			};
	}
	return pair;
}

/* Read the innermost frame of a thread. */
static void thread_read(struct register_pairs *pairs, struct thread *thread,
			register_pairs_read_fn read, void *read_context, register_pairs_fn emit,
			void *context)
{
	struct frame *frame = &thread->frames[thread->depth - 1];
	struct reading before = frame->reading;
	struct source_pair pair;

	if (!reading_read(&frame->reading, &frame->sample, read, read_context)) {
		frame->reading.has_words = false;
		return;
	}
	if (!before.has_words || before.own == 0 || !is_near(before.pc, frame->reading.pc))
		return;
	pair = words_pair(&before, &frame->reading, &frame->sample);
	if (pair.word_count == 0)
		return;
	pairs->words++;
	emit(context, &pair);
}

static bool reading_is_due(const struct thread *thread)
{
	const struct reading *reading = &thread->frames[thread->depth - 1].reading;

	return !reading->has_words || reading->own >= READING_SAMPLES;
}

void register_pairs_words(struct register_pairs *pairs, register_pairs_read_fn read,
			  void *read_context, register_pairs_fn emit, void *context)
{
	uint32_t reads = 0;

	for (size_t i = 0; i < THREADS && reads < REGISTER_PAIR_READS; i++) {
		struct thread *thread = &pairs->threads[(pairs->next_read + i) % THREADS];

		if (!thread->sampled || thread->depth == 0 || !reading_is_due(thread))
			continue;
		thread->sampled = false;
		reads++;
		thread_read(pairs, thread, read, read_context, emit, context);
	}
	pairs->next_read++;
}

void register_pairs_examined(struct register_pairs *pairs, const struct dcpi_snapshot *snapshot,
			     register_pairs_fn emit, void *context)
{
	struct dcpi_snapshot *first =
		&pairs->first_snapshots[(snapshot->cpu * 31 + snapshot->event) % FIRST_SNAPSHOTS];

	if (snapshot->kind == DCPI_SNAPSHOT_FIRST) {
		*first = *snapshot;
		return;
	}
	if (first->known == 0 || first->cpu != snapshot->cpu || first->event != snapshot->event ||
	    first->series != snapshot->series || first->tid != snapshot->tid ||
	    !same_program(first, snapshot))
		pairs->orphans++;
	else if (first->migrations != snapshot->migrations)
		pairs->migrated++;
	else
		pair_emit(pairs, first, snapshot, snapshot->samples, emit, context);
	first->known = 0;
}

static void examined_report(const struct register_pairs *pairs,
			    const struct pair_outcomes *outcomes, source_counter_fn visit,
			    void *context)
{
	visit(context, "stat", "pairs_begun", outcomes->begun);
	visit(context, "stat", "pairs_waiting", outcomes->waiting);
	visit(context, "stat", "pairs_ended", outcomes->ended);
	visit(context, "stat", "pairs_expired", outcomes->expired);
	visit(context, "stat", "pairs_migrated", pairs->migrated);
	visit(context, "stat", "pairs_missed", outcomes->missed + pairs->orphans);
}

void register_pairs_report(const struct register_pairs *pairs, const struct pair_outcomes *outcomes,
			   source_counter_fn visit, void *context)
{
	visit(context, "stat", "pairs", pairs->pairs);
	if (outcomes != NULL) {
		examined_report(pairs, outcomes, visit, context);
		return;
	}
	visit(context, "stat", "pairs_begun", pairs->pairs + pairs->first + pairs->distant);
	visit(context, "stat", "pairs_first", pairs->first);
	visit(context, "stat", "pairs_distant", pairs->distant);
	visit(context, "stat", "pairs_words", pairs->words);
}
