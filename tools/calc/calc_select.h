/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which procedure is meant: by name, by address, or because it is the hottest.
 *
 *	PROCEDURE            in whatever image has samples in one of that name
 *	IMAGE:PROCEDURE      IMAGE is a pattern: see calc_image_matches()
 *	0xADDRESS            the procedure that holds this ELF virtual address
 *	IMAGE:0xADDRESS
 *
 * A name is the linker's. Where none has it, it is those that calc_names.h says are meant.
 */
#ifndef DCPI_CALC_SELECT_H
#define DCPI_CALC_SELECT_H

#include "lib/error.h"
#include "tools/calc/calc_counts.h"
#include "tools/calc/calc_images.h"
#include "tools/calc/calc_profile.h"
#include "tools/report/passed_over.h"

/**
 * struct calc_select - what to choose from; pointers are the caller's
 * @images:  with samples of time
 * @pattern: only these images; NULL: all
 * @filter:  for calc_profile_load(), like @events and @edges
 * @counts:  exact counts are wanted
 * @names:   procedures and lines are enough: images without code that can be decoded are
 *           opened too, see image_code_open_names()
 */
struct calc_select {
	struct profile_reader *reader;
	const struct calc_images *images;
	const char *pattern;
	const struct profile_filter *filter;
	const struct calc_events *events;
	bool edges;
	bool counts;
	bool names;
	struct debug_file_options debug;
};

/**
 * struct calc_choice - an image, open, and one of its procedures; zero-initialised: none
 * @procedure: index in image_code_procedures()
 * @samples:   of time, in that procedure with all its parts
 * @counts:    exact ones, which @profile.samples has too
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
 * Return: 0; -ENOTSUP its code is in no file; or as of image_code_open(),
 * calc_profile_load().
 */
int calc_select_open(struct calc_choice *ret, const struct calc_select *select,
		     const struct calc_image *image, struct error *err);

/**
 * calc_select_address() - choose the procedure that holds an ELF virtual address
 * @choice: of calc_select_open()
 *
 * Return: 0; -ENOENT there is none.
 */
int calc_select_address(struct calc_choice *choice, uint64_t address);

/**
 * calc_select_named() - find what @operand means
 *
 * Return: 0; -ENOENT there is none, or it has no samples; -EINVAL it may mean several;
 * if there is none, and a file could not be looked at, why not; -ENOMEM, or the reader's error.
 */
int calc_select_named(struct calc_choice *ret, const struct calc_select *select,
		      const char *operand, struct error *err);

/**
 * calc_select_hottest() - find the procedure with most samples
 * @passed: out: images with more samples that could not be looked at; freed by the caller, also
 *          after a failure
 *
 * Code of which nothing is known but its section is in no procedure.
 *
 * Return: 0; -ENOENT there is none; if no image could be looked at, why not; -ENOMEM, or the
 * reader's error.
 */
int calc_select_hottest(struct calc_choice *ret, const struct calc_select *select,
			struct passed_over *passed, struct error *err);

void calc_choice_deinit(struct calc_choice *choice);

#endif
