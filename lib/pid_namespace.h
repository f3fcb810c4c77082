/* SPDX-License-Identifier: GPL-2.0-only */
/* Whose process ids are whose: the kernel's own are those of the initial PID namespace. */
#ifndef DCPI_PID_NAMESPACE_H
#define DCPI_PID_NAMESPACE_H

#include <stdbool.h>

/** pid_namespace_is_initial() - whether ours is that one; false if it cannot be told */
bool pid_namespace_is_initial(void);

#endif
