/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Configuration: defaults, then /etc/dcpi/dcpid.conf, then the files *.conf
 * in /etc/dcpi/dcpid.conf.d in order of their names, then the command line.
 * Later settings win.
 *
 * Lines are "key = value", empty, or comments that begin with "#". Keys:
 *
 *	db                path of the database
 *	events            what to sample (daemon/event/event.h); empty: cycles and
 *	                  imiss if the machine has them, else cpu-clock
 *	source            auto, kmod, bpf, perf or replay
 *	image_events      who says which image is where: auto, bpf, perf or audit
 *			  (loader-hook/image_feed.h)
 *	audit_socket      path of the socket where audit listens; empty: it cannot be had
 *	socket            path of the control socket; empty: none
 *	drain_interval_ms how often samples are taken from the kernel, 10..60000;
 *	                  full buffers are taken at once
 *	merge_interval_s  every sample is in the database after twice this time,
 *	                  1..3600; a crash costs at most as much
 *	mux_interval_ms   how often events take turns on the counters, if they are
 *	                  more than these, 1..1000; 0: as the kernel has it
 *	overhead_percent  what sampling may cost of a CPU, 1..100; sets the periods
 *	                  of events that have none
 *	overhead_interval_s how often that is measured again, and the periods of these
 *	                  events adapted if it has changed, 1..86400; 0: never
 *	memory_limit_mb   samples that may wait while the database cannot be
 *	                  written, 1..65536
 *	table_entries     of each CPU's hash table, a power of two in 64..1048576
 *	buffer_entries    of each of a CPU's two overflow buffers, likewise
 *	branch_every      one sample in so many is interpreted up to its next branch,
 *	                  1..1000000; 0: none (no edges)
 *	probe_permille    so much of a CPU's time may go to probes of branches that
 *	                  samples lead to, 1..100; 0: none; needs branch_every
 *	double_every      one sample in so many is followed by another, 2..1000000;
 *	                  0: none; only the source kmod can
 *	double_period     after so many events, 1..1000
 *	handler_times     1: measure how long the sampling handler takes, for
 *	                  dcpictl stats; 0: don't; only the source kmod can
 *	per_process       images to profile by process: none, all, or patterns of
 *	                  paths separated by blanks
 *	units             1: keep how many samples are of which systemd unit and
 *	                  container, for dcpiprof --by unit; 0: don't
 *	per_unit          images to profile by unit and container, offset by offset:
 *	                  as per_process; needs units
 *	label             free text, kept with the epochs
 *	log_level         messages to write: error, warning (and errors) or info (all).
 *	image_store       images to keep copies of: all, none, unpackaged, or
 *	                  patterns of paths separated by blanks.
 *	image_store_mb    room for the copies, 1..1048576; those that were cold for
 *	                  longest go first
 *	epoch_hours       another epoch begins so often, 1..8760; 0: only on demand
 *	retention_days    epochs that ended so long ago are forgotten, 1..36500;
 *	                  0: none is for its age
 *	database_mb       room for the database, 1..1048576: beyond it the oldest
 *	                  epochs are forgotten; 0: no limit
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

/** struct config - values as above; no pointers, so that it can be copied and compared. */
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
	uint64_t double_every;
	uint64_t double_period;
	uint64_t handler_times;
	char image_store[4096];
	uint64_t image_store_mb;
	uint64_t units;
	uint64_t epoch_hours;
	uint64_t retention_days;
	uint64_t database_mb;
};

/** config_init() - the defaults; no byte is left undefined. */
void config_init(struct config *config);

/**
 * config_set() - set one key
 *
 * Return: 0; -EINVAL unknown key, value too long or out of range, unknown
 * event or source.
 */
int config_set(struct config *config, const char *key, const char *value, struct error *err);

/**
 * config_check() - whether settings go together
 *
 * Return: 0; -EINVAL edges are asked of a source that has none of that kind.
 */
int config_check(const struct config *config, struct error *err);

/**
 * config_read() - read a file and the drop-ins beside it (PATH.d)
 *
 * Return: 0; -ENOENT there is no such file (drop-ins are read nevertheless);
 * -EINVAL, and the message names file and line; errors of open(2).
 */
int config_read(struct config *config, const char *path, struct error *err);

#endif
