/* SPDX-License-Identifier: GPL-2.0-only */
/* Start and end times of the programs in a recording, by the recording's clock. */
#ifndef DCPI_IMPORT_LIVES_H
#define DCPI_IMPORT_LIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_header;

/* Later times are invalid. */
#define IMPORT_TIME_MAX ((uint64_t)INT64_MAX / 4)

/**
 * struct import_life - a program, from its fork or exec to its exit or next exec
 * @begun_ns: 0: before the recording
 * @ended_ns: UINT64_MAX: after the recording
 * @followed: the process ran another program after that
 * @parent:   process that was forked; 0: the program began by exec, or before the recording
 */
struct import_life {
	uint64_t begun_ns;
	uint64_t ended_ns;
	bool followed;
	uint32_t parent;
};

/** struct import_mark - a program of @pid begins, if @begins is not 0, or ends */
struct import_mark {
	uint64_t time_ns;
	uint32_t pid;
	uint32_t parent;
	uint32_t begins;
	uint32_t unused;
};

/** struct import_lives - zero-initialised is empty; fields are private */
struct import_lives {
	struct import_mark *marks;
	size_t count;
	size_t capacity;
	bool incomplete;
};

void import_lives_deinit(struct import_lives *lives);

/**
 * import_lives_record() - process a record; only those that begin or end a program matter
 * @trailer_bytes: size of its trailer
 * @time_ns:       of the record; 0: the record was synthesized by perf
 */
void import_lives_record(struct import_lives *lives, const struct perf_event_header *record,
			 size_t trailer_bytes, uint64_t time_ns);

/** import_lives_add() - add a mark of another list. */
void import_lives_add(struct import_lives *lives, const struct import_mark *mark);

/**
 * import_lives_settle() - finish; call this after the last record and before import_lives_find().
 * O(n log n)
 */
void import_lives_settle(struct import_lives *lives);

/**
 * import_lives_find() - find the program that a process ran at a time. O(log n)
 *
 * Return: false if the program is unknown, because not all of them fit into memory.
 */
bool import_lives_find(const struct import_lives *lives, uint32_t pid, uint64_t time_ns,
		       struct import_life *ret);

#endif
