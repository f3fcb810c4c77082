/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes an ELF file in memory from the run-time generated code that a database stores for an image,
 * for code that reads ELF files.
 *
 * Each procedure has a separate segment and section, at the virtual address that is its offset in
 * the image. Procedures are so far apart that no relative branch, which was made for other
 * addresses, leads from one to another.
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
 * Return: 0; -ENOTSUP: no code of the image is stored; -ENOMEM; the reader's error.
 */
int jit_elf_make(int *fd, struct profile_reader *reader, int64_t image, struct error *err);

#endif
