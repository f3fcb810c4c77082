// SPDX-License-Identifier: GPL-2.0-only
#include "tools/web/web_metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/web/web_client.h"

static const char *const end_names[REPORT_ENDS] = {
	[REPORT_OK] = "ok",	      [REPORT_NOTHING] = "nothing", [REPORT_REFUSED] = "refused",
	[REPORT_CRASHED] = "crashed", [REPORT_LATE] = "late",	    [REPORT_LARGE] = "large",
};

void web_counts_add(struct web_counts *counts, unsigned int status)
{
	if (status >= WEB_STATUS_MIN && status <= WEB_STATUS_MAX)
		counts->answers[status - WEB_STATUS_MIN]++;
}

static void metric_print_head(FILE *stream, const char *name, const char *type, const char *help)
{
	fprintf(stream, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void print_one(FILE *stream, const char *name, const char *type, const char *help,
		      uint64_t value)
{
	metric_print_head(stream, name, type, help);
	fprintf(stream, "%s %" PRIu64 "\n", name, value);
}

static void print_reports(FILE *stream, const struct report_counts *reports)
{
	metric_print_head(stream, "dcpi_web_reports_total", "counter",
			  "Reports made, by their end.");
	for (size_t i = 0; i < REPORT_ENDS; i++)
		fprintf(stream, "dcpi_web_reports_total{end=\"%s\"} %" PRIu64 "\n", end_names[i],
			reports->ended[i]);
	metric_print_head(stream, "dcpi_web_report_seconds_total", "counter",
			  "Time in which reports were made.");
	fprintf(stream, "dcpi_web_report_seconds_total %.3f\n", (double)reports->busy_ns / 1e9);
	print_one(stream, "dcpi_web_reports_reused_total", "counter",
		  "Requests that shared a report with an earlier one.", reports->reused);
	print_one(stream, "dcpi_web_reports_rejected_total", "counter",
		  "Requests for which too many reports were waiting.", reports->refused);
}

char *web_metrics_text(const struct web_counts *counts, const struct report_counts *reports,
		       const struct web_clients *clients, bool database)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *stream = open_memstream(&text, &bytes);

	if (stream == NULL)
		return NULL;
	metric_print_head(stream, "dcpi_web_answers_total", "counter",
			  "Answers, by status of HTTP.");
	for (unsigned int i = WEB_STATUS_MIN; i <= WEB_STATUS_MAX; i++) {
		uint64_t answers = counts->answers[i - WEB_STATUS_MIN];

		if (answers > 0)
			fprintf(stream, "dcpi_web_answers_total{status=\"%u\"} %" PRIu64 "\n", i,
				answers);
	}
	print_reports(stream, reports);
	print_one(stream, "dcpi_web_connections", "gauge", "Open connections.", clients->count);
	print_one(stream, "dcpi_web_late_connections_total", "counter",
		  "Connections ended because a request or the reading of an answer took too long.",
		  clients->late);
	print_one(stream, "dcpi_web_database_read", "gauge",
		  "1 if the counts of the database could be read.", database);
	if (fclose(stream) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
