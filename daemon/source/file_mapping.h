/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find the file that is mapped at an address of a process, to read code without breakpoints of
 * probes.
 */
#ifndef DCPI_FILE_MAPPING_H
#define DCPI_FILE_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

/** struct file_place - a byte of a file, identified as in /proc/PID/maps; @inode 0: no file */
struct file_place {
	uint64_t device;
	uint64_t inode;
	uint64_t offset;
};

static inline bool file_place_is(const struct file_place *a, const struct file_place *b)
{
	return a->device == b->device && a->inode == b->inode && a->offset == b->offset;
}

/** file_place_after() - return the place @bytes after another one */
static inline struct file_place file_place_after(struct file_place place, uint64_t bytes)
{
	place.offset += bytes;
	return place;
}

/**
 * struct file_mapping - [@start, @end) maps the file from @from on; zero-initialised is none
 * @fd: the file, for reading; -errno if it cannot be opened or no longer exists
 */
struct file_mapping {
	uint64_t start;
	uint64_t end;
	struct file_place from;
	int fd;
};

/**
 * file_mapping_find() - find an executable mapping
 * @ret: out; closed by file_mapping_close()
 *
 * @ret->fd is the file that is mapped (image_file_open()), even if its path refers to another file
 * by now. An unprivileged process cannot open a file that was replaced. Anonymous mappings are not
 * found.
 *
 * Return: 0; -EINVAL if no code of a file is mapped there; otherwise as process_scan().
 */
int file_mapping_find(struct file_mapping *ret, uint32_t pid, uint64_t address);

/**
 * file_mapping_find_named() - find an executable mapping that the kernel has named
 * @name: as in /proc/PID/maps, such as "[uprobes]"
 *
 * Return: 0; -ENOENT if there is none; otherwise as process_scan().
 */
int file_mapping_find_named(uint64_t *start, uint64_t *end, uint32_t pid, const char *name);

/** file_mapping_place() - return the place of an address within a mapping */
static inline struct file_place file_mapping_place(const struct file_mapping *mapping,
						   uint64_t address)
{
	return file_place_after(mapping->from, address - mapping->start);
}

/**
 * file_mapping_others() - find out whether a process maps code a second time
 * @mapping: of the process
 *
 * Another mapping of the same bytes, with any permissions, may be read as data. Mappings that are
 * shared or writable do not count, because the kernel places no breakpoints there.
 *
 * Return: 1 if there is another one; 0; -errno if the mappings cannot be read.
 */
int file_mapping_others(uint32_t pid, const struct file_mapping *mapping);

/** file_mapping_close() - close the file and clear the mapping. */
void file_mapping_close(struct file_mapping *mapping);

#endif
