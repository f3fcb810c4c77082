/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's images: its own text, its modules, the vDSO; and their symbols,
 * which exist only on the running system and are therefore kept with the
 * profile.
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
 * Without permission to see kernel addresses (kptr_restrict) there are none,
 * and kernel samples will be unknown; @err then says so, though the call
 * succeeds (its message is "" otherwise). The vDSO is always there.
 *
 * Code made at run time (BPF programs, ftrace trampolines) is in none of them:
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
 * struct kernel_paths - where a kernel describes itself
 * @kallsyms:  /proc/kallsyms; NULL: no image but the vDSO
 * @modules:   /proc/modules; need not exist
 * @notes:     /sys/kernel/notes
 * @module_directory: /sys/module
 */
struct kernel_paths {
	const char *kallsyms;
	const char *modules;
	const char *notes;
	const char *module_directory;
};

/** kernel_images_create_from() - the same, from other files; @paths must outlive @ret. */
int kernel_images_create_from(struct kernel_images **ret, const struct kernel_paths *paths,
			      struct image_table *table, struct image_map *map, struct error *err);

void kernel_images_destroy(struct kernel_images *kernel);

/**
 * kernel_images_refresh() - look for modules loaded or unloaded since
 *
 * Cheap when nothing changed (compares /proc/modules); else it reads kallsyms.
 * The text of a module unloaded stays known until something takes its place, or
 * kernel_images_expire(): samples of it may still be on their way.
 *
 * Return: 0 nothing has changed; 1 it has; or an error, and it may have.
 */
int kernel_images_refresh(struct kernel_images *kernel, struct error *err);

/** kernel_images_unsettled() - whether modules may have gone that were not forgotten yet. */
bool kernel_images_unsettled(const struct kernel_images *kernel);

/**
 * kernel_images_expire() - forget where modules were that had gone before @time_ns
 *
 * Other code may be there now, of which the image map knows nothing. Symbols stay.
 */
void kernel_images_expire(struct kernel_images *kernel, uint64_t time_ns);

/**
 * kernel_images_names() - find the image that has the symbols of an image
 *
 * Return: the kernel's number for the image of samples that probes cause, which has the same text
 * and in the database no symbols of its own; else @image.
 */
uint32_t kernel_images_names(const struct kernel_images *kernel, uint32_t image);

/**
 * kernel_images_symbols() - symbols of a kernel image, by number in the table
 * @symbols: out: malloc'd array, sorted by offset; freed with its @names
 * @names:   out: malloc'd memory that the symbols' names point into
 *
 * Those of the last reading of /proc/kallsyms if there are still some, else it
 * is read again, for all images at once: some 50 ms.
 *
 * Return: 0; -ENOENT the image is not the kernel's, or a module no longer loaded.
 */
int kernel_images_symbols(struct kernel_images *kernel, uint32_t image,
			  struct profile_symbol **symbols, size_t *count, char **names,
			  struct error *err);

/**
 * kernel_images_forget_symbols() - give back the memory of what was read
 *
 * A few megabytes since kernel_images_create(), or a change of modules. For each
 * time that all that had been flushed is merged, when who wanted symbols has taken
 * them. What has gone since that flush may have samples that come with the next:
 * a module's symbols are forgotten the second time after it came or went.
 */
void kernel_images_forget_symbols(struct kernel_images *kernel);

#endif
