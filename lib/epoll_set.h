/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A set of descriptors that wake their reader through one descriptor: it is readable when any of
 * them has new data. Edge-triggered: unread data does not wake the reader again. Nor does a perf
 * event whose process has ended, which would be readable forever.
 */
#ifndef DCPI_EPOLL_SET_H
#define DCPI_EPOLL_SET_H

struct error;
struct epoll_set;

int epoll_set_open(struct epoll_set **ret, struct error *err);

/** epoll_set_close() - the descriptors in the set stay open. NULL is fine. */
void epoll_set_close(struct epoll_set *set);

/**
 * epoll_set_add() - add a descriptor, until it is closed
 * @what: for the error message
 */
int epoll_set_add(struct epoll_set *set, int fd, const char *what, struct error *err);

/** epoll_set_fd() - return the descriptor to wait for; the set owns it. */
int epoll_set_fd(const struct epoll_set *set);

/** epoll_set_clear() - clear readiness; the caller is about to read all descriptors. */
void epoll_set_clear(struct epoll_set *set);

#endif
