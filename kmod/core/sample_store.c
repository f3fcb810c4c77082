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

/* Beside SAMPLE_WAKE, what appending says. */
#define APPENDED 8U

/*
 * Hand the full active buffer to the reader and start on the other one, if
 * that one is free. Return: SAMPLE_WAKE if so, else 0.
 */
static unsigned int buffer_flip(struct sample_store *store)
{
	u32 active = store->cursor >> 31;

	if (store->retiring || core_load_acquire(&store->ready[active ^ 1]) != 0)
		return 0;
	core_store_release(&store->ready[active], store->buffer_entries);
	store->cursor = (active ^ 1) << 31;
	store->flips++;
	return SAMPLE_WAKE;
}

static core_always_inline void buffer_put(struct sample_store *store, u32 cursor, u64 pc, u64 tag)
{
	struct dcpi_sample *entry = store->buffer + (cursor & ~CURSOR_ACTIVE);

	if (cursor & CURSOR_ACTIVE)
		entry += store->buffer_entries;
	entry->pc = pc;
	entry->tag = tag;
	store->cursor = cursor + 1;
}

/*
 * Append one entry to the active buffer. While the reader still has the other
 * one, a full buffer keeps the cursor at its end and every append tries again.
 *
 * Return: APPENDED, with SAMPLE_WAKE or-ed in; 0 if there is no room.
 */
static core_noinline unsigned int buffer_append_last(struct sample_store *store, u64 pc, u64 tag)
{
	unsigned int wake = 0;

	if ((store->cursor & ~CURSOR_ACTIVE) == store->buffer_entries) {
		wake = buffer_flip(store);
		if (wake == 0)
			return 0;
	}
	buffer_put(store, store->cursor, pc, tag);
	if ((store->cursor & ~CURSOR_ACTIVE) == store->buffer_entries)
		wake |= buffer_flip(store);
	return APPENDED | wake;
}

/* The same, in line while the buffer has room for more than one. */
static core_always_inline unsigned int buffer_append(struct sample_store *store, u64 pc, u64 tag)
{
	u32 cursor = store->cursor;

	if (core_unlikely((cursor & ~CURSOR_ACTIVE) + 1 >= store->buffer_entries))
		return buffer_append_last(store, pc, tag);
	buffer_put(store, cursor, pc, tag);
	return APPENDED;
}

/*
 * Append the two entries of a far edge, both to one buffer. The hole is only
 * made when the other buffer is free: else it would cost a sample its place.
 */
static unsigned int buffer_append_far(struct sample_store *store, u64 from, u64 to, u64 tag)
{
	u32 active = store->cursor >> 31, fill = store->cursor & ~CURSOR_ACTIVE;
	unsigned int result = 0;

	if (core_unlikely(fill + 1 >= store->buffer_entries)) {
		if (store->retiring || core_load_acquire(&store->ready[active ^ 1]) != 0)
			return 0;
		if (fill < store->buffer_entries)
			result |= buffer_append_last(store, 0, 0);
		else
			result |= buffer_flip(store);
	}
	result |= buffer_append(store, from, tag + 1);
	return result | buffer_append(store, to, tag);
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

static core_always_inline unsigned int place(struct sample_store *store, struct dcpi_sample *entry,
					     u64 pc, u64 tag, enum kind kind)
{
	entry->pc = pc;
	entry->tag = tag + 1;
	if (kind == KIND_SAMPLE)
		store->misses++;
	return SAMPLE_MISS;
}

/* All ways are in use, by others: one of them leaves for the buffer. */
static core_always_inline unsigned int count_evicting(struct sample_store *store,
						      struct sample_bucket *bucket, u64 pc, u64 tag,
						      enum kind kind)
{
	u32 victim = store->victim;
	struct dcpi_sample *entry = &bucket->way[victim % SAMPLE_WAYS];
	unsigned int appended = buffer_append(store, entry->pc, entry->tag);

	if (core_unlikely(appended == 0))
		return count_lost(store, kind);
	store->victim = victim + 1;
	store->evictions++;
	return place(store, entry, pc, tag, kind) | (appended & SAMPLE_WAKE);
}

/* A count that can go no higher leaves for the buffer and starts again. */
static unsigned int count_found(struct sample_store *store, struct dcpi_sample *entry, u64 tag,
				enum kind kind)
{
	unsigned int appended = 0;

	if (dcpi_tag_count(entry->tag) < DCPI_COUNT_MAX) {
		entry->tag++;
	} else {
		appended = buffer_append(store, entry->pc, entry->tag);
		if (appended == 0)
			return count_lost(store, kind);
		store->evictions++;
		entry->tag = tag + 1;
	}
	if (kind == KIND_SAMPLE)
		store->hits++;
	return SAMPLE_HIT | (appended & SAMPLE_WAKE);
}

static unsigned int count_direct(struct sample_store *store, u64 pc, u64 tag, enum kind kind)
{
	unsigned int appended = buffer_append(store, pc, tag + 1);

	if (appended == 0)
		return count_lost(store, kind);
	if (kind == KIND_SAMPLE)
		store->direct++;
	return SAMPLE_DIRECT | (appended & SAMPLE_WAKE);
}

/* Every case. */
static core_noinline unsigned int count(struct sample_store *store, struct sample_bucket *bucket,
					u64 pc, u64 tag, enum kind kind)
{
	struct dcpi_sample *free = NULL;
	int way;

	if (store->flushing)
		return count_direct(store, pc, tag, kind);
	/* Downwards: of several free entries the first is taken. */
	for (way = SAMPLE_WAYS - 1; way >= 0; way--) {
		struct dcpi_sample *entry = &bucket->way[way];

		if (dcpi_tag_count(entry->tag) == 0)
			free = entry;
		else if (entry->pc == pc && ((entry->tag ^ tag) & TAG_KEY_MASK) == 0)
			return count_found(store, entry, tag, kind);
	}
	if (free != NULL)
		return place(store, free, pc, tag, kind);
	return count_evicting(store, bucket, pc, tag, kind);
}

/* Neither free nor saturated. */
static core_always_inline bool ordinary(const struct dcpi_sample *entry)
{
	return dcpi_tag_count(entry->tag) - 1 < DCPI_COUNT_MAX - 1;
}

/*
 * Out of line, so that a hit saves no registers. The caller has found no
 * ordinary entry of this key: with four of them, it is the common miss.
 */
core_noinline unsigned int sample_store_count_slow(struct sample_store *store,
						   struct sample_bucket *bucket, u64 pc, u64 tag)
{
	const struct dcpi_sample *way = bucket->way;

	_Static_assert(SAMPLE_WAYS == 4, "unrolled by hand");
	if (core_unlikely(store->flushing || !ordinary(&way[0]) || !ordinary(&way[1]) ||
			  !ordinary(&way[2]) || !ordinary(&way[3])))
		return count(store, bucket, pc, tag, KIND_SAMPLE);
	return count_evicting(store, bucket, pc, tag, KIND_SAMPLE);
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
	/* The _FAR event is the one after the near one. */
	unsigned int appended = buffer_append_far(store, from, to, tag + (1U << DCPI_COUNT_BITS));

	if (appended == 0)
		return count_lost(store, KIND_EDGE);
	return SAMPLE_DIRECT | (appended & SAMPLE_WAKE);
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
