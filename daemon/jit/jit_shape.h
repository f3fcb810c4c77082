/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Determines whether two pieces of JIT code are equal except for addresses. A compiler puts
 * addresses of objects, other code and tables into its code, which differ from run to run, while
 * everything else is the same. Then offsets have the same meaning, and one piece can represent
 * both.
 */
#ifndef DCPI_JIT_SHAPE_H
#define DCPI_JIT_SHAPE_H

#include <stddef.h>
#include <stdint.h>

/**
 * jit_shape() - return a digest of code without its addresses
 *
 * Omitted on x86-64: immediates and displacements beyond +-65535, displacements from the PC, and
 * distances of branches that leave the code. Omitted on arm64: the immediates of adr, adrp, movz,
 * movk, movn, loads of literals, and of branches that leave the code. From an undecodable
 * instruction on (tables between instructions), all bytes count as they are.
 *
 * The result is part of offsets stored in databases, so it must never change.
 */
uint64_t jit_shape(const uint8_t *code, size_t bytes);

#endif
