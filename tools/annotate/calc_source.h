/* SPDX-License-Identifier: GPL-2.0-only */
/* Loads epochs of a database for the analysis of procedures. */
#ifndef DCPI_CALC_SOURCE_H
#define DCPI_CALC_SOURCE_H

#include "analysis/kernel_counts.h"
#include "tools/annotate/calc_events.h"
#include "tools/annotate/calc_images.h"
#include "tools/annotate/calc_select.h"
#include "tools/report/cli.h"
#include "tools/report/report_header.h"
#include "tools/stacks/stack_calls.h"
#include "tools/stacks/stack_faults.h"

/**
 * struct calc_source - zero-initialised: empty
 * @profiler: set before: use of samples that shares exclude; @include: classes that they include
 * @filter:   selects the samples of images accordingly
 */
struct calc_source {
	enum calc_profiler_use profiler;
	struct included_samples include;
	struct profile_filter filter;
	struct report_header header;
	struct calc_events events;
	struct calc_images images;
	struct stack_faults faults;
	struct stack_calls calls;
	struct kernel_counts counted;
	struct calc_select select;
};

/**
 * calc_source_exclude() - exclude samples from shares, unless the command line includes them
 * @use: of excluded samples
 */
void calc_source_exclude(struct calc_source *source, const struct cli *cli,
			 enum calc_profiler_use use);

/**
 * calc_source_load() - read header, events and images
 * @source:  zero-initialised, but its header may be loaded, and any_event, profiler and
 *           include set;
 *           freed by calc_source_deinit(), also after a failure
 * @filter:  epochs and process; owned by the caller, must stay valid while @source is in use
 * @event:   event whose samples measure time; NULL: the best one available
 * @pattern: only these images; NULL: all
 *
 * Return: 0; -ENOENT: no epoch, or none with an event of time; -EINVAL: @event does not exist or
 * does not sample time; or the reader's error.
 */
int calc_source_load(struct calc_source *source, struct profile_reader *reader,
		     const struct profile_filter *filter, const char *event, const char *pattern,
		     const struct debug_file_options *debug, struct error *err);

/**
 * calc_source_open() - open the database that the command line names, and load from it
 * @reader: out: closed by the caller, also after a failure, and not before @source is freed
 *
 * Return: as cli_open(), calc_source_load().
 */
int calc_source_open(struct calc_source *source, struct profile_reader **reader, struct cli *cli,
		     const char *event, struct error *err);

void calc_source_deinit(struct calc_source *source);

/**
 * calc_source_choose() - choose the procedure that the command line names, or else the hottest one
 *
 * Prints a note if hotter images had to be skipped.
 *
 * Return: as calc_select_named(), calc_select_hottest().
 */
int calc_source_choose(struct calc_choice *ret, const struct calc_source *source,
		       const struct cli *cli, struct error *err);

/**
 * calc_source_options() - make the options to analyse the chosen procedure
 * @model: NULL: of the profiled machine
 *
 * The result points into @choice. Return: 0; -EINVAL: @model is of another architecture.
 */
int calc_source_options(const struct calc_source *source, const struct calc_choice *choice,
			const struct machine_model *model, struct image_analysis_options *ret,
			struct error *err);

#endif
