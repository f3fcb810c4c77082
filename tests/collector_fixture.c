// SPDX-License-Identifier: GPL-2.0-only
#include "tests/collector_fixture.h"

#include <errno.h>

#include "daemon/source/source_select.h"

#define MERGE_NS 1000000000000ULL

struct error err;

struct fake_source fake;

static int fake_start(struct source *source, struct error *error)
{
	(void)source;
	if (fake.refuses)
		return error_set(error, EIO, "it does not start");
	fake.running = true;
	return 0;
}

static void fake_stop(struct source *source)
{
	(void)source;
	fake.running = false;
}

static void fake_set_periods(struct source *source, const struct source_event *events)
{
	(void)source;
	memcpy(fake.events, events, sizeof(fake.events));
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
	sink->samples(sink->context, fake.samples, fake.sample_count);
	for (i = 0; i < fake.edge_count; i++)
		sink->edge(sink->context, &fake.edges[i]);
	fake.sample_count = fake.edge_count = 0;
	return fake.drain_result < 0 ? error_set(error, -fake.drain_result, "gone") : 0;
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
	.stop = fake_stop,
	.set_periods = fake_set_periods,
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

edge_counts model[3], seen_edges[3];
uint64_t model_unknown[3], model_handed[3], model_samples[3];

static void hand_over_edge(uint64_t *seed, unsigned int epoch)
{
	uint64_t from_image = unit_random(seed) % (IMAGES + 2), from = unit_random(seed) % 8;
	uint64_t to_image = unit_random(seed) % (IMAGES + 2), to = unit_random(seed) % 8;
	static const uint32_t events[PROFILE_EDGE_KINDS] = {
		DCPI_EVENT_BRANCH,   DCPI_EVENT_DOUBLE,	  SOURCE_EVENT_PROBE,
		SOURCE_EVENT_BESIDE, SOURCE_EVENT_MOMENT, SOURCE_EVENT_PARTS,
		SOURCE_EVENT_GAPS,   SOURCE_EVENT_GAP_NS, SOURCE_EVENT_ROUND};
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

void hand_over(uint64_t *seed, unsigned int epoch)
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

struct collector_config config_make(const char *db, uint32_t branch_every)
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
	size_t i;

	for (i = 0; i < 2; i++)
		config.events.event[i] = (struct source_event){
			.unit = "cycles", .period_min = 60000, .period_max = 64000};
	strcpy(config.events.event[0].name, "cycles");
	strcpy(config.events.event[1].name, "imiss");
	config.events.count = 2;
	return config;
}

struct collector *collector_of(const struct collector_config *config)
{
	struct collector *collector = NULL;

	memset(&fake, 0, sizeof(fake));
	memset(model, 0, sizeof(model));
	memset(model_unknown, 0, sizeof(model_unknown));
	memset(model_handed, 0, sizeof(model_handed));
	memset(model_samples, 0, sizeof(model_samples));
	assert_ok(collector_open(&collector, config, &err));
	return collector;
}

struct collector *collector_make(const char *db, uint32_t branch_every)
{
	const struct collector_config config = config_make(db, branch_every);

	return collector_of(&config);
}

int take_profile(void *context, const struct profile *profile)
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

int take_counter(void *context, const struct profile_counter *counter)
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

void look(const char *path, int64_t epoch, struct found *found)
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

uint64_t counter(struct found *found, const char *name)
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

void assert_settled(struct found *found, unsigned int epoch)
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
