// SPDX-License-Identifier: GPL-2.0-only
#include "ship/samples.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/partition_point.h"
#include "ship/ship_config.h"
#include "ship/ship_id.h"

/* Images that are kept for the next batch. */
#define KEPT_IMAGES_MAX 512

static int samples_no_memory(struct batch_builder *batch)
{
	return error_set(batch->err, ENOMEM, ERROR_NO_MEMORY);
}

/* --- images ------------------------------------------------------------------- */

static void image_free(struct sample_image *image)
{
	if (image == NULL)
		return;
	profile_symbols_deinit(&image->symbols);
	free(image->path);
	free(image);
}

/* Keep images whose symbols do not change. Code that is generated at run time gets new ones. */
static void keep_images(struct samples *samples)
{
	size_t kept = 0;

	for (size_t i = 0; i < samples->image_count; i++) {
		struct sample_image *image = samples->images[i];

		image->number = 0;
		if (image->kind != PROFILE_IMAGE_JIT && image->symbols.count > 0 &&
		    kept < KEPT_IMAGES_MAX)
			samples->images[kept++] = image;
		else
			image_free(image);
	}
	samples->image_count = kept;
	u64_map_deinit(&samples->by_number);
}

/* Find an image that a batch before this one has read. */
static struct sample_image *find_kept(const struct samples *samples, const uint8_t uuid[16],
				      size_t *index)
{
	for (size_t i = 0; i < samples->image_count; i++) {
		if (samples->images[i]->number == 0 &&
		    memcmp(samples->images[i]->uuid, uuid, 16) == 0) {
			*index = i;
			return samples->images[i];
		}
	}
	return NULL;
}

static struct sample_image *image_add(struct samples *samples, const uint8_t uuid[16],
				      size_t *index)
{
	struct sample_image *image = calloc(1, sizeof(*image));

	if (image == NULL || array_reserve(&samples->images, &samples->image_capacity,
					   samples->image_count + 1, sizeof(image)) < 0) {
		free(image);
		return NULL;
	}
	memcpy(image->uuid, uuid, 16);
	*index = samples->image_count;
	samples->images[samples->image_count++] = image;
	return image;
}

static int image_fill(struct batch_builder *batch, struct sample_image *image, int64_t number,
		      const struct profile_image *stored)
{
	size_t build_id_bytes;
	const uint8_t *build_id = profile_image_build_id(stored, &build_id_bytes);

	image->number = number;
	image->kind = stored->kind;
	image->kind_name = ship_id_kind(stored->kind);
	ship_id_hex(image->build_id, build_id, build_id_bytes);
	free(image->path);
	image->path = strdup(batch->config->paths ? stored->path : "");
	if (image->path == NULL)
		return samples_no_memory(batch);
	if (image->symbols.count > 0 || !batch->config->procedures)
		return 0;
	return profile_reader_symbols(batch->reader, number, &image->symbols, batch->err);
}

/* Find an image of the database, by its number; @index: out */
static int image_find(struct samples *samples, struct batch_builder *batch, int64_t number,
		      size_t *index)
{
	uint64_t *known = u64_map_insert(&samples->by_number, (uint64_t)number);
	struct profile_image stored;
	struct sample_image *image;
	uint8_t uuid[16];
	int r;

	if (known == NULL)
		return samples_no_memory(batch);
	if (*known != 0) {
		*index = (size_t)*known - 1;
		return 0;
	}
	r = profile_reader_image(batch->reader, number, &stored, batch->err);
	if (r == -ENOENT)
		return error_set(batch->err, EBADMSG, ERROR_DATABASE_IMAGE);
	if (r < 0)
		return r;
	ship_id_image(uuid, &stored, batch->known->host);
	image = find_kept(samples, uuid, index);
	if (image == NULL)
		image = image_add(samples, uuid, index);
	if (image == NULL)
		return samples_no_memory(batch);
	*known = *index + 1;
	return image_fill(batch, image, number, &stored);
}

static const char *procedure_at(const struct sample_image *image, uint64_t offset)
{
	const struct profile_symbol *symbols = image->symbols.symbols;
	size_t after = partition_point(0, image->symbols.count, i, symbols[i].offset <= offset);
	const struct profile_symbol *symbol = after > 0 ? &symbols[after - 1] : NULL;

	if (symbol == NULL || (symbol->bytes > 0 && offset - symbol->offset >= symbol->bytes))
		return "";
	return symbol->name;
}

/* --- processes and units ------------------------------------------------------ */

static void owners_clear(struct samples *samples)
{
	for (size_t i = 0; i < samples->label_count; i++) {
		free(samples->labels[i].unit);
		free(samples->labels[i].container);
	}
	for (size_t i = 0; i < samples->process_count; i++)
		free(samples->processes[i].command);
	samples->label_count = samples->process_count = 0;
	u64_map_deinit(&samples->by_label);
	u64_map_deinit(&samples->by_pid);
}

/* struct reading - an iteration of the reader, on behalf of a batch */
struct reading {
	struct samples *samples;
	struct batch_builder *batch;
	uint32_t event;
	named_sample_fn visit;
	void *context;
	uint64_t total;
};

static int take_label(void *context, const struct profile_label *label)
{
	struct reading *reading = context;
	struct samples *samples = reading->samples;
	struct sample_label copy = {strdup(label->unit), strdup(label->container)};
	uint64_t *index = u64_map_insert(&samples->by_label, label->number);

	if (copy.unit == NULL || copy.container == NULL || index == NULL ||
	    array_reserve(&samples->labels, &samples->label_capacity, samples->label_count + 1,
			  sizeof(copy)) < 0) {
		free(copy.unit);
		free(copy.container);
		return samples_no_memory(reading->batch);
	}
	samples->labels[samples->label_count++] = copy;
	*index = samples->label_count;
	return 0;
}

static int take_process(void *context, const struct profile_process *process)
{
	struct reading *reading = context;
	struct samples *samples = reading->samples;
	struct sample_process copy = {
		strdup(reading->batch->config->commands ? process->command : ""), process->label};
	uint64_t *index = u64_map_insert(&samples->by_pid, (uint64_t)process->pid);

	if (copy.command == NULL || index == NULL ||
	    array_reserve(&samples->processes, &samples->process_capacity,
			  samples->process_count + 1, sizeof(copy)) < 0) {
		free(copy.command);
		return samples_no_memory(reading->batch);
	}
	samples->processes[samples->process_count++] = copy;
	*index = samples->process_count;
	return 0;
}

struct sample_owner samples_owner(const struct samples *samples, int64_t owner_key)
{
	struct sample_owner owner = {PROFILE_PID_ALL, "", "", ""};
	uint32_t label = profile_label_of_pid(owner_key);
	const uint64_t *index;

	if (owner_key >= 0) {
		owner.pid = owner_key;
		index = u64_map_find(&samples->by_pid, (uint64_t)owner_key);
		if (index != NULL) {
			owner.command = samples->processes[*index - 1].command;
			label = samples->processes[*index - 1].label;
		}
	}
	index = label > 0 ? u64_map_find(&samples->by_label, label) : NULL;
	if (index != NULL) {
		owner.unit = samples->labels[*index - 1].unit;
		owner.container = samples->labels[*index - 1].container;
	}
	return owner;
}

/* --- samples ------------------------------------------------------------------ */

void samples_deinit(struct samples *samples)
{
	for (size_t i = 0; i < samples->image_count; i++)
		image_free(samples->images[i]);
	free(samples->images);
	u64_map_deinit(&samples->by_number);
	owners_clear(samples);
	free(samples->labels);
	free(samples->processes);
}

int samples_begin(struct samples *samples, struct batch_builder *batch)
{
	struct reading reading = {.samples = samples, .batch = batch};
	int r = 0;

	keep_images(samples);
	owners_clear(samples);
	if (batch->epoch == NULL)
		return 0;
	if (batch->config->units)
		r = profile_reader_labels(batch->reader, batch->epoch->id, take_label, &reading,
					  batch->err);
	if (r == 0)
		r = profile_reader_processes(batch->reader, batch->epoch->id, take_process,
					     &reading, batch->err);
	return r;
}

static int take_profile(void *context, const struct profile *profile)
{
	struct reading *reading = context;
	struct named_sample sample = {.owner_key = profile->pid};
	int r;

	/* Names of events are not trusted to be unique. */
	if (profile->event != reading->event)
		return 0;
	r = image_find(reading->samples, reading->batch, profile->image, &sample.image);
	if (r == 0 && __builtin_add_overflow(reading->total, profile->total, &reading->total))
		r = error_set(reading->batch->err, EBADMSG, ERROR_DATABASE_COUNTS);
	for (size_t i = 0; r == 0 && i < profile->count; i++) {
		sample.offset = profile->samples[i].offset;
		sample.count = profile->samples[i].count;
		sample.procedure =
			procedure_at(reading->samples->images[sample.image], sample.offset);
		r = reading->visit(reading->context, &sample);
	}
	return r;
}

int samples_read(struct samples *samples, struct batch_builder *batch,
		 const struct profile_epoch *part, const struct profile_event *event,
		 named_sample_fn visit, void *context, uint64_t *total)
{
	const struct profile_filter filter = {
		.epochs = &part->id,
		.epoch_count = 1,
		.since_ns = part->since_ns,
		.until_ns = part->until_ns,
		.event = event->name,
	};
	struct reading reading = {samples, batch, event->number, visit, context, 0};
	int r = profile_reader_profiles(batch->reader, &filter, take_profile, &reading, batch->err);

	*total = reading.total;
	return r;
}
