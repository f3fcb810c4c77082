/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The meaning of the numbers of procedures in call profiles: stored in the rewritten file, in a
 * section that the program does not use. Decoded data is not trusted.
 */
#ifndef DCPI_INSTRUMENT_CALL_MAP_H
#define DCPI_INSTRUMENT_CALL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "instrument/calls/call_layout.h"

struct error;

#define CALL_MAP_SECTION ".dcpix.calls"

/**
 * struct call_map_procedure - a procedure
 * @address: address in the original file
 * @sites:   number of its call sites, if these are distinguished
 */
struct call_map_procedure {
	uint64_t address;
	char *name;
	uint32_t sites;
};

/**
 * struct call_map - zero-initialised is empty; freed by call_map_deinit()
 * @image:       number that is also in the rewritten file's profiles
 * @path, @build_id: of the original file; the build-id in hexadecimal
 * @policy, @metric: recorded by the rewritten program
 * @sites_distinguished: contexts have call sites
 * @sites:       addresses of calls, by number - 1: those of a procedure after those of the previous
 *               ones
 * @flow_at: offset in the area of the table of paths in contexts (flow/flow_layout.h); 0: none
 * @words:   number of words after the area, which are those of the paths
 * @flow:    encoded struct paths_map of @flow_bytes; its procedures have the same numbers
 * @switches_stacks: the program switches stacks, so that callers on other stacks are unknown
 */
struct call_map {
	uint64_t image;
	char *path;
	char *build_id;
	enum call_policy policy;
	enum call_metric metric;
	bool switches_stacks;
	bool sites_distinguished;
	struct call_map_procedure *procedures;
	size_t procedure_count;
	size_t procedure_capacity;
	uint64_t *sites;
	size_t site_count;
	size_t site_capacity;
	uint32_t flow_at;
	uint32_t words;
	uint8_t *flow;
	size_t flow_bytes;
};

void call_map_deinit(struct call_map *map);

/** call_map_add() - add a procedure. Return: 0 or -ENOMEM. */
int call_map_add(struct call_map *map, const char *name, uint64_t address);

/** call_map_add_site() - add a call site to the last procedure. Return: 0 or -ENOMEM. */
int call_map_add_site(struct call_map *map, uint64_t address);

/** call_map_encode() - encode a map. @ret: out, malloc'd. Return: 0 or -ENOMEM. */
int call_map_encode(const struct call_map *map, uint8_t **ret, size_t *bytes);

/** call_map_decode() - decode. Return: 0; -EBADMSG damaged; -EPROTO newer version; -ENOMEM. */
int call_map_decode(struct call_map *ret, const uint8_t *data, size_t bytes);

/**
 * call_map_read() - decode the map of a rewritten file. Return: as call_map_decode(); -ENODATA the
 * file has none.
 */
int call_map_read(struct call_map *ret, const char *path, struct error *err);

struct call_thread;

/**
 * call_map_visit() - read a file in which a rewritten program has recorded
 * @take:   called for each thread. Return: 0, or an error that ends the iteration
 * @shared: out: threads that had no separate block, and are not in the file
 *
 * Return: 0; the error of @take; -EBADMSG not such a file, or damaged; -ESTALE from another
 * program, or another rewriting of it; errors of open(2) and read(2); -ENOMEM.
 */
int call_map_visit(const struct call_map *map, const char *path,
		   int (*take)(void *context, const struct call_thread *thread), void *context,
		   uint64_t *shared, struct error *err);

#endif
