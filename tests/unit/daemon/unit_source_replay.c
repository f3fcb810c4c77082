// SPDX-License-Identifier: GPL-2.0-only
#include "tests/fixtures/trace_fixture.h"

#include <errno.h>
#include <poll.h>

#include "daemon/source/source.h"
#include "daemon/source/source_select.h"
#include "daemon/source/trace_reader.h"
#include "lib/error.h"

#define KEYS (1 << 16)

/* Exact counts of samples by key, with open addressing. */
struct tallies {
	struct dcpi_sample key[KEYS];
	uint64_t count[KEYS];
	bool used[KEYS];
	uint64_t total, entries;
	uint64_t digest; /* of the entries in their order */
};

static struct tallies expected, got, before;

static void tally_add(struct tallies *tallies, uint64_t pc, uint64_t tag, uint64_t count)
{
	uint64_t seed = pc ^ tag * 31;
	uint32_t at = (uint32_t)unit_random(&seed) % KEYS;

	while (tallies->used[at] && (tallies->key[at].pc != pc || tallies->key[at].tag != tag))
		at = (at + 1) % KEYS;
	tallies->used[at] = true;
	tallies->key[at].pc = pc;
	tallies->key[at].tag = tag;
	tallies->count[at] += count;
	tallies->total += count;
	assert_true(++tallies->entries < UINT32_MAX);
}

static void samples_take(void *context, const struct dcpi_sample *sample, size_t count)
{
	struct tallies *tallies = context;

	for (; count > 0; count--, sample++) {
		uint64_t mix = sample->pc ^ sample->tag;

		if (dcpi_tag_count(sample->tag) == 0)
			continue;
		tally_add(tallies, sample->pc, sample->tag & ~(uint64_t)DCPI_COUNT_MAX,
			  dcpi_tag_count(sample->tag));
		tallies->digest = tallies->digest * 31 + unit_random(&mix);
	}
}

/* Check that both have the same count for every key. */
static void tallies_compare(const struct tallies *a, struct tallies *b)
{
	uint32_t i;

	assert_int_equal(a->total, b->total);
	for (i = 0; i < KEYS; i++) {
		if (a->count[i] != 0)
			tally_add(b, a->key[i].pc, a->key[i].tag, (uint64_t)0 - a->count[i]);
	}
	for (i = 0; i < KEYS; i++)
		assert_int_equal(b->count[i], 0);
}

static void expected_read(const char *path)
{
	const struct trace_block *block;
	struct trace_reader *reader;
	uint32_t i;

	memset(&expected, 0, sizeof(expected));
	assert_int_equal(trace_reader_open(&reader, path, NULL), 0);
	while (trace_reader_next(reader, &block, NULL) > 0) {
		for (i = 0; i < block->count; i++)
			tally_add(&expected, block->sample[i].pc, block->sample[i].tag, 1);
	}
	trace_reader_close(reader);
}

static int replay_open(struct source **ret, const char *path, size_t events, uint32_t entries,
		       struct error *err)
{
	static const struct source_event event[4];
	const struct source_config config = {
		.events = event,
		.event_count = events,
		.table_entries = entries,
		.buffer_entries = entries,
		.replay = path,
	};
	char reason[SOURCE_REASON_BYTES];

	return source_select_open(ret, "replay", &config, reason, err);
}

static uint64_t losses, replay_ended;

static void counter_take(void *context, const char *group, const char *name, uint64_t count)
{
	(void)context;
	if (strcmp(group, "loss") == 0)
		losses += count;
	if (strcmp(name, "replay_ended") == 0)
		replay_ended = count;
}

static uint64_t taken(struct source *source)
{
	losses = 0;
	return source->ops->counters(source, counter_take, NULL);
}

static bool readable(struct source *source)
{
	struct pollfd fd = {.fd = source->ops->poll_fd(source), .events = POLLIN};

	return poll(&fd, 1, 0) == 1;
}

/* Replay a whole trace, with occasional stops and starts. */
static void replay(const char *path, uint32_t entries, uint32_t stop_every)
{
	const struct source_sink sink = {.samples = samples_take, .context = &got};
	struct source *source;
	uint32_t drains = 0;

	memset(&got, 0, sizeof(got));
	assert_int_equal(replay_open(&source, path, 4, entries, NULL), 0);
	assert_int_equal(source->ops->drain(source, true, UINT64_MAX, &sink, NULL), 0);
	assert_false(readable(source));
	assert_int_equal(got.total, 0);
	assert_int_equal(source->ops->start(source, NULL), 0);
	while (readable(source)) {
		bool all = drains % 3 == 1;

		assert_int_equal(source->ops->drain(source, all, UINT64_MAX, &sink, NULL), 0);
		assert_true(taken(source) >= got.total);
		if (++drains % stop_every != 0)
			continue;
		source->ops->stop(source);
		source->ops->stop(source);
		assert_false(readable(source));
		assert_int_equal(source->ops->drain(source, true, UINT64_MAX, &sink, NULL), 0);
		assert_int_equal(taken(source), got.total + losses);
		assert_int_equal(source->ops->start(source, NULL), 0);
	}
	source->ops->stop(source);
	assert_int_equal(source->ops->drain(source, true, UINT64_MAX, &sink, NULL), 0);
	assert_int_equal(taken(source), got.total);
	assert_int_equal(losses, 0);
	assert_int_equal(replay_ended, 1);
	source->ops->close(source);
}

static void hands_over_every_sample(void **state)
{
	static const uint32_t entries[] = {64, 1024, 0};
	char path[64];
	uint64_t seed;
	size_t i;

	(void)state;
	trace_fixture_path(path);
	for (seed = 1; seed <= 3; seed++) {
		trace_fixture_write(path, seed, 60000, 4);
		expected_read(path);
		assert_int_equal(expected.total, 60000);
		for (i = 0; i < 3; i++) {
			replay(path, entries[i], 1 + (uint32_t)seed);
			tallies_compare(&expected, &got);
		}
	}
	unlink(path);
}

static void recorded_trace(void **state)
{
	(void)state;
	expected_read(TRACE_FIXTURE);
	assert_true(expected.total > 200);
	replay(TRACE_FIXTURE, 64, 100);
	tallies_compare(&expected, &got);
}

/* A replay returns the same entries in the same order each time. */
static void is_deterministic(void **state)
{
	char path[64];

	(void)state;
	trace_fixture_path(path);
	trace_fixture_write(path, 9, 50000, 3);
	replay(path, 256, 2);
	before = got;
	replay(path, 256, 2);
	assert_int_equal(got.digest, before.digest);
	assert_int_equal(got.entries, before.entries);
	assert_true(got.entries < got.total);
	unlink(path);
}

static void refuses_what_it_cannot_replay(void **state)
{
	const struct source_sink sink = {.samples = samples_take, .context = &got};
	struct source_time time;
	struct source *source;
	struct error err;
	char path[64];
	uint8_t *data;
	size_t bytes;

	(void)state;
	trace_fixture_path(path);
	trace_fixture_write(path, 6, 20000, 2);
	memset(&got, 0, sizeof(got));
	assert_int_equal(replay_open(&source, NULL, 1, 0, &err), -EINVAL);
	assert_int_equal(replay_open(&source, "/absent", 1, 0, &err), -ENOENT);
	assert_int_equal(replay_open(&source, "/bin/sh", 1, 0, &err), -EBADMSG);
	assert_int_equal(replay_open(&source, path, 1, 100, &err), -EINVAL);

	/* an event that is not configured */
	assert_int_equal(replay_open(&source, path, 1, 0, &err), 0);
	assert_int_equal(source->ops->event_time(source, 0, &time), -ENODATA);
	assert_int_equal(source->ops->start(source, NULL), 0);
	assert_true(source->ops->drain(source, true, UINT64_MAX, &sink, &err) < 0);
	assert_non_null(strstr(err.message, "event 1"));
	assert_int_equal(taken(source), got.total);
	source->ops->close(source);

	/* damage in the third block: the blocks before it are kept */
	data = trace_fixture_bytes(path, &bytes);
	data[bytes / 2] ^= 1;
	trace_fixture_put(path, data, bytes);
	free(data);
	memset(&got, 0, sizeof(got));
	assert_int_equal(replay_open(&source, path, 4, 0, &err), 0);
	assert_int_equal(source->ops->start(source, NULL), 0);
	assert_true(source->ops->drain(source, false, UINT64_MAX, &sink, &err) < 0);
	assert_non_null(strstr(err.message, "damaged"));
	assert_false(readable(source));
	source->ops->stop(source);
	assert_int_equal(source->ops->drain(source, true, UINT64_MAX, &sink, &err), 0);
	assert_int_equal(taken(source), got.total);
	assert_int_equal(got.total % TRACE_BLOCK_SAMPLES, 0);
	assert_true(got.total > 0);
	source->ops->close(source);
	unlink(path);
}

/* The source "replay" needs a trace, and only the source "perf" can record one. */
static void sources_and_traces_fit(void **state)
{
	static const struct source_event event;
	struct source_config config = {.events = &event, .event_count = 1, .replay = "/absent"};
	char reason[SOURCE_REASON_BYTES];
	struct trace_writer *writer;
	struct source *source;
	struct error err;
	char path[64];

	(void)state;
	assert_int_equal(source_select_open(&source, "auto", &config, reason, &err), -EINVAL);
	assert_int_equal(source_select_open(&source, "kmod", &config, reason, &err), -EINVAL);
	trace_fixture_path(path);
	assert_int_equal(trace_writer_create(&writer, path, NULL), 0);
	config.replay = path;
	config.record = writer;
	assert_int_equal(source_select_open(&source, "replay", &config, reason, &err), -EINVAL);
	assert_int_equal(source_select_open(&source, "kmod", &config, reason, &err), -EINVAL);
	assert_non_null(strstr(err.message, "perf"));
	assert_int_equal(trace_writer_destroy(writer, NULL), 0);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hands_over_every_sample),
		cmocka_unit_test(recorded_trace),
		cmocka_unit_test(is_deterministic),
		cmocka_unit_test(refuses_what_it_cannot_replay),
		cmocka_unit_test(sources_and_traces_fit),
	};

	return cmocka_run_group_tests_name("source_replay", tests, NULL, NULL);
}
