/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The beginning of arm64's kernel image. Modules could read it until Linux 6.8. Later versions use
 * the address of a symbol inside, and do not recognize what lies before it as part of the image.
 * This symbol, of arch/arm64/kernel, is linked before nearly all others.
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
