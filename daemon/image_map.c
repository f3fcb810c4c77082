// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/image_table.h"
#include "daemon/loss_list.h"
#include "daemon/mapping_list.h"
#include "kmod/uapi/dcpi_uapi.h"
#include "lib/error.h"
#include "lib/u64_map.h"
#include "loader-hook/image_event.h"

#define COMMAND_BYTES 16
/*
 * A process that replaces its mappings all the time must not fill our memory; and
 * generations must not come round while samples of the first one can follow.
 */
#define SPACES_MAX 512
#define SPACES_CROWD 128
/* Generations of our own; 0 is "not known". */
#define GENERATION_OWN_MAX (IMAGE_MAP_GENERATION_LOST - 1)
#define GENERATION_ANY UINT32_MAX
#define GENERATION_NONE (UINT32_MAX - 1)
/* The kernel tells of an exec up to so much later than /proc shows the new program. */
#define EXEC_SLACK_NS 10000000

/*
 * A version of a process' address space, valid from @start_ns until the next
 * one's, or the process' end.
 *
 * @older:       the version before; the list's head is the process' newest
 * @ended_next, @ended_before: queue of ended versions, in order of their ends
 * @sound_ns:    when the mappings were all known
 * @bound_ns:    of a scan: by when it had found the address space, and its generation
 * @counted_ns:  when the generation was known; since then execs are counted
 * @generation:  GENERATION_ANY: kernel generations, but it was never told; _NONE: it
 *               cannot be told
 * @doubt_ns:    since when the mappings may be those of another version; UINT64_MAX:
 *               never
 */
struct space {
	struct process *process;
	struct space *older;
	struct space *ended_next;
	struct space *ended_before;
	struct mapping_list *mappings;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t sound_ns;
	uint64_t bound_ns;
	uint64_t counted_ns;
	uint64_t doubt_ns;
	uint32_t generation;
};

/*
 * All that used one process id, one after the other. It lives as long as it
 * has a version that did not expire.
 *
 * @generation: own generations: the last one given out
 * @alive:      whether the newest version has not ended
 * @scan_ns:    when /proc was read; older events tell nothing new
 * @dropped_first: generation of the first version dropped before it expired, if
 *              @dropped; @dropped_last, @dropped_span: of the last one, and how many
 *              there are from one to the other
 */
struct process {
	struct space *newest;
	uint64_t scan_ns;
	uint32_t pid;
	uint32_t generation;
	uint32_t spaces;
	uint32_t dropped_first;
	uint32_t dropped_last;
	uint32_t dropped_span;
	bool dropped;
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
	struct loss_list losses;
	bool crowded;
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
	case IMAGE_UNKNOWN_REPLACED:
		return "replaced";
	case IMAGE_UNKNOWN_LOST:
		return "lost";
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

/* How many generations later @to is than @from; they come round. */
static uint32_t generations_between(const struct image_map *map, uint32_t from, uint32_t to)
{
	if (map->own_generations)
		return (to + GENERATION_OWN_MAX - from) % GENERATION_OWN_MAX;
	return (to - from) & DCPI_GENERATION_MAX;
}

static void note_dropped(const struct image_map *map, struct process *process, uint32_t generation)
{
	if (generation == GENERATION_NONE)
		return;
	if (!process->dropped) {
		process->dropped = true;
		process->dropped_first = generation;
		process->dropped_span = 0;
	} else if (process->dropped_span <= DCPI_GENERATION_MAX) {
		process->dropped_span +=
			generations_between(map, process->dropped_last, generation);
	}
	if (generation == GENERATION_ANY)
		process->dropped_span = DCPI_GENERATION_MAX;
	process->dropped_last = generation;
}

/* Whether a sample of a generation may be from a version that is not there any more. */
static bool was_dropped(const struct image_map *map, const struct process *process,
			uint32_t generation)
{
	if (!process->dropped || (map->own_generations && generation == 0))
		return false;
	return generations_between(map, process->dropped_first, generation) <=
	       process->dropped_span;
}

/* Drop the oldest version before its time. */
static void drop_oldest(struct image_map *map, struct process *process)
{
	struct space *oldest = process->newest;

	while (oldest->older != NULL)
		oldest = oldest->older;
	note_dropped(map, process, oldest->generation);
	expire_space(map, oldest);
}

static uint32_t next_generation(const struct image_map *map, uint32_t generation)
{
	if (generation == GENERATION_ANY || generation == GENERATION_NONE)
		return generation;
	if (map->own_generations)
		return generation % GENERATION_OWN_MAX + 1;
	return (generation + 1) & DCPI_GENERATION_MAX;
}

/*
 * Begin another version of a process. @mappings becomes the version's, also on
 * failure. @generation is the kernel's; our own are given out here. What it is
 * known by is as of @from, or of now if that is NULL.
 */
static struct space *begin_space(struct image_map *map, struct process *process,
				 struct mapping_list *mappings, const struct space *from,
				 uint64_t start_ns, uint32_t generation)
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
	space->sound_ns = from != NULL ? from->sound_ns : start_ns;
	space->bound_ns = from != NULL ? from->bound_ns : 0;
	space->counted_ns = from != NULL ? from->counted_ns : start_ns;
	space->doubt_ns = from != NULL ? from->doubt_ns : UINT64_MAX;
	space->generation = generation;
	process->newest = space;
	process->alive = true;
	map->bytes += sizeof(*space);
	if (++process->spaces > SPACES_MAX)
		drop_oldest(map, process);
	map->crowded |= process->spaces > SPACES_CROWD;
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

static uint32_t kernel_generation(const struct image_event *event)
{
	return event->generation & DCPI_GENERATION_MAX;
}

/* What is first heard of has been so all the time, unless something was lost. */
static bool is_past_known(const struct image_map *map, const struct process *process)
{
	return process->newest == NULL && map->losses.count == 0;
}

static uint32_t generation_untold(const struct image_map *map)
{
	return map->losses.count == 0 ? GENERATION_ANY : GENERATION_NONE;
}

/* A second scan of a living process: its generation is what it was, or is told later. */
static void handle_scan(struct image_map *map, const struct image_event *event)
{
	struct process *process = find_or_add_process(map, event->pid);
	uint32_t generation = generation_untold(map);
	struct space *space;

	if (process == NULL)
		return;
	if (process->alive)
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): what lives has one */
		generation = process->newest->generation;
	if (event->has_generation)
		generation = kernel_generation(event);
	process->scan_ns = event->time_ns;
	space = begin_space(map, process, NULL, NULL,
			    is_past_known(map, process) ? 0 : event->time_ns, generation);
	if (space != NULL) {
		space->sound_ns = space->counted_ns = event->time_ns;
		space->bound_ns = event->until_ns;
	}
	forget_if_empty(map, process);
}

static void handle_fork(struct image_map *map, const struct image_event *event)
{
	const struct process *parent = find_process(map, event->parent);
	const struct space *from = space_at(parent, event->time_ns);
	struct process *process = find_or_add_process(map, event->pid);
	struct mapping_list *mappings = NULL;
	uint32_t generation = generation_untold(map);

	if (process == NULL)
		return;
	if (from != NULL && parent != process) {
		mappings = mapping_list_share(from->mappings);
		generation = from->generation;
		/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): it has a space */
		memcpy(process->command, parent->command, sizeof(process->command));
	}
	if (event->has_generation)
		generation = kernel_generation(event);
	process->scan_ns = 0;
	begin_space(map, process, mappings, from, event->time_ns, generation);
	forget_if_empty(map, process);
}

/*
 * An exec while a process was being read: which program that was is not known, nor
 * whether the generation that was read is the one before or after.
 */
static bool is_within_scan(const struct image_map *map, const struct space *newest,
			   uint64_t time_ns)
{
	return newest->bound_ns != 0 &&
	       time_ns <= newest->bound_ns + (map->own_generations ? EXEC_SLACK_NS : 0);
}

static void handle_exec(struct image_map *map, const struct image_event *event)
{
	struct process *process = find_or_add_process(map, event->pid);
	uint32_t generation = generation_untold(map);
	uint64_t counted_ns = 0;
	struct space *space;

	if (process == NULL)
		return;
	if (process->newest != NULL) {
		space = process->newest;
		if (is_within_scan(map, space, event->time_ns)) {
			space->doubt_ns = 0;
			space->generation =
				map->own_generations ? space->generation : GENERATION_NONE;
		}
		generation = next_generation(map, space->generation);
		counted_ns = space->counted_ns;
	}
	if (event->has_generation) {
		generation = kernel_generation(event);
		counted_ns = event->time_ns;
	}
	set_command(process, event->path);
	space = begin_space(map, process, NULL, NULL, event->time_ns, generation);
	if (space != NULL)
		space->counted_ns = counted_ns;
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

/*
 * The version that an event changes; NULL: out of memory. Where the event says
 * which generation it is of, that is believed: the exec before it may be lost.
 */
static struct space *changing_space(struct image_map *map, struct process *process,
				    const struct image_event *event)
{
	bool known = event->has_generation && !map->own_generations;
	uint32_t generation = known ? kernel_generation(event) : generation_untold(map);

	/* A process never heard of: its beginning was lost, and is in the past. */
	if (!process->alive)
		return begin_space(map, process, NULL, NULL,
				   is_past_known(map, process) ? 0 : event->time_ns, generation);
	if (known && process->newest->generation == GENERATION_ANY)
		process->newest->generation = generation;
	else if (known && process->newest->generation != generation)
		return begin_space(map, process, NULL, NULL, event->time_ns, generation);
	return process->newest;
}

/* The same once more, to be changed: samples of what was may follow. */
static struct space *another_version(struct image_map *map, struct process *process,
				     uint64_t time_ns)
{
	return begin_space(map, process, mapping_list_share(process->newest->mappings),
			   process->newest, time_ns, process->newest->generation);
}

/* Memory of mappings that a space does not share. */
static size_t own_bytes(const struct space *space)
{
	return space->mappings != NULL && space->mappings->references > 1
		       ? 0
		       : mapping_list_bytes(space->mappings);
}

static void handle_map(struct image_map *map, const struct image_event *event)
{
	struct process *process = find_or_add_process(map, event->pid);
	struct mapping mapping;
	enum mapping_change change;
	struct space *space;
	size_t before;

	if (process == NULL)
		return;
	space = changing_space(map, process, event);
	if (space == NULL) {
		forget_if_empty(map, process);
		return;
	}
	mapping = mapping_of(map, event);
	change = mapping_list_change(space->mappings, &mapping);
	if (change == MAPPING_SAME)
		return;
	if (change == MAPPING_REPLACES)
		space = another_version(map, process, event->time_ns);
	if (space == NULL)
		return;
	before = own_bytes(space);
	if (mapping_list_add(&space->mappings, &mapping) == 0)
		map->bytes += mapping_list_bytes(space->mappings) - before;
}

static void handle_unmap(struct image_map *map, const struct image_event *event)
{
	struct process *process = find_process(map, event->pid);
	struct space *space;
	size_t before;

	if (process == NULL || !process->alive ||
	    !mapping_list_overlaps(process->newest->mappings, event->start,
				   event->start + event->bytes))
		return;
	space = another_version(map, process, event->time_ns);
	if (space == NULL)
		return;
	before = own_bytes(space);
	if (mapping_list_remove(&space->mappings, event->start, event->start + event->bytes) == 0)
		map->bytes += mapping_list_bytes(space->mappings) - before;
}

/* Of one process: it is about to be scanned, which begins another version. */
static void handle_lost(struct image_map *map, const struct image_event *event)
{
	const struct process *process = find_process(map, event->pid);
	struct space *space;

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
static void note_late_exec(struct process *process, uint64_t time_ns)
{
	struct space *space = space_at(process, time_ns);

	if (space != NULL && space->start_ns != 0 && time_ns < space->doubt_ns)
		space->doubt_ns = time_ns;
}

void image_map_event(struct image_map *map, const struct image_event *event)
{
	struct process *process = find_process(map, event->pid);

	/* What a scan found is the outcome of all that came before it. */
	if (process != NULL && !event->scanned && event->time_ns < process->scan_ns) {
		if (event->type == IMAGE_EVENT_EXEC && map->own_generations)
			note_late_exec(process, event->time_ns);
		return;
	}
	switch (event->type) {
	case IMAGE_EVENT_FORK:
		if (event->scanned)
			handle_scan(map, event);
		else
			handle_fork(map, event);
		break;
	case IMAGE_EVENT_EXEC:
		handle_exec(map, event);
		break;
	case IMAGE_EVENT_MAP:
		if (is_range(event))
			handle_map(map, event);
		break;
	case IMAGE_EVENT_UNMAP:
		if (is_range(event))
			handle_unmap(map, event);
		break;
	case IMAGE_EVENT_EXIT:
		handle_exit(map, event);
		break;
	case IMAGE_EVENT_RENAME:
		if (process != NULL)
			set_command(process, event->path);
		break;
	case IMAGE_EVENT_LOST:
		handle_lost(map, event);
		break;
	case IMAGE_EVENT_KERNEL_CODE:
		break;
	}
}

void image_map_set_generation(struct image_map *map, uint32_t pid, uint32_t generation,
			      uint64_t time_ns)
{
	struct process *process = find_process(map, pid);

	if (process == NULL || map->own_generations)
		return;
	process->newest->generation = generation & DCPI_GENERATION_MAX;
	process->newest->counted_ns = process->newest->bound_ns = time_ns;
}

void image_map_doubt(struct image_map *map, uint32_t pid)
{
	struct process *process = find_process(map, pid);

	if (process == NULL || map->own_generations)
		return;
	process->newest->generation = GENERATION_NONE;
	process->newest->doubt_ns = 0;
}

uint32_t image_map_generation(const struct image_map *map, uint32_t pid, uint64_t time_ns)
{
	const struct space *space = space_at(find_process(map, pid), time_ns);

	if (space == NULL || !map->own_generations)
		return 0;
	/* Asked of the end of time: of what there is now. */
	if ((space->doubt_ns != UINT64_MAX && time_ns >= space->doubt_ns) ||
	    loss_list_between(&map->losses, space->sound_ns, time_ns))
		return IMAGE_MAP_GENERATION_LOST;
	return space->generation;
}

static struct image_place known(const struct mapping *mapping, uint64_t pc)
{
	return (struct image_place){
		.image = mapping->image,
		.offset = pc + mapping->delta,
		.start = mapping->start,
		.bytes = mapping->end - mapping->start,
	};
}

static struct image_place unknown(enum image_unknown reason)
{
	return (struct image_place){.image = IMAGE_UNKNOWN, .unknown = reason};
}

/*
 * Whether a sample of a generation may be from a version. One of our own that is
 * 0 was asked for before the process was known; a scan may have told since what
 * it had been all along. The kernel's is not known where execs may be missing.
 */
static bool is_candidate(const struct image_map *map, const struct space *space,
			 uint32_t generation)
{
	if (map->own_generations)
		return space->generation == generation ||
		       (generation == 0 && space->start_ns == 0 && map->losses.count == 0);
	if (loss_list_between(&map->losses, space->counted_ns, space->start_ns))
		return false;
	return space->generation == generation || space->generation == GENERATION_ANY;
}

/* Generations of our own are given out only if the mappings are sound. */
static bool is_sound(const struct image_map *map, const struct space *space)
{
	return map->own_generations ||
	       (space->doubt_ns == UINT64_MAX &&
		!loss_list_between(&map->losses, space->sound_ns, space->end_ns));
}

static bool disagree(const struct mapping *a, const struct mapping *b)
{
	return a != NULL && b != NULL && (a->image != b->image || a->delta != b->delta);
}

/*
 * What was at an address, by all versions of that generation; there is more than
 * one if generations are the kernel's, and until they expire. The range of the
 * answer is what all of them agree on.
 */
static struct image_place look_up(const struct image_map *map, const struct process *process,
				  uint32_t generation, uint64_t pc)
{
	const struct mapping *found = NULL, *unsound = NULL, *mapping;
	size_t candidates = 0, in_doubt = 0;
	const struct space *space;
	uint64_t start = 0, end = UINT64_MAX;

	for (space = process->newest; space != NULL; space = space->older) {
		if (!is_candidate(map, space, generation))
			continue;
		candidates++;
		mapping = mapping_list_narrow(space->mappings, pc, &start, &end);
		if (disagree(found, mapping) || disagree(unsound, mapping))
			return unknown(IMAGE_UNKNOWN_REPLACED);
		if (!is_sound(map, space)) {
			in_doubt++;
			unsound = mapping != NULL ? mapping : unsound;
		} else if (mapping != NULL) {
			found = mapping;
		}
		if (map->own_generations)
			break;
	}
	if (found == NULL && in_doubt > 0)
		return unknown(IMAGE_UNKNOWN_LOST);
	if (found == NULL)
		return unknown(candidates > 0 ? IMAGE_UNKNOWN_ADDRESS : IMAGE_UNKNOWN_PROCESS);
	if (found->image == IMAGE_UNKNOWN)
		return unknown(IMAGE_UNKNOWN_ANONYMOUS);
	return (struct image_place){
		.image = found->image,
		.offset = pc + found->delta,
		.start = start,
		.bytes = end - start,
	};
}

struct image_place image_map_lookup(struct image_map *map, uint32_t pid, uint32_t generation,
				    uint64_t pc)
{
	const struct process *process;
	const struct mapping *mapping;

	/* The upper half of the addresses is the kernel's on every 64-bit CPU we run on. */
	if (pc >> 63 != 0) {
		mapping = mapping_list_find(map->kernel, pc);
		if (mapping == NULL)
			return unknown(IMAGE_UNKNOWN_KERNEL);
		return known(mapping, pc);
	}
	if (map->own_generations && generation == IMAGE_MAP_GENERATION_LOST)
		return unknown(IMAGE_UNKNOWN_LOST);
	process = find_process(map, pid);
	if (process == NULL)
		return unknown(IMAGE_UNKNOWN_PROCESS);
	if (was_dropped(map, process, generation))
		return unknown(IMAGE_UNKNOWN_REPLACED);
	return look_up(map, process, generation, pc);
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

bool image_map_crowded(const struct image_map *map)
{
	return map->crowded;
}

void image_map_expire(struct image_map *map, uint64_t time_ns)
{
	map->crowded = false;
	while (map->ended_first != NULL && map->ended_first->end_ns < time_ns) {
		/* Those dropped had ended before. */
		map->ended_first->process->dropped = false;
		expire_space(map, map->ended_first);
	}
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
