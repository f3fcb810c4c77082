/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The environment of the core in the kernel. core_env_user.h defines the same names for user space;
 * the core includes the one for its build.
 */
#ifndef DCPI_CORE_ENV_H
#define DCPI_CORE_ENV_H

#ifdef __KERNEL__

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/types.h>

#define core_load_acquire(p) smp_load_acquire(p)
#define core_store_release(p, v) smp_store_release(p, v)
/* Atomic only with respect to interrupts on this CPU. */
#define core_cmpxchg_local(p, old, new) cmpxchg_local(p, old, new)
#define core_barrier() barrier()
#define core_likely(x) likely(x)
#define core_unlikely(x) unlikely(x)
#define core_noinline noinline
#define core_always_inline __always_inline

#else
#include "core_env_user.h"
#endif

#endif
