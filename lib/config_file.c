// SPDX-License-Identifier: GPL-2.0-only
#include "lib/config_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/near_names.h"

#define LINE_BYTES 8192

static int text_set(void *config, const struct config_key *key, const char *value,
		    struct error *err)
{
	char *field = (char *)config + key->offset;

	if (strlen(value) >= key->bytes)
		return error_set(err, EINVAL, "%s is longer than %zu bytes", key->name,
				 key->bytes - 1);
	memset(field, 0, key->bytes);
	memcpy(field, value, strlen(value) + 1);
	return 0;
}

static int number_set(void *config, const struct config_key *key, const char *value,
		      struct error *err)
{
	uint64_t number = 0;
	const char *digit;

	for (digit = value; isdigit((unsigned char)*digit) && number <= key->max; digit++)
		number = number * 10 + (uint64_t)(*digit - '0');
	if (digit == value || *digit != '\0' || number < key->min || number > key->max)
		return error_set(err, EINVAL, "%s must be a number in %llu..%llu, not '%s'",
				 key->name, (unsigned long long)key->min,
				 (unsigned long long)key->max, value);
	if (key->power_of_two && (number & (number - 1)) != 0)
		return error_set(err, EINVAL, "%s must be a power of two, not '%s'", key->name,
				 value);
	memcpy((char *)config + key->offset, &number, sizeof(number));
	return 0;
}

static int unknown_key(const struct config_keys *keys, const char *key, struct error *err)
{
	_cleanup_(near_names_deinit) struct near_names near = {.wanted = key};
	char text[256];

	for (size_t i = 0; i < keys->count; i++)
		near_names_add(&near, keys->list[i].name);
	near_names_text(&near, text, sizeof(text));
	return error_set(err, EINVAL, "unknown key '%s'%s", key, text);
}

int config_file_set(void *config, const struct config_keys *keys, const char *key,
		    const char *value, struct error *err)
{
	size_t i;
	int r;

	for (i = 0; i < keys->count; i++) {
		if (strcmp(keys->list[i].name, key) != 0)
			continue;
		r = keys->list[i].check != NULL ? keys->list[i].check(value, err) : 0;
		if (r < 0)
			return r;
		return keys->list[i].bytes > 0 ? text_set(config, &keys->list[i], value, err)
					       : number_set(config, &keys->list[i], value, err);
	}
	return unknown_key(keys, key, err);
}

void config_file_init(void *config, size_t bytes, const struct config_keys *keys)
{
	memset(config, 0, bytes);
	for (size_t i = 0; i < keys->count; i++)
		config_file_set(config, keys, keys->list[i].name, keys->list[i].initial, NULL);
}

static char *trim(char *text)
{
	char *end;

	while (isspace((unsigned char)*text))
		text++;
	end = text + strlen(text);
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return text;
}

static int line_read(void *config, const struct config_keys *keys, char *line, struct error *err)
{
	char *key = trim(line), *equals;

	if (key[0] == '\0' || key[0] == '#')
		return 0;
	equals = strchr(key, '=');
	if (equals == NULL)
		return error_set(err, EINVAL, "not of the form 'key = value'");
	*equals = '\0';
	return config_file_set(config, keys, trim(key), trim(equals + 1), err);
}

static int file_read(void *config, const struct config_keys *keys, const char *path,
		     struct error *err)
{
	_cleanup_file_ FILE *file = fopen(path, "re");
	_cleanup_free_ char *line = NULL;
	unsigned int number = 0;
	size_t bytes = 0;
	ssize_t length;
	struct error failure;

	if (file == NULL)
		return error_set_errno(err, ERROR_OPEN, path);
	while ((length = getline(&line, &bytes, file)) >= 0) {
		number++;
		if (length >= LINE_BYTES)
			return error_set(err, EINVAL, "%s:%u: line too long", path, number);
		if (strlen(line) != (size_t)length)
			return error_set(err, EINVAL, "%s:%u: a zero byte", path, number);
		if (line_read(config, keys, line, &failure) < 0)
			return error_set(err, EINVAL, "%s:%u: %s", path, number, failure.message);
	}
	if (!feof(file))
		return error_set_errno(err, ERROR_READ, path);
	return 0;
}

static int is_drop_in(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return entry->d_name[0] != '.' && length > 5 &&
	       strcmp(entry->d_name + length - 5, ".conf") == 0;
}

static int drop_in_read(void *config, const struct config_keys *keys, const char *directory,
			const char *name, struct error *err)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return file_read(config, keys, path, err);
}

static int drop_ins_read(void *config, const struct config_keys *keys, const char *directory,
			 struct error *err)
{
	struct dirent **entries;
	int count, i, r = 0;

	count = scandir(directory, &entries, is_drop_in, alphasort);
	if (count < 0)
		return errno == ENOENT || errno == ENOTDIR
			       ? 0
			       : error_set_errno(err, ERROR_READ, directory);
	for (i = 0; i < count; i++) {
		if (r == 0)
			r = drop_in_read(config, keys, directory, entries[i]->d_name, err);
		free(entries[i]);
	}
	free(entries);
	return r;
}

int config_file_read(void *config, const struct config_keys *keys, const char *path,
		     struct error *err)
{
	char directory[4096];
	int missing, r;

	r = file_read(config, keys, path, err);
	if (r < 0 && r != -ENOENT)
		return r;
	missing = r;
	snprintf(directory, sizeof(directory), "%s.d", path);
	r = drop_ins_read(config, keys, directory, err);
	return r < 0 ? r : missing;
}
