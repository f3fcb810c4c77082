/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples of the current epoch as they grow, by image and by procedure: what they are,
 * what they were at the refresh before, and what they were at a beginning.
 *
 * A refresh reads the epoch's row, and if nothing was merged since the last one, no
 * more. Else it reads one number for each profile of the epoch (of an image, an event
 * and a process), and of images whose procedures are looked at and whose number has
 * changed, their samples. Other epochs are not read. Samples of other images are read only
 * where procedures are shown and some of the image's are the profiler's. When
 * the daemon begins another epoch, all counts begin again.
 */
#ifndef DCPI_TOP_COUNTS_H
#define DCPI_TOP_COUNTS_H

#include <stdbool.h>

#include "analysis/image/debug_file.h"
#include "tools/report/profiler_class.h"

struct error;
struct top_counts;

/* Image numbers of a database begin at 1. */
#define TOP_ALL_IMAGES 0
#define TOP_NOTE_BYTES 64

/**
 * struct top_config - what to count; strings are the caller's
 * @host: whose last epoch is the current one; NULL: any host's
 * @include_profiler: samples that profiling causes count in shares
 */
struct top_config {
	const char *database;
	const char *host;
	bool include_profiler;
	bool demangle;
	struct debug_file_options debug;
};

/** enum top_level - what a row is. */
enum top_level {
	TOP_BY_IMAGE,
	TOP_BY_PROCEDURE,
};

/**
 * struct top_row - an image or a procedure
 * @image:     its number
 * @procedure: its name, NULL in rows of images; @names: all of its names
 * @path:      of the image, which is @file
 * @address:   of a procedure: ELF virtual, if @has_address
 * @interval:  samples since the refresh before, if @has_interval
 * @total:     samples since the beginning that was asked for
 * @note:      text after the name: of a procedure its aliases; the mark of the profiler's samples
 * @excluded:  profiling causes all of its samples, so that it has no share
 *
 * Valid until the next refresh. The other members are the user's (top_table.h).
 */
struct top_row {
	int64_t image;
	enum profile_image_kind kind;
	const struct profile_image *file;
	const char *procedure;
	const struct procedure_names *names;
	const char *path;
	uint64_t address;
	uint64_t interval;
	uint64_t total;
	bool has_address;
	bool has_interval;
	double interval_share;
	double rate;
	double total_share;
	char note[TOP_NOTE_BYTES];
	bool excluded;
};

/**
 * struct top_rows - rows, and what they are parts of
 * @interval_ns: 0: there was no refresh before
 * @interval, @total: samples of the event in all images
 * @own_interval, @own_total: of these, samples that profiling causes and that shares leave out
 * @since_ns: when @total begins, since the Unix epoch
 */
struct top_rows {
	struct top_row *list;
	size_t count;
	size_t capacity;
	int64_t interval_ns;
	uint64_t interval;
	uint64_t total;
	uint64_t own_interval;
	uint64_t own_total;
	int64_t since_ns;
};

/** top_counts_create() - nothing is read. @config is kept. Return: 0 or -ENOMEM. */
int top_counts_create(struct top_counts **ret, const struct top_config *config, struct error *err);

/** top_counts_destroy() - free. NULL is fine. */
void top_counts_destroy(struct top_counts *counts);

/**
 * top_counts_refresh() - read what has changed
 * @level: with TOP_BY_PROCEDURE, count the procedures of @image, or of TOP_ALL_IMAGES, and those of
 *         images that have procedures of the profiler's
 *
 * Return: 0; -ENOENT there is no database or no epoch yet; -ENOMEM; or the reader's error.
 */
int top_counts_refresh(struct top_counts *counts, enum top_level level, int64_t image,
		       struct error *err);

/**
 * top_counts_epoch() - the current epoch; its strings are NULL but for host and source, which
 * are fit for terminals
 */
const struct profile_epoch *top_counts_epoch(const struct top_counts *counts);

/** top_counts_lost() - samples of the epoch that are lost for good, and its interrupts. */
uint64_t top_counts_lost(const struct top_counts *counts, uint64_t *interrupts);

/** top_counts_events() - names of the current epoch's events, fit for terminals. */
const char *const *top_counts_events(const struct top_counts *counts, size_t *count);

/**
 * top_counts_begin() - totals since a beginning begin now
 *
 * Those of procedures that are not looked at begin when they are first.
 */
void top_counts_begin(struct top_counts *counts);

/**
 * top_counts_rows() - rows that have samples
 * @event:    index in top_counts_events()
 * @of_epoch: totals are the epoch's; else since the first refresh or top_counts_begin()
 * @rows:     out; its memory is used again; freed by the caller
 *
 * Return: 0 or -ENOMEM.
 */
int top_counts_rows(struct top_counts *counts, enum top_level level, int64_t image, size_t event,
		    bool of_epoch, struct top_rows *rows);

#endif
