// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/profile/map_coding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/elf_file.h"
#include "lib/array.h"
#include "lib/error.h"

void map_put(struct map_writer *writer, uint64_t value)
{
	if (writer->failed || array_reserve(&writer->data, &writer->capacity,
					    writer->bytes + VARINT_BYTES_MAX, 1) < 0) {
		writer->failed = true;
		return;
	}
	writer->bytes += varint_write(writer->data + writer->bytes, value);
}

void map_put_text(struct map_writer *writer, const char *text)
{
	size_t bytes = text != NULL ? strlen(text) : 0;

	map_put_bytes(writer, text, bytes > MAP_TEXT_BYTES_MAX ? MAP_TEXT_BYTES_MAX : bytes);
}

void map_put_bytes(struct map_writer *writer, const void *data, size_t bytes)
{
	map_put(writer, bytes);
	if (writer->failed ||
	    array_reserve(&writer->data, &writer->capacity, writer->bytes + bytes + 1, 1) < 0) {
		writer->failed = true;
		return;
	}
	if (bytes > 0)
		memcpy(writer->data + writer->bytes, data, bytes);
	writer->bytes += bytes;
}

/* Encodes the distance between nearby addresses, with the sign in the lowest bit. */
static uint64_t zigzag(uint64_t distance)
{
	return distance << 1 ^ -(distance >> 63);
}

static uint64_t unzigzag(uint64_t value)
{
	return value >> 1 ^ -(value & 1);
}

void map_put_address(struct map_writer *writer, uint64_t address, uint64_t base)
{
	map_put(writer, address == 0 ? 0 : zigzag(address - base) + 1);
}

void map_put_head(struct map_writer *writer, uint32_t version, uint64_t image, const char *path,
		  const char *build_id)
{
	map_put(writer, version);
	map_put(writer, image);
	map_put_text(writer, path);
	map_put_text(writer, build_id);
}

uint32_t map_take(struct bounded_reader *reader, uint32_t most)
{
	uint64_t value = bounded_reader_varint(reader);

	if (value > most)
		reader->failed = true;
	return value > most ? 0 : (uint32_t)value;
}

char *map_take_text(struct bounded_reader *reader)
{
	uint32_t bytes = map_take(reader, MAP_TEXT_BYTES_MAX);
	const char *text = bounded_reader_bytes(reader, bytes);

	if (text == NULL || memchr(text, '\0', bytes) != NULL) {
		reader->failed = true;
		return strdup("");
	}
	return strndup(text, bytes);
}

int map_take_head(struct bounded_reader *reader, uint32_t version, uint64_t *image, char **path,
		  char **build_id)
{
	if (bounded_reader_varint(reader) != version)
		return bounded_reader_failed(reader) ? -EBADMSG : -EPROTO;
	*image = bounded_reader_varint(reader);
	*path = map_take_text(reader);
	*build_id = map_take_text(reader);
	return *path != NULL && *build_id != NULL ? 0 : -ENOMEM;
}

uint64_t map_take_address(struct bounded_reader *reader, uint64_t base)
{
	uint64_t value = bounded_reader_varint(reader);

	return value == 0 ? 0 : base + unzigzag(value - 1);
}

int map_read_section(const char *path, const char *section,
		     int (*decode)(void *ret, const uint8_t *data, size_t bytes), void *ret,
		     struct error *err)
{
	struct elf_file file = {.fd = -1};
	uint64_t address;
	Elf_Data *data;
	int r = elf_file_open(&file, path, err);

	if (r < 0)
		return r;
	data = elf_file_contents(&file, section, &address);
	r = data != NULL ? decode(ret, data->d_buf, data->d_size) : -ENODATA;
	elf_file_close(&file);
	if (r == -ENODATA)
		return error_set(err, ENODATA, "'%s' was not rewritten by dcpix", path);
	if (r == -EPROTO)
		return error_set(err, EPROTO, "'%s' was rewritten by another version of dcpix",
				 path);
	return r < 0 ? error_set(err, -r, "'%s' is damaged: description of its recording", path)
		     : 0;
}
