/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Groups epochs of one or several databases into sets of samples to be compared. A set is one of:
 *
 * - each epoch, each database, all epochs of a host, all epochs of a label; or
 * - an operand: EPOCHS of the database, DATABASE, or DATABASE@EPOCHS
 *
 * with EPOCHS as for --epoch: 7, 2-5, last.
 *
 * Sets are compared by one event. Epochs without samples of this event are left out.
 */
#ifndef DCPI_SAMPLE_SETS_H
#define DCPI_SAMPLE_SETS_H

#include "lib/u64_map.h"
#include "tools/report/cli.h"
#include "tools/report/event_scale.h"
#include "tools/report/report_header.h"

/** enum sample_sets_by - kind of the sets */
enum sample_sets_by {
	SAMPLE_SETS_BY_EPOCH,
	SAMPLE_SETS_BY_DATABASE,
	SAMPLE_SETS_BY_HOST,
	SAMPLE_SETS_BY_LABEL,
	SAMPLE_SETS_BY_NR,
	SAMPLE_SETS_BY_DEFAULT, /* operands if given; epochs of one database; databases */
};

/** sample_sets_by_name() - return "epoch", "db", "host" or "label" */
const char *sample_sets_by_name(enum sample_sets_by by);

/**
 * struct sample_source - a database
 * @filter: selects its epochs that are in a set, and the requested process
 * @sets:   by number of the epoch: its set
 * @scale:  scales samples to the shortest period
 * @debug:  where code and symbols may be found
 */
struct sample_source {
	const char *path;
	struct profile_reader *reader;
	struct profile_filter filter;
	int64_t *epochs;
	size_t epoch_count;
	struct u64_map sets;
	struct event_scale scale;
	struct debug_file_options debug;
	char *image_store;
};

/**
 * struct sample_set - a set
 * @name:    of the epoch, database, host or label, or the operand; clean
 * @source:  database of its first epoch
 * @seconds: total duration of its epochs
 */
struct sample_set {
	char *name;
	size_t source;
	size_t epochs;
	double seconds;
};

struct sample_epoch;

/**
 * struct sample_sets - zero-initialised: empty
 * @by:            SAMPLE_SETS_BY_NR: by operand
 * @event:         the event to compare by; @event_text: its name, fit for terminals
 * @header:        of all databases; samples are not set
 * @left_out:      number of epochs without samples of the event
 * @scaled_period: periods differ, and samples are scaled to the shortest
 */
struct sample_sets {
	struct sample_source *sources;
	size_t source_count;
	struct sample_set *list;
	size_t count;
	enum sample_sets_by by;
	char *event;
	char *event_text;
	struct report_header header;
	size_t left_out;
	bool scaled_period;

	/* private */
	struct sample_epoch *epochs;
	size_t epoch_count;
	size_t epoch_capacity;
	char **operand_paths;
	size_t operand_count;
};

/**
 * sample_sets_load() - open databases, and group their epochs
 * @sets: zero-initialised; freed by sample_sets_deinit(), also after a failure
 * @cli:  databases, filter, epochs, operands, and at most one event. Without an event, the first
 *        that samples time is used, or else the first one
 *
 * Return: 0; -ENOENT: no epoch, or none with samples of the event; -EINVAL: wrong usage, or periods
 * of different units; or errors of profile_reader_open() and other reader functions.
 */
int sample_sets_load(struct sample_sets *sets, struct cli *cli, enum sample_sets_by by,
		     struct error *err);

void sample_sets_deinit(struct sample_sets *sets);

/**
 * sample_sets_filter() - make a filter that selects the epochs of one set
 * @epochs: out: room for all epochs of the set
 */
struct profile_filter sample_sets_filter(const struct sample_sets *sets, size_t set,
					 int64_t *epochs);

#endif
