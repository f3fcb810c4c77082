/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lists the data that programs access by region of memory: stacks, the heap, other memory, files,
 * and the variables of images (db/profile_recording.h, enum profile_region).
 */
#ifndef DCPI_DATA_LISTING_H
#define DCPI_DATA_LISTING_H

#include <stdbool.h>

#include "db/profile_read.h"
#include "lib/u64_map.h"
#include "tools/report/report.h"

struct cli;
struct error;
struct profile_reader;

#define DATA_LISTING_COLUMNS 16

/**
 * struct data_units - number of different lines or pages
 * @least, @most: interval (95%); @most INFINITY: there are too few accesses
 * @text:         the same
 */
struct data_units {
	double least;
	double most;
	char text[32];
};

/**
 * struct data_row - a region, or a variable
 * @symbol:   of PROFILE_REGION_IMAGE: the variable or section; else NULL
 * @image:    its path; else NULL
 * @accesses: sampled addresses, also of instructions that are executed soon after a sample
 * @nearest:  samples whose time belongs to an access, see PROFILE_DATA_NEAREST
 * @selected: part of @nearest that is a random selection of all
 * @low, @high: interval (95%) of @percent
 */
struct data_row {
	enum profile_region region;
	char *symbol;
	char *image;
	double accesses;
	double nearest;
	double selected;
	double percent;
	double low;
	double high;
	char error[16];
	struct data_units lines;
	struct data_units pages;
};

/**
 * struct data_listing - zero-initialised: empty; freed by data_listing_deinit()
 * @index: hash of region, image and symbol to the index of a row, plus 1
 */
struct data_listing {
	struct data_row *rows;
	size_t row_count;
	size_t row_capacity;
	size_t limit;
	struct u64_map index;
	double accesses;
	double nearest;
	struct report_total totals[2];
};

/**
 * data_listing_make() - read the regions of the epochs and images that the command line selects
 * @ret: out: rows in descending order of their samples, or as @cli sorts
 *
 * Return: 0; -ENOENT: no epoch has regions; -EINVAL: no such column to sort by; -EBADMSG: damaged;
 * -ENOMEM; the reader's errors.
 */
int data_listing_make(struct data_listing *ret, struct profile_reader *reader,
		      const struct cli *cli, struct error *err);
void data_listing_deinit(struct data_listing *listing);

/** data_listing_report() - make a report without its header; it points to @listing */
struct report data_listing_report(struct data_listing *listing);

#endif
