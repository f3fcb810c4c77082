/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading a perf map: what a JIT compiler tells of its code in /tmp/perf-PID.map,
 * a line for each piece, "START SIZE name", both numbers hexadecimal.
 *
 * The file grows while it is read, and has no times: where lines overlap, the
 * later one counts. Nothing in it is trusted.
 */
#ifndef DCPI_JIT_MAP_H
#define DCPI_JIT_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names are cut there. */
#define JIT_NAME_BYTES_MAX 512
/* Longer lines are passed over. */
#define JIT_MAP_LINE_BYTES_MAX 8192

/**
 * struct jit_map_line - a piece of code
 * @start:      its address, below 2^63
 * @bytes:      its length, > 0; does not reach 2^63
 * @name:       not terminated; valid during the call
 * @name_bytes: 1 .. JIT_NAME_BYTES_MAX
 * @name_at:    where the name is in the file
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
 * jit_map_parse() - the whole lines of a part of a map
 * @at: where in the file @data begins
 *
 * Lines that make no sense are passed over.
 *
 * Return: bytes up to the end of the last whole line; what follows is to be
 * given again, with what comes after it.
 */
size_t jit_map_parse(const char *data, size_t bytes, uint64_t at, jit_map_fn visit, void *context);

/**
 * struct jit_map - how far a map was read; zero-initialised: nothing of it
 * @skipping:   in a line that is too long
 * @tail:       the last @tail_bytes before @position
 */
struct jit_map {
	uint64_t position;
	bool skipping;
	unsigned char tail_bytes;
	char tail[32];
};

/**
 * jit_map_read() - read what was added since the last call
 * @fd:     a regular file
 * @budget: in and out: bytes that may still be read; what is left over comes
 *          with the next call
 *
 * Return: 0; 1 the file was begun anew, and has become shorter, or other lines: @map is
 * set back to its beginning; or the error of pread(2).
 */
int jit_map_read(struct jit_map *map, int fd, size_t *budget, jit_map_fn visit, void *context);

#endif
