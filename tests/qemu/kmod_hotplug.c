// SPDX-License-Identifier: GPL-2.0-only
/* Test dcpi.ko while CPUs go offline and come back, and while the machine sleeps. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/qemu/device.h"
#include "tests/qemu/tap.h"

#define SYS_POWER "/sys/power/"

static bool cpu_set(unsigned int cpu, bool online)
{
	char path[64];
	bool good;
	int fd;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	fd = open(path, O_WRONLY);
	good = fd >= 0 && (write(fd, online ? "1" : "0", 1) == 1 || errno == EINVAL);
	close(fd);
	return good;
}

/* A work item creates the counters shortly after the CPU is online. */
static bool sampled_soon(const struct device *d, uint32_t cpu)
{
	struct dcpi_stats first, s;
	int tries;

	for (tries = 0; tries < 100; tries++, sleep_ms(50)) {
		if (device_stats(d, cpu, &first) == 0 && first.online == 1)
			break;
	}
	for (tries = 0; tries < 100; tries++, sleep_ms(50)) {
		if (device_stats(d, cpu, &s) == 0 && s.interrupts > first.interrupts + 10)
			return s.online == 1;
	}
	return false;
}

static bool cpu_leaves_and_returns(void)
{
	struct dcpi_config config = device_config(0, 0);
	struct dcpi_stats gone, later;
	struct device d;

	CHECK(cpu_set(1, true));
	CHECK(device_open(&d));
	CHECK(device_start(&d, &config) == 0);
	CHECK(sampled_soon(&d, 1));
	CHECK(cpu_set(1, false));
	CHECK(device_stats(&d, 1, &gone) == 0);
	CHECK(gone.online == 0 && gone.interrupts > 0 && gone.pending == gone.interrupts);
	sleep_ms(200);
	CHECK(device_stats(&d, 1, &later) == 0 && later.interrupts == gone.interrupts);
	CHECK(device_drain(&d, 1, DCPI_DRAIN_ALL, NULL, NULL, NULL) == 0);
	CHECK(d.taken[1] == gone.interrupts);
	CHECK(cpu_set(1, true));
	CHECK(sampled_soon(&d, 1));
	CHECK(device_stop(&d) == 0);
	CHECK(device_accounted(&d));
	CHECK(device_drain_cpus(&d, NULL, NULL) == 0 && device_accounted(&d));
	return true;
}

static bool cpu_comes_after_start(void)
{
	struct dcpi_config config = device_config(0, 0);
	struct dcpi_stats s;
	struct device d;
	uint32_t count;

	CHECK(cpu_set(1, false));
	CHECK(device_open(&d));
	CHECK(device_start(&d, &config) == 0);
	CHECK(device_stats(&d, 1, &s) == 0 && s.interrupts == 0 && s.online == 0);
	CHECK(device_drain(&d, 1, DCPI_DRAIN_ALL, &count, NULL, NULL) == 0 && count == 0);
	CHECK(cpu_set(1, true));
	CHECK(sampled_soon(&d, 1));
	CHECK(device_stop(&d) == 0 && device_accounted(&d));
	return true;
}

static bool stop_while_a_cpu_is_away(void)
{
	struct dcpi_config config = device_config(0, 0);
	struct dcpi_stats s;
	struct device d;

	CHECK(cpu_set(1, true));
	CHECK(device_open(&d));
	CHECK(device_start(&d, &config) == 0);
	CHECK(sampled_soon(&d, 1));
	CHECK(cpu_set(1, false));
	CHECK(device_stop(&d) == 0 && device_accounted(&d));
	CHECK(device_drain_cpus(&d, NULL, NULL) == 0 && d.taken[1] > 0);
	CHECK(device_accounted(&d));
	CHECK(cpu_set(1, true));
	sleep_ms(200);
	CHECK(device_stats(&d, 1, &s) == 0 && s.online == 0);
	return true;
}

static bool draining_while_a_cpu_comes_and_goes(void)
{
	struct dcpi_config config = device_config(64, 64);
	struct device d;
	unsigned int i;
	pid_t pid;

	CHECK(cpu_set(1, true));
	load_start(3);
	CHECK(device_open(&d));
	CHECK(device_start(&d, &config) == 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		for (i = 0; i < 16; i++) {
			if (!cpu_set(1, i % 2))
				_exit(1);
		}
		_exit(0);
	}
	while (waitpid(pid, &(int){0}, WNOHANG) == 0)
		CHECK(device_drain_cpus(&d, NULL, NULL) == 0);
	CHECK(sampled_soon(&d, 1));
	CHECK(device_stop(&d) == 0 && device_accounted(&d));
	CHECK(device_drain_cpus(&d, NULL, NULL) == 0 && device_accounted(&d));
	return true;
}

/* Start a process that takes CPU 1 offline and back online, @rounds times. */
static pid_t toggle_start(unsigned int rounds)
{
	unsigned int i;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid != 0)
		return pid;
	for (i = 0; i < 2 * rounds; i++) {
		if (!cpu_set(1, i % 2))
			_exit(1);
	}
	_exit(0);
}

static bool running(pid_t pid, bool *good)
{
	int status;

	if (waitpid(pid, &status, WNOHANG) == 0)
		return true;
	*good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	return false;
}

static bool all_drained(struct device *d)
{
	CHECK(device_stop(d) == 0 && device_accounted(d));
	CHECK(device_drain_cpus(d, NULL, NULL) == 0 && device_accounted(d));
	return true;
}

/*
 * Drain as a daemon does: full buffers only, so that the entries in a CPU's table stay there while
 * the CPU is offline.
 */
static bool full_buffers_while_a_cpu_comes_and_goes(void)
{
	struct dcpi_config config = device_config(256, 64);
	bool good = false;
	struct device d;
	uint32_t cpu;
	pid_t pid;

	CHECK(cpu_set(1, true));
	load_start(2);
	load_spin(1);
	CHECK(device_open(&d));
	CHECK(device_start(&d, &config) == 0);
	CHECK(sampled_soon(&d, 1));
	pid = toggle_start(12);
	while (running(pid, &good)) {
		struct pollfd wait = {.fd = d.fd, .events = POLLIN};

		poll(&wait, 1, 20);
		for (cpu = 0; cpu < d.cpus; cpu++)
			CHECK(device_drain(&d, cpu, 0, NULL, NULL, NULL) == 0);
	}
	CHECK(good);
	CHECK(sampled_soon(&d, 1));
	CHECK(all_drained(&d));
	CHECK(d.taken[1] > 0);
	return true;
}

static bool starting_while_a_cpu_comes_and_goes(void)
{
	struct dcpi_config config = device_config(64, 64);
	unsigned int starts = 0;
	bool good = false;
	struct device d;
	pid_t pid;

	CHECK(cpu_set(1, true));
	load_start(2);
	CHECK(device_open(&d));
	pid = toggle_start(12);
	while (running(pid, &good)) {
		CHECK(device_start(&d, &config) == 0, "start %u", starts);
		CHECK(device_drain_cpus(&d, NULL, NULL) == 0);
		CHECK(all_drained(&d));
		starts++;
	}
	CHECK(good);
	CHECK(device_start(&d, &config) == 0);
	CHECK(sampled_soon(&d, 1));
	CHECK(all_drained(&d));
	return true;
}

/* The reader dies and another one follows while a CPU goes offline and comes back. */
static bool readers_change_while_a_cpu_comes_and_goes(void)
{
	struct dcpi_config config = device_config(64, 64);
	bool good = false;
	struct device d;
	pid_t toggle;
	int status;

	CHECK(cpu_set(1, true));
	load_start(2);
	toggle = toggle_start(12);
	while (running(toggle, &good)) {
		pid_t pid;

		fflush(stdout);
		pid = fork();
		if (pid == 0) {
			if (!device_open(&d) || device_start(&d, &config) != 0)
				_exit(1);
			raise(SIGKILL);
		}
		CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
		CHECK(device_open(&d));
		CHECK(device_accounted(&d) && device_total(&d).pending == 0);
		device_close(&d);
	}
	return good;
}

static bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (!good)
		printf("cannot write %s to %s: %s\n", text, path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return good;
}

/* Sleep while sampling and wake up: sampling continues, and no sample is lost or counted twice. */
static bool sampled_across(const char *pm_test, const char *sleep_state)
{
	struct dcpi_config config = device_config(0, 0);
	struct dcpi_stats before, after;
	struct device d;
	uint32_t cpu;

	CHECK(cpu_set(1, true));
	load_start(2);
	CHECK(device_open(&d));
	CHECK(device_start(&d, &config) == 0);
	CHECK(sampled_soon(&d, 0) && sampled_soon(&d, 1));
	CHECK(put(SYS_POWER "pm_test", pm_test));
	before = device_total(&d);
	CHECK(put(SYS_POWER "state", sleep_state));
	after = device_total(&d);
	CHECK(after.interrupts >= before.interrupts);
	for (cpu = 0; cpu < 2; cpu++)
		CHECK(sampled_soon(&d, cpu), "CPU %u", cpu);
	CHECK(all_drained(&d));
	for (cpu = 0; cpu < DCPI_LOSS_NR; cpu++)
		CHECK(device_total(&d).losses[cpu] == 0);
	return true;
}

/*
 * Use the kernel's own test of suspending: all steps except the last one, then resume. Suspending
 * to idle can be tested up to the devices; only real suspending takes the other CPUs offline and
 * stops the clocks.
 */
static bool suspend_of_processes(void)
{
	return sampled_across("freezer", "freeze");
}

static bool suspend_of_devices(void)
{
	return sampled_across("devices", "freeze");
}

/* Return true if "mem" is deeper than suspending to idle. */
static bool sleeps_deeply(void)
{
	char text[64] = "";
	int fd = open(SYS_POWER "mem_sleep", O_RDONLY | O_CLOEXEC);
	bool deeply = fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 && strstr(text, "[deep]");

	if (fd >= 0)
		close(fd);
	if (!deeply)
		printf("no deep sleep here\n");
	return deeply;
}

static bool suspend_of_cpus(void)
{
	return !sleeps_deeply() || sampled_across("processors", "mem");
}

static bool suspend_of_clocks(void)
{
	return !sleeps_deeply() || sampled_across("core", "mem");
}

int main(void)
{
	static const struct tap_test tests[] = {
		TAP_TEST(cpu_leaves_and_returns),
		TAP_TEST(cpu_comes_after_start),
		TAP_TEST(stop_while_a_cpu_is_away),
		TAP_TEST(draining_while_a_cpu_comes_and_goes),
		TAP_TEST(full_buffers_while_a_cpu_comes_and_goes),
		TAP_TEST(starting_while_a_cpu_comes_and_goes),
		TAP_TEST(readers_change_while_a_cpu_comes_and_goes),
		TAP_TEST(suspend_of_processes),
		TAP_TEST(suspend_of_devices),
		TAP_TEST(suspend_of_cpus),
		TAP_TEST(suspend_of_clocks),
	};

	return tap_main(tests, sizeof(tests) / sizeof(tests[0]));
}
