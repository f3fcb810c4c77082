/* SPDX-License-Identifier: GPL-2.0-only */
/* Since Linux 6.7 the modification time of an inode is read through a function. */
#ifndef DCPI_COMPAT_INODE_MODIFIED_H
#define DCPI_COMPAT_INODE_MODIFIED_H

#include <linux/fs.h>
#include <linux/version.h>

static inline struct timespec64 compat_inode_modified(const struct inode *inode)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
	return inode->i_mtime;
#else
	return inode_get_mtime(inode);
#endif
}

#endif
