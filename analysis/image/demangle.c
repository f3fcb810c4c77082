// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/demangle.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

/* The demangler's use of stack and time grows with the name. */
#define MANGLED_BYTES_MAX 8192

typedef char *(*demangle_fn)(const char *name, char *buffer, size_t *bytes, int *status);

static demangle_fn find_demangler(void)
{
	static demangle_fn function;
	static int searched;

	if (!searched) {
		void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);

		searched = 1;
		if (library != NULL)
			*(void **)&function = dlsym(library, "__cxa_demangle");
	}
	return function;
}

char *demangle(const char *name)
{
	const char *suffix = strstr(name, "@plt");
	size_t bytes = suffix != NULL ? (size_t)(suffix - name) : strlen(name);
	_cleanup_free_ char *mangled = NULL, *plain = NULL;
	demangle_fn function;
	char *result = NULL;
	int status = -1;

	if (strncmp(name, "_Z", 2) != 0 || bytes > MANGLED_BYTES_MAX)
		return NULL;
	function = find_demangler();
	mangled = strndup(name, bytes);
	if (function == NULL || mangled == NULL)
		return NULL;
	plain = function(mangled, NULL, NULL, &status);
	if (status != 0 || plain == NULL)
		return NULL;
	if (asprintf(&result, "%s%s", plain, suffix != NULL ? suffix : "") < 0)
		return NULL;
	return result;
}
