/* SPDX-License-Identifier: GPL-2.0-only */
/* The test's own executable as an image, open while a group of tests runs. */
#ifndef DCPI_TESTS_SELF_IMAGE_H
#define DCPI_TESTS_SELF_IMAGE_H

#include "analysis/image/image_code.h"
#include "lib/error.h"

static struct image_code *self;

/* Setup function for cmocka_run_group_tests(). */
static inline int open_self(void **state)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE, .path = "/proc/self/exe"};
	struct debug_file_options options = {0};
	struct error err;

	(void)state;
	return image_code_open(&self, &image, &options, &err);
}

static inline int close_self(void **state)
{
	(void)state;
	image_code_close(self);
	return 0;
}

#endif
