/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A set of descriptors that wake their reader through one descriptor: it is readable when any of
 * them has new data. Edge-triggered: unread data does not wake the reader again. Nor does a perf
 * event whose process has ended, which would be readable forever.
 */
#ifndef DCPI_WAKE_SET_H
#define DCPI_WAKE_SET_H

struct error;
struct wake_set;

int wake_set_open(struct wake_set **ret, struct error *err);

/** wake_set_close() - the descriptors in the set stay open. NULL is fine. */
void wake_set_close(struct wake_set *set);

/**
 * wake_set_add() - add a descriptor, until it is closed
 * @what: for the error message
 */
int wake_set_add(struct wake_set *set, int fd, const char *what, struct error *err);

/** wake_set_fd() - return the descriptor to wait for; the set owns it. */
int wake_set_fd(const struct wake_set *set);

/** wake_set_clear() - clear readiness; the caller is about to read all descriptors. */
void wake_set_clear(struct wake_set *set);

#endif
