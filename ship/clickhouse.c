// SPDX-License-Identifier: GPL-2.0-only
/*
 * The protocol of ClickHouse: INSERT statements over HTTP, with rows in the format RowBinary.
 *
 * The last rows of a batch are those of its slices, which make the others count. Before them,
 * checks compare the number and sum of the rows that have arrived: a proxy may have cut a request,
 * and a replica may lag.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "ship/clickhouse_schema.h"
#include "ship/protocol.h"
#include "ship/rows.h"
#include "ship/ship_config.h"
#include "ship/ship_id.h"

#define CHECK_PASSED "1"
/* Slices of an epoch that one query asks for; the response must fit into struct http_response. */
#define KNOWN_SLICES 1000

static int clickhouse_create(void **data, const struct ship_config *config, struct error *err)
{
	(void)config;
	*data = calloc(1, sizeof(struct clickhouse));
	return *data != NULL ? 0 : error_set(err, ENOMEM, ERROR_NO_MEMORY);
}

static void clickhouse_destroy(void *data)
{
	rows_deinit(data);
	free(data);
}

static int clickhouse_begin(struct batch_builder *batch)
{
	rows_clear(batch);
	return batch->epoch != NULL ? rows_epoch_begin(batch) : 0;
}

static void print_slices(FILE *stream, const struct slice_list *slices)
{
	for (size_t i = 0; i < slices->count; i++)
		fprintf(stream, "%s(start_ns = %" PRId64 " AND end_ns = %" PRId64 ")",
			i == 0 ? "" : " OR ", slices->list[i].start_ns, slices->list[i].end_ns);
}

static void print_images(FILE *stream, const struct clickhouse *ch)
{
	char text[SHIP_ID_TEXT_BYTES];

	for (size_t i = 0; i < ch->named_count; i++)
		fprintf(stream, "%stoUUID('%s')", i == 0 ? "" : ", ",
			ship_id_text(text, ch->named[i].uuid));
}

/* Print the condition of the rows of a table that the batch has. */
static void print_scope(FILE *stream, struct batch_builder *batch, enum clickhouse_table table)
{
	const struct clickhouse_definition *definition = &clickhouse_definitions[table];
	char host[SHIP_ID_TEXT_BYTES], epoch[SHIP_ID_TEXT_BYTES];
	struct clickhouse *ch = batch->data;

	if (definition->scope == CLICKHOUSE_OF_IMAGES) {
		fputs("image IN (", stream);
		print_images(stream, ch);
		fputs(")", stream);
		return;
	}
	fprintf(stream, "host = toUUID('%s')", ship_id_text(host, batch->known->host));
	if (definition->scope == CLICKHOUSE_OF_VERSION) {
		fprintf(stream, " AND version >= %" PRIu64, ch->version);
		return;
	}
	fprintf(stream, " AND epoch = toUUID('%s')", ship_id_text(epoch, batch->known->uuid));
	if (definition->scope == CLICKHOUSE_OF_SLICES) {
		fputs(" AND (", stream);
		print_slices(stream, table == CLICKHOUSE_SLICES ? &ch->changed : &ch->slices);
		fputs(")", stream);
	}
}

/* Add a request that counts the rows of a table after they were sent. */
static int check_add(struct batch_builder *batch, enum clickhouse_table table)
{
	const struct clickhouse_definition *definition = &clickhouse_definitions[table];
	struct ship_request request = {.target = "", .expect = CHECK_PASSED, .entries = 0};
	struct clickhouse *ch = batch->data;
	_cleanup_free_ char *text = NULL;
	const char *relation;
	FILE *stream;

	if (ch->sent[table] == 0)
		return 0;
	stream = open_memstream(&text, &request.bytes);
	if (stream == NULL)
		return rows_no_memory(batch);
	relation = definition->scope == CLICKHOUSE_OF_SLICES && definition->version == NULL ? "="
											    : ">=";
	fprintf(stream, "SELECT count() %s %" PRIu64, relation, ch->sent[table]);
	if (definition->measure != NULL)
		fprintf(stream, " AND sum(measure) %s %" PRIu64, relation, ch->sums[table]);
	if (definition->measure != NULL)
		fprintf(stream, " FROM (SELECT max(%s) AS measure", definition->measure);
	else
		fputs(" FROM (SELECT 1 AS measure", stream);
	fprintf(stream, " FROM %s WHERE ", definition->name);
	print_scope(stream, batch, table);
	fputs(" GROUP BY ", stream);
	clickhouse_schema_keys(stream, definition);
	fputs(")", stream);
	if (fclose(stream) != 0)
		return rows_no_memory(batch);
	request.body = (const uint8_t *)text;
	return protocol_request_add(batch, &request);
}

static int clickhouse_end(struct batch_builder *batch)
{
	int r = 0;

	for (int table = 0; r == 0 && table < CLICKHOUSE_SLICES; table++)
		r = rows_flush(batch, table);
	if (r == 0)
		r = rows_samples_flush(batch);
	for (int table = 0; r == 0 && table < CLICKHOUSE_SLICES; table++)
		r = check_add(batch, table);
	if (r == 0)
		r = rows_flush(batch, CLICKHOUSE_SLICES);
	return r == 0 ? check_add(batch, CLICKHOUSE_SLICES) : r;
}

/*
 * Return the statement for a request whose target is the name of a table or, with the format
 * Native, "NAME Native". NULL: no such table, or out of memory.
 */
static char *insert_make(const char *target)
{
	size_t length = strcspn(target, " ");

	for (size_t i = 0; i < CLICKHOUSE_TABLES; i++) {
		const struct clickhouse_definition *table = &clickhouse_definitions[i];

		if (strlen(table->name) == length && strncmp(table->name, target, length) == 0)
			return clickhouse_schema_insert(table, target[length] == '\0' ? "RowBinary"
										      : "Native");
	}
	return NULL;
}

static void query(struct http_client *client, const struct ship_config *config,
		  const struct ship_request *request, struct http_response *response)
{
	const struct http_field fields[] = {{"database", config->database}, {NULL, NULL}};

	const struct http_post post = {
		.path = "",
		.fields = fields,
		.type = "text/plain",
		.body = request->body,
		.bytes = request->bytes,
		.compressed = request->compressed,
	};

	http_client_post(client, &post, response);
}

static void clickhouse_send(struct http_client *client, const struct ship_config *config,
			    const struct ship_request *request, struct http_response *response)
{
	_cleanup_free_ char *insert = insert_make(request->target);
	const struct http_field fields[] = {
		{"database", config->database},
		{"query", insert},
		/* Distributed tables: respond when the shard has the rows. */
		{"insert_distributed_sync", "1"},
		{NULL, NULL},
	};
	const struct http_post post = {
		.path = "",
		.fields = fields,
		.type = "application/octet-stream",
		.body = request->body,
		.bytes = request->bytes,
		.compressed = request->compressed,
	};

	if (request->target[0] == '\0') {
		query(client, config, request, response);
		return;
	}
	*response = (struct http_response){.text = ""};
	if (insert == NULL) {
		http_response_set(response, HTTP_REFUSED,
				  "no such table in this version of dcpiship");
		return;
	}
	http_client_post(client, &post, response);
	/* A failure after the header of the response was sent. */
	if (response->result == HTTP_DONE && response->text[0] != '\0')
		http_response_set(response, HTTP_RETRY,
				  "unexpected text in the response to INSERT");
}

/* Visit the slices in a response: lines of three numbers. Return: their number, or an error. */
static int known_visit(const char *text, profile_slice_fn visit, void *context, int64_t *last_ns)
{
	struct profile_slice slice;
	int count = 0, length = 0, r;

	while (sscanf(text, "%" SCNd64 "\t%" SCNd64 "\t%" SCNu64 "%n", &slice.start_ns,
		      &slice.end_ns, &slice.interrupts, &length) == 3) {
		r = visit(context, &slice);
		if (r != 0)
			return r;
		*last_ns = slice.start_ns;
		text += length;
		count++;
	}
	return text[strspn(text, "\n")] == '\0' ? count : -EBADMSG;
}

static int clickhouse_known(struct http_client *client, const struct ship_config *config,
			    const struct ship_epoch *epoch, profile_slice_fn visit, void *context,
			    struct http_response *response)
{
	char host[SHIP_ID_TEXT_BYTES], uuid[SHIP_ID_TEXT_BYTES], text[1024];
	int64_t last_ns = INT64_MIN;
	int count = KNOWN_SLICES;

	ship_id_text(host, epoch->host);
	ship_id_text(uuid, epoch->uuid);
	while (count == KNOWN_SLICES) {
		int bytes = snprintf(
			text, sizeof(text),
			"SELECT start_ns, end_ns, max(interrupts) FROM dcpi_slices "
			"WHERE host = toUUID('%s') AND epoch = toUUID('%s') AND start_ns > %" PRId64
			" GROUP BY start_ns, end_ns HAVING min(live) = 1 "
			"ORDER BY start_ns, end_ns LIMIT %d FORMAT TabSeparated",
			host, uuid, last_ns == INT64_MIN ? last_ns + 1 : last_ns, KNOWN_SLICES);

		query(client, config,
		      &(struct ship_request){.body = (const uint8_t *)text, .bytes = (size_t)bytes},
		      response);
		if (response->result != HTTP_DONE)
			return -EAGAIN;
		count = known_visit(response->text, visit, context, &last_ns);
		if (count == -EBADMSG) {
			http_response_set(response, HTTP_RETRY,
					  "the reply of the destination is not from ClickHouse");
			return -EAGAIN;
		}
	}
	return count < 0 ? count : 0;
}

const struct protocol protocol_clickhouse = {
	.name = "clickhouse",
	.promise = PROTOCOL_EXACTLY_ONCE,
	.create = clickhouse_create,
	.destroy = clickhouse_destroy,
	.known = clickhouse_known,
	.begin = clickhouse_begin,
	.slice = rows_slice,
	.lost = rows_slice_lost,
	.replace = rows_slice_replaced,
	.rest = rows_epoch_rest,
	.end = clickhouse_end,
	.send = clickhouse_send,
};
