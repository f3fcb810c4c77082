// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/base/loop.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/error.h"

int loop_init(struct loop *loop, struct error *err)
{
	size_t i;

	for (i = 0; i < LOOP_WATCHES_MAX; i++)
		loop->watch[i].fd = -1;
	loop->idle = NULL;
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return loop->epoll_fd < 0 ? error_set_errno(err, "epoll_create1 failed") : 0;
}

void loop_deinit(struct loop *loop)
{
	if (loop->epoll_fd >= 0)
		close(loop->epoll_fd);
	loop->epoll_fd = -1;
}

int loop_add(struct loop *loop, int fd, loop_fn readable, void *context, struct error *err)
{
	struct epoll_event event = {.events = EPOLLIN};
	uint32_t i = 0;

	while (i < LOOP_WATCHES_MAX && loop->watch[i].fd >= 0)
		i++;
	if (i == LOOP_WATCHES_MAX)
		return error_set(err, ENOSPC, "too many file descriptors");
	event.data.u32 = i;
	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		return error_set_errno(err, "cannot wait for a descriptor");
	loop->watch[i] = (struct loop_watch){.fd = fd, .readable = readable, .context = context};
	return 0;
}

void loop_remove(struct loop *loop, int fd)
{
	size_t i;

	for (i = 0; i < LOOP_WATCHES_MAX; i++) {
		if (fd < 0 || loop->watch[i].fd != fd)
			continue;
		epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
		loop->watch[i].fd = -1;
	}
}

void loop_idle(struct loop *loop, loop_fn idle, void *context)
{
	loop->idle = idle;
	loop->idle_context = context;
}

int loop_run(struct loop *loop)
{
	struct epoll_event events[LOOP_WATCHES_MAX];
	int count, i, rc;

	for (;;) {
		count = epoll_wait(loop->epoll_fd, events, LOOP_WATCHES_MAX,
				   loop->idle != NULL ? 0 : -1);
		if (count < 0 && errno != EINTR)
			return -errno;
		rc = count == 0 && loop->idle != NULL ? loop->idle(loop->idle_context) : 0;
		if (rc != 0)
			return rc;
		for (i = 0; i < count; i++) {
			const struct loop_watch *watch = &loop->watch[events[i].data.u32];

			if (watch->fd < 0)
				continue; /* removed by an earlier callback */
			rc = watch->readable(watch->context);
			if (rc != 0)
				return rc;
		}
	}
}

int loop_timer_set(int fd, uint64_t interval_ns, struct error *err)
{
	struct itimerspec spec = {
		.it_interval.tv_sec = (time_t)(interval_ns / NS_PER_SECOND),
		.it_interval.tv_nsec = (long)(interval_ns % NS_PER_SECOND),
	};

	spec.it_value = spec.it_interval;
	return timerfd_settime(fd, 0, &spec, NULL) == 0
		       ? 0
		       : error_set_errno(err, "timerfd_settime failed");
}

int loop_timer(uint64_t interval_ns, struct error *err)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), rc;

	if (fd < 0)
		return error_set_errno(err, "timerfd_create failed");
	rc = loop_timer_set(fd, interval_ns, err);
	if (rc < 0) {
		close(fd);
		return rc;
	}
	return fd;
}

void loop_timer_clear(int fd)
{
	uint64_t ticks;
	ssize_t bytes = read(fd, &ticks, sizeof(ticks));

	(void)bytes;
}

int loop_signals(const int *signals, struct error *err)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (; *signals != 0; signals++)
		sigaddset(&set, *signals);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return error_set_errno(err, "sigprocmask failed");
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? error_set_errno(err, "signalfd failed") : fd;
}

/* The descriptor cannot be read: a signal that asks the program to end must not be missed. */
static int pending_signal(bool *sent)
{
	const struct timespec none = {.tv_sec = 0};
	siginfo_t info;
	sigset_t set;

	if (sigpending(&set) < 0 || sigtimedwait(&set, &info, &none) <= 0)
		return 0;
	if (sent != NULL)
		*sent = info.si_code <= 0;
	return info.si_signo;
}

int loop_signal(int fd, bool *sent)
{
	struct signalfd_siginfo info;
	ssize_t bytes = read(fd, &info, sizeof(info));

	if (bytes < 0 && errno != EAGAIN && errno != EINTR)
		return pending_signal(sent);
	if (bytes != sizeof(info))
		return 0;
	if (sent != NULL)
		*sent = info.ssi_code <= 0; /* SI_USER, SI_QUEUE, ... */
	return (int)info.ssi_signo;
}
