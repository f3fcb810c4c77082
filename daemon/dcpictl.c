// SPDX-License-Identifier: GPL-2.0-only
/* dcpictl: query and control the daemon through its control socket. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "daemon/base/log.h"
#include "daemon/config.h"
#include "daemon/control.h"
#include "daemon/database_merge.h"
#include "daemon/metrics.h"
#include "daemon/status_text.h"
#include "lib/control_client.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/near_names.h"
#include "lib/options.h"

#define EXIT_BAD 2

struct settings {
	const char *db;
	const char *socket;
	bool json;
};

/* Output of reply lines: a table for users, a JSON object, or metrics. */
struct output {
	bool silent;
	struct json_object *object;
	struct metrics *metrics;
	char db[4096];
};

enum {
	OPTION_DB = 256,
	OPTION_SOCKET,
	OPTION_JSON,
};

static const struct option_entry entries[] = {
	{OPTION_DB, "db", "FILE",
	 "check that the daemon writes to this database; with merge, write to it"},
	{OPTION_SOCKET, "socket", "PATH", "connect to the daemon here (" CONFIG_SOCKET ")"},
	{OPTION_JSON, "json", NULL, "print a JSON object"},
};

static void help_print(const struct options *options)
{
	options_help(stdout, options, "[OPTION]... COMMAND",
		     "Query and control the profiling daemon.");
	puts("\nCommands:\n  status         print what is collected, and problems\n  stats         "
	     " print counters of the epoch: interrupts, losses, data reduction\n  metrics        "
	     "print both in Prometheus' text format\n  flush          store all samples in the "
	     "database\n  epoch [LABEL]  end the epoch and start a new one\n  per-process [LIST], "
	     "per-unit [LIST]\n                 set the images profiled so: none, all, or "
	     "patterns\n  stop           store all samples and end the daemon\n  merge FILE...  "
	     "add the epochs of other databases to that of --db;\n                 no daemon is "
	     "needed");
}

/* Return: -1 to continue, otherwise the exit status. */
static int dcpictl_options_parse(struct settings *settings, int argc, char **argv)
{
	struct options options;
	struct error err;
	int key;

	options_init(&options, "dcpictl", false);
	options_add(&options, entries, sizeof(entries) / sizeof(*entries));
	while ((key = options_next(&options, argc, argv, &err)) >= 0) {
		switch (key) {
		case OPTION_DB:
			settings->db = optarg;
			break;
		case OPTION_SOCKET:
			settings->socket = optarg;
			break;
		case OPTION_JSON:
			settings->json = true;
			break;
		case OPTIONS_HELP:
			help_print(&options);
			return 0;
		case OPTIONS_VERSION:
			options_version(stdout, &options);
			return 0;
		}
	}
	if (key == OPTIONS_END)
		return -1;
	log_error("%s", err.message);
	return EXIT_BAD;
}

/* "merge" needs no daemon, and is handled before. */
static bool request_valid(int argc, char **argv)
{
	static const char *const verbs[] = {"status", "stats",	     "metrics",	 "flush", "epoch",
					    "stop",   "per-process", "per-unit", "merge"};
	struct error err;
	size_t i;

	if (optind == argc) {
		log_error("no command" ERROR_SEE_HELP("dcpictl"));
		return false;
	}
	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		int arguments = strcmp(verbs[i], "epoch") == 0 || verbs[i][0] == 'p' ? 2 : 1;

		if (strcmp(verbs[i], argv[optind]) != 0)
			continue;
		if (argc - optind <= arguments)
			return true;
		log_error(ERROR_UNEXPECTED_ARGUMENT("dcpictl"), argv[optind + arguments]);
		return false;
	}
	near_names_unknown(&err, "command", argv[optind], verbs, sizeof(verbs) / sizeof(verbs[0]));
	log_error("%s", err.message);
	return false;
}

static bool is_number(const char *text)
{
	return text[0] != '\0' && strlen(text) < 19 && strspn(text, "0123456789") == strlen(text);
}

static void value_print(void *context, const char *key, const char *value)
{
	struct output *output = context;

	if (strcmp(key, "db") == 0)
		snprintf(output->db, sizeof(output->db), "%s", value);
	if (output->silent)
		return;
	if (strcmp(key, "unmatched") == 0 && output->object == NULL) {
		fprintf(stderr, "dcpictl: no known image matches '%s'\n", value);
		return;
	}
	if (output->metrics != NULL)
		metrics_add(output->metrics, key, value);
	else if (output->object == NULL)
		printf("%-28s %s\n", key, value); /* as wide as stat.handler_miss_ns.N */
	else if (is_number(value))
		json_object_object_add(output->object, key,
				       json_object_new_int64((int64_t)strtoll(value, NULL, 10)));
	else
		json_object_object_add(output->object, key, json_object_new_string(value));
}

/* Send one request and process its reply. Return: exit status. */
static int request_make(struct control_client *client, const char *request, struct output *output)
{
	struct error err;

	if (control_client_ask(client, request, value_print, output, &err) == 0)
		return 0;
	log_error("%s", err.message);
	return EXIT_BAD;
}

static int db_check(struct control_client *client, const char *db)
{
	struct output output = {.silent = true};
	int status = request_make(client, "status", &output);

	if (status == 0 && strcmp(output.db, db) != 0) {
		log_error("the daemon writes to '%s', not to '%s'", output.db, db);
		status = EXIT_BAD;
	}
	return status;
}

static int metrics_ask(struct control_client *client)
{
	struct metrics metrics = {NULL, 0, 0};
	struct output output = {.metrics = &metrics};
	int status = request_make(client, "status", &output);

	if (status == 0)
		status = request_make(client, "stats", &output);
	if (status == 0)
		metrics_print(stdout, &metrics);
	metrics_deinit(&metrics);
	return status;
}

static int status_ask(struct control_client *client)
{
	struct metrics reply = {NULL, 0, 0};
	struct output output = {.metrics = &reply};
	int status = request_make(client, "status", &output);

	if (status == 0)
		status_text_print(stdout, &reply);
	metrics_deinit(&reply);
	return status;
}

static int command_run(const struct settings *settings, struct control_client *client, int argc,
		       char **argv)
{
	struct output output = {.silent = false};
	char request[CONTROL_REQUEST_BYTES];
	int status = 0;

	if (snprintf(request, sizeof(request), "%s%s%s", argv[optind], argc > optind + 1 ? " " : "",
		     argc > optind + 1 ? argv[optind + 1] : "") >= (int)sizeof(request) - 1 ||
	    strchr(request, '\n') != NULL) {
		log_error("'%s' is too long or has several lines", argv[optind + 1]);
		return EXIT_BAD;
	}
	/* On the socket, the name of the configuration's key is used. */
	if (strncmp(request, "per-", 4) == 0)
		request[3] = '_';
	if (settings->db != NULL)
		status = db_check(client, settings->db);
	if (status != 0)
		return status;
	if (strcmp(argv[optind], "metrics") == 0)
		return metrics_ask(client);
	if (strcmp(argv[optind], "status") == 0 && !settings->json)
		return status_ask(client);
	if (settings->json)
		output.object = json_object_new_object();
	status = request_make(client, request, &output);
	if (status == 0 && strcmp(argv[optind], "stop") == 0)
		/* the daemon closes the connection when it exits */
		control_client_wait_end(client);
	if (status == 0 && output.object != NULL)
		puts(json_object_to_json_string_ext(
			output.object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(output.object);
	return status;
}

static int merge_run(const struct settings *settings, int count, char **files)
{
	struct error err;

	if (count == 0 || settings->json) {
		log_error("merge needs databases to read, and does not support --json");
		return EXIT_BAD;
	}
	if (database_merge(settings->db != NULL ? settings->db : CONFIG_DB, files, (size_t)count,
			   &err) == 0)
		return 0;
	log_error("%s", err.message);
	return EXIT_BAD;
}

int main(int argc, char **argv)
{
	struct settings settings = {.socket = CONFIG_SOCKET};
	struct control_client *client = NULL;
	struct error err;
	int status;

	log_init("dcpictl");
	signal(SIGPIPE, SIG_IGN);
	status = dcpictl_options_parse(&settings, argc, argv);
	if (status >= 0)
		return status;
	if (optind < argc && strcmp(argv[optind], "merge") == 0)
		return merge_run(&settings, argc - optind - 1, argv + optind + 1);
	if (!request_valid(argc, argv))
		return EXIT_BAD;
	if (control_client_open(&client, settings.socket, &err) < 0) {
		log_error("%s", err.message);
		return EXIT_BAD;
	}
	status = command_run(&settings, client, argc, argv);
	control_client_close(client);
	return status;
}
