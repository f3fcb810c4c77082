// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/config.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/event/event.h"
#include "daemon/event/multiplex.h"
#include "daemon/source/source_select.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "loader-hook/audit/audit_message.h"
#include "loader-hook/image_feed.h"

#define LINE_BYTES 8192
#define EVERY_MAX 1000000
#define PROBE_PERMILLE_MAX 100
#define MB_MAX 1048576

static int events_check(const char *value, struct error *err)
{
	struct event_list list;

	/* The clock affects only default periods. */
	return value[0] == '\0' ? 0 : event_list_parse(&list, value, 0, err);
}

static int source_check(const char *value, struct error *err)
{
	if (strcmp(value, "auto") == 0 || source_select_find(value) != NULL)
		return 0;
	return error_set(err, EINVAL, "unknown source \"%s\": auto, kmod, bpf, perf or replay",
			 value);
}

static int image_events_check(const char *value, struct error *err)
{
	if (image_feed_name_valid(value))
		return 0;
	return error_set(err, EINVAL, "image_events must be auto, bpf, perf or audit, not \"%s\"",
			 value);
}

static int log_level_check(const char *value, struct error *err)
{
	enum log_level level;

	if (log_level_parse(value, &level))
		return 0;
	return error_set(err, EINVAL, "log_level must be error, warning or info, not \"%s\"",
			 value);
}

/* With 1, the second sample of each pair would be the first of another. */
static int double_check(const char *value, struct error *err)
{
	if (strcmp(value, "1") != 0)
		return 0;
	return error_set(err, EINVAL, "double_every must be 0, or a number in 2..%d, not \"1\"",
			 EVERY_MAX);
}

/*
 * @offset:    of the field
 * @bytes:     strings: size of the field; numbers: 0
 * @min, @max: numbers: the range
 */
static const struct config_key {
	const char *name;
	size_t offset;
	size_t bytes;
	uint64_t min, max;
	bool power_of_two;
	const char *initial;
	int (*check)(const char *value, struct error *err);
} config_keys[] = {
#define TEXT(field)                                                                                \
	.name = #field, .offset = offsetof(struct config, field),                                  \
	.bytes = sizeof(((struct config *)0)->field)
#define NUMBER(field) .name = #field, .offset = offsetof(struct config, field)
	{TEXT(db), .initial = CONFIG_DB},
	{TEXT(events), .initial = "", .check = events_check},
	{TEXT(source), .initial = "auto", .check = source_check},
	{TEXT(image_events), .initial = "auto", .check = image_events_check},
	{TEXT(audit_socket), .initial = AUDIT_SOCKET},
	{TEXT(socket), .initial = CONFIG_SOCKET},
	{TEXT(per_process), .initial = "unknown"},
	{TEXT(per_unit), .initial = "none"},
	{TEXT(label), .initial = ""},
	{TEXT(log_level), .initial = "info", .check = log_level_check},
	{NUMBER(drain_interval_ms), .min = 10, .max = 60000, .initial = "1000"},
	{NUMBER(merge_interval_s), .min = 1, .max = 3600, .initial = "30"},
	{NUMBER(mux_interval_ms), .min = 0, .max = MULTIPLEX_INTERVAL_MAX, .initial = "0"},
	{NUMBER(overhead_percent), .min = 1, .max = 100, .initial = "1"},
	{NUMBER(overhead_interval_s), .max = 86400, .initial = "600"},
	{NUMBER(memory_limit_mb), .min = 1, .max = 65536, .initial = "64"},
	{NUMBER(table_entries), .min = DCPI_ENTRIES_MIN, .max = DCPI_ENTRIES_MAX,
	 .power_of_two = true, .initial = "16384"},
	{NUMBER(buffer_entries), .min = DCPI_ENTRIES_MIN, .max = DCPI_ENTRIES_MAX,
	 .power_of_two = true, .initial = "8192"},
	{NUMBER(branch_every), .max = EVERY_MAX, .initial = "256"},
	{NUMBER(probe_permille), .max = PROBE_PERMILLE_MAX, .initial = "0"},
	{NUMBER(double_every), .max = EVERY_MAX, .initial = "0", .check = double_check},
	{NUMBER(double_period), .min = 1, .max = DCPI_PERIOD_MIN, .initial = "100"},
	{NUMBER(handler_times), .max = 1, .initial = "0"},
	{TEXT(image_store), .initial = "all"},
	{NUMBER(image_store_mb), .min = 1, .max = MB_MAX, .initial = "512"},
	{NUMBER(units), .max = 1, .initial = "1"},
	{NUMBER(epoch_hours), .max = 8760, .initial = "168"},
	{NUMBER(retention_days), .max = 36500, .initial = "90"},
	{NUMBER(database_mb), .max = MB_MAX, .initial = "1024"},
#undef TEXT
#undef NUMBER
};

#define CONFIG_KEYS (sizeof(config_keys) / sizeof(config_keys[0]))

static int text_set(struct config *config, const struct config_key *key, const char *value,
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

static int number_set(struct config *config, const struct config_key *key, const char *value,
		      struct error *err)
{
	uint64_t number = 0;
	const char *digit;

	for (digit = value; isdigit((unsigned char)*digit) && number <= key->max; digit++)
		number = number * 10 + (uint64_t)(*digit - '0');
	if (digit == value || *digit != '\0' || number < key->min || number > key->max)
		return error_set(err, EINVAL, "%s must be a number in %llu..%llu, not \"%s\"",
				 key->name, (unsigned long long)key->min,
				 (unsigned long long)key->max, value);
	if (key->power_of_two && (number & (number - 1)) != 0)
		return error_set(err, EINVAL, "%s must be a power of two, not %s", key->name,
				 value);
	memcpy((char *)config + key->offset, &number, sizeof(number));
	return 0;
}

int config_set(struct config *config, const char *key, const char *value, struct error *err)
{
	size_t i;
	int rc;

	for (i = 0; i < CONFIG_KEYS; i++) {
		if (strcmp(config_keys[i].name, key) != 0)
			continue;
		rc = config_keys[i].check != NULL ? config_keys[i].check(value, err) : 0;
		if (rc < 0)
			return rc;
		return config_keys[i].bytes > 0 ? text_set(config, &config_keys[i], value, err)
						: number_set(config, &config_keys[i], value, err);
	}
	return error_set(err, EINVAL, "unknown key \"%s\"", key);
}

void config_init(struct config *config)
{
	size_t i;

	memset(config, 0, sizeof(*config));
	for (i = 0; i < CONFIG_KEYS; i++)
		config_set(config, config_keys[i].name, config_keys[i].initial, NULL);
}

int config_check(const struct config *config, struct error *err)
{
	const struct source_ops *source = source_select_find(config->source);

	if (source == NULL)
		return 0;
	if (config->probe_permille > 0 && !source->probes)
		return error_set(err, EINVAL, "probe_permille needs the source bpf or perf, not %s",
				 source->name);
	if (config->double_every > 0 && !source->doubles)
		return error_set(err, EINVAL, "double_every needs the source kmod, not %s",
				 source->name);
	return 0;
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

static int line_read(struct config *config, char *line, struct error *err)
{
	char *key = trim(line), *equals;

	if (key[0] == '\0' || key[0] == '#')
		return 0;
	equals = strchr(key, '=');
	if (equals == NULL)
		return error_set(err, EINVAL, "not \"key = value\"");
	*equals = '\0';
	return config_set(config, trim(key), trim(equals + 1), err);
}

static int file_read(struct config *config, const char *path, struct error *err)
{
	_cleanup_file_ FILE *file = fopen(path, "re");
	_cleanup_free_ char *line = NULL;
	unsigned int number = 0;
	size_t bytes = 0;
	ssize_t length;
	struct error failure;

	if (file == NULL)
		return error_set_errno(err, "cannot open %s", path);
	while ((length = getline(&line, &bytes, file)) >= 0) {
		number++;
		if (length >= LINE_BYTES)
			return error_set(err, EINVAL, "%s:%u: line too long", path, number);
		if (strlen(line) != (size_t)length)
			return error_set(err, EINVAL, "%s:%u: a zero byte", path, number);
		if (line_read(config, line, &failure) < 0)
			return error_set(err, EINVAL, "%s:%u: %s", path, number, failure.message);
	}
	if (!feof(file))
		return error_set_errno(err, "cannot read %s", path);
	return 0;
}

static int is_drop_in(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return entry->d_name[0] != '.' && length > 5 &&
	       strcmp(entry->d_name + length - 5, ".conf") == 0;
}

static int drop_in_read(struct config *config, const char *directory, const char *name,
			struct error *err)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		return error_set(err, ENOMEM, "out of memory");
	return file_read(config, path, err);
}

static int drop_ins_read(struct config *config, const char *directory, struct error *err)
{
	struct dirent **entries;
	int count, i, rc = 0;

	count = scandir(directory, &entries, is_drop_in, alphasort);
	if (count < 0)
		return errno == ENOENT || errno == ENOTDIR
			       ? 0
			       : error_set_errno(err, "cannot read %s", directory);
	for (i = 0; i < count; i++) {
		if (rc == 0)
			rc = drop_in_read(config, directory, entries[i]->d_name, err);
		free(entries[i]);
	}
	free(entries);
	return rc;
}

int config_read(struct config *config, const char *path, struct error *err)
{
	char directory[4096];
	int missing, rc;

	rc = file_read(config, path, err);
	if (rc < 0 && rc != -ENOENT)
		return rc;
	missing = rc;
	snprintf(directory, sizeof(directory), "%s.d", path);
	rc = drop_ins_read(config, directory, err);
	return rc < 0 ? rc : missing;
}
