// SPDX-License-Identifier: GPL-2.0-only
#include "ship/fleet_copy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/profile_write.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "ship/ship_id.h"

/* Images whose procedures one query asks for. */
#define PROCEDURE_IMAGES 1000
/* Epochs of one query: 100 KB of the 256 KB that a query may have. */
#define QUERY_EPOCHS 2000

/* Labels of the samples, with the names of units. */
#define WITH_UNITS                                                                                 \
	" ANY LEFT JOIN (SELECT epoch, label, any(unit) AS unit, any(container) AS container "     \
	"FROM dcpi_labels GROUP BY epoch, label) USING epoch, label WHERE "

/* struct copy_image - @number: in the database, 0: not there */
struct copy_image {
	char uuid[FLEET_UUID_BYTES];
	struct profile_image image;
	char *path;
	int64_t number;
};

struct copy_label {
	char *unit;
	char *container;
};

/*
 * struct copy - the database that is being made
 * @labels:   of the current epoch, by number - 1
 * @samples:  of @image, @event and @pid, that are not written yet
 * @counters: losses of the current epoch
 * @symbols:  procedures of @image that are not written yet
 */
struct copy {
	struct engine *engine;
	struct profile_writer *writer;
	struct error *err;
	struct copy_image *images;
	size_t image_count, image_capacity;
	struct copy_label *labels;
	size_t label_count, label_capacity;
	struct copy_image *image;
	uint32_t event;
	int64_t pid;
	struct profile_sample *samples;
	size_t sample_count, sample_capacity;
	struct profile_counter *counters;
	size_t counter_count, counter_capacity;
	struct profile_symbol *symbols;
	size_t symbol_count, symbol_capacity;
};

static int copy_no_memory(struct copy *copy)
{
	return error_set(copy->err, ENOMEM, ERROR_NO_MEMORY);
}

static int query(struct copy *copy, size_t columns, engine_row_fn visit, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static int query(struct copy *copy, size_t columns, engine_row_fn visit, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list args;
	int r;

	va_start(args, format);
	r = vasprintf(&text, format, args);
	va_end(args);
	if (r < 0) {
		text = NULL;
		return copy_no_memory(copy);
	}
	return engine_query(copy->engine, text, columns, visit, copy, copy->err);
}

/* --- images ------------------------------------------------------------------- */

static int compare_images(const void *a, const void *b)
{
	return strcmp(((const struct copy_image *)a)->uuid, ((const struct copy_image *)b)->uuid);
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Read hexadecimal digits. Return: the number of bytes, or -1. */
static int hex_read(const char *text, uint8_t bytes[PROFILE_IDENTITY_BYTES_MAX])
{
	size_t length = strlen(text);

	if (length % 2 != 0 || length > (size_t)2 * PROFILE_IDENTITY_BYTES_MAX)
		return -1;
	for (size_t i = 0; i < length; i += 2) {
		int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);

		if (high < 0 || low < 0)
			return -1;
		bytes[i / 2] = (uint8_t)(high << 4 | low);
	}
	return (int)(length / 2);
}

/* The engine does not have the kind of an identity; it follows from the parts. */
static enum profile_identity_kind identity_kind(const struct profile_image *image,
						const char *build_id, const char *identity,
						const char *path)
{
	size_t suffix = strlen(PROFILE_UNVERIFIED_SUFFIX), length = strlen(path);

	if (image->identity_bytes == 0)
		return PROFILE_IDENTITY_NONE;
	if (strcmp(build_id, identity) == 0)
		return PROFILE_IDENTITY_BUILD_ID;
	if (length > suffix && strcmp(path + length - suffix, PROFILE_UNVERIFIED_SUFFIX) == 0)
		return PROFILE_IDENTITY_FILE;
	return build_id[0] != '\0' ? PROFILE_IDENTITY_CONTENT : PROFILE_IDENTITY_DIGEST;
}

static enum profile_image_kind kind_of(const char *name)
{
	for (int kind = PROFILE_IMAGE_FILE; kind < PROFILE_IMAGE_UNKNOWN; kind++) {
		if (strcmp(ship_id_kind((enum profile_image_kind)kind), name) == 0)
			return (enum profile_image_kind)kind;
	}
	return PROFILE_IMAGE_UNKNOWN;
}

static int take_fleet_image(void *context, char *const *cells)
{
	struct copy *copy = context;
	struct copy_image image = {.number = 0};
	int bytes = hex_read(cells[3], image.image.identity);

	if (bytes < 0 || strlen(cells[0]) >= sizeof(image.uuid))
		return error_set(copy->err, EBADMSG, ERROR_NOT_VALID, cells[3],
				 "identity from the engine");
	strcpy(image.uuid, cells[0]);
	image.image.kind = kind_of(cells[1]);
	image.image.identity_bytes = (size_t)bytes;
	image.image.identity_kind = identity_kind(&image.image, cells[2], cells[3], cells[4]);
	image.path = strdup(cells[4]);
	if (image.path == NULL || array_reserve(&copy->images, &copy->image_capacity,
						copy->image_count + 1, sizeof(image)) < 0) {
		free(image.path);
		return copy_no_memory(copy);
	}
	image.image.path = image.path;
	copy->images[copy->image_count++] = image;
	return 0;
}

static int images_read(struct copy *copy)
{
	int r = query(copy, 5, take_fleet_image,
		      "SELECT toString(image), argMax(kind, version), argMax(build_id, version), "
		      "argMax(identity, version), argMax(path, version) FROM dcpi_images "
		      "GROUP BY image");

	if (r == 0 && copy->image_count > 0)
		qsort(copy->images, copy->image_count, sizeof(*copy->images), compare_images);
	return r;
}

static struct copy_image *find_copy_image(const struct copy *copy, const char *uuid)
{
	struct copy_image key = {.number = 0};

	if (copy->image_count == 0 || strlen(uuid) >= sizeof(key.uuid))
		return NULL;
	strcpy(key.uuid, uuid);
	return bsearch(&key, copy->images, copy->image_count, sizeof(key), compare_images);
}

/* Find an image and add it to the database. */
static int image_use(struct copy *copy, const char *uuid, struct copy_image **ret)
{
	struct copy_image *image = find_copy_image(copy, uuid);

	if (image == NULL)
		return error_set(copy->err, EBADMSG, ERROR_DATABASE_IMAGE);
	*ret = image;
	/* Images without identity belong to an epoch's host, so each epoch looks its images up. */
	return profile_writer_image(copy->writer, &image->image, &image->number, copy->err);
}

/* --- samples ------------------------------------------------------------------ */

static void labels_clear(struct copy *copy)
{
	for (size_t i = 0; i < copy->label_count; i++) {
		free(copy->labels[i].unit);
		free(copy->labels[i].container);
	}
	copy->label_count = 0;
}

/* Find or add the label of a unit and container; 0: neither. */
static int label_use(struct copy *copy, const char *unit, const char *container, uint32_t *number)
{
	struct copy_label label;
	struct profile_label stored;

	*number = 0;
	if (unit[0] == '\0' && container[0] == '\0')
		return 0;
	for (size_t i = 0; i < copy->label_count; i++) {
		if (strcmp(copy->labels[i].unit, unit) == 0 &&
		    strcmp(copy->labels[i].container, container) == 0) {
			*number = (uint32_t)i + 1;
			return 0;
		}
	}
	label = (struct copy_label){strdup(unit), strdup(container)};
	if (label.unit == NULL || label.container == NULL ||
	    array_reserve(&copy->labels, &copy->label_capacity, copy->label_count + 1,
			  sizeof(label)) < 0) {
		free(label.unit);
		free(label.container);
		return copy_no_memory(copy);
	}
	copy->labels[copy->label_count++] = label;
	*number = (uint32_t)copy->label_count;
	stored = (struct profile_label){*number, label.unit, label.container};
	return profile_writer_label(copy->writer, &stored, copy->err);
}

/* Write the samples of an image, event and unit. */
static int samples_flush(struct copy *copy)
{
	int r = copy->sample_count == 0 ? 0
					: profile_writer_add(copy->writer, copy->image->number,
							     copy->event, copy->pid, copy->samples,
							     copy->sample_count, copy->err);

	copy->sample_count = 0;
	return r;
}

static int take_sample(void *context, char *const *cells)
{
	struct copy *copy = context;
	struct profile_sample sample;
	struct copy_image *image = NULL;
	uint64_t event = 0;
	uint32_t label;
	int64_t pid;
	int r = label_use(copy, cells[2], cells[3], &label);

	if (r == 0)
		r = engine_number(cells[1], UINT32_MAX, &event, copy->err);
	if (r == 0)
		r = engine_number(cells[4], INT64_MAX, &sample.offset, copy->err);
	if (r == 0)
		r = engine_number(cells[5], INT64_MAX, &sample.count, copy->err);
	if (r < 0)
		return r;
	pid = label > 0 ? PROFILE_PID_OF_LABEL(label) : PROFILE_PID_ALL;
	if (strcmp(cells[6], "1") == 0)
		pid = PROFILE_PID_PROFILER;
	if (copy->sample_count == 0 || strcmp(copy->image->uuid, cells[0]) != 0 ||
	    copy->event != event || copy->pid != pid) {
		r = samples_flush(copy);
		if (r == 0)
			r = image_use(copy, cells[0], &image);
		if (r < 0)
			return r;
		copy->image = image;
		copy->event = (uint32_t)event;
		copy->pid = pid;
	}
	if (array_reserve(&copy->samples, &copy->sample_capacity, copy->sample_count + 1,
			  sizeof(sample)) < 0)
		return copy_no_memory(copy);
	copy->samples[copy->sample_count++] = sample;
	return 0;
}

static int take_share(void *context, char *const *cells)
{
	struct copy *copy = context;
	struct copy_image *image = NULL;
	uint64_t event = 0, samples = 0;
	uint32_t label;
	int r = label_use(copy, cells[2], cells[3], &label);

	if (r == 0 && label == 0)
		return 0;
	if (r == 0)
		r = engine_number(cells[1], UINT32_MAX, &event, copy->err);
	if (r == 0)
		r = engine_number(cells[4], INT64_MAX, &samples, copy->err);
	if (r == 0)
		r = image_use(copy, cells[0], &image);
	return r == 0 ? profile_writer_share(copy->writer, image->number, (uint32_t)event, label,
					     samples, copy->err)
		      : r;
}

static int take_loss(void *context, char *const *cells)
{
	struct copy *copy = context;
	struct profile_counter counter = {.group = "loss"};
	int r = engine_number(cells[1], INT64_MAX, &counter.count, copy->err);

	for (size_t i = 0; r == 0 && i < copy->counter_count; i++) {
		if (strcmp(copy->counters[i].name, cells[0]) != 0)
			continue;
		if (__builtin_add_overflow(copy->counters[i].count, counter.count,
					   &copy->counters[i].count))
			r = error_set(copy->err, EBADMSG, ERROR_DATABASE_COUNTS);
		return r;
	}
	if (r < 0)
		return r;
	counter.name = strdup(cells[0]);
	if (counter.name == NULL || array_reserve(&copy->counters, &copy->counter_capacity,
						  copy->counter_count + 1, sizeof(counter)) < 0) {
		free((char *)(uintptr_t)counter.name);
		return copy_no_memory(copy);
	}
	copy->counters[copy->counter_count++] = counter;
	return 0;
}

static void counters_clear(struct copy *copy)
{
	for (size_t i = 0; i < copy->counter_count; i++)
		free((char *)(uintptr_t)copy->counters[i].name);
	copy->counter_count = 0;
}

/* Copy the rows of some epochs of a group. */
static int epochs_rows(struct copy *copy, const char *condition)
{
	int r = query(copy, 7, take_sample,
		      "SELECT toString(image), event, unit, container, offset, sum(samples), "
		      "pid = %" PRId64 " AS profiler FROM dcpi_live_samples" WITH_UNITS "%s "
		      "GROUP BY image, event, profiler, unit, container, offset "
		      "ORDER BY image, event, profiler, unit, container, offset",
		      PROFILE_PID_PROFILER, condition);

	if (r == 0)
		r = samples_flush(copy);
	if (r == 0)
		r = query(copy, 5, take_share,
			  "SELECT toString(image), event, unit, container, sum(samples) "
			  "FROM dcpi_live_shares" WITH_UNITS "%s "
			  "GROUP BY image, event, unit, container",
			  condition);
	if (r == 0)
		r = query(copy, 2, take_loss,
			  "SELECT name, sum(count) FROM dcpi_live_losses WHERE %s GROUP BY name",
			  condition);
	return r;
}

/* --- epochs ------------------------------------------------------------------- */

/* The time that an event was counted in all epochs of a group. */
static int event_times(struct copy *copy, const struct fleet *fleet, size_t first, size_t end)
{
	int r = 0;

	for (size_t e = 0; r == 0 && e < fleet->epochs[first].event_count; e++) {
		uint64_t enabled = 0, running = 0;

		for (size_t i = first; i < end; i++) {
			const struct profile_event *event = &fleet->epochs[i].events[e].event;

			if (__builtin_add_overflow(enabled, event->enabled_ns, &enabled) ||
			    __builtin_add_overflow(running, event->running_ns, &running))
				return error_set(copy->err, EBADMSG, ERROR_DATABASE_COUNTS);
		}
		r = profile_writer_event_time(copy->writer,
					      fleet->epochs[first].events[e].event.number, enabled,
					      running, copy->err);
	}
	return r;
}

/* The engine limits the length of a query. */
static int group_rows(struct copy *copy, const struct fleet *fleet, size_t first, size_t end,
		      const struct fleet_filter *filter)
{
	int r = 0;

	for (size_t i = first; r == 0 && i < end; i += QUERY_EPOCHS) {
		size_t last = end - i < QUERY_EPOCHS ? end : i + QUERY_EPOCHS;
		_cleanup_free_ char *condition = fleet_condition(fleet, i, last, filter);

		r = condition != NULL ? epochs_rows(copy, condition) : copy_no_memory(copy);
	}
	return r;
}

static int group_write(struct copy *copy, const struct fleet *fleet, size_t first, size_t end,
		       const struct fleet_filter *filter)
{
	struct fleet_group group;
	int r = fleet_group_describe(&group, fleet, first, end, copy->err);

	labels_clear(copy);
	counters_clear(copy);
	copy->sample_count = 0;
	if (r == 0)
		r = profile_writer_epoch_add(copy->writer, &group.epoch, copy->err);
	for (size_t e = 0; r == 0 && e < fleet->epochs[first].event_count; e++)
		r = profile_writer_event_add(copy->writer, &fleet->epochs[first].events[e].event,
					     copy->err);
	if (r == 0)
		r = event_times(copy, fleet, first, end);
	if (r == 0)
		r = group_rows(copy, fleet, first, end, filter);
	if (r == 0)
		r = profile_writer_totals(copy->writer, group.end_ns, group.interrupts,
					  copy->counters, copy->counter_count, copy->err);
	return r == 0 ? profile_writer_epoch_finish(copy->writer, group.end_ns, copy->err) : r;
}

static int group_copy(struct copy *copy, const struct fleet *fleet, size_t first, size_t end,
		      const struct fleet_filter *filter)
{
	int r = profile_writer_begin(copy->writer, copy->err);

	if (r < 0)
		return r;
	r = profile_writer_settle(copy->writer, group_write(copy, fleet, first, end, filter),
				  copy->err);
	profile_writer_epoch_forget(copy->writer);
	return r;
}

/* --- procedures --------------------------------------------------------------- */

static int symbols_flush(struct copy *copy)
{
	int r = copy->symbol_count == 0
			? 0
			: profile_writer_symbols(copy->writer, copy->image->number, copy->symbols,
						 copy->symbol_count, copy->err);

	for (size_t i = 0; i < copy->symbol_count; i++)
		free((char *)(uintptr_t)copy->symbols[i].name);
	copy->symbol_count = 0;
	return r;
}

static int take_procedure(void *context, char *const *cells)
{
	struct copy *copy = context;
	struct profile_symbol symbol = {.bytes = 0};
	struct copy_image *image = find_copy_image(copy, cells[0]);
	int r = engine_number(cells[1], INT64_MAX, &symbol.offset, copy->err);

	if (r == 0)
		r = engine_number(cells[3], INT64_MAX, &symbol.bytes, copy->err);
	if (r == 0 && copy->symbol_count > 0 && image != copy->image)
		r = symbols_flush(copy);
	if (r < 0 || image == NULL || image->number == 0)
		return r;
	copy->image = image;
	symbol.name = strdup(cells[2]);
	if (symbol.name == NULL || array_reserve(&copy->symbols, &copy->symbol_capacity,
						 copy->symbol_count + 1, sizeof(symbol)) < 0) {
		free((char *)(uintptr_t)symbol.name);
		return copy_no_memory(copy);
	}
	copy->symbols[copy->symbol_count++] = symbol;
	return 0;
}

/* Copy the procedures of a range of images, in a transaction. */
static int procedures_read(struct copy *copy, size_t first, size_t end)
{
	_cleanup_free_ char *list = NULL;
	size_t bytes, count = 0;
	FILE *stream = open_memstream(&list, &bytes);
	int r;

	if (stream == NULL)
		return copy_no_memory(copy);
	for (size_t i = first; i < end; i++) {
		if (copy->images[i].number != 0)
			fprintf(stream, "%stoUUID('%s')", count++ == 0 ? "" : ", ",
				copy->images[i].uuid);
	}
	if (fclose(stream) != 0)
		return copy_no_memory(copy);
	if (count == 0)
		return 0;
	r = query(copy, 4, take_procedure,
		  "SELECT toString(image), offset, name, max(bytes) FROM dcpi_procedures "
		  "WHERE image IN (%s) GROUP BY image, offset, name "
		  "ORDER BY image, offset, max(position), name",
		  list);
	return r == 0 ? symbols_flush(copy) : r;
}

static int procedures_copy(struct copy *copy)
{
	int r = profile_writer_begin(copy->writer, copy->err);

	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < copy->image_count; i += PROCEDURE_IMAGES) {
		size_t end = i + PROCEDURE_IMAGES;

		r = procedures_read(copy, i, end < copy->image_count ? end : copy->image_count);
	}
	return profile_writer_settle(copy->writer, r, copy->err);
}

static void copy_deinit(struct copy *copy)
{
	profile_writer_close(copy->writer);
	for (size_t i = 0; i < copy->image_count; i++)
		free(copy->images[i].path);
	free(copy->images);
	labels_clear(copy);
	free(copy->labels);
	counters_clear(copy);
	free(copy->counters);
	free(copy->samples);
	for (size_t i = 0; i < copy->symbol_count; i++)
		free((char *)(uintptr_t)copy->symbols[i].name);
	free(copy->symbols);
}

int fleet_copy(const struct fleet *fleet, struct engine *engine, const struct fleet_filter *filter,
	       const char *path, struct error *err)
{
	struct copy copy = {.engine = engine, .err = err};
	int r = profile_writer_open(&copy.writer, path, err);

	if (r == 0)
		r = images_read(&copy);
	for (size_t first = 0; r == 0 && first < fleet->count;) {
		size_t end = fleet_group_end(fleet, first);

		r = group_copy(&copy, fleet, first, end, filter);
		first = end;
	}
	if (r == 0)
		r = procedures_copy(&copy);
	copy_deinit(&copy);
	return r;
}
