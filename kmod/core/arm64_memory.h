/* SPDX-License-Identifier: GPL-2.0-only */
/* Loads and stores of A64. */
#ifndef DCPI_ARM64_MEMORY_H
#define DCPI_ARM64_MEMORY_H

#include "arm64_machine.h"

/** arm64_memory() - interpret loads and stores, including those of SIMD registers */
enum step arm64_memory(struct machine *m);

#endif
