/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Versions of the address spaces of all processes, and when each was valid. The image map's
 * own: it says what begins and ends them.
 *
 * Ended versions stay until they expire, since samples arrive later. A process that
 * begins new ones all the time must not fill our memory, and its generations must not
 * come round while samples of the first one can follow: of each process id the latest
 * ADDRESS_SPACES_MAX versions are kept. Nor must many ranges in many versions: beyond
 * ADDRESS_SPACES_BYTES_MAX the user with most of them loses those of the largest processes, the
 * oldest first.
 */
#ifndef DCPI_ADDRESS_SPACES_H
#define DCPI_ADDRESS_SPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/image/generation.h"
#include "daemon/image/quota.h"
#include "lib/spare_list.h"
#include "lib/u64_map.h"

#define ADDRESS_SPACES_MAX 512
/* 500 processes of 40 mappings have 1 MB. */
#define ADDRESS_SPACES_BYTES_MAX ((size_t)64 << 20)
#define ADDRESS_SPACES_COMMAND_BYTES 16

struct mapping_list;
struct process_spaces;

/**
 * struct address_space - a version, valid from @start_ns until the next one's, or the
 * process' end
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
};

/**
 * struct process_spaces - all that used one process id, one after the other
 * @generation: own generations: the last one given out
 * @alive:      whether the newest version has not ended
 * @changes:    number of the last event that told of mappings
 * @scan_ns:    when /proc was read; older events tell nothing new
 * @dropped:    generations of versions dropped before they expired, or emptied
 * @parent:     the process that forked this one; 0: not known
 * @user:       the account of its user; NULL: not asked yet
 * @last_user:  @user before the last exec
 * @free_events: changes of mappings since the last exec, up to those that cost nothing
 * @limit:      the limit that was reached since the last exec or scan; QUOTA_LIMITS: none
 *
 * It lives as long as it has a version that did not expire.
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
	char command[ADDRESS_SPACES_COMMAND_BYTES];
};

/** address_spaces_user_fn - find the account of the user of a process; may ask /proc */
typedef struct quota_user *(*address_spaces_user_fn)(void *context, struct process_spaces *process);

/**
 * struct address_spaces - of all processes; zeroed: none
 * @user_of:         finds the account of a process; NULL: all processes are one user's
 * @own_generations: they are given out here
 * @crowded:         since the last expiry, some process has had many
 * @bytes:           used by versions, their mappings, and processes
 * @left_bytes:      of them, what address_spaces_limit() could not free last time
 * @dropped:         versions that it dropped or emptied
 * @spare_spaces, @spare_processes: memory to be used again
 */
struct address_spaces {
	address_spaces_user_fn user_of;
	void *user_context;
	bool own_generations;
	bool crowded;
	size_t bytes;
	size_t left_bytes;
	uint64_t dropped;
	struct spare_list spare_spaces;
	struct spare_list spare_processes;
	struct u64_map processes; /* pid -> struct process_spaces * */
	struct address_space *ended_first;
	struct address_space *ended_last;
};

void address_spaces_deinit(struct address_spaces *spaces);

/** address_spaces_find() - Return: NULL if nothing is known of a process. */
struct process_spaces *address_spaces_find(const struct address_spaces *spaces, uint32_t pid);

/**
 * address_spaces_add() - find a process, or one without versions, which must begin one, or
 * go by address_spaces_settle()
 *
 * Return: NULL if out of memory.
 */
struct process_spaces *address_spaces_add(struct address_spaces *spaces, uint32_t pid);

/** address_spaces_settle() - a process without a version has nothing to say, and goes */
void address_spaces_settle(struct address_spaces *spaces, struct process_spaces *process);

/** address_space_doubt() - from @time_ns on a version says nothing of what is mapped */
static inline void address_space_doubt(struct address_space *space, uint64_t time_ns)
{
	if (time_ns < space->doubt_ns)
		space->doubt_ns = time_ns;
}

/**
 * address_spaces_doubt() - from @time_ns on the newest version says nothing of what is mapped
 *
 * Up to the next exec or scan. If generations are the kernel's, neither do the others of
 * that generation, at any time.
 */
void address_spaces_doubt(struct process_spaces *process, uint64_t time_ns);

/**
 * address_spaces_begin() - another version of a process; the newest one ends, if it lives
 * @mappings:   becomes the version's, also on failure
 * @from:       what it is known by is as of that one; NULL: as of now
 * @generation: the kernel's; our own are given out here
 *
 * Return: NULL if out of memory; the newest one then says nothing from @start_ns on.
 */
struct address_space *address_spaces_begin(struct address_spaces *spaces,
					   struct process_spaces *process,
					   struct mapping_list *mappings,
					   const struct address_space *from, uint64_t start_ns,
					   uint32_t generation);

/**
 * address_spaces_split() - from @time_ns on an ended version was another one
 * @mappings: become that one's, also on failure
 *
 * For what is told late: it ends as the version did, and is known by the same.
 * Return: NULL if out of memory; the version then says nothing from @time_ns on.
 */
struct address_space *address_spaces_split(struct address_spaces *spaces,
					   struct address_space *space,
					   struct mapping_list *mappings, uint64_t time_ns);

/** address_spaces_reduce() - the part of address_spaces_limit() that is seldom needed. */
void address_spaces_reduce(struct address_spaces *spaces);

/**
 * address_spaces_limit() - free something if there is more than ADDRESS_SPACES_BYTES_MAX
 *
 * A quarter of it goes, from the largest processes of the user with most. Versions that have
 * ended go first, the oldest before others. In the end the mappings of the newest version go,
 * which then says nothing up to the next exec or scan. Processes and newest versions stay. To be
 * called after each change.
 */
static inline void address_spaces_limit(struct address_spaces *spaces)
{
	/* Mostly there is nothing to do, at each event. */
	if (spaces->bytes > ADDRESS_SPACES_BYTES_MAX)
		address_spaces_reduce(spaces);
}

/** address_spaces_end() - a process that lives has ended */
void address_spaces_end(struct address_spaces *spaces, struct process_spaces *process,
			uint64_t time_ns);

/** address_spaces_at() - the version that was valid at a time, NULL if there was none */
struct address_space *address_spaces_at(const struct process_spaces *process, uint64_t time_ns);

/** address_spaces_expire() - forget what ended before a time */
void address_spaces_expire(struct address_spaces *spaces, uint64_t time_ns);

#endif
