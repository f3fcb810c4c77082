// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/calls/call_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/calls/call_thread.h"
#include "instrument/calls/call_paths.h"
#include "instrument/profile/map_coding.h"
#include "instrument/profile/profile_file.h"
#include "lib/array.h"
#include "lib/error.h"
#include "lib/error_text.h"

#define MAP_VERSION 4 /* to be changed also if the area (call_layout.h) changes */
#define PROCEDURES_MAX (CALL_LAYOUT_SIGNAL - 1)
#define SITES_MAX (CALL_LAYOUT_KERNEL - 1)

void call_map_deinit(struct call_map *map)
{
	for (size_t i = 0; i < map->procedure_count; i++)
		free(map->procedures[i].name);
	free(map->procedures);
	free(map->sites);
	free(map->flow);
	free(map->path);
	free(map->build_id);
	*map = (struct call_map){0};
}

/* Takes ownership of @name. */
static int add_named(struct call_map *map, char *name, uint64_t address)
{
	if (name == NULL || array_reserve(&map->procedures, &map->procedure_capacity,
					  map->procedure_count + 1, sizeof(*map->procedures)) < 0) {
		free(name);
		return -ENOMEM;
	}
	map->procedures[map->procedure_count++] =
		(struct call_map_procedure){.address = address, .name = name};
	return 0;
}

int call_map_add(struct call_map *map, const char *name, uint64_t address)
{
	return add_named(map, strdup(name), address);
}

int call_map_add_site(struct call_map *map, uint64_t address)
{
	if (array_reserve(&map->sites, &map->site_capacity, map->site_count + 1,
			  sizeof(*map->sites)) < 0)
		return -ENOMEM;
	map->sites[map->site_count++] = address;
	map->procedures[map->procedure_count - 1].sites++;
	return 0;
}

int call_map_encode(const struct call_map *map, uint8_t **ret, size_t *bytes)
{
	struct map_writer writer = {0};
	const uint64_t *site = map->sites;

	map_put_head(&writer, MAP_VERSION, map->image, map->path, map->build_id);
	map_put(&writer, map->policy);
	map_put(&writer, map->metric);
	map_put(&writer, map->switches_stacks);
	map_put(&writer, map->sites_distinguished);
	map_put(&writer, map->procedure_count);
	for (size_t i = 0; i < map->procedure_count; i++) {
		map_put_text(&writer, map->procedures[i].name);
		map_put(&writer, map->procedures[i].address);
		map_put(&writer, map->procedures[i].sites);
		for (uint32_t s = 0; s < map->procedures[i].sites; s++)
			map_put_address(&writer, *site++, map->procedures[i].address);
	}
	map_put(&writer, map->flow_at);
	map_put(&writer, map->words);
	map_put_bytes(&writer, map->flow, map->flow_bytes);
	if (writer.failed) {
		free(writer.data);
		return -ENOMEM;
	}
	*ret = writer.data;
	*bytes = writer.bytes;
	return 0;
}

/* Read the call sites of the last procedure. */
static int take_sites(struct call_map *map, struct bounded_reader *reader)
{
	uint32_t count = map_take(reader, (uint32_t)(SITES_MAX - map->site_count));
	uint64_t base = map->procedures[map->procedure_count - 1].address;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < count && !bounded_reader_failed(reader); i++) {
		uint64_t address = map_take_address(reader, base);

		r = address != 0 ? call_map_add_site(map, address) : -EBADMSG;
	}
	return r;
}

static int take_procedures(struct call_map *map, struct bounded_reader *reader)
{
	uint32_t count = map_take(reader, PROCEDURES_MAX);
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < count && !bounded_reader_failed(reader); i++) {
		char *name = map_take_text(reader);

		r = add_named(map, name, bounded_reader_varint(reader));
		if (r == 0)
			r = take_sites(map, reader);
	}
	return r;
}

static int take_flow(struct call_map *map, struct bounded_reader *reader)
{
	const void *flow;

	map->flow_at = map_take(reader, INT32_MAX);
	map->words = map_take(reader, INT32_MAX);
	map->flow_bytes = map_take(reader, UINT32_MAX);
	flow = bounded_reader_bytes(reader, map->flow_bytes);
	if (flow == NULL || bounded_reader_left(reader) > 0)
		return -EBADMSG;
	map->flow = malloc(map->flow_bytes + 1);
	if (map->flow == NULL)
		return -ENOMEM;
	memcpy(map->flow, flow, map->flow_bytes);
	return 0;
}

int call_map_decode(struct call_map *ret, const uint8_t *data, size_t bytes)
{
	struct call_map map = {0};
	struct bounded_reader reader;
	int r;

	bounded_reader_init(&reader, data, bytes);
	r = map_take_head(&reader, MAP_VERSION, &map.image, &map.path, &map.build_id);
	map.policy = (enum call_policy)map_take(&reader, CALL_POLICY_CONTEXT);
	map.metric = (enum call_metric)map_take(&reader, CALL_METRIC_INSTRUCTIONS);
	map.switches_stacks = map_take(&reader, 1) != 0;
	map.sites_distinguished = map_take(&reader, 1) != 0;
	if (r == 0)
		r = take_procedures(&map, &reader);
	if (r == 0)
		r = take_flow(&map, &reader);
	if (r < 0)
		call_map_deinit(&map);
	else
		*ret = map;
	return r;
}

static int decode_section(void *ret, const uint8_t *data, size_t bytes)
{
	return call_map_decode(ret, data, bytes);
}

int call_map_read(struct call_map *ret, const char *path, struct error *err)
{
	int r = map_read_section(path, CALL_MAP_SECTION, decode_section, ret, err);

	if (r == -ENODATA)
		return error_set(err, ENODATA,
				 "'%s' was not rewritten by dcpix --mode calls or context", path);
	return r;
}

int call_map_visit(const struct call_map *map, const char *path,
		   int (*take)(void *context, const struct call_thread *thread), void *context,
		   uint64_t *shared, struct error *err)
{
	struct profile_file file;
	int r = profile_file_open(&file, path, map->image, map->words, err);

	if (r < 0)
		return r;
	*shared = file.header.shared;
	if (file.header.mode != PROFILE_LAYOUT_CALLS ||
	    file.header.area_bytes < (map->flow_at != 0 ? map->flow_at + CALL_PATHS_BYTES
							: sizeof(struct call_area)) ||
	    file.header.block_bytes < file.header.area_bytes)
		r = -EBADMSG;
	for (uint64_t i = 0; r == 0 && i < file.blocks; i++) {
		uint64_t offset = PROFILE_LAYOUT_PAGE + i * file.header.block_bytes;
		struct call_thread thread;

		r = call_thread_read(&thread, file.fd, offset, (uint32_t)map->procedure_count,
				     map->flow_at);
		if (r == 0)
			r = take(context, &thread);
		call_thread_deinit(&thread);
	}
	profile_file_close(&file);
	if (r == -EBADMSG)
		return error_set(err, EBADMSG, ERROR_DAMAGED, path);
	return r < 0 ? error_set(err, -r, ERROR_READ, path) : 0;
}
