/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Current and past breakpoints of probes, for samples that are drained later. All functions are
 * thread-safe.
 */
#ifndef DCPI_PROBE_PLACES_H
#define DCPI_PROBE_PLACES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct probe_place - a breakpoint, with times of CLOCK_MONOTONIC; @until_ns 0: it is in place
 * @from: 0: @address is a breakpoint; otherwise the breakpoint of a branch with target @address
 */
struct probe_place {
	uint64_t address;
	uint64_t from;
	uint64_t since_ns;
	uint64_t until_ns;
	uint32_t pid;
};

/**
 * struct probe_area - area in which the kernel single-steps probed instructions of a process
 *
 * The kernel copies each instruction that it does not emulate to this area, executes the copy, and
 * takes another trap after it. During this time the user-space PC is in the area.
 */
struct probe_area {
	struct probe_place place;
	uint64_t end;
};

/* A power of two, many times the number of breakpoints that may be in place together (128). */
#define PROBE_PLACES_NR 4096
#define PROBE_AREAS_NR 64

/**
 * struct probe_places - must be initialised by probe_places_init(); fields are private
 * @table: by a hash of process and address; a later breakpoint replaces an earlier one, whose
 *         samples are no longer recognised
 * @areas: by process, in the same way
 */
struct probe_places {
	pthread_mutex_t lock;
	struct probe_place table[PROBE_PLACES_NR];
	struct probe_area areas[PROBE_AREAS_NR];
};

void probe_places_init(struct probe_places *places);
void probe_places_deinit(struct probe_places *places);

/** probe_places_add() - record that a breakpoint is about to be placed. */
void probe_places_add(struct probe_places *places, uint32_t pid, uint64_t address, uint64_t now_ns);

/** probe_places_remove() - record that a breakpoint has been removed. */
void probe_places_remove(struct probe_places *places, uint32_t pid, uint64_t address,
			 uint64_t now_ns);

/**
 * probe_places_add_area() - record the area of a process with breakpoints
 * @since_ns: when they were placed
 */
void probe_places_add_area(struct probe_places *places, uint32_t pid, uint64_t start, uint64_t end,
			   uint64_t since_ns);

/** probe_places_remove_area() - record that the process's breakpoints have been removed. */
void probe_places_remove_area(struct probe_places *places, uint32_t pid, uint64_t now_ns);

/**
 * probe_places_add_target() - record the target of a single-stepped branch
 *
 * In the trap after the step, this is the user-space PC.
 */
void probe_places_add_target(struct probe_places *places, uint32_t pid, uint64_t from, uint64_t to);

/**
 * probe_places_has() - return true if a process was at a breakpoint
 * @user_pc: its user-space PC, which is the address of the breakpoint or the next byte during the
 *           trap, or in the area of the process
 * @time_ns: when
 */
bool probe_places_has(struct probe_places *places, uint32_t pid, uint64_t user_pc,
		      uint64_t time_ns);

#endif
