/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sources of samples: one interface, several implementations.
 *
 * A source counts samples per (process, generation, event, PC). When drained, it returns aggregated
 * entries with the layout of struct dcpi_sample. It does not know about images. Sources:
 * source_kmod.c (dcpi.ko), source_bpf.c (a BPF program, samples counted in the kernel),
 * source_perf.c (perf_event_open, samples counted in the daemon) and source_replay.c (a recorded
 * trace).
 */
#ifndef DCPI_SOURCE_H
#define DCPI_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kmod/uapi/dcpi_uapi.h"

struct error;
struct source;
struct source_pair;
struct source_stack;
struct trace_writer;

#define SOURCE_EVENT_NAME_BYTES 64

/* The end of error messages about an event that the machine cannot sample. */
#define SOURCE_EVENT_INSTEAD "cpu-clock works everywhere, dcpid --list-events has the others"

/**
 * struct source_event - a resolved event to sample
 * @name:       as users write it
 * @unit:       "cycles", "events" or "ns"; static
 * @type:       perf_event_attr.type
 * @config:     perf_event_attr.config
 * @config1:    perf_event_attr.config1
 * @config2:    perf_event_attr.config2
 * @flags:      DCPI_EVENT_EXCLUDE_*
 * @period_min: shortest period, in @unit
 * @period_max: longest period
 */
struct source_event {
	char name[SOURCE_EVENT_NAME_BYTES];
	const char *unit;
	uint32_t type;
	uint32_t flags;
	uint64_t config;
	uint64_t config1;
	uint64_t config2;
	uint64_t period_min;
	uint64_t period_max;
};

/**
 * source_generation_fn() - return the version of a process's address space at a time
 * @pid:     process
 * @time_ns: CLOCK_MONOTONIC
 *
 * Called during a drain, for user-space samples and for kernel samples of processes that are
 * divided (source_divided_fn()), by sources whose samples have no generation.
 *
 * Return: the generation for the sample's tag; 0 or DCPI_GENERATION_MAX: unknown.
 */
typedef uint32_t (*source_generation_fn)(void *context, uint32_t pid, uint64_t time_ns);

/**
 * source_divided_fn() - return true if kernel samples of a process need a generation, too: they are
 * not counted together with those of the process's other programs
 */
typedef bool (*source_divided_fn)(void *context, uint32_t pid);

/**
 * source_changes_fn() - return a number that changes when a process is reported to have mapped or
 * unmapped memory
 * @since_ns: out, CLOCK_MONOTONIC: time since when, according to the events received, no executable
 *            mapping was removed or overwritten; 0: no such event is known
 *
 * Called during a drain by sources that read the memory of processes.
 */
typedef uint32_t (*source_changes_fn)(void *context, uint32_t pid, uint64_t *since_ns);

/**
 * source_sync_fn() - process all pending image events
 *
 * Called during a drain by sources whose samples have no times, or that cannot leave samples for
 * later. They call it after samples were taken from the kernel and before they are passed on. So
 * every mapping that a sample saw is known when the sample is looked up. Sources that have read the
 * memory of processes call it, too.
 */
typedef void (*source_sync_fn)(void *context);

/**
 * struct source_config - what to collect
 * @events:         at least one, at most DCPI_EVENTS_MAX; copied
 * @table_entries:  geometry of each CPU's store; 0: the default, which source_select_open() fills
 *                  in: a source's own open() does not accept 0
 * @buffer_entries: as @table_entries
 * @target_pid:     0: the whole machine; otherwise this process and, from its next exec on, all its
 *                  descendants (perf source only)
 * @only_pid:       0, or the samples of other processes are dropped when they are read, and counted
 *                  nowhere (perf source only, with @target_pid 0)
 * @user_only:      exclude kernel samples (unprivileged)
 * @branch_every:   0: no edges; otherwise one in this number of samples is interpreted up to its
 *                  next branch (the edges of a trace are fixed)
 * @probe_permille: maximum share of a CPU's time for probes of branches, which yield directions
 *                  without bias by time (perf source, with @branch_every); 0: none
 * @stack_every:    0: no call stacks; otherwise the first event is also counted with periods that
 *                  are longer by this factor, and its samples have the stack (bpf and perf sources)
 * @double_every:   0: no double samples; otherwise one in this number of samples is followed by
 *                  another one after @double_period (kmod only)
 * @double_period:  see @double_every
 * @handler_times:  measure the duration of the interrupt handler (kmod only)
 * @record:         NULL; or a trace to which each sample is added before it is counted, in
 *                  chronological order per CPU (perf source only); remains the caller's
 * @replay:         path of the trace to replay (replay source only)
 * @generation:     see above
 * @divided:        see above; NULL: no process is
 * @changes:        see above
 * @sync:           see above
 * @context:        argument of these
 */
struct source_config {
	const struct source_event *events;
	size_t event_count;
	uint32_t table_entries;
	uint32_t buffer_entries;
	uint32_t target_pid;
	uint32_t only_pid;
	bool user_only;
	uint32_t branch_every;
	uint32_t probe_permille;
	uint32_t stack_every;
	uint32_t double_every;
	uint32_t double_period;
	bool handler_times;
	struct trace_writer *record;
	const char *replay;
	source_generation_fn generation;
	source_divided_fn divided;
	source_changes_fn changes;
	source_sync_fn sync;
	void *context;
};

/** source_config_wants() - return true unless the samples of a process are to be dropped */
static inline bool source_config_wants(const struct source_config *config, uint32_t pid)
{
	return config->only_pid == 0 || config->only_pid == pid;
}

/*
 * Event numbers of probe results, which correspond to PROFILE_EDGE_PROBE and the kinds after it.
 * Not used by any kernel.
 */
#define SOURCE_EVENT_PROBE 0xfb
#define SOURCE_EVENT_SAME_WINDOW 0xfa
#define SOURCE_EVENT_SECOND_MOMENT 0xf9
#define SOURCE_EVENT_WEIGHTED 0xf8
#define SOURCE_EVENT_INTERVALS 0xf7
#define SOURCE_EVENT_INTERVAL_NS 0xf6
#define SOURCE_EVENT_REFERENCE_INTERVAL 0xf5
#define SOURCE_EVENT_REMAINING 0xf4

/**
 * struct source_edge - an aggregated edge
 * @from, @to: as in kmod/uapi/dcpi_uapi.h
 * @tag:       of the process; its event is DCPI_EVENT_BRANCH, DCPI_EVENT_DOUBLE (never a _FAR one)
 *             or a SOURCE_EVENT_*; its count is ignored
 * @count:     > 0
 */
struct source_edge {
	uint64_t from;
	uint64_t to;
	uint64_t tag;
	uint64_t count;
};

/**
 * struct source_access - an access to data near a sample (kmod/core/access.h)
 * @pc:         address of the instruction
 * @tag:        process of the sample, as dcpi_tag() composes it
 * @address:    address of the data
 * @stride:     distance to the address at the next execution, if @has_stride
 * @stack:      the data is near the top of the thread's stack
 * @nearest:    as in struct access_list: the sampled time is that of this access
 * @thread, @cpu, @time_ns: of the sample
 */
struct source_access {
	uint64_t pc;
	uint64_t tag;
	uint64_t address;
	int64_t stride;
	uint64_t time_ns;
	uint32_t thread;
	uint32_t cpu;
	bool has_stride;
	bool stack;
	bool nearest;
};

/**
 * struct source_sink - receiver of the results of a drain
 * @samples: called with a run of aggregated entries; entries with a count of 0 are unused
 * @edge:    called with one aggregated edge
 * @pair:    called with two samples of a thread (daemon/source/register_pairs.h); NULL: not wanted
 * @access:  called with an access to data; NULL: not wanted
 * @stack:   called with a sampled stack (daemon/source/source_stack.h); NULL: not wanted
 * @context: argument of all of them
 */
struct source_sink {
	void (*samples)(void *context, const struct dcpi_sample *samples, size_t count);
	void (*edge)(void *context, const struct source_edge *edge);
	void (*pair)(void *context, const struct source_pair *pair);
	void (*access)(void *context, const struct source_access *access);
	void (*stack)(void *context, const struct source_stack *stack);
	void *context;
};

/**
 * struct source_time - how long an event was counted, summed over CPUs
 * @enabled_ns: time during which the event was enabled
 * @running_ns: time during which it was on a counter: shorter, if events are multiplexed
 *
 * Since the source's first start.
 */
struct source_time {
	uint64_t enabled_ns;
	uint64_t running_ns;
};

/** Called with a named count; group is "loss" or "stat". Counts are cumulative since the start. */
typedef void (*source_counter_fn)(void *context, const char *group, const char *name,
				  uint64_t count);

/**
 * struct source_ops - operations of a source
 * @name:            "kmod", "bpf", "perf", "replay"
 * @own_generations: its samples' generations come from source_generation_fn; otherwise they are the
 *                   kernel's exec counts
 * @probes:          it can probe branches that samples lead to (probe_permille)
 * @doubles:         it can follow a sample by another one (double_every)
 * @own_handler:     it has its own interrupt handler, which can be timed (handler_times)
 * @open:            check and reserve everything; no sample is taken yet. -EBUSY: another process
 *                   uses the device of this source; no other source is tried then.
 * @start:           begin to sample; also again, after @stop and a @drain of everything. Counters
 *                   continue.
 * @stop:            end sampling; samples can still be drained. Idempotent.
 * @set_periods:     of a stopped source: set periods from the next @start on; the events are those
 *                   of @open, in the same order. (For a target with perf this affects its first
 *                   process and those forked later; see daemon/source/perf_slot.h.)
 * @poll_fd:         return a descriptor that is readable when a drain is due before its interval
 *                   has passed; owned by the source
 * @drain:           pass on the samples that are ready. @all: everything, including samples that
 *                   are still being counted. @until_ns (CLOCK_MONOTONIC): samples taken later are
 *                   left for the next call, if their times are known. Fails only if the kernel
 *                   violates its interface.
 * @counters:        visit named counts since the start, all as of the same time. Return: samples
 *                   taken so far. When the source is stopped and drained with @all and UINT64_MAX,
 *                   this equals samples passed on + losses; before, it may include samples not
 *                   passed on yet.
 * @event_time:      of the event with this index; -ENODATA if unknown
 * @generation:      the kernel's current generation of a process; -ESRCH (only without
 *                   @own_generations)
 * @set_probe_share: maximum share of a CPU's time for probes from now on, in 1/1000, at most
 *                   source_config.probe_permille; 0: none. NULL without @probes
 * @set_branch_every: interpret one in this number of samples from now on, at least
 *                   source_config.branch_every; NULL: cannot be changed
 * @close:           free everything; accepts NULL
 */
struct source_ops {
	const char *name;
	bool own_generations;
	bool probes;
	bool doubles;
	bool own_handler;
	int (*open)(struct source **ret, const struct source_config *config, struct error *err);
	int (*start)(struct source *source, struct error *err);
	void (*stop)(struct source *source);
	void (*set_periods)(struct source *source, const struct source_event *events);
	int (*poll_fd)(struct source *source);
	int (*drain)(struct source *source, bool all, uint64_t until_ns,
		     const struct source_sink *sink, struct error *err);
	uint64_t (*counters)(struct source *source, source_counter_fn visit, void *context);
	int (*event_time)(struct source *source, size_t event, struct source_time *time);
	int (*generation)(struct source *source, uint32_t pid, uint32_t *generation);
	void (*set_probe_share)(struct source *source, uint32_t permille);
	void (*set_branch_every)(struct source *source, uint32_t every);
	void (*close)(struct source *source);
};

/** struct source - common part of all sources, their first member. */
struct source {
	const struct source_ops *ops;
};

extern const struct source_ops source_kmod_ops;
extern const struct source_ops source_bpf_ops;
extern const struct source_ops source_perf_ops;
extern const struct source_ops source_replay_ops;

#endif
