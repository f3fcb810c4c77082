/* SPDX-License-Identifier: GPL-2.0-only */
/* Configuration of a collector. */
#ifndef DCPI_COLLECTOR_CONFIG_H
#define DCPI_COLLECTOR_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/event/event.h"
#include "db/profile_write.h"

struct trace_writer;

/**
 * struct collector_config - what to collect, and the target database
 * @db:                 path of the database; created if missing
 * @source:             "auto", "kmod", "bpf", "perf" or "replay"
 * @image_events:       as for image_feed_open(); NULL: "auto"
 * @audit_socket:       as for image_feed_open(); NULL: none
 * @events:             resolved
 * @cpu_hz:             event_cpu_hz()
 * @sample_cost_ns:     cost of a sample, stored in each epoch as the stat of that name; 0: unknown
 * @sample_cost_max_ns: upper bound of it, for @total_permille; set even if @sample_cost_ns is
 *                      unknown
 * @begun_cpu_ns:       CPU time of this process that is not part of the cost
 * @overhead_percent:   maximum cost of sampling, percent of a CPU, for events with default periods
 * @overhead_ns:        interval at which the cost of a sample is measured again; if it has changed,
 *                      an epoch with other periods begins. 0: never
 * @table_entries:      of each CPU's store; 0: the default
 * @buffer_entries:     of each CPU's store; 0: the default
 * @memory_limit:       maximum bytes of samples waiting for a merge
 * @merge_ns:           merge interval
 * @per_process:        images that have a profile per process: NULL or "none", "all", or patterns
 *                      of paths (glob(7), "*" crosses "/"), separated by blanks
 * @per_unit:           images that have a profile per unit, in the same form: except those of
 *                      @per_process, and only with @units
 * @units:              store the labels of processes
 * @symbols:            store the names of sampled procedures
 * @label:              of the epoch
 * @scan_in_steps:      collector_start() does not wait for the scan of running processes
 * @target_pid:         0: the whole machine; otherwise as in struct source_config
 * @only_pid:           as in struct source_config
 * @user_only:          as in struct source_config
 * @branch_every:       as in struct source_config; if set, a quarter of @memory_limit is for edges
 * @probe_permille:     as in struct source_config
 * @stack_every:        as in struct source_config
 * @off_cpu_permille:   limit of the time spent on measuring off-CPU time, in 1/1000 of the time of
 * all CPUs; 0: it is not measured
 * @off_cpu_required:   fail if it cannot be measured; otherwise a warning is logged
 * @branch_fixed:       @branch_every holds even if the total cost exceeds @total_permille
 * @total_permille:     limit of the total cost (collector_cost.h), of the program's CPU time:
 *                      probes take the part of it that the rest leaves; 0: none
 * @double_every:       as in struct source_config
 * @double_period:      as in struct source_config; ignored without @double_every
 * @handler_times:      as in struct source_config
 * @record:             as in struct source_config
 * @replay:             as in struct source_config
 * @image_store:        images to copy to the archive, in the form of @per_process; ignored with a
 *                      trace
 * @image_store_bytes:  maximum size of the archive; 0: no copies
 * @retention_ns:       epochs that ended longer ago are deleted; 0: no limit of age
 * @database_bytes:     maximum size of the database: beyond it the oldest epochs are deleted; 0: no
 *                      limit
 * @slice_ns:           length of slices; 0: none
 * @slice_age_ns:       slices of a minute, hour or day older than this are merged to one; 0: never
 * @slices_percent:     maximum size of slices, percent of the rest of the database, but 8 MiB at
 *                      least; 0: no limit
 * @epoch_ns:           maximum length of an epoch; 0: a new one begins only on request
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
	bool symbols;
	const char *label;
	bool scan_in_steps;
	uint32_t target_pid;
	uint32_t only_pid;
	bool user_only;
	uint32_t branch_every;
	uint32_t probe_permille;
	uint32_t stack_every;
	uint32_t off_cpu_permille;
	bool off_cpu_required;
	uint32_t total_permille;
	bool branch_fixed;
	uint32_t double_every;
	uint32_t double_period;
	bool handler_times;
	struct trace_writer *record;
	const char *replay;
	const char *image_store;
	uint64_t image_store_bytes;
	uint64_t retention_ns;
	uint64_t database_bytes;
	uint64_t slice_ns;
	uint64_t slice_age_ns[PROFILE_SLICE_LENGTHS];
	uint64_t slices_percent;
	uint64_t epoch_ns;
};

#endif
