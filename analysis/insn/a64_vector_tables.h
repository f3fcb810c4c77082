/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DCPI_A64_VECTOR_TABLES_H
#define DCPI_A64_VECTOR_TABLES_H

#include "analysis/insn/a64.h"

/**
 * a64_vector_match() - match Advanced SIMD on vectors, AES, SHA-3 and other extensions of its time.
 */
const struct a64_pattern *a64_vector_match(uint32_t word);

#endif
