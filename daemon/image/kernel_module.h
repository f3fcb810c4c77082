/* SPDX-License-Identifier: GPL-2.0-only */
/* A kernel module as described by a line of /proc/modules, and its build-id in /sys/module. */
#ifndef DCPI_KERNEL_MODULE_H
#define DCPI_KERNEL_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "loader-hook/build_id.h"

#define KERNEL_MODULE_NAME_BYTES 64

/**
 * struct kernel_module - a module
 * @start:    of its text
 * @bytes:    of all its parts, which since Linux 6.4 are not contiguous; includes its init parts
 *            during initialisation
 * @build_id: none if it was built without
 * @instance: without a build-id, a number that is different for each load; otherwise 0
 */
struct kernel_module {
	char name[KERNEL_MODULE_NAME_BYTES];
	uint64_t start;
	uint64_t bytes;
	struct build_id build_id;
	uint64_t instance;
};

/**
 * kernel_module_parse() - parse a line of /proc/modules
 * @directory: /sys/module
 *
 * The kernel lists a module shortly before its build-id appears, and shortly after it has
 * disappeared. Modules are identified by the build-id.
 *
 * Return: true if the module is loaded and all data of it are known.
 */
bool kernel_module_parse(struct kernel_module *ret, const char *line, const char *directory);

/**
 * kernel_module_same() - return true if both are the same code at the same place
 *
 * A module that was loaded again may differ, although it often gets the same place.
 */
bool kernel_module_same(const struct kernel_module *one, const struct kernel_module *other);

/** kernel_module_notes() - read the build-id from a file of ELF notes; none if there is none. */
void kernel_module_notes(struct build_id *ret, const char *path);

#endif
