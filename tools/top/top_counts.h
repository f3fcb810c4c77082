/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Growing samples of the current epoch, by image and by procedure: their current values, their
 * values at the previous refresh, and their values at the beginning of the totals.
 *
 * A refresh reads the epoch's row, and nothing else if no samples were merged since the last one.
 * Otherwise it reads one number for each profile of the epoch (of an image, an event and a
 * process). It also reads the samples of images whose procedures are shown and whose number has
 * changed. Other epochs are not read. Samples of other images are read only if procedures are shown
 * and some of the image's procedures belong to the profiler. When the daemon begins another epoch,
 * all counts start again.
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
#define TOP_NO_IMAGE (-1)
#define TOP_NOTE_BYTES 64

/**
 * struct top_config - configuration; strings are owned by the caller
 * @host: the current epoch is the last one of this host; NULL: of any host
 * @include: samples that count in shares
 */
struct top_config {
	const char *database;
	const char *host;
	struct included_samples include;
	bool demangle;
	struct debug_file_options debug;
};

/** enum top_level - kind of the rows */
enum top_level {
	TOP_BY_IMAGE,
	TOP_BY_PROCEDURE,
};

/**
 * struct top_row - an image or a procedure
 * @image:     its number
 * @procedure: its name, NULL in rows of images; @names: all of its names
 * @path:      of the image; @file: its description
 * @address:   of a procedure: ELF virtual address, if @has_address
 * @interval:  samples since the previous refresh, if @has_interval
 * @total:     samples since the beginning of the totals
 * @interval_share, @total_share: shares of these, percent
 * @rate:      samples of the interval per second
 * @note:      text after the name: aliases of a procedure; the mark of the profiler's samples
 * @class:     of its samples; an image has a row for each class that shares exclude
 * @excluded:  shares exclude its samples
 *
 * Valid until the next refresh.
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
	enum profiler_class class;
	bool excluded;
};

/**
 * struct top_rows - rows, and their totals
 * @interval_ns: 0: there was no previous refresh
 * @interval, @total: samples of the event in all images.
 * @own_interval, @own_total: part of them that the profiler causes, if shares exclude it
 * @idle_interval, @idle_total: part of them in which a CPU has no work, if shares exclude it
 * @since_ns:    beginning of @total, since the Unix epoch
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
	uint64_t idle_interval;
	uint64_t idle_total;
	int64_t since_ns;
};

/** top_counts_create() - create without reading; @config is copied. Return: 0 or -ENOMEM */
int top_counts_create(struct top_counts **ret, const struct top_config *config, struct error *err);

/** top_counts_destroy() - free; @counts may be NULL */
void top_counts_destroy(struct top_counts *counts);

/**
 * top_counts_refresh() - read the changes
 * @level: with TOP_BY_PROCEDURE, count the procedures of @image, or of TOP_ALL_IMAGES. They are
 * always counted if shares exclude some of the procedures of an image
 *
 * Return: 0; -ENOENT: there is no database or no epoch yet; -ENOMEM; or the reader's error.
 */
int top_counts_refresh(struct top_counts *counts, enum top_level level, int64_t image,
		       struct error *err);

/**
 * top_counts_epoch() - return the current epoch
 *
 * Its strings are NULL, except for host and source, which are fit for terminals.
 */
const struct profile_epoch *top_counts_epoch(const struct top_counts *counts);

/**
 * top_counts_lost() - return the number of samples of the epoch that are lost permanently
 * @interrupts: out: the epoch's interrupts
 */
uint64_t top_counts_lost(const struct top_counts *counts, uint64_t *interrupts);

/** top_counts_events() - return the names of the current epoch's events, fit for terminals */
const char *const *top_counts_events(const struct top_counts *counts, size_t *count);

/**
 * top_counts_begin() - restart the totals now
 *
 * The totals of procedures that are not shown start when they are shown first.
 */
void top_counts_begin(struct top_counts *counts);

/**
 * top_counts_rows() - make rows for images or procedures that have samples
 * @event:    index in top_counts_events()
 * @of_epoch: totals are the epoch's; else since the first refresh or top_counts_begin()
 * @rows:     out; its memory is reused; freed by the caller
 *
 * Return: 0 or -ENOMEM.
 */
int top_counts_rows(struct top_counts *counts, enum top_level level, int64_t image, size_t event,
		    bool of_epoch, struct top_rows *rows);

#endif
