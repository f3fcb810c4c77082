/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code made at run time that a database keeps of an image, as an ELF file
 * in memory, for what reads such files.
 *
 * Each procedure is a segment and a section of its own, at the virtual address
 * that is its offset in the image. They are so far apart that no distance in
 * the code, which was made for other addresses, leads from one to another.
 */
#ifndef DCPI_JIT_ELF_H
#define DCPI_JIT_ELF_H

#include <stdint.h>

struct error;
struct profile_reader;

/**
 * jit_elf_make() - make the file
 * @fd: out: the caller closes it
 *
 * Return: 0; -ENOTSUP no code is kept of the image; -ENOMEM; the reader's error.
 */
int jit_elf_make(int *fd, struct profile_reader *reader, int64_t image, struct error *err);

#endif
