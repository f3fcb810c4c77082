// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/metrics.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"

struct metrics_value {
	char *key;
	char *value;
};

/*
 * @key:   of the reply; with a trailing ".": a group, whose names become labels
 * @label: label of a group; or label of a text, whose metric has the value 1
 */
static const struct metric {
	const char *key;
	const char *name;
	const char *type;
	const char *label;
	const char *help;
} kinds[] = {
	{"version", "dcpi_build_info", "gauge", "version", "Version of the daemon."},
	{"source", "dcpi_source_info", "gauge", "source", "Sample source."},
	{"taken", "dcpi_samples_taken_total", "counter", NULL,
	 "Samples taken since the start of the daemon."},
	{"epoch", "dcpi_epoch", "gauge", NULL, "Number of the current epoch."},
	{"interrupts", "dcpi_epoch_interrupts", "gauge", NULL, "Samples taken in this epoch."},
	{"stored", "dcpi_epoch_stored", "gauge", NULL, "Samples of this epoch in the database."},
	{"loss.", "dcpi_epoch_lost", "gauge", "reason",
	 "Samples of this epoch lost or not yet stored, by reason."},
	{"unknown.", "dcpi_epoch_unknown", "gauge", "reason",
	 "Samples of this epoch in no known image, by reason."},
	{"stat.", "dcpi_epoch_stat", "gauge", "name", "Other counters of this epoch."},
	{"images", "dcpi_images", "gauge", NULL, "Number of known images."},
	{"processes", "dcpi_processes", "gauge", NULL, "Number of known processes."},
	{"db_used_bytes", "dcpi_database_used_bytes", "gauge", NULL,
	 "Bytes of the database in use."},
	{"expired_epochs", "dcpi_expired_epochs_total", "counter", NULL, "Expired epochs."},
	{"expired_samples", "dcpi_expired_samples_total", "counter", NULL,
	 "Samples of expired epochs."},
	{"store.", "dcpi_image_store", "gauge", "name",
	 "Copies of images: number, bytes, refusals by reason."},
	{"uptime_s", "dcpi_uptime_seconds", "counter", NULL, "Seconds since sampling started."},
	{"sampling", "dcpi_sampling", "gauge", NULL,
	 "1 if samples are taken, 0 during the initial scan of processes."},
	{"sample_cost_ns", "dcpi_sample_cost_nanoseconds", "gauge", NULL, "Cost of a sample."},
	{"throttled", "dcpi_epoch_throttled", "gauge", NULL,
	 "Number of times that the kernel throttled an event."},
	{"merge_failing", "dcpi_merge_failing", "gauge", NULL,
	 "1 if the database cannot be written."},
	{"db_bytes", "dcpi_database_bytes", "gauge", NULL, "Size of the database."},
	{"rss_bytes", "dcpi_resident_memory_bytes", "gauge", NULL,
	 "Resident memory of the daemon."},
	{"cpu_ms", "dcpi_cpu_milliseconds_total", "counter", NULL, "CPU time of the daemon."},
	{"memory_bytes", "dcpi_memory_bytes", "gauge", NULL, "Memory of samples and image maps."},
	{"reduction", "dcpi_samples_per_entry", "gauge", NULL,
	 "Samples per entry of the sample store (data reduction)."},
	{"identity", "dcpi_accounts_exact", "gauge", NULL,
	 "1 if each interrupt is either stored or counted as a loss."},
};

static void label_print(FILE *stream, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', stream);
		fputc(*text, stream);
	}
}

static bool is_group(const struct metric *metric)
{
	return metric->key[strlen(metric->key) - 1] == '.';
}

static bool matches(const struct metric *metric, const struct metrics_value *value)
{
	if (is_group(metric))
		return strncmp(value->key, metric->key, strlen(metric->key)) == 0;
	return strcmp(value->key, metric->key) == 0;
}

static void value_print(FILE *stream, const struct metric *metric,
			const struct metrics_value *value)
{
	bool group = is_group(metric);

	fputs(metric->name, stream);
	if (metric->label != NULL) {
		fprintf(stream, "{%s=\"", metric->label);
		label_print(stream, group ? value->key + strlen(metric->key) : value->value);
		fputs("\"}", stream);
	}
	if (strcmp(metric->key, "identity") == 0)
		fprintf(stream, " %d\n", strncmp(value->value, "exact", 5) == 0);
	else
		fprintf(stream, " %s\n", metric->label != NULL && !group ? "1" : value->value);
}

static void kind_print(FILE *stream, const struct metric *metric, const struct metrics *metrics)
{
	bool begun = false;
	size_t i;

	for (i = 0; i < metrics->count; i++) {
		if (!matches(metric, &metrics->values[i]))
			continue;
		if (!begun)
			fprintf(stream, "# HELP %s %s\n# TYPE %s %s\n", metric->name, metric->help,
				metric->name, metric->type);
		begun = true;
		value_print(stream, metric, &metrics->values[i]);
	}
}

void metrics_print(FILE *stream, const struct metrics *metrics)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		kind_print(stream, &kinds[i], metrics);
}

const char *metrics_find(const struct metrics *metrics, const char *key)
{
	size_t i;

	for (i = 0; i < metrics->count; i++) {
		if (strcmp(metrics->values[i].key, key) == 0)
			return metrics->values[i].value;
	}
	return NULL;
}

bool metrics_at(const struct metrics *metrics, size_t index, const char **key, const char **value)
{
	if (index >= metrics->count)
		return false;
	*key = metrics->values[index].key;
	*value = metrics->values[index].value;
	return true;
}

int metrics_add(struct metrics *metrics, const char *key, const char *value)
{
	struct metrics_value *added;

	if (metrics_find(metrics, key) != NULL)
		return 0;
	if (array_reserve(&metrics->values, &metrics->capacity, metrics->count + 1,
			  sizeof(*metrics->values)) < 0)
		return -ENOMEM;
	added = &metrics->values[metrics->count];
	added->key = strdup(key);
	added->value = strdup(value);
	metrics->count++;
	return added->key != NULL && added->value != NULL ? 0 : -ENOMEM;
}

void metrics_deinit(struct metrics *metrics)
{
	size_t i;

	for (i = 0; i < metrics->count; i++) {
		free(metrics->values[i].key);
		free(metrics->values[i].value);
	}
	free(metrics->values);
	*metrics = (struct metrics){NULL, 0, 0};
}
