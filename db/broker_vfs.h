/* SPDX-License-Identifier: GPL-2.0-only */
/* A VFS for SQLite in a sandbox: it opens files through the broker (lib/broker.h). */
#ifndef DCPI_BROKER_VFS_H
#define DCPI_BROKER_VFS_H

/** broker_vfs_use() - if there is a broker, make SQLite use it for all further files */
void broker_vfs_use(void);

#endif
