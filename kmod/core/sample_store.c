// SPDX-License-Identifier: GPL-2.0-only
#include "sample_store.h"

#define CURSOR_ACTIVE 0x80000000U

#define TAG_KEY_MASK (~(u64)DCPI_COUNT_MAX)

_Static_assert(sizeof(struct dcpi_sample) == 16, "an entry is 16 bytes");
_Static_assert(sizeof(struct sample_bucket) == 64, "a bucket is one cache line");
_Static_assert(offsetof(struct sample_store, direct) == 64, "counting touches one line of state");
_Static_assert(sizeof(struct sample_store) <= 192, "three lines");
_Static_assert(DCPI_EVENT_BRANCH_FAR == DCPI_EVENT_BRANCH + 1 &&
		       DCPI_EVENT_DOUBLE_FAR == DCPI_EVENT_DOUBLE + 1,
	       "the far event follows the near one");
_Static_assert(DCPI_PID_BITS + DCPI_GENERATION_BITS + DCPI_EVENT_BITS + DCPI_COUNT_BITS == 64,
	       "a tag is 64 bits");

static bool entries_valid(u32 entries)
{
	return entries >= DCPI_ENTRIES_MIN && entries <= DCPI_ENTRIES_MAX &&
	       (entries & (entries - 1)) == 0;
}

size_t sample_store_bytes(u32 table_entries, u32 buffer_entries)
{
	if (!entries_valid(table_entries) || !entries_valid(buffer_entries))
		return 0;
	return ((size_t)table_entries + 2 * (size_t)buffer_entries) * sizeof(struct dcpi_sample);
}

int sample_store_init(struct sample_store *store, void *memory, u32 table_entries,
		      u32 buffer_entries)
{
	return sample_store_init_apart(store, memory, (struct dcpi_sample *)memory + table_entries,
				       table_entries, buffer_entries);
}

int sample_store_init_apart(struct sample_store *store, void *table, void *buffer,
			    u32 table_entries, u32 buffer_entries)
{
	if (sample_store_bytes(table_entries, buffer_entries) == 0)
		return -EINVAL;
	if ((uintptr_t)store % 64 != 0 || (uintptr_t)table % 64 != 0 || (uintptr_t)buffer % 64 != 0)
		return -EINVAL;
	memset(store, 0, sizeof(*store));
	store->table = table;
	store->buffer = buffer;
	store->bucket_mask = table_entries / SAMPLE_WAYS - 1;
	store->buffer_entries = buffer_entries;
	return 0;
}

/*
 * Hand the full active buffer to the reader and start on the other one, if
 * that one is free.
 */
static bool buffer_flip(struct sample_store *store, unsigned int *wake)
{
	u32 active = store->cursor >> 31;

	if (store->retiring || core_load_acquire(&store->ready[active ^ 1]) != 0)
		return false;
	core_store_release(&store->ready[active], store->buffer_entries);
	store->cursor = (active ^ 1) << 31;
	store->flips++;
	*wake = SAMPLE_WAKE;
	return true;
}

/*
 * Append one entry to the active buffer. While the reader still has the other
 * one, a full buffer keeps the cursor at its end and every append tries again.
 */
static bool buffer_append(struct sample_store *store, u64 pc, u64 tag, unsigned int *wake)
{
	u32 active, fill = store->cursor & ~CURSOR_ACTIVE;
	struct dcpi_sample *entry;

	if (core_unlikely(fill == store->buffer_entries)) {
		if (!buffer_flip(store, wake))
			return false;
		fill = 0;
	}
	active = store->cursor >> 31;
	entry = &store->buffer[(size_t)active * store->buffer_entries + fill];
	entry->pc = pc;
	entry->tag = tag;
	store->cursor++;
	if (core_unlikely(fill + 1 == store->buffer_entries))
		buffer_flip(store, wake);
	return true;
}

/*
 * Append the two entries of a far edge, both to one buffer. The hole is only
 * made when the other buffer is free: else it would cost a sample its place.
 */
static bool buffer_append_far(struct sample_store *store, u64 from, u64 to, u64 tag,
			      unsigned int *wake)
{
	u32 active = store->cursor >> 31, fill = store->cursor & ~CURSOR_ACTIVE;

	if (core_unlikely(fill + 1 >= store->buffer_entries)) {
		if (store->retiring || core_load_acquire(&store->ready[active ^ 1]) != 0)
			return false;
		if (fill < store->buffer_entries)
			buffer_append(store, 0, 0, wake);
		else
			buffer_flip(store, wake);
	}
	return buffer_append(store, from, tag + 1, wake) && buffer_append(store, to, tag, wake);
}

/* What is being counted: edges count in none of the counters of samples. */
enum kind {
	KIND_SAMPLE,
	KIND_EDGE
};

static inline unsigned int count_lost(struct sample_store *store, enum kind kind)
{
	if (kind == KIND_SAMPLE)
		store->lost[DCPI_LOSS_BUFFERS_FULL]++;
	else
		store->edges_lost++;
	return SAMPLE_LOST;
}

static inline unsigned int count_missing(struct sample_store *store, struct sample_bucket *bucket,
					 u64 pc, u64 tag, enum kind kind)
{
	struct dcpi_sample *entry;
	unsigned int wake = 0;
	int way;

	for (way = 0; way < SAMPLE_WAYS; way++) {
		if (dcpi_tag_count(bucket->way[way].tag) == 0)
			break;
	}
	if (way == SAMPLE_WAYS) {
		way = (int)(store->victim % SAMPLE_WAYS);
		entry = &bucket->way[way];
		if (!buffer_append(store, entry->pc, entry->tag, &wake))
			return count_lost(store, kind);
		store->victim++;
		store->evictions++;
	}
	entry = &bucket->way[way];
	entry->pc = pc;
	entry->tag = tag + 1;
	if (kind == KIND_SAMPLE)
		store->misses++;
	return SAMPLE_MISS | wake;
}

/* A count that can go no higher leaves for the buffer and starts again. */
static inline unsigned int count_found(struct sample_store *store, struct dcpi_sample *entry,
				       u64 tag, enum kind kind)
{
	unsigned int wake = 0;

	if (dcpi_tag_count(entry->tag) < DCPI_COUNT_MAX) {
		entry->tag++;
	} else {
		if (!buffer_append(store, entry->pc, entry->tag, &wake))
			return count_lost(store, kind);
		store->evictions++;
		entry->tag = tag + 1;
	}
	if (kind == KIND_SAMPLE)
		store->hits++;
	return SAMPLE_HIT | wake;
}

static inline unsigned int count_direct(struct sample_store *store, u64 pc, u64 tag, enum kind kind)
{
	unsigned int wake = 0;

	if (!buffer_append(store, pc, tag + 1, &wake))
		return count_lost(store, kind);
	if (kind == KIND_SAMPLE)
		store->direct++;
	return SAMPLE_DIRECT | wake;
}

static inline unsigned int count(struct sample_store *store, struct sample_bucket *bucket, u64 pc,
				 u64 tag, enum kind kind)
{
	struct dcpi_sample *entry = bucket->way;
	struct dcpi_sample *end = entry + SAMPLE_WAYS;

	if (core_unlikely(store->flushing))
		return count_direct(store, pc, tag, kind);
	for (; entry < end; entry++) {
		if (entry->pc == pc && ((entry->tag ^ tag) & TAG_KEY_MASK) == 0 &&
		    dcpi_tag_count(entry->tag) != 0)
			return count_found(store, entry, tag, kind);
	}
	return count_missing(store, bucket, pc, tag, kind);
}

/* Out of line, as all but the hit: a hit then saves no registers. */
core_noinline unsigned int sample_store_count_slow(struct sample_store *store,
						   struct sample_bucket *bucket, u64 pc, u64 tag)
{
	return count(store, bucket, pc, tag, KIND_SAMPLE);
}

/* Nested writers may nest again, so that a plain increment could lose one. */
static void count_nested(u64 *counter)
{
	u64 seen;

	do {
		seen = *(volatile u64 *)counter;
	} while (core_cmpxchg_local(counter, seen, seen + 1) != seen);
}

core_noinline unsigned int sample_store_refused(struct sample_store *store)
{
	count_nested(&store->lost[DCPI_LOSS_NESTED]);
	return SAMPLE_LOST;
}

unsigned int sample_store_count(struct sample_store *store, u64 pc, u64 tag)
{
	unsigned int result;

	if (!sample_store_enter(store))
		return sample_store_refused(store);
	result = sample_store_count_entered(store, pc, tag);
	sample_store_leave(store);
	return result;
}

static unsigned int count_far(struct sample_store *store, u64 from, u64 to, u64 tag)
{
	unsigned int wake = 0;

	/* The _FAR event is the one after the near one. */
	if (!buffer_append_far(store, from, to, tag + (1U << DCPI_COUNT_BITS), &wake))
		return count_lost(store, KIND_EDGE) | wake;
	return SAMPLE_DIRECT | wake;
}

unsigned int sample_store_count_edge(struct sample_store *store, u64 from, u64 to, u64 tag)
{
	unsigned int result;
	__u64 packed;

	if (!sample_store_enter(store)) {
		count_nested(&store->edges_refused);
		return SAMPLE_LOST;
	}
	store->edges++;
	if (dcpi_edge_pack(from, to, &packed))
		result = count(store, sample_store_bucket(store, packed, tag), packed, tag,
			       KIND_EDGE);
	else
		result = count_far(store, from, to, tag);
	sample_store_leave(store);
	return result;
}

/*
 * At most one buffer is ever ready: with both full, the writer stands at the
 * end of the younger one and has not published it.
 */
int sample_store_full(struct sample_store *store, struct sample_chunk *chunk)
{
	int i;

	for (i = 0; i < 2; i++) {
		u32 count = core_load_acquire(&store->ready[i]);

		if (count != 0) {
			chunk->entries = &store->buffer[(size_t)i * store->buffer_entries];
			chunk->count = count;
			return i;
		}
	}
	return -EAGAIN;
}

void sample_store_release(struct sample_store *store, int buffer)
{
	core_store_release(&store->ready[buffer], 0);
}

int sample_store_retire(struct sample_store *store)
{
	u32 cursor, active, fill;
	int result = 0;

	if (core_load_acquire(&store->busy))
		return -EBUSY;
	/* A writer that interrupts may append, but not flip, until we are done. */
	store->retiring = 1;
	core_barrier();
	do {
		cursor = *(volatile u32 *)&store->cursor;
		active = cursor >> 31;
		fill = cursor & ~CURSOR_ACTIVE;
		if (fill == 0)
			goto out;
		if (core_load_acquire(&store->ready[active ^ 1]) != 0) {
			result = -EAGAIN;
			goto out;
		}
	} while (core_cmpxchg_local(&store->cursor, cursor, (active ^ 1) << 31) != cursor);
	core_store_release(&store->ready[active], fill);
out:
	core_barrier();
	store->retiring = 0;
	return result;
}

int sample_store_flush_begin(struct sample_store *store)
{
	if (core_load_acquire(&store->busy))
		return -EBUSY;
	core_store_release(&store->flushing, 1);
	return 0;
}

void sample_store_flush_end(struct sample_store *store)
{
	core_store_release(&store->flushing, 0);
}

struct sample_chunk sample_store_table(const struct sample_store *store)
{
	struct sample_chunk chunk = {
		.entries = store->table->way,
		.count = (store->bucket_mask + 1) * SAMPLE_WAYS,
	};

	return chunk;
}

void sample_store_table_clear(struct sample_store *store, u32 first, u32 count)
{
	memset(store->table->way + first, 0, (size_t)count * sizeof(struct dcpi_sample));
}

struct sample_totals sample_store_sum(const struct dcpi_sample *entries, u32 count)
{
	struct sample_totals sum = {0, 0};
	u32 i;

	for (i = 0; i < count; i++) {
		if (dcpi_tag_event(entries[i].tag) < DCPI_EVENT_SPECIAL)
			sum.samples += dcpi_tag_count(entries[i].tag);
		else
			sum.edges += dcpi_tag_count(entries[i].tag);
	}
	return sum;
}

static void totals_add(struct sample_totals *sum, const struct dcpi_sample *entries, u32 count)
{
	struct sample_totals more = sample_store_sum(entries, count);

	sum->samples += more.samples;
	sum->edges += more.edges;
}

struct sample_totals sample_store_pending_totals(const struct sample_store *store)
{
	struct sample_chunk table = sample_store_table(store);
	struct sample_totals sum = {0, 0};
	u32 active = store->cursor >> 31;
	u32 i;

	totals_add(&sum, table.entries, table.count);
	for (i = 0; i < 2; i++) {
		u32 fill = i == active ? store->cursor & ~CURSOR_ACTIVE : store->ready[i];

		totals_add(&sum, &store->buffer[(size_t)i * store->buffer_entries], fill);
	}
	return sum;
}

u64 sample_store_pending(const struct sample_store *store)
{
	return sample_store_pending_totals(store).samples;
}
