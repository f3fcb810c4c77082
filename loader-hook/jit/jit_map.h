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

/** jit_map_line_is_valid() - return true if a line has the properties of struct jit_map_line */
bool jit_map_line_is_valid(const struct jit_map_line *line);

/* Longer maps are read up to this position, which limits the memory of their checksums. */
#define JIT_MAP_BYTES_MAX ((uint64_t)1 << 30)
/* The part of a map that was read is remembered as checksums of chunks of this size. */
#define JIT_MAP_CHUNK_BYTES 65536
/* Bytes read at a time. Larger than a line, so that each read completes at least one line. */
#define JIT_MAP_BUFFER_BYTES (8 * JIT_MAP_LINE_BYTES_MAX)
/* Maximum bytes of a request, number of chunks that it compares, and checksums of the reply. */
#define JIT_MAP_REQUEST_BYTES_MAX ((uint64_t)1 << 20)
#define JIT_MAP_CHECKS_MAX 4
#define JIT_MAP_SUMS_MAX (JIT_MAP_REQUEST_BYTES_MAX / JIT_MAP_CHUNK_BYTES + 2)

/** struct jit_map_check - a chunk before the position, and its checksum when it was read */
struct jit_map_check {
	uint64_t chunk;
	uint64_t sum;
};

/**
 * struct jit_map_request - a part of a map to be read
 * @position:  all bytes before it were read
 * @bytes_max: bytes to read, at most JIT_MAP_REQUEST_BYTES_MAX; below JIT_MAP_BUFFER_BYTES: none
 * @skipping:  the bytes from @position on continue a line that is too long
 * @checks:    to be compared first; @check_count of them
 */
struct jit_map_request {
	uint64_t position;
	uint64_t bytes_max;
	uint32_t skipping;
	uint32_t check_count;
	struct jit_map_check checks[JIT_MAP_CHECKS_MAX];
};

/**
 * struct jit_map_reply - result of a request
 * @position: all bytes before it were read
 * @bytes:    number of bytes read, including those of an incomplete line
 * @skipping: as in the request
 * @at_end:   the end of the file was reached
 * @sums:     checksums of all chunks from that of the request's position to the last one before
 *            @position; @sum_count of them
 */
struct jit_map_reply {
	uint64_t position;
	uint64_t bytes;
	uint32_t skipping;
	uint32_t at_end;
	uint32_t sum_count;
	uint64_t sums[JIT_MAP_SUMS_MAX];
};

/**
 * jit_map_scan() - read a part of a map
 * @fd:    a regular file
 * @reply: out, if the result is 0
 *
 * Return: 0; 1: a chunk was rewritten, and nothing was read; or the error of pread(2).
 */
int jit_map_scan(const struct jit_map_request *request, int fd, jit_map_fn visit, void *context,
		 struct jit_map_reply *reply);

/** jit_map_reply_is_valid() - return true if a reply is possible for a request */
bool jit_map_reply_is_valid(const struct jit_map_reply *reply,
			    const struct jit_map_request *request);

/**
 * struct jit_map_reader - reads parts of maps, possibly in another process
 * @scan:    as jit_map_scan(); its replies are valid
 * @context: its first argument
 */
struct jit_map_reader {
	int (*scan)(void *context, const struct jit_map_request *request, int fd, jit_map_fn visit,
		    void *visit_context, struct jit_map_reply *reply);
	void *context;
};

/**
 * struct jit_map - how far a map was read; zero-initialised: nothing was read
 * @position: all bytes before it were read
 * @at_end:   out: the last call reached the end of the file
 *
 * The other fields are private.
 * @skipping: in a line that is too long
 * @sums:     checksums of the chunks before @position; @sum_count of them
 * @checked:  the last chunk that was checked in rotation
 * @unchecked: chunks to be checked in rotation since the file was last modified
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
	size_t unchecked;
	uint64_t file_bytes;
	int64_t modified_ns;
};

void jit_map_deinit(struct jit_map *map);

/** jit_map_bytes() - return the memory in use */
size_t jit_map_bytes(const struct jit_map *map);

/**
 * jit_map_read() - read the part of the file that was added since the last call
 * @fd:     a regular file
 * @reader: reads the contents; NULL: jit_map_scan()
 * @budget: in and out: bytes that may still be read; the remaining bytes are read by
 *          the next call
 *
 * When the file has changed, the part read before is compared with its checksums: all of it up to
 * 256 KB. If the file is larger, each call compares 256 KB until all has been compared. This
 * reduces the budget, too: an eighth of these bytes.
 *
 * Return: 0; 1 if the file was rewritten: @map is set back to its beginning; -ENOMEM; the error of
 * fstat(2); or of the reader, after which the lines that were visited are visited again.
 */
int jit_map_read(struct jit_map *map, int fd, const struct jit_map_reader *reader, size_t *budget,
		 jit_map_fn visit, void *context);

#endif
