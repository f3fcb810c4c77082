/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sample store: one CPU's samples, aggregated (DCPI section 4.2.1).
 *
 * A 4-way set-associative table counts how often each (process, generation, event, PC) was seen. A
 * hit changes places with the first entry of its bucket. A new entry goes to the front, the others
 * move back by one, and the last one is evicted (DCPI section 5.4; docs/policy.md compares this
 * policy with others). Evicted entries go to one of two overflow buffers, which are handed to a
 * reader when full. The kernel module and user space are built from the same source. The caller
 * supplies all memory; nothing here allocates, locks, logs or sleeps.
 *
 * Permitted callers of each function:
 *   writer  sample_store_count() and sample_store_count_edge(), from the owning
 *           CPU's overflow interrupt, in any context, NMI included. If an interrupt
 *           of the writer counts again, the call is refused and counted as
 *           DCPI_LOSS_NESTED (edges: @edges_refused).
 *   reader  sample_store_full(), _release(), and the table between flush_begin
 *           and flush_end: any CPU.
 *   owner   sample_store_retire(), _flush_begin(), _flush_end(): on the owning
 *           CPU, on behalf of the reader. A writer may interrupt them anywhere;
 *           if they have interrupted the writer, they fail with -EBUSY.
 * Reader and owner calls for one store are serialized by the caller.
 *
 * Hand-over of a buffer is one release store by the writer and one acquire
 * load by the reader; of the table, a flag that only the owning CPU sets
 * (DCPI section 4.2.3). The only atomic operation that the writer executes is cmpxchg_local, and
 * its only barriers are acquire/release.
 *
 * Edges (see the uapi) are entries like samples, but none of the counters of samples counts them.
 * Near edges are aggregated in the table; far edges take two neighbouring entries of the buffer at
 * once. If only one entry is left in a buffer, a far edge goes to the next buffer, and an entry of
 * zeros fills the place.
 */
#ifndef DCPI_SAMPLE_STORE_H
#define DCPI_SAMPLE_STORE_H

#include "../uapi/dcpi_uapi.h"
#include "core_env.h"

#define SAMPLE_WAYS 4

/** struct sample_bucket - one cache line of entries; must be 64-byte aligned. */
struct sample_bucket {
	struct dcpi_sample way[SAMPLE_WAYS];
};

/** enum sample_result - result for a sample, and the caller's next action */
enum sample_result {
	SAMPLE_HIT,	 /* its count was incremented */
	SAMPLE_MISS,	 /* it took a free entry or replaced another */
	SAMPLE_DIRECT,	 /* appended to the buffer: the table is being drained */
	SAMPLE_LOST,	 /* counted by enum dcpi_loss */
	SAMPLE_WAKE = 4, /* or-ed in: a buffer became full, wake the reader */
};

/**
 * struct sample_store - the state of one CPU
 *
 * The first cache line is all that a sample touches besides its bucket (and, on an eviction, the
 * buffer's line); edges touch the second line, too. Fields are private, except for reading the
 * counters at rest.
 *
 * @cursor is the position of the next entry, counted from the beginning of the first buffer.
 * Because buffers are a power of two, @cursor determines which one is active and how full it is.
 * With SAMPLE_LAST_USED, the last place, at which the cursor stays, is in use, too.
 */
#define SAMPLE_LAST_USED 0x80000000U
struct sample_store {
	struct sample_bucket *table;
	u64 bucket_mask;
	struct dcpi_sample *buffer; /* both, one after the other */
	u32 buffer_mask;	    /* entries of one buffer, a power of two, minus one */
	u32 cursor;
	u64 hits;
	u64 misses;
	u64 evictions;
	u8 busy;     /* the writer is at work */
	u8 flushing; /* the table belongs to the reader */
	u8 retiring; /* the owner is handing a buffer over */
	u8 reserved;
	u32 buffer_entries;
	/* second line */
	u64 direct;
	u64 flips;
	u64 lost[DCPI_LOSS_NR];
	u32 ready[2];	   /* entries waiting in a full buffer; 0: owned by the writer */
	u64 edges;	   /* counted, stored or not; without @edges_refused */
	u64 edges_lost;	   /* part of @edges: both buffers were full */
	u64 edges_refused; /* refused while the writer was at work, and lost */
};

/** struct sample_totals - sums of counts over entries, by kind. */
struct sample_totals {
	u64 samples;
	u64 edges;
};

/**
 * struct sample_chunk - a run of entries to read
 * @entries: first one
 * @count:   how many
 */
struct sample_chunk {
	const struct dcpi_sample *entries;
	u32 count;
};

/** sample_store_entries_valid() - return true if a table or a buffer may have @entries entries */
bool sample_store_entries_valid(u32 entries);

/**
 * sample_store_bytes() - memory that a geometry needs
 * @table_entries:  power of two, DCPI_ENTRIES_MIN .. DCPI_ENTRIES_MAX
 * @buffer_entries: the same range, for each of the two buffers
 *
 * Return: bytes, or 0 if a number is out of range.
 */
size_t sample_store_bytes(u32 table_entries, u32 buffer_entries);

/**
 * sample_store_init() - start with an empty store
 * @store:  64-byte aligned
 * @memory: sample_store_bytes() zeroed bytes, 64-byte aligned; owned by the caller, must outlive
 *          the store
 *
 * Return: 0, or -EINVAL for a bad geometry or alignment.
 */
int sample_store_init(struct sample_store *store, void *memory, u32 table_entries,
		      u32 buffer_entries);

/**
 * sample_store_init_separate() - start with an empty store in two memory areas
 * @table:  sample_store_table_bytes() zeroed bytes, 64-byte aligned
 * @buffer: sample_store_buffer_bytes() zeroed bytes, 64-byte aligned
 */
int sample_store_init_separate(struct sample_store *store, void *table, void *buffer,
			       u32 table_entries, u32 buffer_entries);

static inline size_t sample_store_table_bytes(u32 table_entries)
{
	return (size_t)table_entries * sizeof(struct dcpi_sample);
}

/* Size of both buffers together. */
static inline size_t sample_store_buffer_bytes(u32 buffer_entries)
{
	return 2 * (size_t)buffer_entries * sizeof(struct dcpi_sample);
}

/**
 * sample_store_count() - count one sample (writer)
 * @pc:  program counter
 * @tag: dcpi_tag(), count bits zero, event below DCPI_EVENT_SPECIAL
 *
 * Return: enum sample_result, with SAMPLE_WAKE or-ed in when this sample made
 * a buffer full.
 */
unsigned int sample_store_count(struct sample_store *store, u64 pc, u64 tag);

/**
 * sample_store_prefetch() - announce a sample that will be counted soon
 *
 * For a writer that has many samples at once: most of the cost of counting is waiting for the
 * bucket's cache line. Parameters as for sample_store_count().
 */
void sample_store_prefetch(const struct sample_store *store, u64 pc, u64 tag);

/**
 * sample_store_count_edge() - count one edge (writer)
 * @from: source address
 * @to:   target address
 * @tag:  dcpi_tag() of DCPI_EVENT_BRANCH or DCPI_EVENT_DOUBLE
 *
 * Return: as sample_store_count(); SAMPLE_DIRECT also for far edges.
 */
unsigned int sample_store_count_edge(struct sample_store *store, u64 from, u64 to, u64 tag);

/*
 * The parts of sample_store_count(), for a writer that has other work to do while no other writer
 * can enter: enter, count, leave. If entering is refused, the caller calls only
 * sample_store_refused().
 */

/** sample_store_enter() - begin to count. Return: false if the caller interrupted the writer. */
static inline bool sample_store_enter(struct sample_store *store)
{
	if (core_unlikely(store->busy))
		return false;
	store->busy = 1;
	core_barrier();
	return true;
}

/** sample_store_leave() - end counting. */
static inline void sample_store_leave(struct sample_store *store)
{
	core_barrier();
	store->busy = 0;
}

/** sample_store_refused() - count a sample that was refused. Return: SAMPLE_LOST. */
unsigned int sample_store_refused(struct sample_store *store);

/**
 * sample_store_count_slow() - count one sample of any kind, between enter and leave
 *
 * To be called after sample_store_count_front() has returned false.
 */
unsigned int sample_store_count_slow(struct sample_store *store, struct sample_bucket *bucket,
				     u64 pc, u64 tag);

/*
 * PCs differ in their low bits; events, generations and processes, shifted, from
 * bits 13, 21 and 31 on. The constant is 2^31 divided by the golden ratio, made
 * odd: 31 bits cost less to load than 64. docs/results/policy.md compares functions.
 */
static inline struct sample_bucket *sample_store_bucket(const struct sample_store *store, u64 pc,
							u64 tag)
{
	u64 h = (pc ^ tag >> 11) * 0x4f1bbcdd;

	return &store->table[h >> 32 & store->bucket_mask];
}

/**
 * sample_store_count_front() - count one sample if its entry is the first
 * @bucket: sample_store_bucket() of this sample
 *
 * Counts of zero (an empty entry looks like PC 0 of PID 0) and of DCPI_COUNT_MAX, which cannot be
 * incremented, are left to the slow path.
 *
 * Return: true if this was a hit at the front; otherwise nothing was changed.
 */
static core_always_inline bool
sample_store_count_front(struct sample_store *store, struct sample_bucket *bucket, u64 pc, u64 tag)
{
	struct dcpi_sample *front = bucket->way;
	u64 found, count;

	/* Checked first: until the flush ends the reader may be clearing the table. */
	if (core_unlikely(store->flushing))
		return false;
	found = front->tag;
	count = found - tag; /* below 2^24 if the keys are the same */
	if (front->pc != pc || count - 1 >= DCPI_COUNT_MAX - 1)
		return false;
	front->tag = found + 1;
	store->hits++;
	return true;
}

/**
 * sample_store_count_entered() - count one sample, between enter and leave
 *
 * Arguments and return value are those of sample_store_count().
 */
static inline unsigned int sample_store_count_entered(struct sample_store *store, u64 pc, u64 tag)
{
	struct sample_bucket *bucket = sample_store_bucket(store, pc, tag);

	if (core_likely(sample_store_count_front(store, bucket, pc, tag)))
		return SAMPLE_HIT;
	return sample_store_count_slow(store, bucket, pc, tag);
}

/**
 * sample_store_full() - look at the oldest full buffer (reader)
 * @chunk: out
 *
 * Return: the buffer's number for sample_store_release(), or -EAGAIN if none
 * is full. The entries stay valid until released.
 */
int sample_store_full(struct sample_store *store, struct sample_chunk *chunk);

/** sample_store_release() - give a full buffer back to the writer (reader). */
void sample_store_release(struct sample_store *store, int buffer);

/**
 * sample_store_retire() - hand the unfinished buffer over as if full (owner)
 *
 * Return: 0 (also if it was empty); -EAGAIN while the other buffer is still
 * waiting for the reader; -EBUSY if the call interrupted the writer.
 */
int sample_store_retire(struct sample_store *store);

/**
 * sample_store_flush_begin() - give the table to the reader (owner)
 *
 * Samples go straight to the buffer until sample_store_flush_end(). In
 * between the reader calls sample_store_table() and
 * sample_store_table_clear().
 *
 * Return: 0, or -EBUSY if the call interrupted the writer, which may be about to change the table.
 * Then nothing was done; try again a moment later.
 */
int sample_store_flush_begin(struct sample_store *store);

/** sample_store_flush_end() - take the table back (owner). */
void sample_store_flush_end(struct sample_store *store);

/**
 * sample_store_table() - the whole table as a run of entries (reader)
 *
 * Entries whose count is zero are not in use.
 */
struct sample_chunk sample_store_table(const struct sample_store *store);

/** sample_store_table_clear() - clear entries [first, first + count) (reader). */
void sample_store_table_clear(struct sample_store *store, u32 first, u32 count);

/** sample_totals_add() - add the counts of a run of entries. */
void sample_totals_add(struct sample_totals *sum, const struct dcpi_sample *entries, u32 count);

/**
 * sample_store_pending() - count the samples in the table and the buffers
 * sample_store_pending_totals() - count the samples and edges in the table and the buffers
 *
 * Exact at rest; walks everything (not for hot paths).
 */
u64 sample_store_pending(const struct sample_store *store);
struct sample_totals sample_store_pending_totals(const struct sample_store *store);

#endif
