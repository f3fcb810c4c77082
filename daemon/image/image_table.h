/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The images the daemon has met, each with a small number that stays valid as
 * long as the table. The identity of a file of the system is its build-id; without one, a
 * digest of the file; a path only where the file cannot be read. A file of the system is one that
 * only the superuser or our user can write, and that has its path in our root directory too: see
 * daemon/image/image_system.h.
 *
 * Any other file can have the build-id and the path of a file of the system. It is an image of its
 * own, PROFILE_IDENTITY_FILE, until a thread has read its contents. The image then gets
 * PROFILE_IDENTITY_CONTENT, as all files of that owner with the same contents. If a file of the
 * system that has been mapped has the same contents, the image becomes that of the file of the
 * system. image_table_settle() takes these results: only there does an image change.
 *
 * Every image that is mapped gets a number. There are 131072 of them, and
 * 64 MB for the images, paths above all; images of one path share it. An image that
 * was never sampled and is mapped no more gives its number back (image_table_limit()).
 * image_table_crowded() reports that numbers run short nevertheless. Then another table should take
 * the place of this one, and all objects that have its numbers should be replaced.
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
struct quota;
struct quota_user;

/* Number of the image for samples that match nothing: always there. */
#define IMAGE_UNKNOWN 0

int image_table_create(struct image_table **ret, struct error *err);
void image_table_destroy(struct image_table *table);

/** image_table_count() - numbers are 0 .. count - 1; free ones are images of kind UNKNOWN. */
uint32_t image_table_count(const struct image_table *table);

/** image_table_used() - the numbers that are in use. */
uint32_t image_table_used(const struct image_table *table);

/**
 * struct image_table_limits - limits of users on images
 * @quota:   of the users
 * @user:    finds the account of the process that mapped an image
 * @sweep:   called when numbers run short: calls image_table_reclaim()
 * @forget:  called when the number of an image is given back
 * @context: of these
 */
struct image_table_limits {
	struct quota *quota;
	struct quota_user *(*user)(void *context, uint32_t pid);
	void (*sweep)(void *context);
	void (*forget)(void *context, uint32_t image);
	void *context;
};

/** image_table_limit() - limit users, and reuse numbers. @limits: copied */
void image_table_limit(struct image_table *table, const struct image_table_limits *limits);

/** image_table_sampled() - an image has samples: it keeps its number. */
void image_table_sampled(struct image_table *table, uint32_t image);

/**
 * image_table_reclaim() - give back the numbers of files without samples that are mapped no more
 * @mapped: a bit for each number
 */
void image_table_reclaim(struct image_table *table, const uint8_t *mapped);

/**
 * image_table_get() - an image; valid until the table is destroyed
 *
 * The image of a file that others can write changes once: see image_table_settle().
 */
const struct profile_image *image_table_get(const struct image_table *table, uint32_t image);

/**
 * image_table_add() - find an image by kind and identity, or add it
 * @image: copied
 *
 * Return: its number, or -ENOMEM, also beyond 131072 images or 64 MB, or the limits of the user.
 */
int image_table_add(struct image_table *table, const struct profile_image *image);

/**
 * image_table_settle() - take identities of files from the thread that reads their contents
 * @wait_ns: how long to wait for files that are still to be read; 0: not at all
 */
void image_table_settle(struct image_table *table, uint64_t wait_ns);

/** image_table_revision() - a number that changes if an image has changed. */
uint64_t image_table_revision(const struct image_table *table);

/**
 * image_table_crowded() - Return: whether three quarters of the numbers, or of the room, are gone
 *
 * Takes numbers back first, if that is due.
 */
bool image_table_crowded(struct image_table *table);

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
 * The file is looked up through /proc/PID/map_files or /proc/PID/root, so that deleted files and
 * other mount namespaces work. It is not if the event has a build-id, unless another user's process
 * has sent the event itself, nor if the event shows that the file was looked up before. The file is
 * read only if no file of that device, inode, size and time of change has been read before. If it
 * cannot be found any more, the last file of the event's (device, inode) is assumed.
 *
 * Return: its number; -ENOENT if the mapping is no image (anonymous memory,
 * a device); -ENOMEM, also if the user of the event has no points left for looking at files.
 */
int image_table_from_event(struct image_table *table, const struct image_event *event);

#endif
