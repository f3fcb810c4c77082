/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every report says first: which epochs, hosts, sources and events its
 * samples are from, what was lost, and whether all is accounted for.
 */
#ifndef DCPI_REPORT_HEADER_H
#define DCPI_REPORT_HEADER_H

#include <stdbool.h>
#include <stdio.h>

#include "db/profile_read.h"
#include "tools/report/jit_hint.h"

struct error;
struct json_object;

/**
 * struct report_header - about the epochs a report is made from
 * @epochs:      by start
 * @events:      distinct ones, their times summed over the epochs
 * @scaled:      counts in the report are scaled by these times, and to the shortest period
 *               of each event; set by the tool
 * @counters:    summed over the epochs, by group and name
 * @interrupts:  samples taken, by the sources' count
 * @samples:     samples in all profiles; set by the tool, which reads them
 * @unknown:     of these, samples of no known image; set by the tool
 * @excluded:    of @samples, samples that profiling causes and that shares leave out; set by
 *               the tool
 * @jit:         samples of code without names, by runtime
 * @has_writer:  a process writes to the database, as far as is known
 * @has_edges:   the report is of edges: of @edges in all; set by the tool
 */
struct report_header {
	struct profile_epoch *epochs;
	size_t epoch_count;
	size_t epoch_capacity;
	struct profile_event *events;
	size_t event_count;
	size_t event_capacity;
	bool scaled;
	struct profile_counter *counters;
	size_t counter_count;
	size_t counter_capacity;
	uint64_t interrupts;
	uint64_t samples;
	uint64_t unknown;
	uint64_t excluded;
	bool has_edges;
	uint64_t edges;
	struct jit_hint jit;
	bool has_writer;
};

/**
 * report_header_load() - read what the database says of the epochs a filter selects
 * @header: zero-initialised; freed by report_header_deinit(), also after a failure
 *
 * May be called again, for the epochs of another database.
 */
int report_header_load(struct report_header *header, struct profile_reader *reader,
		       const struct profile_filter *filter, struct error *err);

void report_header_deinit(struct report_header *header);

/** report_header_losses() - sum of the named losses. */
uint64_t report_header_losses(const struct report_header *header);

/** report_header_took_turns() - whether an event was not on a counter all of the time. */
bool report_header_took_turns(const struct profile_event *event);

/**
 * report_header_period_factor() - how many samples of the shortest period that the epochs have
 * of an event one of @event stands for; 1 where that is not known, or units differ
 */
double report_header_period_factor(const struct report_header *header,
				   const struct profile_event *event);

/** report_header_periods_differ() - whether one of these is not 1. */
bool report_header_periods_differ(const struct report_header *header);

/**
 * report_header_no_samples() - message for a database without samples
 *
 * If its epoch goes on, the message says how to store samples that the daemon holds. Static.
 */
const char *report_header_no_samples(const struct report_header *header);

/** report_header_edges_lost() - edges handed over and not in the database; @handed: out. */
uint64_t report_header_edges_lost(const struct report_header *header, uint64_t *handed);

/**
 * report_header_print() - as text, one fact a line
 * @width: of the terminal: longer lines are wrapped; 0: none is
 */
void report_header_print(FILE *stream, const struct report_header *header, size_t width);

/** report_header_json() - add the same to an object. Return: 0 or -ENOMEM. */
int report_header_json(struct json_object *object, const struct report_header *header);

#endif
