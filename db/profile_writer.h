/* SPDX-License-Identifier: GPL-2.0-only */
/* Internals of the writer, shared by the files that implement profile_write.h. */
#ifndef DCPI_PROFILE_WRITER_H
#define DCPI_PROFILE_WRITER_H

#include "db/database.h"
#include "db/edge_blob.h"
#include "db/profile_blob.h"
#include "db/profile_place.h"
#include "db/profile_write.h"

enum writer_statement {
	WRITER_HOST_ADD,
	WRITER_HOST_FIND,
	WRITER_EPOCH_ADD,
	WRITER_EPOCH_END,
	WRITER_EPOCH_FIND,
	WRITER_EVENT_ADD,
	WRITER_EVENT_TIME,
	WRITER_TOTALS,
	WRITER_COUNTER_SET,
	WRITER_COUNTER_ADD,
	WRITER_PROCESS_SET,
	WRITER_LABEL_SET,
	WRITER_SHARE_ADD,
	WRITER_IMAGE_FIND,
	WRITER_IMAGE_FIND_PATH,
	WRITER_IMAGE_ADD,
	WRITER_IMAGE_RENAME,
	WRITER_SYMBOLS_SET,
	WRITER_SYMBOLS_FIND,
	WRITER_SYMBOLS_READ,
	WRITER_CODE_BYTES,
	WRITER_CODE_ADD,
	WRITER_CODE_SET,
	WRITER_PROFILE_FIND,
	WRITER_PROFILE_SET,
	WRITER_SLICE_FIND,
	WRITER_SLICE_ADD,
	WRITER_SLICE_SET,
	WRITER_SLICE_COUNTER_SET,
	WRITER_SLICE_COUNTER_UNSET,
	WRITER_SLICE_COUNTER_ADD,
	WRITER_SLICE_PROFILE_FIND,
	WRITER_SLICE_PROFILE_SET,
	WRITER_SLICE_SHARE_ADD,
	WRITER_EDGES_FIND,
	WRITER_EDGES_SET,
	WRITER_COUNTS_FIND,
	WRITER_COUNTS_SET,
	WRITER_RECORDING_ADD,
	WRITER_RECORDING_SET,
	WRITER_RECORDINGS_CLEAR,
	WRITER_STATEMENTS,
};

/**
 * struct profile_writer - a writer
 * @path:       path of the database, as the caller named it
 * @following:  transactions are permitted although the database is not in place
 * @lock:       descriptor of the writer's lock
 * @reserve:    descriptor of the file that holds disk space, -1: there is none
 * @epoch:      current epoch, 0 if none; @host: its host
 * @damaged:    samples that were in rows that could not be read
 * @statements: compiled at first use
 * @stored, @merged, @stored_edges, @merged_edges, @blob: memory that is reused by each merge
 */
struct profile_writer {
	struct database db;
	char *path;
	bool following;
	int lock;
	int reserve;
	int64_t epoch;
	int64_t host;
	uint64_t damaged;
	struct sqlite3_stmt *statements[WRITER_STATEMENTS];
	struct profile_pairs stored;
	struct profile_pairs merged;
	struct edge_list stored_edges;
	struct edge_list merged_edges;
	struct profile_blob blob;
};

/** profile_writer_statement() - return a statement, ready to bind. */
int profile_writer_statement(struct profile_writer *writer, enum writer_statement which,
			     struct sqlite3_stmt **ret, struct error *err);

/** profile_writer_in_transaction() - return -EINVAL unless a transaction is open */
int profile_writer_in_transaction(struct profile_writer *writer, struct error *err);

/** profile_writer_in_epoch() - return -EINVAL unless an epoch and a transaction are open */
int profile_writer_in_epoch(struct profile_writer *writer, struct error *err);

/**
 * profile_writer_image_keep() - as profile_writer_image(), but keep a stored path
 * @added: out: true if the image is new
 */
int profile_writer_image_keep(struct profile_writer *writer, const struct profile_image *image,
			      int64_t *id, bool *added, struct error *err);

/**
 * profile_writer_damaged_row() - count an unreadable row of the current epoch as lost
 * @group, @name: the counter of the loss
 * @number:       number of samples or edges in the row, according to its column
 */
int profile_writer_damaged_row(struct profile_writer *writer, const char *group, const char *name,
			       int64_t number, struct error *err);

/**
 * struct profile_row - identifies a row of the table profile or slice_profile
 * @owner: number of the epoch or slice; 0: none
 */
struct profile_row {
	bool of_slice;
	int64_t owner;
	int64_t image;
	uint32_t event;
	int64_t pid;
};

/** profile_row_key() - return the key of a row's blob */
uint32_t profile_row_key(const struct profile_row *row);

/**
 * profile_writer_row_add() - add samples to a row
 *
 * Samples of a damaged row are counted as the loss "damaged" of its epoch or slice.
 */
int profile_writer_row_add(struct profile_writer *writer, const struct profile_row *row,
			   const struct profile_sample *samples, size_t count, struct error *err);

/** profile_writer_row_set() - write a row; @pairs: its samples and their total */
int profile_writer_row_set(struct profile_writer *writer, const struct profile_row *row,
			   const struct profile_pairs *pairs, struct error *err);

/** profile_writer_check_place() - return -ESTALE unless the database is in place, or is followed */
int profile_writer_check_place(const struct profile_writer *writer, struct error *err);

/** profile_writer_attach() - lock and open the database at the writer's path. */
int profile_writer_attach(struct profile_writer *writer, struct error *err);

/** profile_writer_detach() - close the database and release the lock. */
void profile_writer_detach(struct profile_writer *writer);

/** profile_writer_check_count() - return -EOVERFLOW if a count does not fit the database. */
int profile_writer_check_count(uint64_t count, const char *what, struct error *err);

#endif
