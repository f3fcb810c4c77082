/* SPDX-License-Identifier: GPL-2.0-only */
/* String instructions of x86-64. */
#ifndef DCPI_X86_STRING_H
#define DCPI_X86_STRING_H

#include "x86_machine.h"

/** x86_string() - interpret movs, cmps, stos, lods, scas */
enum step x86_string(struct machine *m);

#endif
