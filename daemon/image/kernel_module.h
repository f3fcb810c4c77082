/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A module as the kernel tells of it: a line of /proc/modules, and the build-id of
 * /sys/module.
 */
#ifndef DCPI_KERNEL_MODULE_H
#define DCPI_KERNEL_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "loader-hook/build_id.h"

#define KERNEL_MODULE_NAME_BYTES 64

/**
 * struct kernel_module - a module
 * @start: of its text
 * @bytes: of all its parts, which since Linux 6.4 are not in one range; while it begins, those
 *         of its beginning, too
 * @build_id: none if it was built without
 * @instance: of one without a build-id, another number each time it is loaded; else 0
 */
struct kernel_module {
	char name[KERNEL_MODULE_NAME_BYTES];
	uint64_t start;
	uint64_t bytes;
	struct build_id build_id;
	uint64_t instance;
};

/**
 * kernel_module_parse() - a line of /proc/modules
 * @directory: /sys/module
 *
 * The kernel lists a module a moment before it tells its build-id, by which it is to be
 * known, and for a moment when it does not tell any more.
 *
 * Return: whether it is one that is there, and all of it is known.
 */
bool kernel_module_parse(struct kernel_module *ret, const char *line, const char *directory);

/**
 * kernel_module_same() - whether two are the same code at the same place
 *
 * One that was loaded again need not be, although it often gets the same place.
 */
bool kernel_module_same(const struct kernel_module *one, const struct kernel_module *other);

/** kernel_module_notes() - the build-id in a file of ELF notes; none if there is none. */
void kernel_module_notes(struct build_id *ret, const char *path);

#endif
