// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_source.h"

#include <errno.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/annotate/calc_kernel_counts.h"
#include "tools/report/passed_over.h"

/* Call stacks have no process, as edges have none; their samples are those of the first event. */
static int stacks_load(struct calc_source *source, struct profile_reader *reader,
		       const struct profile_filter *filter, const struct debug_file_options *debug,
		       struct error *err)
{
	int r;

	if (filter->has_pid || filter->unit != NULL || filter->container != NULL)
		return 0;
	r = stack_faults_find(&source->faults, reader, filter, debug, err);
	if (r == 0)
		r = stack_calls_find(&source->calls, reader, filter, err);
	if (r == 0)
		r = calc_kernel_counts_load(&source->counted, reader, filter, &source->header, err);
	return r;
}

void calc_source_exclude(struct calc_source *source, const struct cli *cli,
			 enum calc_profiler_use use)
{
	source->profiler = use;
	source->include = cli->include;
}

int calc_source_load(struct calc_source *source, struct profile_reader *reader,
		     const struct profile_filter *filter, const char *event, const char *pattern,
		     const struct debug_file_options *debug, struct error *err)
{
	struct report_header *header = &source->header;
	uint64_t delivered = 0;
	int r = 0;

	if (header->epoch_count == 0)
		r = report_header_load(header, reader, filter, err);
	if (r == 0 && header->epoch_count == 0)
		return error_set(err, ENOENT, ERROR_NO_EPOCH);
	if (r == 0)
		r = calc_events_load(&source->events, reader, header->epochs, header->epoch_count,
				     event, err);
	if (r == 0)
		r = calc_images_load(&source->images, reader, filter, &source->events,
				     source->profiler, &source->include, debug, err);
	if (r < 0)
		return r;
	if (source->images.samples == 0)
		return error_set(err, ENOENT, "%s", report_header_no_samples(header));
	if (source->events.periods_differ)
		source->events.mean_period = source->images.mean_period;
	header->samples = source->images.samples;
	header->unknown = source->images.unknown;
	header->excluded = source->images.excluded;
	header->idle = source->images.idle;
	report_header_edges_lost(header, &delivered);
	source->filter = *filter;
	if (source->profiler != CALC_PROFILER_INCLUDED)
		source->filter.profiler = PROFILE_PROFILER_NOT;
	source->select = (struct calc_select){
		.reader = reader,
		.images = &source->images,
		.pattern = pattern,
		.filter = &source->filter,
		.events = &source->events,
		.edges = delivered > 0,
		.debug = *debug,
		.faults = &source->faults,
		.calls = &source->calls,
		.counted = &source->counted,
	};
	r = stacks_load(source, reader, filter, debug, err);
	return r < 0 ? r : profiler_probes_load(&source->select.probes, reader, filter, err);
}

int calc_source_open(struct calc_source *source, struct profile_reader **reader, struct cli *cli,
		     const char *event, struct error *err)
{
	int r = cli_open(cli, reader, err);

	if (r < 0)
		return r;
	r = calc_source_load(source, *reader, &cli->filter, event, cli->image, &cli->debug, err);
	if (r == -ENOENT && source->header.epoch_count == 0)
		return cli_no_epoch(cli, *reader, err);
	return r;
}

void calc_source_deinit(struct calc_source *source)
{
	stack_faults_deinit(&source->faults);
	stack_calls_deinit(&source->calls);
	calc_images_deinit(&source->images);
	calc_events_deinit(&source->events);
	report_header_deinit(&source->header);
}

int calc_source_choose(struct calc_choice *ret, const struct calc_source *source,
		       const struct cli *cli, struct error *err)
{
	_cleanup_(passed_over_deinit) struct passed_over passed = {0};
	int r;

	if (cli->operand_count > 0)
		return calc_select_named(ret, &source->select, cli->operands[0], err);
	r = calc_select_hottest(ret, &source->select, &passed, err);
	if (r == 0)
		passed_over_print(&passed, cli, "skipped a hotter procedure",
				  (double)source->images.time);
	else
		passed_over_explain(&passed, (double)source->images.time, err);
	return r;
}

int calc_source_options(const struct calc_source *source, const struct calc_choice *choice,
			const struct machine_model *model, struct image_analysis_options *ret,
			struct error *err)
{
	const struct insn_decoder *decoder = image_code_decoder(choice->code);

	if (model == NULL)
		model = machine_model_default(decoder->isa, source->header.epochs[0].cpu_model);
	*ret = (struct image_analysis_options){
		.model = model,
		.threads = 1,
		.scope = IMAGE_ANALYSIS_CHOSEN,
		.chosen = &choice->procedure,
		.chosen_count = 1,
		/*
		 * Constraints between callers and callees require estimates of all sampled
		 * procedures; for a single procedure they are used only if the image is small, so
		 * that the user need not wait.
		 */
		.tie_calls = choice->profile.small,
	};
	if (model->isa != decoder->isa)
		return error_set(err, EINVAL,
				 "'%s' has code of %s, which model '%s' does not support",
				 choice->image->image.path, decoder->name, model->name);
	return 0;
}
