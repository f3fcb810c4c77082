/* SPDX-License-Identifier: GPL-2.0-only */
/* Sections compressed with Zstandard, which libelf before 0.189 does not decompress. */
#ifndef DCPI_ZSTD_SECTIONS_H
#define DCPI_ZSTD_SECTIONS_H

#include "analysis/image/elf_file.h"

/**
 * zstd_sections_expand() - copy a file to memory with all such sections decompressed
 * @ret:  out; closed by elf_file_close()
 * @file: owned by the caller. Little-endian files only
 *
 * A section with damaged contents stays compressed.
 *
 * Return: 0; -ENOENT if the file has no such section; -EFBIG if the copy would exceed 1 GiB;
 * -ENOEXEC; -EIO; -ENOMEM.
 */
int zstd_sections_expand(struct elf_file *ret, const struct elf_file *file);

#endif
