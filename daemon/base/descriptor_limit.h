/* SPDX-License-Identifier: GPL-2.0-only */
/* The limit of open file descriptors. */
#ifndef DCPI_DESCRIPTOR_LIMIT_H
#define DCPI_DESCRIPTOR_LIMIT_H

/**
 * descriptor_limit_raise() - raise the soft limit of open files to the hard limit
 *
 * The default soft limit is low because some programs still use select(2). Child processes inherit
 * the raised limit. If the limit cannot be raised it stays unchanged.
 */
void descriptor_limit_raise(void);

#endif
