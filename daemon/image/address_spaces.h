/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Versions of the address spaces of all processes, and when each was valid. Private to the image
 * map, which determines when versions begin and end.
 *
 * Ended versions stay until they expire, because samples arrive later. The memory for a process
 * that constantly begins new versions is limited, and its generations must not wrap around while
 * samples of the first one can follow. So the latest ADDRESS_SPACES_MAX versions of each process id
 * are kept. The total size of ranges in all versions is limited, too. Beyond
 * ADDRESS_SPACES_BYTES_MAX, the user with the most loses the versions of the largest processes,
 * oldest first.
 */
#ifndef DCPI_ADDRESS_SPACES_H
#define DCPI_ADDRESS_SPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/image/generation.h"
#include "daemon/image/quota.h"
#include "lib/freelist.h"
#include "lib/u64_map.h"

#define ADDRESS_SPACES_MAX 512
/* 500 processes with 40 mappings each take 1 MB. */
#define ADDRESS_SPACES_BYTES_MAX ((size_t)64 << 20)
#define ADDRESS_SPACES_COMMAND_BYTES 16

struct mapping_list;
struct process_spaces;

/**
 * struct address_space - a version, valid from @start_ns to the start of the next one, or the
 * process's end
 * @older:                     the previous version; the head of the list is the process's newest
 * @ended_next, @ended_before: queue of ended versions, in order of their ends
 * @sound_ns:                  time at which all mappings were known
 * @bound_ns:                  of a scan: time by which it had found the address space and its
 *                             generation
 * @counted_ns:                time at which the generation was known; since then execs are counted
 * @generation:                with kernel generations, also GENERATION_ANY: it was never reported;
 *                             or GENERATION_NONE: it cannot be determined
 * @doubt_ns:                  time from which the mappings are invalid; UINT64_MAX: never
 * @profiler:                  the program is the profiler's (lib/profiler_file.h)
 */
struct address_space {
	struct process_spaces *process;
	struct address_space *older;
	struct address_space *ended_next;
	struct address_space *ended_before;
	struct mapping_list *mappings;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t sound_ns;
	uint64_t bound_ns;
	uint64_t counted_ns;
	uint64_t doubt_ns;
	uint32_t generation;
	bool profiler;
};

/**
 * struct process_spaces - all successive users of one process id
 * @generation:  own generations: the last one assigned
 * @alive:       the newest version has not ended
 * @profiler:    some version of the process has been the profiler's
 * @changes:     number of the last event that changed mappings
 * @scan_ns:     time at which /proc was read; older events are superseded
 * @dropped:     generations of versions dropped before they expired, or emptied
 * @parent:      the process that forked this one; 0: unknown
 * @user:        the account of its user; NULL: not queried yet
 * @last_user:   @user before the last exec
 * @free_events: changes of mappings since the last exec, up to those that cost nothing
 * @limit:       the limit that was reached since the last exec or scan; QUOTA_LIMITS: none
 *
 * It exists as long as it has a version that has not expired.
 */
struct process_spaces {
	struct address_space *newest;
	uint64_t scan_ns;
	uint32_t pid;
	uint32_t generation;
	uint32_t count;
	uint32_t changes;
	struct generation_span dropped;
	uint32_t parent;
	uint32_t free_events;
	struct quota_user *user;
	struct quota_user *last_user;
	enum quota_limit limit;
	bool alive;
	bool profiler;
	char command[ADDRESS_SPACES_COMMAND_BYTES];
};

/** address_spaces_user_fn - find the account of the user of a process; may ask /proc */
typedef struct quota_user *(*address_spaces_user_fn)(void *context, struct process_spaces *process);

/**
 * struct address_spaces - the versions of all processes; zeroed: none
 * @user_of:                        finds the account of a process; NULL: all processes belong to
 *                                  one user
 * @own_generations:                generations are assigned here
 * @crowded:                        since the last expiry, some process has had many versions
 * @bytes:                          memory of versions, their mappings, and processes
 * @left_bytes:                     part of @bytes that address_spaces_limit() could not free last
 *                                  time
 * @dropped:                        number of versions that it dropped or emptied
 * @spare_spaces, @spare_processes: memory for reuse
 */
struct address_spaces {
	address_spaces_user_fn user_of;
	void *user_context;
	bool own_generations;
	bool crowded;
	size_t bytes;
	size_t left_bytes;
	uint64_t dropped;
	struct freelist spare_spaces;
	struct freelist spare_processes;
	struct u64_map processes; /* pid -> struct process_spaces * */
	struct address_space *ended_first;
	struct address_space *ended_last;
};

void address_spaces_deinit(struct address_spaces *spaces);

/** address_spaces_find() - find a process. Return: NULL if it is unknown. */
struct process_spaces *address_spaces_find(const struct address_spaces *spaces, uint32_t pid);

/**
 * address_spaces_add() - find a process, or add one without versions
 *
 * The caller must begin a version, or remove the process with address_spaces_settle().
 *
 * Return: NULL if out of memory.
 */
struct process_spaces *address_spaces_add(struct address_spaces *spaces, uint32_t pid);

/** address_spaces_settle() - remove a process if it has no version */
void address_spaces_settle(struct address_spaces *spaces, struct process_spaces *process);

/** address_space_doubt() - invalidate the mappings of a version from @time_ns on */
static inline void address_space_doubt(struct address_space *space, uint64_t time_ns)
{
	if (time_ns < space->doubt_ns)
		space->doubt_ns = time_ns;
}

/**
 * address_spaces_doubt() - invalidate the mappings of the newest version from @time_ns on
 *
 * They stay invalid until the next exec or scan. If generations are the kernel's, the other
 * versions with the same generation are invalidated, too, for all times.
 */
void address_spaces_doubt(struct process_spaces *process, uint64_t time_ns);

/**
 * address_spaces_begin() - begin a new version of a process; the newest one ends, if it is alive
 * @mappings:   ownership passes to the version, also on failure
 * @from:       version whose times of validity are copied; NULL: the new one is valid from now on
 * @generation: the kernel's; own generations are assigned here
 *
 * Return: NULL if out of memory; the newest version is then invalid from @start_ns on.
 */
struct address_space *address_spaces_begin(struct address_spaces *spaces,
					   struct process_spaces *process,
					   struct mapping_list *mappings,
					   const struct address_space *from, uint64_t start_ns,
					   uint32_t generation);

/**
 * address_spaces_split() - split an ended version at @time_ns
 * @mappings: of the later part; ownership passes to it, also on failure
 *
 * Used for late events: the later part ends like the version, and has the same times of validity.
 *
 * Return: the later part; NULL if out of memory, and the version is then invalid from @time_ns on.
 */
struct address_space *address_spaces_split(struct address_spaces *spaces,
					   struct address_space *space,
					   struct mapping_list *mappings, uint64_t time_ns);

/** address_spaces_reduce() - slow path of address_spaces_limit(). */
void address_spaces_reduce(struct address_spaces *spaces);

/**
 * address_spaces_limit() - free memory if more than ADDRESS_SPACES_BYTES_MAX is used
 *
 * A quarter is freed, from the largest processes of the user with the most. Versions that have
 * ended are freed first, oldest first, and then the mappings of the newest version, which is
 * invalid until the next exec or scan. Processes and newest versions stay. Must be called after
 * each change.
 */
static inline void address_spaces_limit(struct address_spaces *spaces)
{
	/* Called at each event, and usually within the limit. */
	if (spaces->bytes > ADDRESS_SPACES_BYTES_MAX)
		address_spaces_reduce(spaces);
}

/** address_spaces_end() - end a live process */
void address_spaces_end(struct address_spaces *spaces, struct process_spaces *process,
			uint64_t time_ns);

/** address_spaces_at() - return the version that was valid at a time, NULL if there was none */
struct address_space *address_spaces_at(const struct process_spaces *process, uint64_t time_ns);

/** address_spaces_expire() - free versions that ended before a time */
void address_spaces_expire(struct address_spaces *spaces, uint64_t time_ns);

#endif
