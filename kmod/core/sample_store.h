/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sample store: one CPU's samples, aggregated (DCPI section 4.2.1).
 *
 * A 4-way set-associative table counts how often each (process, generation,
 * event, PC) was seen; what a miss evicts goes to one of two overflow buffers,
 * which are handed to a reader when full. One source for the kernel module and
 * for user space. The caller supplies all memory; nothing here allocates,
 * locks, logs or sleeps.
 *
 * Who may call what:
 *   writer  sample_store_count(), from the owning CPU's overflow interrupt, in
 *           any context, NMI included. An interrupt of the writer that counts
 *           again is refused and named (DCPI_LOSS_NESTED).
 *   reader  sample_store_full(), _release(), and the table between flush_begin
 *           and flush_end: any CPU.
 *   owner   sample_store_retire(), _flush_begin(), _flush_end(): on the owning
 *           CPU, on behalf of the reader. A writer may interrupt them anywhere;
 *           should they have interrupted the writer, they refuse (-EBUSY).
 * Reader and owner calls for one store are serialized by the caller.
 *
 * Hand-over of a buffer is one release store by the writer and one acquire
 * load by the reader; of the table, a flag that only the owning CPU sets
 * (DCPI section 4.2.3). The writer executes no atomic operation but
 * cmpxchg_local, and no barrier but acquire/release.
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

/** enum sample_result - what became of a sample, and what the caller should do. */
enum sample_result {
	SAMPLE_HIT,	 /* its count went up */
	SAMPLE_MISS,	 /* it took a free entry or another's place */
	SAMPLE_DIRECT,	 /* appended to the buffer: the table is being drained */
	SAMPLE_LOST,	 /* counted as lost by name */
	SAMPLE_WAKE = 4, /* or-ed in: a buffer became full, wake the reader */
};

/**
 * struct sample_store - the state of one CPU
 *
 * The first cache line is all that a sample touches besides its bucket (and,
 * on an eviction, the buffer's line). Fields are private but for reading the
 * counters at rest.
 */
struct sample_store {
	struct sample_bucket *table;
	struct dcpi_sample *buffer; /* both, one after the other */
	u32 bucket_mask;
	u32 buffer_entries;
	u32 cursor;  /* bit 31: active buffer; rest: its fill */
	u32 victim;  /* low two bits: way to evict next */
	u8 busy;     /* the writer is at work */
	u8 flushing; /* the table belongs to the reader */
	u8 retiring; /* the owner is handing a buffer over */
	u8 reserved[5];
	u64 hits;
	u64 misses;
	u64 evictions;
	/* second line */
	u64 direct;
	u64 flips;
	u64 lost[DCPI_LOSS_NR];
	u32 ready[2]; /* entries waiting in a full buffer; 0: the writer's */
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

/**
 * sample_store_bytes() - memory that a geometry needs
 * @table_entries:  power of two, DCPI_ENTRIES_MIN .. DCPI_ENTRIES_MAX
 * @buffer_entries: likewise, for each of the two buffers
 *
 * Return: bytes, or 0 if a number is out of range.
 */
size_t sample_store_bytes(u32 table_entries, u32 buffer_entries);

/**
 * sample_store_init() - start with an empty store
 * @store:  64-byte aligned
 * @memory: sample_store_bytes() zeroed bytes, 64-byte aligned; stays the
 *          caller's and must outlive the store
 *
 * Return: 0, or -EINVAL for a bad geometry or alignment.
 */
int sample_store_init(struct sample_store *store, void *memory, u32 table_entries,
		      u32 buffer_entries);

/**
 * sample_store_count() - count one sample (writer)
 * @pc:  program counter
 * @tag: dcpi_tag(), count bits zero
 *
 * Return: enum sample_result, with SAMPLE_WAKE or-ed in when this sample made
 * a buffer full.
 */
unsigned int sample_store_count(struct sample_store *store, u64 pc, u64 tag);

/**
 * sample_store_prefetch() - this sample will be counted soon
 *
 * For a writer that has many at once: most of what counting costs is waiting for
 * the bucket. Parameters as of sample_store_count().
 */
void sample_store_prefetch(const struct sample_store *store, u64 pc, u64 tag);

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
 * Return: 0, or -EBUSY if the call interrupted the writer, which may be about
 * to change the table: nothing was done, try again a moment later.
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

/** sample_store_table_clear() - forget entries [first, first + count) (reader). */
void sample_store_table_clear(struct sample_store *store, u32 first, u32 count);

/**
 * sample_store_pending() - samples in the table and the buffers
 *
 * Exact at rest; walks everything (not for hot paths).
 */
u64 sample_store_pending(const struct sample_store *store);

#endif
