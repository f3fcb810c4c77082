// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

#define OPTIONS (DMGL_PARAMS | DMGL_ANSI)

/* The demangler's use of stack grows with the name. */
#define MANGLED_BYTES_MAX 8192

/* A few hundred bytes can stand for gigabytes: parts of a name may be referred to again. */
#define READABLE_BYTES_MAX 32768

struct readable {
	jmp_buf too_long;
	size_t bytes;
	char text[READABLE_BYTES_MAX];
};

bool demangle_is_mangled(const char *name)
{
	return strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0;
}

static void append(const char *part, size_t bytes, void *to)
{
	struct readable *readable = to;

	/* The only way to stop a demangler; it holds at most the letters of one identifier. */
	if (bytes >= sizeof(readable->text) - readable->bytes)
		longjmp(readable->too_long, 1);
	if (bytes > 0) /* nothing may be at NULL */
		memcpy(readable->text + readable->bytes, part, bytes);
	readable->bytes += bytes;
	readable->text[readable->bytes] = '\0';
}

static bool make_readable(struct readable *readable, const char *mangled)
{
	if (setjmp(readable->too_long) != 0)
		return false;
	readable->bytes = 0;
	/* First, since Rust's older scheme would pass for C++. */
	if (rust_demangle_callback(mangled, OPTIONS, append, readable))
		return true;
	readable->bytes = 0;
	return cplus_demangle_v3_callback(mangled, OPTIONS, append, readable) != 0;
}

char *demangle(const char *name)
{
	const char *suffix = strstr(name, "@plt");
	size_t bytes = suffix != NULL ? (size_t)(suffix - name) : strlen(name);
	_cleanup_free_ char *mangled = NULL;
	struct readable readable;
	char *result = NULL;

	if (!demangle_is_mangled(name) || bytes > MANGLED_BYTES_MAX)
		return NULL;
	mangled = strndup(name, bytes);
	if (mangled == NULL || !make_readable(&readable, mangled))
		return NULL;
	if (asprintf(&result, "%s%s", readable.text, suffix != NULL ? suffix : "") < 0)
		return NULL;
	return result;
}
