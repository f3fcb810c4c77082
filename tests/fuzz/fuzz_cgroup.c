// SPDX-License-Identifier: GPL-2.0-only
/* Fuzz the parser of /proc/PID/cgroup: names are terminated and free of control characters. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/cgroup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void check(const char name[CGROUP_NAME_BYTES])
{
	size_t length = strnlen(name, CGROUP_NAME_BYTES), i;

	if (length == CGROUP_NAME_BYTES)
		abort();
	for (i = 0; i < length; i++) {
		if (iscntrl((unsigned char)name[i]))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	/*
	 * Copy the input to a block of exactly that size, so that reading past its end is detected.
	 */
	char *text = malloc(bytes);
	struct cgroup cgroup;

	if (bytes > 0 && text == NULL)
		abort();
	if (bytes > 0)
		memcpy(text, data, bytes);
	cgroup_parse(&cgroup, text, bytes);
	check(cgroup.unit);
	check(cgroup.container);
	free(text);
	return 0;
}
