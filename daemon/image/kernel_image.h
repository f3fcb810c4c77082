/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's images: its own text, its modules, the vDSO; and their symbols. The symbols exist
 * only on the running system and are therefore stored with the profile.
 */
#ifndef DCPI_KERNEL_IMAGE_H
#define DCPI_KERNEL_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "db/profile.h"

struct error;
struct image_map;
struct image_table;
struct kernel_images;

/**
 * kernel_images_create() - find the kernel's images and register them
 *
 * Without permission to see kernel addresses (kptr_restrict) no image is found, and kernel samples
 * will be unknown. Then the call succeeds, but sets the message of @err (otherwise to ""). The vDSO
 * is always registered.
 *
 * Code generated at run time (BPF programs, ftrace trampolines) is not included: see
 * daemon/jit/kernel_code.h.
 *
 * Return: 0 or -ENOMEM.
 */
int kernel_images_create(struct kernel_images **ret, struct image_table *table,
			 struct image_map *map, struct error *err);

/**
 * kernel_images_create_user() - register the vDSO only
 *
 * For samples of user mode: reading the kernel's symbols takes some 50 ms.
 *
 * Return: 0 or -ENOMEM.
 */
int kernel_images_create_user(struct kernel_images **ret, struct image_table *table,
			      struct image_map *map, struct error *err);

/**
 * struct kernel_paths - files that describe a kernel
 * @kallsyms:         /proc/kallsyms; NULL: no image except the vDSO
 * @modules:          /proc/modules; need not exist
 * @notes:            /sys/kernel/notes
 * @module_directory: /sys/module
 */
struct kernel_paths {
	const char *kallsyms;
	const char *modules;
	const char *notes;
	const char *module_directory;
};

/**
 * kernel_images_create_from() - as kernel_images_create(), from other files; @paths must outlive
 * @ret.
 */
int kernel_images_create_from(struct kernel_images **ret, const struct kernel_paths *paths,
			      struct image_table *table, struct image_map *map, struct error *err);

void kernel_images_destroy(struct kernel_images *kernel);

/**
 * kernel_images_refresh() - detect modules loaded or unloaded since the last call
 *
 * Cheap if nothing changed (compares /proc/modules); otherwise it reads kallsyms. The text of an
 * unloaded module stays known until its place is taken, or until kernel_images_expire(): samples of
 * it may still arrive.
 *
 * Return: 0: nothing has changed; 1: something has; or an error: something may have.
 */
int kernel_images_refresh(struct kernel_images *kernel, struct error *err);

/** kernel_images_unsettled() - return true if the image map may still contain unloaded modules. */
bool kernel_images_unsettled(const struct kernel_images *kernel);

/**
 * kernel_images_expire() - remove the text of modules that had been unloaded before @time_ns
 *
 * Other code, unknown to the image map, may be there now. Symbols are kept.
 */
void kernel_images_expire(struct kernel_images *kernel, uint64_t time_ns);

/**
 * kernel_images_names() - find the image that has the symbols of an image
 *
 * Return: the kernel's number for the image of samples caused by probes, which has the same text
 * but no symbols of its own in the database; otherwise @image.
 */
uint32_t kernel_images_names(const struct kernel_images *kernel, uint32_t image);

/**
 * kernel_images_symbols() - return the symbols of a kernel image, by number in the table
 * @symbols: out: allocated array, sorted by offset; freed with its @names
 * @names:   out: allocated memory that contains the symbols' names
 *
 * Uses the symbols of the last pass over /proc/kallsyms if available. Otherwise the file is read
 * again, for all images at once, which takes some 50 ms.
 *
 * Return: 0; -ENOENT if the image is not the kernel's, or of a module no longer loaded.
 */
int kernel_images_symbols(struct kernel_images *kernel, uint32_t image,
			  struct profile_symbol **symbols, size_t *count, char **names,
			  struct error *err);

/**
 * struct kernel_place - addresses of an image
 * @start:     address of its offset 0
 * @text_end:  first address after its text
 * @image_end: first address after its text and data, as far as they are in one piece
 */
struct kernel_place {
	uint64_t start;
	uint64_t text_end;
	uint64_t image_end;
};

/**
 * kernel_images_place() - return the addresses of an image
 *
 * Return: 0; -ENOENT: the image is not the kernel's, or of a module that was unloaded.
 */
int kernel_images_place(const struct kernel_images *kernel, uint32_t image,
			struct kernel_place *ret);

/** kernel_images_is_vdso() - return true for the image of the vDSO of 64-bit processes. */
bool kernel_images_is_vdso(const struct kernel_images *kernel, uint32_t image);

/**
 * kernel_images_is_current() - return true if no module was loaded or unloaded since the last
 * kernel_images_refresh()
 */
bool kernel_images_is_current(const struct kernel_images *kernel);

/**
 * kernel_images_forget_symbols() - free the symbols that were read
 *
 * They take a few megabytes after kernel_images_create(), or a change of modules. Call this
 * whenever everything that was flushed has been merged, and all required symbols have been taken. A
 * module that was unloaded since that flush may have samples in the next one. So a module's symbols
 * are freed by the second call after it was loaded or unloaded.
 */
void kernel_images_forget_symbols(struct kernel_images *kernel);

#endif
