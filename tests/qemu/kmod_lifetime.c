// SPDX-License-Identifier: GPL-2.0-only
/* Test dcpi.ko while readers and processes start and end. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/qemu/device.h"
#include "tests/qemu/tap.h"

/* Open the device and close it again. Return: 0 or the errno of open(). */
static int try_open(void)
{
	int fd = open(DCPI_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static bool exited_well(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool one_reader_at_a_time(void)
{
	struct device d;
	pid_t pid;

	CHECK(device_open(&d));
	CHECK(try_open() == EBUSY);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(try_open() == EBUSY ? 0 : 1);
	CHECK(exited_well(pid));
	device_close(&d);
	CHECK(try_open() == 0);
	return true;
}

static bool module_stays_while_open(void)
{
	struct device d;

	CHECK(device_open(&d));
	CHECK(syscall(SYS_delete_module, "dcpi", O_NONBLOCK) != 0 && errno == EWOULDBLOCK);
	CHECK(try_open() == EBUSY);
	return true;
}

static bool drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};

	return syscall(SYS_capset, &header, none) == 0;
}

static bool start_without_capability(void)
{
	struct dcpi_config config = device_config(0, 0);
	struct device d;

	CHECK(device_open(&d));
	CHECK(drop_capabilities());
	CHECK(device_start(&d, &config) == EPERM);
	CHECK(device_stop(&d) == 0);
	return true;
}

/* Members of the device's group may open the file, but must not keep the daemon from opening it. */
static bool group_members_cannot_open(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	/* The machine's root folder may not be accessible to others. */
	CHECK(chmod("/", 0755) == 0 && chmod("/dev", 0755) == 0);
	CHECK(chown(DCPI_DEVICE_PATH, 0, 65534) == 0 && chmod(DCPI_DEVICE_PATH, 0660) == 0);
	CHECK(pipe(ready) == 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		bool refused = setgid(65534) == 0 && setuid(65534) == 0 && try_open() == EPERM;

		if (write(ready[1], "", 1) == 1)
			sleep_ms(200);
		_exit(refused ? 0 : 1);
	}
	CHECK(read(ready[0], &byte, 1) == 1);
	CHECK(try_open() == 0);
	CHECK(exited_well(pid));
	CHECK(chown(DCPI_DEVICE_PATH, 0, 0) == 0);
	return true;
}

/* Events that the kernel would not permit with perf_event_open(2) are not sampled. */
static bool start_needs_a_permitted_event(void)
{
	struct perf_event_attr task = {
		.size = sizeof(task),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
	};
	struct dcpi_config config = device_config(0, 0);
	struct device d;

	CHECK(device_open(&d));
	config.perf_fd = -1;
	CHECK(device_start(&d, &config) == EBADF);
	config.perf_fd = 1 << 20;
	CHECK(device_start(&d, &config) == EBADF);
	config.perf_fd = d.fd;
	CHECK(device_start(&d, &config) == EBADF);
	config.perf_fd = (int)syscall(SYS_eventfd2, 0, 0);
	CHECK(config.perf_fd >= 0 && device_start(&d, &config) == EBADF);
	config.perf_fd = (int)syscall(SYS_perf_event_open, &task, 0, -1, -1, 0);
	CHECK(config.perf_fd >= 0 && device_start(&d, &config) == EACCES);
	config.perf_fd = device_permission(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, true);
	CHECK(config.perf_fd >= 0 && device_start(&d, &config) == EACCES);
	config.event[0].flags = DCPI_EVENT_EXCLUDE_KERNEL;
	CHECK(device_start(&d, &config) == 0);
	CHECK(device_stop(&d) == 0);
	config = device_config(0, 0);
	config.event[0].type = PERF_TYPE_TRACEPOINT;
	CHECK(device_start(&d, &config) == EACCES);
	return true;
}

static bool strangers_cannot_open(void)
{
	CHECK(chmod("/", 0755) == 0 && chmod("/dev", 0755) == 0);
	CHECK(setgid(65534) == 0 && setuid(65534) == 0);
	CHECK(try_open() == EACCES);
	return true;
}

/* Start a reader that starts sampling, reports that, and waits to be killed. */
static pid_t careless_reader(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	fflush(stdout);
	if (pipe(ready) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		struct dcpi_config config = device_config(0, 0);
		struct device d;

		if (!device_open(&d) || device_start(&d, &config) != 0 ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		return -1;
	close(ready[0]);
	return pid;
}

static bool killed_reader_leaves_an_account(void)
{
	struct dcpi_config config = device_config(0, 0);
	struct dcpi_stats s;
	struct device d;
	uint64_t before;
	pid_t pid;

	load_start(2);
	pid = careless_reader();
	CHECK(pid > 0);
	sleep_ms(500);
	CHECK(try_open() == EBUSY);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CHECK(device_open(&d));
	s = device_total(&d);
	CHECK(s.interrupts > 0 && s.pending == 0 && s.online == 0);
	CHECK(s.losses[DCPI_LOSS_READER_GONE] == s.interrupts);
	CHECK(device_accounted(&d));
	before = s.interrupts;
	sleep_ms(200);
	CHECK(device_total(&d).interrupts == before);
	d.capacity = 1;
	CHECK(device_drain(&d, 0, 0, NULL, NULL, NULL) == ENXIO);
	CHECK(device_start(&d, &config) == 0);
	sleep_ms(200);
	CHECK(device_stop(&d) == 0 && device_accounted(&d));
	CHECK(device_total(&d).losses[DCPI_LOSS_READER_GONE] == 0);
	return true;
}

/* An inherited descriptor keeps the session; closing the last one ends it. */
static bool child_inherits_the_session(void)
{
	struct dcpi_config config = device_config(0, 0);
	struct device d;
	int go[2];
	pid_t pid;
	char byte;

	CHECK(pipe(go) == 0);
	CHECK(device_open(&d));
	CHECK(device_start(&d, &config) == 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		bool good = read(go[0], &byte, 1) == 1 && device_drain_cpus(&d, NULL, NULL) == 0 &&
			    d.taken[0] > 0 && device_stop(&d) == 0 &&
			    device_drain_cpus(&d, NULL, NULL) == 0 && device_accounted(&d);

		fflush(stdout);
		_exit(good ? 0 : 1);
	}
	device_close(&d);
	CHECK(try_open() == EBUSY);
	sleep_ms(200);
	CHECK(write(go[1], "", 1) == 1);
	CHECK(exited_well(pid));
	CHECK(try_open() == 0);
	return true;
}

struct generations {
	uint32_t pid;
	uint64_t samples[DCPI_GENERATION_MAX + 1];
};

static void count_generation(void *context, uint32_t cpu, const struct dcpi_sample *sample)
{
	struct generations *g = context;

	(void)cpu;
	if (dcpi_tag_pid(sample->tag) == g->pid && load_spin_contains(sample->pc))
		g->samples[dcpi_tag_generation(sample->tag)] += dcpi_tag_count(sample->tag);
}

static void exec_spin(int signal)
{
	(void)signal;
	execl("/proc/self/exe", "kmod_lifetime", "--spin", (char *)NULL);
	_exit(1);
}

static int generation_of(const struct device *d, uint32_t pid, uint32_t *generation)
{
	struct dcpi_process process = {.pid = pid, .generation = UINT32_MAX};
	int err = device_ioctl(d, DCPI_IOC_PROCESS, &process);

	*generation = process.generation;
	return err;
}

/* Wait up to half a minute, for emulated machines on a busy host. */
static bool sampled_in(struct device *d, struct generations *g, uint32_t generation)
{
	unsigned int tries;

	for (tries = 0; tries < 300 && g->samples[generation] <= 50; tries++) {
		sleep_ms(100);
		CHECK(device_drain_cpus(d, count_generation, g) == 0);
	}
	CHECK(g->samples[generation] > 50, "%llu", (unsigned long long)g->samples[generation]);
	return true;
}

/* Samples of the same process and the same PCs before and after exec are distinguished. */
static bool exec_changes_the_generation(void)
{
	static struct generations g;
	struct dcpi_config config = device_config(0, 0);
	uint32_t before, after, tries;
	uint64_t all = 0;
	struct device d;
	size_t i;

	signal(SIGUSR1, exec_spin);
	CHECK(device_open(&d));
	g.pid = (uint32_t)load_spin(1);
	CHECK(generation_of(&d, g.pid, &before) == 0);
	CHECK(device_start(&d, &config) == 0);
	CHECK(sampled_in(&d, &g, before));
	kill((pid_t)g.pid, SIGUSR1);
	for (tries = 0; tries < 100; tries++) {
		CHECK(generation_of(&d, g.pid, &after) == 0);
		if (after != before)
			break;
		sleep_ms(20);
	}
	CHECK(after == ((before + 1) & DCPI_GENERATION_MAX), "%u, %u", before, after);
	CHECK(sampled_in(&d, &g, after));
	CHECK(device_stop(&d) == 0);
	CHECK(device_drain_cpus(&d, count_generation, &g) == 0);
	for (i = 0; i <= DCPI_GENERATION_MAX; i++)
		all += g.samples[i];
	CHECK(all == g.samples[before] + g.samples[after]);
	return true;
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(one_reader_at_a_time),
		TAP_TEST(module_stays_while_open),
		TAP_TEST(start_without_capability),
		TAP_TEST(start_needs_a_permitted_event),
		TAP_TEST(group_members_cannot_open),
		TAP_TEST(strangers_cannot_open),
		TAP_TEST(killed_reader_leaves_an_account),
		TAP_TEST(child_inherits_the_session),
		TAP_TEST(exec_changes_the_generation),
	};

	if (argc == 2 && strcmp(argv[1], "--spin") == 0)
		load_spin_here();
	return tap_main(tests, sizeof(tests) / sizeof(tests[0]));
}
