// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure the cost of the image map: bytes per process; nanoseconds per lookup, fork, exec and
 * expiry; and the memory left after many short-lived processes.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "daemon/image/image_map.h"
#include "daemon/image/image_table.h"
#include "loader-hook/image_event.h"
#include "tests/eval/bench/bench.h"

enum {
	PROCESSES = 500,
	MAPPINGS = 40,
	LOOKUPS = 5000000,
	STORM = 200000,
};

/* CPU time of this process, because other processes may be using the machine. */
static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void report(const char *name, const char *workload, double value, const char *unit)
{
	bench_report(name, "image_map", workload, value, unit);
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void map_images(struct image_map *map, uint32_t pid, int count, uint64_t time_ns)
{
	struct image_event event = {.type = IMAGE_EVENT_MAP,
				    .pid = pid,
				    .time_ns = time_ns,
				    .bytes = 0x10000,
				    .build_id_bytes = 20,
				    .path = "/usr/lib/x86_64-linux-gnu/libexample.so.1"};
	int i;

	for (i = 0; i < count; i++) {
		event.start = 0x7f0000000000 + (uint64_t)i * 0x40000;
		memcpy(event.build_id, &i, sizeof(i));
		image_map_event(map, &event);
	}
}

static void fill(struct image_map *map)
{
	uint32_t pid;

	for (pid = 1; pid <= PROCESSES; pid++) {
		struct image_event exec = {
			.type = IMAGE_EVENT_EXEC, .pid = pid, .time_ns = 1, .path = "example"};

		image_map_event(map, &exec);
		map_images(map, pid, MAPPINGS, 1);
	}
}

static void bench_lookups(struct image_map *map)
{
	uint64_t state = 88172645463325252ULL, start = now_ns(), found = 0, generations = 0;
	int i;

	for (i = 0; i < LOOKUPS; i++) {
		uint64_t r = next_random(&state);
		uint32_t pid = 1 + (uint32_t)(r >> 32) % PROCESSES;
		uint64_t pc = 0x7f0000000000 + r % MAPPINGS * 0x40000 + (r >> 20) % 0x10000;

		found += image_map_lookup(map, pid, 1, pc).image != IMAGE_UNKNOWN;
	}
	report("lookup", "random process and PC of 500 x 40 mappings",
	       (double)(now_ns() - start) / LOOKUPS, "ns");
	if (found != LOOKUPS)
		printf("%d lookups failed\n", LOOKUPS - (int)found);
	start = now_ns();
	for (i = 0; i < LOOKUPS; i++)
		generations += image_map_generation(
			map, 1 + (uint32_t)(next_random(&state) % PROCESSES), 9);
	report("generation", "random process of 500",
	       (double)(now_ns() - start) / (double)generations, "ns");
}

/* Fork of a large process, exec, five mappings and exit, as of a compiler process. */
static void bench_storm(struct image_map *map)
{
	uint64_t spent = 0, start, expire = 0, time_ns = 10, peak = 0;
	size_t bytes;
	uint32_t i;

	for (i = 0; i < STORM; i++) {
		uint32_t pid = PROCESSES + 1 + i % 30000;
		struct image_event fork = {
			.type = IMAGE_EVENT_FORK, .pid = pid, .parent = 1, .time_ns = time_ns + 1};
		struct image_event exec = {.type = IMAGE_EVENT_EXEC,
					   .pid = pid,
					   .time_ns = time_ns + 2,
					   .path = "cc1"};
		struct image_event exit = {.type = IMAGE_EVENT_EXIT, .pid = pid};

		time_ns += 2;
		start = now_ns();
		image_map_event(map, &fork);
		image_map_event(map, &exec);
		map_images(map, pid, 5, ++time_ns);
		exit.time_ns = ++time_ns;
		image_map_event(map, &exit);
		spent += now_ns() - start;
		/* Model a thousand processes that end between two drains. */
		if (i % 1000 == 999) {
			image_map_processes(map, &bytes);
			peak = bytes > peak ? bytes : peak;
			start = now_ns();
			image_map_expire(map, time_ns - 100);
			expire += now_ns() - start;
		}
	}
	report("short_process", "fork, exec, 5 maps, exit", (double)spent / STORM, "ns");
	report("expire", "of a process, in the storm", (double)expire / STORM, "ns");
	report("peak_bytes", "storm of 200000 processes", (double)peak, "bytes");
	start = now_ns();
	for (i = 0; i < STORM; i++)
		image_map_expire(map, 5);
	report("expire_nothing", "nothing has ended", (double)(now_ns() - start) / STORM, "ns");
	image_map_processes(map, &bytes);
	report("bytes_afterwards", "storm of 200000 processes", (double)bytes, "bytes");
}

int main(void)
{
	struct image_table *table;
	struct image_map *map;
	size_t bytes;

	if (image_table_create(&table, NULL) < 0 || image_map_create(&map, table, true, NULL) < 0)
		return 1;
	fill(map);
	image_map_processes(map, &bytes);
	report("bytes", "500 processes of 40 mappings", (double)bytes, "bytes");
	report("bytes_per_process", "500 processes of 40 mappings", (double)bytes / PROCESSES,
	       "bytes");
	bench_lookups(map);
	bench_storm(map);
	image_map_destroy(map);
	image_table_destroy(table);
	return 0;
}
