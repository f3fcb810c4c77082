/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the BPF hook has not told, by its own counts and the kernel's: what to tell
 * instead, and what to read from /proc. Internal to bpf_hook.c.
 *
 * Of a record without room the process is known, as long as there are not too many of
 * them; it is read anew. Where the kernel did not run the program (it does not where
 * that is active on the same CPU already: recursion misses), or more was lost than is
 * known, it may have been any process: nobody's mappings are known from the look before
 * to this one (LOST of process 0), and all are read, once a second at most.
 */
#ifndef DCPI_HOOK_LOSSES_H
#define DCPI_HOOK_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "loader-hook/image_event.h"

/**
 * struct hook_counts - since the hook was opened
 * @records: without room, or unreadable
 * @unnamed: of these, those whose process is not known
 * @runs:    that the kernel left out
 */
struct hook_counts {
	uint64_t records;
	uint64_t unnamed;
	uint64_t runs;
};

/**
 * struct hook_losses - zeroed: nothing was lost
 * @counts:     as of the last look
 * @looked_ns:  when a look began before which nothing is missing that was not told
 * @scanned_ns: when all processes were read
 * @all_due:    all processes must be read
 * @named_left: not all that are named were read
 * @named_ns:   since when these may have lost something
 */
struct hook_losses {
	struct hook_counts counts;
	uint64_t looked_ns;
	uint64_t scanned_ns;
	bool all_due;
	bool named_left;
	uint64_t named_ns;
};

/* What is to be read from /proc after a look; first the one, then the other. */
#define HOOK_LOSSES_NAMED 1U /* the processes of records without room */
#define HOOK_LOSSES_ALL 2U   /* all there are */

/* As many as the kernel's program names at a time: more come while these are read. */
#define HOOK_LOSSES_NAMED_MAX 1024

/**
 * hook_losses_look() - take note of the counts, after what is in the ring was delivered
 * @began_ns: when the drain began
 * @now_ns:   when the counts had been read
 *
 * Return: what to read, HOOK_LOSSES_*.
 */
unsigned int hook_losses_look(struct hook_losses *losses, const struct hook_counts *counts,
			      uint64_t began_ns, uint64_t now_ns, image_event_fn handle,
			      void *context);

/** hook_losses_take_fn - take one of the processes that are named; false: there is none */
typedef bool (*hook_losses_take_fn)(void *context, uint32_t *pid);

/** hook_losses_read_fn - read it; it may have lost something since @since_ns */
typedef void (*hook_losses_read_fn)(void *context, uint32_t pid, uint64_t since_ns);

/**
 * hook_losses_named() - read the processes that are named, after HOOK_LOSSES_NAMED
 *
 * No more than HOOK_LOSSES_NAMED_MAX of them, since others may come as fast as these are read;
 * the next look asks for the rest.
 */
void hook_losses_named(struct hook_losses *losses, hook_losses_take_fn take,
		       hook_losses_read_fn read, void *context);

#endif
