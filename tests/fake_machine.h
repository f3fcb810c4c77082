/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A simulated machine for a matcher (daemon/collect/matcher.h): it replaces /proc, the kernel's
 * images, control groups and the clock. Link fake_machine.c and fake_feed.c with
 * -Wl,--wrap=clock_gettime: the current time is that of the last event.
 */
#ifndef DCPI_FAKE_MACHINE_H
#define DCPI_FAKE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/collect/matcher.h"
#include "daemon/source/source.h"
#include "tests/fake_feed.h"

#define MACHINE_BASE 0x400000ULL
#define MACHINE_PAGE 0x1000ULL
/* Distance of pages: that of addresses that can share a match. */
#define MACHINE_STRIDE 0x300000ULL
#define MACHINE_MODULES 0xffffffffc0000000ULL
#define MACHINE_KERNEL_CODE 0xffff900000000000ULL
/* Distance of kernel addresses: large enough that they never share a match. */
#define MACHINE_KERNEL_STRIDE 0x8000000ULL
/* Time between two events. */
#define MACHINE_TICK_NS 100000000ULL

enum {
	MACHINE_PIDS = 6,
	MACHINE_PAGES = 12,
	MACHINE_IMAGES = 5,
};

/**
 * struct fake_machine - state that the simulated machine reports
 * @generation: of each process
 * @execs:      number of execs during the next scans
 * @unit:       of each process; one in three cannot be read
 * @gone:       processes that have ended
 * @map, @table: where modules are registered; @module_loads: one is loaded at the next refresh
 * @modules_gone: all of them, to be dropped when none of their samples can follow
 */
struct fake_machine {
	uint32_t generation[MACHINE_PIDS + 2];
	unsigned int execs;
	unsigned int unit[MACHINE_PIDS + 2];
	bool gone[MACHINE_PIDS + 2];
	struct image_map *map;
	struct image_table *table;
	uint64_t module_loads;
	bool modules_gone;
};

extern struct fake_machine fake_machine;

/* Sources with the machine's generations, and with the image map's own. */
extern struct source fake_machine_source, fake_machine_own_source;

/** fake_machine_open() - open a matcher on a machine without any events so far */
struct matcher *fake_machine_open(const struct matcher_config *config);

/** fake_machine_tell() - add an event for the next drain; valid until then */
struct image_event *fake_machine_tell(enum image_event_type type, uint32_t pid);

/** fake_machine_tell_range() - add an event about pages of a process for the next drain */
struct image_event *fake_machine_tell_range(enum image_event_type type, uint32_t pid, uint64_t page,
					    uint64_t pages);

/** fake_machine_tell_map() - add a mapping of @image: 1 .. MACHINE_IMAGES; 0: not of a file */
void fake_machine_tell_map(uint32_t pid, uint64_t page, uint64_t pages, int image);

/** fake_machine_tell_kernel_code() - add a piece of kernel code chosen by @number */
void fake_machine_tell_kernel_code(uint64_t number);

void fake_machine_tell_exec(uint32_t pid);

/**
 * fake_machine_tell_loss() - report lost events of @pid, or of all processes if 0, then new scans
 */
void fake_machine_tell_loss(uint32_t pid);

/** fake_machine_tell_scan() - report a new scan of @pid, with a mapping chosen by @number */
void fake_machine_tell_scan(uint32_t pid, uint64_t number);

#endif
