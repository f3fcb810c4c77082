/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks which files the user of a profiled process may read. The daemon may read every file, and
 * its copies of images are visible to other users. So it copies only files that the process itself
 * could have read.
 *
 * The checks are stricter than the kernel's if the credentials are not known completely.
 */
#ifndef DCPI_FILE_READER_H
#define DCPI_FILE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define FILE_READER_GROUPS_MAX 16

/**
 * struct file_reader - credentials of a process, in the initial user namespace
 * @known:      the next two fields are known; if not, the process may belong to any user
 * @user:       real user id: that of the user that started a set-user-ID program
 * @file_user:  user id with which the kernel checks file accesses
 * @has_groups: @groups contains all groups of the process; if not, it may have others
 * @groups:     @group_count entries
 */
struct file_reader {
	bool known;
	bool has_groups;
	uint32_t user;
	uint32_t file_user;
	uint32_t groups[FILE_READER_GROUPS_MAX];
	size_t group_count;
};

/**
 * file_reader_of_process() - read the credentials of a process
 *
 * Return: 0; -ESRCH if the process has exited, or its credentials cannot be read.
 */
int file_reader_of_process(struct file_reader *reader, uint32_t pid);

/**
 * file_reader_permits() - check by mode, owner, group and access control list
 * @fd:     of the file; O_PATH suffices
 * @status: of the file
 *
 * Both ids of the process must be permitted to read. A process without privileges may
 * use this with unknown credentials: the kernel checks its own accesses.
 */
bool file_reader_permits(const struct file_reader *reader, int fd, const struct stat *status);

/**
 * file_reader_open() - open a file by a path that has no symbolic links
 * @path: absolute
 *
 * The reader must be permitted to search every directory of the path.
 *
 * Return: a descriptor (O_PATH), of any kind of file; -EPERM if a directory may not be searched;
 * -ELOOP if the path has a symbolic link; another error.
 */
int file_reader_open(const struct file_reader *reader, const char *path);

#endif
