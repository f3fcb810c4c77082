/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Distinguishes files of the system from files that may have a forged build-id or path.
 *
 * Users choose the build-ids of their files, and in their own mount namespaces the paths of all
 * files. The build-id is an identity for files of the system only. These are files that only the
 * superuser, or the user of this process, can write, and that have their path in our own root
 * directory too.
 */
#ifndef DCPI_IMAGE_SYSTEM_H
#define DCPI_IMAGE_SYSTEM_H

#include <stdbool.h>
#include <sys/stat.h>

#include "lib/file_identity.h"

/**
 * image_system_open() - open a path in our root directory as the kernel gives paths: without
 * symbolic links
 *
 * Return: a descriptor (O_PATH); -1.
 */
int image_system_open(const char *path);

/**
 * struct image_system - a mapped file
 * @status:  its fstat(2)
 * @trusted: only the superuser or our user can write it
 * @system:  and it has its path in our root directory. A deleted file had: its directory is on
 *           its file system
 */
struct image_system {
	struct stat status;
	bool trusted;
	bool system;
};

/**
 * image_system_get() - find out whether a file is one of the system
 * @fd:   of a regular file (O_PATH)
 * @path: as the kernel gives it to the process
 *
 * Return: 0, or the error of fstat(2).
 */
int image_system_get(struct image_system *claim, int fd, const char *path);

#endif
