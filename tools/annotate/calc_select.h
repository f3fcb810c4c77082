/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Selects a procedure by name, by address, or as the hottest one.
 *
 *	PROCEDURE              in any image that has samples in a procedure of that name
 *	IMAGE:PROCEDURE        IMAGE is a pattern: see calc_image_matches()
 *	0xADDRESS              the procedure that contains this ELF virtual address
 *	IMAGE:0xADDRESS
 *
 * A name is the linker's. If no procedure has this name, it selects those that calc_names.h
 * accepts.
 */
#ifndef DCPI_CALC_SELECT_H
#define DCPI_CALC_SELECT_H

#include "lib/error.h"
#include "tools/annotate/calc_counts.h"
#include "tools/annotate/calc_images.h"
#include "tools/annotate/calc_profile.h"
#include "tools/report/passed_over.h"
#include "tools/report/profiler_class.h"

struct stack_calls;
struct stack_faults;

/**
 * struct calc_select - data to choose from; pointers are owned by the caller
 * @images:  with samples of time
 * @pattern: only these images; NULL: all
 * @filter:  for calc_profile_load(), like @events and @edges
 * @counts:  exact counts are wanted
 * @files:   only images that are files: the result is for programs that read the file
 * @probes:  in the selected epochs
 * @faults:  page faults of all images; NULL: not known
 * @calls:   call stacks of the kernel; NULL: not known
 * @counted: the kernel's counts of the profiled processes; NULL: not known
 * @names:   procedures and lines are enough: images whose code cannot be decoded are opened too,
 *           see image_code_open_names()
 */
struct calc_select {
	struct profile_reader *reader;
	const struct calc_images *images;
	const char *pattern;
	const struct profile_filter *filter;
	const struct calc_events *events;
	bool edges;
	bool counts;
	bool files;
	bool names;
	enum profiler_probes probes;
	const struct stack_faults *faults;
	const struct stack_calls *calls;
	const struct kernel_counts *counted;
	struct debug_file_options debug;
};

/**
 * struct calc_choice - an open image, and one of its procedures; zero-initialised: none
 * @procedure: index in image_code_procedures()
 * @samples:   of time, in that procedure with all its parts; of the hottest one also those of the
 *             kernel for its page faults
 * @counts:    exact counts; @profile.samples refers to them
 */
struct calc_choice {
	const struct calc_image *image;
	struct image_code *code;
	struct calc_profile profile;
	size_t procedure;
	double samples;
	struct calc_counts counts;
};

/**
 * calc_select_open() - open an image, and load its samples
 * @ret: out; freed by calc_choice_deinit()
 *
 * Return: 0; -ENOTSUP: no file contains its code; or as image_code_open(), calc_profile_load().
 */
int calc_select_open(struct calc_choice *ret, const struct calc_select *select,
		     const struct calc_image *image, struct error *err);

/**
 * calc_select_code() - open the code of an image: the first part of calc_select_open()
 * @ret: out; freed by image_code_close()
 *
 * Return: 0; -ENOTSUP: no file contains its code; or as image_code_open().
 * Context: for images that are files, several threads may call it at once.
 */
int calc_select_code(struct image_code **ret, const struct calc_select *select,
		     const struct calc_image *image, struct error *err);

/**
 * calc_select_load() - load samples: the second part of calc_select_open()
 * @choice: @image and @code are set
 * @ranges: only samples in these; NULL: all
 *
 * Return: as calc_profile_load().
 */
int calc_select_load(struct calc_choice *choice, const struct calc_select *select,
		     const struct profile_ranges *ranges, struct error *err);

/**
 * calc_select_address() - choose the procedure that contains an ELF virtual address
 * @choice: of calc_select_open()
 *
 * Return: 0; -ENOENT: there is none.
 */
int calc_select_address(struct calc_choice *choice, uint64_t address);

/**
 * calc_select_named() - find the procedure that @operand selects
 *
 * Return: 0; -ENOENT: it has no samples; -EINVAL: no such procedure, or several procedures match;
 * -ENOMEM; or the reader's error. If none matches, and a file could not be examined, the reason.
 */
int calc_select_named(struct calc_choice *ret, const struct calc_select *select,
		      const char *operand, struct error *err);

/**
 * calc_select_hottest() - find the procedure with most samples
 * @passed: out: images with more samples that could not be examined; freed by the caller, also
 *          after a failure
 *
 * Code known only by its section belongs to no procedure.
 *
 * Return: 0; -ENOENT: there is none; if no image could be examined, the reason; -ENOMEM; or the
 * reader's error.
 */
int calc_select_hottest(struct calc_choice *ret, const struct calc_select *select,
			struct passed_over *passed, struct error *err);

/** calc_choice_offset() - return the offset of the procedure in its image */
uint64_t calc_choice_offset(const struct calc_choice *choice);

void calc_choice_deinit(struct calc_choice *choice);

#endif
