/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where arm64's kernel image begins: told to modules until Linux 6.8. Since
 * then an address inside must do, and what lies before it is not known to be
 * the image's: this one, of arch/arm64/kernel, is linked before nearly all.
 */
#ifndef DCPI_COMPAT_KERNEL_IMAGE_H
#define DCPI_COMPAT_KERNEL_IMAGE_H

#include <linux/arm-smccc.h>
#include <linux/version.h>

#include <asm/memory.h>

static inline unsigned long compat_kernel_image_begin(void)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 9, 0)
	return kimage_vaddr;
#else
	return (unsigned long)&__arm_smccc_smc;
#endif
}

#endif
