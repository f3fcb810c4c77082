/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Image events without kernel support: from datagrams of processes that load the LD_AUDIT library
 * (audit/audit.c), and for all other processes by reading /proc once a second.
 *
 * The kernel attests the sender (SCM_CREDENTIALS) and the time (SO_TIMESTAMPNS) of each datagram,
 * so a process can report events only of itself and only as of now. The contents are not verified:
 * a process can attribute its own samples to any image.
 *
 * Limits. A process without the library, and memory that a process maps without the loader (an mmap
 * of code), is known as of the last pass over /proc. An exec of a program without the library is
 * noticed by the next pass; samples since the pass before it are lost, not guessed.
 *
 * Datagrams are numbered, so a missing datagram is noticed when the next one arrives; the process
 * is then read from /proc. The next one may arrive late. Therefore, if enough datagrams were queued
 * to fill the socket, samples of all processes with the library are lost since the drain before,
 * and these processes are read from /proc.
 *
 * A process that floods the socket displaces the datagrams of others, which are then handled like
 * processes without the library. The datagrams read per second, and the processes read because of
 * them, are bounded.
 */
#ifndef DCPI_AUDIT_FEED_H
#define DCPI_AUDIT_FEED_H

#include "loader-hook/image_event.h"

struct audit_feed;
struct error;

/**
 * audit_feed_open() - bind the socket and start to record
 * @ret:    out; freed by audit_feed_close()
 * @socket: path; every user may send to it
 *
 * Return: 0; -EINVAL: no path; errors of local_socket_bind().
 */
int audit_feed_open(struct audit_feed **ret, const char *socket, struct error *err);

/** audit_feed_close() - stop recording; @feed may be NULL */
void audit_feed_close(struct audit_feed *feed);

/** audit_feed_poll_fd() - descriptor that is readable when a datagram waits */
int audit_feed_poll_fd(const struct audit_feed *feed);

/**
 * audit_feed_drain() - deliver events of received datagrams, and once a second those found in /proc
 *
 * Return: as side_band_drain(), for processes that have the library.
 */
uint64_t audit_feed_drain(struct audit_feed *feed, image_event_fn handle, void *context);

/** audit_feed_lost() - number of datagrams that are missing or malformed */
uint64_t audit_feed_lost(const struct audit_feed *feed);

#endif
