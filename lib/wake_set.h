/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Descriptors that wake their reader, as one: readable when any of them has something
 * new. Edge-triggered: what is left unread does not wake again, nor does a perf event
 * whose process has ended, which would be readable for ever.
 */
#ifndef DCPI_WAKE_SET_H
#define DCPI_WAKE_SET_H

struct error;
struct wake_set;

int wake_set_open(struct wake_set **ret, struct error *err);

/** wake_set_close() - the others stay open. NULL is fine. */
void wake_set_close(struct wake_set *set);

/**
 * wake_set_add() - a descriptor wakes, too, until it is closed
 * @what: for the error message
 */
int wake_set_add(struct wake_set *set, int fd, const char *what, struct error *err);

/** wake_set_fd() - to wait for; stays the set's. */
int wake_set_fd(const struct wake_set *set);

/** wake_set_clear() - what woke is about to be read. */
void wake_set_clear(struct wake_set *set);

#endif
