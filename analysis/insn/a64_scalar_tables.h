/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DCPI_A64_SCALAR_TABLES_H
#define DCPI_A64_SCALAR_TABLES_H

#include "analysis/insn/a64.h"

/** a64_scalar_match() - match Advanced SIMD on scalars, SHA-1 and SHA-2. */
const struct a64_pattern *a64_scalar_match(uint32_t word);

/** a64_scalar_fp_match() - match data processing of scalar FP, except conversions. */
const struct a64_pattern *a64_scalar_fp_match(uint32_t word);

#endif
