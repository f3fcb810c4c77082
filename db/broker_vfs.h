/* SPDX-License-Identifier: GPL-2.0-only */
/* SQLite in a sandbox: it asks the broker (lib/broker.h) for its files. */
#ifndef DCPI_BROKER_VFS_H
#define DCPI_BROKER_VFS_H

/** broker_vfs_use() - if there is a broker, let SQLite ask it from now on. */
void broker_vfs_use(void);

#endif
