/* SPDX-License-Identifier: GPL-2.0-only */
/* PID namespaces: the kernel reports process ids of the initial PID namespace. */
#ifndef DCPI_PID_NAMESPACE_H
#define DCPI_PID_NAMESPACE_H

#include <stdbool.h>

/**
 * pid_namespace_is_initial() - return true if this process is in the initial PID namespace; false
 * also if unknown
 */
bool pid_namespace_is_initial(void);

#endif
