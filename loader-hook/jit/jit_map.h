/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reader of perf maps, /tmp/perf-PID.map, in which a JIT compiler lists its code: one line for each
 * range, "START SIZE name", both numbers hexadecimal.
 *
 * The file grows while it is read and contains no times: where lines overlap, the later one
 * applies. No content is trusted.
 */
#ifndef DCPI_JIT_MAP_H
#define DCPI_JIT_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longer names are truncated. */
#define JIT_NAME_BYTES_MAX 512
/* Longer lines are skipped. */
#define JIT_MAP_LINE_BYTES_MAX 8192

/**
 * struct jit_map_line - a range of code
 * @start:      its address, below 2^63
 * @bytes:      its length, > 0; does not reach 2^63
 * @name:       not terminated; valid during the call
 * @name_bytes: 1 .. JIT_NAME_BYTES_MAX
 * @name_at:    offset of the name in the file
 */
struct jit_map_line {
	uint64_t start;
	uint64_t bytes;
	const char *name;
	size_t name_bytes;
	uint64_t name_at;
};

typedef void (*jit_map_fn)(void *context, const struct jit_map_line *line);

/**
 * jit_map_parse() - visit the complete lines of a part of a map
 * @at: offset of @data in the file
 *
 * Malformed lines are skipped.
 *
 * Return: bytes up to the end of the last complete line; the caller passes the remaining bytes
 * again, together with those that follow.
 */
size_t jit_map_parse(const char *data, size_t bytes, uint64_t at, jit_map_fn visit, void *context);

/* The part of a map that was read is remembered as checksums of chunks of this size. */
#define JIT_MAP_CHUNK_BYTES 65536

/**
 * struct jit_map - how far a map was read; zero-initialised: nothing was read
 * @position: all bytes before it were read
 * @at_end:   out: the last call reached the end of the file
 *
 * The other fields are private.
 * @skipping: in a line that is too long
 * @sums:     checksums of the chunks before @position; @sum_count of them
 * @checked:  the last chunk that was checked in rotation
 * @file_bytes, @modified_ns: size and modification time of the file when it was last checked
 * @settled:  any later change of the file will change @file_bytes or @modified_ns
 */
struct jit_map {
	uint64_t position;
	bool at_end;
	bool skipping;
	bool settled;
	uint64_t *sums;
	size_t sum_count;
	size_t sum_capacity;
	size_t checked;
	uint64_t file_bytes;
	int64_t modified_ns;
};

void jit_map_deinit(struct jit_map *map);

/**
 * jit_map_read() - read the part of the file that was added since the last call
 * @fd:     a regular file
 * @budget: in and out: bytes that may still be read; the remaining bytes are read by
 *          the next call
 *
 * When the file has changed, the part read before is compared with its checksums: all of it up to
 * 256 KB, and in rotation for larger files. This reduces the budget, too: an eighth of these bytes.
 *
 * Return: 0; 1 if the file was rewritten: @map is set back to its beginning; -ENOMEM; or
 * the error of pread(2).
 */
int jit_map_read(struct jit_map *map, int fd, size_t *budget, jit_map_fn visit, void *context);

#endif
