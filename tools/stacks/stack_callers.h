/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The callers of a procedure, from the sampled call stacks of a database.
 *
 * A stack counts once, for the caller of the outermost frame of the procedure. So recursion adds
 * nothing, and the shares of all callers add up to 1. Only the images of callers are opened.
 */
#ifndef DCPI_STACK_CALLERS_H
#define DCPI_STACK_CALLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debug_file_options;
struct error;
struct profile_filter;
struct profile_reader;

/**
 * struct stack_caller - a caller
 * @name:    clean; in brackets: the frame is not known; "(none)": the procedure is outermost
 * @samples: that the stacks stand for
 * @share:   of all; @low, @high: its 95% interval
 */
struct stack_caller {
	char *name;
	uint64_t samples;
	double share;
	double low;
	double high;
};

/**
 * struct stack_callers - zero-initialised: none
 * @list:   descending by samples
 * @stacks: number of stacks that contain the procedure; 0: none
 */
struct stack_callers {
	struct stack_caller *list;
	size_t count;
	size_t capacity;
	uint64_t stacks;
};

/**
 * struct stack_callers_wanted - a procedure; pointers are owned by the caller
 * @image:    its number
 * @offset:   of its first byte, in the image
 * @demangle: names of callers as in the source
 */
struct stack_callers_wanted {
	struct profile_reader *reader;
	const struct profile_filter *filter;
	const struct debug_file_options *debug;
	int64_t image;
	uint64_t offset;
	bool demangle;
};

/**
 * stack_callers_find() - find the callers of a procedure
 * @ret: freed by stack_callers_deinit(), also after a failure
 *
 * Return: 0, also if there are no stacks; -EBADMSG: damaged; -ENOMEM; the reader's errors.
 */
int stack_callers_find(struct stack_callers *ret, const struct stack_callers_wanted *wanted,
		       struct error *err);
void stack_callers_deinit(struct stack_callers *callers);

#endif
