/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Configuration files of programs: lines "key = value", empty lines, and comments that begin with
 * "#". A table of keys describes the fields of the program's own structure.
 */
#ifndef DCPI_CONFIG_FILE_H
#define DCPI_CONFIG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

/**
 * struct config_key - a key, and the field that has its value
 * @offset:    of the field: an array of characters, or a uint64_t
 * @bytes:     texts: size of the field; numbers: 0
 * @min, @max: numbers: the range
 * @initial:   the default
 * @check:     NULL, or the check of a value
 */
struct config_key {
	const char *name;
	size_t offset;
	size_t bytes;
	uint64_t min, max;
	bool power_of_two;
	const char *initial;
	int (*check)(const char *value, struct error *err);
};

/* The key of a text or number, with the name of its field. */
#define CONFIG_FILE_TEXT(type, field)                                                              \
	.name = #field, .offset = offsetof(type, field), .bytes = sizeof(((type *)0)->field)
#define CONFIG_FILE_NUMBER(type, field) .name = #field, .offset = offsetof(type, field)

struct config_keys {
	const struct config_key *list;
	size_t count;
};

/** config_file_init() - set all fields to their defaults, and all other of the @bytes to 0 */
void config_file_init(void *config, size_t bytes, const struct config_keys *keys);

/**
 * config_file_set() - set one key
 *
 * Return: 0; -EINVAL: the key is unknown, or the value is too long, out of range, or refused by the
 * key's check.
 */
int config_file_set(void *config, const struct config_keys *keys, const char *key,
		    const char *value, struct error *err);

/**
 * config_file_read() - read a file, and the files PATH.d/(any).conf in order of their names
 *
 * Return: 0; -ENOENT: there is no such file (drop-ins are read nevertheless); -EINVAL, with a
 * message that contains file and line; errors of open(2).
 */
int config_file_read(void *config, const struct config_keys *keys, const char *path,
		     struct error *err);

#endif
