/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Permission to sample the whole machine, as the kernel and its security modules (SELinux class
 * perf_event, for instance) give it.
 *
 * Events that the kernel itself creates (perf_event_create_kernel_counter()) pass neither
 * kernel.perf_event_paranoid nor the hook security_perf_event_open(), which modules cannot call.
 * So the reader hands over an event that perf_event_open(2) has permitted.
 */
#ifndef DCPI_EVENT_PERMISSION_H
#define DCPI_EVENT_PERMISSION_H

struct dcpi_config;

/**
 * event_permission_check() - compare the events of @config with the event of @config->perf_fd
 *
 * Context: a process, may sleep. Return: 0; -EBADF the descriptor is not a perf event's; -EACCES
 * that event is of one task, or does not cover one of the events (see struct dcpi_config).
 */
int event_permission_check(const struct dcpi_config *config);

#endif
