/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find the file of a translated guest instruction, for plugins of QEMU's user mode. Images have
 * numbers; code outside of files is in an image named "[anonymous]", by its address in the process.
 * These functions end the process if there is no memory, since a plugin cannot return an error.
 */
#ifndef DCPI_TESTS_GUEST_IMAGE_H
#define DCPI_TESTS_GUEST_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "tests/eval/truth/qemu_plugin.h"

/** struct guest_place - an instruction: image number and offset in its file */
struct guest_place {
	uint32_t image;
	uint64_t offset;
};

/** guest_image_place() - find an instruction. @host: its address in QEMU; @guest: in the guest. */
struct guest_place guest_image_place(const void *host, uint64_t guest);

/** guest_image_watch() - from now on, notice changes of the mappings. */
void guest_image_watch(qemu_plugin_id_t id);

/** guest_image_path() - return the path of an image; it is never freed. */
const char *guest_image_path(uint32_t image);

/** guest_image_paths() - return the paths of all images so far. */
char *const *guest_image_paths(void);

/** struct guest_file - the mapped file of an image, for addresses; all zero if there is none. */
struct guest_file {
	const unsigned char *elf;
	size_t bytes;
};

/** guest_file_open() - map an image's file. If it cannot be read, the result has no addresses. */
struct guest_file guest_file_open(uint32_t image);
void guest_file_close(struct guest_file *file);

/**
 * guest_file_address() - return the ELF virtual address of a file offset, 32- and 64-bit files
 *
 * Return: the offset itself if no segment contains it.
 */
uint64_t guest_file_address(const struct guest_file *file, uint64_t offset);

/** guest_file_end() - return the ELF virtual address of the end of the last segment, or 0. */
uint64_t guest_file_end(const struct guest_file *file);

#endif
