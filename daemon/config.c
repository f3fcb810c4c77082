// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/config.h"

#include <errno.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/event/event.h"
#include "daemon/event/multiplex.h"
#include "daemon/source/source_select.h"
#include "lib/config_file.h"
#include "lib/error.h"
#include "lib/near_names.h"
#include "loader-hook/audit/audit_message.h"
#include "loader-hook/image_feed.h"

#define EVERY_MAX 1000000
#define PROBE_PERMILLE_MAX 100
#define OFF_CPU_PERMILLE_MAX 100
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
	return source_select_unknown(value, err);
}

static int image_events_check(const char *value, struct error *err)
{
	static const char *const names[] = {"auto", "bpf", "perf", "audit"};

	if (image_feed_name_valid(value))
		return 0;
	return near_names_unknown(err, "value of image_events", value, names,
				  sizeof(names) / sizeof(*names));
}

static int log_level_check(const char *value, struct error *err)
{
	static const char *const names[] = {"error", "warning", "info"};
	enum log_level level;

	if (log_level_parse(value, &level))
		return 0;
	return near_names_unknown(err, "value of log_level", value, names,
				  sizeof(names) / sizeof(*names));
}

/* With 1, the second sample of each pair would be the first of another. */
static int double_check(const char *value, struct error *err)
{
	if (strcmp(value, "1") != 0)
		return 0;
	return error_set(err, EINVAL, "double_every must be 0 or a number in 2..%d, not '1'",
			 EVERY_MAX);
}

static const struct config_key key_list[] = {
#define TEXT(field) CONFIG_FILE_TEXT(struct config, field)
#define NUMBER(field) CONFIG_FILE_NUMBER(struct config, field)
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
	{NUMBER(stack_every), .max = EVERY_MAX, .initial = "32"},
	{NUMBER(off_cpu_permille), .max = OFF_CPU_PERMILLE_MAX, .initial = "0"},
	{NUMBER(double_every), .max = EVERY_MAX, .initial = "0", .check = double_check},
	{NUMBER(double_period), .min = 1, .max = DCPI_PERIOD_MIN, .initial = "100"},
	{NUMBER(handler_times), .max = 1, .initial = "0"},
	{TEXT(image_store), .initial = "all"},
	{NUMBER(image_store_mb), .min = 1, .max = MB_MAX, .initial = "512"},
	{NUMBER(units), .max = 1, .initial = "1"},
	{NUMBER(symbols), .max = 1, .initial = "1"},
	{NUMBER(epoch_hours), .max = 8760, .initial = "168"},
	{NUMBER(retention_days), .max = 36500, .initial = "90"},
	{NUMBER(slice_s), .max = 3600, .initial = "10"},
	{NUMBER(minute_slices_after_h), .max = 876000, .initial = "1"},
	{NUMBER(hour_slices_after_h), .max = 876000, .initial = "24"},
	{NUMBER(day_slices_after_h), .max = 876000, .initial = "168"},
	{NUMBER(slices_percent), .max = 1000, .initial = "100"},
	{NUMBER(database_mb), .max = MB_MAX, .initial = "1024"},
#undef TEXT
#undef NUMBER
};

static const struct config_keys keys = {key_list, sizeof(key_list) / sizeof(key_list[0])};

int config_set(struct config *config, const char *key, const char *value, struct error *err)
{
	return config_file_set(config, &keys, key, value, err);
}

void config_init(struct config *config)
{
	config_file_init(config, sizeof(*config), &keys);
}

int config_check(const struct config *config, struct error *err)
{
	const struct source_ops *source = source_select_find(config->source);

	if (source == NULL)
		return 0;
	if (config->probe_permille > 0 && !source->probes)
		return error_set(err, EINVAL,
				 "probe_permille needs source 'bpf' or 'perf', not '%s'",
				 source->name);
	if (config->double_every > 0 && !source->doubles)
		return error_set(err, EINVAL, "double_every needs source 'kmod', not '%s'",
				 source->name);
	return 0;
}

int config_read(struct config *config, const char *path, struct error *err)
{
	return config_file_read(config, &keys, path, err);
}
