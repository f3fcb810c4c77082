// SPDX-License-Identifier: GPL-2.0-only
/*
 * Descriptors of dcpi.ko in several processes: a session lasts until the last copy is closed, no
 * matter which processes hold it and how they end. Afterwards everything is accounted for.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/qemu/device.h"
#include "tests/qemu/tap.h"

#define KILLS 60
#define OPENERS 6
#define OPENS 300
/* Number of the descriptor that a program inherits through exec. */
#define INHERITED_FD 17

static uint64_t state = 1;

/* xorshift64 */
static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

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

/* Small, so that buffers fill up and the reader is woken often. */
static struct dcpi_config config_small(void)
{
	return device_config(64, 64);
}

static bool still_sampling(const struct device *d)
{
	uint64_t before = device_total(d).interrupts;
	int tries;

	for (tries = 0; tries < 100; tries++, sleep_ms(20)) {
		if (device_total(d).interrupts > before + 10)
			return true;
	}
	return false;
}

/* After the last holder has closed it, all samples that were not delivered are recorded as lost. */
static bool ended_accounted(void)
{
	struct dcpi_stats s;
	struct device d;
	uint32_t cpu;

	CHECK(device_open(&d));
	s = device_total(&d);
	CHECK(s.pending == 0 && s.online == 0);
	for (cpu = 0; cpu < d.cpus; cpu++) {
		CHECK(device_stats(&d, cpu, &s) == 0);
		d.taken[cpu] = s.delivered;
		d.entries[cpu] = s.delivered_entries;
	}
	CHECK(device_accounted(&d));
	device_close(&d);
	return true;
}

/* Use the device forever as readers do; the process may be killed at any point in here. */
static void read_for_ever(struct device *d)
{
	struct dcpi_config config = config_small();
	struct pollfd wait = {.fd = d->fd, .events = POLLIN};
	uint32_t cpu;

	for (;;) {
		device_start(d, &config);
		while (next() % 8 != 0) {
			poll(&wait, 1, (int)(next() % 10));
			for (cpu = 0; cpu < d->cpus; cpu++)
				device_drain(d, cpu, next() % 2 ? DCPI_DRAIN_ALL : 0, NULL, NULL,
					     NULL);
		}
		device_stop(d);
	}
}

/* Start a reader in a separate process; it opens the device itself. */
static pid_t reader_start(uint64_t seed)
{
	struct device d;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid != 0)
		return pid;
	state = seed;
	if (!device_open(&d))
		_exit(1);
	read_for_ever(&d);
	_exit(1);
}

static void kill_and_wait(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static bool readers_killed_anywhere(void)
{
	struct timespec moment;
	unsigned int i, started = 0;
	pid_t pid;

	load_start(2);
	for (i = 0; i < KILLS; i++) {
		struct device d;

		pid = reader_start(i + 1);
		CHECK(pid > 0);
		moment = (struct timespec){.tv_nsec = (long)(next() % 60000000)};
		nanosleep(&moment, NULL);
		kill_and_wait(pid);
		/*
		 * If the reader was killed before any start, no samples need to be accounted for.
		 */
		CHECK(device_open(&d));
		if (device_total(&d).interrupts == 0) {
			device_close(&d);
			continue;
		}
		device_close(&d);
		CHECK(ended_accounted());
		started++;
	}
	printf("%u of %u readers were killed after a sample\n", started, i);
	CHECK(started > 5);
	return true;
}

/*
 * The reader is killed; a copy of its descriptor lives on in another process, finally only there.
 */
static bool copies_outlive_a_killed_reader(void)
{
	unsigned int i;

	load_start(2);
	for (i = 0; i < 8; i++) {
		struct dcpi_config config = config_small();
		struct device d;
		pid_t reader;

		CHECK(device_open(&d));
		CHECK(device_start(&d, &config) == 0);
		fflush(stdout);
		reader = fork();
		if (reader == 0) {
			for (;;)
				device_drain(&d, (uint32_t)(next() % d.cpus), next() % 2, NULL,
					     NULL, NULL);
		}
		sleep_ms(20 + (unsigned int)(next() % 50));
		kill_and_wait(reader);
		CHECK(try_open() == EBUSY);
		CHECK(still_sampling(&d));
		device_close(&d);
		CHECK(ended_accounted());
	}
	return true;
}

/* The sums of two processes that drain the same device. */
struct shared {
	uint64_t taken[DEVICE_CPUS_MAX];
	uint64_t entries[DEVICE_CPUS_MAX];
	int holders;
};

static struct shared *shared_create(void)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return shared == MAP_FAILED ? NULL : shared;
}

static bool drain_for_a_while(struct device *d)
{
	int i;

	for (i = 0; i < 100; i++) {
		CHECK(device_drain_cpus(d, NULL, NULL) == 0);
		sleep_ms(5);
	}
	return true;
}

static bool child_and_parent_both_drain(void)
{
	struct dcpi_config config = config_small();
	struct shared *child = shared_create();
	struct device d;
	uint32_t cpu;
	pid_t pid;

	CHECK(child);
	load_start(2);
	CHECK(device_open(&d));
	CHECK(device_start(&d, &config) == 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		bool good = drain_for_a_while(&d);

		memcpy(child->taken, d.taken, sizeof(d.taken));
		memcpy(child->entries, d.entries, sizeof(d.entries));
		fflush(stdout);
		_exit(good ? 0 : 1);
	}
	CHECK(drain_for_a_while(&d));
	CHECK(exited_well(pid));
	CHECK(device_stop(&d) == 0);
	CHECK(device_drain_cpus(&d, NULL, NULL) == 0);
	CHECK(child->taken[0] > 0 && d.taken[0] > 0);
	for (cpu = 0; cpu < d.cpus; cpu++) {
		d.taken[cpu] += child->taken[cpu];
		d.entries[cpu] += child->entries[cpu];
	}
	CHECK(device_accounted(&d));
	return true;
}

/* If any number of processes open the device at once, exactly one succeeds. */
static void open_for_a_while(struct shared *shared)
{
	unsigned int i, got = 0;

	for (i = 0; i < OPENS || got == 0; i++) {
		int fd = open(DCPI_DEVICE_PATH, O_RDWR | O_CLOEXEC);

		if (fd < 0 && errno == EBUSY)
			continue;
		if (fd < 0 || __atomic_add_fetch(&shared->holders, 1, __ATOMIC_SEQ_CST) != 1)
			_exit(1);
		got++;
		__atomic_sub_fetch(&shared->holders, 1, __ATOMIC_SEQ_CST);
		close(fd);
	}
	_exit(0);
}

static bool one_of_many_openers(void)
{
	struct shared *shared = shared_create();
	pid_t pid[OPENERS];
	unsigned int i;

	CHECK(shared);
	fflush(stdout);
	for (i = 0; i < OPENERS; i++) {
		pid[i] = fork();
		if (pid[i] == 0)
			open_for_a_while(shared);
	}
	for (i = 0; i < OPENERS; i++)
		CHECK(exited_well(pid[i]));
	CHECK(try_open() == 0);
	return true;
}

/* The program's task after exec: use the inherited device, or verify that there is none. */
static int be_inherited(const char *how)
{
	struct device d = {.fd = INHERITED_FD};
	struct dcpi_version version = {};

	if (strcmp(how, "none") == 0)
		return device_ioctl(&d, DCPI_IOC_VERSION, &version) == EBADF && try_open() == 0 ? 0
												: 1;
	if (device_ioctl(&d, DCPI_IOC_VERSION, &version) != 0 || try_open() != EBUSY)
		return 1;
	d.cpus = version.cpus;
	d.capacity = 64 + 2 * 64;
	d.array = calloc(d.capacity, sizeof(*d.array));
	if (!d.array || !still_sampling(&d) || device_drain_cpus(&d, NULL, NULL) != 0 ||
	    device_stop(&d) != 0 || device_drain_cpus(&d, NULL, NULL) != 0)
		return 1;
	return device_accounted(&d) && d.taken[0] > 0 ? 0 : 1;
}

static bool exec_with(int flags, const char *how)
{
	struct dcpi_config config = config_small();
	struct device d;
	pid_t pid;

	load_start(2);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (!device_open(&d) || device_start(&d, &config) != 0 ||
		    dup3(d.fd, INHERITED_FD, flags) < 0)
			_exit(1);
		execl("/proc/self/exe", "kmod_readers", "--inherited", how, (char *)NULL);
		_exit(1);
	}
	CHECK(exited_well(pid));
	CHECK(ended_accounted());
	return true;
}

static bool exec_keeps_the_session(void)
{
	return exec_with(0, "used");
}

/* device_open() opens with O_CLOEXEC, and the copy has the flag, too: exec closes both. */
static bool exec_closes_the_session(void)
{
	return exec_with(O_CLOEXEC, "none");
}

static bool fd_send(int socket, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof(fd))] = {};
	struct iovec data = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	return sendmsg(socket, &message, 0) == 1;
}

static int fd_receive(int socket)
{
	char byte, control[CMSG_SPACE(sizeof(int))] = {};
	struct iovec data = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header;
	int fd = -1;

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

/* A process that opens the device, starts sampling, sends the descriptor, and exits. */
static bool sender(int socket)
{
	struct dcpi_config config = config_small();
	struct device d;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(device_open(&d) && device_start(&d, &config) == 0 && fd_send(socket, d.fd)
			      ? 0
			      : 1);
	return exited_well(pid);
}

static bool descriptor_travels_through_a_socket(void)
{
	struct device d = {.cpus = 1, .capacity = 64 + 2 * 64};
	int ends[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	load_start(2);
	CHECK(sender(ends[0]));
	/* No process has the descriptor: it is in the socket. */
	CHECK(try_open() == EBUSY);
	CHECK(syscall(SYS_delete_module, "dcpi", O_NONBLOCK) != 0 && errno == EWOULDBLOCK);
	d.fd = fd_receive(ends[1]);
	CHECK(d.fd >= 0);
	d.array = calloc(d.capacity, sizeof(*d.array));
	CHECK(d.array && still_sampling(&d));
	CHECK(device_drain_cpus(&d, NULL, NULL) == 0 && d.taken[0] > 0);
	CHECK(device_stop(&d) == 0 && device_drain_cpus(&d, NULL, NULL) == 0);
	CHECK(device_accounted(&d));
	device_close(&d);
	CHECK(ended_accounted());
	return true;
}

static bool descriptor_dies_in_a_socket(void)
{
	int ends[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	CHECK(sender(ends[0]));
	CHECK(try_open() == EBUSY);
	close(ends[0]);
	close(ends[1]);
	CHECK(ended_accounted());
	return true;
}

/* A process that sleeps in poll() holds the session; killing it releases the session. */
static bool killed_in_poll(void)
{
	struct dcpi_config config = device_config(0, 0);
	struct device d;
	pid_t pid;

	CHECK(device_open(&d));
	CHECK(device_start(&d, &config) == 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct pollfd wait = {.fd = d.fd, .events = POLLIN};

		for (;;)
			poll(&wait, 1, -1);
	}
	device_close(&d);
	sleep_ms(100);
	CHECK(try_open() == EBUSY);
	kill_and_wait(pid);
	CHECK(ended_accounted());
	return true;
}

static bool module_load(void)
{
	int fd = open("/lib/dcpi.ko", O_RDONLY | O_CLOEXEC);
	bool good = fd >= 0 && syscall(SYS_finit_module, fd, "", 0) == 0;

	close(fd);
	return good;
}

static bool module_unloads_after_the_last_copy(void)
{
	struct dcpi_config config = device_config(0, 0);
	struct device d;
	int copy;

	CHECK(device_open(&d));
	CHECK(device_start(&d, &config) == 0);
	copy = dup(d.fd);
	CHECK(copy >= 0);
	CHECK(syscall(SYS_delete_module, "dcpi", O_NONBLOCK) != 0 && errno == EWOULDBLOCK);
	device_close(&d);
	CHECK(syscall(SYS_delete_module, "dcpi", O_NONBLOCK) != 0 && errno == EWOULDBLOCK);
	close(copy);
	CHECK(syscall(SYS_delete_module, "dcpi", O_NONBLOCK) == 0);
	CHECK(try_open() == ENOENT);
	CHECK(module_load());
	CHECK(try_open() == 0);
	return true;
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(readers_killed_anywhere),
		TAP_TEST(copies_outlive_a_killed_reader),
		TAP_TEST(child_and_parent_both_drain),
		TAP_TEST(one_of_many_openers),
		TAP_TEST(exec_keeps_the_session),
		TAP_TEST(exec_closes_the_session),
		TAP_TEST(descriptor_travels_through_a_socket),
		TAP_TEST(descriptor_dies_in_a_socket),
		TAP_TEST(killed_in_poll),
		TAP_TEST(module_unloads_after_the_last_copy),
	};

	if (argc == 3 && strcmp(argv[1], "--inherited") == 0)
		return be_inherited(argv[2]);
	return tap_main(tests, sizeof(tests) / sizeof(tests[0]));
}
