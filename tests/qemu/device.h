/* SPDX-License-Identifier: GPL-2.0-only */
/* Access to /dev/dcpi for test programs: wrappers of the ioctls, and checks of invariants. */
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
 * @fd:        its descriptor
 * @cpus:      number of CPUs that the device knows
 * @array:     room for all entries that a CPU may have
 * @capacity:  size of @array, in entries
 * @taken:     samples drained, by CPU
 * @edges:     edges drained, by CPU
 * @entries:   entries drained, by CPU
 * @edge:      called with each edge and @edge_context; may be NULL
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

/* Callback for each drained entry. */
typedef void (*device_sample_fn)(void *context, uint32_t cpu, const struct dcpi_sample *sample);

/**
 * device_open() - open the device; wait briefly if the previous reader is still closing it
 *
 * Return: false if the device could not be opened.
 */
bool device_open(struct device *device);
void device_close(struct device *device);

/**
 * device_permission() - open an event for struct dcpi_config.perf_fd, system-wide, on CPU 0
 *
 * Return: a descriptor; -1 (errno).
 */
int device_permission(uint32_t type, uint64_t event, bool exclude_kernel);

/**
 * device_config() - return a configuration with one cpu-clock event with periods of 200 to 400 us,
 * and the given table and buffer sizes.
 */
struct dcpi_config device_config(uint32_t table_entries, uint32_t buffer_entries);

/** device_ioctl() - call the ioctl. Return: 0 or the errno. */
int device_ioctl(const struct device *device, unsigned long command, const void *argument);

/** device_start() - start, with @array as large as needed. Return: 0 or the errno. */
int device_start(struct device *device, const struct dcpi_config *config);
int device_stop(const struct device *device);
int device_stats(const struct device *device, uint32_t cpu, struct dcpi_stats *stats);

/**
 * device_drain() - drain one CPU into @device->array
 * @visit: called with each sample; may be NULL
 *
 * Return: 0 or the errno; *@count is only set on success.
 */
int device_drain(struct device *device, uint32_t cpu, uint32_t flags, uint32_t *count,
		 device_sample_fn visit, void *context);

/**
 * device_count() - check entries that the module returned, and count them
 * @visit: called with each sample; may be NULL
 *
 * Return: 0, or EBADMSG if there is an invalid entry.
 */
int device_count(struct device *device, uint32_t cpu, const struct dcpi_sample *entries,
		 uint32_t count, device_sample_fn visit, void *context);

/** device_drain_cpus() - DCPI_DRAIN_ALL on all CPUs. Return: 0 or the first errno. */
int device_drain_cpus(struct device *device, device_sample_fn visit, void *context);

/**
 * device_accounted() - return true if every interrupt on every CPU is accounted for
 *
 * Call it only while sampling is stopped. Checks both identities that the uapi header states, and
 * compares the entries received with the number that the module reports as delivered. Prints each
 * check that fails.
 */
bool device_accounted(const struct device *device);

/** device_total() - return the sum of all CPUs' counters, including losses. */
struct dcpi_stats device_total(const struct device *device);

/** device_event_stats() - return the statistics of an event on a CPU; all zero if unavailable. */
struct dcpi_event_stats device_event_stats(const struct device *device, uint32_t cpu,
					   uint32_t event);

/**
 * device_wait() - wait until an event has interrupted a CPU at least @interrupts times
 *
 * Emulated machines are as fast as their host permits. Return: false after half a minute.
 */
bool device_wait(const struct device *device, uint32_t cpu, uint32_t event, uint64_t interrupts);

/** load_start() - start processes that keep all CPUs busy at many places of the kernel and libc. */
void load_start(unsigned int processes);

/** load_fault() - start a process that only touches new pages. */
void load_fault(void);

/** load_spin() - start a process that loops in one small function, on one CPU. */
pid_t load_spin(int cpu);

/** load_spin_here() - run that loop in this process; never returns. */
void load_spin_here(void);

/** load_spin_contains() - return true if a PC lies in that function. */
bool load_spin_contains(uint64_t pc);

/** sleep_ms() - sleep for the whole time, even if signals arrive. */
void sleep_ms(unsigned int ms);

#endif
