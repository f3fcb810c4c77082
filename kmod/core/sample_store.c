// SPDX-License-Identifier: GPL-2.0-only
#include "sample_store.h"

#define CURSOR_ACTIVE 0x80000000U

#define TAG_KEY_MASK (~(u64)DCPI_COUNT_MAX)

_Static_assert(sizeof(struct dcpi_sample) == 16, "an entry is 16 bytes");
_Static_assert(sizeof(struct sample_bucket) == 64, "a bucket is one cache line");
_Static_assert(offsetof(struct sample_store, direct) == 64, "counting touches one line of state");
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
	if (sample_store_bytes(table_entries, buffer_entries) == 0)
		return -EINVAL;
	if ((uintptr_t)store % 64 != 0 || (uintptr_t)memory % 64 != 0)
		return -EINVAL;
	memset(store, 0, sizeof(*store));
	store->table = memory;
	store->buffer = (struct dcpi_sample *)memory + table_entries;
	store->bucket_mask = table_entries / SAMPLE_WAYS - 1;
	store->buffer_entries = buffer_entries;
	return 0;
}

/*
 * One multiplication spreads both words over the high bits. PCs differ in
 * their low bits, processes in the upper half of the tag.
 */
static inline struct sample_bucket *bucket_of(const struct sample_store *store, u64 pc, u64 tag)
{
	u64 h = (pc ^ (tag >> 24) * 0x9e3779b97f4a7c15ULL) * 0xd6e8feb86659fd93ULL;

	return &store->table[(u32)(h >> 32) & store->bucket_mask];
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

/* Out of line, as all but the hit: a hit then saves no registers. */
static core_noinline unsigned int count_missing(struct sample_store *store,
						struct sample_bucket *bucket, u64 pc, u64 tag)
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
		if (!buffer_append(store, entry->pc, entry->tag, &wake)) {
			store->lost[DCPI_LOSS_BUFFERS_FULL]++;
			return SAMPLE_LOST;
		}
		store->victim++;
		store->evictions++;
	}
	entry = &bucket->way[way];
	entry->pc = pc;
	entry->tag = tag + 1;
	store->misses++;
	return SAMPLE_MISS | wake;
}

/* A count that can go no higher leaves for the buffer and starts again. */
static core_noinline unsigned int count_saturated(struct sample_store *store,
						  struct dcpi_sample *entry, u64 tag)
{
	unsigned int wake = 0;

	if (!buffer_append(store, entry->pc, entry->tag, &wake)) {
		store->lost[DCPI_LOSS_BUFFERS_FULL]++;
		return SAMPLE_LOST;
	}
	store->evictions++;
	entry->tag = tag + 1;
	store->hits++;
	return SAMPLE_HIT | wake;
}

static core_noinline unsigned int count_direct(struct sample_store *store, u64 pc, u64 tag)
{
	unsigned int wake = 0;

	if (!buffer_append(store, pc, tag + 1, &wake)) {
		store->lost[DCPI_LOSS_BUFFERS_FULL]++;
		return SAMPLE_LOST;
	}
	store->direct++;
	return SAMPLE_DIRECT | wake;
}

static unsigned int count_in_table(struct sample_store *store, u64 pc, u64 tag)
{
	struct sample_bucket *bucket = bucket_of(store, pc, tag);
	struct dcpi_sample *entry = bucket->way;
	struct dcpi_sample *end = entry + SAMPLE_WAYS;

	for (; entry < end; entry++) {
		/* A key with any count: the difference is below the key bits. */
		if (entry->pc != pc || ((entry->tag ^ tag) & TAG_KEY_MASK) != 0)
			continue;
		if (core_unlikely(dcpi_tag_count(entry->tag) == 0))
			break; /* a cleared entry that looks like PC 0 of PID 0 */
		if (core_unlikely(dcpi_tag_count(entry->tag) == DCPI_COUNT_MAX))
			return count_saturated(store, entry, tag);
		entry->tag++;
		store->hits++;
		return SAMPLE_HIT;
	}
	return count_missing(store, bucket, pc, tag);
}

/* Nested writers may nest again, so that a plain increment could lose one. */
static core_noinline unsigned int count_nested(struct sample_store *store)
{
	u64 *lost = &store->lost[DCPI_LOSS_NESTED];
	u64 seen;

	do {
		seen = *(volatile u64 *)lost;
	} while (core_cmpxchg_local(lost, seen, seen + 1) != seen);
	return SAMPLE_LOST;
}

unsigned int sample_store_count(struct sample_store *store, u64 pc, u64 tag)
{
	unsigned int result;

	if (core_unlikely(store->busy))
		return count_nested(store);
	store->busy = 1;
	core_barrier();
	if (core_likely(!store->flushing))
		result = count_in_table(store, pc, tag);
	else
		result = count_direct(store, pc, tag);
	core_barrier();
	store->busy = 0;
	return result;
}

void sample_store_prefetch(const struct sample_store *store, u64 pc, u64 tag)
{
	__builtin_prefetch(bucket_of(store, pc, tag), 1);
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

static u64 sum_counts(const struct dcpi_sample *entries, u32 count)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < count; i++)
		sum += dcpi_tag_count(entries[i].tag);
	return sum;
}

u64 sample_store_pending(const struct sample_store *store)
{
	struct sample_chunk table = sample_store_table(store);
	u64 sum = sum_counts(table.entries, table.count);
	u32 active = store->cursor >> 31;
	u32 i;

	for (i = 0; i < 2; i++) {
		u32 fill = i == active ? store->cursor & ~CURSOR_ACTIVE : store->ready[i];

		sum += sum_counts(&store->buffer[(size_t)i * store->buffer_entries], fill);
	}
	return sum;
}
