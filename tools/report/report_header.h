/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The header of every report: epochs, hosts, sources and events of its samples, losses, and a check
 * that all interrupts are accounted for.
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
 * struct report_header - describes the epochs that a report covers
 * @epochs:     by start
 * @events:     distinct ones, their times summed over the epochs
 * @scaled:     counts in the report are scaled by these times, and to the shortest period of each
 *              event; set by the tool
 * @counters:   summed over the epochs, by group and name
 * @interrupts: samples taken, as counted by the sources
 * @samples:    samples in all profiles; set by the tool, which reads them
 * @unknown:    those of @samples without a known image; set by the tool
 * @excluded:   those of @samples that profiling causes and that shares exclude; set by the tool
 * @idle:       those of @samples in which a CPU has no work and that shares exclude; set by the
 * tool
 * @stacks:     sampled call stacks, in a report of them; set by the tool
 * @excluded_stacks: those of @stacks that contain the profiler and that the report excludes
 * @jit:        samples of code without names, by runtime
 * @has_writer: a process writes to the database, as far as is known
 * @has_edges:  the report is about edges, @edges in total; set by the tool
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
	uint64_t idle;
	uint64_t stacks;
	uint64_t excluded_stacks;
	bool has_edges;
	uint64_t edges;
	struct jit_hint jit;
	bool has_writer;
};

/**
 * report_header_load() - read the properties of the epochs that a filter selects
 * @header: zero-initialised; freed by report_header_deinit(), also after a failure
 *
 * May be called again, for the epochs of another database.
 */
int report_header_load(struct report_header *header, struct profile_reader *reader,
		       const struct profile_filter *filter, struct error *err);

void report_header_deinit(struct report_header *header);

/** report_header_losses() - return the sum of the named losses */
uint64_t report_header_losses(const struct report_header *header);

/** report_header_took_turns() - return true if an event was on a counter only part of the time */
bool report_header_took_turns(const struct profile_event *event);

/**
 * report_header_period_factor() - return the ratio of an event's period to the shortest one
 *
 * The shortest period is that of the same event in any of the epochs. The factor is 1 if it is
 * unknown, or units differ.
 */
double report_header_period_factor(const struct report_header *header,
				   const struct profile_event *event);

/** report_header_periods_differ() - return true if any such factor is not 1 */
bool report_header_periods_differ(const struct report_header *header);

/**
 * report_header_no_samples() - return a message for a database without samples
 *
 * If its last epoch is still open, the message explains how to store samples that the daemon holds.
 * Static.
 */
const char *report_header_no_samples(const struct report_header *header);

/**
 * report_header_edges_lost() - return the number of edges handed over but not in the database
 * @handed: out: edges handed over
 */
uint64_t report_header_edges_lost(const struct report_header *header, uint64_t *handed);

/**
 * report_header_print() - print as text, one property per line
 * @width: of the terminal: longer lines are wrapped; 0: no wrapping
 */
void report_header_print(FILE *stream, const struct report_header *header, size_t width);

/** report_header_line() - print a line such as "events      cycles every ...", wrapped */
void report_header_line(FILE *stream, const char *fact, size_t width);

/**
 * report_header_print_brief() - print the most important properties as one line
 *
 * These are samples, events, time, losses and unknown samples. Properties of less importance are
 * omitted if @width does not have the room.
 */
void report_header_print_brief(FILE *stream, const struct report_header *header, size_t width);

/** report_header_print_hints() - print options of runtimes that provide missing names, if any */
void report_header_print_hints(FILE *stream, const struct report_header *header, size_t width);

/** report_header_json() - add the same properties to an object. Return: 0 or -ENOMEM */
int report_header_json(struct json_object *object, const struct report_header *header);

#endif
