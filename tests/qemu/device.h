/* SPDX-License-Identifier: GPL-2.0-only */
/* /dev/dcpi for test programs: the ioctls themselves, and what must always hold. */
#ifndef DCPI_TESTS_DEVICE_H
#define DCPI_TESTS_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/source/source_chunk.h"

#define DEVICE_CPUS_MAX 64

/**
 * struct device - an open device
 * @fd:        of it
 * @cpus:      CPU numbers it knows
 * @array:     room for everything a CPU may have
 * @capacity:  of @array, in entries
 * @taken:     samples drained, by CPU
 * @edges:     edges drained, by CPU
 * @entries:   entries drained, by CPU
 * @edge:      told of each edge; may be NULL; @edge_context is its context
 */
struct device {
	int fd;
	uint32_t cpus;
	struct dcpi_sample *array;
	uint32_t capacity;
	uint64_t taken[DEVICE_CPUS_MAX];
	uint64_t edges[DEVICE_CPUS_MAX];
	uint64_t entries[DEVICE_CPUS_MAX];
	void (*edge)(void *context, const struct source_edge *edge);
	void *edge_context;
};

/* Looks at one drained entry. */
typedef void (*device_sample_fn)(void *context, uint32_t cpu, const struct dcpi_sample *sample);

/**
 * device_open() - open, waiting a little for a reader that is just going
 *
 * Return: false if that failed.
 */
bool device_open(struct device *device);
void device_close(struct device *device);

/**
 * device_permission() - open an event for struct dcpi_config.perf_fd, system-wide, on CPU 0
 *
 * Return: a descriptor; -1 (errno).
 */
int device_permission(uint32_t type, uint64_t event, bool exclude_kernel);

/** device_config() - one cpu-clock event at 200 to 400 us, and this geometry. */
struct dcpi_config device_config(uint32_t table_entries, uint32_t buffer_entries);

/** device_ioctl() - Return: 0 or the errno. */
int device_ioctl(const struct device *device, unsigned long command, const void *argument);

/** device_start() - start, with @array as large as needed. Return: 0 or the errno. */
int device_start(struct device *device, const struct dcpi_config *config);
int device_stop(const struct device *device);
int device_stats(const struct device *device, uint32_t cpu, struct dcpi_stats *stats);

/**
 * device_drain() - drain one CPU into @device->array
 * @visit: may be NULL
 *
 * Return: 0 or the errno; *@count is only set on success.
 */
int device_drain(struct device *device, uint32_t cpu, uint32_t flags, uint32_t *count,
		 device_sample_fn visit, void *context);

/**
 * device_count() - look at entries that were given, and count them
 * @visit: of each sample; may be NULL
 *
 * Return: 0, or EBADMSG: there is one that must not be there.
 */
int device_count(struct device *device, uint32_t cpu, const struct dcpi_sample *entries,
		 uint32_t count, device_sample_fn visit, void *context);

/** device_drain_cpus() - DCPI_DRAIN_ALL on all CPUs. Return: 0 or the first errno. */
int device_drain_cpus(struct device *device, device_sample_fn visit, void *context);

/**
 * device_accounted() - whether every interrupt is accounted for, on all CPUs
 *
 * At rest only. Both identities of the uapi, and what we were given against
 * what the module says it gave. Prints what doesn't hold.
 */
bool device_accounted(const struct device *device);

/** device_total() - the sum of all CPUs' counters, losses too. */
struct dcpi_stats device_total(const struct device *device);

/** device_event_stats() - of an event on a CPU; zeros if they are not to be had. */
struct dcpi_event_stats device_event_stats(const struct device *device, uint32_t cpu,
					   uint32_t event);

/**
 * device_wait() - wait until an event has interrupted a CPU so often
 *
 * Emulated machines are as fast as their host lets them. Return: false if half
 * a minute did not do.
 */
bool device_wait(const struct device *device, uint32_t cpu, uint32_t event, uint64_t interrupts);

/** load_start() - processes that keep all CPUs busy all over the kernel and libc. */
void load_start(unsigned int processes);

/** load_fault() - a process that does nothing but touch fresh pages. */
void load_fault(void);

/** load_spin() - a process that does nothing but turn in one small function, on one CPU. */
pid_t load_spin(int cpu);

/** load_spin_here() - be that process: never returns. */
void load_spin_here(void);

/** load_spin_contains() - whether a PC lies in that function. */
bool load_spin_contains(uint64_t pc);

/** sleep_ms() - sleep, whatever signals come. */
void sleep_ms(unsigned int ms);

#endif
