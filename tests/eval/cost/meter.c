// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measurements for cost_guest.sh.
 *
 * - meter now [PID]: print the machine's time in ns, its idle time, the interrupts of its PMU, and
 *   the CPU time of the process in ns. With --icount 0, the time counts instructions as long as the
 *   machine is not idle.
 * - meter hold TABLE BUFFER: sample every 60K-64K cycles with dcpi.ko, and drain nothing until
 *   SIGTERM. Then print interrupts, hits, misses and samples lost.
 * - meter keys: sample in the same way, with default sizes of table and buffers, and drain until
 *   SIGTERM. Then print the samples, their entries, the number of different keys (process,
 *   generation and address), the number of different addresses, and samples lost.
 */
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/u64_map.h"
#include "tests/qemu/device.h"

/* The sum of the numbers after "NN:" in the line of /proc/interrupts. */
static unsigned long long pmu_interrupts(void)
{
	unsigned long long sum = 0;
	char line[512];
	FILE *file = fopen("/proc/interrupts", "r");

	while (file && fgets(line, sizeof(line), file)) {
		char *at = strchr(line, ':'), *end;

		if (!at || !strstr(line, "arm-pmu"))
			continue;
		for (at++;; at = end) {
			unsigned long long n = strtoull(at, &end, 10);

			if (end == at)
				break;
			sum += n;
		}
	}
	if (file)
		fclose(file);
	return sum;
}

/* In nanoseconds: /proc/uptime has only hundredths of a second. */
static unsigned long long idle_ns(void)
{
	unsigned long long sum = 0, one;
	char line[512];
	FILE *file = fopen("/proc/timer_list", "r");

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, " .idle_sleeptime : %llu", &one) == 1)
			sum += one;
	}
	if (file)
		fclose(file);
	return sum;
}

/* CPU time of the main thread, including interrupts during that time. */
static unsigned long long run_ns(const char *pid)
{
	unsigned long long ns = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/schedstat", pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%llu", &ns) != 1)
		ns = 0;
	if (file)
		fclose(file);
	return ns;
}

static int now(const char *pid)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	printf("%llu %llu %llu %llu\n",
	       (unsigned long long)ts.tv_sec * 1000000000 + (unsigned long long)ts.tv_nsec,
	       idle_ns(), pmu_interrupts(), run_ns(pid));
	return 0;
}

static bool sampling_start(struct device *device, uint32_t table, uint32_t buffer)
{
	struct dcpi_config config = device_config(table, buffer);

	config.event[0].type = PERF_TYPE_HARDWARE;
	config.event[0].config = PERF_COUNT_HW_CPU_CYCLES;
	config.event[0].period_min = 60000;
	config.event[0].period_max = 64000;
	return device_open(device) && device_start(device, &config) == 0;
}

static unsigned long long lost(const struct dcpi_stats *s)
{
	return s->losses[DCPI_LOSS_BUFFERS_FULL] + s->losses[DCPI_LOSS_NESTED];
}

static int hold(const sigset_t *end, uint32_t table, uint32_t buffer)
{
	struct dcpi_stats s;
	struct device d;
	int got;

	if (!sampling_start(&d, table, buffer))
		return 1;
	sigwait(end, &got);
	device_stop(&d);
	s = device_total(&d);
	printf("%llu %llu %llu %llu\n", s.interrupts, s.hits, s.misses, lost(&s));
	return 0;
}

struct different {
	struct u64_map keys;
	struct u64_map addresses;
};

/* A key of 128 bits is hashed to 64 bits: with a million keys, two collide once in 10^7 runs. */
static void key_see(void *context, uint32_t cpu, const struct dcpi_sample *sample)
{
	struct different *seen = context;
	uint64_t key = sample->tag >> DCPI_COUNT_BITS;

	(void)cpu;
	key = (key ^ sample->pc * 0x9e3779b97f4a7c15) * 0xd6e8feb86659fd93;
	key ^= key >> 32;
	if (!u64_map_insert(&seen->keys, key * 0xd6e8feb86659fd93 + sample->pc) ||
	    !u64_map_insert(&seen->addresses, sample->pc))
		abort();
}

static int keys(const sigset_t *end)
{
	const struct timespec pause = {.tv_nsec = 500000000};
	struct different seen = {{.used = 0}, {.used = 0}};
	struct dcpi_stats s;
	struct device d;
	int signal;

	if (!sampling_start(&d, 0, 0))
		return 1;
	do {
		signal = sigtimedwait(end, NULL, &pause);
		if (signal == SIGTERM)
			device_stop(&d);
		if (device_drain(&d, 0, signal == SIGTERM ? DCPI_DRAIN_ALL : 0, NULL, key_see,
				 &seen) != 0)
			return 1;
	} while (signal != SIGTERM);
	s = device_total(&d);
	printf("%llu %llu %zu %zu %llu\n", (unsigned long long)d.taken[0],
	       (unsigned long long)d.entries[0], u64_map_count(&seen.keys),
	       u64_map_count(&seen.addresses), lost(&s));
	return 0;
}

int main(int argc, char **argv)
{
	sigset_t end;

	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigprocmask(SIG_BLOCK, &end, NULL);
	if ((argc == 2 || argc == 3) && strcmp(argv[1], "now") == 0)
		return now(argc == 3 ? argv[2] : "self");
	if (argc == 4 && strcmp(argv[1], "hold") == 0)
		return hold(&end, (uint32_t)strtoul(argv[2], NULL, 0),
			    (uint32_t)strtoul(argv[3], NULL, 0));
	if (argc == 2 && strcmp(argv[1], "keys") == 0)
		return keys(&end);
	fprintf(stderr, "usage: meter now [PID] | hold TABLE BUFFER | keys\n");
	return 2;
}
