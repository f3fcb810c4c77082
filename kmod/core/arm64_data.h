/* SPDX-License-Identifier: GPL-2.0-only */
/* Arithmetic of A64. */
#ifndef DCPI_ARM64_DATA_H
#define DCPI_ARM64_DATA_H

#include "arm64_machine.h"

/** arm64_condition() - evaluate a condition (0 .. 15) */
struct operand arm64_condition(const struct machine *m, u32 condition);

/** arm64_immediate() - interpret data processing with an immediate */
enum step arm64_immediate(struct machine *m);

/** arm64_register() - interpret data processing on registers */
enum step arm64_register(struct machine *m);

#endif
