/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds programs to run. */
#ifndef DCPI_PROGRAM_PATH_H
#define DCPI_PROGRAM_PATH_H

#define PROGRAM_PATH_BYTES 4096

/** program_path_find() - find a program as a shell does. Return: 0; -ENOENT. */
int program_path_find(char path[PROGRAM_PATH_BYTES], const char *name);

/** program_path_sibling() - find a program next to this one, or else in PATH. Return: 0; -ENOENT.
 */
int program_path_sibling(char path[PROGRAM_PATH_BYTES], const char *name);

#endif
