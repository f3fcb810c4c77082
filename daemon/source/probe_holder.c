// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/probe_holder.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/error.h"

/*
 * struct probe_reply - one message of the holder
 * @what: with an error: the reason. A constant of the program, valid in both processes, since one
 *        is a fork of the other
 */
struct probe_reply {
	int status;
	const char *what;
	struct probe_measurement measurement;
};

/* struct holder - in the process itself */
struct holder {
	int fd;
	const struct branch_probe_link *link;
	timer_t deadline;
};

int probe_priority_raise(void)
{
	const struct sched_param param = {.sched_priority = 1};

	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param) == 0 ||
	    setpriority(PRIO_PROCESS, 0, -20) == 0)
		return 0;
	return -errno;
}

/* Let the kernel kill this process after @ms; 0: never. */
static void deadline_set(const struct holder *holder, unsigned int ms)
{
	const struct itimerspec at = {.it_value.tv_nsec = (long)(ms * NS_PER_MS)};

	if (timer_settime(holder->deadline, 0, &at, NULL) < 0)
		_exit(1);
}

static void reply(const struct holder *holder, const struct probe_reply *message)
{
	if (send(holder->fd, message, sizeof(*message), MSG_NOSIGNAL) < 0)
		_exit(1);
}

static bool holder_step(void *context, uint64_t ns)
{
	const struct holder *holder = context;
	const struct timespec time = {.tv_nsec = (long)ns};
	struct pollfd poll = {.fd = holder->fd, .events = POLLIN};

	deadline_set(holder, PROBE_STEP_MS);
	return ppoll(&poll, 1, &time, NULL) == 0;
}

/* The reply comes before the end of the removal, so that the next window need not wait for it. */
static void measure(const struct holder *holder, const struct probe_request *request)
{
	struct probe_reply message = {.status = 0};
	int link;

	deadline_set(holder, PROBE_ATTACH_MS);
	link = branch_probe_attach(&request->sites, holder->link->program.fd);
	if (link < 0) {
		deadline_set(holder, 0);
		message.status = link;
		reply(holder, &message);
		return;
	}
	if (request->stall)
		kill(getpid(), SIGSTOP);
	probe_measurement_take(&message.measurement, holder->link, &request->limits, holder_step,
			       (void *)(uintptr_t)holder);
	deadline_set(holder, PROBE_CLOSE_MS);
	reply(holder, &message);
	close(link);
	deadline_set(holder, 0);
	reply(holder, &(struct probe_reply){.status = 0});
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

/* All but two, so that no file of the daemon stays open here. */
static void descriptors_close(int a, int b)
{
	unsigned int low = (unsigned int)(a < b ? a : b), high = (unsigned int)(a < b ? b : a);

	if (low > 0)
		close_range(0, low - 1, 0);
	if (high > low + 1)
		close_range(low + 1, high - 1, 0);
	close_range(high + 1, UINT_MAX, 0);
}

static struct probe_reply holder_prepare(struct holder *holder)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
	struct probe_reply message = {.status = probe_priority_raise()};

	message.what = "cannot raise the priority of the process that holds them";
	if (message.status == 0 && timer_create(CLOCK_MONOTONIC, &event, &holder->deadline) < 0) {
		message.status = -errno;
		message.what = "cannot create a timer that kills the process that holds them";
	}
	return message;
}

/* Signals are blocked, as they are in the thread that forks. */
static _Noreturn void holder_run(int fd, const struct branch_probe_link *link, pid_t parent)
{
	struct holder holder = {.fd = fd, .link = link};
	struct probe_request request;
	struct probe_reply message;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	prctl(PR_SET_NAME, "dcpi-probe");
	descriptors_close(fd, link->program.fd);
	message = holder_prepare(&holder);
	reply(&holder, &message);
	while (message.status == 0 && request_receive(&holder, &request)) {
		measure(&holder, &request);
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
	return bytes == sizeof(*message) ? message->status : -ETIMEDOUT;
}

int probe_holder_start(struct probe_holder *holder, const struct branch_probe_link *link,
		       struct error *err)
{
	struct probe_reply message = {.what = "the process that holds them ended"};
	pid_t self = getpid();
	int pair[2], rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set_errno(err, "cannot create a socket");
	holder->pid = fork();
	if (holder->pid == 0)
		holder_run(pair[1], link, self);
	close(pair[1]);
	holder->fd = pair[0];
	if (holder->pid < 0) {
		rc = error_set_errno(err, "cannot fork");
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

int probe_holder_wait(const struct probe_holder *holder)
{
	struct probe_reply message;

	return reply_receive(holder, &message);
}

void probe_holder_stop(struct probe_holder *holder)
{
	if (holder->pid == 0)
		return;
	kill(holder->pid, SIGKILL);
	while (waitpid(holder->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(holder->fd);
	holder->pid = 0;
}
