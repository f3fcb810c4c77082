// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/report_header.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/base/text.h"

#define LABEL_WIDTH 12

/* Replace a string by a clean copy; NULL is treated as "". Return: 0 or -ENOMEM. */
static int copy_text(const char **text)
{
	*text = text_clean(*text != NULL ? *text : "");
	return *text != NULL ? 0 : -ENOMEM;
}

static void free_text(const char *text)
{
	free((void *)(uintptr_t)text);
}

static int report_header_add_epoch(void *context, const struct profile_epoch *epoch)
{
	struct report_header *header = context;
	struct profile_epoch copy = *epoch;
	int r;

	if (array_reserve(&header->epochs, &header->epoch_capacity, header->epoch_count + 1,
			  sizeof(copy)) < 0)
		return -ENOMEM;
	r = copy_text(&copy.host) | copy_text(&copy.machine_id) | copy_text(&copy.cpu_model) |
	    copy_text(&copy.kernel) | copy_text(&copy.source) | copy_text(&copy.source_reason) |
	    copy_text(&copy.label);
	header->epochs[header->epoch_count++] = copy;
	if (__builtin_add_overflow(header->interrupts, epoch->interrupts, &header->interrupts))
		return -EBADMSG;
	return r < 0 ? -ENOMEM : 0;
}

static int add_event(void *context, const struct profile_event *event)
{
	struct report_header *header = context;
	struct profile_event copy = *event;
	int r;

	if (copy_text(&copy.name) < 0 || copy_text(&copy.unit) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < header->event_count; i++) {
		struct profile_event *known = &header->events[i];

		if (strcmp(known->name, copy.name) == 0 && strcmp(known->unit, copy.unit) == 0 &&
		    known->period_min == copy.period_min && known->period_max == copy.period_max) {
			free_text(copy.name);
			free_text(copy.unit);
			known->enabled_ns += event->enabled_ns;
			known->running_ns += event->running_ns;
			return 0;
		}
	}
	r = array_reserve(&header->events, &header->event_capacity, header->event_count + 1,
			  sizeof(copy));
	if (r == 0)
		header->events[header->event_count++] = copy;
	return r;
}

static int add_counter(void *context, const struct profile_counter *counter)
{
	struct report_header *header = context;
	struct profile_counter copy = *counter;

	for (size_t i = 0; i < header->counter_count; i++) {
		struct profile_counter *known = &header->counters[i];

		if (strcmp(known->group, counter->group) == 0 &&
		    strcmp(known->name, counter->name) == 0)
			return __builtin_add_overflow(known->count, counter->count, &known->count)
				       ? -EBADMSG
				       : 0;
	}
	if (array_reserve(&header->counters, &header->counter_capacity, header->counter_count + 1,
			  sizeof(copy)) < 0)
		return -ENOMEM;
	if (copy_text(&copy.group) < 0 || copy_text(&copy.name) < 0)
		return -ENOMEM;
	header->counters[header->counter_count++] = copy;
	return 0;
}

/* Set the message of an error that a visitor returned without one. */
static int report_header_explain(int r, struct error *err)
{
	if (r == -ENOMEM)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r == -EBADMSG && err->message[0] == '\0')
		return error_set(err, EBADMSG, ERROR_DATABASE_COUNTS);
	return r;
}

static uint64_t counter_of(const struct report_header *header, const char *group, const char *name)
{
	for (size_t i = 0; i < header->counter_count; i++) {
		if (strcmp(header->counters[i].group, group) == 0 &&
		    strcmp(header->counters[i].name, name) == 0)
			return header->counters[i].count;
	}
	return 0;
}

int report_header_load(struct report_header *header, struct profile_reader *reader,
		       const struct profile_filter *filter, struct error *err)
{
	size_t before = header->epoch_count;
	int r;

	err->message[0] = '\0';
	header->has_writer |= profile_reader_has_writer(reader);
	r = profile_reader_epochs(reader, filter, report_header_add_epoch, header, err);
	for (size_t i = before; r == 0 && i < header->epoch_count; i++) {
		int64_t id = header->epochs[i].id;

		r = profile_reader_events(reader, id, add_event, header, err);
		if (r == 0)
			r = profile_reader_counters(reader, &header->epochs[i], add_counter, header,
						    err);
	}
	if (r == 0 && counter_of(header, "unknown", "anonymous") > 0)
		r = jit_hint_load(&header->jit, reader, filter, err);
	return report_header_explain(r, err);
}

void report_header_deinit(struct report_header *header)
{
	for (size_t i = 0; i < header->epoch_count; i++) {
		const struct profile_epoch *epoch = &header->epochs[i];

		free_text(epoch->host);
		free_text(epoch->machine_id);
		free_text(epoch->cpu_model);
		free_text(epoch->kernel);
		free_text(epoch->source);
		free_text(epoch->source_reason);
		free_text(epoch->label);
	}
	for (size_t i = 0; i < header->event_count; i++) {
		free_text(header->events[i].name);
		free_text(header->events[i].unit);
	}
	for (size_t i = 0; i < header->counter_count; i++) {
		free_text(header->counters[i].group);
		free_text(header->counters[i].name);
	}
	free(header->epochs);
	free(header->events);
	free(header->counters);
	*header = (struct report_header){0};
}

uint64_t report_header_losses(const struct report_header *header)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < header->counter_count; i++) {
		if (strcmp(header->counters[i].group, "loss") == 0)
			sum += header->counters[i].count;
	}
	return sum;
}

const char *report_header_no_samples(const struct report_header *header)
{
	for (size_t i = 0; i < header->epoch_count; i++) {
		if (header->epochs[i].open != 0)
			return header->has_writer
				       ? "no samples yet: dcpid or dcpirun has not stored any (run "
					 "'dcpictl flush' to store those of dcpid)"
				       : "no samples: the program that took them ended before it "
					 "stored any";
	}
	return "no samples";
}

/* Counters of edges that are missing from the database; see daemon/collect/collector.h. */
static bool is_edge_loss(const char *name)
{
	return strcmp(name, "edges_unknown") == 0 || strcmp(name, "edges_memory") == 0 ||
	       strcmp(name, "edges_pending") == 0 || strcmp(name, "edges_storage") == 0;
}

uint64_t report_header_edges_lost(const struct report_header *header, uint64_t *handed)
{
	uint64_t lost = 0;

	*handed = 0;
	for (size_t i = 0; i < header->counter_count; i++) {
		const struct profile_counter *counter = &header->counters[i];

		if (strcmp(counter->group, "stat") != 0)
			continue;
		if (strcmp(counter->name, "edges_handed") == 0)
			*handed = counter->count;
		else if (is_edge_loss(counter->name))
			lost += counter->count;
	}
	return lost;
}

static void print_time(FILE *stream, int64_t time_ns, const char *format)
{
	time_t seconds = (time_t)(time_ns / 1000000000);
	struct tm parts;
	char text[64] = "";

	if (localtime_r(&seconds, &parts) != NULL)
		strftime(text, sizeof(text), format, &parts);
	fputs(text, stream);
}

/* Print "1-3, 7": numbers in the order of start, with consecutive ones as a range. */
static void print_epochs(FILE *stream, const struct report_header *header)
{
	const struct profile_epoch *epochs = header->epochs;
	int64_t start = INT64_MAX, end = INT64_MIN;
	size_t open = 0;

	fputs("epochs      ", stream);
	for (size_t i = 0, j; i < header->epoch_count; i = j) {
		for (j = i + 1; j < header->epoch_count && epochs[j].id == epochs[j - 1].id + 1;
		     j++)
			;
		fprintf(stream, "%s%" PRId64, i > 0 ? ", " : "", epochs[i].id);
		if (j > i + 1)
			fprintf(stream, "-%" PRId64, epochs[j - 1].id);
	}
	for (size_t i = 0; i < header->epoch_count; i++) {
		start = epochs[i].start_ns < start ? epochs[i].start_ns : start;
		end = epochs[i].end_ns > end ? epochs[i].end_ns : end;
		open += epochs[i].open != 0;
	}
	fputs(": ", stream);
	print_time(stream, start, "%Y-%m-%d %H:%M:%S");
	fputs(" to ", stream);
	print_time(stream, end, "%Y-%m-%d %H:%M:%S %Z");
	fputs(open > 0 ? ", in progress\n" : "\n", stream);
}

/* Print how many slices of partly selected epochs the range covers. */
static void print_range(FILE *stream, const struct report_header *header)
{
	uint64_t slices = 0;
	size_t epochs = 0;

	for (size_t i = 0; i < header->epoch_count; i++) {
		slices += header->epochs[i].slices;
		epochs += header->epochs[i].slices > 0;
	}
	if (epochs > 0)
		fprintf(stream,
			"range       %" PRIu64
			" slice%s of %zu epoch%s; edges, stacks and register "
			"pairs are of whole epochs\n",
			slices, slices == 1 ? "" : "s", epochs, epochs == 1 ? "" : "s");
}

static const char *epoch_host(const struct profile_epoch *epoch)
{
	return epoch->host;
}

static const char *epoch_machine(const struct profile_epoch *epoch)
{
	return epoch->cpu_model;
}

static const char *epoch_kernel(const struct profile_epoch *epoch)
{
	return epoch->kernel;
}

static const char *epoch_source(const struct profile_epoch *epoch)
{
	return epoch->source;
}

/* Print the distinct values of a field, separated by commas. */
static void print_distinct(FILE *stream, const struct report_header *header, const char *label,
			   const char *(*field)(const struct profile_epoch *epoch))
{
	bool first = true;

	for (size_t i = 0; i < header->epoch_count; i++) {
		const char *value = field(&header->epochs[i]);
		bool seen = *value == '\0';

		for (size_t j = 0; j < i && !seen; j++)
			seen = strcmp(value, field(&header->epochs[j])) == 0;
		if (seen)
			continue;
		if (first)
			fprintf(stream, "%-11s ", label);
		fprintf(stream, "%s%s", first ? "" : ", ", value);
		first = false;
	}
	if (!first)
		fputc('\n', stream);
}

bool report_header_took_turns(const struct profile_event *event)
{
	return event->running_ns < event->enabled_ns;
}

/* Return the mean period: periods are random within a range. */
static double mean_period(const struct profile_event *event)
{
	return ((double)event->period_min + (double)event->period_max) / 2;
}

double report_header_period_factor(const struct report_header *header,
				   const struct profile_event *event)
{
	double shortest = mean_period(event);

	for (size_t i = 0; i < header->event_count; i++) {
		const struct profile_event *other = &header->events[i];

		if (strcmp(other->name, event->name) != 0)
			continue;
		if (strcmp(other->unit, event->unit) != 0 || mean_period(other) <= 0)
			return 1;
		if (mean_period(other) < shortest)
			shortest = mean_period(other);
	}
	return shortest > 0 ? mean_period(event) / shortest : 1;
}

bool report_header_periods_differ(const struct report_header *header)
{
	for (size_t i = 0; i < header->event_count; i++) {
		if (report_header_period_factor(header, &header->events[i]) != 1)
			return true;
	}
	return false;
}

/* Print, as perf stat does, the share of the time that the event was on a counter. */
static void print_turns(FILE *stream, const struct profile_event *event, bool scaled)
{
	if (report_header_took_turns(event))
		fprintf(stream, " (counted %.2f%% of the time%s)",
			100.0 * (double)event->running_ns / (double)event->enabled_ns,
			scaled ? ", scaled" : "");
}

static void print_events(FILE *stream, const struct report_header *header)
{
	fputs("events      ", stream);
	for (size_t i = 0; i < header->event_count; i++) {
		const struct profile_event *event = &header->events[i];

		fprintf(stream, "%s%s every %" PRIu64, i > 0 ? "; " : "", event->name,
			event->period_min);
		if (event->period_max != event->period_min)
			fprintf(stream, "-%" PRIu64, event->period_max);
		fprintf(stream, " %s", event->unit);
		print_turns(stream, event, header->scaled);
	}
	fputc('\n', stream);
}

static void print_counters(FILE *stream, const struct report_header *header, const char *group,
			   const char *separator)
{
	for (size_t i = 0; i < header->counter_count; i++) {
		const struct profile_counter *counter = &header->counters[i];

		if (strcmp(counter->group, group) != 0 || counter->count == 0)
			continue;
		fprintf(stream, "%s%s %" PRIu64, separator, counter->name, counter->count);
		separator = ", ";
	}
}

/* Print "interrupts = samples + losses", or the difference. */
static void print_accounting(FILE *stream, const struct report_header *header)
{
	uint64_t lost = report_header_losses(header), accounted = header->samples + lost;

	fprintf(stream,
		"accounting  %" PRIu64 " interrupts = %" PRIu64 " samples + %" PRIu64 " lost",
		header->interrupts, header->samples, lost);
	if (accounted == header->interrupts)
		fputs(": exact\n", stream);
	else if (accounted < header->interrupts)
		fprintf(stream, " + %" PRIu64 " NOT ACCOUNTED FOR\n",
			header->interrupts - accounted);
	else
		fprintf(stream, " - %" PRIu64 " TOO MANY\n", accounted - header->interrupts);
	if (lost > 0) {
		print_counters(stream, header, "loss", "lost        ");
		fputc('\n', stream);
	}
}

/* Print the corresponding equation for edges. */
static void print_edges(FILE *stream, const struct report_header *header)
{
	uint64_t handed, lost = report_header_edges_lost(header, &handed);

	fprintf(stream, "edges       %" PRIu64 " delivered = %" PRIu64 " stored + %" PRIu64 " lost",
		handed, header->edges, lost);
	fputs(handed == header->edges + lost ? ": exact" : ": NOT EXACT", stream);
	for (size_t i = 0; i < header->counter_count; i++) {
		const struct profile_counter *counter = &header->counters[i];

		if (counter->count > 0 && strcmp(counter->group, "stat") == 0 &&
		    is_edge_loss(counter->name))
			fprintf(stream, ", %s %" PRIu64, counter->name, counter->count);
	}
	fputc('\n', stream);
}

static void print_hints(FILE *stream, const struct report_header *header)
{
	for (size_t i = 0; i < JIT_HINT_RUNTIMES; i++) {
		_cleanup_free_ char *hint = NULL;

		if (jit_hint_text(&header->jit, i, header->samples, &hint) == 0 && hint != NULL)
			fprintf(stream, "hint        %s\n", hint);
	}
}

/* @part: what profiling causes, of @all; @what: its unit */
static void print_excluded(FILE *stream, uint64_t part, uint64_t all, const char *what)
{
	if (part > 0)
		fprintf(stream,
			"profiler    %" PRIu64 " %s, %.2f%%, of profiling itself: excluded "
			"(--include-profiler includes them)\n",
			part, what, 100.0 * (double)part / (double)all);
}

static void print_facts(FILE *stream, const struct report_header *header)
{
	print_epochs(stream, header);
	print_range(stream, header);
	print_distinct(stream, header, "host", epoch_host);
	print_distinct(stream, header, "cpu", epoch_machine);
	print_distinct(stream, header, "kernel", epoch_kernel);
	print_distinct(stream, header, "source", epoch_source);
	print_events(stream, header);
	if (header->scaled && report_header_periods_differ(header))
		fputs("periods     differ: samples are scaled to the shortest\n", stream);
	print_accounting(stream, header);
	fprintf(stream, "unknown     %" PRIu64 " samples, %.2f%%", header->unknown,
		header->samples > 0 ? 100.0 * (double)header->unknown / (double)header->samples
				    : 0);
	print_counters(stream, header, "unknown", ": ");
	fputc('\n', stream);
	print_excluded(stream, header->excluded, header->samples, "samples");
	if (header->idle > 0)
		fprintf(stream,
			"idle        %" PRIu64 " samples, %.2f%%, of waiting for work: excluded "
			"(--idle includes them)\n",
			header->idle, 100.0 * (double)header->idle / (double)header->samples);
	print_excluded(stream, header->excluded_stacks, header->stacks, "call stacks");
	print_hints(stream, header);
	if (header->has_edges)
		print_edges(stream, header);
}

void report_header_line(FILE *stream, const char *fact, size_t width)
{
	size_t label = strcspn(fact, " ");

	if (width == 0 || text_width(fact) <= width) {
		fprintf(stream, "%s\n", fact);
		return;
	}
	fprintf(stream, "%-*.*s", LABEL_WIDTH, (int)label, fact);
	text_wrap(stream, fact + label, width, LABEL_WIDTH, LABEL_WIDTH);
}

/* Print lines, wrapped if they are wider than the terminal. */
static void print_lines(FILE *stream, const struct report_header *header, size_t width,
			void (*print)(FILE *stream, const struct report_header *header))
{
	_cleanup_free_ char *facts = NULL;
	size_t bytes = 0;
	FILE *memory = width > 0 ? open_memstream(&facts, &bytes) : NULL;
	char *rest, *fact;

	if (memory == NULL) {
		print(stream, header);
		return;
	}
	print(memory, header);
	if (fclose(memory) != 0)
		return;
	rest = facts;
	while ((fact = strsep(&rest, "\n")) != NULL && rest != NULL)
		report_header_line(stream, fact, width);
}

void report_header_print(FILE *stream, const struct report_header *header, size_t width)
{
	print_lines(stream, header, width, print_facts);
}

void report_header_print_hints(FILE *stream, const struct report_header *header, size_t width)
{
	print_lines(stream, header, width, print_hints);
}
