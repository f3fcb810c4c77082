/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The instructions that the records of a burst refer to, by number. The map is stored in the
 * rewritten file. Decoded data is not trusted.
 */
#ifndef DCPI_INSTRUMENT_BURSTS_MAP_H
#define DCPI_INSTRUMENT_BURSTS_MAP_H

#include <stddef.h>
#include <stdint.h>

struct error;

#define BURSTS_MAP_SECTION ".dcpix.bursts"

/** struct bursts_procedure - its references are the map's @first .. @first + @count - 1. */
struct bursts_procedure {
	char *name;
	uint64_t address;
	uint32_t first;
	uint32_t count;
};

/**
 * struct bursts_map - zero-initialised is empty; freed by bursts_map_deinit()
 * @image: number that is also in the rewritten file's profiles
 * @path, @build_id: of the original file; the build-id in hexadecimal
 * @checks, @records: number of checks between bursts and in a burst
 * @references: addresses of instructions
 */
struct bursts_map {
	uint64_t image;
	char *path;
	char *build_id;
	uint32_t checks;
	uint32_t records;
	struct bursts_procedure *procedures;
	size_t procedure_count;
	size_t procedure_capacity;
	uint64_t *references;
	size_t reference_count;
	size_t reference_capacity;
};

void bursts_map_deinit(struct bursts_map *map);

/** bursts_map_add() - add a procedure; @references: @count, ascending. Return: 0 or -ENOMEM. */
int bursts_map_add(struct bursts_map *map, const char *name, uint64_t address,
		   const uint64_t *references, size_t count);

/** bursts_map_encode() - encode a map. @ret: out, malloc'd. Return: 0 or -ENOMEM. */
int bursts_map_encode(const struct bursts_map *map, uint8_t **ret, size_t *bytes);

/** bursts_map_decode() - decode. Return: 0; -EBADMSG damaged; -EPROTO newer version; -ENOMEM. */
int bursts_map_decode(struct bursts_map *ret, const uint8_t *data, size_t bytes);

/**
 * bursts_map_read() - decode the map of a rewritten file. Return: as bursts_map_decode(); -ENODATA
 * the file has none.
 */
int bursts_map_read(struct bursts_map *ret, const char *path, struct error *err);

/** bursts_map_find() - find the procedure of a reference. Return: its number. */
size_t bursts_map_find(const struct bursts_map *map, uint32_t reference);

#endif
