/* SPDX-License-Identifier: GPL-2.0-only */
/* Since Linux 6.3 the flags of a mapping are changed through functions. */
#ifndef DCPI_COMPAT_VM_FLAGS_H
#define DCPI_COMPAT_VM_FLAGS_H

#include <linux/mm.h>
#include <linux/version.h>

static inline void compat_vm_flags_clear(struct vm_area_struct *vma, unsigned long flags)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	vma->vm_flags &= ~flags;
#else
	vm_flags_clear(vma, flags);
#endif
}

#endif
