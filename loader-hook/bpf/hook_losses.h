/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Determines, from counters of the BPF hook and of the kernel, which loss events to emit and which
 * processes to read from /proc. Internal to bpf_hook.c.
 *
 * A record that finds the ring full names its process, unless too many processes lost records; the
 * process is read from /proc. Other losses may concern any process: the kernel skipped the program
 * because it was already active on the same CPU (a recursion miss), or more was lost than can be
 * named. The mappings of all processes are then unknown from the previous check to this one (LOST
 * of process 0), and all processes are read, at most once a second.
 */
#ifndef DCPI_HOOK_LOSSES_H
#define DCPI_HOOK_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "loader-hook/image_event.h"

/**
 * struct hook_counts - totals since the hook was opened
 * @records: records that found no room, or were unreadable
 * @unnamed: those of @records whose process is not known
 * @runs:    runs of the program that the kernel skipped
 */
struct hook_counts {
	uint64_t records;
	uint64_t unnamed;
	uint64_t runs;
};

/**
 * struct hook_losses - zero-initialised: nothing was lost
 * @counts:     as of the last check
 * @checked_ns:  start of the last check; every loss before it has been reported
 * @scanned_ns: time when all processes were last read
 * @all_due:    all processes must be read
 * @named_left: some named processes have not been read
 * @named_ns:   start of the interval in which the named processes may have lost events
 */
struct hook_losses {
	struct hook_counts counts;
	uint64_t checked_ns;
	uint64_t scanned_ns;
	bool all_due;
	bool named_left;
	uint64_t named_ns;
};

/* Processes to be read from /proc after a check: the named ones first, then all. */
#define HOOK_LOSSES_NAMED 1U /* the processes of records that found no room */
#define HOOK_LOSSES_ALL 2U   /* all processes */

/* The BPF program can name this many processes at a time, and others while these are read. */
#define HOOK_LOSSES_NAMED_MAX 1024

/**
 * hook_losses_check() - check the counters, after the ring's contents were delivered
 * @began_ns: when the drain began
 * @now_ns:   when the counters had been read
 *
 * Return: the processes to read, HOOK_LOSSES_*.
 */
unsigned int hook_losses_check(struct hook_losses *losses, const struct hook_counts *counts,
			       uint64_t began_ns, uint64_t now_ns, image_event_fn handle,
			       void *context);

/** hook_losses_take_fn - take one of the named processes; return false if none is left */
typedef bool (*hook_losses_take_fn)(void *context, uint32_t *pid);

/** hook_losses_read_fn - read a process, which may have lost events since @since_ns */
typedef void (*hook_losses_read_fn)(void *context, uint32_t pid, uint64_t since_ns);

/**
 * hook_losses_named() - read the named processes, after HOOK_LOSSES_NAMED
 *
 * Reads at most HOOK_LOSSES_NAMED_MAX processes, because others may be named as fast as these are
 * read; the next check requests the rest.
 */
void hook_losses_named(struct hook_losses *losses, hook_losses_take_fn take,
		       hook_losses_read_fn read, void *context);

#endif
