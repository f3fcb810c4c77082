/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scope cleanup: resources of a function are released on every path that leaves it.
 *
 *	_cleanup_free_ char *path = NULL;
 *	_cleanup_close_ int fd = -1;
 *
 * Variables must be initialised. To hand a resource to the caller, return
 * take_ptr(path) or take_fd(fd). Types of this project define their attribute next
 * to their destroy function with CLEANUP_DEFINE().
 */
#ifndef DCPI_CLEANUP_H
#define DCPI_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(function) __attribute__((cleanup(function)))

/* Defines cleanup_<name>(), which calls @destroy unless the pointer is NULL. */
#define CLEANUP_DEFINE(name, type, destroy)                                                        \
	/* NOLINTNEXTLINE(bugprone-macro-parentheses): a type */                                   \
	static inline void cleanup_##name(type *p)                                                 \
	{                                                                                          \
		if (*p != NULL)                                                                    \
			destroy(*p);                                                               \
	}

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the attribute passes int * */
static inline void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

CLEANUP_DEFINE(file, FILE *, fclose)

#define _cleanup_free_ _cleanup_(cleanup_free)
#define _cleanup_close_ _cleanup_(cleanup_close)
#define _cleanup_file_ _cleanup_(cleanup_file)

/* Return the pointer's value; the variable becomes NULL and is not cleaned up. */
#define take_ptr(p)                                                                                \
	({                                                                                         \
		__typeof__(p) taken_ = (p);                                                        \
		(p) = NULL;                                                                        \
		taken_;                                                                            \
	})

/* Return the file descriptor; the variable becomes -1. */
#define take_fd(fd)                                                                                \
	({                                                                                         \
		int taken_ = (fd);                                                                 \
		(fd) = -1;                                                                         \
		taken_;                                                                            \
	})

#endif
