/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Results of reports. A report that was already made from the same state of the database is not
 * made again, and equal requests wait for the same process. While samples are stored, every merge
 * changes the database. A report that takes seconds is therefore used again for as long as it
 * took, and is shared while it runs: then at most half of the time is spent on it. A bounded number
 * of processes run at a time, the others wait in the order of their requests.
 *
 * Invariants: a result that is referenced is not freed. At most @workers results are running.
 */
#ifndef DCPI_REPORT_CACHE_H
#define DCPI_REPORT_CACHE_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "tools/web/database_state.h"
#include "tools/web/report_process.h"

struct error;

#define REPORT_CACHE_WORKERS_MAX 16
#define REPORT_TAG_BYTES 40

/**
 * struct report_limits
 * @database:      path, as in the command lines; owned by the caller
 * @workers:       processes at a time, 1 .. REPORT_CACHE_WORKERS_MAX
 * @waiting:       reports that wait for a process; more are refused
 * @timeout_ns:    of a process
 * @report_bytes:  output of a report
 * @results_bytes: output of all results that are kept
 */
struct report_limits {
	const char *database;
	unsigned int workers;
	unsigned int waiting;
	uint64_t timeout_ns;
	size_t report_bytes;
	size_t results_bytes;
};

/** enum report_stage - of a result */
enum report_stage {
	REPORT_WAITS,
	REPORT_RUNS,
	REPORT_DONE,
};

/**
 * struct report_result - a report; the caller reads only these members
 * @body:    output, @bytes of it; valid if @end is REPORT_OK
 * @message: reason of another end
 * @tag:     identifies @body, for HTTP: a quoted string
 */
struct report_result {
	enum report_stage stage;
	enum report_end end;
	char *body;
	size_t bytes;
	char message[REPORT_MESSAGE_BYTES];
	char tag[REPORT_TAG_BYTES];

	/* private */
	char **command;
	struct database_state state;
	uint64_t made_ns;  /* start of the process */
	uint64_t ended_ns; /* its end */
	uint64_t expires_ns;
	uint64_t used_ns;
	unsigned int references;
	struct report_process process;
	struct report_result *next;
};

/**
 * struct report_counts - since the start
 * @ended:   processes, by end
 * @reused:  requests that got a result without a new process
 * @refused: requests that could not wait
 * @busy_ns: time of all processes
 */
struct report_counts {
	uint64_t ended[REPORT_ENDS];
	uint64_t reused;
	uint64_t refused;
	uint64_t busy_ns;
};

struct report_cache;

/** report_cache_create() - Return: NULL if out of memory */
struct report_cache *report_cache_create(const struct report_limits *limits);

/** report_cache_destroy() - also ends all processes. No result may be referenced */
void report_cache_destroy(struct report_cache *cache);

/**
 * report_cache_get() - get the result of a command line, and start it if necessary
 * @command: of the report; owned by the cache, also after a failure
 * @moves:   the result changes with time
 * @state:   of the database now
 * @ret:     out: referenced, see report_result_put()
 *
 * Return: 0; -EBUSY: too many reports wait; -ENOMEM.
 */
int report_cache_get(struct report_cache *cache, char **command, bool moves,
		     const struct database_state *state, struct report_result **ret,
		     struct error *err);

/** report_result_reference() - take another reference */
void report_result_reference(struct report_result *result);

/** report_result_put() - return a reference; NULL is permitted */
void report_result_put(struct report_result *result);

/**
 * report_cache_poll() - fill in the descriptors of all processes
 * @polls: room for REPORT_CACHE_WORKERS_MAX * REPORT_PROCESS_FILES
 * @deadline_ns: in and out: reduced to the earliest deadline
 *
 * Return: their number.
 */
size_t report_cache_poll(const struct report_cache *cache, struct pollfd *polls,
			 uint64_t *deadline_ns);

/** report_cache_advance() - read from processes, and start those that wait */
void report_cache_advance(struct report_cache *cache);

const struct report_counts *report_cache_counts(const struct report_cache *cache);

#endif
