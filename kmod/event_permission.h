/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Permission to sample the whole machine, as granted by the kernel and its security modules
 * (SELinux class perf_event, for instance).
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
 * Context: process, may sleep. Return: 0; -EBADF if the descriptor does not belong to a perf event;
 * -EACCES if that event belongs to one task, or does not cover all events of @config (see struct
 * dcpi_config).
 */
int event_permission_check(const struct dcpi_config *config);

#endif
