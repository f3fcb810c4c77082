// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/proc/process_watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "loader-hook/proc/process_list.h"
#include "loader-hook/proc/process_scan.h"
#include "loader-hook/proc/process_stat.h"

/* Processes removed per iteration. */
#define GONE_MAX 256

/* State of a pass over /proc. */
struct scan_pass {
	struct process_watch *watch;
	uint64_t now_ns;
	image_event_fn handle;
	void *context;
};

/* Identifies a process and the program that it runs. */
struct identity {
	uint64_t start;
	uint64_t device;
	uint64_t inode;
};

void process_watch_deinit(struct process_watch *watch)
{
	uint64_t pid, value;
	size_t cursor = 0;

	while (u64_map_next(&watch->processes, &cursor, &pid, &value))
		free((struct watched_process *)(uintptr_t)value);
	u64_map_deinit(&watch->processes);
}

struct watched_process *process_watch_find(const struct process_watch *watch, uint32_t pid)
{
	uint64_t *slot = u64_map_find(&watch->processes, pid);

	return slot != NULL ? (struct watched_process *)(uintptr_t)*slot : NULL;
}

static void process_watch_forget(struct process_watch *watch, uint32_t pid)
{
	free(process_watch_find(watch, pid));
	u64_map_remove(&watch->processes, pid);
}

/* Return: false for kernel threads and zombies, which have no program. */
static bool identity_read(struct identity *identity, uint32_t pid)
{
	struct process_stat numbers;
	struct stat program;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	if (stat(path, &program) < 0 || process_stat_read(&numbers, pid) < 0)
		return false;
	*identity = (struct identity){numbers.start, program.st_dev, program.st_ino};
	return true;
}

static bool is_same(const struct watched_process *process, const struct identity *identity)
{
	return process->start == identity->start && process->device == identity->device &&
	       process->inode == identity->inode;
}

static struct watched_process *process_watch_do_add(struct process_watch *watch, uint32_t pid,
						    const struct identity *identity,
						    uint64_t now_ns)
{
	struct watched_process *process = process_watch_find(watch, pid);
	uint64_t *slot;

	if (process == NULL) {
		process = calloc(1, sizeof(*process));
		slot = process != NULL ? u64_map_insert(&watch->processes, pid) : NULL;
		if (slot == NULL) {
			free(process);
			return NULL;
		}
		*slot = (uintptr_t)process;
	}
	*process = (struct watched_process){
		.start = identity->start,
		.device = identity->device,
		.inode = identity->inode,
		.known_ns = now_ns,
		.pass = watch->pass,
	};
	return process;
}

struct watched_process *process_watch_add(struct process_watch *watch, uint32_t pid,
					  uint64_t now_ns)
{
	struct identity identity;

	if (identity_read(&identity, pid))
		return process_watch_do_add(watch, pid, &identity, now_ns);
	process_watch_forget(watch, pid);
	return NULL;
}

static void process_note(void *context, uint32_t pid)
{
	const struct scan_pass *scan_pass = context;

	process_watch_add(scan_pass->watch, pid, scan_pass->now_ns);
}

void process_watch_note_all(struct process_watch *watch, uint64_t now_ns)
{
	struct scan_pass scan_pass = {.watch = watch, .now_ns = now_ns};

	process_list_walk(process_note, &scan_pass, NULL);
}

static void event_report(enum image_event_type type, uint32_t pid, uint64_t time_ns,
			 uint64_t until_ns, image_event_fn handle, void *context)
{
	const struct image_event event = {
		.type = type,
		.pid = pid,
		.time_ns = time_ns,
		.until_ns = until_ns,
	};

	handle(context, &event);
}

/* Read the identity before the mappings: a change between the two is noticed by the next pass. */
struct watched_process *process_watch_rescan(struct process_watch *watch, uint32_t pid,
					     uint64_t now_ns, image_event_fn handle, void *context)
{
	struct watched_process *process = process_watch_find(watch, pid);
	uint64_t known_ns = process != NULL ? process->known_ns : now_ns;

	if (process != NULL)
		event_report(IMAGE_EVENT_LOST, pid, known_ns, now_ns, handle, context);
	process = process_watch_add(watch, pid, now_ns);
	if (process == NULL || process_scan(pid, handle, context, NULL) == -ESRCH) {
		process_watch_forget(watch, pid);
		event_report(IMAGE_EVENT_EXIT, pid, now_ns, 0, handle, context);
		return NULL;
	}
	return process;
}

void process_watch_report_loss(struct process_watch *watch, uint64_t since_ns, uint64_t now_ns,
			       image_event_fn handle, void *context)
{
	struct watched_process *process;
	uint64_t pid, value;
	size_t cursor = 0;

	while (u64_map_next(&watch->processes, &cursor, &pid, &value)) {
		process = (struct watched_process *)(uintptr_t)value;
		if (!process->counted)
			continue;
		process->due = true;
		event_report(IMAGE_EVENT_LOST, (uint32_t)pid, since_ns, now_ns, handle, context);
	}
}

static void process_update(void *context, uint32_t pid)
{
	const struct scan_pass *scan_pass = context;
	struct watched_process *process = process_watch_find(scan_pass->watch, pid);
	struct identity identity;

	if (!identity_read(&identity, pid))
		return; /* handled as if it were gone */
	if (process == NULL || process->due || !is_same(process, &identity))
		process = process_watch_rescan(scan_pass->watch, pid, scan_pass->now_ns,
					       scan_pass->handle, scan_pass->context);
	if (process == NULL)
		return;
	process->known_ns = scan_pass->now_ns;
	process->pass = scan_pass->watch->pass;
}

/* Find up to @max processes that this pass has not seen. */
static size_t find_gone(const struct process_watch *watch, uint32_t *gone, size_t max)
{
	uint64_t pid, value;
	size_t cursor = 0, count = 0;

	while (count < max && u64_map_next(&watch->processes, &cursor, &pid, &value)) {
		if (((struct watched_process *)(uintptr_t)value)->pass != watch->pass)
			gone[count++] = (uint32_t)pid;
	}
	return count;
}

void process_watch_update(struct process_watch *watch, uint64_t now_ns, image_event_fn handle,
			  void *context)
{
	struct scan_pass scan_pass = {watch, now_ns, handle, context};
	uint32_t gone[GONE_MAX];
	size_t count, i;

	watch->pass++;
	if (process_list_walk(process_update, &scan_pass, NULL) < 0)
		return;
	do {
		count = find_gone(watch, gone, GONE_MAX);
		for (i = 0; i < count; i++) {
			process_watch_forget(watch, gone[i]);
			event_report(IMAGE_EVENT_EXIT, gone[i], now_ns, 0, handle, context);
		}
	} while (count > 0);
}
