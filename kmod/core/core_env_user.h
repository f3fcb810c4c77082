/* SPDX-License-Identifier: GPL-2.0-only */
/* core_env.h for user space: gcc and clang builtins under the same names. */
#ifndef DCPI_CORE_ENV_USER_H
#define DCPI_CORE_ENV_USER_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <linux/types.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define core_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define core_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define core_barrier() __asm__ __volatile__("" ::: "memory")
#define core_likely(x) __builtin_expect(!!(x), 1)
#define core_unlikely(x) __builtin_expect(!!(x), 0)
#define core_noinline __attribute__((noinline))
#define core_always_inline inline __attribute__((always_inline))

/* A store is used by one thread and by its signal handlers, so no lock prefix is needed. */
#define core_cmpxchg_local(p, old, new)                                                            \
	({                                                                                         \
		__typeof__(*(p)) core_seen_ = (old);                                               \
		__atomic_compare_exchange_n(p, &core_seen_, new, false, __ATOMIC_RELAXED,          \
					    __ATOMIC_RELAXED);                                     \
		core_seen_;                                                                        \
	})

#endif
