/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The labels of processes: which unit and container each one runs in.
 *
 * /proc/PID/cgroup is read when the first sample of a process comes, and when the
 * first one after an exec does: whoever starts services and containers moves the
 * new process before its exec. A fork inherits what its parent has, as it does in
 * the kernel, so that of processes that end before their samples come most are
 * known; a parent that is not known is read then. A process that is moved without an exec keeps its
 * label until then.
 *
 * At most PROCESS_LABEL_READS are read a second, some 20 us each; a process whose
 * turn does not come has its parent's label, and is asked for with its next
 * sample. Without limit are only lookups: O(1).
 */
#ifndef DCPI_PROCESS_LABEL_H
#define DCPI_PROCESS_LABEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cgroup;
struct error;
struct image_event;
struct label_table;
struct process_labels;
struct tally;

#define PROCESS_LABEL_READS 250

/** process_label_read_fn() - cgroup_read(), or a test's. */
typedef int (*process_label_read_fn)(struct cgroup *ret, uint32_t pid);

int process_labels_create(struct process_labels **ret, process_label_read_fn read,
			  struct error *err);

/** process_labels_destroy() - NULL is fine. */
void process_labels_destroy(struct process_labels *labels);

/** process_labels_event() - forks, execs and exits, in order of time; others are passed over. */
void process_labels_event(struct process_labels *labels, const struct image_event *event);

/**
 * process_labels_get() - a process' label
 * @time_ns: now, CLOCK_MONOTONIC
 * @settled: out: it stays until the next event of the process, process_labels_expire()
 *           or process_labels_epoch(); else it is to be asked for again
 *
 * Return: its number in the table; LABEL_NONE.
 */
uint32_t process_labels_get(struct process_labels *labels, uint32_t pid, uint64_t time_ns,
			    bool *settled);

/** process_labels_expire() - forget processes that ended before a time (CLOCK_MONOTONIC). */
void process_labels_expire(struct process_labels *labels, uint64_t time_ns);

/**
 * process_labels_epoch() - an epoch begins; no sample of the last one waits any more
 *
 * When the table is more than half full, numbers are given out anew.
 */
void process_labels_epoch(struct process_labels *labels);

/** process_labels_table() - what numbers stand for; stays the labels'. */
const struct label_table *process_labels_table(const struct process_labels *labels);

/**
 * process_labels_counters() - "stat" counters since the beginning
 *
 * label_reads: of /proc; label_gone: of these, too late; label_put_off: samples and
 * forks whose process had no turn yet.
 */
void process_labels_counters(const struct process_labels *labels, struct tally *tally);

/** process_labels_bytes() - memory in use. */
size_t process_labels_bytes(const struct process_labels *labels);

#endif
