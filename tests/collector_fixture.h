/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fixture shared by the tests of the collector: a fake source that replaces those of
 * daemon/source/, a record of the data it has handed over, and the data that the database holds
 * afterwards. Link with fake_matcher.c.
 */
#ifndef DCPI_TESTS_COLLECTOR_FIXTURE_H
#define DCPI_TESTS_COLLECTOR_FIXTURE_H

#include "tests/fake_matcher.h"
#include "tests/profile_db_fixture.h"

#include "daemon/collect/collector.h"
#include "daemon/source/source.h"

#define IMAGES FAKE_IMAGES /* without the unknown image */

extern struct error err;

/* The fake source: the data and results that the test wants it to return. */
struct fake_source {
	struct source base;
	struct source_config config;
	struct source_event events[2];
	bool running, refuses;
	int drain_result; /* returned after the data is handed over */
	struct dcpi_sample samples[4096];
	size_t sample_count;
	struct source_edge edges[4096];
	size_t edge_count;
	struct source_time time[2];
	int time_result;
	uint64_t interrupts;
};
extern struct fake_source fake;

/* Edges handed over and expected in the database, by epoch, images, kind and offsets. */
typedef uint64_t edge_counts[IMAGES + 1][IMAGES + 1][PROFILE_EDGE_KINDS][8][8];
extern edge_counts model[3], seen_edges[3];
extern uint64_t model_unknown[3], model_handed[3], model_samples[3];

/* Data of an epoch in the database. */
struct found {
	struct profile_reader *reader;
	uint64_t samples[3];
	uint64_t edges[3];
	uint64_t interrupts[3];
	struct profile_counter counters[64];
	size_t counter_count;
	struct source_time time[2];
};

static inline uint64_t address(uint64_t image, uint64_t place)
{
	return fake_address(image, place * 4);
}

/* Prepare random samples and edges for the next drain. */
void hand_over(uint64_t *seed, unsigned int epoch);

/* Create a collector of the fake source, which has handed over no data yet. */
struct collector_config config_make(const char *db, uint32_t branch_every);
struct collector *collector_of(const struct collector_config *config);
struct collector *collector_make(const char *db, uint32_t branch_every);

/* Read the samples and edges of all epochs, and the counters and times of one epoch. */
void look(const char *path, int64_t epoch, struct found *found);

/* Callbacks of look(), which fill a struct found. */
int take_profile(void *context, const struct profile *profile);
int take_counter(void *context, const struct profile_counter *counter);

/* Return a counter's value, or UINT64_MAX if it does not exist. With NULL, free all counters. */
uint64_t counter(struct found *found, const char *name);

/* Check that samples and edges each add up in an epoch that ended well. */
void assert_settled(struct found *found, unsigned int epoch);

#endif
