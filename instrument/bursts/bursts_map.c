// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/bursts/bursts_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/profile/map_coding.h"
#include "lib/array.h"
#include "lib/error.h"
#include "lib/partition_point.h"

#define MAP_VERSION 1

void bursts_map_deinit(struct bursts_map *map)
{
	for (size_t i = 0; i < map->procedure_count; i++)
		free(map->procedures[i].name);
	free(map->path);
	free(map->build_id);
	free(map->procedures);
	free(map->references);
	*map = (struct bursts_map){0};
}

/* Takes ownership of @name. */
static int bursts_map_add_procedure(struct bursts_map *map, char *name, uint64_t address,
				    size_t count)
{
	if (name == NULL ||
	    array_reserve(&map->procedures, &map->procedure_capacity, map->procedure_count + 1,
			  sizeof(*map->procedures)) < 0 ||
	    array_reserve(&map->references, &map->reference_capacity, map->reference_count + count,
			  sizeof(*map->references)) < 0) {
		free(name);
		return -ENOMEM;
	}
	map->procedures[map->procedure_count++] = (struct bursts_procedure){
		.name = name,
		.address = address,
		.first = (uint32_t)map->reference_count,
		.count = (uint32_t)count,
	};
	return 0;
}

int bursts_map_add(struct bursts_map *map, const char *name, uint64_t address,
		   const uint64_t *references, size_t count)
{
	int r = bursts_map_add_procedure(map, strdup(name), address, count);

	for (size_t i = 0; r == 0 && i < count; i++)
		map->references[map->reference_count++] = references[i];
	return r;
}

int bursts_map_encode(const struct bursts_map *map, uint8_t **ret, size_t *bytes)
{
	struct map_writer writer = {0};

	map_put_head(&writer, MAP_VERSION, map->image, map->path, map->build_id);
	map_put(&writer, map->checks);
	map_put(&writer, map->records);
	map_put(&writer, map->procedure_count);
	for (size_t p = 0; p < map->procedure_count; p++) {
		const struct bursts_procedure *procedure = &map->procedures[p];
		uint64_t base = procedure->address;

		map_put_text(&writer, procedure->name);
		map_put(&writer, procedure->address);
		map_put(&writer, procedure->count);
		for (uint32_t i = 0; i < procedure->count; i++) {
			map_put_address(&writer, map->references[procedure->first + i], base);
			base = map->references[procedure->first + i];
		}
	}
	*ret = writer.data;
	*bytes = writer.bytes;
	if (!writer.failed)
		return 0;
	free(writer.data);
	return -ENOMEM;
}

static int bursts_map_take_procedure(struct bursts_map *map, struct bounded_reader *reader)
{
	char *name = map_take_text(reader);
	uint64_t address = bounded_reader_varint(reader), base = address;
	/* Each takes at least one byte. */
	uint32_t count = map_take(reader, (uint32_t)bounded_reader_left(reader));
	int r = bursts_map_add_procedure(map, name, address, count);

	for (uint32_t i = 0; r == 0 && i < count; i++) {
		base = map_take_address(reader, base);
		map->references[map->reference_count++] = base;
	}
	return r == 0 && bounded_reader_failed(reader) ? -EBADMSG : r;
}

static int take_all(struct bursts_map *map, struct bounded_reader *reader)
{
	int r = map_take_head(reader, MAP_VERSION, &map->image, &map->path, &map->build_id);
	uint32_t count;

	map->checks = map_take(reader, INT32_MAX);
	map->records = map_take(reader, INT32_MAX);
	count = map_take(reader, UINT32_MAX);
	for (uint32_t i = 0; r == 0 && i < count && !bounded_reader_failed(reader); i++)
		r = bursts_map_take_procedure(map, reader);
	if (r == 0 && (bounded_reader_failed(reader) || bounded_reader_left(reader) > 0))
		return -EBADMSG;
	return r;
}

int bursts_map_decode(struct bursts_map *ret, const uint8_t *data, size_t bytes)
{
	struct bounded_reader reader;
	int r;

	*ret = (struct bursts_map){0};
	bounded_reader_init(&reader, data, bytes > INT32_MAX ? 0 : bytes);
	r = take_all(ret, &reader);
	if (r < 0)
		bursts_map_deinit(ret);
	return r;
}

static int bursts_map_do_decode(void *ret, const uint8_t *data, size_t bytes)
{
	return bursts_map_decode(ret, data, bytes);
}

int bursts_map_read(struct bursts_map *ret, const char *path, struct error *err)
{
	*ret = (struct bursts_map){0};
	return map_read_section(path, BURSTS_MAP_SECTION, bursts_map_do_decode, ret, err);
}

size_t bursts_map_find(const struct bursts_map *map, uint32_t reference)
{
	size_t next =
		partition_point(0, map->procedure_count, i, map->procedures[i].first <= reference);

	return next > 0 ? next - 1 : 0;
}
