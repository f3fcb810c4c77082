/* SPDX-License-Identifier: GPL-2.0-only */
/* How many descriptors a program may have. */
#ifndef DCPI_DESCRIPTOR_LIMIT_H
#define DCPI_DESCRIPTOR_LIMIT_H

/**
 * descriptor_limit_raise() - as many as the hard limit allows
 *
 * The soft limit is made for programs that use select(2). What the program runs inherits it.
 * Where it cannot be raised it stays.
 */
void descriptor_limit_raise(void);

#endif
