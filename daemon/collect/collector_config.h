/* SPDX-License-Identifier: GPL-2.0-only */
/* What a collector is to do. */
#ifndef DCPI_COLLECTOR_CONFIG_H
#define DCPI_COLLECTOR_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/event/event.h"

struct trace_writer;

/**
 * struct collector_config - what to collect, and where to
 * @db:             path of the database; created if missing
 * @source:         "auto", "kmod", "bpf", "perf" or "replay"
 * @image_events:   as for image_feed_open(); NULL: "auto"
 * @audit_socket:   likewise; NULL: none
 * @events:         resolved
 * @cpu_hz:         event_cpu_hz()
 * @sample_cost_ns: what a sample costs, kept with each epoch as stat of that
 *                  name; 0: not known
 * @sample_cost_max_ns: an upper bound of it, for @total_permille; also where it is not known
 * @begun_cpu_ns:   CPU time of this process that is not part of the cost
 * @overhead_percent: what sampling may cost of a CPU, for events with default periods
 * @overhead_ns:    how often what a sample costs is measured again; if it has changed,
 *                  an epoch with other periods begins. 0: never
 * @table_entries:  of each CPU's store; 0: the default
 * @buffer_entries: likewise
 * @memory_limit:   bytes of samples that may wait for a merge
 * @merge_ns:       merge interval
 * @per_process:    images to keep profiles by process for: NULL or "none",
 *                  "all", or patterns of paths (glob(7), "*" crosses "/"),
 *                  separated by blanks
 * @per_unit:       likewise, by unit: not those that are kept by process, and
 *                  only with @units
 * @units:          whether to keep the labels of processes
 * @label:          of the epoch
 * @scan_in_steps: collector_start() does not wait for the scan of the processes that run
 * @target_pid:     0: the whole machine; else as in struct source_config
 * @user_only:      likewise
 * @branch_every:   likewise; if set, a quarter of @memory_limit is for edges
 * @probe_permille: likewise
 * @total_permille: bound of the total cost (collector_cost.h), of the program's CPU time: probes
 *                  take the part of it that the rest leaves; 0: none
 * @double_every:   likewise
 * @double_period:  likewise; not looked at without @double_every
 * @handler_times:  likewise
 * @record:         likewise
 * @replay:         likewise
 * @image_store:    images to keep copies of, as @per_process; not looked at with
 *                  a trace
 * @image_store_bytes: room for them; 0: none are kept
 * @retention_ns:   epochs that ended so long ago are forgotten; 0: none for their age
 * @database_bytes: room for the database: beyond it the oldest epochs are forgotten;
 *                  0: no limit
 * @epoch_ns:       another epoch begins so often; 0: when asked for only
 *
 * Strings must stay valid until collector_close().
 */
struct collector_config {
	const char *db;
	const char *source;
	const char *image_events;
	const char *audit_socket;
	struct event_list events;
	uint64_t cpu_hz;
	uint64_t sample_cost_ns;
	uint64_t sample_cost_max_ns;
	uint64_t begun_cpu_ns;
	uint64_t overhead_percent;
	uint64_t overhead_ns;
	uint32_t table_entries;
	uint32_t buffer_entries;
	size_t memory_limit;
	uint64_t merge_ns;
	const char *per_process;
	const char *per_unit;
	bool units;
	const char *label;
	bool scan_in_steps;
	uint32_t target_pid;
	bool user_only;
	uint32_t branch_every;
	uint32_t probe_permille;
	uint32_t total_permille;
	uint32_t double_every;
	uint32_t double_period;
	bool handler_times;
	struct trace_writer *record;
	const char *replay;
	const char *image_store;
	uint64_t image_store_bytes;
	uint64_t retention_ns;
	uint64_t database_bytes;
	uint64_t epoch_ns;
};

#endif
