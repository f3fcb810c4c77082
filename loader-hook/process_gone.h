/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether a process has ended, where nobody has told. */
#ifndef DCPI_PROCESS_GONE_H
#define DCPI_PROCESS_GONE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * process_is_gone() - whether a process has ended, by now
 *
 * Also one that its parent has not waited for. One whose leader alone has ended, as
 * a kernel thread, lives; so does one that may not be seen, as far as we know.
 */
bool process_is_gone(uint32_t pid);

#endif
