// SPDX-License-Identifier: GPL-2.0-only
/* dcpiexport - a profile in the formats of other tools */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/near_names.h"
#include "lib/options.h"
#include "tools/export/export_archive.h"
#include "tools/export/export_contexts.h"
#include "tools/export/export_flow.h"
#include "tools/export/export_stacks.h"
#include "tools/export/export_variation.h"
#include "tools/export/exporter.h"
#include "tools/report/cli.h"
#include "tools/report/event_choice.h"
#include "tools/report/event_scale.h"
#include "tools/report/output_file.h"
#include "tools/report/report_header.h"
#include "tools/report/sandboxed.h"

static const struct exporter *const exporters[] = {
	&exporter_pprof, &exporter_folded,     &exporter_speedscope, &exporter_callgrind,
	&exporter_csv,	 &exporter_bolt,       &exporter_autofdo,    &exporter_profgen,
	&exporter_pixie, &exporter_flamegraph, &exporter_lld_order,  &exporter_gold_order,
};

/* This format has the database and files, instead of numbers from them. */
#define ARCHIVE "archive"

#define EXPORTERS (sizeof(exporters) / sizeof(*exporters))

enum {
	KEY_FORMAT = 'f',
	KEY_OUTPUT = 'o',
	KEY_CONTEXTS = 1001,
	KEY_VARIATION,
	KEY_STACKS,
	KEY_INLINE,
	KEY_MAX_SIZE,
};

static const struct option_entry own_options[] = {
	{KEY_FORMAT, "format", "FORMAT",
	 "write this format: pprof (the default), folded, ... (see below)"},
	{KEY_OUTPUT, "output", "FILE", "write to FILE; default: standard output"},
	{KEY_MAX_SIZE, "max-size", "MB",
	 "format archive: omit files of colder images beyond this size (2048)"},
	{KEY_STACKS, "stacks", NULL, "export sampled call stacks instead of samples"},
	{KEY_INLINE, "inline", NULL, "export inlined functions as callees, with --stacks"},
	{KEY_CONTEXTS, "contexts", NULL, "export recordings of dcpix --mode context instead"},
	{KEY_VARIATION, "variation", NULL, "export recordings of dcpix --mode variation instead"},
};

struct export_job {
	struct cli cli;
	const struct exporter *exporter; /* NULL: an archive */
	const char *output;
	int64_t archive_mb;
	/* Export of a recording instead of samples, and its name; NULL: samples. */
	int (*recorded)(struct cli *cli, const struct exporter *exporter, const char *output);
	const char *recorded_name;
	struct profile_reader *reader;
	struct report_header header;
	struct event_scale scale;
	struct tally *tally;
	struct export_event *events;
	struct event_choice choice;
	int64_t epoch; /* epoch whose periods are being read */
};

static int set_archive_mb(struct export_job *job, const char *argument, struct error *err)
{
	int r = cli_number(argument, "number of MB", &job->archive_mb, err);

	if (r == 0 && job->archive_mb > INT64_MAX >> 20)
		return error_set(err, EINVAL, ERROR_NOT_VALID, argument, "number of MB");
	return r;
}

static int dcpiexport_set_option(void *context, int key, const char *argument, struct error *err)
{
	struct export_job *job = context;
	const char *names[EXPORTERS + 1] = {ARCHIVE};

	if (key == KEY_OUTPUT) {
		job->output = argument;
		return 0;
	}
	if (key == KEY_STACKS) {
		job->recorded = export_stacks;
		job->recorded_name = "stacks";
		return 0;
	}
	if (key == KEY_INLINE) {
		job->cli.inlines = true;
		return 0;
	}
	if (key == KEY_CONTEXTS || key == KEY_VARIATION) {
		job->recorded = key == KEY_CONTEXTS ? export_contexts : export_variation;
		job->recorded_name = key == KEY_CONTEXTS ? "contexts" : "variation";
		return 0;
	}
	if (key == KEY_MAX_SIZE)
		return set_archive_mb(job, argument, err);
	if (strcmp(argument, ARCHIVE) == 0) {
		job->exporter = NULL;
		return 0;
	}
	for (size_t i = 0; i < EXPORTERS; i++) {
		names[i + 1] = exporters[i]->name;
		if (strcmp(argument, names[i + 1]) == 0) {
			job->exporter = exporters[i];
			return 0;
		}
	}
	return near_names_unknown(err, "format", argument, names, EXPORTERS + 1);
}

static const struct cli_tool tool = {
	.name = "dcpiexport",
	.synopsis = "[OPTION]...",
	.summary = "Write a profile in the format of another tool.\n\nFormats of samples: pprof, "
		   "folded (stacks), speedscope, callgrind, flamegraph, csv.\nFormats of stacks, "
		   "contexts and paths (--stacks, --contexts, --variation): the same except "
		   "csv.\nFormats of estimated executions of one image (see dcpicalc): bolt, "
		   "autofdo, profgen (for clang), pixie, lld-order, gold-order.\nFormat of the "
		   "database, the programs and their debug files, for another machine: archive.",
	.accepts = CLI_EVENTS | CLI_IMAGES | CLI_PID | CLI_EPOCHS | CLI_SYMBOLS | CLI_PROFILER |
		   CLI_IDLE,
	.options = own_options,
	.option_count = sizeof(own_options) / sizeof(*own_options),
	.set = dcpiexport_set_option,
};

/* Choose the events. Their units are taken from the first epoch that has the event. */
static int choose_events(struct export_job *job, struct error *err)
{
	const struct report_header *header = &job->header;
	int r = event_choice_make(&job->choice, header, &job->cli, err);

	if (r < 0)
		return r;
	job->events = calloc(job->choice.count + 1, sizeof(*job->events));
	if (job->events == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	for (size_t i = 0; i < job->choice.count; i++) {
		size_t found = 0;

		while (strcmp(header->events[found].name, job->choice.names[i]) != 0)
			found++;
		job->events[i] = (struct export_event){.name = job->choice.names[i],
						       .unit = header->events[found].unit,
						       .least = INFINITY};
	}
	return 0;
}

/* A sample stands for as many events as the mean of its range of periods. */
static int add_period(void *context, const struct profile_event *event)
{
	struct export_job *job = context;
	double mean = ((double)event->period_min + (double)event->period_max) / 2, factor;
	int r = mean < 1 ? 0 : event_scale_period(&job->scale, job->epoch, event->number, mean);

	factor = event_scale_factor(&job->scale, job->epoch, event->number);
	for (size_t i = 0; i < job->choice.count; i++) {
		if (strcmp(job->events[i].name, event->name) == 0)
			job->events[i].least = fmin(job->events[i].least, factor);
	}
	return r;
}

static int load_scale(struct export_job *job, int64_t epoch, struct error *err)
{
	int r = event_scale_load(&job->scale, job->reader, epoch, err);

	job->epoch = epoch;
	if (r == 0)
		r = profile_reader_events(job->reader, epoch, add_period, job, err);
	return r == -ENOMEM ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : r;
}

static int dcpiexport_load(struct export_job *job, struct error *err)
{
	struct cli *cli = &job->cli;
	int r = cli_open(cli, &job->reader, err);

	if (r == 0)
		r = report_header_load(&job->header, job->reader, &cli->filter, err);
	if (r == 0 && job->header.epoch_count == 0)
		r = cli_no_epoch(cli, job->reader, err);
	if (r == 0)
		r = choose_events(job, err);
	for (size_t i = 0; r == 0 && i < job->header.epoch_count; i++)
		r = load_scale(job, job->header.epochs[i].id, err);
	return r;
}

static int tally(struct export_job *job, struct error *err)
{
	const struct cli *cli = &job->cli;
	struct tally_config config = {
		.events = job->choice.names,
		.event_count = job->choice.count,
		.filter = cli->filter,
		.image = cli->image,
		.by = TALLY_BY_INSTRUCTION,
		.lines = true,
		.scale = &job->scale,
		.demangle = cli->demangle,
		.debug = cli->debug,
		.include = cli->include,
	};

	return tally_create(&job->tally, job->reader, &config, err);
}

/* Excluded rows come last, so that they can be cut off. */
static int row_compare(const void *a, const void *b)
{
	const struct tally_row *x = a, *y = b;
	int r = x->excluded - y->excluded;

	if (r == 0)
		r = strcmp(x->image, y->image);
	if (r != 0)
		return r;
	if (x->address - x->inside != y->address - y->inside)
		return x->address - x->inside < y->address - y->inside ? -1 : 1;
	r = strcmp(x->procedure, y->procedure);
	if (r != 0)
		return r;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static size_t count_rows(const struct export_job *job)
{
	const struct tally_row *rows = tally_rows(job->tally);
	size_t count = 0;

	for (size_t i = 0; i < tally_row_count(job->tally); i++)
		count += !rows[i].excluded;
	return count;
}

/* Describe the origin of the profile in one line. Return: malloc'd; NULL if out of memory. */
static char *make_comment(const struct export_job *job)
{
	const struct report_header *header = &job->header;
	uint64_t own = tally_excluded_samples(job->tally, PROFILER_WHOLE);
	uint64_t no_work = tally_excluded_samples(job->tally, PROFILER_IDLE);
	char profiler[64] = "", idle[64] = "", *comment;

	if (own > 0)
		snprintf(profiler, sizeof(profiler),
			 "; %" PRIu64 " samples of the profiler are excluded", own);
	if (no_work > 0)
		snprintf(idle, sizeof(idle),
			 "; %" PRIu64 " samples of waiting for work are excluded", no_work);
	if (asprintf(&comment, "dcpi: %zu epoch%s, %s, kernel %s%s%s%s", header->epoch_count,
		     header->epoch_count > 1 ? "s" : "", header->epochs[0].host,
		     header->epochs[0].kernel,
		     report_header_periods_differ(header)
			     ? "; periods differ: samples are scaled to the shortest"
			     : "",
		     profiler, idle) < 0)
		return NULL;
	return comment;
}

static int write_profile(void *context, FILE *file, struct error *err)
{
	struct export_job *job = context;
	const struct report_header *header = &job->header;
	_cleanup_free_ char *comment = make_comment(job);
	struct export_profile profile = {
		.rows = tally_rows(job->tally),
		.row_count = count_rows(job),
		.events = job->events,
		.event_count = job->choice.count,
		.start_ns = header->epochs[0].start_ns,
	};

	qsort(tally_rows(job->tally), tally_row_count(job->tally), sizeof(*profile.rows),
	      row_compare);
	for (size_t i = 0; i < header->epoch_count; i++) {
		if (header->epochs[i].end_ns > profile.end_ns)
			profile.end_ns = header->epochs[i].end_ns;
	}
	if (comment == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	profile.comment = comment;
	return job->exporter->write(file, &profile, err);
}

static int dcpiexport_run(struct export_job *job)
{
	const struct cli *cli = &job->cli;
	struct error err = {0};
	int r = 0;

	if (job->cli.inlines && job->recorded != export_stacks)
		r = error_set(&err, EINVAL, "--inline needs --stacks");
	if (r == 0 && job->exporter == NULL && job->recorded != NULL)
		r = error_set(&err, EINVAL, "format '%s' does not support %s", ARCHIVE,
			      job->recorded_name);
	if (r == 0 && job->exporter == NULL && job->output == NULL && cli->terminal)
		r = error_set(&err, EINVAL, ERROR_TERMINAL, ARCHIVE);
	if (r < 0)
		return cli_fail(cli, &err);
	if (job->exporter == NULL)
		return export_archive(&job->cli, job->output, (uint64_t)job->archive_mb << 20);
	if (job->output == NULL && job->exporter->binary && job->cli.terminal) {
		error_set(&err, EINVAL, ERROR_TERMINAL, job->exporter->name);
		return cli_fail(cli, &err);
	}
	if (job->recorded != NULL && job->exporter->write_contexts == NULL) {
		error_set(&err, EINVAL, "format '%s' does not support %s", job->exporter->name,
			  job->recorded_name);
		return cli_fail(cli, &err);
	}
	if (job->recorded != NULL)
		return job->recorded(&job->cli, job->exporter, job->output);
	if (job->exporter->write_flow != NULL)
		return export_flow(&job->cli, job->exporter, job->output);
	r = dcpiexport_load(job, &err);
	if (r == 0)
		r = tally(job, &err);
	if (r == -ENOENT && job->reader != NULL)
		return cli_nothing(cli, "%s", err.message);
	if (r < 0)
		return cli_fail(cli, &err);
	if (tally_row_count(job->tally) == 0)
		return cli_no_samples(cli, "samples", report_header_no_samples(&job->header));
	if (count_rows(job) == 0)
		return cli_nothing(cli,
				   "all samples are of the profiler or of waiting for work: use "
				   "--include-profiler or --idle to export them");
	r = output_file_write(job->output, write_profile, job, &err);
	return r < 0 ? cli_fail(cli, &err) : CLI_OK;
}

int main(int argc, char **argv)
{
	struct export_job job = {.exporter = &exporter_pprof, .archive_mb = EXPORT_ARCHIVE_MB};
	int status = cli_parse(&job.cli, &tool, argc, argv, &job);

	/* Files of all users are in an archive. */
	if (job.exporter == NULL)
		umask(077);
	if (status == CLI_RUN)
		status = sandboxed_start(&job.cli,
					 &(struct sandboxed_options){.access.output = job.output});
	if (status == CLI_RUN)
		status = dcpiexport_run(&job);
	free(job.events);
	event_choice_deinit(&job.choice);
	tally_destroy(job.tally);
	event_scale_deinit(&job.scale);
	report_header_deinit(&job.header);
	profile_reader_close(job.reader);
	cli_deinit(&job.cli);
	return status;
}
