/* SPDX-License-Identifier: GPL-2.0-only */
/* Instructions of x86-64 that are not branches. */
#ifndef DCPI_X86_DATA_H
#define DCPI_X86_DATA_H

#include "x86_machine.h"

/** x86_one_byte_data(), x86_two_byte_data() - interpret non-branch instructions of maps 0 and 1 */
enum step x86_one_byte_data(struct machine *m);
enum step x86_two_byte_data(struct machine *m);

#endif
