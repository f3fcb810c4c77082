// SPDX-License-Identifier: GPL-2.0-only
/*
 * For cost_guest.sh.
 *
 *	meter now [PID]
 *		prints the machine's time in ns (with --icount 0: instructions,
 *		as long as it is not idle), the time it was idle, the interrupts
 *		of its PMU, and for how long the process has run, in ns
 *	meter hold TABLE BUFFER
 *		samples 60K-64K cycles with dcpi.ko, and drains nothing, until
 *		SIGTERM; then prints interrupts, hits, misses and samples lost
 */
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* To the nanosecond: /proc/uptime has hundredths of a second. */
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

/* Its main thread; interrupts that struck it are included. */
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

static int hold(uint32_t table, uint32_t buffer)
{
	struct dcpi_config config = device_config(table, buffer);
	struct dcpi_stats s;
	struct device d;
	sigset_t set;
	int got;

	config.event[0].type = PERF_TYPE_HARDWARE;
	config.event[0].config = PERF_COUNT_HW_CPU_CYCLES;
	config.event[0].period_min = 60000;
	config.event[0].period_max = 64000;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (!device_open(&d) || device_start(&d, &config) != 0)
		return 1;
	sigwait(&set, &got);
	device_stop(&d);
	s = device_total(&d);
	printf("%llu %llu %llu %llu\n", s.interrupts, s.hits, s.misses,
	       s.losses[DCPI_LOSS_BUFFERS_FULL] + s.losses[DCPI_LOSS_NESTED]);
	return 0;
}

int main(int argc, char **argv)
{
	if ((argc == 2 || argc == 3) && strcmp(argv[1], "now") == 0)
		return now(argc == 3 ? argv[2] : "self");
	if (argc == 4 && strcmp(argv[1], "hold") == 0)
		return hold((uint32_t)strtoul(argv[2], NULL, 0),
			    (uint32_t)strtoul(argv[3], NULL, 0));
	fprintf(stderr, "usage: meter now [PID] | hold TABLE BUFFER\n");
	return 2;
}
