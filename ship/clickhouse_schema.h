/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tables of ClickHouse, in the dialect of version 18.16. Every row has a key, and rows with
 * equal keys have the same values or different versions. A repeated row changes no query that
 * groups by the key. The engine removes it in the background.
 */
#ifndef DCPI_CLICKHOUSE_SCHEMA_H
#define DCPI_CLICKHOUSE_SCHEMA_H

#include <stddef.h>
#include <stdio.h>

/** enum clickhouse_table - in the order in which rows are sent */
enum clickhouse_table {
	CLICKHOUSE_EPOCHS,
	CLICKHOUSE_EVENTS,
	CLICKHOUSE_LABELS,
	CLICKHOUSE_PROCESSES,
	CLICKHOUSE_IMAGES,
	CLICKHOUSE_PROCEDURES,
	CLICKHOUSE_SAMPLES,
	CLICKHOUSE_SHARES,
	CLICKHOUSE_LOSSES,
	CLICKHOUSE_EDGES,
	CLICKHOUSE_EXECUTIONS,
	CLICKHOUSE_STACKS,
	CLICKHOUSE_SLICES, /* Rows of other tables count only if this table has their slice. */
	CLICKHOUSE_TABLES,
};

/** enum clickhouse_scope - the rows of a table that a batch completes, for a check */
enum clickhouse_scope {
	CLICKHOUSE_OF_SLICES,  /* exactly those of the batch's slices */
	CLICKHOUSE_OF_EPOCH,   /* at least those of the epoch */
	CLICKHOUSE_OF_VERSION, /* of the host, since the batch */
	CLICKHOUSE_OF_IMAGES,  /* of its images */
};

#define CLICKHOUSE_COLUMNS_MAX 16

/**
 * struct clickhouse_definition - a table
 * @columns: names and types, "day Date"
 * @keys:    number of columns of the key
 * @dated:   the first column is the day, by which the table is partitioned, and not in the key
 * @version: column with the version; NULL: rows of a key are equal
 * @measure: column whose sum is checked; NULL: only rows are counted
 * @shard:   column that determines the shard
 */
struct clickhouse_definition {
	const char *name;
	const char *columns[CLICKHOUSE_COLUMNS_MAX];
	unsigned int keys;
	int dated;
	const char *version;
	const char *measure;
	const char *shard;
	enum clickhouse_scope scope;
};

extern const struct clickhouse_definition clickhouse_definitions[CLICKHOUSE_TABLES];

/** clickhouse_schema_keys() - print the columns of the key: "host, epoch" */
void clickhouse_schema_keys(FILE *stream, const struct clickhouse_definition *table);

/* The target of requests with samples in the format Native; others are the name of a table. */
#define CLICKHOUSE_SAMPLES_NATIVE "dcpi_samples Native"

/** clickhouse_schema_insert() - return "INSERT INTO ... FORMAT @format"; NULL: out of memory */
char *clickhouse_schema_insert(const struct clickhouse_definition *table, const char *format);

/**
 * clickhouse_schema_print() - print the statements that create tables and views
 * @cluster:  name of a cluster, whose servers each need these statements; NULL: one server
 * @database: its database: 18.16 forgets the current one when the server restarts
 */
void clickhouse_schema_print(FILE *stream, const char *cluster, const char *database);

#endif
