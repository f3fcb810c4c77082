/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Builds unwind tables in a separate process, so that a file of another user can neither delay the
 * caller nor run code in it.
 *
 * The process is in a sandbox (lib/sandbox.h). It gets open files and returns tables in memory,
 * which the caller copies and checks. It is started for the first file, and again after it has
 * crashed or exceeded a limit; then the file has no table.
 *
 * A thread of the caller sends one file after the other, alternating between users. CPU time is
 * charged to the user of the process that needs the table. The budget is one of its own, as in
 * daemon/image/quota.h. Files of a user without points wait, and building pauses until there are
 * points again. Root has no budget. A file of root's processes may take UNWIND_BUILDER_ROOT_NS of
 * CPU time, that of another user UNWIND_BUILDER_USER_NS.
 */
#ifndef DCPI_UNWIND_BUILDER_H
#define DCPI_UNWIND_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/collect/image_unwind.h"
#include "daemon/unwind/unwind_table.h"
#include "lib/clock.h"

struct unwind_builder;

/* Maximum number of files that wait, and of one user except root. */
#define UNWIND_BUILDER_JOBS_MAX 64
#define UNWIND_BUILDER_USER_JOBS_MAX 16

/* CPU time: a program with 100 MB of code takes about a tenth of a second. */
#define UNWIND_BUILDER_ROOT_NS (5 * NS_PER_SECOND)
#define UNWIND_BUILDER_USER_NS (NS_PER_SECOND / 5)
/* Maximum elapsed time while building is not stopped: reading the file may block. */
#define UNWIND_BUILDER_ELAPSED_NS (60 * NS_PER_SECOND)

/**
 * struct unwind_job - a file to be read
 * @image: number of the image, for the caller
 * @uid:   user that is charged
 * @files: as from image_unwind_find()
 * @wanted: pages of the table. All results that wait have at most @bytes_max of other pages
 */
struct unwind_job {
	uint32_t image;
	uint32_t uid;
	struct image_unwind_identity identity;
	int files[IMAGE_UNWIND_FILES];
	struct unwind_wanted wanted;
};

/** struct unwind_result - @table: NULL: the image has none; the caller's. @wanted: of the job */
struct unwind_result {
	uint32_t image;
	struct unwind_table *table;
	struct unwind_wanted wanted;
};

/**
 * struct unwind_builder_counts - since the start
 * @cpu_ns:    CPU time of the process for files
 * @user_cpu_ns: part of it for users except root
 * @stopped:   number of files that exceeded a limit
 * @crashed:   number of files at which the process crashed
 * @open:      the kernel provides no seccomp filter
 */
struct unwind_builder_counts {
	uint64_t cpu_ns;
	uint64_t user_cpu_ns;
	uint64_t stopped;
	uint64_t crashed;
	bool open;
};

/** unwind_builder_create() - Return: NULL: out of memory, or no thread can be started. */
struct unwind_builder *unwind_builder_create(void);

/** unwind_builder_destroy() - end the process. Does not wait for a file system. May be NULL. */
void unwind_builder_destroy(struct unwind_builder *builder);

/**
 * unwind_builder_add() - queue a file
 * @job: copied; its descriptors become the builder's if the result is 0
 *
 * Return: 0; -EAGAIN: too many files wait.
 */
int unwind_builder_add(struct unwind_builder *builder, const struct unwind_job *job);

/** unwind_builder_result() - take a result. Return: false: there is none. */
bool unwind_builder_result(struct unwind_builder *builder, struct unwind_result *ret);

/**
 * unwind_builder_wait() - wait for a result
 * @until_ns: maximum, CLOCK_MONOTONIC
 *
 * Return: false: there is none, because no file waits or the time has passed.
 */
bool unwind_builder_wait(struct unwind_builder *builder, uint64_t until_ns);

struct unwind_builder_counts unwind_builder_counts(struct unwind_builder *builder);

#endif
