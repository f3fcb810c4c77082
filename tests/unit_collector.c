// SPDX-License-Identifier: GPL-2.0-only
/*
 * The collector from its source to the database, with a source and a matcher of
 * the test's own: samples, edges, event times, epochs, and a disk that is full.
 */
#include "tests/fake_matcher.h"
#include "tests/profile_db_fixture.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include "daemon/base/log.h"
#include "daemon/collect/collector.h"
#include "daemon/source/source_select.h"

#define IMAGES FAKE_IMAGES /* and the unknown one */
#define MERGE_NS 1000000000000ULL

static struct error err;

/* The source: what the test wants it to hand over, and to say. */
static struct fake {
	struct source base;
	struct source_config config;
	struct dcpi_sample samples[4096];
	size_t sample_count;
	struct source_edge edges[4096];
	size_t edge_count;
	struct source_time time[2];
	int time_result;
	uint64_t interrupts;
} fake;

static int fake_start(struct source *source, struct error *error)
{
	(void)source;
	(void)error;
	return 0;
}

static void fake_nothing(struct source *source)
{
	(void)source;
}

static int fake_poll_fd(struct source *source)
{
	(void)source;
	return -1;
}

static int fake_drain(struct source *source, bool all, uint64_t until_ns,
		      const struct source_sink *sink, struct error *error)
{
	size_t i;

	(void)source;
	(void)all;
	(void)until_ns;
	(void)error;
	sink->samples(sink->context, fake.samples, fake.sample_count);
	for (i = 0; i < fake.edge_count; i++)
		sink->edge(sink->context, &fake.edges[i]);
	fake.sample_count = fake.edge_count = 0;
	return 0;
}

static uint64_t fake_counters(struct source *source, source_counter_fn visit, void *context)
{
	(void)source;
	visit(context, "loss", "fake", 0);
	return fake.interrupts;
}

static int fake_event_time(struct source *source, size_t event, struct source_time *time)
{
	(void)source;
	*time = fake.time[event];
	return fake.time_result;
}

static const struct source_ops fake_ops = {
	.name = "fake",
	.own_generations = true,
	.start = fake_start,
	.stop = fake_nothing,
	.poll_fd = fake_poll_fd,
	.drain = fake_drain,
	.counters = fake_counters,
	.event_time = fake_event_time,
	.close = fake_nothing,
};

const struct source_ops *source_select_find(const char *name)
{
	return strcmp(name, fake_ops.name) == 0 ? &fake_ops : NULL;
}

int source_select_open(struct source **ret, const char *name, const struct source_config *config,
		       char reason[SOURCE_REASON_BYTES], struct error *error)
{
	(void)name;
	(void)error;
	fake.base.ops = &fake_ops;
	fake.config = *config;
	strcpy(reason, "a test");
	*ret = &fake.base;
	return 0;
}

/* What was handed over and must be found again: in which epoch, from where to where. */
typedef uint64_t edge_counts[IMAGES + 1][IMAGES + 1][PROFILE_EDGE_KINDS][8][8];
static edge_counts model[3], seen_edges[3];
static uint64_t model_unknown[3], model_handed[3], model_samples[3];

static uint64_t address(uint64_t image, uint64_t place)
{
	return fake_address(image, place * 4);
}

static void hand_over_edge(uint64_t *seed, unsigned int epoch)
{
	uint64_t from_image = unit_random(seed) % (IMAGES + 2), from = unit_random(seed) % 8;
	uint64_t to_image = unit_random(seed) % (IMAGES + 2), to = unit_random(seed) % 8;
	static const uint32_t events[PROFILE_EDGE_KINDS] = {
		DCPI_EVENT_BRANCH,   DCPI_EVENT_DOUBLE,	  SOURCE_EVENT_PROBE,
		SOURCE_EVENT_BESIDE, SOURCE_EVENT_MOMENT, SOURCE_EVENT_PARTS};
	unsigned int kind = (unsigned int)(unit_random(seed) % PROFILE_EDGE_KINDS);
	bool is_edge = kind < PROFILE_EDGE_NO_EDGE;
	uint32_t count = 1 + (uint32_t)(unit_random(seed) % 9);
	struct source_edge *edge = &fake.edges[fake.edge_count++];

	edge->from = address(from_image, from);
	edge->to = unit_random(seed) % 50 == 0 ? UINT64_MAX - 3 : address(to_image, to);
	edge->tag = dcpi_tag(1, 1, events[kind]);
	edge->count = count;
	model_handed[epoch] += is_edge ? count : 0;
	if (edge->to >> 48 != 0 || from_image % (IMAGES + 1) == 0 || to_image % (IMAGES + 1) == 0)
		model_unknown[epoch] += is_edge ? count : 0;
	else
		model[epoch][from_image][to_image][kind][from][to] += count;
}

static void hand_over(uint64_t *seed, unsigned int epoch)
{
	unsigned int i;

	for (i = 0; i < 400; i++) {
		struct dcpi_sample *sample = &fake.samples[fake.sample_count++];
		uint32_t count = 1 + (uint32_t)(unit_random(seed) % 9);

		sample->pc = address(unit_random(seed) % IMAGES, unit_random(seed) % 100);
		sample->tag = dcpi_tag(1, 1, (uint32_t)(unit_random(seed) % 2)) | count;
		fake.interrupts += count;
		model_samples[epoch] += count;
		hand_over_edge(seed, epoch);
	}
}

static struct collector *collector_make(const char *db, uint32_t branch_every)
{
	struct collector_config config = {
		.db = db,
		.source = "fake",
		.memory_limit = 1 << 20,
		.merge_ns = MERGE_NS,
		.branch_every = branch_every,
		.double_every = branch_every,
		.double_period = 77,
	};
	struct collector *collector = NULL;
	size_t i;

	for (i = 0; i < 2; i++)
		config.events.event[i] = (struct source_event){
			.unit = "cycles", .period_min = 60000, .period_max = 64000};
	strcpy(config.events.event[0].name, "cycles");
	strcpy(config.events.event[1].name, "imiss");
	config.events.count = 2;
	memset(&fake, 0, sizeof(fake));
	memset(model, 0, sizeof(model));
	memset(model_unknown, 0, sizeof(model_unknown));
	memset(model_handed, 0, sizeof(model_handed));
	memset(model_samples, 0, sizeof(model_samples));
	assert_ok(collector_open(&collector, &config, &err));
	return collector;
}

/* What the database says of an epoch. */
struct found {
	struct profile_reader *reader;
	uint64_t samples[3];
	uint64_t edges[3];
	uint64_t interrupts[3];
	struct profile_counter counters[64];
	size_t counter_count;
	struct source_time time[2];
};

static int take_profile(void *context, const struct profile *profile)
{
	struct found *found = context;
	size_t i;

	for (i = 0; i < profile->count; i++)
		found->samples[profile->epoch - 1] += profile->samples[i].count;
	return 0;
}

static unsigned int image_number(struct profile_reader *reader, int64_t id)
{
	struct profile_image image;
	unsigned int number;

	assert_ok(profile_reader_image(reader, id, &image, &err));
	assert_int_equal(sscanf(image.path, "/usr/lib/image-%u.so", &number), 1);
	return number;
}

static int take_edges(void *context, const struct profile_edges *edges)
{
	struct found *found = context;
	unsigned int from = image_number(found->reader, edges->image);
	unsigned int to = image_number(found->reader, edges->to_image);
	size_t i;

	for (i = 0; i < edges->count; i++) {
		const struct profile_edge *edge = &edges->edges[i];

		assert_true(edge->from < 32 && edge->to < 32);
		seen_edges[edges->epoch - 1][from][to][edges->kind][edge->from / 4][edge->to / 4] +=
			edge->count;
	}
	if (edges->kind < PROFILE_EDGE_NO_EDGE)
		found->edges[edges->epoch - 1] += edges->total;
	return 0;
}

static int take_epoch(void *context, const struct profile_epoch *epoch)
{
	struct found *found = context;

	found->interrupts[epoch->id - 1] = epoch->interrupts;
	return 0;
}

static int take_counter(void *context, const struct profile_counter *counter)
{
	struct found *found = context;
	struct profile_counter copy = {strdup(counter->group), strdup(counter->name),
				       counter->count};

	assert_true(found->counter_count < 64);
	found->counters[found->counter_count++] = copy;
	return 0;
}

static int take_time(void *context, const struct profile_event *event)
{
	struct found *found = context;

	found->time[event->number] = (struct source_time){event->enabled_ns, event->running_ns};
	return 0;
}

static void look(const char *path, int64_t epoch, struct found *found)
{
	memset(found, 0, sizeof(*found));
	memset(seen_edges, 0, sizeof(seen_edges));
	assert_ok(profile_reader_open(&found->reader, path, &err));
	assert_ok(profile_reader_profiles(found->reader, NULL, take_profile, found, &err));
	assert_ok(profile_reader_edges(found->reader, NULL, take_edges, found, &err));
	assert_ok(profile_reader_epochs(found->reader, NULL, take_epoch, found, &err));
	assert_ok(profile_reader_counters(found->reader, epoch, take_counter, found, &err));
	assert_ok(profile_reader_events(found->reader, epoch, take_time, found, &err));
	profile_reader_close(found->reader);
}

/* A counter's value; UINT64_MAX: there is none. Forgets all with NULL. */
static uint64_t counter(struct found *found, const char *name)
{
	uint64_t value = UINT64_MAX;
	size_t i;

	for (i = 0; i < found->counter_count; i++) {
		if (name == NULL) {
			free((void *)(uintptr_t)found->counters[i].group);
			free((void *)(uintptr_t)found->counters[i].name);
		} else if (strcmp(found->counters[i].name, name) == 0) {
			value = found->counters[i].count;
		}
	}
	if (name == NULL)
		found->counter_count = 0;
	return value;
}

/* Samples and edges add up, each for themselves, in an epoch that ended well. */
static void assert_settled(struct found *found, unsigned int epoch)
{
	assert_int_equal(found->samples[epoch], model_samples[epoch]);
	assert_int_equal(found->interrupts[epoch], model_samples[epoch]);
	assert_int_equal(counter(found, "pending"), 0);
	assert_int_equal(counter(found, "edges_handed"), model_handed[epoch]);
	assert_int_equal(counter(found, "edges_unknown"), model_unknown[epoch]);
	assert_int_equal(counter(found, "edges_memory"), 0);
	assert_int_equal(counter(found, "edges_pending"), 0);
	assert_int_equal(counter(found, "edges_storage"), 0);
	assert_int_equal(found->edges[epoch], model_handed[epoch] - model_unknown[epoch]);
	assert_true(model_unknown[epoch] > 0 && found->edges[epoch] > 0);
	counter(found, NULL);
}

static void from_source_to_database(void **state)
{
	const char *path = path_of("whole.db");
	struct collector *collector = collector_make(path, 5);
	struct found found;
	uint64_t seed = 41;
	int round;

	(void)state;
	assert_int_equal(fake.config.branch_every, 5);
	assert_int_equal(fake.config.double_every, 5);
	assert_int_equal(fake.config.double_period, 77);
	assert_ok(collector_start(collector, &err));
	for (round = 0; round < 10; round++) {
		hand_over(&seed, 0);
		assert_ok(collector_drain(collector, &err));
		if (round % 3 == 0)
			assert_ok(collector_flush(collector, &err));
	}
	assert_ok(collector_epoch(collector, "second", &err));
	hand_over(&seed, 1);
	assert_ok(collector_stop(collector, &err));
	collector_close(collector);
	look(path, 1, &found);
	assert_memory_equal(seen_edges, model, sizeof(model));
	assert_settled(&found, 0);
	look(path, 2, &found);
	assert_settled(&found, 1);
}

static void edges_not_asked_for(void **state)
{
	const char *path = path_of("none.db");
	struct collector *collector = collector_make(path, 0);
	struct found found;

	(void)state;
	assert_int_equal(fake.config.double_period, 0);
	assert_ok(collector_start(collector, &err));
	assert_ok(collector_flush(collector, &err));
	look(path, 1, &found);
	assert_int_equal(counter(&found, "edges_handed"), UINT64_MAX);
	counter(&found, NULL);
	assert_ok(collector_stop(collector, &err));
	collector_close(collector);
}

static void assert_time(struct found *found, int event, uint64_t enabled, uint64_t running)
{
	assert_int_equal(found->time[event].enabled_ns, enabled);
	assert_int_equal(found->time[event].running_ns, running);
	counter(found, NULL);
}

static void times_are_of_the_epoch(void **state)
{
	const char *path = path_of("times.db");
	struct collector *collector = collector_make(path, 5);
	struct found found;

	(void)state;
	fake.time_result = -ENODATA;
	assert_ok(collector_start(collector, &err));
	assert_ok(collector_flush(collector, &err));
	look(path, 1, &found);
	assert_time(&found, 0, 0, 0);
	fake.time_result = 0;
	fake.time[0] = (struct source_time){1000, 250};
	fake.time[1] = (struct source_time){1000, 1001}; /* read a moment later */
	assert_ok(collector_flush(collector, &err));
	look(path, 1, &found);
	assert_time(&found, 0, 1000, 250);
	assert_time(&found, 1, 1000, 1000);
	/* An epoch that begins while the source is silent counts from what was known. */
	fake.time_result = -ENODATA;
	assert_ok(collector_epoch(collector, "second", &err));
	fake.time_result = 0;
	fake.time[0] = (struct source_time){1600, 300};
	assert_ok(collector_flush(collector, &err));
	look(path, 1, &found);
	assert_time(&found, 0, 1000, 250);
	look(path, 2, &found);
	assert_time(&found, 0, 600, 50);
	assert_ok(collector_stop(collector, &err));
	collector_close(collector);
}

static void sleep_ms(long ms)
{
	const struct timespec time = {.tv_nsec = ms * 1000000};

	assert_int_equal(nanosleep(&time, NULL), 0);
}

/* How long events waited, and the disk took: of the epoch, the longest. */
static void delays_are_told(void **state)
{
	const char *path = path_of("delays.db");
	struct collector *collector = collector_make(path, 5);
	uint64_t first, second, took;
	struct found found;

	(void)state;
	assert_ok(collector_start(collector, &err));
	sleep_ms(60);
	assert_ok(collector_flush(collector, &err));
	look(path, 1, &found);
	first = counter(&found, "drain_gap_ms");
	assert_int_not_equal(first, UINT64_MAX);
	assert_true(first >= 60);
	counter(&found, NULL);
	sleep_ms(20);
	assert_ok(collector_flush(collector, &err));
	look(path, 1, &found);
	assert_true(counter(&found, "drain_gap_ms") >= first);
	counter(&found, NULL);
	sleep_ms(200);
	assert_ok(collector_epoch(collector, "second", &err));
	look(path, 1, &found);
	assert_true(counter(&found, "drain_gap_ms") >= 200);
	counter(&found, NULL);
	/* The new one has not waited for anything yet. */
	look(path, 2, &found);
	second = counter(&found, "drain_gap_ms");
	took = counter(&found, "commit_ms");
	assert_true(second == 0 || second == UINT64_MAX);
	assert_true(took == 0 || took == UINT64_MAX);
	counter(&found, NULL);
	assert_ok(collector_stop(collector, &err));
	collector_close(collector);
}

static void file_limit_set(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* What cannot be merged waits, and is merged when it can be: once. */
static void full_disk(void **state)
{
	const char *path = path_of("full.db");
	struct collector *collector = collector_make(path, 5);
	struct collector_status status;
	struct found found;
	uint64_t seed = 42;

	(void)state;
	assert_ok(collector_start(collector, &err));
	hand_over(&seed, 0);
	assert_ok(collector_flush(collector, &err));
	file_limit_set(1024);
	hand_over(&seed, 0);
	assert_int_equal(collector_flush(collector, &err), -ENOSPC);
	hand_over(&seed, 0);
	assert_int_equal(collector_flush(collector, &err), -ENOSPC);
	collector_status(collector, &status);
	assert_true(tally_get(&status.counters, "stat", "edges_pending") > 0);
	file_limit_set(RLIM_INFINITY);
	assert_ok(collector_stop(collector, &err));
	collector_close(collector);
	look(path, 1, &found);
	assert_memory_equal(seen_edges, model, sizeof(model));
	assert_settled(&found, 0);
}

static int sum_edges(void *context, const struct profile_edges *edges)
{
	if (edges->kind >= PROFILE_EDGE_NO_EDGE)
		return 0;
	*(uint64_t *)context += edges->total;
	return 0;
}

/* Edges beyond their part of the memory are refused, and counted; samples have theirs. */
static void memory_limit(void **state)
{
	const char *path = path_of("memory.db");
	struct collector *collector = collector_make(path, 5);
	struct found found = {.counter_count = 0};
	uint64_t seed = 43, stored = 0;
	int i;

	(void)state;
	assert_ok(collector_start(collector, &err));
	for (i = 0; i < 40000; i++) {
		fake.edges[fake.edge_count++] =
			(struct source_edge){address(1, unit_random(&seed) % (1 << 20)),
					     address(2, unit_random(&seed) % (1 << 20)),
					     dcpi_tag(1, 1, DCPI_EVENT_BRANCH), 1};
		if (fake.edge_count == 4000)
			assert_ok(collector_drain(collector, &err));
	}
	hand_over(&seed, 0);
	assert_ok(collector_stop(collector, &err));
	collector_close(collector);
	assert_ok(profile_reader_open(&found.reader, path, &err));
	assert_ok(profile_reader_counters(found.reader, 1, take_counter, &found, &err));
	assert_ok(profile_reader_profiles(found.reader, NULL, take_profile, &found, &err));
	assert_ok(profile_reader_edges(found.reader, NULL, sum_edges, &stored, &err));
	profile_reader_close(found.reader);
	assert_int_equal(found.samples[0], model_samples[0]);
	assert_int_equal(counter(&found, "memory"), 0);
	assert_true(counter(&found, "edges_memory") > 1000 && stored > 1000);
	assert_int_equal(counter(&found, "edges_handed"), 40000 + model_handed[0]);
	assert_int_equal(counter(&found, "edges_handed"), stored +
								  counter(&found, "edges_unknown") +
								  counter(&found, "edges_memory"));
	counter(&found, NULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(from_source_to_database),
		cmocka_unit_test(edges_not_asked_for),
		cmocka_unit_test(times_are_of_the_epoch),
		cmocka_unit_test(delays_are_told),
		cmocka_unit_test(full_disk),
		cmocka_unit_test(memory_limit),
	};

	signal(SIGXFSZ, SIG_IGN);
	log_init("unit_collector");
	log_set_level(LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
