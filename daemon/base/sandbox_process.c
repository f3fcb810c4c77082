// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/base/sandbox_process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/broker.h"
#include "lib/clock.h"
#include "lib/sandbox.h"

/* The lowest numbers after the standard streams. */
#define PROCESS_SOCKET (STDERR_FILENO + 1)
#define PROCESS_FILE (PROCESS_SOCKET + 1)

/* Time for a process to end after SIGKILL. */
#define END_NS (200 * NS_PER_MS)
#define STUCK_MAX 16

/*
 * Processes that have not ended in time after SIGKILL: a file system does not answer. They are
 * waited for later.
 */
static struct {
	pthread_mutex_t lock;
	pid_t processes[STUCK_MAX];
	size_t count;
} stuck = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Wait for stuck processes that have ended. Return: false: there are too many of them. */
static bool stuck_reap(void)
{
	bool may_start;
	size_t left = 0;

	pthread_mutex_lock(&stuck.lock);
	for (size_t i = 0; i < stuck.count; i++) {
		if (waitpid(stuck.processes[i], NULL, WNOHANG) == 0)
			stuck.processes[left++] = stuck.processes[i];
	}
	stuck.count = left;
	may_start = left < STUCK_MAX;
	pthread_mutex_unlock(&stuck.lock);
	return may_start;
}

static void stuck_add(pid_t process)
{
	pthread_mutex_lock(&stuck.lock);
	if (stuck.count < STUCK_MAX)
		stuck.processes[stuck.count++] = process;
	pthread_mutex_unlock(&stuck.lock);
}

/* If memory runs out, this process is to be ended, not its parent. */
static void sandbox_process_offer(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "1000", 4) < 0)
		errno = 0;
	close(fd);
}

/* Return the memory that counts against RLIMIT_DATA: it is a copy of the parent's. */
static uint64_t data_bytes(void)
{
	unsigned long data = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file == NULL)
		return 0;
	if (fscanf(file, "%*u %*u %*u %*u %*u %lu", &data) != 1)
		data = 0;
	fclose(file);
	return data * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Memory that is shared with the kernel, such as BPF arrays, is not this process's business. */
static void shared_drop(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	char line[512], mode[8];

	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
		if (sscanf(line, "%lx-%lx %7s", &start, &end, mode) == 3 && mode[3] == 's')
			munmap((void *)start, end - start);
	}
	if (maps != NULL)
		fclose(maps);
}

/* Move a descriptor out of the range of the final numbers. */
static int descriptor_raise(int fd)
{
	int raised = fcntl(fd, F_DUPFD_CLOEXEC, PROCESS_FILE + SANDBOX_PROCESS_FILES_MAX);

	if (raised < 0)
		_exit(1);
	return raised;
}

static void descriptor_set(int fd, int number)
{
	if (dup2(fd, number) < 0)
		_exit(1);
}

/* @files: out: the final numbers */
static void descriptors_keep(const struct sandbox_process_task *task, int socket, int *files)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	socket = descriptor_raise(socket);
	for (size_t i = 0; i < task->file_count; i++)
		files[i] = descriptor_raise(task->files[i]);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (null < 0 || dup2(null, fd) < 0)
			close(fd);
	}
	descriptor_set(socket, PROCESS_SOCKET);
	for (size_t i = 0; i < task->file_count; i++) {
		descriptor_set(files[i], PROCESS_FILE + (int)i);
		files[i] = PROCESS_FILE + (int)i;
	}
	sandbox_close_from(PROCESS_FILE + (int)task->file_count);
}

/* The first message has the result of sandbox_enter(). */
static _Noreturn void process_run(const struct sandbox_process_task *task, int socket, pid_t parent)
{
	struct sandbox_limits limits = {.files = task->descriptors,
					.cpu_seconds = task->cpu_seconds};
	int files[SANDBOX_PROCESS_FILES_MAX];
	struct broker_packet hello;

	prctl(PR_SET_NAME, task->name);
	if (getpriority(PRIO_PROCESS, 0) < task->nice)
		setpriority(PRIO_PROCESS, 0, task->nice);
	sandbox_process_offer();
	shared_drop();
	limits.memory_bytes = data_bytes() + task->memory_bytes;
	descriptors_keep(task, socket, files);
	broker_packet_init(&hello, BROKER_HELLO);
	hello.message.result = sandbox_enter(&limits, NULL);
	if (getppid() == parent && broker_send(PROCESS_SOCKET, &hello) == 0)
		task->run(PROCESS_SOCKET, files, task->context);
	_exit(0);
}

int sandbox_process_start(struct sandbox_process *ret, const struct sandbox_process_task *task)
{
	pid_t parent = getpid(), child;
	struct broker_packet hello;
	int ends[2], r;

	if (!stuck_reap())
		return -EAGAIN;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	child = fork();
	if (child == 0)
		process_run(task, ends[1], parent);
	r = child < 0 ? -errno : 0;
	close(ends[1]);
	*ret = (struct sandbox_process){.pid = child > 0 ? child : 0, .socket = ends[0]};
	if (r == 0 && broker_receive(ret->socket, &hello) != 1)
		r = -EPIPE;
	if (r < 0) {
		sandbox_process_end(ret);
		return r;
	}
	ret->open = hello.message.result < 0;
	broker_packet_close(&hello);
	return 0;
}

uint64_t sandbox_process_cpu_ns(const struct sandbox_process *process)
{
	clockid_t clock;

	return clock_getcpuclockid(process->pid, &clock) == 0 ? clock_ns(clock) : 0;
}

/* Return: the id of the process, which is no longer part of @process; 0: there was none */
static pid_t process_take(struct sandbox_process *process)
{
	pid_t child = process->pid;

	if (process->socket >= 0)
		close(process->socket);
	process->socket = -1;
	process->pid = 0;
	return child;
}

int sandbox_process_wait(struct sandbox_process *process)
{
	pid_t child = process_take(process);
	int status = -1;

	if (child == 0)
		return -1;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

int sandbox_process_end(struct sandbox_process *process)
{
	pid_t child = process_take(process), ended = 0;
	uint64_t pause_ns = 20 * NS_PER_US, waited_ns = 0;
	int status = -1;

	if (child == 0)
		return -1;
	kill(child, SIGKILL);
	while ((ended = waitpid(child, &status, WNOHANG)) == 0 && waited_ns < END_NS) {
		const struct timespec pause = clock_timespec(pause_ns);

		nanosleep(&pause, NULL);
		waited_ns += pause_ns;
		pause_ns *= 2;
	}
	if (ended == child)
		return status;
	if (ended == 0)
		stuck_add(child);
	return -1;
}
