/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers, texts and addresses of what is kept in a rewritten file to make sense of what
 * the program will have recorded (counts_map.h and others). What is read may come from
 * anywhere.
 */
#ifndef DCPI_INSTRUMENT_MAP_CODING_H
#define DCPI_INSTRUMENT_MAP_CODING_H

#include "lib/bounded_reader.h"

#define MAP_TEXT_BYTES_MAX 65536

/** struct map_writer - zero-initialised is empty; @data is malloc'd, the caller frees it. */
struct map_writer {
	uint8_t *data;
	size_t bytes;
	size_t capacity;
	bool failed; /* no memory */
};

/** map_put() - a number. */
void map_put(struct map_writer *writer, uint64_t value);

/** map_put_text() - up to MAP_TEXT_BYTES_MAX; NULL is "". */
void map_put_text(struct map_writer *writer, const char *text);

/** map_put_address() - one near @base; 0: none. */
void map_put_address(struct map_writer *writer, uint64_t address, uint64_t base);

/** map_put_head() - what all maps begin with: of which rewriting, and of which file. */
void map_put_head(struct map_writer *writer, uint32_t version, uint64_t image, const char *path,
		  const char *build_id);

/** map_take() - a number. Above @most the reader fails. */
uint32_t map_take(struct bounded_reader *reader, uint32_t most);

/** map_take_text() - malloc'd; "" if the reader fails. Return: NULL: no memory. */
char *map_take_text(struct bounded_reader *reader);

/** map_take_address() - as it was put. */
uint64_t map_take_address(struct bounded_reader *reader, uint64_t base);

/**
 * map_take_head() - as it was put
 * @image, @path, @build_id: out; the texts are malloc'd and, but for a wrong version, the
 *           caller's to free even if this fails
 *
 * Return: 0; -EPROTO of another version; -EBADMSG the reader failed before; -ENOMEM.
 */
int map_take_head(struct bounded_reader *reader, uint32_t version, uint64_t *image, char **path,
		  char **build_id);

struct error;

/**
 * map_read_section() - decode a section of a file
 * @decode: returns 0 or a negative errno value
 * @ret:    for @decode
 *
 * Return: 0; -ENODATA the file has none; @decode's; errors as of elf_file_open().
 */
int map_read_section(const char *path, const char *section,
		     int (*decode)(void *ret, const uint8_t *data, size_t bytes), void *ret,
		     struct error *err);

#endif
