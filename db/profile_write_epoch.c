// SPDX-License-Identifier: GPL-2.0-only
#include "db/profile_write.h"

#include <errno.h>
#include <sqlite3.h>

#include "db/profile_writer.h"
#include "lib/error.h"

/* Run a bound statement that returns no rows. */
static int profile_write_epoch_finish(struct profile_writer *writer, sqlite3_stmt *statement,
				      struct error *err)
{
	return database_step(&writer->db, statement, "write", err);
}

static int find_host(struct profile_writer *writer, const struct profile_epoch *epoch, int64_t *id,
		     struct error *err)
{
	sqlite3_stmt *statement;
	int r;

	r = profile_writer_statement(writer, WRITER_HOST_ADD, &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "tt", epoch->host,
				  epoch->machine_id);
	if (r == 0)
		r = profile_write_epoch_finish(writer, statement, err);
	if (r == 0)
		r = profile_writer_statement(writer, WRITER_HOST_FIND, &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "tt", epoch->host,
				  epoch->machine_id);
	if (r == 0)
		r = database_step(&writer->db, statement, "read", err);
	if (r < 0)
		return r;
	if (r == 0)
		return database_corrupt(&writer->db, err, "a host just added is missing");
	*id = sqlite3_column_int64(statement, 0);
	sqlite3_reset(statement);
	return 0;
}

static int profile_write_epoch_add_epoch(struct profile_writer *writer,
					 const struct profile_epoch *epoch, int64_t host,
					 int64_t *id, struct error *err)
{
	sqlite3_stmt *statement;
	int r;

	r = profile_writer_statement(writer, WRITER_EPOCH_ADD, &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "iititttt", host, epoch->start_ns,
				  epoch->cpu_model, (int64_t)epoch->cpus, epoch->kernel,
				  epoch->source, epoch->source_reason, epoch->label);
	if (r == 0)
		r = profile_write_epoch_finish(writer, statement, err);
	if (r == 0)
		*id = sqlite3_last_insert_rowid(writer->db.handle);
	return r;
}

static int add_event(struct profile_writer *writer, int64_t epoch,
		     const struct profile_event *event, struct error *err)
{
	sqlite3_stmt *statement = NULL;
	int r;

	r = profile_writer_check_count(event->period_max, "sampling period", err);
	if (r == 0)
		r = profile_writer_check_count(event->period_min, "sampling period", err);
	if (r == 0)
		r = profile_writer_statement(writer, WRITER_EVENT_ADD, &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "iittii", epoch,
				  (int64_t)event->number, event->name, event->unit,
				  (int64_t)event->period_min, (int64_t)event->period_max);
	return r == 0 ? profile_write_epoch_finish(writer, statement, err) : r;
}

static int end_epoch(struct profile_writer *writer, int64_t end_ns, struct error *err)
{
	sqlite3_stmt *statement;
	int r;

	r = profile_writer_statement(writer, WRITER_EPOCH_END, &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "ii", writer->epoch, end_ns);
	return r == 0 ? profile_write_epoch_finish(writer, statement, err) : r;
}

int profile_writer_epoch_begin(struct profile_writer *writer, const struct profile_epoch *epoch,
			       const struct profile_event *events, size_t event_count,
			       struct error *err)
{
	return profile_writer_epoch_next(writer, epoch->start_ns, epoch, events, event_count, err);
}

int profile_writer_epoch_next(struct profile_writer *writer, int64_t end_ns,
			      const struct profile_epoch *epoch, const struct profile_event *events,
			      size_t event_count, struct error *err)
{
	int64_t host = 0, id = 0;
	size_t i;
	int r;

	r = profile_writer_begin(writer, err);
	if (r < 0)
		return r;
	if (writer->epoch != 0)
		r = end_epoch(writer, end_ns, err);
	if (r == 0)
		r = find_host(writer, epoch, &host, err);
	if (r == 0)
		r = profile_write_epoch_add_epoch(writer, epoch, host, &id, err);
	for (i = 0; r == 0 && i < event_count; i++)
		r = add_event(writer, id, &events[i], err);
	r = profile_writer_settle(writer, r, err);
	if (r < 0)
		return r;
	writer->epoch = id;
	writer->host = host;
	return 0;
}

int profile_writer_epoch_add(struct profile_writer *writer, const struct profile_epoch *epoch,
			     struct error *err)
{
	int r;

	if (writer->epoch != 0)
		return error_set(err, EINVAL, "'%s': an epoch is open", writer->path);
	r = profile_writer_in_transaction(writer, err);
	if (r == 0)
		r = find_host(writer, epoch, &writer->host, err);
	return r == 0 ? profile_write_epoch_add_epoch(writer, epoch, writer->host, &writer->epoch,
						      err)
		      : r;
}

int profile_writer_event_add(struct profile_writer *writer, const struct profile_event *event,
			     struct error *err)
{
	int r = profile_writer_in_epoch(writer, err);

	return r == 0 ? add_event(writer, writer->epoch, event, err) : r;
}

int profile_writer_epoch_finish(struct profile_writer *writer, int64_t end_ns, struct error *err)
{
	int r = profile_writer_in_epoch(writer, err);

	return r == 0 ? end_epoch(writer, end_ns, err) : r;
}

void profile_writer_epoch_forget(struct profile_writer *writer)
{
	writer->epoch = 0;
}

int profile_writer_epoch_end(struct profile_writer *writer, int64_t end_ns, struct error *err)
{
	int r;

	if (writer->epoch == 0)
		return error_set(err, EINVAL, "'%s': no epoch is open", writer->path);
	r = profile_writer_begin(writer, err);
	if (r < 0)
		return r;
	r = profile_writer_settle(writer, end_epoch(writer, end_ns, err), err);
	if (r == 0)
		writer->epoch = 0;
	return r;
}

int profile_writer_event_time(struct profile_writer *writer, uint32_t event, uint64_t enabled_ns,
			      uint64_t running_ns, struct error *err)
{
	sqlite3_stmt *statement = NULL;
	int r;

	r = profile_writer_in_epoch(writer, err);
	if (r == 0)
		r = profile_writer_check_count(enabled_ns, "time of an event", err);
	if (r < 0)
		return r;
	if (running_ns > enabled_ns)
		return error_set(err, EINVAL, "event %u ran for longer than it was enabled", event);
	r = profile_writer_statement(writer, WRITER_EVENT_TIME, &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "iiii", writer->epoch,
				  (int64_t)event, (int64_t)enabled_ns, (int64_t)running_ns);
	if (r == 0)
		r = profile_write_epoch_finish(writer, statement, err);
	if (r == 0 && sqlite3_changes(writer->db.handle) != 1)
		return error_set(err, EINVAL, "the epoch has no event %u", event);
	return r;
}

static int set_counter(struct profile_writer *writer, const struct profile_counter *counter,
		       struct error *err)
{
	sqlite3_stmt *statement = NULL;
	int r;

	r = profile_writer_check_count(counter->count, counter->name, err);
	if (r == 0)
		r = profile_writer_statement(writer, WRITER_COUNTER_SET, &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "itti", writer->epoch,
				  counter->group, counter->name, (int64_t)counter->count);
	return r == 0 ? profile_write_epoch_finish(writer, statement, err) : r;
}

int profile_writer_damaged_row(struct profile_writer *writer, const char *group, const char *name,
			       int64_t number, struct error *err)
{
	sqlite3_stmt *statement = NULL;
	int r;

	if (number < 0)
		return database_corrupt(&writer->db, err, "a row of epoch %lld",
					(long long)writer->epoch);
	r = profile_writer_statement(writer, WRITER_COUNTER_ADD, &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "itti", writer->epoch, group, name,
				  number);
	return r == 0 ? profile_write_epoch_finish(writer, statement, err) : r;
}

uint64_t profile_writer_damaged(const struct profile_writer *writer)
{
	return writer->damaged;
}

int profile_writer_totals(struct profile_writer *writer, int64_t now_ns, uint64_t interrupts,
			  const struct profile_counter *counters, size_t count, struct error *err)
{
	sqlite3_stmt *statement;
	size_t i;
	int r;

	r = profile_writer_in_epoch(writer, err);
	if (r == 0)
		r = profile_writer_check_count(interrupts, "interrupts", err);
	if (r == 0)
		r = profile_writer_statement(writer, WRITER_TOTALS, &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "iii", writer->epoch,
				  (int64_t)interrupts, now_ns);
	if (r == 0)
		r = profile_write_epoch_finish(writer, statement, err);
	for (i = 0; r == 0 && i < count; i++)
		r = set_counter(writer, &counters[i], err);
	return r;
}
