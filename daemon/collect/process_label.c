// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/process_label.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "daemon/base/cgroup.h"
#include "daemon/base/counter_set.h"
#include "daemon/collect/label_table.h"
#include "lib/array.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/u64_map.h"
#include "loader-hook/image_event.h"

/*
 * Data of a process, as the value of a map: its label's number in the low half, the flags, and the
 * round of numbers in the high half. Numbers of an earlier round are invalid.
 */
#define NUMBER_MASK UINT64_C(0xffff)
#define FRESH (UINT64_C(1) << 16) /* read since the last exec, or inherited from such a process */
#define GONE (UINT64_C(1) << 17)  /* it could not be read; never inherited */
#define ENDED (UINT64_C(1) << 18)
#define ROUND_SHIFT 32

_Static_assert(LABEL_TABLE_MAX <= NUMBER_MASK, "numbers of labels have 16 bits");

/** struct ended - a process that has exited, waiting to be removed. */
struct ended {
	uint64_t time_ns;
	uint32_t pid;
};

/*
 * @ended: in chronological order
 * @round: incremented when numbers are reassigned
 */
struct process_labels {
	process_label_read_fn read;
	struct label_table *table;
	struct u64_map processes;
	struct ended *ended;
	size_t ended_count;
	size_t ended_capacity;
	uint64_t round;
	uint64_t second;
	unsigned int reads_in_second;
	uint64_t reads;
	uint64_t gone;
	uint64_t put_off;
};

static bool current(const struct process_labels *labels, uint64_t value)
{
	return value >> ROUND_SHIFT == labels->round;
}

static bool may_read(struct process_labels *labels, uint64_t time_ns)
{
	uint64_t second = time_ns / NS_PER_SECOND;

	if (second > labels->second) {
		labels->second = second;
		labels->reads_in_second = 0;
	}
	return labels->reads_in_second++ < PROCESS_LABEL_READS;
}

/* Read the control group now. If the process is gone, return the known value. */
static uint64_t look(struct process_labels *labels, uint32_t pid, uint64_t known)
{
	struct cgroup cgroup;

	labels->reads++;
	if (labels->read(&cgroup, pid) < 0) {
		labels->gone++;
		return known | GONE;
	}
	return labels->round << ROUND_SHIFT | FRESH | label_table_number(labels->table, &cgroup);
}

/* Return a process's value, reading it if it is due. @settled: out: only an event can change it */
static uint64_t process_label_value_of(struct process_labels *labels, uint32_t pid,
				       uint64_t time_ns, bool *settled)
{
	uint64_t *slot = u64_map_find(&labels->processes, pid);
	uint64_t value = slot != NULL ? *slot : 0;

	if (!current(labels, value))
		value = labels->round << ROUND_SHIFT | (value & ENDED);
	*settled = slot != NULL;
	if (value & (FRESH | GONE | ENDED))
		return value;
	if (!may_read(labels, time_ns)) {
		labels->put_off++;
		*settled = false;
		return value;
	}
	value = look(labels, pid, value);
	/* A process without an event would never be removed. */
	if (slot != NULL)
		*slot = value;
	return value;
}

uint32_t process_labels_get(struct process_labels *labels, uint32_t pid, uint64_t time_ns,
			    bool *settled)
{
	*settled = true;
	return pid == 0 ? LABEL_NONE
			: process_label_value_of(labels, pid, time_ns, settled) & NUMBER_MASK;
}

/* Read the parent now: it may be one that never runs for long, but forks constantly. */
static void fork_take(struct process_labels *labels, const struct image_event *event)
{
	uint64_t *slot, value = 0;
	bool settled;

	/* A scan event means that a process exists, not that it is new. */
	if (event->scanned && u64_map_find(&labels->processes, event->pid) != NULL)
		return;
	if (event->parent != 0 && event->parent != event->pid)
		value = process_label_value_of(labels, event->parent, event->time_ns, &settled) &
			~(GONE | ENDED);
	slot = u64_map_insert(&labels->processes, event->pid);
	if (slot != NULL)
		*slot = value;
}

static void exit_take(struct process_labels *labels, const struct image_event *event)
{
	uint64_t *value = u64_map_find(&labels->processes, event->pid);

	if (value == NULL)
		return;
	if (array_reserve(&labels->ended, &labels->ended_capacity, labels->ended_count + 1,
			  sizeof(labels->ended[0])) < 0) {
		u64_map_remove(&labels->processes, event->pid);
		return;
	}
	*value |= ENDED;
	labels->ended[labels->ended_count++] =
		(struct ended){.time_ns = event->time_ns, .pid = event->pid};
}

void process_labels_event(struct process_labels *labels, const struct image_event *event)
{
	uint64_t *value;

	switch (event->type) {
	case IMAGE_EVENT_FORK:
		fork_take(labels, event);
		break;
	case IMAGE_EVENT_EXEC:
		value = u64_map_insert(&labels->processes, event->pid);
		if (value != NULL)
			*value &= ~(FRESH | GONE);
		break;
	case IMAGE_EVENT_EXIT:
		exit_take(labels, event);
		break;
	default:
		break;
	}
}

void process_labels_expire(struct process_labels *labels, uint64_t time_ns)
{
	size_t kept = 0, i;

	for (i = 0; i < labels->ended_count; i++) {
		const struct ended *ended = &labels->ended[i];
		const uint64_t *value = u64_map_find(&labels->processes, ended->pid);

		if (ended->time_ns >= time_ns)
			labels->ended[kept++] = *ended;
		else if (value != NULL && *value & ENDED)
			u64_map_remove(&labels->processes, ended->pid);
	}
	labels->ended_count = kept;
}

void process_labels_epoch(struct process_labels *labels)
{
	if (label_table_count(labels->table) <= LABEL_TABLE_MAX / 2)
		return;
	labels->round = (labels->round + 1) & UINT32_MAX;
	label_table_reset(labels->table, NULL);
}

const struct label_table *process_labels_table(const struct process_labels *labels)
{
	return labels->table;
}

void process_labels_counters(const struct process_labels *labels, struct counter_set *tally)
{
	counter_set_put(tally, "stat", "label_reads", labels->reads);
	counter_set_put(tally, "stat", "label_gone", labels->gone);
	counter_set_put(tally, "stat", "label_put_off", labels->put_off);
}

size_t process_labels_bytes(const struct process_labels *labels)
{
	return sizeof(*labels) + label_table_bytes(labels->table) +
	       u64_map_bytes(&labels->processes) +
	       labels->ended_capacity * sizeof(labels->ended[0]);
}

int process_labels_create(struct process_labels **ret, process_label_read_fn read,
			  struct error *err)
{
	struct process_labels *labels = calloc(1, sizeof(*labels));
	int rc;

	if (labels == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	labels->read = read;
	rc = label_table_create(&labels->table, err);
	if (rc < 0) {
		process_labels_destroy(labels);
		return rc;
	}
	*ret = labels;
	return 0;
}

void process_labels_destroy(struct process_labels *labels)
{
	if (labels == NULL)
		return;
	label_table_destroy(labels->table);
	u64_map_deinit(&labels->processes);
	free(labels->ended);
	free(labels);
}
