/* SPDX-License-Identifier: GPL-2.0-only */
/* Fixture shared by the tests of the profile database: a directory, a model, a walk. */
#ifndef DCPI_TESTS_PROFILE_DB_FIXTURE_H
#define DCPI_TESTS_PROFILE_DB_FIXTURE_H

#include "tests/unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "db/database.h"
#include "db/profile_read.h"
#include "db/profile_write.h"
#include "lib/error.h"

#define MODEL_EPOCHS 6
#define MODEL_IMAGES 8
#define MODEL_EVENTS 2
#define MODEL_PIDS 3
#define MODEL_OFFSETS 64

/* The model: a count for each possible place of a sample. */
struct model {
	uint64_t count[MODEL_EPOCHS][MODEL_IMAGES][MODEL_EVENTS][MODEL_PIDS][MODEL_OFFSETS];
};

static const int64_t model_pids[MODEL_PIDS] = {PROFILE_PID_ALL, 1, 4194303};

static inline uint64_t model_offset(unsigned int i)
{
	return (uint64_t)i * i * i * 4;
}

static inline void model_image(unsigned int i, struct profile_image *image, char *path,
			       size_t path_bytes)
{
	memset(image, 0, sizeof(*image));
	snprintf(path, path_bytes, "/usr/lib/image-%u.so", i);
	image->kind = i == 0 ? PROFILE_IMAGE_KERNEL : PROFILE_IMAGE_FILE;
	image->path = path;
	if (i % 3 != 2) {
		image->identity_kind = PROFILE_IDENTITY_BUILD_ID;
		image->identity_bytes = 20;
		memset(image->identity, (int)i + 1, 20);
	}
}

static const struct profile_event model_events[MODEL_EVENTS] = {
	{.number = 0, .name = "cycles", .unit = "cycles", .period_min = 60000, .period_max = 64000},
	{.number = 1, .name = "imiss", .unit = "events", .period_min = 1000, .period_max = 2000},
};

static inline struct profile_epoch model_epoch(unsigned int i)
{
	return (struct profile_epoch){
		.start_ns = 1000000000LL * (i + 1),
		.host = i % 2 ? "odd" : "even",
		.machine_id = "0123",
		.cpu_model = "Model 1",
		.cpus = 2,
		.kernel = "6.1.0",
		.source = "replay",
		.source_reason = "a test",
		.label = i == 2 ? "two" : "",
	};
}

/* A directory for the test. path_of() returns a path in it, valid for 15 more calls. */
static char fixture_directory[64];

static inline const char *path_of(const char *name)
{
	static char paths[16][256];
	static unsigned int next;
	char *path = paths[next++ % 16];

	snprintf(path, sizeof(paths[0]), "%s/%s", fixture_directory, name);
	return path;
}

static inline int fixture_setup(void **state)
{
	(void)state;
	strcpy(fixture_directory, "/tmp/dcpi-db-XXXXXX");
	return mkdtemp(fixture_directory) != NULL ? 0 : -1;
}

static inline int fixture_teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", fixture_directory);
	return system(command);
}

/* Tests open a copy of a committed database: readers leave files next to it. */
static inline void copy_file(const char *from, const char *to)
{
	char command[512];

	snprintf(command, sizeof(command), "cp '%s' '%s' && chmod 600 '%s'", from, to, to);
	assert_int_equal(system(command), 0);
}

/* Add an edge determined by the number of a merge, counted once. */
static inline int numbered_edge(struct profile_writer *writer, int64_t image, uint64_t number,
				struct error *err)
{
	const struct profile_edge edge = {number % 97 * 4, number % 97 * 4 + number % 13, 1};

	return profile_writer_edges(writer, image, image, (enum profile_edge_kind)(number % 2),
				    &edge, 1, err);
}

/* Sum up edges; each must be one that numbered_edge() writes. */
static inline int numbered_edges_sum(void *context, const struct profile_edges *edges)
{
	uint64_t *sum = context;
	size_t i;

	for (i = 0; i < edges->count; i++) {
		const struct profile_edge *edge = &edges->edges[i];

		assert_true(edge->from % 4 == 0 && edge->from / 4 < 97);
		assert_true(edge->to >= edge->from && edge->to - edge->from < 13);
		assert_true(edges->image == edges->to_image);
		*sum += edge->count;
	}
	return 0;
}

#define assert_ok(call)                                                                            \
	do {                                                                                       \
		int result_ = (call);                                                              \
		if (result_ != 0)                                                                  \
			fail_msg("%s: %d %s", #call, result_, err.message);                        \
	} while (0)

static inline struct profile_writer *open_writer(const char *path)
{
	struct profile_writer *writer = NULL;
	struct error err;

	assert_ok(profile_writer_open(&writer, path, &err));
	return writer;
}

static inline int64_t add_model_image(struct profile_writer *writer, unsigned int i)
{
	struct profile_image image;
	struct error err;
	char path[64];
	int64_t id = 0;

	model_image(i, &image, path, sizeof(path));
	assert_ok(profile_writer_image(writer, &image, &id, &err));
	return id;
}

static inline struct profile_reader *open_reader(const char *path)
{
	struct profile_reader *reader = NULL;
	struct error err;

	assert_ok(profile_reader_open(&reader, path, &err));
	return reader;
}

/* Return the result of a query for one number. */
static inline int64_t number(const char *path, const char *sql)
{
	struct database db = {0};
	struct error err;
	int64_t ret = -1;

	assert_ok(database_open_read(&db, path, &err));
	assert_ok(database_number(&db, sql, &ret, &err));
	database_close(&db);
	return ret;
}

/* Expire all data beyond the limits, in as many steps as needed. Return: epochs. */
static inline unsigned int expire_all(struct profile_writer *writer, int64_t before_ns,
				      uint64_t bytes_max)
{
	const struct profile_limits limits = {before_ns, bytes_max};
	struct profile_expired expired;
	unsigned int epochs = 0;
	struct error err;
	int more;

	do {
		more = profile_writer_expire(writer, &limits, &expired, &err);
		if (more < 0)
			fail_msg("%s", err.message);
		epochs += expired.epochs;
	} while (more == 1);
	return epochs;
}

#endif
