/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes an ELF file in memory from the code that a database stores for an image that is in no file,
 * for code that reads ELF files.
 *
 * There are three layouts:
 *
 * - Code generated at run time: each procedure has a separate segment and section, at the virtual
 *   address that is its offset in the image. Procedures are so far apart that no relative branch,
 *   which was made for other addresses, leads from one to another.
 * - Kernel and modules: the image is one piece, but only procedures with samples are stored.
 *   Virtual addresses are offsets in the image, so branches between procedures lead to the right
 *   place. Text that is not stored has symbols and a section without bytes (SHT_NOBITS). The file
 * is marked as code of a kernel (ELFOSABI_STANDALONE).
 * - The vDSO is stored as the complete ELF file that it is.
 */
#ifndef DCPI_CODE_ELF_H
#define DCPI_CODE_ELF_H

#include <stdint.h>

#include "db/profile.h"

struct error;
struct profile_reader;

/**
 * code_elf_make() - make the file
 * @fd:   out: the caller closes it
 * @kind: of the image
 *
 * Return: 0; -ENOTSUP: no code of the image is stored; -ENOMEM; the reader's error.
 */
int code_elf_make(int *fd, struct profile_reader *reader, int64_t image,
		  enum profile_image_kind kind, struct error *err);

#endif
