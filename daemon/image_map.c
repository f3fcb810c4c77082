// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/image_table.h"
#include "daemon/mapping_list.h"
#include "kmod/uapi/dcpi_uapi.h"
#include "lib/error.h"
#include "lib/u64_map.h"
#include "loader-hook/image_event.h"

#define COMMAND_BYTES 16
/* A process that replaces its mappings all the time must not fill our memory. */
#define SPACES_MAX 32
/* Generations of our own are 1 .. DCPI_GENERATION_MAX; 0 is "not known". */
#define GENERATION_ANY UINT32_MAX

/*
 * A version of a process' address space, valid from @start_ns until the next
 * one's, or the process' end.
 *
 * @older:       the version before; the list's head is the process' newest
 * @ended_next, @ended_before: queue of ended versions, in order of their ends
 * @generation:  GENERATION_ANY: kernel generations, but it was never told
 */
struct space {
	struct process *process;
	struct space *older;
	struct space *ended_next;
	struct space *ended_before;
	struct mapping_list *mappings;
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t generation;
};

/*
 * All that used one process id, one after the other. It lives as long as it
 * has a version that did not expire.
 *
 * @generation: own generations: the last one given out
 * @alive:      whether the newest version has not ended
 * @scan_ns:    when /proc was read; older events tell nothing new
 */
struct process {
	struct space *newest;
	uint64_t scan_ns;
	uint32_t pid;
	uint32_t generation;
	uint32_t spaces;
	bool alive;
	char command[COMMAND_BYTES];
};

struct image_map {
	struct image_table *table;
	bool own_generations;
	struct u64_map processes; /* pid -> struct process * */
	struct space *ended_first;
	struct space *ended_last;
	struct mapping_list *kernel;
	size_t bytes;
};

const char *image_unknown_name(enum image_unknown reason)
{
	switch (reason) {
	case IMAGE_UNKNOWN_PROCESS:
		return "process";
	case IMAGE_UNKNOWN_ADDRESS:
		return "address";
	case IMAGE_UNKNOWN_ANONYMOUS:
		return "anonymous";
	case IMAGE_UNKNOWN_KERNEL:
		return "kernel";
	case IMAGE_UNKNOWN_NR:
		break;
	}
	return "invalid";
}

static struct process *find_process(const struct image_map *map, uint32_t pid)
{
	uint64_t *slot = u64_map_find(&map->processes, pid);

	return slot != NULL ? (struct process *)(uintptr_t)*slot : NULL;
}

static struct process *find_or_add_process(struct image_map *map, uint32_t pid)
{
	struct process *process = find_process(map, pid);
	uint64_t *slot;

	if (process != NULL)
		return process;
	process = calloc(1, sizeof(*process));
	slot = process != NULL ? u64_map_insert(&map->processes, pid) : NULL;
	if (slot == NULL) {
		free(process);
		return NULL;
	}
	process->pid = pid;
	*slot = (uintptr_t)process;
	map->bytes += sizeof(*process);
	return process;
}

static void forget_process(struct image_map *map, struct process *process)
{
	u64_map_remove(&map->processes, process->pid);
	map->bytes -= sizeof(*process);
	free(process);
}

static void free_space(struct image_map *map, struct space *space)
{
	map->bytes -= mapping_list_release(space->mappings) + sizeof(*space);
	free(space);
}

static void end_space(struct image_map *map, struct space *space, uint64_t time_ns)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): what lives has a newest space */
	space->end_ns = time_ns;
	space->ended_next = NULL;
	space->ended_before = map->ended_last;
	if (map->ended_last != NULL)
		map->ended_last->ended_next = space;
	else
		map->ended_first = space;
	map->ended_last = space;
}

static void leave_ended(struct image_map *map, const struct space *space)
{
	if (space->ended_before != NULL)
		space->ended_before->ended_next = space->ended_next;
	else
		map->ended_first = space->ended_next;
	if (space->ended_next != NULL)
		space->ended_next->ended_before = space->ended_before;
	else
		map->ended_last = space->ended_before;
}

/* Its process' oldest version; the process goes with its last. */
static void expire_space(struct image_map *map, struct space *space)
{
	struct process *process = space->process;
	struct space **link = &process->newest;

	leave_ended(map, space);
	while (*link != space)
		link = &(*link)->older;
	*link = NULL;
	process->spaces--;
	free_space(map, space);
	if (process->newest == NULL)
		forget_process(map, process);
}

/* Drop the oldest version before its time. */
static void drop_oldest(struct image_map *map, const struct process *process)
{
	struct space *oldest = process->newest;

	while (oldest->older != NULL)
		oldest = oldest->older;
	expire_space(map, oldest);
}

static uint32_t next_generation(const struct image_map *map, uint32_t generation)
{
	if (generation == GENERATION_ANY)
		return GENERATION_ANY;
	if (map->own_generations)
		return generation % DCPI_GENERATION_MAX + 1;
	return (generation + 1) & DCPI_GENERATION_MAX;
}

/*
 * Begin another version of a process. @mappings becomes the version's, also on
 * failure. @generation is the kernel's; our own are given out here.
 */
static struct space *begin_space(struct image_map *map, struct process *process,
				 struct mapping_list *mappings, uint64_t start_ns,
				 uint32_t generation)
{
	struct space *space = calloc(1, sizeof(*space));

	if (space == NULL) {
		map->bytes -= mapping_list_release(mappings);
		return NULL;
	}
	if (map->own_generations)
		generation = process->generation = next_generation(map, process->generation);
	if (process->alive)
		end_space(map, process->newest, start_ns);
	space->process = process;
	space->older = process->newest;
	space->mappings = mappings;
	space->start_ns = start_ns;
	space->end_ns = UINT64_MAX;
	space->generation = generation;
	process->newest = space;
	process->alive = true;
	map->bytes += sizeof(*space);
	if (++process->spaces > SPACES_MAX)
		drop_oldest(map, process);
	return space;
}

/* The version that was valid at a time, NULL if there was none. */
static struct space *space_at(const struct process *process, uint64_t time_ns)
{
	struct space *space;

	if (process == NULL)
		return NULL;
	for (space = process->newest; space != NULL; space = space->older) {
		if (space->start_ns <= time_ns)
			return space;
	}
	return NULL;
}

/* A process without a version has nothing to say. */
static void forget_if_empty(struct image_map *map, struct process *process)
{
	if (process->newest == NULL)
		forget_process(map, process);
}

static void set_command(struct process *process, const char *command)
{
	size_t n = command != NULL ? strnlen(command, COMMAND_BYTES - 1) : 0;

	memcpy(process->command, command != NULL ? command : "", n);
	process->command[n] = '\0';
}

static void handle_fork(struct image_map *map, const struct image_event *event)
{
	const struct process *parent = find_process(map, event->parent);
	const struct space *from = space_at(parent, event->time_ns);
	struct process *process = find_or_add_process(map, event->pid);
	struct mapping_list *mappings = NULL;
	uint32_t generation = GENERATION_ANY;
	uint64_t start_ns = event->time_ns;

	if (process == NULL)
		return;
	if (event->scanned && process->newest == NULL)
		start_ns = 0;
	if (from != NULL && parent != process) {
		mappings = mapping_list_share(from->mappings);
		generation = from->generation;
		/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): it has a space */
		memcpy(process->command, parent->command, sizeof(process->command));
	}
	/* A second scan of a living process: its generation is what it was. */
	if (event->scanned && process->alive)
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): what lives has one */
		generation = process->newest->generation;
	process->scan_ns = event->scanned ? event->time_ns : 0;
	begin_space(map, process, mappings, start_ns, generation);
	forget_if_empty(map, process);
}

static void handle_exec(struct image_map *map, const struct image_event *event)
{
	struct process *process = find_or_add_process(map, event->pid);
	uint32_t generation = GENERATION_ANY;

	if (process == NULL)
		return;
	if (process->newest != NULL)
		generation = next_generation(map, process->newest->generation);
	set_command(process, event->path);
	begin_space(map, process, NULL, event->time_ns, generation);
	forget_if_empty(map, process);
}

static void handle_exit(struct image_map *map, const struct image_event *event)
{
	struct process *process = find_process(map, event->pid);

	if (process == NULL || !process->alive)
		return;
	process->alive = false;
	end_space(map, process->newest, event->time_ns);
}

/* What the event maps; offsets in the vDSO do not depend on what the kernel says. */
static struct mapping mapping_of(struct image_map *map, const struct image_event *event)
{
	int image = image_table_from_event(map->table, event);
	struct mapping mapping = {
		.start = event->start,
		.end = event->start + event->bytes,
		.image = image < 0 ? IMAGE_UNKNOWN : (uint32_t)image,
	};

	if (image < 0)
		mapping.delta = 0;
	else if (image_table_get(map->table, mapping.image)->kind == PROFILE_IMAGE_VDSO)
		mapping.delta = -event->start;
	else
		mapping.delta = event->file_offset - event->start;
	return mapping;
}

static void handle_map(struct image_map *map, const struct image_event *event)
{
	struct process *process;
	struct mapping mapping;
	enum mapping_change change;
	struct space *space;
	size_t before;

	if (event->bytes == 0 || event->bytes > UINT64_MAX - event->start)
		return;
	process = find_or_add_process(map, event->pid);
	if (process == NULL)
		return;
	/* A process never heard of: its beginning was lost, and is in the past. */
	if (!process->alive)
		begin_space(map, process, NULL, process->newest != NULL ? event->time_ns : 0,
			    GENERATION_ANY);
	space = process->newest;
	if (space == NULL) {
		forget_process(map, process);
		return;
	}
	mapping = mapping_of(map, event);
	change = mapping_list_change(space->mappings, &mapping);
	if (change == MAPPING_SAME)
		return;
	if (change == MAPPING_REPLACES && map->own_generations)
		space = begin_space(map, process, mapping_list_share(space->mappings),
				    event->time_ns, 0);
	if (space == NULL)
		return;
	before = space->mappings != NULL && space->mappings->references > 1
			 ? 0
			 : mapping_list_bytes(space->mappings);
	if (mapping_list_add(&space->mappings, &mapping) == 0)
		map->bytes += mapping_list_bytes(space->mappings) - before;
}

void image_map_event(struct image_map *map, const struct image_event *event)
{
	struct process *process = find_process(map, event->pid);

	/* What a scan found is the outcome of all that came before it. */
	if (process != NULL && !event->scanned && event->time_ns < process->scan_ns)
		return;
	switch (event->type) {
	case IMAGE_EVENT_FORK:
		handle_fork(map, event);
		break;
	case IMAGE_EVENT_EXEC:
		handle_exec(map, event);
		break;
	case IMAGE_EVENT_MAP:
		handle_map(map, event);
		break;
	case IMAGE_EVENT_EXIT:
		handle_exit(map, event);
		break;
	case IMAGE_EVENT_RENAME:
		if (process != NULL)
			set_command(process, event->path);
		break;
	}
}

void image_map_set_generation(struct image_map *map, uint32_t pid, uint32_t generation)
{
	struct process *process = find_process(map, pid);

	if (process != NULL && !map->own_generations)
		process->newest->generation = generation & DCPI_GENERATION_MAX;
}

uint32_t image_map_generation(const struct image_map *map, uint32_t pid, uint64_t time_ns)
{
	const struct space *space = space_at(find_process(map, pid), time_ns);

	return space != NULL && map->own_generations ? space->generation : 0;
}

static struct image_place unknown(enum image_unknown reason)
{
	return (struct image_place){.image = IMAGE_UNKNOWN, .unknown = reason};
}

/*
 * The newest version of that generation: generations come round again. One of
 * our own that is 0 was asked for before the process was known; a scan may
 * have told since what it had been all along.
 */
static const struct space *find_space(const struct image_map *map, uint32_t pid,
				      uint32_t generation)
{
	const struct process *process = find_process(map, pid);
	const struct space *space;

	if (process == NULL)
		return NULL;
	for (space = process->newest; space != NULL; space = space->older) {
		if (space->generation == generation || space->generation == GENERATION_ANY)
			return space;
		if (map->own_generations && generation == 0 && space->start_ns == 0)
			return space;
	}
	return NULL;
}

struct image_place image_map_lookup(struct image_map *map, uint32_t pid, uint32_t generation,
				    uint64_t pc)
{
	const struct mapping *mapping;
	const struct space *space;

	/* The upper half of the addresses is the kernel's on every 64-bit CPU we run on. */
	if (pc >> 63 != 0) {
		mapping = mapping_list_find(map->kernel, pc);
		if (mapping == NULL)
			return unknown(IMAGE_UNKNOWN_KERNEL);
		return (struct image_place){.image = mapping->image, .offset = pc + mapping->delta};
	}
	space = find_space(map, pid, generation);
	if (space == NULL)
		return unknown(IMAGE_UNKNOWN_PROCESS);
	mapping = mapping_list_find(space->mappings, pc);
	if (mapping == NULL)
		return unknown(IMAGE_UNKNOWN_ADDRESS);
	if (mapping->image == IMAGE_UNKNOWN)
		return unknown(IMAGE_UNKNOWN_ANONYMOUS);
	return (struct image_place){.image = mapping->image, .offset = pc + mapping->delta};
}

int image_map_add_kernel(struct image_map *map, uint32_t image, uint64_t start, uint64_t bytes)
{
	struct mapping mapping = {
		.start = start,
		.end = start + bytes,
		.delta = -start,
		.image = image,
	};
	size_t before = mapping_list_bytes(map->kernel);
	int result;

	if (bytes == 0 || bytes > UINT64_MAX - start)
		return -EINVAL;
	result = mapping_list_add(&map->kernel, &mapping);
	map->bytes += mapping_list_bytes(map->kernel) - before;
	return result;
}

const char *image_map_command(const struct image_map *map, uint32_t pid)
{
	const struct process *process = find_process(map, pid);

	return process != NULL ? process->command : "";
}

void image_map_expire(struct image_map *map, uint64_t time_ns)
{
	while (map->ended_first != NULL && map->ended_first->end_ns < time_ns)
		expire_space(map, map->ended_first);
}

size_t image_map_processes(const struct image_map *map, size_t *bytes)
{
	size_t count = u64_map_count(&map->processes);

	if (bytes != NULL)
		*bytes = sizeof(*map) + map->bytes + map->processes.capacity * 2 * sizeof(uint64_t);
	return count;
}

int image_map_create(struct image_map **ret, struct image_table *table, bool own_generations,
		     struct error *err)
{
	struct image_map *map = calloc(1, sizeof(*map));

	if (map == NULL)
		return error_set(err, ENOMEM, "out of memory");
	map->table = table;
	map->own_generations = own_generations;
	*ret = map;
	return 0;
}

void image_map_destroy(struct image_map *map)
{
	uint64_t pid, value;
	size_t cursor = 0;

	if (map == NULL)
		return;
	while (u64_map_next(&map->processes, &cursor, &pid, &value)) {
		struct process *process = (struct process *)(uintptr_t)value;

		while (process->newest != NULL) {
			struct space *space = process->newest;

			process->newest = space->older;
			free_space(map, space);
		}
		free(process);
	}
	u64_map_deinit(&map->processes);
	mapping_list_release(map->kernel);
	free(map);
}
