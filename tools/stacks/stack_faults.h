/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page faults of user code, from the sampled call stacks of a database.
 *
 * The innermost frame in user space of a stack in the kernel is the instruction that was
 * interrupted. If the kernel's outermost frames are a handler of page faults, that instruction
 * accessed a page that was not mapped, and the sample is time of its page fault. Faults of the
 * kernel itself, such as those of system calls, are not among them.
 */
#ifndef DCPI_STACK_FAULTS_H
#define DCPI_STACK_FAULTS_H

#include <stddef.h>
#include <stdint.h>

struct debug_file_options;
struct error;
struct profile_filter;
struct profile_reader;

/**
 * struct stack_fault - page faults of an instruction
 * @image, @offset: of the instruction
 * @samples:        that @stacks stand for, in the kernel
 */
struct stack_fault {
	int64_t image;
	uint64_t offset;
	double samples;
	double stacks;
};

/** struct stack_faults - zero-initialised: none; @list: by image and offset */
struct stack_faults {
	struct stack_fault *list;
	size_t count;
	size_t capacity;
};

/**
 * stack_faults_find() - find the page faults in the epochs that a filter selects
 * @ret: freed by stack_faults_deinit(), also after a failure
 *
 * None are found if the symbols of the kernel are not known.
 *
 * Return: 0, also if there are no stacks; -EBADMSG: damaged; -ENOMEM; the reader's errors.
 */
int stack_faults_find(struct stack_faults *ret, struct profile_reader *reader,
		      const struct profile_filter *filter, const struct debug_file_options *debug,
		      struct error *err);

/** stack_faults_image() - return the first of @count faults of an image */
const struct stack_fault *stack_faults_image(const struct stack_faults *faults, int64_t image,
					     size_t *count);

void stack_faults_deinit(struct stack_faults *faults);

#endif
