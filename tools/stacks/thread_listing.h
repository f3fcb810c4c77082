/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lists threads, processes or commands by the samples that their call stacks stand for, or by their
 * off-CPU time.
 */
#ifndef DCPI_THREAD_LISTING_H
#define DCPI_THREAD_LISTING_H

#include <stdbool.h>

#include "lib/u64_map.h"
#include "tools/report/report.h"

struct cli;
struct error;
struct profile_reader;

/** enum thread_by - meaning of the rows */
enum thread_by {
	THREAD_BY_THREAD,
	THREAD_BY_PROCESS,
	THREAD_BY_COMMAND, /* all processes with a name */
};

/**
 * struct thread_row - a row; names are clean
 * @pid, @tid: 0: several
 * @value:     samples, or nanoseconds
 */
struct thread_row {
	char *command;
	char *thread;
	uint64_t pid;
	uint64_t tid;
	uint64_t stacks;
	uint64_t value;
	double percent;
};

/**
 * struct thread_listing - zero-initialised: empty; freed by thread_listing_deinit()
 * @index: hash of names and numbers to the index of a row, plus 1
 */
struct thread_listing {
	enum thread_by by;
	bool is_off_cpu;
	struct thread_row *rows;
	size_t row_count;
	size_t row_capacity;
	size_t limit;
	struct u64_map index;
	uint64_t stacks;
	uint64_t value;
	struct column columns[8];
	size_t column_count;
	struct report_total totals[2];
};

/**
 * thread_listing_make() - read the threads of the epochs that the command line selects
 * @ret: with @by and @is_off_cpu set; out: rows in descending order of their values, or as @cli
 * sorts
 *
 * Return: 0; -ENOENT: no epoch has threads with these values; -EINVAL: no such column to sort by;
 * -EBADMSG: damaged; -ENOMEM; the reader's errors.
 */
int thread_listing_make(struct thread_listing *ret, struct profile_reader *reader,
			const struct cli *cli, struct error *err);
void thread_listing_deinit(struct thread_listing *listing);

/** thread_listing_report() - make a report without its header; it points to @listing */
struct report thread_listing_report(struct thread_listing *listing);

#endif
