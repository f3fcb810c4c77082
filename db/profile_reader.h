/* SPDX-License-Identifier: GPL-2.0-only */
/* Internals of the reader, shared by the files that implement profile_read.h. */
#ifndef DCPI_PROFILE_READER_H
#define DCPI_PROFILE_READER_H

#include "db/database.h"
#include "db/profile_blob.h"
#include "db/profile_read.h"
#include "lib/cleanup.h"

enum reader_statement {
	READER_IMAGE,
	READER_SYMBOLS,
	READER_COMMAND,
	READER_PROFILE,
	READER_SLICE_PROFILE,
	READER_EDGES,
	READER_COUNTS,
	READER_RECORDING,
	READER_STATEMENTS,
};

/**
 * struct profile_reader - a reader
 * @statements: statements of look-ups, compiled at first use; iterations compile their own,
 *              since a callback may start another iteration
 * @walks:      iterations in progress
 * @image_path: path that the last profile_reader_image() returned
 */
struct profile_reader {
	struct database db;
	struct sqlite3_stmt *statements[READER_STATEMENTS];
	unsigned int walks;
	char *image_path;
};

/** profile_reader_statement() - return a look-up's statement, ready to bind. */
int profile_reader_statement(struct profile_reader *reader, enum reader_statement which,
			     struct sqlite3_stmt **ret, struct error *err);

/** profile_reader_text() - return a column as text, never NULL. */
const char *profile_reader_text(struct sqlite3_stmt *statement, int column);

/** profile_reader_cannot() - describe a failure to decode PROFILE, SYMBOLS... */
int profile_reader_cannot(struct profile_reader *reader, int r, struct error *err, const char *what,
			  int64_t id);

/**
 * struct epoch_set - epochs that a filter selects; zero-initialised is empty
 * @ids:     ascending
 * @partial: those epochs whose samples are read from slices, ascending: only some slices are
 *           selected, or the filter's @by_slice is set
 */
struct epoch_set {
	int64_t *ids;
	size_t count;
	size_t capacity;
	int64_t *partial;
	size_t partial_count;
	size_t partial_capacity;
};

/** epoch_set_has() - return true if an epoch is selected, O(log n) */
bool epoch_set_has(const struct epoch_set *set, int64_t epoch);

/** epoch_set_is_partial() - return true if samples of an epoch are read from slices, O(log n) */
bool epoch_set_is_partial(const struct epoch_set *set, int64_t epoch);

/** struct slice_bounds - the slices that a filter selects begin in @since_ns .. @until_ns - 1 */
struct slice_bounds {
	int64_t since_ns;
	int64_t until_ns;
};

static inline struct slice_bounds slice_bounds_of(const struct profile_filter *filter)
{
	return (struct slice_bounds){
		.since_ns = filter->since_ns != 0 ? filter->since_ns : INT64_MIN,
		.until_ns = filter->until_ns != 0 ? filter->until_ns : INT64_MAX,
	};
}

/**
 * profile_reader_clip() - reduce an epoch to its slices that a filter selects
 *
 * Epochs without slices are not changed, nor are epochs with all slices selected, unless the
 * filter's @by_slice is set.
 *
 * Return: 1; 0: no slice is selected; or -errno.
 */
int profile_reader_clip(struct profile_reader *reader, const struct profile_filter *filter,
			struct profile_epoch *epoch, struct error *err);

#define READER_KEY_PARTS 4

/** reader_key_compare() - order the rows of an iteration, by keys of READER_KEY_PARTS numbers. */
static inline int reader_key_compare(const int64_t a[READER_KEY_PARTS],
				     const int64_t b[READER_KEY_PARTS])
{
	int i;

	for (i = 0; i < READER_KEY_PARTS; i++) {
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	}
	return 0;
}

typedef int (*reader_walk_fn)(void *context, const struct epoch_set *epochs);

/**
 * profile_reader_walk() - run @walk with the epochs that @filter selects
 *
 * All reads see one state of the database: they run in a transaction, unless one is open already.
 */
int profile_reader_walk(struct profile_reader *reader, const struct profile_filter *filter,
			reader_walk_fn walk, void *context, struct error *err);

/**
 * profile_slices_visit() - visit the slices that a statement returns
 * @statement: with its values; columns start_ns, end_ns and interrupts
 *
 * Return: 0, negative errno with @err set, or the result of @visit that is not 0
 */
int profile_slices_visit(struct database *db, struct sqlite3_stmt *statement,
			 profile_slice_fn visit, void *context, struct error *err);

/* Marks an iteration in its scope: "_cleanup_walk_ ... = begin_walk(reader)". */
static inline struct profile_reader *begin_walk(struct profile_reader *reader)
{
	reader->walks++;
	return reader;
}

static inline void end_walk(struct profile_reader **reader)
{
	(*reader)->walks--;
}

#define _cleanup_walk_ _cleanup_(end_walk)

#endif
