// SPDX-License-Identifier: GPL-2.0-only
#include "db/profile_write.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>

#include "db/profile_writer.h"
#include "lib/error.h"
#include "lib/error_text.h"

/*
 * Identifies a row of the current epoch in the table of edges, or in that of exact counts, where
 * to_image is EDGE_BLOB_COUNTS.
 */
struct edge_key {
	int64_t image;
	int64_t to_image;
	int64_t kind;
};

static bool is_counts(const struct edge_key *key)
{
	return key->to_image == EDGE_BLOB_COUNTS;
}

static uint32_t blob_key(const struct profile_writer *writer, const struct edge_key *key)
{
	return edge_blob_key(writer->epoch, key->image, key->to_image, key->kind);
}

/* Read the stored row into writer->stored_edges; it is empty if there is no row. */
static int read_stored(struct profile_writer *writer, const struct edge_key *key, struct error *err)
{
	sqlite3_stmt *statement;
	int64_t total;
	int r;

	writer->stored_edges.count = 0;
	r = profile_writer_statement(
		writer, is_counts(key) ? WRITER_COUNTS_FIND : WRITER_EDGES_FIND, &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "iiii", writer->epoch, key->image,
				  key->to_image, key->kind);
	if (r == 0)
		r = database_step(&writer->db, statement, "read", err);
	if (r <= 0)
		return r;
	total = sqlite3_column_int64(statement, 0);
	r = edge_blob_decode(&writer->stored_edges, blob_key(writer, key),
			     sqlite3_column_blob(statement, 1),
			     (size_t)sqlite3_column_bytes(statement, 1));
	sqlite3_reset(statement);
	if (r == -ENOMEM)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r == 0 && writer->stored_edges.total == (uint64_t)total)
		return 0;
	writer->stored_edges.count = 0;
	writer->stored_edges.total = 0;
	return profile_writer_damaged_row(
		writer, "stat", is_counts(key) ? "counts_damaged" : "edges_damaged", total, err);
}

static int write_merged(struct profile_writer *writer, const struct edge_key *key, uint64_t total,
			struct error *err)
{
	sqlite3_stmt *statement;
	int r;

	r = profile_writer_statement(writer, is_counts(key) ? WRITER_COUNTS_SET : WRITER_EDGES_SET,
				     &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "iiiiiib", writer->epoch, key->image,
				  key->to_image, key->kind, (int64_t)writer->merged_edges.count,
				  (int64_t)total, (const void *)writer->blob.data,
				  writer->blob.bytes);
	return r == 0 ? database_step(&writer->db, statement, "write", err) : r;
}

static int profile_write_edges_add(struct profile_writer *writer, const struct edge_key *key,
				   const struct profile_edge *edges, size_t count,
				   struct error *err)
{
	uint64_t total = 0;
	int r = read_stored(writer, key, err);

	if (r < 0)
		return r;
	r = edge_list_merge(&writer->merged_edges, &writer->stored_edges, edges, count);
	if (r == 0)
		r = edge_blob_encode(&writer->blob, blob_key(writer, key),
				     writer->merged_edges.edges, writer->merged_edges.count,
				     &total);
	if (r < 0)
		return error_set(err, -r, "cannot add %s of image %lld: %s",
				 is_counts(key) ? "counts" : "edges", (long long)key->image,
				 strerror(-r));
	return write_merged(writer, key, total, err);
}

int profile_writer_edges(struct profile_writer *writer, int64_t image, int64_t to_image,
			 enum profile_edge_kind kind, const struct profile_edge *edges,
			 size_t count, struct error *err)
{
	const struct edge_key key = {image, to_image, (int64_t)kind};
	int r = profile_writer_in_epoch(writer, err);

	if (r < 0 || count == 0)
		return r;
	if ((unsigned int)kind >= PROFILE_EDGE_KINDS || is_counts(&key))
		return error_set(err, EINVAL, "there are no edges of kind %d to image %lld",
				 (int)kind, (long long)to_image);
	return profile_write_edges_add(writer, &key, edges, count, err);
}

int profile_writer_counts(struct profile_writer *writer, int64_t image,
			  enum profile_count_kind kind, const struct profile_edge *counts,
			  size_t count, struct error *err)
{
	const struct edge_key key = {image, EDGE_BLOB_COUNTS, (int64_t)kind};
	int r = profile_writer_in_epoch(writer, err);

	if (r < 0 || count == 0)
		return r;
	if ((unsigned int)kind >= PROFILE_COUNT_KINDS)
		return error_set(err, EINVAL, "there is no kind %d of counts", (int)kind);
	return profile_write_edges_add(writer, &key, counts, count, err);
}
