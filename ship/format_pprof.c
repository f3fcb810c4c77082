// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiles of pprof (lib/pprof_writer.h), one in each request. An address is the offset in the
 * image's file, whose mapping begins at address and offset 0.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/clock.h"
#include "lib/pprof_writer.h"
#include "ship/profile_format.h"
#include "ship/ship_config.h"
#include "ship/ship_id.h"

#define TARGET_BYTES 1024
#define NAME_BYTES 256
#define LABELS_MAX 4

/* struct pprof_image - @mapping: 0: not in the request; @locations: by offset */
struct pprof_image {
	uint64_t mapping;
	struct u64_map locations;
};

/*
 * struct pprof - a request that is being made
 * @target: of the request, "FROM UNTIL NAME": seconds, and the name of the profile
 * @begun:  @writer is initialised
 */
struct pprof {
	const struct batch_builder *batch;
	struct samples *samples;
	struct pprof_writer writer;
	bool begun;
	struct pprof_image *images;
	size_t image_count, image_capacity;
	const char *type;
	uint64_t period;
	struct profile_slice slice;
	char target[TARGET_BYTES];
};

static int pprof_create(void **data)
{
	*data = calloc(1, sizeof(struct pprof));
	return *data != NULL ? 0 : -ENOMEM;
}

static void pprof_clear(struct pprof *pprof)
{
	if (pprof->begun)
		pprof_writer_deinit(&pprof->writer);
	pprof->begun = false;
	for (size_t i = 0; i < pprof->image_count; i++)
		u64_map_deinit(&pprof->images[i].locations);
	pprof->image_count = 0;
}

static void pprof_destroy(void *data)
{
	struct pprof *pprof = data;

	pprof_clear(pprof);
	free(pprof->images);
	free(pprof);
}

static void pprof_begin(void *data, const struct batch_builder *batch, struct samples *samples)
{
	struct pprof *pprof = data;

	pprof_clear(pprof);
	pprof_writer_init(&pprof->writer);
	pprof->begun = true;
	pprof->batch = batch;
	pprof->samples = samples;
}

static size_t pprof_bytes(const void *data)
{
	return ((const struct pprof *)data)->writer.out.bytes;
}

/* Copy a text as the value of a label in the name of a profile, which has no way to quote. */
static const char *label_value(char *to, size_t bytes, const char *text)
{
	snprintf(to, bytes, "%s", text);
	for (char *p = to; *p != '\0'; p++) {
		if ((unsigned char)*p <= ' ' || *p == 0x7f || strchr("{}=,\"", *p) != NULL)
			*p = '_';
	}
	return to;
}

/* A profile has the values of an event, or losses. */
static void pprof_open(void *data, const struct format_profile *profile)
{
	struct pprof *pprof = data;
	const struct batch_builder *batch = pprof->batch;
	const char *event = profile->event.name != NULL ? profile->event.name : "lost";
	const char *host = batch->epoch != NULL ? batch->epoch->host : "";
	char id[SHIP_ID_TEXT_BYTES], event_label[NAME_BYTES], host_label[NAME_BYTES];
	const char *unit;

	pprof->slice = profile->slice;
	snprintf(pprof->target, sizeof(pprof->target),
		 "%" PRId64 " %" PRId64 " %s{host=%s,host_id=%s,event=%s}",
		 pprof->slice.start_ns / (int64_t)NS_PER_SECOND,
		 pprof->slice.end_ns / (int64_t)NS_PER_SECOND, batch->config->service,
		 label_value(host_label, sizeof(host_label), host),
		 ship_id_text(id, batch->known->host),
		 label_value(event_label, sizeof(event_label), event));
	if (profile->event.name == NULL) {
		pprof->type = "lost_samples";
		pprof_writer_type(&pprof->writer, pprof->type, "count");
		return;
	}
	pprof->type = profile_format_type(&profile->event, &unit);
	pprof->period = profile_format_period(&profile->event);
	pprof_writer_type(&pprof->writer, "samples", "count");
	pprof_writer_type(&pprof->writer, pprof->type, unit);
	pprof_writer_period(&pprof->writer, pprof->type, unit, pprof->period);
}

/* Return the image with an index in struct samples; NULL: out of memory. */
static struct pprof_image *pprof_find_image(struct pprof *pprof, size_t index)
{
	const struct sample_image *stored = pprof->samples->images[index];
	struct pprof_image *image;

	if (array_reserve(&pprof->images, &pprof->image_capacity, index + 1, sizeof(*image)) < 0)
		return NULL;
	while (pprof->image_count <= index)
		pprof->images[pprof->image_count++] = (struct pprof_image){.mapping = 0};
	image = &pprof->images[index];
	if (image->mapping == 0) {
		const struct pprof_mapping mapping = {
			.limit = UINT64_MAX,
			.file = stored->path[0] != '\0' ? stored->path : stored->kind_name,
			.build_id = stored->build_id,
			/* Otherwise, the destination looks for symbols. */
			.functions = stored->symbols.count > 0 || pprof->batch->config->unnamed,
		};

		image->mapping = pprof_writer_mapping(&pprof->writer, &mapping);
	}
	return image;
}

static size_t owner_labels(const struct sample_owner *owner, struct pprof_label labels[LABELS_MAX])
{
	size_t count = 0;

	if (owner->pid != PROFILE_PID_ALL)
		labels[count++] = (struct pprof_label){"pid", NULL, (uint64_t)owner->pid};
	if (owner->command[0] != '\0')
		labels[count++] = (struct pprof_label){"command", owner->command, 0};
	if (owner->unit[0] != '\0')
		labels[count++] = (struct pprof_label){"unit", owner->unit, 0};
	if (owner->container[0] != '\0')
		labels[count++] = (struct pprof_label){"container", owner->container, 0};
	return count;
}

static void pprof_sample(void *data, const struct named_sample *sample)
{
	struct pprof *pprof = data;
	struct pprof_image *image = pprof_find_image(pprof, sample->image);
	uint64_t *location =
		image != NULL ? u64_map_insert(&image->locations, sample->offset) : NULL;
	struct sample_owner owner = samples_owner(pprof->samples, sample->owner_key);
	uint64_t values[2] = {sample->count, 0};
	struct pprof_label labels[LABELS_MAX];
	char text[PROFILE_FORMAT_NAME_BYTES];

	if (location == NULL) {
		pprof->writer.out.error = -ENOMEM;
		return;
	}
	if (*location == 0) {
		const char *name = profile_format_name(pprof->batch, pprof->samples, sample, text);

		*location = pprof_writer_location(
			&pprof->writer, image->mapping, sample->offset,
			name[0] != '\0' ? pprof_writer_function(&pprof->writer, name, true, NULL)
					: 0,
			0);
	}
	if (__builtin_mul_overflow(sample->count, pprof->period, &values[1]))
		values[1] = INT64_MAX;
	pprof_writer_sample(&pprof->writer, &(struct pprof_sample){
						    .stack = location,
						    .depth = 1,
						    .values = values,
						    .value_count = 2,
						    .labels = labels,
						    .label_count = owner_labels(&owner, labels),
					    });
}

static void pprof_loss(void *data, const char *name, uint64_t count)
{
	struct pprof *pprof = data;
	uint64_t function = pprof_writer_function(&pprof->writer, name, true, NULL);
	uint64_t location = pprof_writer_location(&pprof->writer, 0, 0, function, 0);

	pprof_writer_sample(&pprof->writer, &(struct pprof_sample){
						    .stack = &location,
						    .depth = 1,
						    .values = &count,
						    .value_count = 1,
					    });
}

static void pprof_close(void *data, const struct format_profile *profile, uint64_t count)
{
	(void)data, (void)profile, (void)count;
}

static int pprof_end(void *data, struct ship_request *request)
{
	struct pprof *pprof = data;
	int r = pprof_writer_end(&pprof->writer, pprof->slice.start_ns, pprof->slice.end_ns,
				 "dcpiship " DCPI_VERSION, pprof->type);

	request->target = pprof->target;
	request->body = pprof->writer.out.data;
	request->bytes = pprof->writer.out.bytes;
	return r;
}

const struct profile_format format_pprof = {
	.single = true,
	.create = pprof_create,
	.destroy = pprof_destroy,
	.begin = pprof_begin,
	.bytes = pprof_bytes,
	.open = pprof_open,
	.sample = pprof_sample,
	.loss = pprof_loss,
	.close = pprof_close,
	.end = pprof_end,
};
