/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracks processes by periodic passes over /proc, where no other source reports forks, exits and
 * execs.
 *
 * A new process is scanned. A process whose program has changed without any report is scanned, too.
 * Its actions since the last pass are unknown (an event LOST), so its samples are marked uncertain
 * instead of being attributed to wrong images.
 */
#ifndef DCPI_PROCESS_WATCH_H
#define DCPI_PROCESS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/u64_map.h"
#include "loader-hook/image_event.h"

/**
 * struct watched_process - a process that has a program
 * @start:          creation time, as in struct process_stat
 * @device, @inode: its program's file
 * @known_ns:       all events of the process are known up to this time
 * @pass:          number of the last pass that saw the process
 * @due:            the next pass must read the process from /proc
 * @counted:        @sequence is valid
 * @sequence:       for the source that reports events of the process: the next expected number
 */
struct watched_process {
	uint64_t start;
	uint64_t device;
	uint64_t inode;
	uint64_t known_ns;
	uint64_t pass;
	bool due;
	bool counted;
	uint32_t sequence;
};

/** struct process_watch - zero-initialised: no process is known */
struct process_watch {
	struct u64_map processes; /* pid -> struct watched_process * */
	uint64_t pass;
};

void process_watch_deinit(struct process_watch *watch);

/** process_watch_find() - Return: NULL if the process is not known */
struct watched_process *process_watch_find(const struct process_watch *watch, uint32_t pid);

/**
 * process_watch_add() - add a process, or replace its identity after an exec
 *
 * Reads the identity of the process from /proc. Return: NULL if the process is gone or has no
 * program, or if out of memory; it is then not known.
 */
struct watched_process *process_watch_add(struct process_watch *watch, uint32_t pid,
					  uint64_t now_ns);

/** process_watch_note_all() - add all processes without emitting events */
void process_watch_note_all(struct process_watch *watch, uint64_t now_ns);

/**
 * process_watch_rescan() - report the current state of a process after events were missed
 * @now_ns: LOST is emitted for @known_ns to @now_ns; then the events of a scan, or EXIT
 *
 * Return: the process, as process_watch_add().
 */
struct watched_process *process_watch_rescan(struct process_watch *watch, uint32_t pid,
					     uint64_t now_ns, image_event_fn handle, void *context);

/**
 * process_watch_report_loss() - report that events of all processes that are @counted may be
 * missing
 * @since_ns: LOST is emitted for @since_ns to @now_ns; the next pass reads the processes
 */
void process_watch_report_loss(struct process_watch *watch, uint64_t since_ns, uint64_t now_ns,
			       image_event_fn handle, void *context);

/** process_watch_update() - make a pass over /proc and report the changes since the last one */
void process_watch_update(struct process_watch *watch, uint64_t now_ns, image_event_fn handle,
			  void *context);

#endif
