/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Distinguishes system files from files whose build-id or path may be forged.
 *
 * Users choose the build-ids of their files, and in their own mount namespaces the paths of all
 * files. So the build-id identifies only system files. These are files that only the superuser, or
 * the user of this process, can write, and that have the same path in our own root directory.
 */
#ifndef DCPI_IMAGE_SYSTEM_H
#define DCPI_IMAGE_SYSTEM_H

#include <stdbool.h>
#include <sys/stat.h>

#include "lib/file_identity.h"

/**
 * image_system_open() - open a path reported by the kernel, which has no symbolic links, in our
 * root directory
 *
 * Return: a descriptor (O_PATH); -1.
 */
int image_system_open(const char *path);

/**
 * struct image_system - a mapped file
 * @status:  its fstat(2)
 * @trusted: only the superuser or our user can write it
 * @system:  @trusted, and it has its path in our root directory. A deleted file is assumed to have
 *           had it if the path's directory is on the same file system
 */
struct image_system {
	struct stat status;
	bool trusted;
	bool system;
};

/**
 * image_system_get() - determine whether a file is a system file
 * @fd:   of a regular file (O_PATH)
 * @path: as reported by the kernel for the process
 *
 * Return: 0, or the error of fstat(2).
 */
int image_system_get(struct image_system *claim, int fd, const char *path);

#endif
