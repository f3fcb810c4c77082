/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which file a translated instruction of the guest comes from, for plugins of
 * QEMU's user mode. Images have numbers; code outside of files is in an image
 * named "[anonymous]", by its address in the process. Without memory these end
 * the process: a plugin has nobody to tell.
 */
#ifndef DCPI_TESTS_GUEST_IMAGE_H
#define DCPI_TESTS_GUEST_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "tests/truth/qemu_plugin.h"

/** struct guest_place - an instruction: image number and offset in its file */
struct guest_place {
	uint32_t image;
	uint64_t offset;
};

/** guest_image_place() - of an instruction. @host: where QEMU has it; @guest: its address. */
struct guest_place guest_image_place(const void *host, uint64_t guest);

/** guest_image_watch() - notice, from now on, that what is mapped has changed. */
void guest_image_watch(qemu_plugin_id_t id);

/** guest_image_path() - of an image; lives for ever. */
const char *guest_image_path(uint32_t image);

/** guest_image_paths() - of all images so far. */
char *const *guest_image_paths(void);

/** struct guest_file - an image's file, for addresses; all zero: none. */
struct guest_file {
	const unsigned char *elf;
	size_t bytes;
};

/** guest_file_open() - map an image's file. One that can't be read gives no addresses. */
struct guest_file guest_file_open(uint32_t image);
void guest_file_close(struct guest_file *file);

/**
 * guest_file_address() - the ELF virtual address of an offset, 32- and 64-bit files
 *
 * Return: the offset itself if no segment holds it.
 */
uint64_t guest_file_address(const struct guest_file *file, uint64_t offset);

/** guest_file_end() - the ELF virtual address behind its last segment; 0: there is none. */
uint64_t guest_file_end(const struct guest_file *file);

#endif
