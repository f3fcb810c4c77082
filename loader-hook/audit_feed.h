/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Image events without the kernel's help: from the LD_AUDIT library (audit/audit.c) in
 * the processes that have it, over a datagram socket, and for all others by looking
 * at /proc.
 *
 * Who speaks says the kernel (SCM_CREDENTIALS), and when (SO_TIMESTAMPNS): a process can
 * tell only of itself and now, whatever it sends. Of itself it may tell anything; its
 * samples are then where it wants them.
 *
 * What it cannot see. A process without the library, and what one with it does by
 * itself (mmap of code), is known as of the last look, once a second. An exec of a
 * program that has no library is noticed then, and what came since the look before is
 * lost, not guessed. Datagrams are numbered, so that one that did not come is noticed
 * with the next; then the process is read from /proc. The next may come late: whenever
 * so many were waiting that the socket may have been full, samples of all that have the
 * library are lost since the drain before, and they are read.
 *
 * Whoever floods the socket keeps others from being heard, who are then found as those
 * without the library; what is read in a second, and how many processes are because of
 * it, is bounded.
 */
#ifndef DCPI_AUDIT_FEED_H
#define DCPI_AUDIT_FEED_H

#include "loader-hook/image_event.h"

struct audit_feed;
struct error;

/**
 * audit_feed_open() - listen
 * @ret:    out; freed by audit_feed_close()
 * @socket: path; every user may send to it
 *
 * Return: 0; -EINVAL no path; errors of local_socket_bind().
 */
int audit_feed_open(struct audit_feed **ret, const char *socket, struct error *err);

/** audit_feed_close() - NULL is fine. */
void audit_feed_close(struct audit_feed *feed);

/** audit_feed_poll_fd() - readable when anything is waiting: there is little room. */
int audit_feed_poll_fd(const struct audit_feed *feed);

/**
 * audit_feed_drain() - deliver what has been told, and now and then what /proc says
 *
 * Return: as side_band_drain(), for processes that have the library.
 */
uint64_t audit_feed_drain(struct audit_feed *feed, image_event_fn handle, void *context);

/** audit_feed_lost() - datagrams that did not come, or made no sense. */
uint64_t audit_feed_lost(const struct audit_feed *feed);

#endif
