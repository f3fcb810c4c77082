/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Configuration: defaults, then /etc/dcpi/dcpid.conf, then the files *.conf in
 * /etc/dcpi/dcpid.conf.d in order of their names, then the command line. Later settings override
 * earlier ones.
 *
 * Lines are "key = value", empty, or comments that begin with "#". Keys:
 *
 *	db                path of the database.
 *	events            events to sample (daemon/event/event.h); empty: cycles and
 *	                  imiss if the machine has them, otherwise cpu-clock.
 *	source            auto, kmod, bpf, perf or replay.
 *	image_events      source of image events: auto, bpf, perf or audit
 *			  (loader-hook/image_feed.h).
 *	audit_socket      path of the audit daemon's socket; empty: audit is not used.
 *	socket            path of the control socket; empty: none.
 *	drain_interval_ms interval at which samples are taken from the kernel,
 *	                  10..60000; full buffers are taken at once.
 *	merge_interval_s  every sample is in the database after at most twice this
 *	                  time, 1..3600; a crash loses at most that much.
 *	mux_interval_ms   interval at which events are rotated if there are more of
 *	                  them than counters, 1..1000; 0: the kernel's default.
 *	overhead_percent  maximum cost of sampling, of a CPU, 1..100; determines the
 *	                  default periods of events.
 *	overhead_interval_s interval at which the cost is measured again, and default
 *	                  periods are adapted if it has changed, 1..86400; 0: never.
 *	memory_limit_mb   memory for samples while the database cannot be written,
 *	                  1..65536.
 *	table_entries     of each CPU's hash table, a power of two in 64..1048576.
 *	buffer_entries    of each of a CPU's two overflow buffers, a power of two in
 *	                  64..1048576.
 *	branch_every      one in this number of samples is interpreted up to its next
 *	                  branch, 1..1000000. 0: none (no edges).
 *	probe_permille    maximum share of a CPU's time for probes of branches that
 *	                  samples lead to, 1..100. 0: none. Needs branch_every.
 *	stack_every       one call stack is sampled for this number of samples of the
 *	                  first event, 1..1000000. 0: none. Only with the source perf.
 *	off_cpu_permille  maximum share of the time of all CPUs for measuring where and
 *	                  how long threads wait, 1..100. 0: not measured. Needs BPF.
 *	double_every      one in this number of samples is followed by another one,
 *	                  2..1000000. 0: none. Only with the source kmod.
 *	double_period     number of events after which it follows, 1..1000.
 *	handler_times     1: measure the time of the sampling handler, for
 *	                  dcpictl stats; 0: don't. Only with the source kmod.
 *	per_process       images to profile by process: none, all, or patterns of
 *	                  paths separated by blanks.
 *	symbols           1: store the names of sampled procedures
 *	units             1: store the number of samples per systemd unit and
 *	                  container, for dcpiprof --by unit; 0: don't.
 *	per_unit          images to profile by unit and container, with offsets:
 *	                  as per_process; needs units.
 *	label             free text, stored in the epochs.
 *	log_level         messages to write: error, warning (and errors) or info (all).
 *	image_store       images to archive: all, none, unpackaged, or
 *	                  patterns of paths separated by blanks.
 *	image_store_mb    size limit of the archive, 1..1048576; copies that were
 *	                  cold for longest are evicted first.
 *	epoch_hours       maximum length of an epoch, 1..8760; 0: only on demand.
 *	retention_days    epochs that ended longer ago are deleted, 1..36500;
 *	                  0: no limit of age.
 *	slice_s           length of slices, 1..3600: reports can select samples by
 *	                  their time to a slice; 0: none.
 *	minute_slices_after_h  age from which the slices of a minute are merged to
 *	                  one, 1..876000 hours; 0: never.
 *	hour_slices_after_h  the same for an hour.
 *	day_slices_after_h  the same for a day.
 *	slices_percent    size limit of slices in percent of the rest of the
 *	                  database, 1..1000, but 8 MB at least: beyond it they are
 *	                  merged earlier; 0: no limit.
 *	database_mb       size limit of the database, 1..1048576: beyond it the
 *	                  oldest epochs are deleted; 0: no limit.
 */
#ifndef DCPI_CONFIG_H
#define DCPI_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "lib/control_client.h"

struct error;

#define CONFIG_PATH "/etc/dcpi/dcpid.conf"
#define CONFIG_DB "/var/lib/dcpi/dcpi.db"
#define CONFIG_SOCKET CONTROL_CLIENT_SOCKET

/** struct config - values as above; without pointers, so that it can be copied and compared. */
struct config {
	char db[4096];
	char events[1024];
	char source[16];
	char image_events[8];
	char audit_socket[104];
	char socket[104];
	char per_process[4096];
	char per_unit[4096];
	char label[256];
	char log_level[8];
	uint64_t drain_interval_ms;
	uint64_t merge_interval_s;
	uint64_t mux_interval_ms;
	uint64_t overhead_percent;
	uint64_t overhead_interval_s;
	uint64_t memory_limit_mb;
	uint64_t table_entries;
	uint64_t buffer_entries;
	uint64_t branch_every;
	uint64_t probe_permille;
	uint64_t stack_every;
	uint64_t off_cpu_permille;
	uint64_t double_every;
	uint64_t double_period;
	uint64_t handler_times;
	char image_store[4096];
	uint64_t image_store_mb;
	uint64_t units;
	uint64_t symbols;
	uint64_t epoch_hours;
	uint64_t retention_days;
	uint64_t slice_s;
	uint64_t minute_slices_after_h;
	uint64_t hour_slices_after_h;
	uint64_t day_slices_after_h;
	uint64_t slices_percent;
	uint64_t database_mb;
};

/** config_init() - set the defaults; every byte is initialised. */
void config_init(struct config *config);

/**
 * config_set() - set one key
 *
 * Return: 0; -EINVAL if the key is unknown, the value is too long or out of range, or it contains
 * an unknown event or source.
 */
int config_set(struct config *config, const char *key, const char *value, struct error *err);

/**
 * config_check() - check that settings are compatible
 *
 * Return: 0; -EINVAL if a kind of edges is requested that the source does not provide.
 */
int config_check(const struct config *config, struct error *err);

/**
 * config_read() - read a file and its drop-ins (PATH.d)
 *
 * Return: 0; -ENOENT if there is no such file (drop-ins are read nevertheless); -EINVAL, with a
 * message that contains file and line; errors of open(2).
 */
int config_read(struct config *config, const char *path, struct error *err);

#endif
