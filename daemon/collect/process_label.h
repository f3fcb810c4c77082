/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The labels of processes: the unit and container in which each one runs.
 *
 * /proc/PID/cgroup is read at the first sample of a process, and at the first one after an exec:
 * service and container managers move the new process before its exec. A child inherits the label
 * of its parent at the fork, as it does in the kernel. So most processes that exit before their
 * samples arrive have a label. If the parent's label is unknown, it is read at the fork. A process
 * that is moved without an exec keeps its label until the next exec.
 *
 * At most PROCESS_LABEL_READS are read per second, some 20 us each. A process beyond this limit has
 * its parent's label, and is read at its next sample. Lookups are not limited: O(1).
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
struct counter_set;

#define PROCESS_LABEL_READS 250

/** process_label_read_fn() - cgroup_read(), or a replacement in a test. */
typedef int (*process_label_read_fn)(struct cgroup *ret, uint32_t pid);

int process_labels_create(struct process_labels **ret, process_label_read_fn read,
			  struct error *err);

/** process_labels_destroy() - free everything. @labels may be NULL. */
void process_labels_destroy(struct process_labels *labels);

/**
 * process_labels_event() - process forks, execs and exits, in chronological order; others are
 * ignored.
 */
void process_labels_event(struct process_labels *labels, const struct image_event *event);

/**
 * process_labels_get() - return the label of a process
 * @time_ns: now, CLOCK_MONOTONIC
 * @settled: out: true if the label is valid until the next event of the process,
 *           process_labels_expire() or process_labels_epoch(); false if it must be queried again
 *
 * Return: its number in the table; LABEL_NONE.
 */
uint32_t process_labels_get(struct process_labels *labels, uint32_t pid, uint64_t time_ns,
			    bool *settled);

/** process_labels_expire() - remove processes that exited before a time (CLOCK_MONOTONIC). */
void process_labels_expire(struct process_labels *labels, uint64_t time_ns);

/**
 * process_labels_epoch() - begin an epoch; no sample of the previous one may be pending
 *
 * If the table is more than half full, numbers are reassigned.
 */
void process_labels_epoch(struct process_labels *labels);

/** process_labels_table() - return the table of labels; owned by @labels. */
const struct label_table *process_labels_table(const struct process_labels *labels);

/**
 * process_labels_counters() - set "stat" counters since the start
 *
 * label_reads: reads of /proc; label_gone: reads that came too late; label_put_off: samples and
 * forks whose process could not be read yet because of the limit.
 */
void process_labels_counters(const struct process_labels *labels, struct counter_set *tally);

/** process_labels_bytes() - return the memory in use. */
size_t process_labels_bytes(const struct process_labels *labels);

#endif
