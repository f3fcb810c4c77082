// SPDX-License-Identifier: GPL-2.0-only
#include "db/profile_write.h"

#include <errno.h>
#include <sqlite3.h>

#include "db/profile_writer.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* Limit of the profiles that a step merges with the longest of its slices. */
#define STEP_BYTES (256 << 10)

#define SECOND 1000000000LL

/* Lengths of merged slices by level; level 0 are slices as collected. */
static const int64_t lengths[] = {0, 60 * SECOND, 3600 * SECOND, 86400 * SECOND, INT64_MAX};

#define LEVEL_AGE PROFILE_SLICE_LENGTHS
#define LEVEL_EPOCH (PROFILE_SLICE_LENGTHS + 1)

int profile_writer_slice(struct profile_writer *writer, int64_t start_ns, int64_t *id,
			 struct error *err)
{
	sqlite3_stmt *statement;
	int r = profile_writer_in_epoch(writer, err);

	if (r == 0)
		r = profile_writer_statement(writer, WRITER_SLICE_FIND, &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "ii", writer->epoch, start_ns);
	if (r == 0)
		r = database_step(&writer->db, statement, "read", err);
	if (r < 0)
		return r;
	if (r == 1) {
		*id = sqlite3_column_int64(statement, 0);
		sqlite3_reset(statement);
		return 0;
	}
	r = profile_writer_statement(writer, WRITER_SLICE_ADD, &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "ii", writer->epoch, start_ns);
	if (r == 0)
		r = database_step(&writer->db, statement, "write", err);
	if (r == 0)
		*id = sqlite3_last_insert_rowid(writer->db.handle);
	return r;
}

int profile_writer_slice_add(struct profile_writer *writer, int64_t slice, int64_t image,
			     uint32_t event, int64_t pid, const struct profile_sample *samples,
			     size_t count, struct error *err)
{
	const struct profile_row row = {true, slice, image, event, pid};

	return profile_writer_row_add(writer, &row, samples, count, err);
}

int profile_writer_slice_share(struct profile_writer *writer, int64_t slice, int64_t image,
			       uint32_t event, uint32_t label, uint64_t samples, struct error *err)
{
	sqlite3_stmt *statement = NULL;
	int r = profile_writer_in_epoch(writer, err);

	if (r == 0)
		r = profile_writer_check_count(samples, "samples of a label", err);
	if (r == 0)
		r = profile_writer_statement(writer, WRITER_SLICE_SHARE_ADD, &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "iiiii", slice, image,
				  (int64_t)event, (int64_t)label, (int64_t)samples);
	return r == 0 ? database_step(&writer->db, statement, "write", err) : r;
}

static int counter_write(struct profile_writer *writer, enum writer_statement which, int64_t slice,
			 const struct profile_counter *counter, struct error *err)
{
	sqlite3_stmt *statement = NULL;
	int r = profile_writer_check_count(counter->count, counter->name, err);

	if (r == 0)
		r = profile_writer_statement(writer, which, &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "itti", slice, counter->group,
				  counter->name, (int64_t)counter->count);
	return r == 0 ? database_step(&writer->db, statement, "write", err) : r;
}

int profile_writer_slice_count(struct profile_writer *writer, int64_t slice, const char *group,
			       const char *name, uint64_t count, struct error *err)
{
	const struct profile_counter counter = {.group = group, .name = name, .count = count};
	int r = profile_writer_in_transaction(writer, err);

	return r == 0 ? counter_write(writer, WRITER_SLICE_COUNTER_ADD, slice, &counter, err) : r;
}

int profile_writer_slice_set(struct profile_writer *writer, int64_t id,
			     const struct profile_slice *slice,
			     const struct profile_counter *counters, size_t count,
			     struct error *err)
{
	sqlite3_stmt *statement = NULL;
	int r = profile_writer_in_transaction(writer, err);

	if (r == 0)
		r = profile_writer_check_count(slice->interrupts, "interrupts", err);
	/* A row for each possible loss would take more space than the samples. */
	for (size_t i = 0; r == 0 && i < count; i++)
		r = counter_write(writer,
				  counters[i].count > 0 ? WRITER_SLICE_COUNTER_SET
							: WRITER_SLICE_COUNTER_UNSET,
				  id, &counters[i], err);
	if (r == 0)
		r = profile_writer_statement(writer, WRITER_SLICE_SET, &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "iii", id, slice->end_ns,
				  (int64_t)slice->interrupts);
	return r == 0 ? database_step(&writer->db, statement, "write", err) : r;
}

/*
 * struct run - adjacent slices of an epoch that are merged into one
 * @level:   that their age requires, or the lack of space
 * @count:   number of slices
 * @bytes:   size of their profiles; @longest: of the largest one
 * @first_ns, @last_ns: starts of the first and the last of them
 */
struct run {
	int64_t epoch;
	unsigned int level;
	int64_t count;
	int64_t bytes;
	int64_t longest;
	int64_t first_ns;
	int64_t last_ns;
	int64_t end_ns;
	int64_t interrupts;
};

/*
 * struct pressure - merges that lack of space requires: slices of @from and higher levels become
 * slices of level @to
 */
struct pressure {
	unsigned int from;
	unsigned int to;
};

/* Minutes of a day take more space than the last hour's slices of some seconds. */
static const struct pressure pressures[] = {
	{1, 2}, {1, 3}, {1, LEVEL_EPOCH}, {0, 1}, {0, 2}, {0, 3}, {0, LEVEL_EPOCH},
};

/*
 * Return the level that a slice has to have. The age is that of the end of the minute, hour or day:
 * otherwise each of its slices would be merged with the previous ones in turn.
 */
static unsigned int level_of(const struct profile_slice_limits *limits,
			     const struct pressure *pressure, int64_t start_ns)
{
	unsigned int level = LEVEL_AGE;

	for (; level > 0; level--) {
		int64_t length = lengths[level], age_ns = limits->age_ns[level - 1];

		if (age_ns > 0 && limits->now_ns - age_ns - length >= start_ns / length * length)
			break;
	}
	if (pressure != NULL && level >= pressure->from && level < pressure->to)
		level = pressure->to;
	return level;
}

/* Return true if a slice is to be merged with those of a run. */
static bool run_has(const struct run *run, const struct run *slice)
{
	int64_t length = lengths[slice->level], ignored;

	return run->count > 0 && run->epoch == slice->epoch && run->level == slice->level &&
	       slice->level > 0 && run->first_ns / length == slice->first_ns / length &&
	       !__builtin_add_overflow(run->interrupts, slice->interrupts, &ignored);
}

/* Add a slice to a run, or begin one if the run has only one slice. Return: the run is complete. */
static bool run_take(struct run *run, const struct run *slice)
{
	int64_t longest = run->longest > slice->longest ? run->longest : slice->longest;

	if (!run_has(run, slice)) {
		if (run->count > 1)
			return true;
		*run = *slice;
		return false;
	}
	if (run->count > 1 && run->bytes + slice->bytes - longest > STEP_BYTES)
		return true;
	run->count++;
	run->bytes += slice->bytes;
	run->longest = longest;
	run->last_ns = slice->first_ns;
	run->end_ns = slice->end_ns > run->end_ns ? slice->end_ns : run->end_ns;
	run->interrupts += slice->interrupts;
	return false;
}

/* Find the oldest run. Return: 1, 0: there is none, or -errno. */
static int run_find(struct profile_writer *writer, const struct profile_slice_limits *limits,
		    const struct pressure *pressure, struct run *run, struct error *err)
{
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	int r = database_prepare(
		&writer->db,
		"SELECT epoch, start_ns, end_ns, bytes, interrupts FROM slice "
		"WHERE end_ns <= ?1 AND epoch IS NOT NULL ORDER BY epoch, start_ns, id",
		&statement, err);

	*run = (struct run){.count = 0};
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "i", limits->before_ns);
	while (r == 0 && (r = database_step(&writer->db, statement, "read", err)) == 1) {
		struct run slice = {
			.epoch = sqlite3_column_int64(statement, 0),
			.count = 1,
			.first_ns = sqlite3_column_int64(statement, 1),
			.end_ns = sqlite3_column_int64(statement, 2),
			.bytes = sqlite3_column_int64(statement, 3),
			.interrupts = sqlite3_column_int64(statement, 4),
		};

		slice.longest = slice.bytes;
		slice.last_ns = slice.first_ns;
		slice.level = level_of(limits, pressure, slice.first_ns);
		if (run_take(run, &slice))
			return 1;
		r = 0;
	}
	return r < 0 ? r : run->count > 1;
}

/* Run a statement with the numbers of a run, and of the slice that it becomes. */
static int run_exec(struct profile_writer *writer, const char *sql, const struct run *run,
		    int64_t target, struct error *err)
{
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	int r = database_prepare(&writer->db, sql, &statement, err);

	if (r == 0)
		r = database_bind(&writer->db, statement, err, "iiii", run->epoch, run->first_ns,
				  run->last_ns, target);
	return r == 0 ? database_step(&writer->db, statement, "write", err) : r;
}

static int target_add(struct profile_writer *writer, const struct run *run, int64_t *id,
		      struct error *err)
{
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	int r = database_prepare(&writer->db,
				 "INSERT INTO slice (epoch, start_ns, end_ns, interrupts, bytes) "
				 "VALUES (?1, ?2, ?3, ?4, 0)",
				 &statement, err);

	if (r == 0)
		r = database_bind(&writer->db, statement, err, "iiii", run->epoch, run->first_ns,
				  run->end_ns, run->interrupts);
	if (r == 0)
		r = database_step(&writer->db, statement, "write", err);
	*id = sqlite3_last_insert_rowid(writer->db.handle);
	return r;
}

/* Add the row that @statement has read to @sum. */
static int row_sum(struct profile_writer *writer, sqlite3_stmt *statement,
		   const struct profile_row *from, int64_t target, struct profile_pairs *sum,
		   struct error *err)
{
	int64_t samples = sqlite3_column_int64(statement, 4);
	int r = profile_blob_decode(&writer->stored, profile_row_key(from),
				    sqlite3_column_blob(statement, 5),
				    (size_t)sqlite3_column_bytes(statement, 5));

	if (r == 0 && writer->stored.total != (uint64_t)samples)
		r = -EBADMSG;
	if (r == -ENOMEM)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r < 0)
		return samples < 0 ? database_corrupt(&writer->db, err, "a slice")
				   : profile_writer_slice_count(writer, target, "loss", "damaged",
								(uint64_t)samples, err);
	r = profile_pairs_add(sum, &writer->merged, writer->stored.samples, writer->stored.count);
	return r < 0 ? error_set(err, -r, "cannot merge slices: too many samples") : 0;
}

static int sum_write(struct profile_writer *writer, struct profile_row *row,
		     struct profile_pairs *sum, struct error *err)
{
	int r = sum->count > 0 ? profile_writer_row_set(writer, row, sum, err) : 0;

	sum->count = 0;
	sum->total = 0;
	return r;
}

/* The statement sorts: it has read all rows before the first one is written. */
static int rows_sum(struct profile_writer *writer, sqlite3_stmt *statement, int64_t target,
		    struct profile_pairs *sum, struct error *err)
{
	struct profile_row row = {.of_slice = true, .owner = target};
	int r;

	while ((r = database_step(&writer->db, statement, "read", err)) == 1) {
		struct profile_row from = {
			.of_slice = true,
			.image = sqlite3_column_int64(statement, 0),
			.event = (uint32_t)sqlite3_column_int64(statement, 1),
			.pid = sqlite3_column_int64(statement, 2),
			.owner = sqlite3_column_int64(statement, 3),
		};

		r = 0;
		if (from.image != row.image || from.event != row.event || from.pid != row.pid)
			r = sum_write(writer, &row, sum, err);
		row.image = from.image;
		row.event = from.event;
		row.pid = from.pid;
		if (r == 0)
			r = row_sum(writer, statement, &from, target, sum, err);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : sum_write(writer, &row, sum, err);
}

static int profiles_merge(struct profile_writer *writer, const struct run *run, int64_t target,
			  struct error *err)
{
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	struct profile_pairs sum = {.count = 0};
	int r = database_prepare(&writer->db,
				 "SELECT p.image, p.event, p.pid, p.slice, p.samples, p.data "
				 "FROM slice AS s JOIN slice_profile AS p ON p.slice = s.id "
				 "WHERE s.epoch = ?1 AND s.start_ns BETWEEN ?2 AND ?3 "
				 "AND s.id <> ?4 ORDER BY p.image, p.event, p.pid",
				 &statement, err);

	if (r == 0)
		r = database_bind(&writer->db, statement, err, "iiii", run->epoch, run->first_ns,
				  run->last_ns, target);
	if (r == 0)
		r = rows_sum(writer, statement, target, &sum, err);
	profile_pairs_deinit(&sum);
	return r;
}

static int run_merge(struct profile_writer *writer, const struct run *run, struct error *err)
{
	static const char *const sums[] = {
		"INSERT INTO slice_counter SELECT ?4, counter_group, name, sum(count) "
		"FROM slice AS s JOIN slice_counter ON slice = s.id WHERE s.epoch = ?1 "
		"AND s.start_ns BETWEEN ?2 AND ?3 AND s.id <> ?4 GROUP BY counter_group, name",
		"INSERT INTO slice_share SELECT ?4, image, event, label, sum(samples) "
		"FROM slice AS s JOIN slice_share ON slice = s.id WHERE s.epoch = ?1 "
		"AND s.start_ns BETWEEN ?2 AND ?3 AND s.id <> ?4 GROUP BY image, event, label",
	};
	static const char delete[] = "DELETE FROM slice WHERE epoch = ?1 "
				     "AND start_ns BETWEEN ?2 AND ?3 AND id <> ?4";
	const struct profile_slice slice = {run->first_ns, run->end_ns, (uint64_t)run->interrupts};
	int64_t target = 0;
	int r = target_add(writer, run, &target, err);

	for (size_t i = 0; r == 0 && i < sizeof(sums) / sizeof(sums[0]); i++)
		r = run_exec(writer, sums[i], run, target, err);
	if (r == 0)
		r = profiles_merge(writer, run, target, err);
	if (r == 0)
		r = run_exec(writer, delete, run, target, err);
	return r == 0 ? profile_writer_slice_set(writer, target, &slice, NULL, 0, err) : r;
}

/* Return: 1: the slices are larger than the limits allow; 0: they are not; or -errno. */
static int slices_are_large(struct profile_writer *writer,
			    const struct profile_slice_limits *limits, struct error *err)
{
	int64_t bytes = 0, pages = 0, page_bytes = 0;
	uint64_t rest;
	int r;

	if (limits->percent == 0)
		return 0;
	r = database_number(&writer->db,
			    "SELECT ifnull(sum(bytes), 0) FROM slice WHERE epoch IS NOT NULL",
			    &bytes, err);
	if (r < 0 || (uint64_t)bytes <= limits->bytes_min)
		return r;
	r = database_number(&writer->db,
			    "SELECT page_count - freelist_count "
			    "FROM pragma_page_count, pragma_freelist_count",
			    &pages, err);
	if (r == 0)
		r = database_number(&writer->db, "PRAGMA page_size", &page_bytes, err);
	if (r < 0)
		return r;
	rest = bytes < pages * page_bytes ? (uint64_t)(pages * page_bytes - bytes) : 0;
	return (uint64_t)bytes > rest / 100 * limits->percent;
}

static int run_search(struct profile_writer *writer, const struct profile_slice_limits *limits,
		      struct run *run, struct error *err)
{
	int r = run_find(writer, limits, NULL, run, err);

	if (r == 0)
		r = slices_are_large(writer, limits, err);
	if (r <= 0 || run->count > 1)
		return r;
	r = 0;
	for (size_t i = 0; r == 0 && i < sizeof(pressures) / sizeof(pressures[0]); i++)
		r = run_find(writer, limits, &pressures[i], run, err);
	return r;
}

int profile_writer_slices_merge(struct profile_writer *writer,
				const struct profile_slice_limits *limits, struct error *err)
{
	struct run run;
	int r = profile_writer_check_place(writer, err);

	if (r == 0)
		r = run_search(writer, limits, &run, err);
	if (r <= 0)
		return r;
	r = profile_writer_begin(writer, err);
	if (r < 0)
		return r;
	r = profile_writer_settle(writer, run_merge(writer, &run, err), err);
	return r < 0 ? r : 1;
}
