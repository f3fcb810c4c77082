// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/broker.h"
#include "lib/error.h"
#include "lib/parse_guard.h"
#include "lib/sandbox.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZER 1
#else
#define SANITIZER 0
#endif

#define MEMORY (64ULL << 20)

static const struct sandbox_limits limits = {.memory_bytes = MEMORY, .files = 32};

/* Run @function in a sandboxed process. Return: its result. */
static int in_sandbox(int (*function)(void))
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		struct error err;

		_exit(sandbox_enter(&limits, &err) < 0 ? 255 : function());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (!WIFEXITED(status))
		print_message("ended by signal %d\n", WTERMSIG(status));
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define REFUSED(call) (errno = 0, (long)(call) == -1 && errno == EPERM)

/* Return: 0, or the number of the first call that was not refused. */
static int try_files(void)
{
	int step = 1;

	if (!SANITIZER && !REFUSED(syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY)))
		return step;
	step++;
	if (!REFUSED(syscall(SYS_mkdirat, AT_FDCWD, "/tmp/sandbox", 0700)))
		return step;
	step++;
	if (!REFUSED(syscall(SYS_unlinkat, AT_FDCWD, "/tmp/sandbox", 0)))
		return step;
	step++;
	if (!REFUSED(syscall(SYS_renameat2, AT_FDCWD, "/tmp/a", AT_FDCWD, "/tmp/b", 0)))
		return step;
	step++;
	if (!REFUSED(syscall(SYS_linkat, AT_FDCWD, "/etc/passwd", AT_FDCWD, "/tmp/b", 0)))
		return step;
	step++;
	if (!REFUSED(syscall(SYS_chroot, "/")))
		return step;
	step++;
	if (!REFUSED(syscall(SYS_fchmodat, AT_FDCWD, "/tmp", 0777)))
		return step;
	return 0;
}

static int try_processes(void)
{
	char *const nothing[] = {NULL};
	int step = 1;

	if (!SANITIZER && !REFUSED(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)))
		return step;
	step++;
	if (!REFUSED(syscall(SYS_execve, "/bin/true", nothing, nothing)))
		return step;
	step++;
	if (!SANITIZER && !REFUSED(syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0)))
		return step;
	step++;
	if (!SANITIZER && !REFUSED(kill(getppid(), SIGKILL)))
		return step;
	step++;
	if (!REFUSED(syscall(SYS_setresuid, 0, 0, 0)))
		return step;
	step++;
	if (!SANITIZER && !REFUSED(syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0)))
		return step;
	step++;
	if (!REFUSED(syscall(SYS_bpf, 0, NULL, 0)))
		return step;
	step++;
	if (!REFUSED(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0)))
		return step;
	step++;
	/* io_uring would execute calls that the filter does not see. */
	if (!REFUSED(syscall(425, 1, NULL)))
		return step;
	return 0;
}

static int try_others(void)
{
	struct rlimit all = {.rlim_cur = 1, .rlim_max = 1};
	int step = 1;

	if (!REFUSED(socket(AF_INET, SOCK_STREAM, 0)))
		return step;
	step++;
	if (!REFUSED(socket(AF_UNIX, SOCK_STREAM, 0)))
		return step;
	step++;
	if (!REFUSED(syscall(SYS_ioctl, 0, TIOCSTI, "x")))
		return step;
	step++;
	if (!REFUSED(syscall(SYS_fcntl, 0, F_SETOWN, getppid())))
		return step;
	step++;
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	    MAP_FAILED)
		return step;
	step++;
	if (!REFUSED(syscall(SYS_mprotect, (uintptr_t)try_others & ~4095UL, 4096,
			     PROT_READ | PROT_WRITE | PROT_EXEC)))
		return step;
	step++;
	if (!SANITIZER && !REFUSED(syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &all, NULL)))
		return step;
	return 0;
}

static void test_refuses_system_calls(void **state)
{
	(void)state;
	assert_int_equal(in_sandbox(try_files), 0);
	assert_int_equal(in_sandbox(try_processes), 0);
	assert_int_equal(in_sandbox(try_others), 0);
}

static void *add(void *number)
{
	++*(int *)number;
	return NULL;
}

/* System calls of a report. */
static int work(void)
{
	_Thread_local static int number;
	pthread_t thread;
	FILE *file;
	int fd;

	if (pthread_create(&thread, NULL, add, &number) != 0 || pthread_join(thread, NULL) != 0 ||
	    number != 1)
		return 1;
	fd = memfd_create("test", MFD_CLOEXEC);
	file = fd >= 0 ? fdopen(fd, "w+") : NULL;
	if (file == NULL || fprintf(file, "%d", 12345) != 5 || fflush(file) != 0 ||
	    lseek(fd, 0, SEEK_CUR) != 5 || fclose(file) != 0)
		return 2;
	for (size_t bytes = 1; bytes < MEMORY / 4; bytes *= 2) {
		char *memory = malloc(bytes);

		if (memory == NULL)
			return 3;
		memset(memory, 1, bytes);
		free(memory);
	}
	return usleep(1000) == 0 && isatty(fd) == 0 ? 0 : 4;
}

static void test_allows_needed_system_calls(void **state)
{
	(void)state;
	assert_int_equal(in_sandbox(work), 0);
}

static int exceed_limits(void)
{
	void *volatile memory = malloc(2 * MEMORY);
	int count = 0;

	if (memory != NULL && !SANITIZER)
		return 1;
	while (count < 100 && dup(0) >= 0)
		count++;
	return count < 32 ? 0 : 2;
}

static void test_limits_resources(void **state)
{
	(void)state;
	assert_int_equal(in_sandbox(exceed_limits), 0);
}

static int check_user(void)
{
	if (geteuid() == 0 && !SANITIZER)
		return 1;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 || errno == EPERM ? 0 : 2;
}

static void test_drops_root(void **state)
{
	(void)state;
	assert_int_equal(in_sandbox(check_user), 0);
}

static int abort_itself(void)
{
	abort();
}

static void test_allows_abort(void **state)
{
	int status = -1;
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		struct error err;

		_exit(sandbox_enter(&limits, &err) < 0 ? 255 : abort_itself());
	}
	waitpid(child, &status, 0);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

/* --- parse_guard -------------------------------------------------------- */

static int parse(bool crash)
{
	const char *previous = parse_guard_begin(parse_guard_name("/x/endless"));
	volatile bool endless = true;

	if (crash)
		raise(SIGSEGV);
	while (endless)
		;
	parse_guard_end(previous, 0);
	return 0;
}

/* Return: the message to the broker from a process that parses a bad file. */
static struct broker_packet failure_of(bool crash, int *status)
{
	struct broker_packet packet;
	int ends[2];
	pid_t child;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	child = fork();
	if (child == 0) {
		struct error err;

		broker_attach(ends[1]);
		if (sandbox_enter(&limits, &err) < 0)
			_exit(255);
		parse_guard_start(1);
		_exit(parse(crash));
	}
	close(ends[1]);
	assert_int_equal(broker_receive(ends[0], &packet), 1);
	assert_int_equal(broker_receive(ends[0], &packet), 0);
	close(ends[0]);
	waitpid(child, status, 0);
	return packet;
}

static void test_reports_timeout(void **state)
{
	struct broker_packet packet;
	int status;

	(void)state;
	packet = failure_of(false, &status);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
	assert_int_equal(packet.message.operation, BROKER_FAILED);
	assert_int_equal(packet.message.kind, PARSE_FAILURE_TIME);
	assert_int_equal(packet.message.flags, 1);
	assert_string_equal(broker_packet_text(&packet), "/x/endless");
}

/* Sanitizers handle the signal themselves. */
#if !SANITIZER
static void test_reports_crash(void **state)
{
	struct broker_packet packet;
	int status;

	(void)state;
	packet = failure_of(true, &status);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	assert_int_equal(packet.message.kind, PARSE_FAILURE_SIGNAL);
	assert_int_equal(packet.message.flags, SIGSEGV);
	assert_string_equal(broker_packet_text(&packet), "/x/endless");
}
#endif

/* --- messages ----------------------------------------------------------- */

static void test_refuses_damaged_messages(void **state)
{
	struct broker_packet packet, received;
	size_t header = offsetof(struct broker_message, data);
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	broker_packet_init(&packet, BROKER_OPEN);
	assert_int_equal(broker_packet_set_text(&packet, "/a"), 0);
	packet.fds[0] = ends[0];
	assert_int_equal(broker_send(ends[0], &packet), 0);
	assert_int_equal(broker_receive(ends[1], &received), 1);
	assert_string_equal(broker_packet_text(&received), "/a");
	assert_true(received.fds[0] >= 0 && received.fds[1] == -1);
	broker_packet_close(&received);
	/* Shorter than a header, and than the number of bytes in the header. */
	assert_true(send(ends[0], &packet.message, header - 1, 0) > 0);
	assert_int_equal(broker_receive(ends[1], &received), -EPROTO);
	assert_true(send(ends[0], &packet.message, header + 2, 0) > 0);
	assert_int_equal(broker_receive(ends[1], &received), -EPROTO);
	packet.message.bytes = UINT32_MAX;
	assert_true(send(ends[0], &packet.message, sizeof(packet.message), 0) > 0);
	assert_int_equal(broker_receive(ends[1], &received), -EPROTO);
	/* Text without a terminator, and with two. */
	packet.message.bytes = 2;
	assert_null(broker_packet_text(&packet));
	memcpy(packet.message.data, "a\0b", 4);
	packet.message.bytes = 4;
	assert_null(broker_packet_text(&packet));
	packet.message.bytes = 0;
	assert_null(broker_packet_text(&packet));
	close(ends[0]);
	assert_int_equal(broker_receive(ends[1], &received), 0);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refuses_system_calls),
		cmocka_unit_test(test_allows_needed_system_calls),
		cmocka_unit_test(test_limits_resources),
		cmocka_unit_test(test_drops_root),
		cmocka_unit_test(test_allows_abort),
		cmocka_unit_test(test_reports_timeout),
		cmocka_unit_test(test_refuses_damaged_messages),
#if !SANITIZER
		cmocka_unit_test(test_reports_crash),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
