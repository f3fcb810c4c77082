/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A machine for a matcher (daemon/collect/matcher.h): in place of /proc, the kernel's images,
 * control groups and the clock. Link fake_machine.c, fake_feed.c, and with
 * -Wl,--wrap=clock_gettime: now is when the last event was.
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
/* Pages as far apart as the addresses that share a match. */
#define MACHINE_STRIDE 0x300000ULL
#define MACHINE_MODULES 0xffffffffc0000000ULL
#define MACHINE_KERNEL_CODE 0xffff900000000000ULL
/* Places of kernel addresses as far apart that they share no match. */
#define MACHINE_KERNEL_STRIDE 0x8000000ULL
/* What each event comes after the last one. */
#define MACHINE_TICK_NS 100000000ULL

enum {
	MACHINE_PIDS = 6,
	MACHINE_PAGES = 12,
	MACHINE_IMAGES = 5,
};

/**
 * struct fake_machine - what the machine would say
 * @generation: of processes
 * @execs:      during the next scans
 * @unit:       of processes, one in three cannot be read
 * @gone:       processes that are no more
 * @map, @table: where modules are registered; @module_loads: one is at the next look
 * @modules_gone: all of them, to be forgotten when no sample of theirs can follow
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

/* Generations are the machine's, and the image map's own. */
extern struct source fake_machine_source, fake_machine_own_source;

/** fake_machine_open() - a matcher, on a machine where nothing has happened. */
struct matcher *fake_machine_open(const struct matcher_config *config);

/** fake_machine_tell() - an event, at the next drain; valid until then. */
struct image_event *fake_machine_tell(enum image_event_type type, uint32_t pid);

/** fake_machine_tell_range() - likewise, of pages of a process. */
struct image_event *fake_machine_tell_range(enum image_event_type type, uint32_t pid, uint64_t page,
					    uint64_t pages);

/** fake_machine_tell_map() - @image: 0 .. MACHINE_IMAGES; 0: of no file */
void fake_machine_tell_map(uint32_t pid, uint64_t page, uint64_t pages, int image);

/** fake_machine_tell_kernel_code() - some of it, as @number says. */
void fake_machine_tell_kernel_code(uint64_t number);

void fake_machine_tell_exec(uint32_t pid);

/** fake_machine_tell_loss() - nothing is known from here on, but for who is scanned again. */
void fake_machine_tell_loss(uint32_t pid);

/** fake_machine_tell_scan() - who was scanned has something again. */
void fake_machine_tell_scan(uint32_t pid, uint64_t number);

#endif
