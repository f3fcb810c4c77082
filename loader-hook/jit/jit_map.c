// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/jit/jit_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/clock.h"

/* Larger than a line, so that each read completes at least one line. */
#define BUFFER_BYTES (8 * JIT_MAP_LINE_BYTES_MAX)
/* Chunks checked in rotation, in addition to the first and the last. */
#define CHUNKS_CHECKED 2
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
	return line->bytes > 0 && line->name_bytes > 0 &&
	       memchr(line->name, '\0', line->name_bytes) == NULL && line->start >> 63 == 0 &&
	       line->bytes <= (1ULL << 63) - line->start;
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
static size_t skip(struct jit_map *map, const char *data, size_t bytes)
{
	const char *end = map->skipping ? memchr(data, '\n', bytes) : NULL;

	if (!map->skipping)
		return 0;
	map->skipping = end == NULL;
	return end != NULL ? (size_t)(end - data) + 1 : bytes;
}

void jit_map_deinit(struct jit_map *map)
{
	free(map->sums);
	*map = (struct jit_map){0};
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

/* Return: 1; 0: the file was truncated; or the error of pread(2). */
static int chunk_sum(const struct jit_map *map, int fd, size_t chunk, uint64_t *ret)
{
	char data[JIT_MAP_CHUNK_BYTES];
	uint64_t at = (uint64_t)chunk * JIT_MAP_CHUNK_BYTES;
	size_t bytes = map->position - at < sizeof(data) ? map->position - at : sizeof(data);
	ssize_t n = pread(fd, data, bytes, (off_t)at);

	if (n < 0)
		return -errno;
	if ((size_t)n < bytes)
		return 0;
	*ret = checksum(data, bytes);
	return 1;
}

/* Return: 1: the chunk is unchanged; 0: it was rewritten; or the error of pread(2). */
static int chunk_check(const struct jit_map *map, int fd, size_t chunk)
{
	uint64_t sum = 0;
	int r = chunk_sum(map, fd, chunk, &sum);

	return r < 1 ? r : sum == map->sums[chunk];
}

/* Check the first and the last chunk, and some of the others. @bytes: out: number checked */
static int chunks_check(struct jit_map *map, int fd, size_t *bytes)
{
	size_t count = 0;
	int r = 1;

	if (map->sum_count == 0)
		return 1;
	r = chunk_check(map, fd, map->sum_count - 1);
	if (r == 1)
		r = chunk_check(map, fd, 0);
	for (; count < CHUNKS_CHECKED && count + 2 < map->sum_count && r == 1; count++) {
		map->checked = map->checked + 2 < map->sum_count ? map->checked + 1 : 1;
		r = chunk_check(map, fd, map->checked);
	}
	*bytes = (count + 2) * JIT_MAP_CHUNK_BYTES;
	return r;
}

/*
 * Compilers may rewrite their whole map; Java does so each time a map is requested.
 *
 * @checked: out: bytes of the file that were compared
 *
 * Return: 1: rewritten; 0: not rewritten; or an error. @map->at_end stays set if nothing was added.
 */
static int is_rewritten(struct jit_map *map, int fd, size_t budget, size_t *checked)
{
	struct stat status;
	uint64_t bytes;
	int64_t modified;
	int r;

	if (fstat(fd, &status) < 0)
		return -errno;
	bytes = (uint64_t)status.st_size;
	modified = (int64_t)status.st_mtim.tv_sec * (int64_t)NS_PER_SECOND + status.st_mtim.tv_nsec;
	if (bytes != map->file_bytes)
		map->at_end = false;
	else if (map->settled && modified == map->modified_ns)
		return 0;
	if (budget < BUFFER_BYTES)
		return 0;
	map->settled = modified < clock_real_ns() - MODIFIED_SLACK_NS;
	map->modified_ns = modified;
	map->file_bytes = bytes;
	r = chunks_check(map, fd, checked);
	return r < 0 ? r : r == 0;
}

static int jit_map_advance(struct jit_map *map, int fd, size_t bytes)
{
	size_t chunk = map->position / JIT_MAP_CHUNK_BYTES, last;

	if (bytes == 0)
		return 0;
	map->position += bytes;
	last = (map->position - 1) / JIT_MAP_CHUNK_BYTES;
	if (array_reserve(&map->sums, &map->sum_capacity, last + 1, sizeof(map->sums[0])) < 0)
		return -ENOMEM;
	for (; chunk <= last; chunk++) {
		int r = chunk_sum(map, fd, chunk, &map->sums[chunk]);

		/* The file was truncated meanwhile; the next check detects that. */
		if (r == 0)
			map->sums[chunk] = 0;
		if (r < 0)
			return r;
	}
	map->sum_count = last + 1;
	return 0;
}

int jit_map_read(struct jit_map *map, int fd, size_t *budget, jit_map_fn visit, void *context)
{
	char data[BUFFER_BYTES];
	size_t checked = 0;
	int r = is_rewritten(map, fd, *budget, &checked);

	if (r == 1)
		jit_map_deinit(map);
	while (r == 0 && *budget >= sizeof(data) && !map->at_end) {
		ssize_t n = pread(fd, data, sizeof(data), (off_t)map->position);
		size_t bytes, used;

		if (n < 0)
			return -errno;
		bytes = (size_t)n;
		used = skip(map, data, bytes);
		used += jit_map_parse(data + used, bytes - used, map->position + used, visit,
				      context);
		if (bytes - used > JIT_MAP_LINE_BYTES_MAX) {
			map->skipping = true;
			used = bytes;
		}
		*budget -= bytes;
		r = jit_map_advance(map, fd, used);
		map->at_end = bytes < sizeof(data);
	}
	checked /= CHECK_SHARE;
	*budget -= checked < *budget ? checked : *budget;
	return r;
}
