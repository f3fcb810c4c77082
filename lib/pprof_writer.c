// SPDX-License-Identifier: GPL-2.0-only
#include "lib/pprof_writer.h"

#include <errno.h>

/* Field numbers of message Profile and of the messages inside it. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,

	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT = 2,

	SAMPLE_LOCATION_ID = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,

	LABEL_KEY = 1,
	LABEL_STR = 2,
	LABEL_NUM = 3,

	MAPPING_ID = 1,
	MAPPING_MEMORY_START = 2,
	MAPPING_MEMORY_LIMIT = 3,
	MAPPING_FILE_OFFSET = 4,
	MAPPING_FILENAME = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILENAMES = 8,
	MAPPING_HAS_LINE_NUMBERS = 9,

	LOCATION_ID = 1,
	LOCATION_MAPPING_ID = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,

	LINE_FUNCTION_ID = 1,
	LINE_LINE = 2,

	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILENAME = 4,
};

/* Return: the string's number; 0 ("") also if out of memory, in which case @out has the error. */
static uint64_t put_string(struct pprof_writer *writer, const char *text)
{
	const char *added = NULL;
	uint64_t number = 0;

	if (string_table_add(&writer->strings, text, &number, &added) < 0)
		writer->out.error = -ENOMEM;
	if (added != NULL)
		protobuf_writer_text(&writer->out, PROFILE_STRING_TABLE, added);
	return number;
}

void pprof_writer_init(struct pprof_writer *writer)
{
	*writer = (struct pprof_writer){.mappings = 0};
	put_string(writer, "");
}

void pprof_writer_deinit(struct pprof_writer *writer)
{
	protobuf_writer_deinit(&writer->out);
	protobuf_writer_deinit(&writer->inner);
	protobuf_writer_deinit(&writer->part);
	string_table_deinit(&writer->strings);
	u64_map_deinit(&writer->functions);
}

static void put_type(struct pprof_writer *writer, uint32_t field, const char *name,
		     const char *unit)
{
	uint64_t name_string = put_string(writer, name), unit_string = put_string(writer, unit);

	protobuf_writer_clear(&writer->inner);
	protobuf_writer_number(&writer->inner, VALUE_TYPE_TYPE, name_string);
	protobuf_writer_number(&writer->inner, VALUE_TYPE_UNIT, unit_string);
	protobuf_writer_message(&writer->out, field, &writer->inner);
}

void pprof_writer_type(struct pprof_writer *writer, const char *name, const char *unit)
{
	put_type(writer, PROFILE_SAMPLE_TYPE, name, unit);
}

void pprof_writer_period(struct pprof_writer *writer, const char *name, const char *unit,
			 uint64_t period)
{
	put_type(writer, PROFILE_PERIOD_TYPE, name, unit);
	protobuf_writer_number(&writer->out, PROFILE_PERIOD, period);
}

uint64_t pprof_writer_mapping(struct pprof_writer *writer, const struct pprof_mapping *mapping)
{
	uint64_t file = put_string(writer, mapping->file);
	uint64_t build_id = put_string(writer, mapping->build_id);

	protobuf_writer_clear(&writer->inner);
	protobuf_writer_number(&writer->inner, MAPPING_ID, ++writer->mappings);
	protobuf_writer_number(&writer->inner, MAPPING_MEMORY_START, mapping->start);
	protobuf_writer_number(&writer->inner, MAPPING_MEMORY_LIMIT, mapping->limit);
	protobuf_writer_number(&writer->inner, MAPPING_FILE_OFFSET, mapping->file_offset);
	protobuf_writer_number(&writer->inner, MAPPING_FILENAME, file);
	protobuf_writer_number(&writer->inner, MAPPING_BUILD_ID, build_id);
	protobuf_writer_number(&writer->inner, MAPPING_HAS_FUNCTIONS, mapping->functions);
	protobuf_writer_number(&writer->inner, MAPPING_HAS_FILENAMES, mapping->lines);
	protobuf_writer_number(&writer->inner, MAPPING_HAS_LINE_NUMBERS, mapping->lines);
	protobuf_writer_message(&writer->out, PROFILE_MAPPING, &writer->inner);
	return writer->mappings;
}

uint64_t pprof_writer_function(struct pprof_writer *writer, const char *name, bool system,
			       const char *file)
{
	uint64_t name_string = put_string(writer, name);
	uint64_t file_string = file != NULL ? put_string(writer, file) : 0;
	uint64_t *known = u64_map_insert(&writer->functions, name_string << 32 | file_string);

	if (known == NULL) {
		writer->out.error = -ENOMEM;
		return 0;
	}
	if (*known != 0)
		return *known;
	*known = u64_map_count(&writer->functions);
	protobuf_writer_clear(&writer->inner);
	protobuf_writer_number(&writer->inner, FUNCTION_ID, *known);
	protobuf_writer_number(&writer->inner, FUNCTION_NAME, name_string);
	protobuf_writer_number(&writer->inner, FUNCTION_SYSTEM_NAME, system ? name_string : 0);
	protobuf_writer_number(&writer->inner, FUNCTION_FILENAME, file_string);
	protobuf_writer_message(&writer->out, PROFILE_FUNCTION, &writer->inner);
	return *known;
}

uint64_t pprof_writer_location(struct pprof_writer *writer, uint64_t mapping, uint64_t address,
			       uint64_t function, uint64_t line)
{
	protobuf_writer_clear(&writer->inner);
	protobuf_writer_number(&writer->inner, LOCATION_ID, ++writer->locations);
	protobuf_writer_number(&writer->inner, LOCATION_MAPPING_ID, mapping);
	protobuf_writer_number(&writer->inner, LOCATION_ADDRESS, address);
	if (function != 0) {
		protobuf_writer_clear(&writer->part);
		protobuf_writer_number(&writer->part, LINE_FUNCTION_ID, function);
		protobuf_writer_number(&writer->part, LINE_LINE, line);
		protobuf_writer_message(&writer->inner, LOCATION_LINE, &writer->part);
	}
	protobuf_writer_message(&writer->out, PROFILE_LOCATION, &writer->inner);
	return writer->locations;
}

void pprof_writer_sample(struct pprof_writer *writer, const struct pprof_sample *sample)
{
	protobuf_writer_clear(&writer->inner);
	protobuf_writer_numbers(&writer->inner, SAMPLE_LOCATION_ID, sample->stack, sample->depth);
	protobuf_writer_numbers(&writer->inner, SAMPLE_VALUE, sample->values, sample->value_count);
	for (size_t i = 0; i < sample->label_count; i++) {
		const struct pprof_label *label = &sample->labels[i];

		protobuf_writer_clear(&writer->part);
		protobuf_writer_number(&writer->part, LABEL_KEY, put_string(writer, label->key));
		if (label->text != NULL)
			protobuf_writer_number(&writer->part, LABEL_STR,
					       put_string(writer, label->text));
		else
			protobuf_writer_number(&writer->part, LABEL_NUM, label->number);
		protobuf_writer_message(&writer->inner, SAMPLE_LABEL, &writer->part);
	}
	protobuf_writer_message(&writer->out, PROFILE_SAMPLE, &writer->inner);
}

int pprof_writer_end(struct pprof_writer *writer, int64_t start_ns, int64_t end_ns,
		     const char *comment, const char *default_type)
{
	protobuf_writer_number(&writer->out, PROFILE_TIME_NANOS, (uint64_t)start_ns);
	protobuf_writer_number(&writer->out, PROFILE_DURATION_NANOS,
			       (uint64_t)end_ns - (uint64_t)start_ns);
	protobuf_writer_number(&writer->out, PROFILE_COMMENT, put_string(writer, comment));
	protobuf_writer_number(&writer->out, PROFILE_DEFAULT_SAMPLE_TYPE,
			       put_string(writer, default_type));
	return protobuf_writer_error(&writer->out);
}
