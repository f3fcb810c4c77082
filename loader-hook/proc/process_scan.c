// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/proc/process_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/u64_map.h"
#include "loader-hook/proc/process_gone.h"
#include "loader-hook/proc/process_list.h"
#include "loader-hook/proc/process_command.h"
#include "loader-hook/proc/process_maps.h"
#include "loader-hook/proc/process_owner.h"

/*
 * The kernel writes a newline in a path as \012, but a backslash unescaped. Resolve this ambiguity
 * by the exact path in map_files, if it may be read.
 */
static void restore_newlines(const struct image_event *event, char *path, char exact[PATH_MAX])
{
	char link[96];
	char *from = strstr(path, "\\012"), *to = from;
	ssize_t n;

	if (from == NULL)
		return;
	snprintf(link, sizeof(link), "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, event->pid,
		 event->start, event->start + event->bytes);
	n = readlink(link, exact, PATH_MAX - 1);
	if (n > 0 && (size_t)n <= strlen(path)) {
		memcpy(path, exact, (size_t)n);
		path[n] = '\0';
		return;
	}
	while (*from != '\0') {
		if (strncmp(from, "\\012", 4) == 0) {
			*to++ = '\n';
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
}

/*
 * Convert a line of /proc/PID/maps to an event; the path points into the line.
 *
 * Return: true if it is an executable mapping.
 */
static bool parse_mapping(char *line, struct image_event *event, char exact[PATH_MAX])
{
	struct process_mapping mapping;

	line[strcspn(line, "\n")] = '\0';
	if (!process_maps_take(&mapping, line) || mapping.permissions[2] != 'x')
		return false;
	event->type = IMAGE_EVENT_MAP;
	event->start = mapping.start;
	event->bytes = mapping.end - mapping.start;
	event->file_offset = mapping.offset;
	event->device = mapping.device;
	event->inode = mapping.inode;
	event->path = mapping.path;
	restore_newlines(event, line + (mapping.path - line), exact);
	return true;
}

static int scan_error(uint32_t pid, struct error *err)
{
	if (errno == ENOENT)
		errno = ESRCH;
	return error_set_errno(err, "cannot read the mappings of process %u", pid);
}

/* Lines of /proc/PID/maps, each with its newline. */
struct lines {
	char *text;
	size_t bytes;
	size_t capacity;
};

static bool is_executable(const char *line)
{
	const char *permissions = strchr(line, ' ');

	return permissions != NULL && strnlen(permissions, 4) == 4 && permissions[3] == 'x';
}

/*
 * Read all lines before the first event is delivered: handling an event may take longer than the
 * process takes to change its mappings.
 */
static int executable_lines(FILE *maps, struct lines *lines)
{
	_cleanup_free_ char *line = NULL;
	size_t capacity = 0;
	ssize_t n;
	int r;

	errno = 0;
	while ((n = getline(&line, &capacity, maps)) > 0) {
		if (!is_executable(line))
			continue;
		r = array_reserve(&lines->text, &lines->capacity, lines->bytes + (size_t)n + 1, 1);
		if (r < 0) {
			errno = -r;
			return -1;
		}
		memcpy(lines->text + lines->bytes, line, (size_t)n + 1);
		lines->bytes += (size_t)n;
	}
	return errno != 0 && !feof(maps) ? -1 : 0;
}

/* Deliver an event for each line; modifies the text of @lines. */
static void lines_report(const struct lines *lines, struct image_event *event,
			 image_event_fn handle, void *context)
{
	char exact[PATH_MAX], *line = lines->text, *end = lines->text + lines->bytes, *next;

	for (; line < end; line = next) {
		next = memchr(line, '\n', (size_t)(end - line));
		next = next != NULL ? next + 1 : end;
		if (parse_mapping(line, event, exact))
			handle(context, event);
	}
}

int process_scan(uint32_t pid, image_event_fn handle, void *context, struct error *err)
{
	struct image_event event = {.pid = pid, .scanned = true};
	struct lines lines = {.text = NULL};
	_cleanup_file_ FILE *maps = NULL;
	char command[PROCESS_COMMAND_BYTES];
	int r;

	/*
	 * Read the clock before the file is opened, because the open binds the file to an address
	 * space.
	 */
	event.time_ns = clock_monotonic_ns();
	maps = process_maps_open(pid, NULL);
	if (maps == NULL)
		return scan_error(pid, err);
	process_command_read(pid, pid, command);
	if (executable_lines(maps, &lines) < 0) {
		r = scan_error(pid, err);
		free(lines.text);
		return r;
	}
	/* The file of a process that has ended can be opened, but is empty. */
	if (lines.bytes == 0 && process_is_gone(pid)) {
		errno = ESRCH;
		return scan_error(pid, err);
	}
	event.type = IMAGE_EVENT_FORK;
	event.until_ns = clock_monotonic_ns();
	handle(context, &event);
	event.type = IMAGE_EVENT_RENAME;
	event.path = command;
	handle(context, &event);
	lines_report(&lines, &event, handle, context);
	free(lines.text);
	return 0;
}

/* @rank: number of processes of the same user listed before this one */
struct listed {
	uint32_t pid;
	uint32_t uid;
	uint32_t rank;
};

/* @ranks: uid + 1 -> number of its processes so far */
struct listing {
	struct listed *listed;
	size_t count;
	size_t capacity;
	struct u64_map ranks;
	bool failed;
};

static void process_visit(void *context, uint32_t pid)
{
	struct listing *listing = context;
	struct listed process = {.pid = pid};
	uint64_t *rank;

	if (listing->failed || process_owner(pid, &process.uid) < 0)
		return;
	rank = u64_map_insert(&listing->ranks, (uint64_t)process.uid + 1);
	listing->failed = rank == NULL || array_reserve(&listing->listed, &listing->capacity,
							listing->count + 1, sizeof(process)) < 0;
	if (listing->failed)
		return;
	process.rank = (uint32_t)(*rank)++;
	listing->listed[listing->count++] = process;
}

static int by_rank(const void *a, const void *b)
{
	const struct listed *one = a, *other = b;

	if (one->rank != other->rank)
		return one->rank < other->rank ? -1 : 1;
	return one->uid < other->uid ? -1 : one->uid > other->uid;
}

int process_scan_list(uint32_t **pids, size_t *count, struct error *err)
{
	struct listing listing = {.count = 0};
	int r = process_list_walk(process_visit, &listing, err);
	size_t i;

	*pids = r == 0 ? calloc(listing.count + 1, sizeof(**pids)) : NULL;
	if (r == 0 && (listing.failed || *pids == NULL))
		r = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r == 0) {
		qsort(listing.listed, listing.count, sizeof(*listing.listed), by_rank);
		for (i = 0; i < listing.count; i++)
			(*pids)[i] = listing.listed[i].pid;
		*count = listing.count;
	} else {
		free(*pids);
		*pids = NULL;
	}
	free(listing.listed);
	u64_map_deinit(&listing.ranks);
	return r;
}
