// SPDX-License-Identifier: GPL-2.0-only
#include "tools/stacks/thread_listing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "db/profile_read.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/base/text.h"
#include "tools/report/cli.h"

struct threads_reading {
	struct thread_listing *listing;
	struct error *err;
};

/* The columns of a row that are not those of its kind are left out of its key. */
static struct thread_row row_of(const struct thread_listing *listing,
				const struct profile_recording *recording, const uint64_t *stored)
{
	const char *const *texts = recording->texts;
	struct thread_row row = {
		.command = text_clean(texts[stored[PROFILE_THREAD_COMMAND]]),
		.thread = text_clean(
			listing->by == THREAD_BY_THREAD ? texts[stored[PROFILE_THREAD_NAME]] : ""),
		.stacks = stored[PROFILE_THREAD_STACKS],
	};

	if (listing->by != THREAD_BY_COMMAND)
		row.pid = stored[PROFILE_THREAD_PID];
	if (listing->by == THREAD_BY_THREAD)
		row.tid = stored[PROFILE_THREAD_TID];
	return row;
}

static bool is_same_row(const struct thread_row *a, const struct thread_row *b)
{
	return a->pid == b->pid && a->tid == b->tid && strcmp(a->command, b->command) == 0 &&
	       strcmp(a->thread, b->thread) == 0;
}

static uint64_t row_hash(const struct thread_row *row)
{
	const uint64_t parts[] = {row->pid, row->tid,
				  XXH3_64bits(row->command, strlen(row->command)),
				  XXH3_64bits(row->thread, strlen(row->thread))};

	return XXH3_64bits(parts, sizeof(parts));
}

/* Find the row with the names and numbers of another one, which becomes the listing's. */
static struct thread_row *row_find(struct thread_listing *listing, struct thread_row *row)
{
	uint64_t hash = row_hash(row), *slot;

	do {
		slot = u64_map_insert(&listing->index, hash++);
	} while (slot != NULL && *slot != 0 && !is_same_row(&listing->rows[*slot - 1], row));
	if (slot == NULL)
		return NULL;
	if (*slot == 0) {
		if (array_reserve(&listing->rows, &listing->row_capacity, listing->row_count + 1,
				  sizeof(*listing->rows)) < 0)
			return NULL;
		listing->rows[listing->row_count++] = (struct thread_row){
			.command = take_ptr(row->command),
			.thread = take_ptr(row->thread),
			.pid = row->pid,
			.tid = row->tid,
		};
		*slot = listing->row_count;
	}
	return &listing->rows[*slot - 1];
}

/* @value: of the row. Sums that do not fit mean that the database is damaged. */
static int row_merge(const struct threads_reading *reading, struct thread_row *row, uint64_t value)
{
	struct thread_listing *listing = reading->listing;
	struct thread_row *found = NULL;

	if (row->command != NULL && row->thread != NULL)
		found = row_find(listing, row);
	if (found == NULL)
		return error_set(reading->err, ENOMEM, ERROR_NO_MEMORY);
	if (__builtin_add_overflow(listing->value, value, &listing->value) ||
	    __builtin_add_overflow(listing->stacks, row->stacks, &listing->stacks) ||
	    listing->value > INT64_MAX)
		return error_set(reading->err, EBADMSG, ERROR_DATABASE_STACKS);
	found->value += value;
	found->stacks += row->stacks;
	return 0;
}

static int stored_merge(const struct threads_reading *reading,
			const struct profile_recording *recording, const uint64_t *stored,
			uint64_t every)
{
	uint64_t value = stored[PROFILE_THREAD_OFF_CPU_NS];
	struct thread_row row;
	int r;

	if (stored[PROFILE_THREAD_COMMAND] >= recording->text_count ||
	    stored[PROFILE_THREAD_NAME] >= recording->text_count ||
	    (!reading->listing->is_off_cpu &&
	     __builtin_mul_overflow(stored[PROFILE_THREAD_STACKS], every, &value)))
		return error_set(reading->err, EBADMSG, ERROR_DATABASE_STACKS);
	if (value == 0)
		return 0;
	row = row_of(reading->listing, recording, stored);
	r = row_merge(reading, &row, value);
	free(row.command);
	free(row.thread);
	return r;
}

static int recording_take(void *context, const struct profile_recording *recording)
{
	const struct threads_reading *reading = context;
	const struct profile_recording_table *threads = &recording->tables[PROFILE_THREADS_THREADS];
	uint64_t every;
	int r = 0;

	if (!profile_recording_has(recording, PROFILE_THREADS_HEAD, PROFILE_STACKS_HEAD_COLUMNS) ||
	    !profile_recording_has(recording, PROFILE_THREADS_THREADS, PROFILE_THREAD_COLUMNS) ||
	    recording->tables[PROFILE_THREADS_HEAD].rows != 1)
		return error_set(reading->err, EBADMSG, ERROR_DATABASE_STACKS);
	every = profile_recording_row(&recording->tables[PROFILE_THREADS_HEAD],
				      0)[PROFILE_STACKS_EVERY];
	for (size_t i = 0; i < threads->rows && r == 0; i++)
		r = stored_merge(reading, recording, profile_recording_row(threads, i), every);
	return r;
}

static void get_value(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->count = ((const struct thread_row *)row)->value;
}

static void thread_get_ms(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->number = (double)((const struct thread_row *)row)->value / 1e6;
}

static void thread_get_percent(const struct column *column, const void *row,
			       struct column_value *value)
{
	(void)column;
	value->percent = ((const struct thread_row *)row)->percent;
}

static void thread_get_pid(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->count = ((const struct thread_row *)row)->pid;
	value->missing = value->count == 0;
}

static void get_tid(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->count = ((const struct thread_row *)row)->tid;
	value->missing = value->count == 0;
}

static void thread_get_command(const struct column *column, const void *row,
			       struct column_value *value)
{
	const char *command = ((const struct thread_row *)row)->command;

	(void)column;
	value->text = command[0] != '\0' ? command : "(unknown)";
}

static void get_thread(const struct column *column, const void *row, struct column_value *value)
{
	const char *thread = ((const struct thread_row *)row)->thread;

	(void)column;
	value->text = thread[0] != '\0' ? thread : "(unknown)";
}

static void columns_make(struct thread_listing *listing)
{
	static const struct column samples = {"samples", "samples", COLUMN_COUNT, 0, 0, get_value};
	static const struct column ms = {
		"ms", "ms", COLUMN_NUMBER, COLUMN_TEXT_ONLY | COLUMN_DECIMALS(3), 0, thread_get_ms};
	static const struct column ns = {"ns", "ns", COLUMN_COUNT, COLUMN_DETAIL, 0, get_value};
	static const struct column percent = {"%", "percent", COLUMN_PERCENT,
					      0,   0,	      thread_get_percent};
	static const struct column pid = {"pid", "pid", COLUMN_COUNT, 0, 0, thread_get_pid};
	static const struct column tid = {"tid", "tid", COLUMN_COUNT, 0, 0, get_tid};
	static const struct column command = {"command", "command", COLUMN_TEXT,
					      0,	 0,	    thread_get_command};
	static const struct column thread = {"thread", "thread", COLUMN_TEXT, 0, 0, get_thread};
	const struct column *chosen[] = {
		listing->is_off_cpu ? &ms : &samples,
		listing->is_off_cpu ? &ns : NULL,
		&percent,
		listing->by != THREAD_BY_COMMAND ? &pid : NULL,
		listing->by == THREAD_BY_THREAD ? &tid : NULL,
		&command,
		listing->by == THREAD_BY_THREAD ? &thread : NULL,
	};

	for (size_t i = 0; i < sizeof(chosen) / sizeof(*chosen); i++) {
		if (chosen[i] != NULL)
			listing->columns[listing->column_count++] = *chosen[i];
	}
}

static int rows_compare(const void *a, const void *b, void *column)
{
	const struct thread_row *x = a, *y = b;
	int r = columns_compare(column, a, b);

	if (r == 0)
		r = (x->value < y->value) - (x->value > y->value);
	if (r == 0)
		r = strcmp(x->command, y->command);
	if (r == 0)
		r = strcmp(x->thread, y->thread);
	if (r == 0)
		r = (x->pid > y->pid) - (x->pid < y->pid);
	return r != 0 ? r : (x->tid > y->tid) - (x->tid < y->tid);
}

static int rows_sort(struct thread_listing *listing, const char *sort, struct error *err)
{
	const struct column *column = &listing->columns[0];

	if (sort != NULL)
		column = columns_find(listing->columns, listing->column_count, sort);
	if (column == NULL)
		return columns_unknown(listing->columns, listing->column_count, sort, err);
	for (size_t i = 0; i < listing->row_count; i++)
		listing->rows[i].percent =
			100 * (double)listing->rows[i].value / (double)listing->value;
	qsort_r(listing->rows, listing->row_count, sizeof(*listing->rows), rows_compare,
		(void *)(uintptr_t)column);
	return 0;
}

int thread_listing_make(struct thread_listing *ret, struct profile_reader *reader,
			const struct cli *cli, struct error *err)
{
	struct threads_reading reading = {ret, err};
	int r = profile_reader_recordings(reader, &cli->filter, PROFILE_RECORDING_THREADS,
					  recording_take, &reading, err);

	if (r < 0)
		return r;
	if (ret->row_count == 0)
		return error_set(err, ENOENT, "'%s' has no %s of threads", cli->database,
				 ret->is_off_cpu ? "off-CPU time" : "call stacks");
	ret->limit = cli->limit;
	columns_make(ret);
	return rows_sort(ret, cli->sort, err);
}

void thread_listing_deinit(struct thread_listing *listing)
{
	for (size_t i = 0; i < listing->row_count; i++) {
		free(listing->rows[i].command);
		free(listing->rows[i].thread);
	}
	free(listing->rows);
	u64_map_deinit(&listing->index);
	*listing = (struct thread_listing){.row_count = 0};
}

static const void *thread_listing_row(const void *context, size_t index)
{
	return &((const struct thread_listing *)context)->rows[index];
}

struct report thread_listing_report(struct thread_listing *listing)
{
	bool is_off_cpu = listing->is_off_cpu;
	size_t count = listing->row_count;

	listing->totals[0] = (struct report_total){.name = "stacks", .count = listing->stacks};
	listing->totals[1] =
		(struct report_total){.name = "samples they stand for", .count = listing->value};
	if (is_off_cpu)
		listing->totals[0] = (struct report_total){.name = "ns", .count = listing->value};
	return (struct report){
		.totals_of = is_off_cpu ? "off-CPU time:" : "call stacks:",
		.totals = listing->totals,
		.total_count = is_off_cpu ? 1 : 2,
		.table =
			{
				.columns = listing->columns,
				.column_count = listing->column_count,
				.row = thread_listing_row,
				.context = listing,
				.row_count = listing->limit > 0 && listing->limit < count
						     ? listing->limit
						     : count,
			},
	};
}
