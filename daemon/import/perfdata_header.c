// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/import/perfdata_header.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/import/perfdata_record.h"
#include "lib/array.h"
#include "lib/bounded_reader.h"
#include "lib/error.h"
#include "lib/error_text.h"

#define UPDATE_NAME 2
/* The record contains the size of the build-id. */
#define MISC_BUILD_ID_SIZE (1U << 15)
#define BUILD_ID_FIELD_BYTES 24
#define ATTR_SIZE_AT 4

void perfdata_header_deinit(struct perfdata_header *header)
{
	for (size_t i = 0; i < header->image_count; i++)
		free(header->images[i].path);
	free(header->images);
	perfdata_events_deinit(&header->events);
	*header = (struct perfdata_header){0};
}

static int malformed(struct error *err, const char *what)
{
	return error_set(err, EBADMSG, "its %s is malformed", what);
}

/* Read a size and a zero-padded string of that size; NULL if the string is not terminated. */
static const char *take_string(struct bounded_reader *reader)
{
	uint32_t bytes = bounded_reader_u32(reader);
	const char *string = bounded_reader_bytes(reader, bytes);

	return string != NULL && memchr(string, '\0', bytes) != NULL ? string : NULL;
}

/* Return the rest of a record as a string; NULL if it is not terminated. */
static const char *rest_string(struct bounded_reader *reader)
{
	size_t bytes = bounded_reader_left(reader);
	const char *string = bounded_reader_bytes(reader, bytes);

	return string != NULL && memchr(string, '\0', bytes) != NULL ? string : NULL;
}

/* Replace control characters: names are printed in reports. */
static void perfdata_header_keep(char *to, size_t room, const char *from)
{
	size_t n = strnlen(from, room - 1);

	for (size_t i = 0; i < n; i++)
		to[i] = (unsigned char)from[i] < ' ' || from[i] == '\x7f' ? '?' : from[i];
	to[n] = '\0';
}

static int take_name(char *to, size_t room, struct bounded_reader *reader, const char *what,
		     struct error *err)
{
	const char *string = take_string(reader);

	if (string == NULL)
		return malformed(err, what);
	perfdata_header_keep(to, room, string);
	return 0;
}

static int take_command(struct perfdata_header *header, struct bounded_reader *reader,
			struct error *err)
{
	char text[sizeof(header->command)] = "";
	uint32_t count = bounded_reader_u32(reader);
	size_t length = 0;

	for (uint32_t i = 0; i < count; i++) {
		const char *word = take_string(reader);
		size_t bytes;

		if (word == NULL)
			return malformed(err, "command line");
		bytes = strlen(word);
		if (length + bytes + 2 > sizeof(text))
			break;
		if (i > 0)
			text[length++] = ' ';
		memcpy(text + length, word, bytes + 1);
		length += bytes;
	}
	perfdata_header_keep(header->command, sizeof(header->command), text);
	return 0;
}

/* Read each event's attr, name and ids; the attrs have already been read from another section. */
static int take_events(struct perfdata_header *header, struct bounded_reader *reader,
		       struct error *err)
{
	uint32_t count = bounded_reader_u32(reader), attr_bytes = bounded_reader_u32(reader);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t ids;
		const char *name;
		uint64_t first;

		bounded_reader_bytes(reader, attr_bytes);
		ids = bounded_reader_u32(reader);
		name = take_string(reader);
		first = ids > 0 ? bounded_reader_u64(reader) : 0;
		if (ids > 1)
			bounded_reader_bytes(reader, (size_t)(ids - 1) * sizeof(first));
		if (name == NULL || bounded_reader_failed(reader))
			return malformed(err, "list of events");
		if (ids > 0)
			perfdata_events_rename(&header->events, first, name);
		else if (i < header->events.count)
			perfdata_header_keep(header->events.event[i].name, PERFDATA_NAME_BYTES,
					     name);
	}
	return 0;
}

static int keep_image(struct perfdata_header *header, const uint8_t field[BUILD_ID_FIELD_BYTES],
		      unsigned int misc, const char *path, struct error *err)
{
	struct perfdata_image image = {.build_id.bytes = IMAGE_BUILD_ID_BYTES_MAX};

	if ((misc & MISC_BUILD_ID_SIZE) != 0)
		image.build_id.bytes = field[IMAGE_BUILD_ID_BYTES_MAX];
	if (image.build_id.bytes == 0 || image.build_id.bytes > IMAGE_BUILD_ID_BYTES_MAX ||
	    header->image_count == PERFDATA_IMAGES_MAX)
		return 0;
	memcpy(image.build_id.data, field, image.build_id.bytes);
	if (array_reserve(&header->images, &header->image_capacity, header->image_count + 1,
			  sizeof(image)) < 0 ||
	    (image.path = strdup(path)) == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	header->images[header->image_count++] = image;
	return 0;
}

/* @reader: positioned after the record's header */
static int take_build_id(struct perfdata_header *header, struct bounded_reader *reader,
			 unsigned int misc, struct error *err)
{
	const uint8_t *field;
	const char *path;

	bounded_reader_u32(reader); /* pid of the machine, host or guest */
	field = bounded_reader_bytes(reader, BUILD_ID_FIELD_BYTES);
	path = rest_string(reader);
	if (field == NULL || path == NULL)
		return malformed(err, "list of build-ids");
	switch (misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_GUEST_KERNEL:
	case PERF_RECORD_MISC_GUEST_USER:
	case PERF_RECORD_MISC_HYPERVISOR:
		return 0;
	default:
		return keep_image(header, field, misc, path, err);
	}
}

static int take_build_ids(struct perfdata_header *header, struct bounded_reader *reader,
			  struct error *err)
{
	while (bounded_reader_left(reader) > 0) {
		struct perf_event_header record;
		const void *head = bounded_reader_bytes(reader, sizeof(record)), *body = NULL;
		struct bounded_reader inner;
		int r;

		if (head != NULL)
			memcpy(&record, head, sizeof(record));
		if (head != NULL && record.size >= sizeof(record))
			body = bounded_reader_bytes(reader, record.size - sizeof(record));
		if (body == NULL)
			return malformed(err, "list of build-ids");
		bounded_reader_init(&inner, body, record.size - sizeof(record));
		r = take_build_id(header, &inner, record.misc, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int perfdata_header_feature(struct perfdata_header *header, unsigned int feature, const void *data,
			    size_t bytes, struct error *err)
{
	struct bounded_reader reader;

	bounded_reader_init(&reader, data, bytes);
	switch (feature) {
	case PERFDATA_BUILD_ID:
		return take_build_ids(header, &reader, err);
	case PERFDATA_HOSTNAME:
		return take_name(header->host, sizeof(header->host), &reader, "host name", err);
	case PERFDATA_RELEASE:
		return take_name(header->release, sizeof(header->release), &reader, "release", err);
	case PERFDATA_ARCH:
		return take_name(header->arch, sizeof(header->arch), &reader, "architecture", err);
	case PERFDATA_CPU:
		return take_name(header->cpu, sizeof(header->cpu), &reader, "CPU description", err);
	case PERFDATA_CPU_ID:
		return take_name(header->cpu_id, sizeof(header->cpu_id), &reader, "CPU id", err);
	case PERFDATA_CPUS:
		bounded_reader_u32(&reader); /* available CPUs */
		header->cpus = bounded_reader_u32(&reader);
		return bounded_reader_failed(&reader) ? malformed(err, "number of CPUs") : 0;
	case PERFDATA_COMMAND:
		return take_command(header, &reader, err);
	case PERFDATA_EVENTS:
		return take_events(header, &reader, err);
	default:
		return 0;
	}
}

static int take_attr(struct perfdata_header *header, const uint8_t *body, size_t bytes,
		     struct error *err)
{
	uint32_t attr_bytes = 0;

	if (bytes >= ATTR_SIZE_AT + sizeof(attr_bytes))
		memcpy(&attr_bytes, body + ATTR_SIZE_AT, sizeof(attr_bytes));
	if (attr_bytes == 0)
		attr_bytes = PERF_ATTR_SIZE_VER0;
	if (attr_bytes > bytes)
		return malformed(err, "list of events");
	return perfdata_events_add(&header->events, body, attr_bytes, body + attr_bytes,
				   bytes - attr_bytes, err);
}

static int take_update(struct perfdata_header *header, struct bounded_reader *reader,
		       struct error *err)
{
	uint64_t what = bounded_reader_u64(reader), id = bounded_reader_u64(reader);
	const char *name;

	if (what != UPDATE_NAME)
		return 0;
	name = rest_string(reader);
	if (name == NULL)
		return malformed(err, "list of events");
	perfdata_events_rename(&header->events, id, name);
	return 0;
}

int perfdata_header_record(struct perfdata_header *header, const struct perf_event_header *record,
			   struct error *err)
{
	size_t bytes = record->size - sizeof(*record);
	struct bounded_reader reader;
	uint64_t feature;

	bounded_reader_init(&reader, record + 1, bytes);
	switch (record->type) {
	case PERFDATA_RECORD_ATTR:
		return take_attr(header, (const uint8_t *)(record + 1), bytes, err);
	case PERFDATA_RECORD_EVENT_UPDATE:
		return take_update(header, &reader, err);
	case PERFDATA_RECORD_BUILD_ID:
		return take_build_id(header, &reader, record->misc, err);
	case PERFDATA_RECORD_FEATURE:
		feature = bounded_reader_u64(&reader);
		if (bounded_reader_failed(&reader))
			return malformed(err, "description");
		return feature >= PERFDATA_FEATURES
			       ? 0
			       : perfdata_header_feature(header, (unsigned int)feature,
							 reader.position,
							 bounded_reader_left(&reader), err);
	default:
		return 0;
	}
}

static int perfdata_header_by_path(const void *a, const void *b)
{
	const struct perfdata_image *x = a, *y = b;

	return strcmp(x->path, y->path);
}

void perfdata_header_settle(struct perfdata_header *header)
{
	if (header->image_count > 0)
		qsort(header->images, header->image_count, sizeof(*header->images),
		      perfdata_header_by_path);
}

const struct build_id *perfdata_header_build_id(const struct perfdata_header *header,
						const char *path)
{
	struct perfdata_image key = {.path = (char *)(uintptr_t)path};
	const struct perfdata_image *found = NULL;

	if (header->image_count > 0)
		found = bsearch(&key, header->images, header->image_count, sizeof(key),
				perfdata_header_by_path);
	return found != NULL ? &found->build_id : NULL;
}
