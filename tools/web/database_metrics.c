// SPDX-License-Identifier: GPL-2.0-only
#include "tools/web/database_metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/base/text.h"
#include "tools/report/cli.h"
#include "tools/report/event_choice.h"
#include "tools/report/event_scale.h"
#include "tools/report/report_header.h"
#include "tools/tally/tally.h"

/* struct source - the database, and its sums; zero-initialised: empty */
struct source {
	struct profile_reader *reader;
	struct report_header header;
	struct event_choice events;
	struct event_scale scale;
	struct tally *tally;
};

static void source_deinit(struct source *source)
{
	tally_destroy(source->tally);
	event_choice_deinit(&source->events);
	event_scale_deinit(&source->scale);
	report_header_deinit(&source->header);
	profile_reader_close(source->reader);
}

/* Images are not opened: their samples are added up, but not by procedure. */
static int source_load(struct source *source, struct cli *cli, struct error *err)
{
	struct tally_config config = {
		.by = TALLY_BY_IMAGE, .filter = cli->filter, .scale = &source->scale};
	int r = cli_open(cli, &source->reader, err);

	if (r == 0)
		r = report_header_load(&source->header, source->reader, &cli->filter, err);
	if (r == 0)
		r = event_scale_load_header(&source->scale, source->reader, &source->header, err);
	if (r == 0)
		r = event_choice_make(&source->events, &source->header, cli, err);
	if (r < 0 || source->events.count == 0)
		return r;
	config.events = source->events.names;
	config.event_count = source->events.count;
	r = tally_create(&source->tally, source->reader, &config, err);
	if (r == 0)
		source->header.samples = tally_samples(source->tally, &source->header.unknown);
	return r;
}

/* Print the value of a label: quoted, with escapes, as clean text. Return: 0 or -ENOMEM. */
static int metrics_label(FILE *stream, const char *text)
{
	_cleanup_free_ char *clean = text_clean(text);

	if (clean == NULL)
		return -ENOMEM;
	fputc('"', stream);
	for (const char *at = clean; *at != '\0'; at++) {
		if (*at == '"' || *at == '\\')
			fputc('\\', stream);
		fputc(*at, stream);
	}
	fputc('"', stream);
	return 0;
}

static void gauge_print_head(FILE *stream, const char *name, const char *help)
{
	fprintf(stream, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static void print_gauge(FILE *stream, const char *name, const char *help, uint64_t value)
{
	gauge_print_head(stream, name, help);
	fprintf(stream, "%s %" PRIu64 "\n", name, value);
}

static int print_labelled(FILE *stream, const char *name, const char *label, const char *value,
			  uint64_t count)
{
	fprintf(stream, "%s{%s=", name, label);
	if (metrics_label(stream, value) < 0)
		return -ENOMEM;
	fprintf(stream, "} %" PRIu64 "\n", count);
	return 0;
}

static int print_counters(FILE *stream, const struct report_header *header, const char *group,
			  const char *name, const char *help)
{
	int r = 0;

	gauge_print_head(stream, name, help);
	for (size_t i = 0; r == 0 && i < header->counter_count; i++) {
		if (strcmp(header->counters[i].group, group) == 0)
			r = print_labelled(stream, name, "reason", header->counters[i].name,
					   header->counters[i].count);
	}
	return r;
}

static int print_events(FILE *stream, const struct source *source)
{
	static const char name[] = "dcpi_database_event_samples";
	int r = 0;

	gauge_print_head(stream, name, "Samples in the database by event, as taken.");
	for (size_t i = 0; r == 0 && source->tally != NULL && i < source->events.count; i++)
		r = print_labelled(stream, name, "event", source->events.names[i],
				   tally_total(source->tally, i)->samples);
	return r;
}

static void print_times(FILE *stream, const struct report_header *header)
{
	int64_t start_ns = 0, end_ns = 0;
	bool open = false;

	for (size_t i = 0; i < header->epoch_count; i++) {
		const struct profile_epoch *epoch = &header->epochs[i];

		if (i == 0 || epoch->start_ns < start_ns)
			start_ns = epoch->start_ns;
		if (epoch->end_ns > end_ns)
			end_ns = epoch->end_ns;
		open |= epoch->open != 0;
	}
	gauge_print_head(stream, "dcpi_database_start_seconds",
			 "Start of the first epoch, Unix time.");
	fprintf(stream, "dcpi_database_start_seconds %.3f\n", (double)start_ns / 1e9);
	gauge_print_head(stream, "dcpi_database_end_seconds",
			 "Time of the last samples stored, Unix time.");
	fprintf(stream, "dcpi_database_end_seconds %.3f\n", (double)end_ns / 1e9);
	print_gauge(stream, "dcpi_database_open", "An epoch is open: samples may be added.", open);
}

static int print_all(FILE *stream, const struct source *source)
{
	const struct report_header *header = &source->header;
	uint64_t lost = report_header_losses(header);

	print_gauge(stream, "dcpi_database_epochs", "Epochs in the database.", header->epoch_count);
	print_times(stream, header);
	print_gauge(stream, "dcpi_database_interrupts",
		    "Samples taken in the epochs of the database.", header->interrupts);
	print_gauge(stream, "dcpi_database_samples", "Samples in the database.", header->samples);
	print_gauge(stream, "dcpi_database_accounts_exact",
		    "1 if all samples taken are stored or counted as lost.",
		    header->interrupts == header->samples + lost);
	print_gauge(stream, "dcpi_database_unknown", "Samples without a known image.",
		    header->unknown);
	if (print_counters(stream, header, "loss", "dcpi_database_lost",
			   "Samples lost, by reason.") < 0 ||
	    print_counters(stream, header, "unknown", "dcpi_database_unknown_reasons",
			   "Samples without a known image, by reason.") < 0)
		return -ENOMEM;
	return print_events(stream, source);
}

int database_metrics_print(FILE *stream, struct cli *cli, struct error *err)
{
	_cleanup_(source_deinit) struct source source = {0};
	int r = source_load(&source, cli, err);

	if (r < 0)
		return r;
	return print_all(stream, &source) < 0 ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : 0;
}
