// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests of HTTP clients: the host, the token, and parameters in lines NAME=VALUE, which become
 * the command line of a report. No parameter may become another option, or an operand.
 */
#include <strings.h>

#include "tests/fuzz/fuzz.h"
#include "tools/report/cli.h"
#include "tools/web/web_guard.h"
#include "tools/web/web_report.h"

static const char *const paths[] = {"/",	"/api/procedures", "/api/procedure",
				    "/api/why", "/api/epochs",	   "/metrics"};

/* Options of the server are all before those of the request. */
static void check_command(const struct web_query *query)
{
	const struct cli cli = {.demangle = true};
	char **command = web_query_command(query, "/bin", "/database", &cli);
	size_t i = 1, last = 0;

	require(command != NULL && strncmp(command[0], "/bin/dcpi", 9) == 0);
	require(strcmp(command[1], "--db=/database") == 0);
	for (; command[i] != NULL && strcmp(command[i], "--") != 0; i++) {
		require(strncmp(command[i], "--", 2) == 0);
		require(i == 1 || strncmp(command[i], "--db", 4) != 0);
		require(strncmp(command[i], "--output", 8) != 0);
	}
	for (last = i; command[last] != NULL; last++)
		;
	require(query->report->operand != NULL ? last == i + 2 : last == i);
	web_command_free(command);
}

static void add_line(struct web_query *query, char *line, size_t bytes)
{
	char *value = memchr(line, '=', bytes);

	if (value == NULL) {
		web_query_add(query, line, NULL, 0, NULL);
		return;
	}
	*value++ = '\0';
	web_query_add(query, line, value, bytes - (size_t)(value - line), NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const char *const names[] = {"server.example"};
	struct web_query query = {.report = NULL};
	char *text, *line, *end;

	if (bytes == 0)
		return 0;
	query.report = web_report_find(paths[data[0] % (sizeof(paths) / sizeof(*paths))]);
	text = malloc(bytes);
	require(text != NULL && query.report != NULL);
	memcpy(text, data + 1, bytes - 1);
	text[bytes - 1] = '\0';
	if (web_host_allowed(text, names, 1))
		require(strncasecmp(text, "localhost", 9) == 0 ||
			strncmp(text, "127.0.0.1", 9) == 0 || strncmp(text, "[::1]", 5) == 0 ||
			strncasecmp(text, names[0], 14) == 0);
	web_token_bearer(text);
	for (line = text; line < text + bytes - 1; line = end + 1) {
		end = memchr(line, '\n', (size_t)(text + bytes - line));
		if (end == NULL)
			end = text + bytes - 1;
		*end = '\0';
		add_line(&query, line, (size_t)(end - line));
	}
	if (web_query_check(&query, NULL) == 0)
		check_command(&query);
	web_query_deinit(&query);
	free(text);
	return 0;
}
