/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The images that the daemon has seen, each with a small number that is valid as long as the table.
 * A system file is identified by its build-id; without one, by a digest of the file; by its path
 * only if the file cannot be read. A system file is one that only the superuser or our user can
 * write, and that has its path in our root directory, too: see daemon/image/image_system.h.
 *
 * Any other file can forge the build-id and path of a system file. It is a separate image,
 * PROFILE_IDENTITY_FILE, until a thread has read its contents. The image then gets
 * PROFILE_IDENTITY_CONTENT, the same as all files of that owner with the same contents. If a mapped
 * system file has the same contents, the image becomes that of the system file.
 * image_table_settle() applies these results: images change only there.
 *
 * Every mapped image gets a number. There are 131072 numbers, and 64 MB for the images, mostly for
 * their paths; images with the same path share it. The number of an image that was never sampled
 * and is no longer mapped is reclaimed (image_table_limit()). image_table_crowded() reports that
 * numbers are nevertheless running out. Then the table should be replaced, together with all
 * objects that contain its numbers.
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

/* Number of the image for samples that match no other; always exists. */
#define IMAGE_UNKNOWN 0

int image_table_create(struct image_table **ret, struct error *err);
void image_table_destroy(struct image_table *table);

/**
 * image_table_count() - return the count of numbers, 0 .. count - 1; free ones are images of kind
 * UNKNOWN.
 */
uint32_t image_table_count(const struct image_table *table);

/** image_table_used() - return how many numbers are in use. */
uint32_t image_table_used(const struct image_table *table);

/**
 * struct image_table_limits - limits of users on images
 * @quota:   of the users
 * @user:    finds the account of the process that mapped an image
 * @sweep:   called when numbers run out: calls image_table_reclaim()
 * @forget:  called when the number of an image is reclaimed
 * @context: argument of these
 */
struct image_table_limits {
	struct quota *quota;
	struct quota_user *(*user)(void *context, uint32_t pid);
	void (*sweep)(void *context);
	void (*forget)(void *context, uint32_t image);
	void *context;
};

/** image_table_limit() - limit users, and reclaim numbers. @limits: copied */
void image_table_limit(struct image_table *table, const struct image_table_limits *limits);

/** image_table_sampled() - record that an image has samples: it keeps its number. */
void image_table_sampled(struct image_table *table, uint32_t image);

/**
 * image_table_reclaim() - reclaim the numbers of files without samples that are no longer mapped
 * @mapped: a bit for each number
 */
void image_table_reclaim(struct image_table *table, const uint8_t *mapped);

/**
 * image_table_get() - return an image; valid until the table is destroyed
 *
 * The image of a file that other users can write changes once: see image_table_settle().
 */
const struct profile_image *image_table_get(const struct image_table *table, uint32_t image);

/**
 * image_table_add() - find an image by kind and identity, or add it
 * @image: copied
 *
 * Return: its number, or -ENOMEM, also if it would exceed 131072 images, 64 MB, or the limits of
 * the user.
 */
int image_table_add(struct image_table *table, const struct profile_image *image);

/**
 * image_table_settle() - apply the results of the thread that reads the contents of files
 * @wait_ns: maximum time to wait for files that are still to be read; 0: do not wait
 */
void image_table_settle(struct image_table *table, uint64_t wait_ns);

/**
 * image_table_is_named() - return true if the identity of an image includes the build-id of its
 * file, or the file has none; otherwise the file has not been read yet
 */
bool image_table_is_named(const struct image_table *table, uint32_t image);

/** image_table_revision() - return a number that changes whenever an image changes. */
uint64_t image_table_revision(const struct image_table *table);

/**
 * image_table_crowded() - return true if three quarters of the numbers, or of the memory, are used
 *
 * Reclaims numbers first, if that is due.
 */
bool image_table_crowded(struct image_table *table);

/** image_table_bytes() - return the memory of the table. */
size_t image_table_bytes(const struct image_table *table);

/**
 * image_table_refused() - return how often an image got no number, because of the limits or lack of
 * memory.
 */
uint64_t image_table_refused(const struct image_table *table);

/**
 * image_table_vdso() - return the vDSO of this machine's 64-bit processes
 *
 * Return: its number; -ENOMEM.
 */
int image_table_vdso(struct image_table *table);

/**
 * struct image_recording - a recording of events from the past
 * @here:      recorded on this machine, so that its files may be opened
 * @vdso_here: recorded with this kernel, so that its vDSO is ours
 * @until_ns:  end of the recording, CLOCK_REALTIME
 */
struct image_recording {
	bool here;
	bool vdso_here;
	int64_t until_ns;
};

/** image_table_recorded() - declare that all events are recorded: no process is examined. */
void image_table_recorded(struct image_table *table, const struct image_recording *recording);

/** Called with the image of an event; @context is the watcher's. */
typedef void (*image_table_watch_fn)(void *context, struct image_table *table, uint32_t image,
				     const struct image_event *event);

/** image_table_watch() - have image_table_from_event() report each image that it finds. */
void image_table_watch(struct image_table *table, image_table_watch_fn watch, void *context);

/** image_table_is_memory() - return true if an IMAGE_EVENT_MAP maps memory without a file. */
bool image_table_is_memory(const struct image_event *event);

/**
 * image_table_jit() - return the image of code generated at run time by the program of a process
 *
 * There is one image for all processes of a program that belong to root or our own user, and one
 * for those of each other user. It has the identity of the program's executable, and of that user.
 *
 * Return: its number; -ENOMEM.
 */
int image_table_jit(struct image_table *table, uint32_t pid);

/**
 * image_table_jit_of() - return the image of the JIT code of a program
 * @program: image of its executable; IMAGE_UNKNOWN: unknown
 *
 * Return: its number; -ENOMEM.
 */
int image_table_jit_of(struct image_table *table, uint32_t program);

/**
 * image_table_from_event() - return the image of an IMAGE_EVENT_MAP
 *
 * The file is opened through /proc/PID/map_files or /proc/PID/root, so that deleted files and other
 * mount namespaces work. It is not opened if the event has a build-id, unless another user's
 * process has sent the event itself, nor if the event shows that the file was opened before. The
 * file is read only if no file of that device, inode, size and time of change has been read before.
 * If it cannot be found any more, the last file with the event's (device, inode) is assumed.
 *
 * Return: its number; -ENOENT if the mapping is not an image (anonymous memory, a device); -ENOMEM,
 * also if the user of the event has no points left for opening files.
 */
int image_table_from_event(struct image_table *table, const struct image_event *event);

#endif
