/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The images the daemon has met, each with a small number that stays valid as
 * long as the table. An image's identity is its build-id; without one, a
 * digest of the file; a path only where the file cannot be read.
 *
 * Every image that is mapped gets a number, and keeps it: there are 131072 of them, and
 * 64 MB for what is known of them, paths above all; images of one path share it.
 * image_table_crowded() tells in time that another table, with all that has numbers of this one,
 * should take its place.
 */
#ifndef DCPI_IMAGE_TABLE_H
#define DCPI_IMAGE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/profile.h"

struct error;
struct image_event;
struct image_table;

/* Number of the image for samples that match nothing: always there. */
#define IMAGE_UNKNOWN 0

int image_table_create(struct image_table **ret, struct error *err);
void image_table_destroy(struct image_table *table);

/** image_table_count() - images so far; numbers are 0 .. count - 1. */
uint32_t image_table_count(const struct image_table *table);

/** image_table_get() - an image; valid until the table is destroyed. */
const struct profile_image *image_table_get(const struct image_table *table, uint32_t image);

/**
 * image_table_add() - find an image by kind and identity, or add it
 * @image: copied
 *
 * Return: its number, or -ENOMEM, also beyond 131072 images or 64 MB.
 */
int image_table_add(struct image_table *table, const struct profile_image *image);

/** image_table_crowded() - whether three quarters of the numbers, or of the room, are gone. */
bool image_table_crowded(const struct image_table *table);

/** image_table_bytes() - memory of the table. */
size_t image_table_bytes(const struct image_table *table);

/** image_table_refused() - how often an image got no number, for there was none or no memory. */
uint64_t image_table_refused(const struct image_table *table);

/**
 * image_table_vdso() - the vDSO of this machine's 64-bit processes
 *
 * Return: its number; -ENOMEM.
 */
int image_table_vdso(struct image_table *table);

/**
 * struct image_recording - of events that are not of this moment
 * @here:      of this machine, so that its files may be looked at
 * @vdso_here: and of this kernel, so that its vDSO is ours
 * @until_ns:  when it ended, CLOCK_REALTIME
 */
struct image_recording {
	bool here;
	bool vdso_here;
	int64_t until_ns;
};

/** image_table_recorded() - all events are of a recording: no process is looked at. */
void image_table_recorded(struct image_table *table, const struct image_recording *recording);

/** Called with the image behind an event; @context is the watcher's. */
typedef void (*image_table_watch_fn)(void *context, struct image_table *table, uint32_t image,
				     const struct image_event *event);

/** image_table_watch() - have image_table_from_event() tell of each image it finds. */
void image_table_watch(struct image_table *table, image_table_watch_fn watch, void *context);

/** image_table_is_memory() - whether an IMAGE_EVENT_MAP is of memory that is no file's. */
bool image_table_is_memory(const struct image_event *event);

/**
 * image_table_jit() - the code made at run time by the program that a process runs
 *
 * One image for all processes of a program: it has the identity of the
 * program's executable, which tells the programs apart.
 *
 * Return: its number; -ENOMEM.
 */
int image_table_jit(struct image_table *table, uint32_t pid);

/**
 * image_table_jit_of() - the JIT code of a program
 * @program: image of its executable; IMAGE_UNKNOWN: not known
 *
 * Return: its number; -ENOMEM.
 */
int image_table_jit_of(struct image_table *table, uint32_t program);

/**
 * image_table_from_event() - the image behind an IMAGE_EVENT_MAP
 *
 * The file is looked up only if the event has no build-id, and does not tell
 * enough to know that it was looked up before, through
 * /proc/PID/map_files or /proc/PID/root, so that deleted files and other mount
 * namespaces work; and read only if no file of that device, inode, size and
 * time of change has been read before. If it cannot be found any more, what
 * the event's (device, inode) was last time stands in.
 *
 * Return: its number; -ENOENT if the mapping is no image (anonymous memory,
 * a device); -ENOMEM.
 */
int image_table_from_event(struct image_table *table, const struct image_event *event);

#endif
