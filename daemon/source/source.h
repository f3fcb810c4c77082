/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where samples come from: one interface, several sources.
 *
 * A source counts samples per (process, generation, event, PC) and hands over
 * aggregated entries, layout struct dcpi_sample, when drained. It knows
 * nothing of images. Sources: source_kmod.c (dcpi.ko), source_bpf.c (a BPF
 * program, samples counted in the kernel), source_perf.c (perf_event_open,
 * samples counted in the daemon) and source_replay.c (a recorded trace).
 */
#ifndef DCPI_SOURCE_H
#define DCPI_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kmod/uapi/dcpi_uapi.h"

struct error;
struct source;
struct trace_writer;

#define SOURCE_EVENT_NAME_BYTES 64

/* What ends an error about an event that the machine cannot sample. */
#define SOURCE_EVENT_INSTEAD "cpu-clock works everywhere, dcpid --list-events has the others"

/**
 * struct source_event - an event to sample, resolved
 * @name:       as users write it
 * @unit:       "cycles", "events" or "ns"; static
 * @type:       perf_event_attr.type
 * @config:     perf_event_attr.config; @config1, @config2 likewise
 * @flags:      DCPI_EVENT_EXCLUDE_*
 * @period_min: shortest period, in @unit
 * @period_max: longest
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
 * source_generation_fn() - which version of its address space a process had
 * @pid:     process
 * @time_ns: CLOCK_MONOTONIC
 *
 * Asked by sources whose samples don't carry a generation themselves, while
 * they are drained, for samples in user space.
 *
 * Return: the generation to put into the sample's tag; 0 or DCPI_GENERATION_MAX: not known.
 */
typedef uint32_t (*source_generation_fn)(void *context, uint32_t pid, uint64_t time_ns);

/**
 * source_changes_fn() - a number that is another one when a process is told to have mapped,
 * or unmapped, something
 * @since_ns: out, CLOCK_MONOTONIC: since when all that it has executable is where it is now, as
 *            far as is told: nothing was unmapped, or had something else mapped over it; 0:
 *            nothing else is known
 *
 * Asked by sources that read from processes, while they are drained.
 */
typedef uint32_t (*source_changes_fn)(void *context, uint32_t pid, uint64_t *since_ns);

/**
 * source_sync_fn() - take note of all image events up to now
 *
 * Called by sources whose samples carry no times, or that cannot leave samples for
 * later, while they are drained, after samples were taken from the kernel and before
 * they are handed over: so whatever a sample saw is known when the sample is looked up.
 * And by those that have read from processes.
 */
typedef void (*source_sync_fn)(void *context);

/**
 * struct source_config - what to collect
 * @events:          at least one, at most DCPI_EVENTS_MAX; copied
 * @table_entries:   geometry of each CPU's store; 0: the default, which source_select_open()
 *                   knows: a source's own open() takes no 0
 * @buffer_entries:  likewise
 * @target_pid:      0: the whole machine; else this process and, from its
 *                   next exec on, all its descendants (perf source only)
 * @user_only:       leave kernel samples out (unprivileged)
 * @branch_every:    0: no edges; else one sample in so many is interpreted up
 *                   to its next branch (a trace has the edges that it has)
 * @probe_permille:  so much of a CPU's time may go to probes of branches, for directions
 *                   that are not biased by time (perf source, with @branch_every); 0: none
 * @double_every:    0: no double samples; else one sample in so many is
 *                   followed by another after @double_period (kmod only)
 * @double_period:   likewise
 * @handler_times:   measure how long the handler takes (kmod only)
 * @record:          NULL; else each sample is added to this trace before it is
 *                   counted, in order of time for each CPU (perf source only);
 *                   stays the caller's
 * @replay:          path of the trace to replay (replay source only)
 * @generation:      see above
 * @changes:         see above
 * @sync:            see above
 * @context:         for these
 */
struct source_config {
	const struct source_event *events;
	size_t event_count;
	uint32_t table_entries;
	uint32_t buffer_entries;
	uint32_t target_pid;
	bool user_only;
	uint32_t branch_every;
	uint32_t probe_permille;
	uint32_t double_every;
	uint32_t double_period;
	bool handler_times;
	struct trace_writer *record;
	const char *replay;
	source_generation_fn generation;
	source_changes_fn changes;
	source_sync_fn sync;
	void *context;
};

/* What probes tell, as PROFILE_EDGE_PROBE and those behind it have it. No kernel has these. */
#define SOURCE_EVENT_PROBE 0xfb
#define SOURCE_EVENT_BESIDE 0xfa
#define SOURCE_EVENT_MOMENT 0xf9
#define SOURCE_EVENT_PARTS 0xf8
#define SOURCE_EVENT_GAPS 0xf7
#define SOURCE_EVENT_GAP_NS 0xf6
#define SOURCE_EVENT_ROUND 0xf5

/**
 * struct source_edge - an aggregated edge
 * @from, @to: as in kmod/uapi/dcpi_uapi.h
 * @tag:       of the process; its event is DCPI_EVENT_BRANCH, DCPI_EVENT_DOUBLE (never a
 *             _FAR one) or a SOURCE_EVENT_; what it has for a count is not looked at
 * @count:     > 0
 */
struct source_edge {
	uint64_t from;
	uint64_t to;
	uint64_t tag;
	uint64_t count;
};

/**
 * struct source_sink - who takes what a drain hands over
 * @samples: a run of aggregated entries; one whose count is 0 is none
 * @edge:    one aggregated edge
 * @context: for both
 */
struct source_sink {
	void (*samples)(void *context, const struct dcpi_sample *samples, size_t count);
	void (*edge)(void *context, const struct source_edge *edge);
	void *context;
};

/**
 * struct source_time - how long an event was counted, summed over CPUs
 * @enabled_ns: it was to be counted
 * @running_ns: it was on a counter: less, if events take turns
 *
 * Since the source's first start.
 */
struct source_time {
	uint64_t enabled_ns;
	uint64_t running_ns;
};

/** A named count; group is "loss" or "stat". Cumulative since start. */
typedef void (*source_counter_fn)(void *context, const char *group, const char *name,
				  uint64_t count);

/**
 * struct source_ops - what a source implements
 * @name:            "kmod", "bpf", "perf", "replay"
 * @own_generations: its samples' generations come from source_generation_fn;
 *                   else they are the kernel's exec counts
 * @probes:          it can probe branches that samples lead to (probe_permille)
 * @doubles:         it can follow a sample by another (double_every)
 * @own_handler:     the overflow handler is ours to time (handler_times)
 * @open:            check and reserve everything; no sample is taken yet. -EBUSY: another
 *                   process uses the device of this source; no other source is tried then.
 * @start:           begin to sample; also again, after @stop and a @drain of
 *                   everything. Counters go on.
 * @stop:            end sampling; samples stay to be drained. Idempotent.
 * @set_periods:     of a source at rest: periods from the next @start on; the
 *                   events are those of @open, in the same order. (Of a target
 *                   with perf, its first process and those forked later; see
 *                   daemon/source/perf_slot.h.)
 * @poll_fd:         a descriptor, readable when a drain is due before its
 *                   interval has passed; stays the source's
 * @drain:           hand over what is ready. @all: everything, also what is
 *                   still being counted. @until_ns (CLOCK_MONOTONIC): samples
 *                   taken later are left for the next call, if their times
 *                   are known. Fails only if the kernel breaks its contract.
 * @counters:        named counts since start, all from one moment. Return:
 *                   samples taken so far. At rest (stopped and drained with
 *                   @all, UINT64_MAX) it equals samples handed over + losses;
 *                   before, it may include samples not handed over yet.
 * @event_time:      of the event with this index; -ENODATA if not known
 * @generation:      the kernel's present generation of a process; -ESRCH
 *                   (without @own_generations only)
 * @set_probe_share: thousandths of a CPU's time that probes may take from now on, at most
 *                   source_config.probe_permille; 0: none. NULL without @probes
 * @close:           free everything; NULL is fine
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
	void (*close)(struct source *source);
};

/** struct source - the part that all sources share; first member of theirs. */
struct source {
	const struct source_ops *ops;
};

extern const struct source_ops source_kmod_ops;
extern const struct source_ops source_bpf_ops;
extern const struct source_ops source_perf_ops;
extern const struct source_ops source_replay_ops;

#endif
