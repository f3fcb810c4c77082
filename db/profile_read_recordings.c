// SPDX-License-Identifier: GPL-2.0-only
#include "db/profile_read.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "db/profile_reader.h"
#include "db/recording_blob.h"
#include "lib/cleanup.h"
#include "lib/error.h"

/* Identifies a row; ordered by its members. */
union recording_key {
	struct {
		int64_t image;
		int64_t epoch;
		int64_t mode;
	};
	int64_t parts[READER_KEY_PARTS];
};

/* An iteration over recordings: selection, position, and memory. */
struct recording_walk {
	struct profile_reader *reader;
	const struct profile_filter *filter;
	int mode;
	profile_recording_fn visit;
	void *context;
	struct error *err;
	union recording_key last;
	bool started;
	struct recording_content content;
	char *metric;
};

/* Read and decode one row, and compare the blob with the columns next to it. */
static int read_row(struct recording_walk *walk, const union recording_key *key)
{
	struct profile_recording *recording = &walk->content.recording;
	struct profile_reader *reader = walk->reader;
	sqlite3_stmt *statement;
	uint64_t rows = 0;
	int r = profile_reader_statement(reader, READER_RECORDING, &statement, walk->err);

	if (r == 0)
		r = database_bind(&reader->db, statement, walk->err, "iii", key->epoch, key->image,
				  key->mode);
	if (r == 0)
		r = database_step(&reader->db, statement, "read", walk->err);
	if (r < 0)
		return r;
	if (r == 0)
		return database_corrupt(&reader->db, walk->err,
					"an index refers to a recording of image %" PRId64
					", which does not exist",
					key->image);
	free(walk->metric);
	walk->metric = strdup(profile_reader_text(statement, 0));
	r = recording_blob_decode(
		&walk->content, recording_blob_key(key->epoch, key->image, key->mode),
		sqlite3_column_blob(statement, 2), (size_t)sqlite3_column_bytes(statement, 2));
	for (unsigned int i = 0; r == 0 && i < recording->table_count; i++)
		rows += recording->tables[i].rows;
	if (r == 0 && rows != (uint64_t)sqlite3_column_int64(statement, 1))
		r = -EBADMSG;
	sqlite3_reset(statement);
	if (r == 0 && walk->metric == NULL)
		r = -ENOMEM;
	return r < 0 ? profile_reader_cannot(reader, r, walk->err, "a recording of image",
					     key->image)
		     : 0;
}

static int visit_key(struct recording_walk *walk, const union recording_key *key,
		     const struct epoch_set *epochs)
{
	struct profile_recording *recording = &walk->content.recording;
	int r;

	if (walk->started && reader_key_compare(walk->last.parts, key->parts) >= 0)
		return database_corrupt(&walk->reader->db, walk->err,
					"the index of recordings is out of order");
	walk->started = true;
	walk->last = *key;
	if (!epoch_set_has(epochs, key->epoch) || (walk->mode >= 0 && key->mode != walk->mode))
		return 0;
	if (key->mode < 0 || key->mode >= PROFILE_RECORDING_MODES)
		return database_corrupt(&walk->reader->db, walk->err,
					"a recording of image %" PRId64 " is of mode %" PRId64,
					key->image, key->mode);
	r = read_row(walk, key);
	if (r < 0)
		return r;
	recording->epoch = key->epoch;
	recording->image = key->image;
	recording->mode = (enum profile_recording_mode)key->mode;
	recording->metric = walk->metric;
	return walk->visit(walk->context, recording);
}

static int walk_keys(void *context, const struct epoch_set *epochs)
{
	struct recording_walk *walk = context;
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	struct database *db = &walk->reader->db;
	int64_t image = walk->filter->image;
	union recording_key key = {.image = 0};
	int r = database_has(db, 5, walk->err);

	if (r <= 0)
		return r;
	r = database_prepare(db,
			     "SELECT image, epoch, mode FROM recording INDEXED BY recording_image "
			     "WHERE image BETWEEN ?1 AND ?2 ORDER BY image, epoch, mode",
			     &statement, walk->err);
	if (r == 0)
		r = database_bind(db, statement, walk->err, "ii", image != 0 ? image : INT64_MIN,
				  image != 0 ? image : INT64_MAX);
	if (r < 0)
		return r;
	while ((r = database_step(db, statement, "read", walk->err)) == 1) {
		key.image = sqlite3_column_int64(statement, 0);
		key.epoch = sqlite3_column_int64(statement, 1);
		key.mode = sqlite3_column_int64(statement, 2);
		r = visit_key(walk, &key, epochs);
		if (r != 0)
			return r;
	}
	return r;
}

int profile_reader_recordings(struct profile_reader *reader, const struct profile_filter *filter,
			      int mode, profile_recording_fn visit, void *context,
			      struct error *err)
{
	static const struct profile_filter all;
	struct recording_walk walk = {
		.reader = reader,
		.filter = filter != NULL ? filter : &all,
		.mode = mode,
		.visit = visit,
		.context = context,
		.err = err,
	};
	int r = profile_reader_walk(reader, walk.filter, walk_keys, &walk, err);

	recording_content_deinit(&walk.content);
	free(walk.metric);
	return r;
}
