/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers, texts and addresses of the maps stored in a rewritten file, which describe the program's
 * recordings (counts_map.h and others). Data that is read is not trusted.
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

/** map_put() - append a number. */
void map_put(struct map_writer *writer, uint64_t value);

/** map_put_text() - append a text of up to MAP_TEXT_BYTES_MAX; NULL is "". */
void map_put_text(struct map_writer *writer, const char *text);

/** map_put_bytes() - append a number of bytes, and these bytes. @data may be NULL for 0 bytes. */
void map_put_bytes(struct map_writer *writer, const void *data, size_t bytes);

/** map_put_address() - append an address near @base; 0: none. */
void map_put_address(struct map_writer *writer, uint64_t address, uint64_t base);

/** map_put_head() - append the common head of all maps: the rewriting, and the original file */
void map_put_head(struct map_writer *writer, uint32_t version, uint64_t image, const char *path,
		  const char *build_id);

/** map_take() - read a number. Above @most the reader fails. */
uint32_t map_take(struct bounded_reader *reader, uint32_t most);

/** map_take_text() - read a text, malloc'd; "" if the reader fails. NULL: no memory. */
char *map_take_text(struct bounded_reader *reader);

/** map_take_address() - read an address. */
uint64_t map_take_address(struct bounded_reader *reader, uint64_t base);

/**
 * map_take_head() - read the common head
 * @image, @path, @build_id: out; the texts are malloc'd. The caller frees them also after an error,
 *                           except for a wrong version
 *
 * Return: 0; -EPROTO another version; -EBADMSG the reader has failed before; -ENOMEM.
 */
int map_take_head(struct bounded_reader *reader, uint32_t version, uint64_t *image, char **path,
		  char **build_id);

struct error;

/**
 * map_read_section() - decode a section of a file
 * @decode: returns 0 or a negative errno value
 * @ret:    passed to @decode
 *
 * Return: 0; -ENODATA the file has none; the error of @decode; errors of elf_file_open().
 */
int map_read_section(const char *path, const char *section,
		     int (*decode)(void *ret, const uint8_t *data, size_t bytes), void *ret,
		     struct error *err);

#endif
