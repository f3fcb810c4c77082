// SPDX-License-Identifier: GPL-2.0-only
#include "tools/web/web_report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/base/time_spec.h"
#include "tools/report/cli.h"

#define REFRESH_S_MIN 5
#define REFRESH_S_MAX 86400

enum web_parameter {
	SINCE,
	UNTIL,
	LAST,
	EPOCH,
	HOST,
	EVENT,
	IMAGE,
	PID,
	UNIT,
	CONTAINER,
	LIMIT,
	SORT,
	NAME,
	REFRESH,
};

static const struct {
	const char *name;
	const char *option; /* NULL: not an option of the report */
} parameters[WEB_PARAMETERS] = {
	[SINCE] = {"since", "--since"}, [UNTIL] = {"until", "--until"},
	[LAST] = {"last", "--last"},	[EPOCH] = {"epoch", "--epoch"},
	[HOST] = {"host", "--host"},	[EVENT] = {"event", "--event"},
	[IMAGE] = {"image", "--image"}, [PID] = {"pid", "--pid"},
	[UNIT] = {"unit", "--unit"},	[CONTAINER] = {"container", "--container"},
	[LIMIT] = {"limit", "--limit"}, [SORT] = {"sort", "--sort"},
	[NAME] = {NULL, NULL}, /* named by @operand of the report */
	[REFRESH] = {"refresh", NULL},
};

#define BIT(parameter) (1U << (parameter))
#define BITS_SAMPLES                                                                               \
	(BIT(SINCE) | BIT(UNTIL) | BIT(LAST) | BIT(EPOCH) | BIT(HOST) | BIT(EVENT) | BIT(IMAGE) |  \
	 BIT(PID) | BIT(UNIT) | BIT(CONTAINER))

#define JSON "application/json"

static const struct web_report reports[] = {
	{
		.path = "/",
		.program = "dcpireport",
		.arguments = (const char *const[]){NULL},
		.type = "text/html; charset=utf-8",
		.parameters = BITS_SAMPLES | BIT(LIMIT) | BIT(REFRESH),
		.sources = true,
	},
	{
		.path = "/api/procedures",
		.program = "dcpiprof",
		.arguments = (const char *const[]){"--json", NULL},
		.default_limit = "--limit=100",
		.type = JSON,
		.parameters = BITS_SAMPLES | BIT(LIMIT) | BIT(SORT),
	},
	{
		.path = "/api/procedure",
		.program = "dcpicalc",
		.arguments = (const char *const[]){"--json", "--evidence", NULL},
		.type = JSON,
		.parameters = BITS_SAMPLES | BIT(LIMIT),
		.operand = "name",
		.sources = true,
	},
	{
		.path = "/api/why",
		.program = "dcpicalc",
		.arguments = (const char *const[]){"--why", "--json", NULL},
		.type = JSON,
		.parameters = BITS_SAMPLES,
		.operand = "procedure",
	},
	{
		.path = "/api/epochs",
		.program = "dcpiprof",
		.arguments = (const char *const[]){"--by=epoch", "--json", NULL},
		.type = JSON,
		.parameters = BITS_SAMPLES,
	},
	{
		.path = "/metrics",
		.program = "dcpiweb",
		.arguments = (const char *const[]){"--metrics", NULL},
		.type = "text/plain; version=0.0.4; charset=utf-8",
	},
};

const struct web_report *web_report_find(const char *path)
{
	for (size_t i = 0; i < sizeof(reports) / sizeof(*reports); i++) {
		if (strcmp(reports[i].path, path) == 0)
			return &reports[i];
	}
	return NULL;
}

bool web_report_is_page(const struct web_report *report)
{
	return (report->parameters & BIT(REFRESH)) != 0;
}

/* Return: the parameter with a name; WEB_PARAMETERS: the report has none. */
static unsigned int parameter_find(const struct web_report *report, const char *name)
{
	unsigned int i = 0;

	if (report->operand != NULL && strcmp(name, report->operand) == 0)
		return NAME;
	while (i < WEB_PARAMETERS &&
	       ((report->parameters & BIT(i)) == 0 || strcmp(parameters[i].name, name) != 0))
		i++;
	return i;
}

static bool value_valid(const char *value, size_t bytes)
{
	if (bytes == 0 || bytes > WEB_VALUE_BYTES_MAX)
		return false;
	for (size_t i = 0; i < bytes; i++) {
		if ((unsigned char)value[i] < ' ' || value[i] == 0x7f)
			return false;
	}
	return true;
}

static int set_refresh(struct web_query *query, const char *value, struct error *err)
{
	int64_t seconds = 0;
	int r = cli_number(value, "number of seconds", &seconds, err);

	if (r == 0 && (seconds < REFRESH_S_MIN || seconds > REFRESH_S_MAX))
		return error_set(err, EINVAL, ERROR_NOT_VALID " (%d to %d)", value,
				 "number of seconds", REFRESH_S_MIN, REFRESH_S_MAX);
	query->refresh_s = (unsigned int)seconds;
	return r;
}

/* Times are checked here because a relative time limits the age of a result. */
static int check_time(struct web_query *query, const char *value, struct error *err)
{
	int64_t one = 0, other = 0;
	int r = time_spec_parse(value, clock_real_ns(), &one, err);

	if (r == 0)
		r = time_spec_parse(value, clock_real_ns() + (int64_t)NS_PER_SECOND, &other, err);
	query->moves |= one != other;
	return r;
}

int web_query_add(struct web_query *query, const char *name, const char *value, size_t bytes,
		  struct error *err)
{
	unsigned int i = parameter_find(query->report, name);
	int r = 0;

	if (i == WEB_PARAMETERS)
		return error_set(err, EINVAL, "'%s' has no parameter '%.64s'", query->report->path,
				 name);
	if (query->values[i] != NULL)
		return error_set(err, EINVAL, "parameter '%s' is given twice", name);
	if (value == NULL || !value_valid(value, bytes))
		return error_set(err, EINVAL, "the value of parameter '%s' is not valid", name);
	query->values[i] = strndup(value, bytes);
	if (query->values[i] == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (i == SINCE || i == UNTIL)
		r = check_time(query, query->values[i], err);
	else if (i == REFRESH)
		r = set_refresh(query, query->values[i], err);
	return r;
}

int web_query_check(const struct web_query *query, struct error *err)
{
	if (query->report->operand != NULL && query->values[NAME] == NULL)
		return error_set(err, EINVAL, "'%s' needs the parameter '%s'", query->report->path,
				 query->report->operand);
	return 0;
}

bool web_query_any(const struct web_query *query)
{
	for (size_t i = 0; i < WEB_PARAMETERS; i++) {
		if (query->values[i] != NULL)
			return true;
	}
	return false;
}

void web_query_deinit(struct web_query *query)
{
	for (size_t i = 0; i < WEB_PARAMETERS; i++)
		free(query->values[i]);
}

/* struct command - a command line that grows; @failed: out of memory */
struct command {
	char **words;
	size_t count;
	size_t capacity;
	bool failed;
};

/* Append one word: @option=@value, or @option alone if @value is NULL. */
static void command_add(struct command *command, const char *option, const char *value)
{
	char *word = NULL;

	if (asprintf(&word, "%s%s%s", option, value != NULL ? "=" : "",
		     value != NULL ? value : "") < 0)
		word = NULL;
	if (word == NULL || array_reserve(&command->words, &command->capacity, command->count + 2,
					  sizeof(*command->words)) < 0) {
		free(word);
		command->failed = true;
		return;
	}
	command->words[command->count++] = word;
	command->words[command->count] = NULL;
}

static void add_common(struct command *command, const struct web_report *report,
		       const struct cli *cli)
{
	const struct source_paths *sources = &cli->sources;

	if (cli->debug.directory != NULL)
		command_add(command, "--debug-dir", cli->debug.directory);
	if (cli->debug.debuginfod)
		command_add(command, "--debuginfod", NULL);
	if (!cli->demangle)
		command_add(command, "--no-demangle", NULL);
	for (size_t i = 0; report->sources && i < sources->directory_count; i++)
		command_add(command, "--source-path", sources->directories[i]);
	for (size_t i = 0; report->sources && i < sources->substitute_count; i++)
		command_add(command, "--substitute-path", sources->substitutes[i]);
}

static void add_parameters(struct command *command, const struct web_query *query)
{
	const struct web_report *report = query->report;

	for (size_t i = 0; i < WEB_PARAMETERS; i++) {
		if (query->values[i] != NULL && parameters[i].option != NULL)
			command_add(command, parameters[i].option, query->values[i]);
	}
	if (query->values[LIMIT] == NULL && report->default_limit != NULL)
		command_add(command, report->default_limit, NULL);
	/* No operand may be taken as an option. */
	if (query->values[NAME] != NULL) {
		command_add(command, "--", NULL);
		command_add(command, query->values[NAME], NULL);
	}
}

char **web_query_command(const struct web_query *query, const char *folder, const char *database,
			 const struct cli *cli)
{
	const struct web_report *report = query->report;
	struct command command = {.words = NULL};
	char *program = NULL;

	if (asprintf(&program, "%s/%s", folder, report->program) < 0)
		return NULL;
	command_add(&command, program, NULL);
	free(program);
	command_add(&command, "--db", database);
	for (size_t i = 0; report->arguments[i] != NULL; i++)
		command_add(&command, report->arguments[i], NULL);
	add_common(&command, report, cli);
	add_parameters(&command, query);
	if (!command.failed)
		return command.words;
	web_command_free(command.words);
	return NULL;
}

void web_command_free(char **command)
{
	for (size_t i = 0; command != NULL && command[i] != NULL; i++)
		free(command[i]);
	free(command);
}
