/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Groups of this machine.
 *
 * getgrnam(3) loads the modules of nsswitch.conf into the process, may wait for a server, and in
 * glibc 2.36 ends the process if it has no memory. Packages create system groups in /etc/group.
 */
#ifndef DCPI_LOCAL_GROUP_H
#define DCPI_LOCAL_GROUP_H

#include <sys/types.h>

/** local_group_find() - Return: the group id of a name in /etc/group; (gid_t)-1: there is none */
gid_t local_group_find(const char *name);

#endif
