/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of the collector share: a source of the test's own, in place of those of
 * daemon/source/, what it has handed over, and what the database says of that. With
 * fake_matcher.c.
 */
#ifndef DCPI_TESTS_COLLECTOR_FIXTURE_H
#define DCPI_TESTS_COLLECTOR_FIXTURE_H

#include "tests/fake_matcher.h"
#include "tests/profile_db_fixture.h"

#include "daemon/collect/collector.h"
#include "daemon/source/source.h"

#define IMAGES FAKE_IMAGES /* and the unknown one */

extern struct error err;

/* The source: what the test wants it to hand over, and to say. */
struct fake_source {
	struct source base;
	struct source_config config;
	struct source_event events[2];
	bool running, refuses;
	int drain_result; /* after what it handed over */
	struct dcpi_sample samples[4096];
	size_t sample_count;
	struct source_edge edges[4096];
	size_t edge_count;
	struct source_time time[2];
	int time_result;
	uint64_t interrupts;
};
extern struct fake_source fake;

/* What was handed over and must be found again: in which epoch, from where to where. */
typedef uint64_t edge_counts[IMAGES + 1][IMAGES + 1][PROFILE_EDGE_KINDS][8][8];
extern edge_counts model[3], seen_edges[3];
extern uint64_t model_unknown[3], model_handed[3], model_samples[3];

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

static inline uint64_t address(uint64_t image, uint64_t place)
{
	return fake_address(image, place * 4);
}

/* Samples and edges at random, with the next drain. */
void hand_over(uint64_t *seed, unsigned int epoch);

/* A collector of that source, which has handed over nothing yet. */
struct collector_config config_make(const char *db, uint32_t branch_every);
struct collector *collector_of(const struct collector_config *config);
struct collector *collector_make(const char *db, uint32_t branch_every);

/* Reads samples and edges of all epochs, and the counters and times of one. */
void look(const char *path, int64_t epoch, struct found *found);

/* What it reads with, into a struct found. */
int take_profile(void *context, const struct profile *profile);
int take_counter(void *context, const struct profile_counter *counter);

/* A counter's value; UINT64_MAX: there is none. Forgets all with NULL. */
uint64_t counter(struct found *found, const char *name);

/* Samples and edges add up, each for themselves, in an epoch that ended well. */
void assert_settled(struct found *found, unsigned int epoch);

#endif
