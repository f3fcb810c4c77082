// SPDX-License-Identifier: GPL-2.0-only
#include "ship/engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "ship/http_client.h"

#define PLAIN "clickhouse://"
#define ENCRYPTED "clickhouses://"
#define ERROR_ENGINE_REPLY "the reply of '%s' is not a table from ClickHouse"
/* Reports read weeks; requests of dcpiship are small. */
#define TIMEOUT_SECONDS 600

struct engine {
	struct ship_config config;
	struct http_client *client;
};

/* Set the address and database of "clickhouse://HOST:PORT/DATABASE". */
static int address_set(struct ship_config *config, const char *scheme, const char *rest,
		       struct error *err)
{
	_cleanup_free_ char *url = NULL;
	size_t length = strcspn(rest, "/");
	int r;

	if (asprintf(&url, "%s%.*s/", scheme, (int)length, rest) < 0) {
		url = NULL;
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	if (length == 0)
		return error_set(err, EINVAL, ERROR_NOT_VALID, rest, "host");
	ship_config_init(config);
	config->timeout_s = TIMEOUT_SECONDS;
	r = ship_config_set(config, "url", url, err);
	if (r == 0 && rest[length] == '/' && rest[length + 1] != '\0')
		r = ship_config_set(config, "database", rest + length + 1, err);
	return r;
}

static int config_make(struct ship_config *config, const char *from, struct error *err)
{
	int r;

	if (strncmp(from, PLAIN, strlen(PLAIN)) == 0)
		return address_set(config, "http://", from + strlen(PLAIN), err);
	if (strncmp(from, ENCRYPTED, strlen(ENCRYPTED)) == 0)
		return address_set(config, "https://", from + strlen(ENCRYPTED), err);
	if (strstr(from, "://") != NULL)
		return error_set(err, EINVAL,
				 "'%s' is neither clickhouse://HOST:PORT/DATABASE nor a "
				 "configuration of dcpiship",
				 from);
	r = ship_config_read(config, from, err);
	if (r == 0 && strcmp(config->protocol, "clickhouse") != 0)
		r = error_set(err, EINVAL, "'%s' is not a configuration for ClickHouse", from);
	if (config->timeout_s < TIMEOUT_SECONDS)
		config->timeout_s = TIMEOUT_SECONDS;
	return r;
}

int engine_open(struct engine **ret, const char *from, struct error *err)
{
	struct engine *engine = calloc(1, sizeof(*engine));
	int r;

	if (engine == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	r = config_make(&engine->config, from, err);
	if (r == 0)
		r = ship_config_check_server(&engine->config, err);
	if (r == 0)
		r = http_client_create(&engine->client, &engine->config, err);
	if (r < 0) {
		free(engine);
		return r;
	}
	*ret = engine;
	return 0;
}

void engine_close(struct engine *engine)
{
	if (engine == NULL)
		return;
	http_client_destroy(engine->client);
	free(engine);
}

static char unescaped(char c)
{
	static const char from[] = "bfnrt0", to[] = "\b\f\n\r\t";
	const char *found = c != '\0' ? strchr(from, c) : NULL;

	/* A NUL would end the cell. */
	return found == NULL ? c : *found == '0' ? '?' : to[found - from];
}

/* Divide a line into cells, in place. Return: the next line; NULL: the line is damaged. */
static char *line_divide(char *line, size_t columns, char **cells)
{
	char *to = line;

	for (size_t i = 0; i < columns; i++) {
		cells[i] = to;
		for (; *line != '\t' && *line != '\n'; line++) {
			if (*line == '\0')
				return NULL;
			if (*line == '\\' && line[1] != '\0')
				line++, *to++ = unescaped(*line);
			else
				*to++ = *line;
		}
		if (*line != (i + 1 == columns ? '\n' : '\t'))
			return NULL;
		line++;
		*to++ = '\0';
	}
	return line;
}

int engine_query(struct engine *engine, const char *query, size_t columns, engine_row_fn visit,
		 void *context, struct error *err)
{
	/* An error after the header of the response would be a part of its body. */
	const struct http_field fields[] = {
		{"database", engine->config.database}, {"wait_end_of_query", "1"}, {NULL, NULL}};
	struct http_reply reply = {.bytes = 0};
	const struct http_post post = {
		.path = "",
		.fields = fields,
		.type = "text/plain",
		.body = query,
		.bytes = strlen(query),
		.reply = &reply,
	};
	struct http_response response;
	char *cells[ENGINE_COLUMNS_MAX], *line, *end;
	int r = 0;

	http_client_post(engine->client, &post, &response);
	line = reply.data;
	end = reply.data != NULL ? reply.data + reply.bytes : NULL;
	if (response.result != HTTP_DONE)
		r = error_set(err, EIO, "'%s' does not answer: %s", engine->config.url,
			      response.message);
	while (r == 0 && line != end) {
		line = line_divide(line, columns, cells);
		r = line != NULL ? visit(context, cells)
				 : error_set(err, EBADMSG, ERROR_ENGINE_REPLY, engine->config.url);
	}
	free(reply.data);
	return r;
}

int engine_number(const char *cell, uint64_t max, uint64_t *ret, struct error *err)
{
	char *end;
	uint64_t number;

	errno = 0;
	number = strtoull(cell, &end, 10);
	if (*cell < '0' || *cell > '9' || *end != '\0' || errno != 0 || number > max)
		return error_set(err, EBADMSG, ERROR_NOT_VALID, cell, "number");
	*ret = number;
	return 0;
}

int engine_time(const char *cell, int64_t *ret, struct error *err)
{
	uint64_t number = 0;
	int r = engine_number(cell + (*cell == '-'), INT64_MAX, &number, err);

	if (r == 0)
		*ret = *cell == '-' ? -(int64_t)number : (int64_t)number;
	return r;
}
