// SPDX-License-Identifier: GPL-2.0-only
#include "db/profile_read.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>

#include "db/edge_blob.h"
#include "db/profile_reader.h"
#include "lib/cleanup.h"
#include "lib/error.h"

/* Identifies a row of the table of edges; ordered as its members are. */
union edge_key {
	struct {
		int64_t image;
		int64_t epoch;
		int64_t to_image;
		int64_t kind;
	};
	int64_t parts[READER_KEY_PARTS];
};

/* A walk over edges: what is wanted, where it is, memory used again. */
struct edge_walk {
	struct profile_reader *reader;
	const struct profile_filter *filter;
	profile_edges_fn visit;
	void *context;
	struct error *err;
	union edge_key last;
	bool started;
	struct edge_list list;
};

/* Reads and decodes one row, and compares it with what stands beside the blob. */
static int read_edges(struct edge_walk *walk, const union edge_key *key)
{
	struct profile_reader *reader = walk->reader;
	struct edge_list *list = &walk->list;
	sqlite3_stmt *statement;
	int64_t pairs, total;
	int r;

	r = profile_reader_statement(reader, READER_EDGES, &statement, walk->err);
	if (r == 0)
		r = database_bind(&reader->db, statement, walk->err, "iiii", key->epoch, key->image,
				  key->to_image, key->kind);
	if (r == 0)
		r = database_step(&reader->db, statement, "read", walk->err);
	if (r < 0)
		return r;
	if (r == 0)
		return database_corrupt(
			&reader->db, walk->err,
			"an index names edges of image %" PRId64 " that are not there", key->image);
	pairs = sqlite3_column_int64(statement, 0);
	total = sqlite3_column_int64(statement, 1);
	r = edge_blob_decode(list, edge_blob_key(key->epoch, key->image, key->to_image, key->kind),
			     sqlite3_column_blob(statement, 2),
			     (size_t)sqlite3_column_bytes(statement, 2));
	sqlite3_reset(statement);
	if (r == 0 && (list->total != (uint64_t)total || list->count != (uint64_t)pairs))
		r = -EBADMSG;
	return r < 0 ? profile_reader_cannot(reader, r, walk->err, "edges of image", key->image)
		     : 0;
}

/* One key of the index. Rows out of order would be counted twice. */
static int visit_key(struct edge_walk *walk, const union edge_key *key,
		     const struct epoch_set *epochs)
{
	struct profile_edges edges;
	int r;

	if (walk->started && reader_key_compare(walk->last.parts, key->parts) >= 0)
		return database_corrupt(&walk->reader->db, walk->err,
					"the index of edges is out of order");
	walk->started = true;
	walk->last = *key;
	if (!epoch_set_has(epochs, key->epoch))
		return 0;
	if (key->kind < 0 || key->kind >= PROFILE_EDGE_KINDS)
		return database_corrupt(&walk->reader->db, walk->err,
					"edges of image %" PRId64 " are of kind %" PRId64,
					key->image, key->kind);
	r = read_edges(walk, key);
	if (r < 0)
		return r;
	edges = (struct profile_edges){
		.epoch = key->epoch,
		.image = key->image,
		.to_image = key->to_image,
		.kind = (enum profile_edge_kind)key->kind,
		.edges = walk->list.edges,
		.count = walk->list.count,
		.total = walk->list.total,
	};
	return walk->visit(walk->context, &edges);
}

static int walk_keys(void *context, const struct epoch_set *epochs)
{
	static const char sql[] = "SELECT image, epoch, to_image, kind "
				  "FROM edge INDEXED BY edge_image WHERE image BETWEEN ?1 AND ?2 "
				  "ORDER BY image, epoch, to_image, kind";
	/* Of one epoch the table is in that order: no need to look at all others. */
	static const char sql_epoch[] = "SELECT image, epoch, to_image, kind "
					"FROM edge NOT INDEXED WHERE epoch = ?3 "
					"AND image BETWEEN ?1 AND ?2 "
					"ORDER BY image, to_image, kind";
	struct edge_walk *walk = context;
	const struct profile_filter *filter = walk->filter;
	bool one = filter->epochs != NULL && filter->epoch_count == 1;
	int64_t image = filter->image;
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	struct database *db = &walk->reader->db;
	union edge_key key;
	int r;

	/* A file of schema version 1 has none. */
	r = database_has(db, 2, walk->err);
	if (r <= 0)
		return r;
	r = database_prepare(db, one ? sql_epoch : sql, &statement, walk->err);
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

int profile_reader_edges(struct profile_reader *reader, const struct profile_filter *filter,
			 profile_edges_fn visit, void *context, struct error *err)
{
	static const struct profile_filter all;
	struct edge_walk walk = {
		.reader = reader,
		.filter = filter != NULL ? filter : &all,
		.visit = visit,
		.context = context,
		.err = err,
	};
	int r = profile_reader_walk(reader, walk.filter, walk_keys, &walk, err);

	edge_list_deinit(&walk.list);
	return r;
}
