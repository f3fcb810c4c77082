/* SPDX-License-Identifier: GPL-2.0-only */
/* Which file is mapped at an address of a process: to read code where no probe hides it. */
#ifndef DCPI_FILE_MAPPING_H
#define DCPI_FILE_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

/** struct file_place - a byte of a file, as /proc/PID/maps names it; @inode 0: of none */
struct file_place {
	uint64_t device;
	uint64_t inode;
	uint64_t offset;
};

static inline bool file_place_is(const struct file_place *a, const struct file_place *b)
{
	return a->device == b->device && a->inode == b->inode && a->offset == b->offset;
}

/** file_place_behind() - so many bytes behind another */
static inline struct file_place file_place_behind(struct file_place place, uint64_t bytes)
{
	place.offset += bytes;
	return place;
}

/**
 * struct file_mapping - [@start, @end) is the file from @from on; zero-initialised is none
 * @fd: the file, for reading; -errno: it cannot be opened, or is not to be found any more
 */
struct file_mapping {
	uint64_t start;
	uint64_t end;
	struct file_place from;
	int fd;
};

/**
 * file_mapping_find() - executable ones
 * @ret: out; closed by file_mapping_close()
 *
 * The file is the one that is mapped (image_file_open()), whatever its path leads to by
 * now: without privilege one that was replaced is not found. Mappings of no file are none.
 *
 * Return: 0; -EINVAL no file's code is there; else as process_scan().
 */
int file_mapping_find(struct file_mapping *ret, uint32_t pid, uint64_t address);

/**
 * file_mapping_find_named() - find an executable mapping that the kernel has named
 * @name: as in /proc/PID/maps, such as "[uprobes]"
 *
 * Return: 0; -ENOENT there is none; else as process_scan().
 */
int file_mapping_find_named(uint64_t *start, uint64_t *end, uint32_t pid, const char *name);

/** file_mapping_place() - of an address in it */
static inline struct file_place file_mapping_place(const struct file_mapping *mapping,
						   uint64_t address)
{
	return file_place_behind(mapping->from, address - mapping->start);
}

/** file_mapping_close() - there is none any more. */
void file_mapping_close(struct file_mapping *mapping);

#endif
