// SPDX-License-Identifier: GPL-2.0-only
#include "sample_store.h"

_Static_assert(sizeof(struct dcpi_sample) == 16, "an entry is 16 bytes");
_Static_assert(sizeof(struct sample_bucket) == 64, "a bucket is one cache line");
_Static_assert(offsetof(struct sample_store, direct) == 64, "counting touches one line of state");
_Static_assert(sizeof(struct sample_store) <= 192, "three lines");
_Static_assert(DCPI_EVENT_BRANCH_FAR == DCPI_EVENT_BRANCH + 1 &&
		       DCPI_EVENT_DOUBLE_FAR == DCPI_EVENT_DOUBLE + 1,
	       "the far event follows the near one");
_Static_assert(DCPI_PID_BITS + DCPI_GENERATION_BITS + DCPI_EVENT_BITS + DCPI_COUNT_BITS == 64,
	       "a tag is 64 bits");

bool sample_store_entries_valid(u32 entries)
{
	return entries >= DCPI_ENTRIES_MIN && entries <= DCPI_ENTRIES_MAX &&
	       (entries & (entries - 1)) == 0;
}

size_t sample_store_bytes(u32 table_entries, u32 buffer_entries)
{
	if (!sample_store_entries_valid(table_entries) ||
	    !sample_store_entries_valid(buffer_entries))
		return 0;
	return ((size_t)table_entries + 2 * (size_t)buffer_entries) * sizeof(struct dcpi_sample);
}

int sample_store_init(struct sample_store *store, void *memory, u32 table_entries,
		      u32 buffer_entries)
{
	return sample_store_init_separate(store, memory,
					  (struct dcpi_sample *)memory + table_entries,
					  table_entries, buffer_entries);
}

int sample_store_init_separate(struct sample_store *store, void *table, void *buffer,
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
	store->buffer_mask = buffer_entries - 1;
	return 0;
}

/* Returned by the append functions, possibly with SAMPLE_WAKE or-ed in. */
#define APPENDED 8U

/* Return the number of the buffer that @cursor is in, 0 or 1. */
static inline u32 cursor_active(const struct sample_store *store, u32 cursor)
{
	return (cursor & store->buffer_entries) != 0;
}

/* Return the number of entries in that buffer. */
static inline u32 cursor_fill(const struct sample_store *store, u32 cursor)
{
	return (cursor & store->buffer_mask) + cursor / SAMPLE_LAST_USED;
}

static inline u32 cursor_begin(const struct sample_store *store, u32 buffer)
{
	return buffer != 0 ? store->buffer_entries : 0;
}

/*
 * Hand the full active buffer to the reader and start on the other one, if
 * that one is free. Return: SAMPLE_WAKE if so, else 0.
 */
static unsigned int buffer_flip(struct sample_store *store)
{
	u32 active = cursor_active(store, store->cursor);

	if (store->retiring || core_load_acquire(&store->ready[active ^ 1]) != 0)
		return 0;
	core_store_release(&store->ready[active], store->buffer_entries);
	store->cursor = cursor_begin(store, active ^ 1);
	store->flips++;
	return SAMPLE_WAKE;
}

/*
 * Append one entry to the active buffer. While the reader still has the other
 * one, a full buffer keeps the cursor at its end and every append tries again.
 *
 * Return: APPENDED, with SAMPLE_WAKE or-ed in; 0 if there is no room.
 */
static core_noinline unsigned int buffer_append_last(struct sample_store *store, u64 pc, u64 tag)
{
	struct dcpi_sample *entry;
	unsigned int wake = 0;

	if (store->cursor & SAMPLE_LAST_USED) {
		wake = buffer_flip(store);
		if (wake == 0)
			return 0;
	}
	entry = &store->buffer[store->cursor];
	entry->pc = pc;
	entry->tag = tag;
	if ((store->cursor & store->buffer_mask) != store->buffer_mask) {
		store->cursor++;
		return APPENDED | wake;
	}
	store->cursor |= SAMPLE_LAST_USED;
	return APPENDED | wake | buffer_flip(store);
}

/* Append if the buffer has room for more than one entry. Return: true if it was appended. */
static core_always_inline bool buffer_append_inner(struct sample_store *store, u64 pc, u64 tag)
{
	u32 cursor = store->cursor;
	struct dcpi_sample *entry = &store->buffer[cursor];

	if (core_unlikely((~cursor & store->buffer_mask) == 0))
		return false;
	entry->pc = pc;
	entry->tag = tag;
	store->cursor = cursor + 1;
	return true;
}

static unsigned int buffer_append(struct sample_store *store, u64 pc, u64 tag)
{
	return buffer_append_inner(store, pc, tag) ? APPENDED : buffer_append_last(store, pc, tag);
}

/*
 * Append the two entries of a far edge, both to one buffer. An entry of zeros is written only when
 * the other buffer is free; otherwise it would take the place of a sample.
 */
static unsigned int buffer_append_far(struct sample_store *store, u64 from, u64 to, u64 tag)
{
	u32 active = cursor_active(store, store->cursor);
	unsigned int result = 0;

	if (core_unlikely((~store->cursor & store->buffer_mask) == 0)) {
		if (store->retiring || core_load_acquire(&store->ready[active ^ 1]) != 0)
			return 0;
		if (store->cursor & SAMPLE_LAST_USED)
			result |= buffer_flip(store);
		else
			result |= buffer_append_last(store, 0, 0);
	}
	result |= buffer_append(store, from, tag + 1);
	return result | buffer_append(store, to, tag);
}

/* Kind of the entry being counted: edges do not count in any of the counters of samples. */
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

static inline void entry_move(struct dcpi_sample *to, const struct dcpi_sample *from)
{
	to->pc = from->pc;
	to->tag = from->tag;
}

/* A new entry at the front: the others move back by one, over the last. */
static core_always_inline unsigned int insert(struct sample_store *store,
					      struct dcpi_sample way[SAMPLE_WAYS], u64 pc, u64 tag,
					      enum kind kind)
{
	/* Unrolled: a loop would become a call of memmove(). */
	_Static_assert(SAMPLE_WAYS == 4, "moves as many");
	entry_move(&way[3], &way[2]);
	entry_move(&way[2], &way[1]);
	entry_move(&way[1], &way[0]);
	way->pc = pc;
	way->tag = tag + 1;
	if (kind == KIND_SAMPLE)
		store->misses++;
	return SAMPLE_MISS;
}

/* A miss for which the buffer has one place left, or none. */
static core_noinline unsigned int count_missing_last(struct sample_store *store,
						     struct dcpi_sample *way, u64 pc, u64 tag,
						     enum kind kind)
{
	const struct dcpi_sample *last = &way[SAMPLE_WAYS - 1];
	unsigned int appended = buffer_append_last(store, last->pc, last->tag);

	if (appended == 0)
		return count_lost(store, kind);
	store->evictions++;
	return insert(store, way, pc, tag, kind) | (appended & SAMPLE_WAKE);
}

/*
 * Entries only move back, and are cleared while no writer counts in the table. So the free places
 * are the last ones of a bucket, and need no search.
 */
static core_always_inline unsigned int
count_missing(struct sample_store *store, struct dcpi_sample *way, u64 pc, u64 tag, enum kind kind)
{
	const struct dcpi_sample *last = &way[SAMPLE_WAYS - 1];

	if (core_likely(dcpi_tag_count(last->tag) != 0)) {
		if (!buffer_append_inner(store, last->pc, last->tag))
			return count_missing_last(store, way, pc, tag, kind);
		store->evictions++;
	}
	return insert(store, way, pc, tag, kind);
}

/* A count that has reached its maximum is moved to the buffer and starts again. */
static core_noinline unsigned int
count_saturated(struct sample_store *store, struct dcpi_sample *entry, u64 tag, enum kind kind)
{
	unsigned int appended = buffer_append(store, entry->pc, entry->tag);

	if (appended == 0)
		return count_lost(store, kind);
	store->evictions++;
	entry->tag = tag + 1;
	if (kind == KIND_SAMPLE)
		store->hits++;
	return SAMPLE_HIT | (appended & SAMPLE_WAKE);
}

/*
 * The entry changes places with the first one, so that the next hit finds it at the front at once.
 */
static core_always_inline unsigned int count_found(struct sample_store *store,
						   struct dcpi_sample *front,
						   struct dcpi_sample *entry, u64 tag,
						   enum kind kind)
{
	struct dcpi_sample found = *entry;

	entry_move(entry, front);
	front->pc = found.pc;
	if (core_unlikely(dcpi_tag_count(found.tag) == DCPI_COUNT_MAX)) {
		front->tag = found.tag;
		return count_saturated(store, front, tag, kind);
	}
	front->tag = found.tag + 1;
	if (kind == KIND_SAMPLE)
		store->hits++;
	return SAMPLE_HIT;
}

static core_noinline unsigned int count_direct(struct sample_store *store, u64 pc, u64 tag,
					       enum kind kind)
{
	unsigned int appended = buffer_append(store, pc, tag + 1);

	if (appended == 0)
		return count_lost(store, kind);
	if (kind == KIND_SAMPLE)
		store->direct++;
	return SAMPLE_DIRECT | (appended & SAMPLE_WAKE);
}

/* Return true if an entry in use has this key: then the tags differ only in the count. */
static core_always_inline bool entry_has(const struct dcpi_sample *entry, u64 pc, u64 tag)
{
	return entry->pc == pc && (entry->tag ^ tag) - 1 < DCPI_COUNT_MAX;
}

/* Handle every case in one pass. All calls are tail calls, so the function needs no stack. */
static core_always_inline unsigned int
count(struct sample_store *store, struct sample_bucket *bucket, u64 pc, u64 tag, enum kind kind)
{
	struct dcpi_sample *way = bucket->way;

	if (core_unlikely(store->flushing))
		return count_direct(store, pc, tag, kind);
	if (core_unlikely(entry_has(&way[0], pc, tag)))
		return count_found(store, way, &way[0], tag, kind);
	if (entry_has(&way[1], pc, tag))
		return count_found(store, way, &way[1], tag, kind);
	if (entry_has(&way[2], pc, tag))
		return count_found(store, way, &way[2], tag, kind);
	if (entry_has(&way[3], pc, tag))
		return count_found(store, way, &way[3], tag, kind);
	return count_missing(store, way, pc, tag, kind);
}

/* Out of line, so that a hit at the front saves no registers. */
core_noinline unsigned int sample_store_count_slow(struct sample_store *store,
						   struct sample_bucket *bucket, u64 pc, u64 tag)
{
	return count(store, bucket, pc, tag, KIND_SAMPLE);
}

/* A nested writer may be interrupted by another one, so a plain increment could lose a count. */
static void count_nested(u64 *counter) /* NOLINT(readability-non-const-parameter): written */
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

void sample_store_prefetch(const struct sample_store *store, u64 pc, u64 tag)
{
	__builtin_prefetch(sample_store_bucket(store, pc, tag), 1);
}

/*
 * At most one buffer is ever ready: with both full, the writer stays at the end of the younger one
 * and has not published it.
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
	/* A writer that interrupts may append, but not flip, until this call is done. */
	store->retiring = 1;
	core_barrier();
	do {
		cursor = *(volatile u32 *)&store->cursor;
		active = cursor_active(store, cursor);
		fill = cursor_fill(store, cursor);
		if (fill == 0)
			goto out;
		if (core_load_acquire(&store->ready[active ^ 1]) != 0) {
			result = -EAGAIN;
			goto out;
		}
	} while (core_cmpxchg_local(&store->cursor, cursor, cursor_begin(store, active ^ 1)) !=
		 cursor);
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
		.count = (u32)(store->bucket_mask + 1) * SAMPLE_WAYS,
	};

	return chunk;
}

void sample_store_table_clear(struct sample_store *store, u32 first, u32 count)
{
	memset(store->table->way + first, 0, (size_t)count * sizeof(struct dcpi_sample));
}

void sample_totals_add(struct sample_totals *sum, const struct dcpi_sample *entries, u32 count)
{
	u64 all = 0, edges = 0;
	u32 i;

	/* Keep this loop short: it runs for every entry that is delivered. */
	for (i = 0; i < count; i++) {
		u64 tag = entries[i].tag;

		all += dcpi_tag_count(tag);
		if (dcpi_tag_event(tag) >= DCPI_EVENT_SPECIAL)
			edges += dcpi_tag_count(tag);
	}
	sum->samples += all - edges;
	sum->edges += edges;
}

struct sample_totals sample_store_pending_totals(const struct sample_store *store)
{
	struct sample_chunk table = sample_store_table(store);
	struct sample_totals sum = {0, 0};
	u32 active = cursor_active(store, store->cursor);
	u32 i;

	sample_totals_add(&sum, table.entries, table.count);
	for (i = 0; i < 2; i++) {
		u32 fill = i == active ? cursor_fill(store, store->cursor) : store->ready[i];

		sample_totals_add(&sum, &store->buffer[(size_t)i * store->buffer_entries], fill);
	}
	return sum;
}

u64 sample_store_pending(const struct sample_store *store)
{
	return sample_store_pending_totals(store).samples;
}
