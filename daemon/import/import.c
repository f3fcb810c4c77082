// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/import/import.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/counter_set.h"
#include "daemon/collect/accumulate.h"
#include "daemon/collect/core_clock.h"
#include "daemon/collect/label_table.h"
#include "daemon/collect/merge.h"
#include "daemon/image/image_table.h"
#include "daemon/import/import_branches.h"
#include "daemon/import/import_images.h"
#include "daemon/import/import_stacks.h"
#include "daemon/import/perfdata_stack.h"
#include "daemon/import/recording.h"
#include "db/profile_write.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/host.h"

/* Maximum time that a merge waits for the contents of files that other users could write. */
#define SETTLE_NS (10 * NS_PER_SECOND)
#define ACCUMULATE_BYTES ((size_t)256 << 20)
/* Threshold for a merge, before the limit causes samples to be refused. */
#define ACCUMULATE_FULL (ACCUMULATE_BYTES / 8 * 7)

/*
 * struct import - an import in progress
 * @here:   according to the file, it was recorded on this machine
 * @end_ns: of the recording, CLOCK_REALTIME
 * @stacks, @branches: NULL: the recording has none
 * @stored: samples, and the reasons of unknown ones, that are merged
 */
struct import {
	struct profile_writer *writer;
	struct recording *recording;
	const struct perfdata_header *header;
	const struct import_survey *survey;
	struct host host;
	bool here;
	int64_t start_ns;
	int64_t end_ns;
	struct import_images *images;
	struct accumulate *accumulate;
	struct import_stacks *stacks;
	struct import_branches *branches;
	struct merge *merge;
	struct merge_result stored;
};

static void import_deinit(struct import *import)
{
	merge_destroy(import->merge);
	import_branches_destroy(import->branches);
	import_stacks_destroy(import->stacks);
	accumulate_destroy(import->accumulate);
	import_images_destroy(import->images);
	recording_close(import->recording);
}

/* Name the processor like host_describe(). perf's id of x86: "AuthenticAMD,25,1,1". */
static void name_cpu(char *ret, size_t bytes, const struct perfdata_header *header)
{
	unsigned int family, model;

	if (header->cpu[0] != '\0' &&
	    sscanf(header->cpu_id, "%*[^,],%9u,%9u", &family, &model) == 2)
		host_cpu_name(ret, bytes, header->cpu, family, model);
	else
		snprintf(ret, bytes, "%s", header->cpu);
}

/*
 * The file contains the machine's name, processor and kernel, but not the id that distinguishes
 * machines.
 */
static void describe_host(struct import *import)
{
	const struct perfdata_header *header = import->header;
	char cpu[sizeof(import->host.cpu_model)];

	host_describe(&import->host);
	name_cpu(cpu, sizeof(cpu), header);
	import->here = strcmp(import->host.name, header->host) == 0 &&
		       strcmp(import->host.cpu_model, cpu) == 0;
	if (!import->here)
		import->host.machine_id[0] = '\0';
	snprintf(import->host.name, sizeof(import->host.name), "%s",
		 header->host[0] != '\0' ? header->host : "unknown");
	snprintf(import->host.cpu_model, sizeof(import->host.cpu_model), "%s", cpu);
	snprintf(import->host.kernel, sizeof(import->host.kernel), "%s", header->release);
	import->host.cpus = header->cpus;
}

/* A recording's clock starts at boot; its end is taken to be the time when its file was written. */
static void date(struct import *import)
{
	uint64_t length = import->survey->last_ns - import->survey->first_ns;

	import->end_ns = recording_modified_ns(import->recording);
	import->start_ns = length < (uint64_t)import->end_ns
				   ? import->end_ns - (int64_t)length : import->end_ns;
}

static uint64_t mean_period(const struct perfdata_event *event, const struct import_event *seen)
{
	double mean =
		seen->samples > 0 ? seen->periods / (double)seen->samples : (double)event->period;

	return mean >= 1 && mean < 9e18 ? (uint64_t)(mean + 0.5) : 1;
}

static int epoch_add(struct import *import, const char *path, const char *label, struct error *err)
{
	const struct perfdata_events *events = &import->header->events;
	_cleanup_free_ char *reason = NULL;
	struct profile_epoch epoch = {
		.start_ns = import->start_ns,
		.host = import->host.name,
		.machine_id = import->host.machine_id,
		.cpu_model = import->host.cpu_model,
		.cpus = import->host.cpus,
		.kernel = import->host.kernel,
		.source = "perf.data",
		.label = label != NULL ? label : import->header->command,
	};
	int r;

	if (asprintf(&reason, "imported from %s", path) < 0) {
		reason = NULL;
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	epoch.source_reason = reason;
	r = profile_writer_epoch_add(import->writer, &epoch, err);
	for (size_t i = 0; r == 0 && i < events->count; i++) {
		const struct perfdata_event *event = &events->event[i];
		const struct import_event *seen = &import->survey->events[i];
		uint64_t period = mean_period(event, seen);
		const struct profile_event described = {
			.number = (uint32_t)seen->number,
			.name = seen->name,
			.unit = event->unit,
			.period_min = period,
			.period_max = period,
		};

		if (seen->number >= 0)
			r = profile_writer_event_add(import->writer, &described, err);
	}
	return r;
}

/* If lost samples are reported separately from other records, only they count. */
static uint64_t ring_full(const struct import *import)
{
	const struct perfdata_events *events = &import->header->events;
	const struct import_survey *survey = import->survey;
	bool counted = events->count > 0;

	for (size_t i = 0; i < events->count; i++)
		counted &= events->event[i].counts_lost;
	return counted ? survey->lost_samples : survey->lost_samples + survey->lost_records;
}

static uint64_t counters_make(const struct import *import, struct counter_set *tally)
{
	const struct import_survey *survey = import->survey;
	uint64_t khz;

	*tally = (struct counter_set){.count = 0};
	counter_set_put(tally, "loss", "ring_full", ring_full(import));
	counter_set_put(tally, "loss", "guest", survey->guest);
	counter_set_put(tally, "loss", "event_unknown", survey->unknown_event);
	counter_set_put(tally, "loss", "memory", accumulate_refused(import->accumulate));
	for (int i = 0; i < IMAGE_UNKNOWN_NR; i++)
		counter_set_put(tally, "unknown", image_unknown_name((enum image_unknown)i),
				import->stored.unknown[i]);
	counter_set_put(tally, "stat", "samples", import->stored.samples);
	counter_set_put(tally, "stat", "image_events_lost", survey->lost_images);
	counter_set_put(tally, "stat", "records_late", recording_late(import->recording));
	counter_set_put(tally, "stat", "throttled", survey->throttled);
	if (import->stacks != NULL)
		import_stacks_counters(import->stacks, tally);
	if (import->branches != NULL)
		import_branches_counters(import->branches, tally);
	/* It may have been different while perf ran; reports show a range. */
	khz = import->here ? core_clock_measure() : 0;
	if (khz > 0) {
		counter_set_put(tally, "stat", "core_clock_min_khz", khz);
		counter_set_put(tally, "stat", "core_clock_max_khz", khz);
	}
	return import->stored.samples + counter_set_sum(tally, "loss");
}

/* Merge everything in memory. */
static int merge_all(struct import *import, struct error *err)
{
	const struct merge_slices none = {.count = 0};
	struct counter_set tally;
	uint64_t interrupts;
	int r;

	import->stored.bins = 0;
	image_table_settle(import_images_table(import->images), SETTLE_NS);
	r = merge_bins(import->merge, import->accumulate, SIZE_MAX, &none, &import->stored, err);
	if (r == 0 && import->branches != NULL)
		r = import_branches_merge(import->branches, import->merge, &import->stored, err);
	if (r < 0)
		return r;
	interrupts = counters_make(import, &tally);
	r = profile_writer_totals(import->writer, import->end_ns, interrupts, tally.counter,
				  tally.count, err);
	if (r < 0)
		return r;
	merge_done(import->merge);
	accumulate_drop(import->accumulate, import->stored.bins);
	return 0;
}

static bool is_full(const struct import *import)
{
	return accumulate_bytes(import->accumulate) > ACCUMULATE_FULL ||
	       (import->branches != NULL && import_branches_full(import->branches));
}

static int import_take_sample(struct import *import, const struct recorded *recorded,
			      struct error *err)
{
	const struct perfdata_sample *sample = &recorded->sample;
	struct accumulate_key key;
	struct accumulate_bin *bin;
	struct image_place place;

	if (import->stacks != NULL && recorded->has_stack)
		import_stacks_add(import->stacks, sample,
				  recorded->stack_damaged ? NULL : &recorded->stack);
	if (import->branches != NULL && recorded->has_branches)
		import_branches_add(import->branches, &import->header->events.event[sample->event],
				    sample,
				    recorded->stack_damaged ? NULL : &recorded->stack.branches);
	place = import_images_place(import->images, sample);
	key = (struct accumulate_key){
		.image = place.image,
		.event = (uint32_t)import->survey->events[sample->event].number,
		.pid = sample->pid <= INT32_MAX ? (int64_t)sample->pid : PROFILE_PID_ALL,
	};
	bin = accumulate_bin(import->accumulate, &key,
			     import_images_command(import->images, sample->pid));
	accumulate_add(import->accumulate, bin, LABEL_NONE,
		       place.image == IMAGE_UNKNOWN ? (uint64_t)place.unknown : place.offset, 1);
	return is_full(import) ? merge_all(import, err) : 0;
}

static int import_walk(struct import *import, struct error *err)
{
	struct recorded recorded;
	int r;

	while ((r = recording_next(import->recording, &recorded, err)) > 0) {
		switch (recorded.kind) {
		case RECORDED_SAMPLE:
			r = import_take_sample(import, &recorded, err);
			break;
		case RECORDED_CHANGE:
			import_images_change(import->images, &recorded.change, recorded.misc);
			break;
		case RECORDED_EXPIRY:
			import_images_expire(import->images, recorded.time_ns);
			break;
		}
		if (r < 0)
			return r;
	}
	return r;
}

static bool has_stacks(const struct import *import)
{
	const struct perfdata_events *events = &import->header->events;
	bool found = false;

	for (size_t i = 0; i < events->count; i++)
		found |= import_event_has_stacks(&events->event[i], &import->survey->events[i]);
	return found;
}

static bool has_branches(const struct import *import)
{
	const struct perfdata_events *events = &import->header->events;
	bool found = false;

	for (size_t i = 0; i < events->count; i++)
		found |= perfdata_branches_recorded(&events->event[i]);
	return found;
}

static int import_prepare(struct import *import, struct error *err)
{
	int r = import_images_create(&import->images, import->header, import->here, import->end_ns,
				     err);

	/* Only processes of this machine and boot can have perf maps here. */
	if (r == 0 && import->here)
		r = import_images_name_jit(import->images, &import->survey->lives,
					   import->survey->last_ns, import->end_ns, err);
	if (r == 0)
		r = accumulate_create(&import->accumulate, ACCUMULATE_BYTES, err);
	if (r == 0 && has_stacks(import))
		r = import_stacks_create(&import->stacks, import->header, import->images, err);
	if (r == 0 && has_branches(import))
		r = import_branches_create(&import->branches, import->images, err);
	if (r == 0)
		r = merge_create(&import->merge, import->writer,
				 import_images_table(import->images),
				 import_images_kernel(import->images), NULL,
				 import_images_jit(import->images), err);
	return r;
}

/*
 * Write the whole epoch in one transaction: after a failure, nothing remains that would be counted
 * twice.
 */
static int epoch_write(struct import *import, const char *path, const char *label, int64_t *id,
		       struct error *err)
{
	int r = profile_writer_begin(import->writer, err);

	if (r < 0)
		return r;
	r = epoch_add(import, path, label, err);
	*id = profile_writer_epoch_id(import->writer);
	if (r == 0)
		r = import_walk(import, err);
	if (r == 0)
		r = merge_all(import, err);
	if (r == 0 && import->stacks != NULL)
		r = merge_stacks(import->merge, import_stacks_store(import->stacks),
				 PROFILE_RECORDING_STACKS, 1, err);
	if (r == 0)
		r = profile_writer_epoch_finish(import->writer, import->end_ns, err);
	r = profile_writer_settle(import->writer, r, err);
	profile_writer_epoch_forget(import->writer);
	return r;
}

static int import_run(struct import *import, const char *path, const char *label,
		      struct import_result *result, struct error *err)
{
	struct counter_set tally;
	int r = recording_open(&import->recording, path, err);

	if (r < 0)
		return r;
	import->header = recording_header(import->recording);
	import->survey = recording_survey(import->recording);
	result->unfiltered = recording_unfiltered(import->recording);
	if (import->survey->samples == 0)
		return error_set(err, ENODATA, "no samples");
	describe_host(import);
	date(import);
	r = import_prepare(import, err);
	if (r == 0)
		r = epoch_write(import, path, label, &result->epoch, err);
	if (r < 0)
		return r;
	counters_make(import, &tally);
	result->samples = import->stored.samples;
	result->unknown = counter_set_sum(&tally, "unknown");
	result->lost = counter_set_sum(&tally, "loss");
	result->stacks = counter_set_get(&tally, "stat", "stacks");
	result->branches = import->stored.edges;
	result->complete = counter_set_get(&tally, "stat", "stacks_complete");
	result->late = recording_late(import->recording);
	result->cut_off = recording_cut_off(import->recording);
	return 0;
}

int import_file(struct profile_writer *writer, const char *path, const char *label,
		struct import_result *result, struct error *err)
{
	struct import *import = calloc(1, sizeof(*import));
	struct error failure;
	int r;

	*result = (struct import_result){0};
	if (import == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	import->writer = writer;
	r = import_run(import, path, label, result, &failure);
	import_deinit(import);
	free(import);
	return r < 0 ? error_set(err, -r, "%s: %s",
				 strcmp(path, "-") == 0 ? "standard input" : path, failure.message)
		     : 0;
}
