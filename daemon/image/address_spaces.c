// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image/address_spaces.h"

#include <stdlib.h>

#include "daemon/image/mapping_list.h"

#define CROWD 128
/*
 * Up to the number of processes that end between two expiries (matcher.c: CROWD), with two versions
 * each.
 */
#define SPARE_PROCESSES_MAX 4096
#define SPARE_SPACES_MAX 8192

struct process_spaces *address_spaces_find(const struct address_spaces *spaces, uint32_t pid)
{
	uint64_t *slot = u64_map_find(&spaces->processes, pid);

	return slot != NULL ? (struct process_spaces *)(uintptr_t)*slot : NULL;
}

struct process_spaces *address_spaces_add(struct address_spaces *spaces, uint32_t pid)
{
	uint64_t *slot = u64_map_insert(&spaces->processes, pid);
	struct process_spaces *process;

	if (slot == NULL || *slot != 0)
		return slot != NULL ? (struct process_spaces *)(uintptr_t)*slot : NULL;
	process = freelist_take(&spaces->spare_processes, sizeof(*process));
	if (process == NULL) {
		u64_map_remove(&spaces->processes, pid);
		return NULL;
	}
	*process = (struct process_spaces){.pid = pid, .limit = QUOTA_LIMITS};
	*slot = (uintptr_t)process;
	spaces->bytes += sizeof(*process);
	return process;
}

void address_spaces_settle(struct address_spaces *spaces, struct process_spaces *process)
{
	if (process->newest != NULL)
		return;
	u64_map_remove(&spaces->processes, process->pid);
	spaces->bytes -= sizeof(*process);
	freelist_give(&spaces->spare_processes, process, SPARE_PROCESSES_MAX);
}

static void free_space(struct address_spaces *spaces, struct address_space *space)
{
	spaces->bytes -= mapping_list_release(space->mappings) + sizeof(*space);
	freelist_give(&spaces->spare_spaces, space, SPARE_SPACES_MAX);
}

static void end_space(struct address_spaces *spaces, struct address_space *space, uint64_t time_ns)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a live process has a newest space */
	space->end_ns = time_ns;
	space->ended_next = NULL;
	space->ended_before = spaces->ended_last;
	if (spaces->ended_last != NULL)
		spaces->ended_last->ended_next = space;
	else
		spaces->ended_first = space;
	spaces->ended_last = space;
}

static void leave_ended(struct address_spaces *spaces, const struct address_space *space)
{
	if (space->ended_before != NULL)
		space->ended_before->ended_next = space->ended_next;
	else
		spaces->ended_first = space->ended_next;
	if (space->ended_next != NULL)
		space->ended_next->ended_before = space->ended_before;
	else
		spaces->ended_last = space->ended_before;
}

/* Free a process's oldest version, and the process with its last one. */
static void expire_space(struct address_spaces *spaces, struct address_space *space)
{
	struct process_spaces *process = space->process;
	struct address_space **link = &process->newest;

	leave_ended(spaces, space);
	while (*link != space)
		link = &(*link)->older;
	*link = NULL;
	process->count--;
	free_space(spaces, space);
	address_spaces_settle(spaces, process);
}

/* Drop the oldest version before it expires. */
static void drop_oldest(struct address_spaces *spaces, struct process_spaces *process)
{
	struct address_space *oldest = process->newest;

	while (oldest->older != NULL)
		oldest = oldest->older;
	generation_span_add(&process->dropped, oldest->generation, spaces->own_generations);
	expire_space(spaces, oldest);
}

void address_spaces_doubt(struct process_spaces *process, uint64_t time_ns)
{
	struct address_space *space;

	for (space = process->newest; space != NULL; space = space->older) {
		/* The kernel's generation is the same for these versions. */
		if (space->generation != process->newest->generation)
			break;
		address_space_doubt(space, time_ns);
	}
}

static void count_space(struct address_spaces *spaces, struct process_spaces *process)
{
	spaces->bytes += sizeof(struct address_space);
	if (++process->count > ADDRESS_SPACES_MAX)
		drop_oldest(spaces, process);
	spaces->crowded |= process->count > CROWD;
}

static uint32_t own_generation(struct process_spaces *process)
{
	process->generation = generation_next(process->generation, true);
	return process->generation;
}

struct address_space *address_spaces_begin(struct address_spaces *spaces,
					   struct process_spaces *process,
					   struct mapping_list *mappings,
					   const struct address_space *from, uint64_t start_ns,
					   uint32_t generation)
{
	struct address_space *space = freelist_take(&spaces->spare_spaces, sizeof(*space));

	if (space == NULL) {
		spaces->bytes -= mapping_list_release(mappings);
		address_spaces_doubt(process, start_ns);
		return NULL;
	}
	if (process->alive)
		end_space(spaces, process->newest, start_ns);
	*space = (struct address_space){
		.process = process,
		.older = process->newest,
		.mappings = mappings,
		.start_ns = start_ns,
		.end_ns = UINT64_MAX,
		.sound_ns = from != NULL ? from->sound_ns : start_ns,
		.bound_ns = from != NULL ? from->bound_ns : 0,
		.counted_ns = from != NULL ? from->counted_ns : start_ns,
		.doubt_ns = from != NULL ? from->doubt_ns : UINT64_MAX,
		.generation = spaces->own_generations ? own_generation(process) : generation,
		.profiler = from != NULL && from->profiler,
	};
	process->profiler |= space->profiler;
	process->newest = space;
	process->alive = true;
	count_space(spaces, process);
	return space;
}

/*
 * The later part replaces the version in the queue of ended versions, because it has the same end.
 */
struct address_space *address_spaces_split(struct address_spaces *spaces,
					   struct address_space *space,
					   struct mapping_list *mappings, uint64_t time_ns)
{
	struct address_space *late = freelist_take(&spaces->spare_spaces, sizeof(*late));
	struct process_spaces *process = space->process;
	struct address_space **link = &process->newest;

	if (late == NULL) {
		spaces->bytes -= mapping_list_release(mappings);
		address_space_doubt(space, time_ns);
		return NULL;
	}
	*late = *space;
	late->mappings = mappings;
	late->start_ns = time_ns;
	if (spaces->own_generations)
		late->generation = own_generation(process);
	while (*link != space)
		link = &(*link)->older;
	*link = late;
	late->older = space;
	space->end_ns = time_ns;
	space->ended_next = late;
	late->ended_before = space;
	if (late->ended_next != NULL)
		late->ended_next->ended_before = late;
	else
		spaces->ended_last = late;
	count_space(spaces, process);
	return late;
}

/*
 * Return the memory that dropping a version frees in the long run: shared lists are divided by
 * their references.
 */
static size_t freed_with(const struct address_space *space)
{
	size_t bytes = space != space->process->newest ? sizeof(*space) : 0;

	if (space->mappings != NULL)
		bytes += mapping_list_bytes(space->mappings) / space->mappings->references;
	return bytes;
}

static size_t freed_with_all(const struct process_spaces *process)
{
	const struct address_space *space;
	size_t bytes = 0;

	for (space = process->newest; space != NULL; space = space->older)
		bytes += freed_with(space);
	return bytes;
}

/*
 * Empty the newest version. It cannot be dropped, because its process lives, or its generation must
 * not be reused.
 */
static void empty_newest(struct address_spaces *spaces, struct process_spaces *process)
{
	struct address_space *newest = process->newest;

	generation_span_add(&process->dropped, newest->generation, spaces->own_generations);
	spaces->bytes -= mapping_list_release(newest->mappings);
	newest->mappings = NULL;
	newest->doubt_ns = 0;
}

static struct quota_user *user_of(const struct address_spaces *spaces,
				  struct process_spaces *process)
{
	return spaces->user_of != NULL ? spaces->user_of(spaces->user_context, process) : NULL;
}

static void free_down_to(struct address_spaces *spaces, struct process_spaces *process,
			 size_t process_bytes, size_t all_bytes)
{
	while (spaces->bytes > all_bytes && freed_with_all(process) > process_bytes) {
		if (process->newest->older != NULL) {
			drop_oldest(spaces, process);
			spaces->crowded = true;
		} else {
			empty_newest(spaces, process);
		}
		process->limit = QUOTA_MAPPINGS;
		spaces->dropped++;
	}
}

/* Find the user whose processes take the most memory here. The sums are stored in the accounts. */
static struct quota_user *heaviest_user(const struct address_spaces *spaces)
{
	struct quota_user *user, *heaviest = NULL;
	uint64_t pid, value;
	size_t cursor = 0;

	if (spaces->user_of == NULL)
		return NULL;
	while (u64_map_next(&spaces->processes, &cursor, &pid, &value))
		user_of(spaces, (struct process_spaces *)(uintptr_t)value)->bytes = 0;
	cursor = 0;
	while (u64_map_next(&spaces->processes, &cursor, &pid, &value)) {
		struct process_spaces *process = (struct process_spaces *)(uintptr_t)value;

		user = user_of(spaces, process);
		user->bytes += freed_with_all(process);
		if (heaviest == NULL || user->bytes > heaviest->bytes)
			heaviest = user;
	}
	return heaviest;
}

static size_t most_of_one(const struct address_spaces *spaces, const struct quota_user *user)
{
	size_t cursor = 0, most = 0, bytes;
	uint64_t pid, value;

	while (u64_map_next(&spaces->processes, &cursor, &pid, &value)) {
		struct process_spaces *process = (struct process_spaces *)(uintptr_t)value;

		bytes = user_of(spaces, process) == user ? freed_with_all(process) : 0;
		most = bytes > most ? bytes : most;
	}
	return most;
}

/* Return: true if anything was freed. */
static bool reduce_user(struct address_spaces *spaces, const struct quota_user *user, size_t goal)
{
	size_t most = most_of_one(spaces, user), cursor = 0;
	uint64_t pid, value;

	while (most > 0 && u64_map_next(&spaces->processes, &cursor, &pid, &value)) {
		struct process_spaces *process = (struct process_spaces *)(uintptr_t)value;

		if (user_of(spaces, process) == user)
			free_down_to(spaces, process, most / 2, goal);
	}
	return most > 0;
}

void address_spaces_reduce(struct address_spaces *spaces)
{
	const size_t step = ADDRESS_SPACES_BYTES_MAX / 4, goal = ADDRESS_SPACES_BYTES_MAX - step;

	/* Do not search at each event for memory that could not be freed last time. */
	if (spaces->bytes <= spaces->left_bytes + step)
		return;
	while (spaces->bytes > goal && reduce_user(spaces, heaviest_user(spaces), goal))
		continue;
	spaces->left_bytes = spaces->bytes;
}

void address_spaces_end(struct address_spaces *spaces, struct process_spaces *process,
			uint64_t time_ns)
{
	process->alive = false;
	end_space(spaces, process->newest, time_ns);
}

struct address_space *address_spaces_at(const struct process_spaces *process, uint64_t time_ns)
{
	struct address_space *space;

	if (process == NULL)
		return NULL;
	for (space = process->newest; space != NULL; space = space->older) {
		if (space->start_ns <= time_ns)
			return space;
	}
	return NULL;
}

void address_spaces_expire(struct address_spaces *spaces, uint64_t time_ns)
{
	spaces->crowded = false;
	while (spaces->ended_first != NULL && spaces->ended_first->end_ns < time_ns) {
		/* Dropped versions ended before this one. */
		spaces->ended_first->process->dropped.any = false;
		expire_space(spaces, spaces->ended_first);
	}
}

void address_spaces_deinit(struct address_spaces *spaces)
{
	uint64_t pid, value;
	size_t cursor = 0;

	while (u64_map_next(&spaces->processes, &cursor, &pid, &value)) {
		struct process_spaces *process = (struct process_spaces *)(uintptr_t)value;

		while (process->newest != NULL) {
			struct address_space *space = process->newest;

			process->newest = space->older;
			free_space(spaces, space);
		}
		free(process);
	}
	u64_map_deinit(&spaces->processes);
	freelist_deinit(&spaces->spare_spaces);
	freelist_deinit(&spaces->spare_processes);
}
