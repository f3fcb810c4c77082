/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When are two pieces of JIT code the same? A compiler puts addresses of
 * objects, of other code and of tables into its code, which differ from run to
 * run, while all else is the same. Their offsets then mean the same, and one of
 * them can stand for both.
 */
#ifndef DCPI_JIT_SHAPE_H
#define DCPI_JIT_SHAPE_H

#include <stddef.h>
#include <stdint.h>

/**
 * jit_shape() - a digest of code without its addresses
 *
 * Left out are, on x86-64: immediates and displacements beyond +-65535,
 * displacements from the PC and distances of branches that leave the code; on arm64: the immediates
 * of adr, adrp, movz, movk, movn, loads of literals, and of branches that leave the code. What does
 * not decode (tables between instructions) counts as it is, from there to the end.
 *
 * Stored in databases, within offsets: never to be changed.
 */
uint64_t jit_shape(const uint8_t *code, size_t bytes);

#endif
