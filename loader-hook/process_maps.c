// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/process_maps.h"

#include <stdbool.h>

#include "loader-hook/process_list.h"

static FILE *open_of(uint32_t thread)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/maps", thread);
	return fopen(path, "re");
}

static bool is_empty(FILE *maps)
{
	int c = getc(maps);

	return c == EOF || ungetc(c, maps) == EOF;
}

struct search {
	uint32_t pid;
	FILE *found;
};

static void thread_visit(void *context, uint32_t thread)
{
	struct search *search = context;
	FILE *maps;

	if (thread == search->pid || search->found != NULL)
		return;
	maps = open_of(thread);
	if (maps == NULL)
		return;
	if (is_empty(maps))
		fclose(maps);
	else
		search->found = maps;
}

FILE *process_maps_open(uint32_t pid)
{
	struct search search = {.pid = pid};
	FILE *maps = open_of(pid);

	if (maps == NULL || !is_empty(maps))
		return maps;
	process_list_threads(pid, thread_visit, &search);
	if (search.found == NULL)
		return maps;
	fclose(maps);
	return search.found;
}
