// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests of OTLP Profiles: ExportProfilesServiceRequest of opentelemetry-proto 1.11.0, package
 * opentelemetry.proto.profiles.v1development. Field numbers have changed between versions.
 *
 * A request has one resource, the host. Stacks have one location: the instruction. An address is
 * the offset in the image's file, whose mapping begins at address and offset 0.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/printable.h"
#include "lib/protobuf_writer.h"
#include "lib/string_table.h"
#include "ship/profile_format.h"
#include "ship/ship_config.h"
#include "ship/ship_id.h"

#define HOST_BYTES_MAX 256
/* The most that the resource and the ends of messages add to a request. */
#define OTLP_FRAME_BYTES 1024

/* Field numbers, by message. */
enum {
	REQUEST_RESOURCE_PROFILES = 1,
	REQUEST_DICTIONARY = 2,

	RESOURCE_PROFILES_RESOURCE = 1,
	RESOURCE_PROFILES_SCOPE_PROFILES = 2,

	RESOURCE_ATTRIBUTES = 1,

	SCOPE_PROFILES_SCOPE = 1,
	SCOPE_PROFILES_PROFILES = 2,

	SCOPE_NAME = 1,
	SCOPE_VERSION = 2,

	KEY_VALUE_KEY = 1,
	KEY_VALUE_VALUE = 2,

	ANY_VALUE_STRING = 1,
	ANY_VALUE_INT = 3,

	DICTIONARY_MAPPING = 1,
	DICTIONARY_LOCATION = 2,
	DICTIONARY_FUNCTION = 3,
	DICTIONARY_LINK = 4,
	DICTIONARY_STRING = 5,
	DICTIONARY_ATTRIBUTE = 6,
	DICTIONARY_STACK = 7,

	MAPPING_MEMORY_LIMIT = 2,
	MAPPING_FILENAME = 4,
	MAPPING_ATTRIBUTES = 5,

	LOCATION_MAPPING = 1,
	LOCATION_ADDRESS = 2,
	LOCATION_LINES = 3,
	LOCATION_ATTRIBUTES = 4,

	LINE_FUNCTION = 1,

	FUNCTION_NAME = 1,
	FUNCTION_SYSTEM_NAME = 2,

	LINK_TRACE_ID = 1,
	LINK_SPAN_ID = 2,

	ATTRIBUTE_KEY = 1,
	ATTRIBUTE_VALUE = 2,

	STACK_LOCATIONS = 1,

	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLES = 2,
	PROFILE_TIME = 3,
	PROFILE_DURATION = 4,
	PROFILE_PERIOD_TYPE = 5,
	PROFILE_PERIOD = 6,
	PROFILE_ID = 7,

	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT = 2,

	SAMPLE_STACK = 1,
	SAMPLE_ATTRIBUTES = 2,
	SAMPLE_VALUES = 4,
};

/*
 * struct otlp_image - an image in the request
 * @mapping:   0: not in the request yet
 * @attribute: of its locations
 * @locations: numbers of the locations by offset; the stack of a location has the same number
 */
struct otlp_image {
	uint64_t mapping;
	uint64_t attribute;
	struct u64_map locations;
};

#define OWNER_ATTRIBUTES_MAX 4

struct otlp_owner {
	uint64_t attributes[OWNER_ATTRIBUTES_MAX];
	size_t count;
};

/*
 * struct otlp - a request that is being made
 * @dictionary, @profiles, @profile: ProfilesDictionary, ScopeProfiles, Profile so far
 * @inner, @part, @value: messages that become part of them
 * @attributes: as "KEY=VALUE"
 * @functions:  numbers of functions, by the number of the name
 * @losses:     numbers of locations, by the number of the function
 * @owners:     index in @owner_list + 1
 * @mappings, @locations: the last numbers
 */
struct otlp {
	const struct batch_builder *batch;
	struct samples *samples;
	struct protobuf_writer dictionary, profiles, profile;
	struct protobuf_writer inner, part, value, out;
	struct string_table strings, attributes;
	struct u64_map functions, losses, owners;
	struct otlp_owner *owner_list;
	size_t owner_count, owner_capacity;
	struct otlp_image *images;
	size_t image_count, image_capacity;
	uint64_t mappings, locations;
};

static int otlp_create(void **data)
{
	*data = calloc(1, sizeof(struct otlp));
	return *data != NULL ? 0 : -ENOMEM;
}

static void tables_clear(struct otlp *otlp)
{
	string_table_deinit(&otlp->strings);
	string_table_deinit(&otlp->attributes);
	u64_map_deinit(&otlp->functions);
	u64_map_deinit(&otlp->losses);
	u64_map_deinit(&otlp->owners);
	for (size_t i = 0; i < otlp->image_count; i++)
		u64_map_deinit(&otlp->images[i].locations);
	otlp->image_count = otlp->owner_count = 0;
	otlp->mappings = otlp->locations = 0;
}

static void otlp_destroy(void *data)
{
	struct otlp *otlp = data;

	tables_clear(otlp);
	protobuf_writer_deinit(&otlp->dictionary);
	protobuf_writer_deinit(&otlp->profiles);
	protobuf_writer_deinit(&otlp->profile);
	protobuf_writer_deinit(&otlp->inner);
	protobuf_writer_deinit(&otlp->part);
	protobuf_writer_deinit(&otlp->value);
	protobuf_writer_deinit(&otlp->out);
	free(otlp->images);
	free(otlp->owner_list);
	free(otlp);
}

static void otlp_fail(struct otlp *otlp)
{
	otlp->dictionary.error = -ENOMEM;
}

/* --- the dictionary ----------------------------------------------------------- */

static uint64_t put_string(struct otlp *otlp, const char *text)
{
	const char *added = NULL;
	uint64_t number = 0;

	if (string_table_add(&otlp->strings, text, &number, &added) < 0)
		otlp_fail(otlp);
	if (added != NULL)
		protobuf_writer_text(&otlp->dictionary, DICTIONARY_STRING, added);
	return number;
}

/* Find or add an attribute. @text NULL: its value is @number */
static uint64_t put_attribute(struct otlp *otlp, const char *key, const char *text, int64_t number)
{
	_cleanup_free_ char *pair = NULL;
	const char *added = NULL;
	uint64_t index = 0;
	int r = text != NULL ? asprintf(&pair, "%s=%s", key, text)
			     : asprintf(&pair, "%s=%lld", key, (long long)number);

	if (r < 0)
		pair = NULL;
	if (r < 0 || string_table_add(&otlp->attributes, pair, &index, &added) < 0)
		otlp_fail(otlp);
	if (added == NULL)
		return index;
	protobuf_writer_clear(&otlp->value);
	if (text != NULL)
		protobuf_writer_text(&otlp->value, ANY_VALUE_STRING, added + strlen(key) + 1);
	else
		protobuf_writer_member(&otlp->value, ANY_VALUE_INT, (uint64_t)number);
	protobuf_writer_clear(&otlp->part);
	protobuf_writer_number(&otlp->part, ATTRIBUTE_KEY, put_string(otlp, key));
	protobuf_writer_message(&otlp->part, ATTRIBUTE_VALUE, &otlp->value);
	protobuf_writer_message(&otlp->dictionary, DICTIONARY_ATTRIBUTE, &otlp->part);
	return index;
}

static uint64_t put_function(struct otlp *otlp, const char *name)
{
	uint64_t string = put_string(otlp, name);
	uint64_t *known = u64_map_insert(&otlp->functions, string);

	if (known == NULL) {
		otlp_fail(otlp);
		return 0;
	}
	if (*known == 0) {
		*known = u64_map_count(&otlp->functions);
		protobuf_writer_clear(&otlp->part);
		protobuf_writer_number(&otlp->part, FUNCTION_NAME, string);
		protobuf_writer_number(&otlp->part, FUNCTION_SYSTEM_NAME, string);
		protobuf_writer_message(&otlp->dictionary, DICTIONARY_FUNCTION, &otlp->part);
	}
	return *known;
}

/* Add a location, and the stack that it is alone in. */
static uint64_t put_location(struct otlp *otlp, const struct otlp_image *image, uint64_t address,
			     const char *name)
{
	uint64_t function = name[0] != '\0' ? put_function(otlp, name) : 0;

	protobuf_writer_clear(&otlp->inner);
	if (image != NULL) {
		protobuf_writer_number(&otlp->inner, LOCATION_MAPPING, image->mapping);
		protobuf_writer_number(&otlp->inner, LOCATION_ADDRESS, address);
	}
	if (function != 0) {
		protobuf_writer_clear(&otlp->part);
		protobuf_writer_number(&otlp->part, LINE_FUNCTION, function);
		protobuf_writer_message(&otlp->inner, LOCATION_LINES, &otlp->part);
	}
	if (image != NULL)
		protobuf_writer_numbers(&otlp->inner, LOCATION_ATTRIBUTES, &image->attribute, 1);
	protobuf_writer_message(&otlp->dictionary, DICTIONARY_LOCATION, &otlp->inner);
	otlp->locations++;
	protobuf_writer_clear(&otlp->inner);
	protobuf_writer_numbers(&otlp->inner, STACK_LOCATIONS, &otlp->locations, 1);
	protobuf_writer_message(&otlp->dictionary, DICTIONARY_STACK, &otlp->inner);
	return otlp->locations;
}

/* Return the image with an index in struct samples; NULL: out of memory. */
static struct otlp_image *otlp_find_image(struct otlp *otlp, size_t index)
{
	const struct sample_image *stored = otlp->samples->images[index];
	struct otlp_image *image;
	uint64_t build_id, name;
	bool kernel = stored->kind == PROFILE_IMAGE_KERNEL || stored->kind == PROFILE_IMAGE_MODULE;

	if (array_reserve(&otlp->images, &otlp->image_capacity, index + 1, sizeof(*image)) < 0)
		return NULL;
	while (otlp->image_count <= index)
		otlp->images[otlp->image_count++] = (struct otlp_image){.mapping = 0};
	image = &otlp->images[index];
	if (image->mapping != 0)
		return image;
	image->mapping = ++otlp->mappings;
	image->attribute =
		put_attribute(otlp, "profile.frame.type", kernel ? "kernel" : "native", 0);
	name = put_string(otlp, stored->path[0] != '\0' ? stored->path : stored->kind_name);
	build_id = stored->build_id[0] != '\0'
			   ? put_attribute(otlp, "process.executable.build_id.gnu",
					   stored->build_id, 0)
			   : 0;
	protobuf_writer_clear(&otlp->inner);
	protobuf_writer_number(&otlp->inner, MAPPING_MEMORY_LIMIT, UINT64_MAX);
	protobuf_writer_number(&otlp->inner, MAPPING_FILENAME, name);
	protobuf_writer_numbers(&otlp->inner, MAPPING_ATTRIBUTES, &build_id, build_id != 0);
	protobuf_writer_message(&otlp->dictionary, DICTIONARY_MAPPING, &otlp->inner);
	return image;
}

static void owner_attribute(struct otlp *otlp, struct otlp_owner *owner, const char *key,
			    const char *text)
{
	if (text[0] != '\0')
		owner->attributes[owner->count++] = put_attribute(otlp, key, text, 0);
}

/* Return the attributes of a process or unit; NULL: out of memory. */
static const struct otlp_owner *find_owner(struct otlp *otlp, int64_t key)
{
	uint64_t *index = u64_map_insert(&otlp->owners, (uint64_t)key);
	struct sample_owner names;
	struct otlp_owner *owner;

	if (index == NULL || array_reserve(&otlp->owner_list, &otlp->owner_capacity,
					   otlp->owner_count + 1, sizeof(*owner)) < 0)
		return NULL;
	if (*index != 0)
		return &otlp->owner_list[*index - 1];
	*index = otlp->owner_count + 1;
	owner = &otlp->owner_list[otlp->owner_count++];
	owner->count = 0;
	names = samples_owner(otlp->samples, key);
	if (names.pid != PROFILE_PID_ALL)
		owner->attributes[owner->count++] =
			put_attribute(otlp, "process.pid", NULL, names.pid);
	owner_attribute(otlp, owner, "process.executable.name", names.command);
	owner_attribute(otlp, owner, "systemd.unit", names.unit);
	owner_attribute(otlp, owner, "container.id", names.container);
	return owner;
}

/* --- the request -------------------------------------------------------------- */

static void otlp_begin(void *data, const struct batch_builder *batch, struct samples *samples)
{
	static const uint8_t zeros[16];
	struct otlp *otlp = data;
	const char *added;
	uint64_t zero;

	tables_clear(otlp);
	otlp->batch = batch;
	otlp->samples = samples;
	protobuf_writer_clear(&otlp->dictionary);
	protobuf_writer_clear(&otlp->profiles);
	/* The first item of each table has no value. */
	for (uint32_t field = DICTIONARY_MAPPING; field <= DICTIONARY_STACK; field++) {
		if (field != DICTIONARY_LINK && field != DICTIONARY_STRING)
			protobuf_writer_bytes(&otlp->dictionary, field, NULL, 0);
	}
	protobuf_writer_clear(&otlp->inner);
	protobuf_writer_bytes(&otlp->inner, LINK_TRACE_ID, zeros, 16);
	protobuf_writer_bytes(&otlp->inner, LINK_SPAN_ID, zeros, 8);
	protobuf_writer_message(&otlp->dictionary, DICTIONARY_LINK, &otlp->inner);
	put_string(otlp, "");
	if (string_table_add(&otlp->attributes, "", &zero, &added) < 0)
		otlp_fail(otlp);
}

static size_t otlp_bytes(const void *data)
{
	const struct otlp *otlp = data;

	return otlp->dictionary.bytes + otlp->profiles.bytes + otlp->profile.bytes +
	       OTLP_FRAME_BYTES;
}

static void put_type(struct otlp *otlp, uint32_t field, const char *name, const char *unit)
{
	uint64_t name_string = put_string(otlp, name), unit_string = put_string(otlp, unit);

	protobuf_writer_clear(&otlp->part);
	protobuf_writer_number(&otlp->part, VALUE_TYPE_TYPE, name_string);
	protobuf_writer_number(&otlp->part, VALUE_TYPE_UNIT, unit_string);
	protobuf_writer_message(&otlp->profile, field, &otlp->part);
}

static void otlp_open(void *data, const struct format_profile *profile)
{
	const struct profile_event *event = &profile->event;
	struct otlp *otlp = data;
	const char *unit, *type;

	protobuf_writer_clear(&otlp->profile);
	put_type(otlp, PROFILE_SAMPLE_TYPE, event->name != NULL ? "samples" : "lost_samples",
		 "count");
	protobuf_writer_fixed64(&otlp->profile, PROFILE_TIME, (uint64_t)profile->slice.start_ns);
	protobuf_writer_number(&otlp->profile, PROFILE_DURATION,
			       (uint64_t)profile->slice.end_ns - (uint64_t)profile->slice.start_ns);
	if (event->name == NULL)
		return;
	type = profile_format_type(event, &unit);
	put_type(otlp, PROFILE_PERIOD_TYPE, type, unit);
	protobuf_writer_number(&otlp->profile, PROFILE_PERIOD, profile_format_period(event));
}

static void put_sample(struct otlp *otlp, uint64_t stack, const struct otlp_owner *owner,
		       uint64_t count)
{
	protobuf_writer_clear(&otlp->inner);
	protobuf_writer_number(&otlp->inner, SAMPLE_STACK, stack);
	if (owner != NULL)
		protobuf_writer_numbers(&otlp->inner, SAMPLE_ATTRIBUTES, owner->attributes,
					owner->count);
	protobuf_writer_numbers(&otlp->inner, SAMPLE_VALUES, &count, 1);
	protobuf_writer_message(&otlp->profile, PROFILE_SAMPLES, &otlp->inner);
}

static void otlp_sample(void *data, const struct named_sample *sample)
{
	struct otlp *otlp = data;
	struct otlp_image *image = otlp_find_image(otlp, sample->image);
	const struct otlp_owner *owner = find_owner(otlp, sample->owner_key);
	char text[PROFILE_FORMAT_NAME_BYTES];
	uint64_t *location =
		image != NULL ? u64_map_insert(&image->locations, sample->offset) : NULL;

	if (location == NULL || owner == NULL) {
		otlp_fail(otlp);
		return;
	}
	if (*location == 0)
		*location =
			put_location(otlp, image, sample->offset,
				     profile_format_name(otlp->batch, otlp->samples, sample, text));
	put_sample(otlp, *location, owner, sample->count);
}

static void otlp_loss(void *data, const char *name, uint64_t count)
{
	struct otlp *otlp = data;
	uint64_t *location = u64_map_insert(&otlp->losses, put_function(otlp, name));

	if (location == NULL) {
		otlp_fail(otlp);
		return;
	}
	if (*location == 0)
		*location = put_location(otlp, NULL, 0, name);
	put_sample(otlp, *location, NULL, count);
}

/* The same samples have the same id in every request. */
static void otlp_close(void *data, const struct format_profile *profile, uint64_t count)
{
	struct otlp *otlp = data;
	struct {
		uint8_t epoch[16];
		int64_t start_ns, end_ns;
		uint64_t event, first, count;
	} key = {
		.start_ns = profile->slice.start_ns,
		.end_ns = profile->slice.end_ns,
		.event = profile->event.name != NULL ? profile->event.number : UINT64_MAX,
		.first = profile->first,
		.count = count,
	};
	uint8_t id[16];

	memcpy(key.epoch, otlp->batch->known->uuid, 16);
	ship_id_digest(id, &key, sizeof(key));
	protobuf_writer_bytes(&otlp->profile, PROFILE_ID, id, sizeof(id));
	protobuf_writer_message(&otlp->profiles, SCOPE_PROFILES_PROFILES, &otlp->profile);
	protobuf_writer_clear(&otlp->profile);
}

static void put_resource_attribute(struct otlp *otlp, const char *key, const char *text)
{
	protobuf_writer_clear(&otlp->value);
	protobuf_writer_text(&otlp->value, ANY_VALUE_STRING, text);
	protobuf_writer_clear(&otlp->part);
	protobuf_writer_text(&otlp->part, KEY_VALUE_KEY, key);
	protobuf_writer_message(&otlp->part, KEY_VALUE_VALUE, &otlp->value);
	protobuf_writer_message(&otlp->inner, RESOURCE_ATTRIBUTES, &otlp->part);
}

/* Make the host's description in @inner. */
static void make_resource(struct otlp *otlp)
{
	const struct batch_builder *batch = otlp->batch;
	char id[SHIP_ID_TEXT_BYTES], host[HOST_BYTES_MAX];

	protobuf_writer_clear(&otlp->inner);
	put_resource_attribute(otlp, "service.name", batch->config->service);
	put_resource_attribute(otlp, "host.id", ship_id_text(id, batch->known->host));
	put_resource_attribute(otlp, "dcpi.epoch", ship_id_text(id, batch->known->uuid));
	if (batch->epoch == NULL)
		return;
	snprintf(host, sizeof(host), "%s", batch->epoch->host);
	printable_make(host);
	put_resource_attribute(otlp, "host.name", host);
}

static int otlp_end(void *data, struct ship_request *request)
{
	struct otlp *otlp = data;
	struct protobuf_writer *resource = &otlp->profile;

	make_resource(otlp);
	protobuf_writer_clear(resource);
	protobuf_writer_message(resource, RESOURCE_PROFILES_RESOURCE, &otlp->inner);
	protobuf_writer_clear(&otlp->part);
	protobuf_writer_text(&otlp->part, SCOPE_NAME, "dcpi");
	protobuf_writer_text(&otlp->part, SCOPE_VERSION, DCPI_VERSION);
	protobuf_writer_message(&otlp->profiles, SCOPE_PROFILES_SCOPE, &otlp->part);
	protobuf_writer_message(resource, RESOURCE_PROFILES_SCOPE_PROFILES, &otlp->profiles);
	protobuf_writer_clear(&otlp->out);
	protobuf_writer_message(&otlp->out, REQUEST_RESOURCE_PROFILES, resource);
	protobuf_writer_message(&otlp->out, REQUEST_DICTIONARY, &otlp->dictionary);
	protobuf_writer_clear(resource);
	request->target = "profiles";
	request->body = otlp->out.data;
	request->bytes = otlp->out.bytes;
	return protobuf_writer_error(&otlp->out);
}

const struct profile_format format_otlp = {
	.create = otlp_create,
	.destroy = otlp_destroy,
	.begin = otlp_begin,
	.bytes = otlp_bytes,
	.open = otlp_open,
	.sample = otlp_sample,
	.loss = otlp_loss,
	.close = otlp_close,
	.end = otlp_end,
};
