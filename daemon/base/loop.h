/* SPDX-License-Identifier: GPL-2.0-only */
/* An event loop: one thread waits for several descriptors (epoll). */
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

/** loop_deinit() - release the loop; the watched descriptors stay open. */
void loop_deinit(struct loop *loop);

/** loop_add() - watch a descriptor; the caller keeps ownership. */
int loop_add(struct loop *loop, int fd, loop_fn readable, void *context, struct error *err);

/** loop_remove() - stop watching a descriptor; call this before closing it. */
void loop_remove(struct loop *loop, int fd);

/**
 * loop_idle() - set a function to call when no descriptor is readable, instead of waiting
 * @idle: should return within milliseconds; NULL: wait
 */
void loop_idle(struct loop *loop, loop_fn idle, void *context);

/** loop_run() - wait and dispatch until a callback returns non-zero. Return: that value. */
int loop_run(struct loop *loop);

/**
 * loop_timer() - create a timer descriptor that becomes readable once per interval
 *
 * Return: the descriptor, owned by the caller; or a negative errno.
 */
int loop_timer(uint64_t interval_ns, struct error *err);

/** loop_timer_set() - change the interval of a timer, from now on. Return: 0 or a negative errno.
 */
int loop_timer_set(int fd, uint64_t interval_ns, struct error *err);

/** loop_timer_clear() - acknowledge a timer that is readable. */
void loop_timer_clear(int fd);

/**
 * loop_signals() - block signals and receive them through a descriptor
 * @signals: terminated by 0
 *
 * Return: the descriptor (signalfd(2)), owned by the caller; or a negative errno.
 */
int loop_signals(const int *signals, struct error *err);

/**
 * loop_signal() - return the next pending signal, 0 if there is none
 * @sent: out: true if a process sent the signal, false if the kernel did (a key of the terminal);
 *        may be NULL
 */
int loop_signal(int fd, bool *sent);

#endif
