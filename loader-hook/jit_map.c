// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/jit_map.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Lines are at most half of it, so that each read makes some progress. */
#define BUFFER_BYTES (2 * JIT_MAP_LINE_BYTES_MAX)

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* "0x1f " or "1f ". Return: characters used, with the blank; 0: no such number. */
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

/* At most so many bytes, and no half of a UTF-8 character. */
static size_t cut(const char *name, size_t bytes)
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
	line->name = text + at;
	line->name_at += at;
	line->name_bytes = cut(text + at, bytes - at);
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

/* What is left of a line that is too long. Return: bytes of it. */
static size_t skip(struct jit_map *map, const char *data, size_t bytes)
{
	const char *end = map->skipping ? memchr(data, '\n', bytes) : NULL;

	if (!map->skipping)
		return 0;
	map->skipping = end == NULL;
	return end != NULL ? (size_t)(end - data) + 1 : bytes;
}

/* Java writes all of its map each time that it is asked. */
static int is_begun_anew(const struct jit_map *map, int fd)
{
	char tail[sizeof(map->tail)];
	ssize_t n = pread(fd, tail, map->tail_bytes, (off_t)map->position - map->tail_bytes);

	if (n < 0)
		return -errno;
	return n < map->tail_bytes || memcmp(tail, map->tail, map->tail_bytes) != 0;
}

static void advance(struct jit_map *map, const char *data, size_t bytes)
{
	size_t n = bytes < sizeof(map->tail) ? bytes : sizeof(map->tail);

	if (bytes == 0)
		return;
	memcpy(map->tail, data + bytes - n, n);
	map->tail_bytes = (unsigned char)n;
	map->position += bytes;
}

int jit_map_read(struct jit_map *map, int fd, size_t *budget, jit_map_fn visit, void *context)
{
	char data[BUFFER_BYTES];
	int r = is_begun_anew(map, fd);

	if (r == 1)
		*map = (struct jit_map){0};
	if (r != 0)
		return r;
	while (*budget >= sizeof(data)) {
		ssize_t n = pread(fd, data, sizeof(data), (off_t)map->position);
		size_t bytes, used;

		if (n <= 0)
			return n < 0 ? -errno : 0;
		bytes = (size_t)n;
		used = skip(map, data, bytes);
		used += jit_map_parse(data + used, bytes - used, map->position + used, visit,
				      context);
		if (bytes - used > JIT_MAP_LINE_BYTES_MAX) {
			map->skipping = true;
			used = bytes;
		}
		*budget -= bytes;
		advance(map, data, used);
		if (bytes < sizeof(data))
			return 0;
	}
	return 0;
}
