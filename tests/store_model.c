// SPDX-License-Identifier: GPL-2.0-only
#include "tests/store_model.h"

#define CHECK(model, condition)                                                                    \
	do {                                                                                       \
		if (!(condition) && (model)->failure == NULL)                                      \
			(model)->failure = #condition;                                             \
	} while (0)

/* splitmix64 */
static u64 model_random(struct store_model *model)
{
	u64 z = (model->seed += 0x9e3779b97f4a7c15ULL);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/*
 * Keys share PCs and differ in one field of the tag, so that each field is tested. Key 0 looks like
 * an empty entry.
 */
static u64 key_pc(u32 key)
{
	return key < 8 ? 0 : 0xffffffff81000000ULL + (u64)(key / 8) * 4;
}

static u64 key_tag(u32 key)
{
	u32 field = key % 8;

	if (key == 0)
		return 0;
	return dcpi_tag(field & 1 ? DCPI_PID_MAX : key / 64, field & 2 ? DCPI_GENERATION_MAX : 0,
			field & 4 ? DCPI_EVENT_SPECIAL - 1 : 1);
}

static u32 key_of(const struct dcpi_sample *entry)
{
	u64 tag = entry->tag & ~(u64)DCPI_COUNT_MAX;
	u64 first = entry->pc == 0 ? 0 : (entry->pc - 0xffffffff81000000ULL) / 4 * 8;
	u32 key;

	for (key = (u32)first; first < STORE_MODEL_KEYS && key < first + 8; key++) {
		if (key_pc(key) == entry->pc && key_tag(key) == tag)
			return key;
	}
	return STORE_MODEL_KEYS;
}

/* Edges of all kinds: near, at both limits of near edges, and all kinds of far edges. */
static u64 edge_from(u32 key)
{
	u64 place = (u64)(key / 16) * 4;

	switch (key / 2 % 8) {
	case 6:
		return 0x00ff000000400000ULL + place; /* not an address: cannot be packed */
	case 7:
		return 0xffffffff81000000ULL + place;
	default:
		return 0x400000 + place;
	}
}

static u64 edge_to(u32 key)
{
	static const u64 distance[8] = {
		4, -16384ULL, 16383, 16384, -16385ULL, 0xffffffff80c00000ULL, 4, -8ULL};

	return edge_from(key) + distance[key / 2 % 8];
}

static u64 edge_tag(u32 key)
{
	return dcpi_tag(key / 16, 7, key & 1 ? DCPI_EVENT_BRANCH : DCPI_EVENT_DOUBLE);
}

static bool edge_far(u32 key)
{
	u32 shape = key / 2 % 8;

	return shape >= 3 && shape <= 6;
}

static u32 edge_key_of(u64 from, u64 to, u64 tag)
{
	u32 key = (u32)(from / 4 % (1U << 16)) * 16, end;

	for (end = key + 16; key < STORE_MODEL_EDGES && key < end; key++) {
		if (edge_from(key) == from && edge_to(key) == to && edge_tag(key) == tag)
			return key;
	}
	return STORE_MODEL_EDGES;
}

static void edge_out(struct store_model *model, u64 from, u64 to, u64 tag, bool far)
{
	u32 count = dcpi_tag_count(tag);
	u32 key = edge_key_of(from, to, tag & ~(u64)DCPI_COUNT_MAX);

	CHECK(model, key < STORE_MODEL_EDGES);
	if (model->failure != NULL)
		return;
	CHECK(model, edge_far(key) == far);
	CHECK(model, model->expected_edges[key] >= count);
	model->expected_edges[key] -= count;
	model->edges_delivered += count;
}

static void sample_out(struct store_model *model, const struct dcpi_sample *entry)
{
	u32 count = dcpi_tag_count(entry->tag);
	u32 key = key_of(entry);

	CHECK(model, key < STORE_MODEL_KEYS);
	if (model->failure != NULL)
		return;
	CHECK(model, model->expected[key] >= count);
	model->expected[key] -= count;
	model->delivered += count;
}

/*
 * The second entry of a far edge is in the same chunk; an unused entry is only at a buffer's end.
 */
static void take_out(struct store_model *model, struct sample_chunk chunk, bool table)
{
	const struct dcpi_sample *entry;
	__u64 from, to;
	u32 i;

	for (i = 0; i < chunk.count && model->failure == NULL; i++) {
		entry = &chunk.entries[i];
		if (dcpi_tag_count(entry->tag) == 0) {
			CHECK(model, table || (i + 1 == model->store.buffer_entries &&
					       entry->pc == 0 && entry->tag == 0));
			continue;
		}
		switch (dcpi_tag_event(entry->tag)) {
		case DCPI_EVENT_BRANCH:
		case DCPI_EVENT_DOUBLE:
			dcpi_edge_unpack(entry->pc, &from, &to);
			edge_out(model, from, to, entry->tag, false);
			break;
		case DCPI_EVENT_BRANCH_FAR:
		case DCPI_EVENT_DOUBLE_FAR:
			CHECK(model, !table && ++i < chunk.count);
			if (model->failure != NULL)
				break;
			CHECK(model, entry[1].tag == (entry->tag & ~(u64)DCPI_COUNT_MAX));
			edge_out(model, entry->pc, entry[1].pc,
				 entry->tag - (1U << DCPI_COUNT_BITS), true);
			break;
		default:
			sample_out(model, entry);
		}
	}
}

static void do_count(struct store_model *model, u32 keys)
{
	struct sample_store *store = &model->store;
	u64 hits = store->hits, misses = store->misses, direct = store->direct;
	u64 flips = store->flips, lost = store->lost[DCPI_LOSS_BUFFERS_FULL];
	bool flushing = store->flushing;
	u32 key = (u32)(model_random(model) % keys);
	unsigned int result = sample_store_count(store, key_pc(key), key_tag(key));

	model->taken++;
	if ((result & ~(unsigned int)SAMPLE_WAKE) == SAMPLE_LOST) {
		model->lost++;
		CHECK(model, store->lost[DCPI_LOSS_BUFFERS_FULL] == lost + 1);
	} else {
		model->expected[key]++;
	}
	CHECK(model, !!(result & SAMPLE_WAKE) == (store->flips > flips));
	CHECK(model, store->flips <= flips + 2);
	switch (result & ~(unsigned int)SAMPLE_WAKE) {
	case SAMPLE_HIT:
		CHECK(model, !flushing && store->hits == hits + 1);
		break;
	case SAMPLE_MISS:
		CHECK(model, !flushing && store->misses == misses + 1);
		break;
	case SAMPLE_DIRECT:
		CHECK(model, flushing && store->direct == direct + 1);
		break;
	default:
		CHECK(model, store->ready[0] != 0 || store->ready[1] != 0);
	}
	CHECK(model, store->hits + store->misses + store->direct + model->lost ==
			     hits + misses + direct + lost + 1);
}

static void do_edge(struct store_model *model)
{
	struct sample_store *store = &model->store;
	struct sample_store before = *store;
	u32 key = (u32)(model_random(model) % STORE_MODEL_EDGES);
	unsigned int result =
		sample_store_count_edge(store, edge_from(key), edge_to(key), edge_tag(key));

	model->edges++;
	CHECK(model, store->edges == before.edges + 1);
	if ((result & ~(unsigned int)SAMPLE_WAKE) == SAMPLE_LOST) {
		model->edges_lost++;
		CHECK(model, store->edges_lost == before.edges_lost + 1);
		CHECK(model, store->ready[0] != 0 || store->ready[1] != 0);
	} else {
		model->expected_edges[key]++;
		CHECK(model, store->edges_lost == before.edges_lost);
	}
	CHECK(model, !!(result & SAMPLE_WAKE) == (store->flips > before.flips));
	/* An edge does not change the counters of samples. */
	CHECK(model,
	      store->hits == before.hits && store->misses == before.misses &&
		      store->direct == before.direct &&
		      store->lost[DCPI_LOSS_BUFFERS_FULL] == before.lost[DCPI_LOSS_BUFFERS_FULL]);
}

static bool read_full(struct store_model *model)
{
	struct sample_chunk chunk;
	int buffer = sample_store_full(&model->store, &chunk);

	if (buffer < 0)
		return false;
	CHECK(model, chunk.count != 0 && chunk.count <= model->store.buffer_entries);
	take_out(model, chunk, false);
	sample_store_release(&model->store, buffer);
	return true;
}

static void do_retire(struct store_model *model)
{
	bool waiting = model->store.ready[0] != 0 || model->store.ready[1] != 0;
	int result = sample_store_retire(&model->store);
	struct sample_chunk chunk;

	CHECK(model, result == 0 || (result == -EAGAIN && waiting));
	if (result == 0 && (model->store.cursor & model->store.buffer_mask) != 0)
		CHECK(model, waiting);
	if (result == -EAGAIN)
		CHECK(model, sample_store_full(&model->store, &chunk) >= 0);
}

/* Read part of the table in pieces while further samples arrive. */
static void do_flush(struct store_model *model, u32 keys)
{
	struct sample_chunk table = sample_store_table(&model->store), piece;
	u32 first = 0;

	sample_store_flush_begin(&model->store);
	while (first < table.count) {
		piece.entries = table.entries + first;
		piece.count = 1 + (u32)(model_random(model) % 97);
		if (piece.count > table.count - first)
			piece.count = table.count - first;
		if (model_random(model) % 4 != 0) {
			take_out(model, piece, true);
			sample_store_table_clear(&model->store, first, piece.count);
		}
		first += piece.count;
		do_count(model, keys);
		if (model_random(model) % 4 == 0)
			do_edge(model);
	}
	sample_store_flush_end(&model->store);
}

/* Return the index of a sample's key; those of near edges follow those of samples. */
static u32 table_key_of(const struct dcpi_sample *entry)
{
	__u64 from, to;
	u32 key;

	if (dcpi_tag_event(entry->tag) < DCPI_EVENT_SPECIAL) {
		key = key_of(entry);
		return key < STORE_MODEL_KEYS ? key : STORE_MODEL_KEYS + STORE_MODEL_EDGES;
	}
	dcpi_edge_unpack(entry->pc, &from, &to);
	return STORE_MODEL_KEYS + edge_key_of(from, to, entry->tag & ~(u64)DCPI_COUNT_MAX);
}

/* Check that no key occurs twice in the table. */
static void check_table(struct store_model *model)
{
	static u8 seen[STORE_MODEL_KEYS + STORE_MODEL_EDGES];
	struct sample_chunk table = sample_store_table(&model->store);
	u32 i, key;

	memset(seen, 0, sizeof(seen));
	for (i = 0; i < table.count; i++) {
		if (dcpi_tag_count(table.entries[i].tag) == 0)
			continue;
		key = table_key_of(&table.entries[i]);
		CHECK(model, key < STORE_MODEL_KEYS + STORE_MODEL_EDGES);
		if (model->failure != NULL)
			return;
		CHECK(model, !seen[key]);
		seen[key] = 1;
	}
}

static void check_balance(struct store_model *model)
{
	struct sample_totals pending = sample_store_pending_totals(&model->store);

	CHECK(model, pending.samples == sample_store_pending(&model->store));
	CHECK(model, model->taken == model->delivered + model->lost + pending.samples);
	CHECK(model, model->edges == model->edges_delivered + model->edges_lost + pending.edges);
	check_table(model);
}

static void drain_all(struct store_model *model)
{
	struct sample_chunk table;
	u32 key;

	sample_store_flush_begin(&model->store);
	while (read_full(model) || sample_store_retire(&model->store) != 0 || read_full(model))
		;
	table = sample_store_table(&model->store);
	take_out(model, table, true);
	sample_store_table_clear(&model->store, 0, table.count);
	sample_store_flush_end(&model->store);
	CHECK(model, sample_store_pending(&model->store) == 0);
	for (key = 0; key < STORE_MODEL_KEYS; key++)
		CHECK(model, model->expected[key] == 0);
	for (key = 0; key < STORE_MODEL_EDGES; key++)
		CHECK(model, model->expected_edges[key] == 0);
	CHECK(model, model->taken == model->delivered + model->lost);
	CHECK(model, model->edges == model->edges_delivered + model->edges_lost);
}

static void start_round(struct store_model *model, u32 *keys)
{
	u32 table = 64U << model_random(model) % 5;
	u32 buffer = 64U << model_random(model) % 4;

	memset(model->memory, 0, sizeof(model->memory));
	memset(model->expected, 0, sizeof(model->expected));
	memset(model->expected_edges, 0, sizeof(model->expected_edges));
	model->taken = 0;
	model->lost = 0;
	model->delivered = 0;
	model->edges = 0;
	model->edges_lost = 0;
	model->edges_delivered = 0;
	*keys = 1 + (u32)(model_random(model) % STORE_MODEL_KEYS);
	CHECK(model, sample_store_init(&model->store, model->memory, table, buffer) == 0);
}

bool store_model_run(struct store_model *model, u64 operations)
{
	u32 keys, read_odds, edge_odds;
	u64 i;

	start_round(model, &keys);
	/* Slow readers lose samples, fast readers none. */
	read_odds = 1U << model_random(model) % 12;
	/* From no edges to mostly edges. */
	edge_odds = (u32)(model_random(model) % 4) * 20;
	for (i = 0; i < operations && model->failure == NULL; i++) {
		u64 r = model_random(model) % 8192;

		if (r == 0)
			do_flush(model, keys);
		else if (r < 8)
			do_retire(model);
		else if (r < 12)
			check_balance(model);
		else if (r % read_odds == 0)
			read_full(model);
		else if (model_random(model) % 64 < edge_odds)
			do_edge(model);
		else
			do_count(model, keys);
	}
	if (model->failure == NULL) {
		check_balance(model);
		drain_all(model);
	}
	return model->failure == NULL;
}
