/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file behind a mapping of some process, in whatever mount namespace that
 * is, deleted or not.
 *
 * Opening has no side effects on what is found (O_PATH), and paths are
 * resolved as the process would, so that it cannot lead us elsewhere by
 * symbolic links.
 */
#ifndef DCPI_IMAGE_FILE_H
#define DCPI_IMAGE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/image/file_reader.h"
#include "db/profile.h"

struct image_event;

/**
 * struct image_file_key - a state of a file, while it exists
 * @device, @inode: the file, as stat(2) shows it
 * @bytes:       its size
 * @modified_ns: when it was last written, CLOCK_REALTIME
 * @changed_ns:  st_ctime, which no program can set; 0 in keys made from an event
 * @version:     in keys made from an event, its version; else 0
 */
struct image_file_key {
	uint64_t device;
	uint64_t inode;
	uint64_t bytes;
	uint64_t modified_ns;
	uint64_t changed_ns;
	uint64_t version;
};

/** image_file_get_key() - read the state of an open file. Return: 0; -ENODEV: no regular file. */
int image_file_get_key(int fd, struct image_file_key *key);

/**
 * image_file_open() - find the file an IMAGE_EVENT_MAP maps
 * @key: out
 *
 * If the process is gone, its path is tried in our own root. The event must then contain enough to
 * identify the file: size and time of its last change, or the generation of the inode. A file
 * that may be another one (the inode number was used again, or the file was written after it had
 * been mapped) is not accepted. @event has the time of this boot's CLOCK_MONOTONIC.
 *
 * Return: a descriptor that names the file (O_PATH); -ENOENT it cannot be
 * found any more, or what is there now is another file; -EACCES;
 * -ENODEV it is a device or something else that is no regular file.
 */
int image_file_open(const struct image_event *event, struct image_file_key *key);

/**
 * image_file_unchanged() - whether an IMAGE_EVENT_MAP maps a file in a state that is known
 * @state: of image_file_open(), for an event of the same device, inode and version
 *
 * One system call while the process has the mapping, two if it is gone.
 */
bool image_file_unchanged(const struct image_event *event, const struct image_file_key *state);

/**
 * image_file_open_recorded() - find the file that a process mapped when it was recorded
 * @before_ns: CLOCK_REALTIME: a file written later is another one
 * @key:       out
 *
 * The process' id may be another one's by now: its path is looked at, in our root.
 *
 * Return: as image_file_open().
 */
int image_file_open_recorded(const struct image_event *event, int64_t before_ns,
			     struct image_file_key *key);

/**
 * image_file_readable() - open what was found to read it
 * @fd: of a regular file (O_PATH): so opening it does nothing else, and waits for nobody
 *
 * Return: a descriptor, or -errno.
 */
int image_file_readable(int fd);

/**
 * image_file_pin() - the same, only ever through the mapping itself, and without
 * any I/O: needs CAP_CHECKPOINT_RESTORE (or CAP_SYS_ADMIN)
 *
 * Return: a descriptor (O_PATH), of what may be no regular file; -1.
 */
int image_file_pin(const struct image_event *event);

/**
 * struct image_file_claim - all that an event reports of a mapped file, to find it later
 * @device, @inode, @version: as in struct image_event; @inode 0: only the mapping leads to the file
 * @has_state:   @file_bytes and @modified_ns are known
 * @scanned:     the mapping existed at @before_ns, else it was made then
 * @before_ns:   CLOCK_REALTIME
 * @reader:      credentials of the process
 */
struct image_file_claim {
	uint64_t device;
	uint64_t inode;
	uint64_t version;
	uint64_t file_bytes;
	uint64_t modified_ns;
	uint64_t before_ns;
	bool has_state;
	bool scanned;
	struct file_reader reader;
};

/**
 * image_file_claim() - take from an IMAGE_EVENT_MAP what identifies its file
 *
 * If the event has no user, the process' credentials are read, as long as it runs.
 */
void image_file_claim(struct image_file_claim *claim, const struct image_event *event);

/**
 * image_file_check() - check a file that was opened through its mapping
 * @fd:     of image_file_pin(), for the event of @claim
 * @status: out
 *
 * Return: 0; -ESTALE: another file; -EPERM: the process' user may not read it; -ENODEV: no
 * regular file, or one of a file system that has only the kernel's data; another error.
 */
int image_file_check(const struct image_file_claim *claim, int fd, struct stat *status);

/**
 * image_file_open_claimed() - find a file by its path and by all that is known of it
 * @path:   in our root directory
 * @status: out
 *
 * Return: a descriptor (O_PATH); -ENOTUNIQ: it is not certain that the file at @path is the
 * mapped one; -ESTALE: it is another one, or there is none; else as image_file_check().
 */
int image_file_open_claimed(const struct image_file_claim *claim, const char *path,
			    struct stat *status);

/**
 * image_file_open_in_root() - a path as who has another root directory sees it
 * @root:  a descriptor of that directory
 * @flags: beside O_PATH, such as O_NOFOLLOW
 *
 * Return: a descriptor (O_PATH), of what may be no regular file; -1 and errno.
 */
int image_file_open_in_root(int root, const char *path, int flags);

/**
 * image_file_open_executable() - find the program that a process runs
 * @path: out: its name, as the kernel gives it
 * @key:  out
 *
 * Return: as image_file_open().
 */
int image_file_open_executable(uint32_t pid, char path[PATH_MAX], struct image_file_key *key);

/**
 * image_file_identify() - set an image's identity from its file
 * @fd: of image_file_open()
 *
 * Return: 0; -ENOEXEC no ELF file (its identity is a digest all the same), or
 * another error (no identity).
 */
int image_file_identify(struct profile_image *image, int fd, const struct image_file_key *key);

#endif
