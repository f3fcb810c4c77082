// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/jit/jit_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/clock.h"

/* Chunks checked in addition to the first and the last. */
#define CHUNKS_IN_ROTATION (JIT_MAP_CHECKS_MAX - 2)
/* Comparing bytes with their checksum takes this fraction of the time for parsing them. */
#define CHECK_SHARE 8
/* The kernel rounds modification times down to the last timer tick. */
#define MODIFIED_SLACK_NS 100000000

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Parse "0x1f " or "1f ". Return: characters used, including the blank; 0: not such a number. */
static size_t parse_hex(const char *text, size_t bytes, uint64_t *value)
{
	size_t i = bytes > 2 && text[0] == '0' && (text[1] | 0x20) == 'x' ? 2 : 0, first = i;

	*value = 0;
	for (; i < bytes && hex_digit(text[i]) >= 0; i++) {
		if (*value >> 60 != 0)
			return 0;
		*value = *value << 4 | (uint64_t)hex_digit(text[i]);
	}
	return i > first && i < bytes && text[i] == ' ' ? i + 1 : 0;
}

/* Limit a name to JIT_NAME_BYTES_MAX bytes without splitting a UTF-8 character. */
static size_t jit_map_cut(const char *name, size_t bytes)
{
	if (bytes <= JIT_NAME_BYTES_MAX)
		return bytes;
	bytes = JIT_NAME_BYTES_MAX;
	while (bytes > JIT_NAME_BYTES_MAX - 4 && ((unsigned char)name[bytes] & 0xc0) == 0x80)
		bytes--;
	return bytes;
}

bool jit_map_line_is_valid(const struct jit_map_line *line)
{
	return line->bytes > 0 && line->name_bytes > 0 && line->name_bytes <= JIT_NAME_BYTES_MAX &&
	       memchr(line->name, '\0', line->name_bytes) == NULL && line->start >> 63 == 0 &&
	       line->bytes <= (1ULL << 63) - line->start;
}

static bool parse_line(const char *text, size_t bytes, struct jit_map_line *line)
{
	size_t at = parse_hex(text, bytes, &line->start), used;

	if (at == 0)
		return false;
	used = parse_hex(text + at, bytes - at, &line->bytes);
	if (used == 0)
		return false;
	at += used;
	/* A line may end as on other systems. */
	if (bytes > at && text[bytes - 1] == '\r')
		bytes--;
	line->name = text + at;
	line->name_at += at;
	line->name_bytes = jit_map_cut(text + at, bytes - at);
	return jit_map_line_is_valid(line);
}

size_t jit_map_parse(const char *data, size_t bytes, uint64_t at, jit_map_fn visit, void *context)
{
	size_t done = 0;

	for (;;) {
		const char *text = data + done, *end = memchr(text, '\n', bytes - done);
		struct jit_map_line line = {.name_at = at + done};

		if (end == NULL)
			return done;
		if (parse_line(text, (size_t)(end - text), &line))
			visit(context, &line);
		done += (size_t)(end - text) + 1;
	}
}

/* Skip the rest of a line that is too long. Return: bytes skipped. */
static size_t skip(struct jit_map_reply *reply, const char *data, size_t bytes)
{
	const char *end = reply->skipping ? memchr(data, '\n', bytes) : NULL;

	if (!reply->skipping)
		return 0;
	reply->skipping = end == NULL;
	return end != NULL ? (size_t)(end - data) + 1 : bytes;
}

/*
 * Not collision-resistant: it detects accidental changes. A forged sum affects only the names of
 * the program that forged it.
 */
static uint64_t checksum(const char *data, size_t bytes)
{
	uint64_t sum = bytes, word;

	for (size_t at = 0; at < bytes; at += sizeof(word)) {
		size_t n = bytes - at < sizeof(word) ? bytes - at : sizeof(word);

		word = 0;
		memcpy(&word, data + at, n);
		sum = (sum ^ word) * 0x9e3779b97f4a7c15ULL;
		sum ^= sum >> 32;
	}
	return sum;
}

/*
 * @position: of the part that was read, at which the last chunk ends
 *
 * Return: 1; 0: the file was truncated; or the error of pread(2).
 */
static int chunk_sum(int fd, uint64_t position, uint64_t chunk, uint64_t *ret)
{
	char data[JIT_MAP_CHUNK_BYTES];
	uint64_t at = chunk * JIT_MAP_CHUNK_BYTES;
	size_t bytes = position - at < sizeof(data) ? position - at : sizeof(data);
	ssize_t n = pread(fd, data, bytes, (off_t)at);

	if (n < 0)
		return -errno;
	if ((size_t)n < bytes)
		return 0;
	*ret = checksum(data, bytes);
	return 1;
}

/* Return: 0: the chunks are unchanged; 1: one was rewritten; or the error of pread(2). */
static int chunks_compare(const struct jit_map_request *request, int fd)
{
	for (uint32_t i = 0; i < request->check_count && i < JIT_MAP_CHECKS_MAX; i++) {
		const struct jit_map_check *check = &request->checks[i];
		uint64_t sum = 0;
		int r = chunk_sum(fd, request->position, check->chunk, &sum);

		if (r < 0)
			return r;
		if (r == 0 || sum != check->sum)
			return 1;
	}
	return 0;
}

static uint32_t sums_needed(const struct jit_map_request *request, uint64_t position)
{
	if (position <= request->position)
		return 0;
	return (uint32_t)((position - 1) / JIT_MAP_CHUNK_BYTES -
			  request->position / JIT_MAP_CHUNK_BYTES + 1);
}

/* Return: 0 or the error of pread(2). */
static int sums_compute(const struct jit_map_request *request, int fd, struct jit_map_reply *reply)
{
	uint64_t first = request->position / JIT_MAP_CHUNK_BYTES;

	reply->sum_count = sums_needed(request, reply->position);
	for (uint32_t i = 0; i < reply->sum_count; i++) {
		int r = chunk_sum(fd, reply->position, first + i, &reply->sums[i]);

		/* The file was truncated meanwhile; the next check detects that. */
		if (r == 0)
			reply->sums[i] = 0;
		if (r < 0)
			return r;
	}
	return 0;
}

int jit_map_scan(const struct jit_map_request *request, int fd, jit_map_fn visit, void *context,
		 struct jit_map_reply *reply)
{
	char data[JIT_MAP_BUFFER_BYTES];
	uint64_t bytes_max = request->bytes_max < JIT_MAP_REQUEST_BYTES_MAX
				     ? request->bytes_max
				     : JIT_MAP_REQUEST_BYTES_MAX;
	int r = chunks_compare(request, fd);

	*reply = (struct jit_map_reply){.position = request->position,
					.skipping = request->skipping};
	while (r == 0 && !reply->at_end && bytes_max - reply->bytes >= sizeof(data)) {
		ssize_t n = pread(fd, data, sizeof(data), (off_t)reply->position);
		size_t bytes, used;

		if (n < 0)
			return -errno;
		bytes = (size_t)n;
		used = skip(reply, data, bytes);
		used += jit_map_parse(data + used, bytes - used, reply->position + used, visit,
				      context);
		if (bytes - used > JIT_MAP_LINE_BYTES_MAX) {
			reply->skipping = true;
			used = bytes;
		}
		reply->bytes += bytes;
		reply->position += used;
		reply->at_end = bytes < sizeof(data);
	}
	return r == 0 ? sums_compute(request, fd, reply) : r;
}

bool jit_map_reply_is_valid(const struct jit_map_reply *reply,
			    const struct jit_map_request *request)
{
	bool reads = request->bytes_max >= JIT_MAP_BUFFER_BYTES;

	return reply->bytes <= request->bytes_max && reply->position >= request->position &&
	       reply->position - request->position <= reply->bytes && reply->skipping <= 1 &&
	       reply->at_end <= 1 && reply->sum_count <= JIT_MAP_SUMS_MAX &&
	       reply->sum_count == sums_needed(request, reply->position) &&
	       (!reads || reply->at_end || reply->bytes >= JIT_MAP_BUFFER_BYTES);
}

void jit_map_deinit(struct jit_map *map)
{
	free(map->sums);
	*map = (struct jit_map){0};
}

size_t jit_map_bytes(const struct jit_map *map)
{
	return map->sum_capacity * sizeof(map->sums[0]);
}

static void check_add(struct jit_map_request *request, const struct jit_map *map, size_t chunk)
{
	request->checks[request->check_count++] =
		(struct jit_map_check){.chunk = chunk, .sum = map->sums[chunk]};
}

/* Check the last and the first chunk, and some of the others, beginning with the oldest check. */
static void checks_choose(struct jit_map_request *request, struct jit_map *map)
{
	size_t count = 0;

	if (map->sum_count == 0)
		return;
	check_add(request, map, map->sum_count - 1);
	if (map->sum_count > 1)
		check_add(request, map, 0);
	for (; count < CHUNKS_IN_ROTATION && count + 2 < map->sum_count; count++) {
		map->checked = map->checked + 2 < map->sum_count ? map->checked + 1 : 1;
		check_add(request, map, map->checked);
	}
	map->unchecked -= count < map->unchecked ? count : map->unchecked;
}

/*
 * Compilers may rewrite their whole map; Java does so each time a map is requested.
 *
 * @request: out: chunks to be compared; none, if the file is unchanged
 *
 * Return: 0 or the error of fstat(2). @map->at_end stays set if nothing was added.
 */
static int change_find(struct jit_map *map, int fd, size_t budget, struct jit_map_request *request)
{
	struct stat status;
	uint64_t bytes;
	int64_t modified;

	if (fstat(fd, &status) < 0)
		return -errno;
	bytes = (uint64_t)status.st_size;
	modified = (int64_t)status.st_mtim.tv_sec * (int64_t)NS_PER_SECOND + status.st_mtim.tv_nsec;
	if (bytes != map->file_bytes)
		map->at_end = false;
	else if (map->settled && map->unchecked == 0 && modified == map->modified_ns)
		return 0;
	if (budget < JIT_MAP_BUFFER_BYTES)
		return 0;
	if (!map->settled || modified != map->modified_ns || bytes != map->file_bytes)
		map->unchecked = map->sum_count > 2 ? map->sum_count - 2 : 0;
	map->settled = modified < clock_real_ns() - MODIFIED_SLACK_NS;
	map->modified_ns = modified;
	map->file_bytes = bytes;
	checks_choose(request, map);
	return 0;
}

/* Return: 0 or -ENOMEM. */
static int jit_map_advance(struct jit_map *map, const struct jit_map_reply *reply)
{
	size_t chunk = map->position / JIT_MAP_CHUNK_BYTES;

	if (array_reserve(&map->sums, &map->sum_capacity, chunk + reply->sum_count,
			  sizeof(map->sums[0])) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < reply->sum_count; i++)
		map->sums[chunk + i] = reply->sums[i];
	if (reply->sum_count > 0)
		map->sum_count = chunk + reply->sum_count;
	map->position = reply->position;
	map->skipping = reply->skipping != 0;
	return 0;
}

static int scan_here(void *context, const struct jit_map_request *request, int fd, jit_map_fn visit,
		     void *visit_context, struct jit_map_reply *reply)
{
	(void)context;
	return jit_map_scan(request, fd, visit, visit_context, reply);
}

/* Read a part, and reduce the budget by it. @request: its checks are made, and removed. */
static int part_read(struct jit_map *map, int fd, const struct jit_map_reader *reader,
		     struct jit_map_request *request, size_t *budget, jit_map_fn visit,
		     void *context)
{
	struct jit_map_reply reply;
	int r;

	request->position = map->position;
	request->skipping = map->skipping;
	request->bytes_max =
		*budget < JIT_MAP_REQUEST_BYTES_MAX ? *budget : JIT_MAP_REQUEST_BYTES_MAX;
	if (map->at_end)
		request->bytes_max = 0;
	r = reader->scan(reader->context, request, fd, visit, context, &reply);
	request->check_count = 0;
	if (r != 0)
		return r;
	*budget -= reply.bytes;
	map->at_end = map->at_end || reply.at_end != 0;
	return jit_map_advance(map, &reply);
}

int jit_map_read(struct jit_map *map, int fd, const struct jit_map_reader *reader, size_t *budget,
		 jit_map_fn visit, void *context)
{
	static const struct jit_map_reader here = {.scan = scan_here};
	struct jit_map_request request = {.check_count = 0};
	int r = change_find(map, fd, *budget, &request);
	size_t checked = (size_t)request.check_count * JIT_MAP_CHUNK_BYTES / CHECK_SHARE;

	while (r == 0 &&
	       (request.check_count > 0 || (!map->at_end && *budget >= JIT_MAP_BUFFER_BYTES)))
		r = part_read(map, fd, reader != NULL ? reader : &here, &request, budget, visit,
			      context);
	if (r == 1)
		jit_map_deinit(map);
	*budget -= checked < *budget ? checked : *budget;
	return r;
}
