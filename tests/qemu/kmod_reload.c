// SPDX-License-Identifier: GPL-2.0-only
/*
 * Load and unload the module under load, and check that nothing is leaked.
 *
 * How leaks are detected: after WARM_UP cycles, which fill caches once, the kernel's own statistics
 * are read, and again after CYCLES more cycles. A leak grows with the number of cycles, noise does
 * not. So the bounds are a small part of one leaked object per cycle:
 *   stores            VmallocUsed, free pages  (512 KiB a CPU and session)
 *   counters          perf_event objects in /proc/slabinfo
 *   per-CPU memory    Percpu
 *   any mapping       no [dcpi] line in /proc/vmallocinfo
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/qemu/device.h"
#include "tests/qemu/tap.h"

#define MODULE_PATH "/lib/dcpi.ko"
/* Returns free objects of CPUs, which slabinfo counts as used. */
#define SHRINK_PATH "/sys/kernel/slab/perf_event/shrink"
#define WARM_UP 15
#define CYCLES 100

static bool module_load(void)
{
	int fd = open(MODULE_PATH, O_RDONLY | O_CLOEXEC);
	bool good = fd >= 0 && syscall(SYS_finit_module, fd, "", 0) == 0;

	close(fd);
	return good;
}

/* A killed reader may need a moment to release the device. */
static bool module_unload(void)
{
	int tries;

	for (tries = 0; tries < 200; tries++, sleep_ms(10)) {
		if (syscall(SYS_delete_module, "dcpi", O_NONBLOCK) == 0)
			return true;
	}
	return false;
}

static void config_busy(struct dcpi_config *config)
{
	*config = device_config(0, 0);
	config->event[0].period_min = 50000;
	config->event[0].period_max = 100000;
}

/* Use the device in one of several ways before exiting, with or without cleaning up. */
static int reader(unsigned int manner)
{
	struct dcpi_config config;
	struct device d;

	config_busy(&config);
	if (!device_open(&d))
		return 1;
	if (manner == 1) {
		config.events = 2;
		config.event[1] = config.event[0];
		config.event[1].type = 0x7fffffff;
		return device_start(&d, &config) == ENOENT ? 0 : 1;
	}
	if (device_start(&d, &config) != 0)
		return 1;
	sleep_ms(10);
	if (device_drain_cpus(&d, NULL, NULL) != 0)
		return 1;
	if (manner == 2)
		return 0;
	if (manner == 3)
		raise(SIGKILL);
	if (device_stop(&d) != 0 || device_start(&d, &config) != 0 || device_stop(&d) != 0)
		return 1;
	return device_accounted(&d) ? 0 : 1;
}

static bool cycle(unsigned int number)
{
	unsigned int manner = number % 5;
	int status = 0;
	pid_t pid;

	CHECK(module_load(), "cycle %u: %s", number, strerror(errno));
	if (manner != 0) {
		fflush(stdout);
		pid = fork();
		if (pid == 0)
			_exit(reader(manner));
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK(manner == 3 ? WIFSIGNALED(status) : status == 0, "cycle %u", number);
	}
	CHECK(module_unload(), "cycle %u: %s", number, strerror(errno));
	return true;
}

struct account {
	long free_kb;
	long vmalloc_kb;
	long percpu_kb;
	long counters;
};

/* Return the number after @key at the start of a line of a file, or -1. */
static long number_after(const char *path, const char *key)
{
	char line[512];
	long number = -1;
	FILE *file = fopen(path, "r");

	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, key, strlen(key)) == 0) {
			number = strtol(line + strlen(key), NULL, 10);
			break;
		}
	}
	if (file)
		fclose(file);
	return number;
}

/* Return the free pages in per-CPU lists, which MemFree does not include. */
static long pages_in_cpu_lists(void)
{
	char line[512];
	long number, sum = 0;
	FILE *file = fopen("/proc/zoneinfo", "r");

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, " count: %ld", &number) == 1)
			sum += number;
	}
	if (file)
		fclose(file);
	return sum;
}

static void write_one(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "1", 1) != 1)
		printf("cannot write %s\n", path);
	close(fd);
}

static bool account_take(struct account *account)
{
	/* Let RCU callbacks and work items finish, and let the page cache free its pages. */
	sleep_ms(1000);
	write_one("/proc/sys/vm/drop_caches");
	write_one(SHRINK_PATH);
	account->free_kb = number_after("/proc/meminfo", "MemFree:") + pages_in_cpu_lists() * 4;
	account->vmalloc_kb = number_after("/proc/meminfo", "VmallocUsed:");
	account->percpu_kb = number_after("/proc/meminfo", "Percpu:");
	account->counters = number_after("/proc/slabinfo", "perf_event ");
	printf("free %ld kB, vmalloc %ld kB, percpu %ld kB, perf_event objects %ld\n",
	       account->free_kb, account->vmalloc_kb, account->percpu_kb, account->counters);
	return account->free_kb > 0 && account->vmalloc_kb > 0 && account->percpu_kb > 0 &&
	       account->counters >= 0;
}

static bool nothing_mapped(void)
{
	char line[512];
	bool good = true;
	FILE *file = fopen("/proc/vmallocinfo", "r");

	if (!file)
		return false;
	while (fgets(line, sizeof(line), file))
		good &= !strstr(line, "[dcpi]");
	fclose(file);
	return good;
}

static bool nothing_is_left_after_100_loads(void)
{
	struct account before, after;
	unsigned int i;

	load_start(3);
	for (i = 0; i < WARM_UP; i++)
		CHECK(cycle(i));
	CHECK(account_take(&before));
	for (i = 0; i < CYCLES; i++)
		CHECK(cycle(i));
	CHECK(account_take(&after));
	CHECK(nothing_mapped());
	CHECK(after.vmalloc_kb - before.vmalloc_kb < CYCLES * 4);
	CHECK(after.percpu_kb - before.percpu_kb < CYCLES * 4);
	CHECK(after.counters - before.counters < CYCLES / 2);
	CHECK(before.free_kb - after.free_kb < CYCLES * 10);
	return true;
}

/* Check the method above: it must detect the objects of a session. */
static bool account_sees_a_session(void)
{
	struct dcpi_config config = device_config(1 << 16, 1 << 15);
	struct account without, with;
	struct device d;
	bool taken;

	/* With few counters, other objects that are freed meanwhile would hide them. */
	for (; config.events < DCPI_EVENTS_MAX; config.events++)
		config.event[config.events] = config.event[0];
	CHECK(module_load());
	CHECK(device_open(&d));
	taken = account_take(&without) && device_start(&d, &config) == 0 && account_take(&with);
	device_close(&d);
	/* Other tests load the module, also if this one fails. */
	CHECK(module_unload());
	CHECK(taken);
	CHECK(without.free_kb - with.free_kb > 2 * 1024);
	CHECK(with.counters > without.counters);
	return true;
}

int main(void)
{
	static const struct tap_test tests[] = {
		TAP_TEST(nothing_is_left_after_100_loads),
		TAP_TEST(account_sees_a_session),
	};

	return tap_main(tests, sizeof(tests) / sizeof(tests[0]));
}
