/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of FP and vector encodings. For insn_arm64*.c alone. */
#ifndef DCPI_INSN_ARM64_VECTOR_H
#define DCPI_INSN_ARM64_VECTOR_H

#include "analysis/insn_arm64.h"

/** a64_scalar_fp_match() - data processing of scalar FP, conversions left out. */
const struct a64_pattern *a64_scalar_fp_match(uint32_t word);

/** a64_vector_match() - Advanced SIMD, vectors and scalars, and cryptography. */
const struct a64_pattern *a64_vector_match(uint32_t word);

#endif
