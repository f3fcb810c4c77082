/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Images with their code and samples, for several passes over them. Opening takes longer than the
 * analysis of an image with few samples. Hence images are opened on several threads, ahead of their
 * use, and stay open for the next pass.
 */
#ifndef DCPI_OPEN_IMAGES_H
#define DCPI_OPEN_IMAGES_H

#include "tools/annotate/calc_images.h"
#include "tools/annotate/calc_select.h"

/**
 * struct open_images - fields are private
 * @kept:      by index in calc_images; those without code are closed
 * @count:     number of open ones; @count_max: its limit, from the limit on descriptors
 * @bytes:     of the files of the open ones; @bytes_max: its limit, from the limit on memory
 */
struct open_images {
	const struct calc_select *select;
	struct calc_choice *kept;
	size_t count;
	size_t count_max;
	uint64_t bytes;
	uint64_t bytes_max;
};

/**
 * struct open_images_pass - a pass over images
 * @is_wanted: return true for the indices (in calc_images) of the images to open
 * @visit:     called for each of these in ascending order, on the caller's thread, with the result
 *             @r of calc_select_open(). If it is 0, @choice is open, and open_images_keep() may
 * take it. Return: 0; else the pass ends
 * @context:   for both
 */
struct open_images_pass {
	bool (*is_wanted)(const void *context, size_t index);
	int (*visit)(void *context, size_t index, struct calc_choice *choice, int r,
		     const struct error *err);
	void *context;
};

/**
 * open_images_init() - prepare; nothing is opened
 * @select: must outlive it
 * @images: freed by open_images_deinit()
 *
 * Return: 0 or -ENOMEM.
 */
int open_images_init(struct open_images *images, const struct calc_select *select);

/** open_images_deinit() - close all. A zero-initialised one is fine. */
void open_images_deinit(struct open_images *images);

/**
 * open_images_visit() - run a pass
 *
 * Return: 0; the result of @pass->visit, which is not -EAGAIN; or -ENOMEM.
 */
int open_images_visit(struct open_images *images, const struct open_images_pass *pass);

/**
 * open_images_keep() - keep an image open for the next pass, within limits; else close it
 * @choice: argument of open_images_pass.visit() for @index; becomes empty
 */
void open_images_keep(struct open_images *images, size_t index, struct calc_choice *choice);

#endif
