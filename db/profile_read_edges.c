// SPDX-License-Identifier: GPL-2.0-only
#include "db/profile_read.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>

#include "db/edge_blob.h"
#include "db/database.h"
#include "db/profile_reader.h"
#include "lib/cleanup.h"
#include "lib/error.h"

/* Identifies a row of the table of edges; ordered by its members. */
union edge_key {
	struct {
		int64_t image;
		int64_t epoch;
		int64_t to_image;
		int64_t kind;
	};
	int64_t parts[READER_KEY_PARTS];
};

/*
 * The table that an iteration reads: edges, or exact counts, whose table has the same form without
 * to_image.
 */
struct edge_table {
	enum reader_statement row;
	int version; /* schema version that added the table */
	int kinds;
	const char *what;
	const char *keys;
	/* Within one epoch the table is in this order, so the other epochs are not read. */
	const char *epoch_keys;
};

static const struct edge_table edge_table = {
	.row = READER_EDGES,
	.version = DATABASE_VERSION_MIN,
	.kinds = PROFILE_EDGE_KINDS,
	.what = "edges of image",
	.keys = "SELECT image, epoch, to_image, kind FROM edge INDEXED BY edge_image "
		"WHERE image BETWEEN ?1 AND ?2 ORDER BY image, epoch, to_image, kind",
	.epoch_keys = "SELECT image, epoch, to_image, kind FROM edge NOT INDEXED "
		      "WHERE epoch = ?3 AND image BETWEEN ?1 AND ?2 ORDER BY image, to_image, kind",
};

static const struct edge_table count_table = {
	.row = READER_COUNTS,
	.version = 4,
	.kinds = PROFILE_COUNT_KINDS,
	.what = "counts of image",
	.keys = "SELECT image, epoch, 0, kind FROM execution INDEXED BY execution_image "
		"WHERE image BETWEEN ?1 AND ?2 ORDER BY image, epoch, kind",
	.epoch_keys = "SELECT image, epoch, 0, kind FROM execution NOT INDEXED "
		      "WHERE epoch = ?3 AND image BETWEEN ?1 AND ?2 ORDER BY image, kind",
};

/* An iteration over edges: selection, position, and reused memory. */
struct edge_walk {
	struct profile_reader *reader;
	const struct edge_table *table;
	const struct profile_filter *filter;
	profile_edges_fn visit;
	profile_counts_fn visit_counts;
	void *context;
	struct error *err;
	union edge_key last;
	bool started;
	struct edge_list list;
};

/* Read and decode one row, and compare the blob with the columns next to it. */
static int read_edges(struct edge_walk *walk, const union edge_key *key)
{
	struct profile_reader *reader = walk->reader;
	struct edge_list *list = &walk->list;
	sqlite3_stmt *statement;
	int64_t pairs, total;
	int r;

	r = profile_reader_statement(reader, walk->table->row, &statement, walk->err);
	if (r == 0)
		r = database_bind(&reader->db, statement, walk->err, "iiii", key->epoch, key->image,
				  key->to_image, key->kind);
	if (r == 0)
		r = database_step(&reader->db, statement, "read", walk->err);
	if (r < 0)
		return r;
	if (r == 0)
		return database_corrupt(&reader->db, walk->err,
					"an index refers to %s %" PRId64 ", which do not exist",
					walk->table->what, key->image);
	pairs = sqlite3_column_int64(statement, 0);
	total = sqlite3_column_int64(statement, 1);
	r = edge_blob_decode(list, edge_blob_key(key->epoch, key->image, key->to_image, key->kind),
			     sqlite3_column_blob(statement, 2),
			     (size_t)sqlite3_column_bytes(statement, 2));
	sqlite3_reset(statement);
	if (r == 0 && (list->total != (uint64_t)total || list->count != (uint64_t)pairs))
		r = -EBADMSG;
	return r < 0 ? profile_reader_cannot(reader, r, walk->err, walk->table->what, key->image)
		     : 0;
}

static int visit_row(struct edge_walk *walk, const union edge_key *key)
{
	const struct edge_list *list = &walk->list;
	struct profile_edges edges = {
		.epoch = key->epoch,
		.image = key->image,
		.to_image = key->to_image,
		.edges = list->edges,
		.count = list->count,
		.total = list->total,
	};
	struct profile_counts counts = {
		.epoch = key->epoch,
		.image = key->image,
		.counts = list->edges,
		.count = list->count,
		.total = list->total,
	};

	if (walk->visit_counts != NULL) {
		counts.kind = (enum profile_count_kind)key->kind;
		return walk->visit_counts(walk->context, &counts);
	}
	edges.kind = (enum profile_edge_kind)key->kind;
	return walk->visit(walk->context, &edges);
}

/* Visit one key of the index. Rows out of order would be counted twice. */
static int visit_key(struct edge_walk *walk, const union edge_key *key,
		     const struct epoch_set *epochs)
{
	int r;

	if (walk->started && reader_key_compare(walk->last.parts, key->parts) >= 0)
		return database_corrupt(&walk->reader->db, walk->err,
					"the index of %s is out of order", walk->table->what);
	walk->started = true;
	walk->last = *key;
	if (!epoch_set_has(epochs, key->epoch))
		return 0;
	if (key->kind < 0 || key->kind >= walk->table->kinds)
		return database_corrupt(&walk->reader->db, walk->err,
					"%s %" PRId64 " are of kind %" PRId64, walk->table->what,
					key->image, key->kind);
	r = read_edges(walk, key);
	return r < 0 ? r : visit_row(walk, key);
}

static int walk_keys(void *context, const struct epoch_set *epochs)
{
	struct edge_walk *walk = context;
	const struct profile_filter *filter = walk->filter;
	bool one = filter->epochs != NULL && filter->epoch_count == 1;
	int64_t image = filter->image;
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	struct database *db = &walk->reader->db;
	union edge_key key;
	int r;

	r = database_has(db, walk->table->version, walk->err);
	if (r <= 0)
		return r;
	r = database_prepare(db, one ? walk->table->epoch_keys : walk->table->keys, &statement,
			     walk->err);
	if (r == 0)
		r = database_bind(db, statement, walk->err, one ? "iii" : "ii",
				  image != 0 ? image : INT64_MIN, image != 0 ? image : INT64_MAX,
				  one ? filter->epochs[0] : 0);
	if (r < 0)
		return r;
	while ((r = database_step(db, statement, "read", walk->err)) == 1) {
		key.image = sqlite3_column_int64(statement, 0);
		key.epoch = sqlite3_column_int64(statement, 1);
		key.to_image = sqlite3_column_int64(statement, 2);
		key.kind = sqlite3_column_int64(statement, 3);
		r = visit_key(walk, &key, epochs);
		if (r != 0)
			return r;
	}
	return r;
}

static int walk_run(struct edge_walk *walk, const struct profile_filter *filter)
{
	static const struct profile_filter all;
	int r;

	walk->filter = filter != NULL ? filter : &all;
	r = profile_reader_walk(walk->reader, walk->filter, walk_keys, walk, walk->err);
	edge_list_deinit(&walk->list);
	return r;
}

int profile_reader_edges(struct profile_reader *reader, const struct profile_filter *filter,
			 profile_edges_fn visit, void *context, struct error *err)
{
	struct edge_walk walk = {
		.reader = reader,
		.table = &edge_table,
		.visit = visit,
		.context = context,
		.err = err,
	};

	return walk_run(&walk, filter);
}

int profile_reader_counts(struct profile_reader *reader, const struct profile_filter *filter,
			  profile_counts_fn visit, void *context, struct error *err)
{
	struct edge_walk walk = {
		.reader = reader,
		.table = &count_table,
		.visit_counts = visit,
		.context = context,
		.err = err,
	};

	return walk_run(&walk, filter);
}
