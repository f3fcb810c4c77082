/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which processes there are, by looking at /proc now and then, for where nobody tells
 * of forks, exits, and execs.
 *
 * A process that is new is scanned. One that has another program than it had, and of
 * which nobody told, is too, and what it did since the last look is not known (an
 * event LOST): its samples are in doubt rather than wrong.
 */
#ifndef DCPI_PROCESS_WATCH_H
#define DCPI_PROCESS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/u64_map.h"
#include "loader-hook/image_event.h"

/**
 * struct watched_process - one that has a program
 * @start:    struct process_stat's
 * @device, @inode: of its program's file
 * @known_ns: up to when all is known of it
 * @round:    the watch's, when it was seen last
 * @due:      must be read from /proc
 * @counted:  @sequence is known
 * @sequence: whoever tells of the process may keep count here
 */
struct watched_process {
	uint64_t start;
	uint64_t device;
	uint64_t inode;
	uint64_t known_ns;
	uint64_t round;
	bool due;
	bool counted;
	uint32_t sequence;
};

/** struct process_watch - zeroed: no process is known */
struct process_watch {
	struct u64_map processes; /* pid -> struct watched_process * */
	uint64_t round;
};

void process_watch_deinit(struct process_watch *watch);

/** process_watch_find() - Return: NULL if it is not known. */
struct watched_process *process_watch_find(const struct process_watch *watch, uint32_t pid);

/**
 * process_watch_add() - there is a process, or it has another program now
 *
 * What it is is read from /proc. Return: NULL if it is gone, has no program, or there
 * is no memory: it is not known then.
 */
struct watched_process *process_watch_add(struct process_watch *watch, uint32_t pid,
					  uint64_t now_ns);

/** process_watch_note_all() - take all processes for known, without telling of them */
void process_watch_note_all(struct process_watch *watch, uint64_t now_ns);

/**
 * process_watch_mend() - tell what is known of a process after something was missed
 * @now_ns: LOST is told from @known_ns to now; then a scan, or EXIT
 *
 * Return: the process as above.
 */
struct watched_process *process_watch_mend(struct process_watch *watch, uint32_t pid,
					   uint64_t now_ns, image_event_fn handle, void *context);

/**
 * process_watch_doubt() - tell that something may have been missed of any that is @counted
 * @since_ns: LOST is told from then to now; they are read at the next look
 */
void process_watch_doubt(struct process_watch *watch, uint64_t since_ns, uint64_t now_ns,
			 image_event_fn handle, void *context);

/** process_watch_look() - tell what has changed since the last look */
void process_watch_look(struct process_watch *watch, uint64_t now_ns, image_event_fn handle,
			void *context);

#endif
