// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image/image_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/image/address_spaces.h"
#include "daemon/image/image_table.h"
#include "daemon/image/loss_list.h"
#include "daemon/image/mapping_list.h"
#include "daemon/image/space_change.h"
#include "kmod/uapi/dcpi_uapi.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/profiler_file.h"
#include "loader-hook/image_event.h"

/* The kernel reports an exec up to this time after /proc shows the new program. */
#define EXEC_SLACK_NS 10000000

/* Maximum number of processes whose generations are to be queried. Others are added again later. */
#define UNQUERIED_MAX 16

/*
 * Changes of mappings per process since its exec that cost nothing, so that the users of ordinary
 * processes need not be looked up.
 */
#define FREE_EVENTS 64
/* A change moves half of the mappings; a point pays for moving 8 KiB. */
#define MAPPINGS_PER_POINT (2 * 8192 / sizeof(struct mapping))

/*
 * @owner:       finds the users of processes; NULL: there are no limits
 * @any_limited: a living process may have reached its user's limit of events
 * @unqueried:      live processes whose generations are to be queried, oldest first
 * @changes:     the last number assigned (image_map_changes())
 */
struct image_map {
	struct image_table *table;
	struct quota quota;
	image_map_owner_fn owner;
	image_map_forget_fn forget;
	void *forget_context;
	bool any_limited;
	struct address_spaces spaces;
	struct mapping_list *kernel;
	struct loss_list losses;
	uint32_t unqueried[UNQUERIED_MAX];
	size_t unqueried_count;
	uint32_t changes;
};

static void set_command(struct process_spaces *process, const char *command)
{
	size_t n = command != NULL ? strnlen(command, ADDRESS_SPACES_COMMAND_BYTES - 1) : 0;

	memcpy(process->command, command != NULL ? command : "", n);
	process->command[n] = '\0';
}

/* A process that has exited is charged to the user of its previous program, or of its parent. */
static struct quota_user *user_of_gone(struct image_map *map, const struct process_spaces *process)
{
	const struct process_spaces *parent = address_spaces_find(&map->spaces, process->parent);
	uint32_t uid = QUOTA_UID_NONE;

	if (process->last_user != NULL)
		return process->last_user;
	if (parent != NULL && parent->user != NULL)
		return parent->user;
	map->owner(process->parent, &uid);
	return quota_user_of(&map->quota, uid);
}

static struct quota_user *user_of(void *context, struct process_spaces *process)
{
	struct image_map *map = context;
	uint32_t uid;

	if (process->user == NULL)
		process->user = map->owner(process->pid, &uid) == 0
					? quota_user_of(&map->quota, uid)
					: user_of_gone(map, process);
	return process->user;
}

/* Only a process started by root may become another user's without an exec. */
static void inherit_user(struct process_spaces *process, const struct process_spaces *parent)
{
	process->parent = parent->pid;
	process->free_events = parent->free_events;
	process->limit = parent->limit;
	process->user =
		parent->user != NULL && quota_is_limited(parent->user) ? parent->user : NULL;
	process->last_user = process->user != NULL ? process->user : parent->last_user;
}

/* The process id belongs to a new process, or the user of the process may have changed. */
static void reset_user(struct process_spaces *process)
{
	process->parent = 0;
	process->free_events = 0;
	process->user = NULL;
	process->last_user = NULL;
	process->limit = QUOTA_LIMITS;
}

static void renew_user(struct process_spaces *process)
{
	if (process->user != NULL)
		process->last_user = process->user;
	process->user = NULL;
	process->free_events = 0;
	process->limit = QUOTA_LIMITS;
}

/* Without the state of the file in the event, the file must be examined. */
static int64_t change_points(const struct process_spaces *process, const struct image_event *event)
{
	const int64_t look = event->type == IMAGE_EVENT_MAP && !event->has_state ? 4 : 0;
	const struct address_space *newest = process->newest;
	const struct mapping_list *list = newest != NULL ? newest->mappings : NULL;

	return 1 + look + (list != NULL ? (int64_t)(list->count / MAPPINGS_PER_POINT) : 0);
}

/*
 * Return false if an event that changes mappings exceeds the limit of its user. The mappings of
 * the process are then unknown until its next exec or scan, and its events cost almost nothing.
 */
static bool is_within_limit(struct image_map *map, struct process_spaces *process,
			    const struct image_event *event)
{
	struct quota_user *user;

	if (map->owner == NULL || process == NULL || event->scanned ||
	    (event->type != IMAGE_EVENT_MAP && event->type != IMAGE_EVENT_UNMAP))
		return true;
	if (process->free_events < FREE_EVENTS) {
		process->free_events++;
		return true;
	}
	user = user_of(map, process);
	if (process->limit != QUOTA_EVENTS &&
	    quota_spend(user, event->time_ns, change_points(process, event)))
		return true;
	quota_refuse(&map->quota, user, QUOTA_EVENTS);
	if (process->limit == QUOTA_EVENTS || process->newest == NULL)
		return false;
	process->limit = QUOTA_EVENTS;
	map->any_limited = true;
	address_spaces_doubt(process, event->time_ns);
	return false;
}

static uint32_t kernel_generation(const struct image_event *event)
{
	return event->generation & DCPI_GENERATION_MAX;
}

/*
 * If no events were lost, the state of a process that is new to the map has always been the same.
 */
static bool is_past_known(const struct image_map *map, const struct process_spaces *process)
{
	return process->newest == NULL && map->losses.count == 0;
}

static uint32_t generation_unknown(const struct image_map *map)
{
	return map->losses.count == 0 ? GENERATION_ANY : GENERATION_NONE;
}

/* Programs that the process forks and execs have no generation either, until it is queried. */
static void unqueried_add(struct image_map *map, uint32_t pid)
{
	size_t i;

	for (i = 0; i < map->unqueried_count && map->unqueried[i] != pid; i++)
		continue;
	if (i < UNQUERIED_MAX && i == map->unqueried_count)
		map->unqueried[map->unqueried_count++] = pid;
}

static bool has_unknown_generation(const struct address_space *space)
{
	return space != NULL && space->generation == GENERATION_NONE;
}

/*
 * The findings of a scan are valid from the end of the scan: something may have been unmapped while
 * it read. Before that, earlier information is valid, if there is any.
 */
static uint64_t scan_start_ns(const struct image_map *map, const struct process_spaces *process,
			      const struct image_event *event)
{
	if (is_past_known(map, process))
		return 0;
	return event->until_ns > event->time_ns ? event->until_ns : event->time_ns;
}

/* A second scan of a live process: the generation is unchanged, or reported later. */
static void handle_scan(struct image_map *map, struct process_spaces *process,
			const struct image_event *event)
{
	uint32_t generation = generation_unknown(map);
	struct address_space *space;

	if (process->alive)
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a live process has one */
		generation = process->newest->generation;
	if (event->has_generation)
		generation = kernel_generation(event);
	process->scan_ns = event->time_ns;
	reset_user(process);
	space = address_spaces_begin(&map->spaces, process, NULL, NULL,
				     scan_start_ns(map, process, event), generation);
	if (space != NULL) {
		space->sound_ns = space->counted_ns = event->time_ns;
		space->bound_ns = event->until_ns;
	}
	address_spaces_settle(&map->spaces, process);
}

static void handle_fork(struct image_map *map, struct process_spaces *process,
			const struct image_event *event)
{
	const struct process_spaces *parent = address_spaces_find(&map->spaces, event->parent);
	const struct address_space *from = address_spaces_at(parent, event->time_ns);
	struct mapping_list *mappings = NULL;
	uint32_t generation = generation_unknown(map);

	reset_user(process);
	process->parent = event->parent;
	if (from != NULL && parent != process) {
		mappings = mapping_list_share(from->mappings);
		generation = from->generation;
		/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): it has a space */
		memcpy(process->command, parent->command, sizeof(process->command));
		inherit_user(process, parent);
	}
	if (event->has_generation)
		generation = kernel_generation(event);
	if (generation == GENERATION_NONE)
		unqueried_add(map, has_unknown_generation(from) ? event->parent : event->pid);
	process->scan_ns = 0;
	address_spaces_begin(&map->spaces, process, mappings, from, event->time_ns, generation);
	address_spaces_settle(&map->spaces, process);
}

/*
 * An exec while a process was being scanned: it is unknown which program was found, and whether the
 * generation was read before or after the exec.
 */
static bool is_within_scan(const struct image_map *map, const struct address_space *newest,
			   uint64_t time_ns)
{
	return newest->bound_ns != 0 &&
	       time_ns <= newest->bound_ns + (map->spaces.own_generations ? EXEC_SLACK_NS : 0);
}

static void handle_exec(struct image_map *map, struct process_spaces *process,
			const struct image_event *event)
{
	uint32_t generation = generation_unknown(map);
	uint64_t counted_ns = 0;
	struct address_space *space;

	if (process->newest != NULL) {
		space = process->newest;
		if (is_within_scan(map, space, event->time_ns)) {
			space->doubt_ns = 0;
			space->generation =
				map->spaces.own_generations ? space->generation : GENERATION_NONE;
		}
		generation = generation_next(space->generation, map->spaces.own_generations);
		counted_ns = space->counted_ns;
	}
	if (event->has_generation) {
		generation = kernel_generation(event);
		counted_ns = event->time_ns;
	}
	if (generation == GENERATION_NONE)
		unqueried_add(map, event->pid);
	set_command(process, event->path);
	renew_user(process);
	space = address_spaces_begin(&map->spaces, process, NULL, NULL, event->time_ns, generation);
	if (space != NULL)
		space->counted_ns = counted_ns;
	address_spaces_settle(&map->spaces, process);
}

static void handle_exit(struct image_map *map, struct process_spaces *process,
			const struct image_event *event)
{
	if (process == NULL || !process->alive)
		return;
	address_spaces_end(&map->spaces, process, event->time_ns);
}

/* Return the mapping of an event. Offsets in the vDSO do not depend on the reported file offset. */
static struct mapping mapping_of(struct image_map *map, const struct image_event *event)
{
	int image = image_table_from_event(map->table, event);
	struct mapping mapping = {
		.start = event->start,
		.end = event->start + event->bytes,
		.image = image < 0 ? IMAGE_UNKNOWN : (uint32_t)image,
	};

	if (image < 0)
		mapping.delta = image == -ENOMEM ? IMAGE_PLACE_NO_NUMBER : 0;
	else if (image_table_get(map->table, mapping.image)->kind == PROFILE_IMAGE_VDSO)
		mapping.delta = -event->start;
	else
		mapping.delta = event->file_offset - event->start;
	return mapping;
}

/*
 * Return the version that an event changes; NULL: out of memory. The event's generation, if known,
 * takes precedence: the exec before it may have been lost.
 */
static struct address_space *changing_space(struct image_map *map, struct process_spaces *process,
					    const struct image_event *event)
{
	bool known = event->has_generation && !map->spaces.own_generations;
	uint32_t generation = known ? kernel_generation(event) : generation_unknown(map);

	/* An unknown process: the event of its start was lost, and is in the past. */
	if (!process->alive)
		return address_spaces_begin(&map->spaces, process, NULL, NULL,
					    is_past_known(map, process) ? 0 : event->time_ns,
					    generation);
	if (known && process->newest->generation == GENERATION_ANY)
		process->newest->generation = generation;
	else if (known && process->newest->generation != generation)
		return address_spaces_begin(&map->spaces, process, NULL, NULL, event->time_ns,
					    generation);
	return process->newest;
}

/*
 * During an exec the kernel maps the whole interpreter, and then maps other segments over its end.
 */
static bool is_in_place(const struct image_map *map, const struct address_space *space,
			const struct image_event *event)
{
	return event->in_exec && event->has_generation && !map->spaces.own_generations &&
	       space->generation == kernel_generation(event);
}

static struct quota_user *user_of_pid(void *context, uint32_t pid)
{
	struct image_map *map = context;
	struct process_spaces *process = address_spaces_find(&map->spaces, pid);
	uint32_t uid = QUOTA_UID_NONE;

	if (process != NULL)
		return user_of(map, process);
	map->owner(pid, &uid);
	return quota_user_of(&map->quota, uid);
}

static void mark_list(uint8_t *mapped, const struct mapping_list *list)
{
	for (uint32_t i = 0; list != NULL && i < list->count; i++) {
		uint32_t image = list->mappings[i].image;

		mapped[image / 8] |= (uint8_t)(1U << image % 8);
	}
}

/* Versions usually share the list of the previous version. */
static void mark_process(uint8_t *mapped, const struct process_spaces *process)
{
	const struct mapping_list *marked = NULL;

	for (const struct address_space *space = process->newest; space != NULL;
	     space = space->older) {
		if (space->mappings != marked)
			mark_list(mapped, space->mappings);
		marked = space->mappings;
	}
}

static void sweep(void *context)
{
	struct image_map *map = context;
	uint8_t *mapped = calloc(1, image_table_count(map->table) / 8 + 1);
	uint64_t pid, value;
	size_t cursor = 0;

	if (mapped == NULL)
		return;
	mark_list(mapped, map->kernel);
	while (u64_map_next(&map->spaces.processes, &cursor, &pid, &value))
		mark_process(mapped, (const struct process_spaces *)(uintptr_t)value);
	image_table_reclaim(map->table, mapped);
	free(mapped);
}

static void change_by_map(struct image_map *map, struct address_space *space,
			  const struct image_event *event)
{
	const struct mapping mapping = mapping_of(map, event);

	/* Before the change, which may begin another version with the same program. */
	if (event->path != NULL && profiler_file_is_program(event->path))
		space->profiler = space->process->profiler = true;
	space_change_map(&map->spaces, space, &mapping, event->time_ns,
			 is_in_place(map, space, event));
}

static void change_by_unmap(struct image_map *map, struct address_space *space,
			    const struct image_event *event)
{
	const struct mapping gone = {.start = event->start, .end = event->start + event->bytes};

	space_change_unmap(&map->spaces, space, &gone, event->time_ns,
			   is_in_place(map, space, event));
}

static void handle_map(struct image_map *map, struct process_spaces *process,
		       const struct image_event *event)
{
	struct address_space *space = changing_space(map, process, event);

	if (space == NULL)
		address_spaces_settle(&map->spaces, process);
	else
		change_by_map(map, space, event);
}

static void handle_unmap(struct image_map *map, const struct process_spaces *process,
			 const struct image_event *event)
{
	if (process != NULL && process->alive)
		change_by_unmap(map, process->newest, event);
}

/* The events of one process were lost: it will be scanned, which begins another version. */
static void handle_lost(struct image_map *map, const struct process_spaces *process,
			const struct image_event *event)
{
	struct address_space *space;

	if (event->pid == 0)
		loss_list_add(&map->losses, event->time_ns, event->until_ns);
	else if (process != NULL)
		for (space = process->newest; space != NULL && space->end_ns >= event->time_ns;
		     space = space->older)
			space->doubt_ns = 0;
}

static bool is_range(const struct image_event *event)
{
	return event->bytes != 0 && event->bytes <= UINT64_MAX - event->start;
}

/* The version before a scan was not valid up to the scan. */
static void late_exec(struct image_map *map, struct address_space *space,
		      const struct image_event *event)
{
	struct address_space *late;

	if (map->spaces.own_generations) {
		address_space_doubt(space, event->time_ns);
		return;
	}
	late = address_spaces_split(&map->spaces, space, NULL, event->time_ns);
	if (late == NULL)
		return;
	late->generation = event->has_generation ? kernel_generation(event)
						 : generation_next(space->generation, false);
	late->sound_ns = event->time_ns;
	late->counted_ns = event->has_generation ? event->time_ns : space->counted_ns;
	late->bound_ns = 0;
	late->doubt_ns = UINT64_MAX;
}

/*
 * An event from before a scan. It does not affect the findings of the scan, but the time between
 * the event and the scan. If the findings were taken to be valid for all the past, the event is
 * ignored.
 */
static void handle_late(struct image_map *map, const struct process_spaces *process,
			const struct image_event *event)
{
	struct address_space *space = address_spaces_at(process, event->time_ns);

	if (space == NULL || space == process->newest || event->time_ns < space->sound_ns)
		return;
	if (event->type == IMAGE_EVENT_EXEC)
		late_exec(map, space, event);
	if (!is_range(event) || (event->has_generation && !map->spaces.own_generations &&
				 space->generation != kernel_generation(event)))
		return;
	if (event->type == IMAGE_EVENT_MAP)
		change_by_map(map, space, event);
	else if (event->type == IMAGE_EVENT_UNMAP)
		change_by_unmap(map, space, event);
}

/* Return true if a process may start with an event of this type, as seen by the map. */
static bool is_beginning(enum image_event_type type)
{
	return type == IMAGE_EVENT_FORK || type == IMAGE_EVENT_EXEC || type == IMAGE_EVENT_MAP;
}

static void handle(struct image_map *map, struct process_spaces *process,
		   const struct image_event *event)
{
	switch (event->type) {
	case IMAGE_EVENT_FORK:
		if (event->scanned)
			handle_scan(map, process, event);
		else
			handle_fork(map, process, event);
		break;
	case IMAGE_EVENT_EXEC:
		handle_exec(map, process, event);
		break;
	case IMAGE_EVENT_MAP:
		handle_map(map, process, event);
		break;
	case IMAGE_EVENT_UNMAP:
		if (is_range(event))
			handle_unmap(map, process, event);
		break;
	case IMAGE_EVENT_EXIT:
		handle_exit(map, process, event);
		break;
	case IMAGE_EVENT_RENAME:
		if (process != NULL)
			set_command(process, event->path);
		break;
	case IMAGE_EVENT_LOST:
		handle_lost(map, process, event);
		break;
	case IMAGE_EVENT_KERNEL_CODE:
		break;
	}
}

bool image_map_refuses(struct image_map *map, uint32_t pid, uint64_t time_ns)
{
	struct process_spaces *process;

	if (!map->any_limited)
		return false;
	process = address_spaces_find(&map->spaces, pid);
	/* Events from before a scan are late, and cheap. */
	if (process == NULL || process->limit != QUOTA_EVENTS || time_ns < process->scan_ns)
		return false;
	process->changes = ++map->changes;
	quota_refuse(&map->quota, user_of(map, process), QUOTA_EVENTS);
	return true;
}

void image_map_event(struct image_map *map, const struct image_event *event)
{
	struct process_spaces *process = address_spaces_find(&map->spaces, event->pid);

	/* The findings of a scan include the effects of all earlier events. */
	if (process != NULL && !event->scanned && event->time_ns < process->scan_ns) {
		handle_late(map, process, event);
		return;
	}
	if (event->type == IMAGE_EVENT_MAP && !is_range(event))
		return;
	if (process == NULL && is_beginning(event->type)) {
		process = address_spaces_add(&map->spaces, event->pid);
		if (process == NULL)
			return;
	}
	if (process != NULL && (is_beginning(event->type) || event->type == IMAGE_EVENT_UNMAP))
		process->changes = ++map->changes;
	if (is_within_limit(map, process, event))
		handle(map, process, event);
	else if (process->newest == NULL)
		address_spaces_settle(&map->spaces, process);
	address_spaces_limit(&map->spaces);
}

void image_map_set_generation(struct image_map *map, uint32_t pid, uint32_t generation,
			      uint64_t time_ns)
{
	struct process_spaces *process = address_spaces_find(&map->spaces, pid);

	if (process == NULL || map->spaces.own_generations)
		return;
	process->newest->generation = generation & DCPI_GENERATION_MAX;
	process->newest->counted_ns = process->newest->bound_ns = time_ns;
}

void image_map_doubt(struct image_map *map, uint32_t pid)
{
	struct process_spaces *process = address_spaces_find(&map->spaces, pid);

	if (process == NULL || map->spaces.own_generations)
		return;
	process->newest->generation = GENERATION_NONE;
	process->newest->doubt_ns = 0;
	unqueried_add(map, pid);
}

uint32_t image_map_next_unscanned(struct image_map *map)
{
	while (map->unqueried_count > 0) {
		uint32_t pid = map->unqueried[0];
		const struct process_spaces *process = address_spaces_find(&map->spaces, pid);

		memmove(map->unqueried, map->unqueried + 1,
			--map->unqueried_count * sizeof(map->unqueried[0]));
		if (process != NULL && process->alive && has_unknown_generation(process->newest))
			return pid;
	}
	return 0;
}

uint32_t image_map_generation(const struct image_map *map, uint32_t pid, uint64_t time_ns)
{
	const struct address_space *space =
		address_spaces_at(address_spaces_find(&map->spaces, pid), time_ns);

	if (space == NULL || !map->spaces.own_generations)
		return 0;
	/* A query for the end of time refers to the current state. */
	if ((space->doubt_ns != UINT64_MAX && time_ns >= space->doubt_ns) ||
	    loss_list_between(&map->losses, space->sound_ns, time_ns))
		return IMAGE_MAP_GENERATION_LOST;
	return space->generation;
}

bool image_map_has(const struct image_map *map, uint32_t pid)
{
	return address_spaces_find(&map->spaces, pid) != NULL;
}

uint32_t image_map_changes(const struct image_map *map, uint32_t pid, uint64_t *since_ns)
{
	const struct process_spaces *process = address_spaces_find(&map->spaces, pid);

	*since_ns = process != NULL ? process->newest->start_ns : 0;
	return process != NULL ? process->changes : 0;
}

/* Samples without an image because of a limit are counted under the name of the limit. */
static struct image_place limited_place(const struct process_spaces *process,
					struct image_place place)
{
	if (process == NULL || process->limit == QUOTA_LIMITS || place.image != IMAGE_UNKNOWN ||
	    (place.unknown != IMAGE_UNKNOWN_LOST && place.unknown != IMAGE_UNKNOWN_ADDRESS))
		return place;
	return image_place_unknown(
		(enum image_unknown)(IMAGE_UNKNOWN_QUOTA_EVENTS + (int)process->limit));
}

struct image_place image_map_lookup(struct image_map *map, uint32_t pid, uint32_t generation,
				    uint64_t pc)
{
	const struct process_spaces *process;
	const struct mapping *mapping;
	struct image_history history;

	/* On all supported 64-bit CPUs, the upper half of the address space is the kernel's. */
	if (pc >> 63 != 0) {
		mapping = mapping_list_find(map->kernel, pc);
		if (mapping == NULL)
			return image_place_unknown(IMAGE_UNKNOWN_KERNEL);
		return image_place_in(mapping, pc);
	}
	process = address_spaces_find(&map->spaces, pid);
	if (map->spaces.own_generations && generation == IMAGE_MAP_GENERATION_LOST)
		return limited_place(process, image_place_unknown(IMAGE_UNKNOWN_LOST));
	if (process == NULL)
		return image_place_unknown(IMAGE_UNKNOWN_PROCESS);
	if (generation_span_has(&process->dropped, generation, map->spaces.own_generations))
		return image_place_unknown(IMAGE_UNKNOWN_REPLACED);
	history = (struct image_history){.losses = &map->losses,
					 .own_generations = map->spaces.own_generations};
	return limited_place(process, image_place_find(&history, process, generation, pc));
}

bool image_map_is_profiler(const struct image_map *map, uint32_t pid, uint32_t generation)
{
	const struct process_spaces *process = address_spaces_find(&map->spaces, pid);

	if (process == NULL || !process->profiler)
		return false;
	/* The newest version of a generation has all mappings of the program. */
	for (const struct address_space *space = process->newest; space != NULL;
	     space = space->older) {
		if (space->generation == generation || space->generation == GENERATION_ANY)
			return space->profiler;
	}
	return false;
}

uint32_t image_map_next_profiler(const struct image_map *map, size_t *cursor)
{
	uint64_t pid, value;

	while (u64_map_next(&map->spaces.processes, cursor, &pid, &value)) {
		if (((const struct process_spaces *)(uintptr_t)value)->profiler)
			return (uint32_t)pid;
	}
	return 0;
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
	map->spaces.bytes += mapping_list_bytes(map->kernel) - before;
	return result;
}

void image_map_forget_kernel(struct image_map *map)
{
	mapping_list_remove(&map->kernel, 0, UINT64_MAX);
}

const char *image_map_command(const struct image_map *map, uint32_t pid)
{
	const struct process_spaces *process = address_spaces_find(&map->spaces, pid);

	return process != NULL ? process->command : "";
}

uint32_t image_map_next(const struct image_map *map, size_t *cursor)
{
	uint64_t pid, value;

	while (u64_map_next(&map->spaces.processes, cursor, &pid, &value)) {
		if (pid != 0 && ((const struct process_spaces *)(uintptr_t)value)->alive)
			return (uint32_t)pid;
	}
	return 0;
}

static void forget_image(void *context, uint32_t image)
{
	const struct image_map *map = context;

	map->forget(map->forget_context, image);
}

void image_map_limit_users(struct image_map *map, image_map_owner_fn owner,
			   image_map_forget_fn forget, void *context)
{
	const struct image_table_limits limits = {
		.quota = &map->quota,
		.user = user_of_pid,
		.sweep = sweep,
		.forget = forget != NULL ? forget_image : NULL,
		.context = map,
	};

	map->forget = forget;
	map->forget_context = context;
	map->owner = owner;
	map->spaces.user_of = owner != NULL ? user_of : NULL;
	map->spaces.user_context = map;
	image_table_limit(map->table, &limits);
}

struct quota *image_map_quota(struct image_map *map)
{
	return &map->quota;
}

struct quota_user *image_map_user(struct image_map *map, uint32_t pid)
{
	struct process_spaces *process = address_spaces_find(&map->spaces, pid);

	return map->owner != NULL && process != NULL ? user_of(map, process) : NULL;
}

void image_map_refuse(struct image_map *map, uint32_t pid, uint64_t time_ns)
{
	struct process_spaces *process = address_spaces_add(&map->spaces, pid);

	if (process != NULL && !process->alive)
		address_spaces_begin(&map->spaces, process, NULL, NULL,
				     is_past_known(map, process) ? 0 : time_ns,
				     generation_unknown(map));
	if (process == NULL || process->newest == NULL) {
		if (process != NULL)
			address_spaces_settle(&map->spaces, process);
		return;
	}
	process->limit = QUOTA_EVENTS;
	process->newest->doubt_ns = 0;
	map->any_limited = true;
}

uint32_t image_map_limited(struct image_map *map, uint64_t now_ns)
{
	uint64_t pid, value;
	size_t cursor = 0;
	bool any = false;

	while (map->any_limited && u64_map_next(&map->spaces.processes, &cursor, &pid, &value)) {
		struct process_spaces *process = (struct process_spaces *)(uintptr_t)value;

		if (!process->alive || process->limit != QUOTA_EVENTS)
			continue;
		any = true;
		if (quota_points(user_of(map, process), now_ns) >= QUOTA_POINTS_MAX / 2)
			return process->pid;
	}
	map->any_limited = any;
	return 0;
}

bool image_map_crowded(const struct image_map *map)
{
	return map->spaces.crowded;
}

void image_map_expire(struct image_map *map, uint64_t time_ns)
{
	address_spaces_expire(&map->spaces, time_ns);
}

uint64_t image_map_dropped(const struct image_map *map)
{
	return map->spaces.dropped;
}

size_t image_map_processes(const struct image_map *map, size_t *bytes)
{
	size_t count = u64_map_count(&map->spaces.processes);

	if (bytes != NULL)
		*bytes = sizeof(*map) + map->spaces.bytes +
			 map->spaces.processes.capacity * 2 * sizeof(uint64_t);
	return count;
}

int image_map_create(struct image_map **ret, struct image_table *table, bool own_generations,
		     struct error *err)
{
	struct image_map *map = calloc(1, sizeof(*map));

	if (map == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	map->table = table;
	map->spaces.own_generations = own_generations;
	*ret = map;
	return 0;
}

void image_map_destroy(struct image_map *map)
{
	if (map == NULL)
		return;
	address_spaces_deinit(&map->spaces);
	quota_deinit(&map->quota);
	mapping_list_release(map->kernel);
	free(map);
}
