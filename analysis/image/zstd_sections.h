/* SPDX-License-Identifier: GPL-2.0-only */
/* Sections compressed with Zstandard, which libelf before 0.189 does not decompress. */
#ifndef DCPI_ZSTD_SECTIONS_H
#define DCPI_ZSTD_SECTIONS_H

#include "analysis/image/elf_file.h"

/**
 * zstd_sections_expand() - make a copy of a file, in memory, with these sections decompressed
 * @ret:  out; closed by elf_file_close()
 * @file: stays the caller's. Little-endian files only
 *
 * A section with damaged contents stays compressed.
 *
 * Return: 0; -ENOENT the file has no such section; -EFBIG the copy would have more than 1 GiB;
 * -ENOEXEC; -EIO; -ENOMEM.
 */
int zstd_sections_expand(struct elf_file *ret, const struct elf_file *file);

#endif
