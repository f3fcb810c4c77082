/* SPDX-License-Identifier: GPL-2.0-only */
/* The contents of the database for an image, by address: the input of analysis/image_analysis.h. */
#ifndef DCPI_CALC_PROFILE_H
#define DCPI_CALC_PROFILE_H

#include "analysis/image_analysis.h"
#include "db/profile_read.h"

struct calc_events;
struct stack_calls;
struct stack_faults;

/*
 * An image with samples at no more addresses than this is loaded completely, even if only a part is
 * wanted.
 */
#define CALC_PROFILE_SMALL 2000

/**
 * struct calc_profile - zero-initialised: empty
 * @samples: for image_analysis_run(); points to memory owned by the profile
 * @small:   @samples has all of the image's samples, at no more than CALC_PROFILE_SMALL addresses
 */
struct calc_profile {
	struct image_samples samples;
	bool small;
};

/**
 * struct calc_profile_wanted - parts to load; pointers are owned by the caller
 * @filter: epochs and process; other fields are ignored
 * @image:  its number
 * @all:    samples of time, of all images
 * @ranges: unless the image is small, load only samples at these offsets, and edges from them;
 *          NULL: all
 * @edges:  edges were collected in these epochs; those of the kind "branch" are read
 * @kernel: the image is a part of the kernel, which may disable interrupts
 * @faults: page faults of all images; NULL: none
 * @calls:  call stacks of the kernel; NULL: none
 * @counted: the kernel's counts of the profiled processes; NULL: not known
 * @offsets_are_addresses: for code generated at run time, see tools/report/code_elf.h
 */
struct calc_profile_wanted {
	struct profile_reader *reader;
	const struct profile_filter *filter;
	int64_t image;
	double all;
	const struct profile_ranges *ranges;
	const struct calc_events *events;
	bool edges;
	bool kernel;
	const struct image_code *code;
	const struct stack_faults *faults;
	const struct stack_calls *calls;
	const struct kernel_counts *counted;
	bool offsets_are_addresses;
};

/**
 * calc_profile_load() - read samples and edges of an image
 * @ret: out; freed by calc_profile_deinit()
 *
 * The period of an event is its mean over the epochs, weighted by samples; for the event of time,
 * by samples of all images. If epochs have different periods, samples are scaled to the mean.
 * Branches that leave the image go to UINT64_MAX. Edges are not stored by process, so those of all
 * processes are read.
 *
 * Return: 0, -ENOMEM, or the reader's error.
 */
int calc_profile_load(struct calc_profile *ret, const struct calc_profile_wanted *wanted,
		      struct error *err);

/**
 * calc_profile_address() - convert an offset in the database to an address of the code
 *
 * Return: 0 or -ENOENT.
 */
int calc_profile_address(const struct calc_profile_wanted *wanted, uint64_t offset,
			 uint64_t *address);

void calc_profile_deinit(struct calc_profile *profile);

#endif
