// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/probe_holder.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"

/*
 * struct probe_reply - one message of the holder
 * @what:   description of an error. A string constant, valid in both processes, because one is a
 *          fork of the other
 * @cpu_ns: from the parent: CPU time of it and its holders
 */
struct probe_reply {
	int status;
	const char *what;
	uint64_t cpu_ns;
	struct probe_measurement measurement;
};

/* A parent that is stopped does not answer; one that waits for the kernel may take seconds. */
#define STOP_WAIT_MS 1000
#define STOP_WAITS 30
/* A repair process ends at once; if it is stopped, it is killed after this time. */
#define REPAIR_MS 900

/* enum stage - progress of a holder */
enum stage {
	STAGE_BEGIN,
	STAGE_ATTACHING,
	STAGE_FAILED,
	STAGE_ATTACHED,
	STAGE_MEASURED,
};

/* struct progress - memory shared by a holder and its parent; @status: with STAGE_FAILED */
struct progress {
	enum stage stage;
	int status;
};

/*
 * struct holder - state within the processes
 * @deadline: timer of the holder
 * @own:      a breakpoint of the parent
 */
struct holder {
	int fd;
	const struct branch_probe_link *link;
	timer_t deadline;
	volatile struct progress *progress;
	struct branch_probe_sites own;
};

/* Never called. */
static __attribute__((noinline, used)) void holder_site(void)
{
	__asm__ volatile("nop");
}

int probe_priority_raise(void)
{
	const struct sched_param param = {.sched_priority = 1};

	if (sched_setscheduler(0, SCHED_FIFO, &param) == 0 ||
	    setpriority(PRIO_PROCESS, 0, -20) == 0)
		return 0;
	return -errno;
}

/* Have the kernel kill this process after @ms; 0: never. */
static void deadline_set(const struct holder *holder, unsigned int ms)
{
	const struct itimerspec at = {.it_value.tv_nsec = (long)(ms * NS_PER_MS)};

	if (timer_settime(holder->deadline, 0, &at, NULL) < 0)
		_exit(1);
}

/*
 * A regular exit with a fatal signal pending would not remove breakpoints. During death by SIGKILL
 * none is pending.
 */
static _Noreturn void holder_end(void)
{
	for (;;)
		kill(getpid(), SIGKILL);
}

static int reply(const struct holder *holder, const struct probe_reply *message)
{
	return send(holder->fd, message, sizeof(*message), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static bool holder_step(void *context, uint64_t ns)
{
	const struct holder *holder = context;
	const struct timespec time = {.tv_nsec = (long)ns};
	struct pollfd poll = {.fd = holder->fd, .events = POLLIN};

	deadline_set(holder, PROBE_STEP_MS);
	return ppoll(&poll, 1, &time, NULL) == 0;
}

/* Return: a link; -errno if no breakpoint was placed. */
static int holder_attach(struct holder *holder, const struct probe_request *request)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
	int rc;

	if (timer_create(CLOCK_MONOTONIC, &event, &holder->deadline) < 0)
		return -errno;
	holder->progress->stage = STAGE_ATTACHING;
	deadline_set(holder, PROBE_ATTACH_MS);
	rc = branch_probe_attach(&request->sites, holder->link->program.fd);
	deadline_set(holder, PROBE_STEP_MS);
	return rc;
}

static _Noreturn void holder_run(struct holder *holder, const struct probe_request *request)
{
	struct probe_reply message = {.status = 0};
	int rc = holder_attach(holder, request);

	if (rc < 0) {
		holder->progress->status = rc;
		holder->progress->stage = STAGE_FAILED;
		holder_end();
	}
	holder->progress->stage = STAGE_ATTACHED;
	if (request->stall)
		kill(getpid(), SIGSTOP);
	probe_measurement_take(&message.measurement, holder->link, &request->limits, holder_step,
			       holder);
	if (reply(holder, &message) == 0)
		holder->progress->stage = STAGE_MEASURED;
	holder_end();
}

/* Remove breakpoints that a killed process could not remove; see probe_holder.h. */
static _Noreturn void repair_run(struct holder *holder, const struct probe_request *request)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};

	if (branch_probe_attach(&request->sites, holder->link->program.fd) >= 0 &&
	    timer_create(CLOCK_MONOTONIC, &event, &holder->deadline) == 0)
		deadline_set(holder, REPAIR_MS);
	holder_end();
}

/* Run a holder or a repair process until it ends. Return: false if fork() failed. */
static bool child_run(struct holder *holder, const struct probe_request *request, int own,
		      void (*run)(struct holder *, const struct probe_request *))
{
	pid_t child = fork();

	if (child == 0) {
		close(own);
		run(holder, request);
	}
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return child > 0;
}

static uint64_t cpu_time_ns(int who)
{
	struct rusage usage;

	if (getrusage(who, &usage) < 0)
		return 0;
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NS_PER_SECOND +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

/*
 * Before attaching, the kernel waits for an RCU grace period (rcu_sync of dup_mmap_sem), unless it
 * has just attached another probe. So this process first attaches a breakpoint of its own, which is
 * never executed. Thus the grace period is not part of any deadline.
 */
static void request_serve(struct holder *holder, const struct probe_request *request)
{
	int own = branch_probe_attach(&holder->own, holder->link->program.fd);
	struct probe_reply message = {.status = own < 0 ? own : -ETIMEDOUT};

	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): mmap() never returns NULL */
	*holder->progress = (struct progress){.stage = STAGE_BEGIN};
	if (own >= 0 && !child_run(holder, request, own, holder_run))
		message.status = -EAGAIN;
	if (holder->progress->stage == STAGE_ATTACHING)
		child_run(holder, request, own, repair_run);
	if (holder->progress->stage == STAGE_FAILED)
		message.status = holder->progress->status;
	else if (holder->progress->stage == STAGE_MEASURED)
		message.status = 0;
	message.cpu_ns = cpu_time_ns(RUSAGE_SELF) + cpu_time_ns(RUSAGE_CHILDREN);
	reply(holder, &message);
	if (own >= 0)
		close(own);
}

/* Room for one descriptor. */
union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static bool request_receive(const struct holder *holder, struct probe_request *request)
{
	union control control;
	struct iovec part = {.iov_base = request, .iov_len = sizeof(*request)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *header;

	if (recvmsg(holder->fd, &message, MSG_CMSG_CLOEXEC) != sizeof(*request))
		return false;
	header = CMSG_FIRSTHDR(&message);
	if (header == NULL || header->cmsg_type != SCM_RIGHTS)
		return false;
	memcpy(&request->sites.file, CMSG_DATA(header), sizeof(int));
	return true;
}

/* Close all descriptors except two, so that no file of the daemon stays open here. */
static void descriptors_close(int a, int b)
{
	unsigned int low = (unsigned int)(a < b ? a : b), high = (unsigned int)(a < b ? b : a);

	if (low > 0)
		close_range(0, low - 1, 0);
	if (high > low + 1)
		close_range(low + 1, high - 1, 0);
	close_range(high + 1, UINT_MAX, 0);
}

static struct probe_reply parent_prepare(struct holder *holder)
{
	struct probe_reply message = {.status = probe_priority_raise()};
	void *shared = mmap(NULL, sizeof(struct progress), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	message.what = "cannot raise the priority of the process that holds the probes";
	if (message.status < 0)
		return message;
	message.status = shared == MAP_FAILED
				 ? -ENOMEM
				 : branch_probe_own_site(&holder->own, holder_site,
							 (uint32_t)getpid(), holder->link);
	message.what = "cannot prepare the process that holds the probes";
	holder->progress = shared;
	return message;
}

/* Signals are blocked, as in the thread that forks. */
static _Noreturn void parent_run(int fd, const struct branch_probe_link *link)
{
	struct holder holder = {.fd = fd, .link = link};
	struct probe_request request;
	struct probe_reply message;

	prctl(PR_SET_NAME, "dcpi-holder");
	descriptors_close(fd, link->program.fd);
	message = parent_prepare(&holder);
	reply(&holder, &message);
	while (message.status == 0 && request_receive(&holder, &request)) {
		request_serve(&holder, &request);
		branch_probe_sites_close(&request.sites);
	}
	_exit(0);
}

static int reply_receive(const struct probe_holder *holder, struct probe_reply *message)
{
	ssize_t bytes;

	do
		bytes = recv(holder->fd, message, sizeof(*message), 0);
	while (bytes < 0 && errno == EINTR);
	return bytes == sizeof(*message) ? message->status : -EPIPE;
}

int probe_holder_start(struct probe_holder *holder, const struct branch_probe_link *link,
		       struct error *err)
{
	struct probe_reply message = {.what = "the process that holds the probes has ended"};
	int pair[2], rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set_errno(err, ERROR_SOCKET);
	holder->pid = fork();
	if (holder->pid == 0)
		parent_run(pair[1], link);
	close(pair[1]);
	holder->fd = pair[0];
	if (holder->pid < 0) {
		rc = error_set_errno(err, ERROR_PROCESS);
		close(holder->fd);
		holder->pid = 0;
		return rc;
	}
	rc = reply_receive(holder, &message);
	if (rc < 0) {
		error_set(err, -rc, "%s: %s", message.what, strerror(-rc));
		probe_holder_stop(holder);
	}
	return rc;
}

int probe_holder_send(const struct probe_holder *holder, const struct probe_request *request)
{
	union control control = {.bytes = {0}};
	struct iovec part = {.iov_base = (void *)(uintptr_t)request, .iov_len = sizeof(*request)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &request->sites.file, sizeof(int));
	return sendmsg(holder->fd, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int probe_holder_receive(const struct probe_holder *holder, struct probe_measurement *ret)
{
	struct probe_reply message;
	int rc = reply_receive(holder, &message);

	if (rc == 0)
		*ret = message.measurement;
	return rc;
}

int probe_holder_wait(struct probe_holder *holder)
{
	struct probe_reply message;
	int rc = reply_receive(holder, &message);

	if (rc == 0)
		holder->cpu_ns = message.cpu_ns;
	return rc;
}

void probe_holder_interrupt(const struct probe_holder *holder)
{
	if (holder->pid != 0)
		shutdown(holder->fd, SHUT_WR);
}

/*
 * The socket is closed when the holder and its parent have exited. They are not killed, because the
 * parent may have to repair. If the parent was stopped, it is continued.
 */
void probe_holder_stop(struct probe_holder *holder)
{
	struct pollfd poll_fd = {.fd = holder->fd, .events = POLLIN};
	struct probe_reply message;
	int waits = 0, rc = 0;

	if (holder->pid == 0)
		return;
	probe_holder_interrupt(holder);
	while (rc != -EPIPE && waits < STOP_WAITS) {
		if (poll(&poll_fd, 1, STOP_WAIT_MS) != 0)
			rc = reply_receive(holder, &message);
		else if (++waits > 0)
			kill(holder->pid, SIGCONT);
	}
	while (rc == -EPIPE && waitpid(holder->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(holder->fd);
	holder->pid = 0;
}
