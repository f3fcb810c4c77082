// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/proc/process_maps.h"

#include <string.h>
#include <sys/sysmacros.h>

#include "loader-hook/proc/process_list.h"

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
	uint32_t thread;
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
		*search = (struct search){search->pid, thread, maps};
}

FILE *process_maps_open(uint32_t pid, uint32_t *thread)
{
	struct search search = {.pid = pid, .thread = pid};
	FILE *maps = open_of(pid);

	if (thread != NULL)
		*thread = pid;
	if (maps == NULL || !is_empty(maps))
		return maps;
	process_list_threads(pid, thread_visit, &search);
	if (search.found == NULL)
		return maps;
	fclose(maps);
	if (thread != NULL)
		*thread = search.thread;
	return search.found;
}

/* Parse digits up to @end. Return: the text after @end; NULL: no digits, too many, or others. */
static const char *number_take(const char *text, uint64_t base, char end, uint64_t *value)
{
	const char *digit = text;

	for (*value = 0; *digit != end; digit++) {
		uint64_t d = UINT64_MAX;

		if (*digit >= '0' && *digit <= '9')
			d = (uint64_t)(*digit - '0');
		else if (*digit >= 'a' && *digit <= 'f')
			d = (uint64_t)(*digit - 'a') + 10;
		if (d >= base || *value > (UINT64_MAX - d) / base)
			return NULL;
		*value = *value * base + d;
	}
	return digit != text ? digit + 1 : NULL;
}

/* Format of a line: "start-end perms offset major:minor inode  path". */
bool process_maps_take(struct process_mapping *ret, const char *line)
{
	uint64_t device_major, device_minor;
	const char *at = line;

	at = number_take(at, 16, '-', &ret->start);
	if (at != NULL)
		at = number_take(at, 16, ' ', &ret->end);
	if (at == NULL || ret->end <= ret->start || strnlen(at, 5) < 5 || at[4] != ' ')
		return false;
	ret->permissions = at;
	at = number_take(at + 5, 16, ' ', &ret->offset);
	if (at != NULL)
		at = number_take(at, 16, ':', &device_major);
	if (at != NULL)
		at = number_take(at, 16, ' ', &device_minor);
	if (at != NULL)
		at = number_take(at, 10, ' ', &ret->inode);
	if (at == NULL)
		return false;
	ret->device = makedev((unsigned int)device_major, (unsigned int)device_minor);
	ret->path = at + strspn(at, " ");
	return true;
}
