// SPDX-License-Identifier: GPL-2.0-only
#include "ship/clickhouse_schema.h"

#include <stdlib.h>
#include <string.h>

#include "ship/clickhouse_views.h"

#define OF_EPOCH "day Date", "host UUID", "epoch UUID"
#define OF_SLICE OF_EPOCH, "start_ns Int64", "end_ns Int64"

const struct clickhouse_definition clickhouse_definitions[CLICKHOUSE_TABLES] = {
	[CLICKHOUSE_EPOCHS] =
		{
			"dcpi_epochs",
			{OF_EPOCH, "name String", "start_ns Int64", "end_ns Int64", "open UInt8",
			 "cpu_model String", "cpus UInt32", "kernel String", "source String",
			 "source_reason String", "label String", "interrupts UInt64",
			 "version UInt64"},
			.keys = 2,
			.dated = 1,
			.version = "version",
			.shard = "host",
			.scope = CLICKHOUSE_OF_VERSION,
		},
	[CLICKHOUSE_EVENTS] =
		{
			"dcpi_events",
			{OF_EPOCH, "event UInt32", "name String", "unit String",
			 "period_min UInt64", "period_max UInt64", "enabled_ns UInt64",
			 "running_ns UInt64", "version UInt64"},
			.keys = 3,
			.dated = 1,
			.version = "version",
			.shard = "host",
			.scope = CLICKHOUSE_OF_VERSION,
		},
	[CLICKHOUSE_LABELS] =
		{
			"dcpi_labels",
			{OF_EPOCH, "label UInt32", "unit String", "container String"},
			.keys = 3,
			.dated = 1,
			.shard = "host",
			.scope = CLICKHOUSE_OF_EPOCH,
		},
	[CLICKHOUSE_PROCESSES] =
		{
			"dcpi_processes",
			{OF_EPOCH, "pid Int64", "command String", "label UInt32", "version UInt64"},
			.keys = 3,
			.dated = 1,
			.version = "version",
			.shard = "host",
			.scope = CLICKHOUSE_OF_VERSION,
		},
	[CLICKHOUSE_IMAGES] =
		{
			"dcpi_images",
			{"host UUID", "image UUID", "kind String", "build_id String",
			 "identity String", "path String", "version UInt64"},
			.keys = 2,
			.version = "version",
			.shard = "host",
			.scope = CLICKHOUSE_OF_VERSION,
		},
	[CLICKHOUSE_PROCEDURES] =
		{
			"dcpi_procedures",
			{"image UUID", "offset UInt64", "name String", "bytes UInt64",
			 "position UInt32"},
			.keys = 3,
			.shard = "image",
			.scope = CLICKHOUSE_OF_IMAGES,
		},
	[CLICKHOUSE_SAMPLES] =
		{
			"dcpi_samples",
			{OF_SLICE, "image UUID", "event UInt32", "pid Int64", "label UInt32",
			 "offset UInt64", "samples UInt64"},
			.keys = 9,
			.dated = 1,
			.measure = "samples",
			.shard = "host",
			.scope = CLICKHOUSE_OF_SLICES,
		},
	[CLICKHOUSE_SHARES] =
		{
			"dcpi_shares",
			{OF_SLICE, "image UUID", "event UInt32", "label UInt32", "samples UInt64"},
			.keys = 7,
			.dated = 1,
			.measure = "samples",
			.shard = "host",
			.scope = CLICKHOUSE_OF_SLICES,
		},
	[CLICKHOUSE_LOSSES] =
		{
			"dcpi_losses",
			{OF_SLICE, "name String", "count UInt64"},
			.keys = 5,
			.dated = 1,
			.measure = "count",
			.shard = "host",
			.scope = CLICKHOUSE_OF_SLICES,
		},
	[CLICKHOUSE_EDGES] =
		{
			"dcpi_edges",
			{OF_EPOCH, "image UUID", "to_image UUID", "kind UInt8",
			 "from_offset UInt64", "to_offset UInt64", "count UInt64"},
			.keys = 7,
			.dated = 1,
			.measure = "count",
			.shard = "host",
			.scope = CLICKHOUSE_OF_EPOCH,
		},
	[CLICKHOUSE_EXECUTIONS] =
		{
			"dcpi_executions",
			{OF_EPOCH, "image UUID", "kind UInt8", "from_offset UInt64",
			 "to_offset UInt64", "count UInt64"},
			.keys = 6,
			.dated = 1,
			.measure = "count",
			.shard = "host",
			.scope = CLICKHOUSE_OF_EPOCH,
		},
	[CLICKHOUSE_STACKS] =
		{
			"dcpi_stacks",
			{OF_EPOCH, "node UInt64", "parent UInt64", "image UUID", "offset UInt64",
			 "stacks UInt64"},
			.keys = 3,
			.dated = 1,
			.measure = "stacks",
			.shard = "host",
			.scope = CLICKHOUSE_OF_EPOCH,
		},
	[CLICKHOUSE_SLICES] =
		{
			"dcpi_slices",
			{OF_SLICE, "interrupts UInt64", "samples UInt64", "lost UInt64",
			 "live UInt8", "version UInt8"},
			.keys = 4,
			.dated = 1,
			.version = "version",
			.measure = "version",
			.shard = "host",
			.scope = CLICKHOUSE_OF_SLICES,
		},
};

static int name_length(const char *column)
{
	return (int)strcspn(column, " ");
}

void clickhouse_schema_keys(FILE *stream, const struct clickhouse_definition *table)
{
	unsigned int first = table->dated ? 1 : 0;

	for (unsigned int i = first; i < first + table->keys; i++)
		fprintf(stream, "%s%.*s", i > first ? ", " : "", name_length(table->columns[i]),
			table->columns[i]);
}

char *clickhouse_schema_insert(const struct clickhouse_definition *table, const char *format)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	if (stream == NULL)
		return NULL;
	fprintf(stream, "INSERT INTO %s (", table->name);
	for (unsigned int i = 0; i < CLICKHOUSE_COLUMNS_MAX && table->columns[i] != NULL; i++)
		fprintf(stream, "%s%.*s", i > 0 ? ", " : "", name_length(table->columns[i]),
			table->columns[i]);
	fprintf(stream, ") FORMAT %s", format);
	if (fclose(stream) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

static void table_print(FILE *stream, const struct clickhouse_definition *table,
			const char *cluster, const char *database)
{
	fprintf(stream, "CREATE TABLE IF NOT EXISTS %s%s (", table->name,
		cluster != NULL ? "_local" : "");
	for (unsigned int i = 0; i < CLICKHOUSE_COLUMNS_MAX && table->columns[i] != NULL; i++)
		fprintf(stream, "%s\n\t%s", i > 0 ? "," : "", table->columns[i]);
	fputs("\n) ENGINE = ", stream);
	if (cluster != NULL)
		fprintf(stream,
			"ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/%s/%s', "
			"'{replica}'%s%s)",
			database, table->name, table->version != NULL ? ", " : "",
			table->version != NULL ? table->version : "");
	else
		fprintf(stream, "ReplacingMergeTree(%s)",
			table->version != NULL ? table->version : "");
	if (table->dated)
		fputs(" PARTITION BY toMonday(day)", stream);
	fputs(" ORDER BY (", stream);
	clickhouse_schema_keys(stream, table);
	fputs(");\n\n", stream);
	if (cluster != NULL)
		fprintf(stream,
			"CREATE TABLE IF NOT EXISTS %s AS %s_local ENGINE =\n"
			"\tDistributed(%s, %s, %s_local, "
			"cityHash64(toString(%s)));\n\n",
			table->name, table->name, cluster, database, table->name, table->shard);
}

void clickhouse_schema_print(FILE *stream, const char *cluster, const char *database)
{
	fputs("-- SPDX-License-Identifier: GPL-2.0-only\n", stream);
	if (cluster == NULL)
		fputs("-- Tables for one server: dcpiship --schema single\n\n", stream);
	else
		fprintf(stream,
			"-- Tables for each server of a cluster: dcpiship --schema cluster:%s\n"
			"-- The macros {shard} and {replica} are in the configuration of the "
			"servers.\n\n",
			cluster);
	for (size_t i = 0; i < CLICKHOUSE_TABLES; i++)
		table_print(stream, &clickhouse_definitions[i], cluster, database);
	fputs(views_sql, stream);
}
