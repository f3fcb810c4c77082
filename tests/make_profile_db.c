// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write a profile database described by lines on stdin:
 *
 * make_profile_db FILE
 *
 * event NAME UNIT PERIOD_MIN PERIOD_MAX [ENABLED_NS RUNNING_NS]
 * host NAME                    host of the next epochs; default: "host".
 * label TEXT                   label of the next epochs.
 * seconds N                    duration of the next epochs; default: an hour.
 * epoch CPU MODEL              begins an epoch with the events described before.
 *
 * image KIND BUILD-ID PATH     image of the next lines; BUILD-ID may be "-"; KIND:
 *                              file, kernel, jit
 * symbols NAME...              its procedures, of 4096 bytes each
 * sample EVENT OFFSET COUNT    EVENT: its number, 0 ..
 * branch OFFSET OFFSET COUNT
 * process PID                  process of the next samples; "-": all processes
 * counter GROUP NAME COUNT     counter of the epoch
 * end                          ends the epoch, and drops its events
 *
 * gaps OFFSET COUNT NS         executions of a probed branch, and their time
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/profile_write.h"
#include "lib/array.h"
#include "lib/error.h"

#define MAX 64
#define START_NS (1700000000LL * 1000000000LL)
#define HOUR_NS 3600000000000LL

static struct profile_writer *writer;
static struct error err;
static unsigned int line_number;

static struct profile_event events[MAX];
static struct profile_counter counters[MAX];
static size_t event_count, counter_count;
static int64_t image, pid = PROFILE_PID_ALL;
static uint64_t samples;
static struct profile_sample *gathered;
static size_t gathered_count, gathered_capacity;
static uint32_t gathered_event;
static unsigned int epochs;
static char host[64] = "host";
static char label[64];
static int64_t seconds = 3600;

static void must(int r)
{
	if (r < 0) {
		fprintf(stderr, "make_profile_db: line %u: %s\n", line_number, err.message);
		exit(2);
	}
}

static void refuse(void)
{
	error_set(&err, EINVAL, "not understood");
	must(-EINVAL);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): type of the functions in the table */
static void begin_epoch(char *cpu_model)
{
	const struct profile_epoch epoch = {
		.start_ns = START_NS + epochs++ * HOUR_NS,
		.host = host,
		.machine_id = "",
		.cpu_model = cpu_model,
		.cpus = 1,
		.kernel = "6.1",
		.source = "perf",
		.source_reason = "a test",
		.label = label,
	};

	must(profile_writer_epoch_begin(writer, &epoch, events, event_count, &err));
	must(profile_writer_begin(writer, &err));
	samples = 0;
}

static void end_epoch(void)
{
	int64_t end_ns = START_NS + (epochs - 1) * HOUR_NS + seconds * 1000000000 - 1;

	for (uint32_t i = 0; i < event_count; i++) {
		if (events[i].enabled_ns > 0)
			must(profile_writer_event_time(writer, i, events[i].enabled_ns,
						       events[i].running_ns, &err));
	}
	must(profile_writer_totals(writer, end_ns, samples, counters, counter_count, &err));
	must(profile_writer_commit(writer, &err));
	must(profile_writer_epoch_end(writer, end_ns, &err));
	event_count = counter_count = 0;
	pid = PROFILE_PID_ALL;
}

static void add_event(char *arguments)
{
	struct profile_event event = {.number = (uint32_t)event_count};
	char *name = NULL, *unit = NULL;

	if (event_count == MAX ||
	    sscanf(arguments, "%ms %ms %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &name, &unit,
		   &event.period_min, &event.period_max, &event.enabled_ns, &event.running_ns) < 4)
		refuse();
	event.name = name;
	event.unit = unit;
	events[event_count++] = event;
}

static void add_counter(char *arguments)
{
	struct profile_counter counter;
	char *group = NULL, *name = NULL;

	if (counter_count == MAX ||
	    sscanf(arguments, "%ms %ms %" SCNu64, &group, &name, &counter.count) != 3)
		refuse();
	counter.group = group;
	counter.name = name;
	counters[counter_count++] = counter;
}

static void choose_image(char *arguments)
{
	struct profile_image description = {.kind = PROFILE_IMAGE_FILE};
	char *kind = strsep(&arguments, " "), *id = strsep(&arguments, " ");

	if (arguments == NULL)
		refuse();
	description.path = arguments;
	if (strcmp(kind, "kernel") == 0)
		description.kind = PROFILE_IMAGE_KERNEL;
	else if (strcmp(kind, "jit") == 0)
		description.kind = PROFILE_IMAGE_JIT;
	while (id != NULL && description.identity_bytes < PROFILE_IDENTITY_BYTES_MAX &&
	       sscanf(id + 2 * description.identity_bytes, "%2hhx",
		      &description.identity[description.identity_bytes]) == 1)
		description.identity_bytes++;
	if (description.identity_bytes > 0)
		description.identity_kind = PROFILE_IDENTITY_BUILD_ID;
	must(profile_writer_image(writer, &description, &image, &err));
}

static int by_offset(const void *a, const void *b)
{
	const struct profile_sample *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Write samples of consecutive lines with the same event together. */
static void flush_samples(void)
{
	size_t kept = 0;

	if (gathered_count > 0)
		qsort(gathered, gathered_count, sizeof(*gathered), by_offset);
	for (size_t i = 0; i < gathered_count; i++) {
		if (kept > 0 && gathered[kept - 1].offset == gathered[i].offset)
			gathered[kept - 1].count += gathered[i].count;
		else
			gathered[kept++] = gathered[i];
	}
	if (kept > 0)
		must(profile_writer_add(writer, image, gathered_event, pid, gathered, kept, &err));
	gathered_count = 0;
}

static void add_sample(char *arguments)
{
	struct profile_sample sample;
	uint32_t event;

	if (sscanf(arguments, "%" SCNu32 " %" SCNi64 " %" SCNu64, &event, (int64_t *)&sample.offset,
		   &sample.count) != 3)
		refuse();
	if (event != gathered_event)
		flush_samples();
	gathered_event = event;
	if (array_reserve(&gathered, &gathered_capacity, gathered_count + 1, sizeof(sample)) < 0)
		must(error_set(&err, ENOMEM, "out of memory"));
	gathered[gathered_count++] = sample;
	samples += sample.count;
}

static void add_branch(char *arguments)
{
	struct profile_edge edge;

	if (sscanf(arguments, "%" SCNi64 " %" SCNi64 " %" SCNu64, (int64_t *)&edge.from,
		   (int64_t *)&edge.to, &edge.count) != 3)
		refuse();
	must(profile_writer_edges(writer, image, image, PROFILE_EDGE_BRANCH, &edge, 1, &err));
}

static void add_gaps(char *arguments)
{
	struct profile_edge gaps, ns;

	if (sscanf(arguments, "%" SCNi64 " %" SCNu64 " %" SCNu64, (int64_t *)&gaps.from,
		   &gaps.count, &ns.count) != 3)
		refuse();
	gaps.to = ns.from = ns.to = gaps.from;
	must(profile_writer_edges(writer, image, image, PROFILE_EDGE_GAPS, &gaps, 1, &err));
	must(profile_writer_edges(writer, image, image, PROFILE_EDGE_GAP_NS, &ns, 1, &err));
}

/* NOLINTNEXTLINE(readability-non-const-parameter): type of the functions in the table */
static void set_host(char *arguments)
{
	snprintf(host, sizeof(host), "%s", arguments);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): type of the functions in the table */
static void set_label(char *arguments)
{
	snprintf(label, sizeof(label), "%s", arguments);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): type of the functions in the table */
static void set_seconds(char *arguments)
{
	seconds = atoll(arguments);
	if (seconds < 1 || seconds > 3600)
		refuse();
}

static void add_symbols(char *arguments)
{
	struct profile_symbol symbols[MAX];
	size_t count = 0;
	char *name;

	while ((name = strsep(&arguments, " ")) != NULL) {
		if (count == MAX)
			refuse();
		symbols[count] = (struct profile_symbol){4096 * count, 4096, name};
		count++;
	}
	must(profile_writer_symbols(writer, image, symbols, count, &err));
}

static void set_process(char *arguments)
{
	pid = strcmp(arguments, "-") == 0 ? PROFILE_PID_ALL : atoll(arguments);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): type of the functions in the table */
static void end(char *arguments)
{
	(void)arguments;
	end_epoch();
}

static const struct verb {
	const char *name;
	void (*obey)(char *arguments);
} verbs[] = {
	{"event", add_event},	  {"epoch", begin_epoch},
	{"image", choose_image},  {"sample", add_sample},
	{"branch", add_branch},	  {"gaps", add_gaps},
	{"process", set_process}, {"counter", add_counter},
	{"host", set_host},	  {"end", end},
	{"label", set_label},	  {"seconds", set_seconds},
	{"symbols", add_symbols},
};

static void obey(char *line)
{
	char *arguments = line, *name = strsep(&arguments, " ");

	if (strcmp(name, "sample") != 0)
		flush_samples();
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		if (strcmp(name, verbs[i].name) == 0 &&
		    (arguments != NULL || verbs[i].obey == end)) {
			verbs[i].obey(arguments);
			return;
		}
	}
	refuse();
}

int main(int argc, char **argv)
{
	char line[4096];

	if (argc != 2) {
		fputs("usage: make_profile_db FILE < LINES\n", stderr);
		return 2;
	}
	must(profile_writer_open(&writer, argv[1], &err));
	while (fgets(line, sizeof(line), stdin) != NULL) {
		line_number++;
		line[strcspn(line, "\n")] = '\0';
		if (line[0] != '\0')
			obey(line);
	}
	profile_writer_close(writer);
	free(gathered);
	return 0;
}
