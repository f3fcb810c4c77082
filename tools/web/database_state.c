// SPDX-License-Identifier: GPL-2.0-only
#include "tools/web/database_state.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/clock.h"

/* Longer than the steps of file times: 10 ms with the slowest timer of Linux. */
#define STEP_NS (100 * (int64_t)NS_PER_MS)

struct database_state database_state_read(const char *path)
{
	static const char *const suffixes[] = {"", "-wal"};
	struct database_state state;

	memset(&state, 0, sizeof(state));
	for (size_t i = 0; i < 2; i++) {
		char name[PATH_MAX];
		struct stat status;

		if (snprintf(name, sizeof(name), "%s%s", path, suffixes[i]) >= (int)sizeof(name) ||
		    stat(name, &status) < 0)
			continue;
		/* Readers may create an empty log. */
		if (i == 1 && status.st_size == 0)
			continue;
		state.files[i].device = status.st_dev;
		state.files[i].inode = status.st_ino;
		state.files[i].bytes = status.st_size;
		state.files[i].changed_ns =
			(int64_t)status.st_mtim.tv_sec * (int64_t)NS_PER_SECOND +
			status.st_mtim.tv_nsec;
	}
	return state;
}

bool database_state_settled(const struct database_state *state, int64_t now_ns)
{
	for (size_t i = 0; i < 2; i++) {
		if (now_ns - state->files[i].changed_ns < STEP_NS)
			return false;
	}
	return true;
}

bool database_state_equal(const struct database_state *a, const struct database_state *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}
