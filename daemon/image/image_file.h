/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file of a mapping of any process, in any mount namespace, even if it was deleted.
 *
 * Opening has no side effects on the file (O_PATH). Paths are resolved as the process would resolve
 * them, so that a process cannot redirect the daemon by symbolic links.
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
 * struct image_file_key - the state of a file
 * @device, @inode: as shown by stat(2)
 * @bytes:          its size
 * @modified_ns:    when it was last written, CLOCK_REALTIME
 * @changed_ns:     st_ctime, which no program can set; 0 in keys made from an event
 * @version:        in keys made from an event, its version; otherwise 0
 */
struct image_file_key {
	uint64_t device;
	uint64_t inode;
	uint64_t bytes;
	uint64_t modified_ns;
	uint64_t changed_ns;
	uint64_t version;
};

/**
 * image_file_get_key() - read the state of an open file. Return: 0; -ENODEV: not a regular file.
 */
int image_file_get_key(int fd, struct image_file_key *key);

/**
 * image_file_open() - find the file that an IMAGE_EVENT_MAP maps
 * @key: out
 *
 * If the process is gone, its path is tried in our own root directory. The event must then identify
 * the file by its size and the time of its last change, or by the generation of the inode. A file
 * that may be another one is not accepted: one with a reused inode number, or written after it had
 * been mapped. The time of @event is CLOCK_MONOTONIC of this boot.
 *
 * Return: a descriptor that names the file (O_PATH); -ENOENT if the file is gone or was replaced by
 * another; -EACCES; -ENODEV if it is not a regular file.
 */
int image_file_open(const struct image_event *event, struct image_file_key *key);

/**
 * image_file_unchanged() - return true if an IMAGE_EVENT_MAP maps a file in a known state
 * @state: of image_file_open(), for an event of the same device, inode and version
 *
 * Makes one system call while the process has the mapping, two if the mapping is gone.
 */
bool image_file_unchanged(const struct image_event *event, const struct image_file_key *state);

/**
 * image_file_open_recorded() - find the file that a process mapped when it was recorded
 * @before_ns: CLOCK_REALTIME: a file written later is another one
 * @key:       out
 *
 * The process's id may belong to another process by now, so its path is opened in our root
 * directory.
 *
 * Return: as image_file_open().
 */
int image_file_open_recorded(const struct image_event *event, int64_t before_ns,
			     struct image_file_key *key);

/**
 * image_file_readable() - open a file for reading
 * @fd: of a regular file (O_PATH), so that opening has no side effects and does not block
 *
 * Return: a descriptor, or -errno.
 */
int image_file_readable(int fd);

/**
 * image_file_pin() - open the file of a mapping through the mapping itself, without any I/O
 *
 * Needs CAP_CHECKPOINT_RESTORE (or CAP_SYS_ADMIN).
 *
 * Return: a descriptor (O_PATH), possibly not of a regular file; -1.
 */
int image_file_pin(const struct image_event *event);

/**
 * struct image_file_claim - all information of an event about a mapped file, to find it later
 * @device, @inode, @version: as in struct image_event; @inode 0: the file can be found only through
 *                            the mapping
 * @has_state:                @file_bytes and @modified_ns are known
 * @scanned:                  the mapping existed at @before_ns; otherwise it was created then
 * @before_ns:                CLOCK_REALTIME
 * @reader:                   credentials of the process
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
 * image_file_claim() - copy the identification of its file from an IMAGE_EVENT_MAP
 *
 * If the event has no user, the credentials of the process are read, if it still runs.
 */
void image_file_claim(struct image_file_claim *claim, const struct image_event *event);

/**
 * image_file_check() - check a file that was opened through its mapping
 * @fd:     of image_file_pin(), for the event of @claim
 * @status: out
 *
 * Return: 0; -ESTALE: another file; -EPERM: the process's user may not read it; -ENODEV: not a
 * regular file, or in a file system that contains only the kernel's data; another error.
 */
int image_file_check(const struct image_file_claim *claim, int fd, struct stat *status);

/**
 * image_file_open_claimed() - find a file by its path and its identification
 * @path:   in our root directory
 * @status: out
 *
 * Return: a descriptor (O_PATH); -ENOTUNIQ: the file at @path may not be the mapped one; -ESTALE:
 * it is another file, or there is none; otherwise as image_file_check().
 */
int image_file_open_claimed(const struct image_file_claim *claim, const char *path,
			    struct stat *status);

/**
 * image_file_open_in_root() - open a path relative to another root directory
 * @root:  a descriptor of that directory
 * @flags: in addition to O_PATH, such as O_NOFOLLOW
 *
 * Return: a descriptor (O_PATH), possibly not of a regular file; -1 and errno.
 */
int image_file_open_in_root(int root, const char *path, int flags);

/**
 * image_file_open_executable() - find the program that a process runs
 * @path: out: its name, as reported by the kernel
 * @key:  out
 *
 * Return: as image_file_open().
 */
int image_file_open_executable(uint32_t pid, char path[PATH_MAX], struct image_file_key *key);

/**
 * image_file_identify() - set an image's identity from its file
 * @fd: of image_file_open()
 *
 * Return: 0; -ENOEXEC if it is not an ELF file (its identity is then a digest), or another error
 * (no identity).
 */
int image_file_identify(struct profile_image *image, int fd, const struct image_file_key *key);

#endif
