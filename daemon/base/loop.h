/* SPDX-License-Identifier: GPL-2.0-only */
/* One thread waiting for several descriptors (epoll). */
#ifndef DCPI_LOOP_H
#define DCPI_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

/** Called when a descriptor is readable. Non-zero ends loop_run(). */
typedef int (*loop_fn)(void *context);

#define LOOP_WATCHES_MAX 8

struct loop_watch {
	int fd;
	loop_fn readable;
	void *context;
};

/** struct loop - fields are private. */
struct loop {
	int epoll_fd;
	struct loop_watch watch[LOOP_WATCHES_MAX];
	loop_fn idle;
	void *idle_context;
};

int loop_init(struct loop *loop, struct error *err);

/** loop_deinit() - the watched descriptors stay open. */
void loop_deinit(struct loop *loop);

/** loop_add() - watch a descriptor, which stays the caller's. */
int loop_add(struct loop *loop, int fd, loop_fn readable, void *context, struct error *err);

/** loop_remove() - watch it no longer; before it is closed. */
void loop_remove(struct loop *loop, int fd);

/**
 * loop_idle() - have a function called when no descriptor is readable, in place of waiting
 * @idle: should return within milliseconds; NULL: none, wait
 */
void loop_idle(struct loop *loop, loop_fn idle, void *context);

/** loop_run() - wait and call, until a call returns non-zero: that is returned. */
int loop_run(struct loop *loop);

/**
 * loop_timer() - a timer descriptor that becomes readable at an interval
 *
 * Return: the descriptor, the caller's; or a negative errno.
 */
int loop_timer(uint64_t interval_ns, struct error *err);

/** loop_timer_clear() - take note of a timer that is readable. */
void loop_timer_clear(int fd);

/**
 * loop_signals() - block signals and get them through a descriptor
 * @signals: ends with 0
 *
 * Return: the descriptor (signalfd(2)), the caller's; or a negative errno.
 */
int loop_signals(const int *signals, struct error *err);

/**
 * loop_signal() - the next signal waiting, 0 if none
 * @sent: out: whether a process sent it, and not the kernel (a terminal's key);
 *        may be NULL
 */
int loop_signal(int fd, bool *sent);

#endif
