// SPDX-License-Identifier: GPL-2.0-only
/* dcpiweb - a profile database for browsers and programs: a page, JSON and metrics over HTTP */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/options.h"
#include "tools/report/cli.h"
#include "tools/report/sandboxed.h"
#include "tools/web/database_metrics.h"
#include "tools/web/web_server.h"

#define ADDRESS_DEFAULT "127.0.0.1:8197"
#define WAITING_MAX 32
#define REPORT_BYTES_MAX (32 << 20)
#define RESULTS_BYTES_MAX (64 << 20)
#define ANSWER_FACTOR 6
#define TIMEOUT_S 120

enum {
	KEY_LISTEN = 1001,
	KEY_SOCKET,
	KEY_GROUP,
	KEY_TOKEN_FILE,
	KEY_HOST_NAME,
	KEY_WORKERS,
	KEY_TIMEOUT,
	KEY_CONNECTIONS,
	KEY_REQUEST_TIMEOUT,
	KEY_LIVE,
	KEY_METRICS,
};

static const struct option_entry own_options[] = {
	{KEY_LISTEN, "listen", "ADDRESS:PORT", "listen there; default: " ADDRESS_DEFAULT},
	{KEY_SOCKET, "socket", "PATH", "listen on this Unix socket instead"},
	{KEY_GROUP, "group", "NAME", "members of this group may connect to the Unix socket"},
	{KEY_TOKEN_FILE, "token-file", "FILE", "answer only clients that send this file's token"},
	{KEY_HOST_NAME, "host", "NAME", "also answer requests that name the server NAME"},
	{KEY_WORKERS, "workers", "N", "make N reports at a time (default: 2)"},
	{KEY_TIMEOUT, "timeout", "SECONDS", "end a report after this time (default: 120)"},
	{KEY_CONNECTIONS, "connections", "N", "serve N connections at a time (default: 64)"},
	{KEY_REQUEST_TIMEOUT, "request-timeout", "SECONDS",
	 "end a connection whose request takes longer (default: 10)"},
	{KEY_LIVE, "live", "SECONDS", "let the page look for new data this often (10; 0: never)"},
	{KEY_METRICS, "metrics", NULL, "print the metrics of the database, and end"},
};

/* struct web - options, and the state of the server */
struct web {
	struct cli cli;
	struct web_config config;
	struct web_token token;
	const char *address;
	const char *socket;
	const char *group;
	const char *token_file;
	const char **names;
	size_t name_count;
	bool metrics;
	char database[PATH_MAX];
	char folder[PATH_MAX];
};

static int set_limit(unsigned int *limit, const char *argument, const char *what, unsigned int most,
		     struct error *err)
{
	int64_t number = 0;
	int r = cli_number(argument, what, &number, err);

	if (r == 0 && number > most)
		return error_set(err, EINVAL, ERROR_NOT_VALID " (1 to %u)", argument, what, most);
	*limit = (unsigned int)number;
	return r;
}

static int add_name(struct web *web, const char *name, struct error *err)
{
	size_t capacity = web->name_count;

	if (array_reserve(&web->names, &capacity, web->name_count + 1, sizeof(*web->names)) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	web->names[web->name_count++] = name;
	return 0;
}

static int set_timeout(struct web *web, const char *argument, struct error *err)
{
	unsigned int seconds = 0;
	int r = set_limit(&seconds, argument, "number of seconds", 86400, err);

	web->config.limits.timeout_ns = seconds * NS_PER_SECOND;
	return r;
}

static int set_live(unsigned int *seconds, const char *argument, struct error *err)
{
	*seconds = 0;
	return strcmp(argument, "0") == 0
		       ? 0
		       : set_limit(seconds, argument, "number of seconds", 86400, err);
}

static int dcpiweb_set_option(void *context, int key, const char *argument, struct error *err)
{
	struct web *web = context;
	struct web_config *config = &web->config;

	switch (key) {
	case KEY_LISTEN:
		web->address = argument;
		break;
	case KEY_SOCKET:
		web->socket = argument;
		break;
	case KEY_GROUP:
		web->group = argument;
		break;
	case KEY_TOKEN_FILE:
		web->token_file = argument;
		break;
	case KEY_HOST_NAME:
		return add_name(web, argument, err);
	case KEY_WORKERS:
		return set_limit(&config->limits.workers, argument, "number of reports",
				 REPORT_CACHE_WORKERS_MAX, err);
	case KEY_TIMEOUT:
		return set_timeout(web, argument, err);
	case KEY_CONNECTIONS:
		return set_limit(&config->connections, argument, "number of connections", 1000,
				 err);
	case KEY_LIVE:
		return set_live(&config->live_s, argument, err);
	case KEY_REQUEST_TIMEOUT:
		return set_limit(&config->request_s, argument, "number of seconds", 3600, err);
	default:
		web->metrics = true;
		break;
	}
	return 0;
}

static const struct cli_tool tool = {
	.name = "dcpiweb",
	.synopsis = "[OPTION]...",
	.summary = "Serve a profile database over HTTP: the page of dcpireport, JSON and metrics "
		   "for Prometheus.",
	.accepts = CLI_SYMBOLS | CLI_SOURCES,
	.options = own_options,
	.option_count = sizeof(own_options) / sizeof(*own_options),
	.set = dcpiweb_set_option,
};

static int check_options(const struct web *web, struct error *err)
{
	if (web->socket != NULL && web->address != NULL)
		return error_set(err, EINVAL, ERROR_EXCLUSIVE("--listen", "--socket"));
	if (web->group != NULL && web->socket == NULL)
		return error_set(err, EINVAL, "--group needs --socket");
	return 0;
}

/* Find the programs of the reports next to this one. */
static int find_folder(char folder[PATH_MAX], struct error *err)
{
	ssize_t bytes = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	char *slash;

	if (bytes < 0)
		return error_set_errno(err, ERROR_READ, "/proc/self/exe");
	folder[bytes] = '\0';
	slash = strrchr(folder, '/');
	if (slash == NULL)
		return error_set(err, ENOENT, ERROR_FIND, "dcpireport");
	*slash = '\0';
	return 0;
}

/* The database may be created later: the server then answers that it does not exist. */
static int find_database(char path[PATH_MAX], const char *name, struct error *err)
{
	_cleanup_free_ char *folder = NULL;

	if (*name == '/') {
		if (snprintf(path, PATH_MAX, "%s", name) < PATH_MAX)
			return 0;
	} else {
		folder = getcwd(NULL, 0);
		if (folder == NULL)
			return error_set_errno(err, ERROR_FIND, name);
		if (snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX)
			return 0;
	}
	return error_set(err, ENAMETOOLONG, ERROR_FIND, name);
}

static int open_listener(struct web *web, struct web_listener *listener, struct error *err)
{
	const char *address = web->address != NULL ? web->address : ADDRESS_DEFAULT;
	int r;

	if (web->socket != NULL)
		return web_listener_open_unix(listener, web->socket, web->group, err);
	r = web_listener_open_tcp(listener, address, err);
	if (r == 0 && !listener->loopback && !web->token.required)
		return error_set(err, EINVAL,
				 "other machines can connect to '%s': use --token-file", address);
	return r;
}

static int run_server(struct web *web, struct error *err)
{
	struct web_listener listener = {.fd = -1};
	int r = find_folder(web->folder, err);

	/* The token must not get into a core file. */
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (r == 0)
		r = find_database(web->database, web->cli.database, err);
	if (r == 0 && web->token_file != NULL)
		r = web_token_read(&web->token, web->token_file, err);
	if (r == 0)
		r = open_listener(web, &listener, err);
	web->config.cli = &web->cli;
	web->config.folder = web->folder;
	web->config.names = web->names;
	web->config.name_count = web->name_count;
	web->config.token = &web->token;
	web->config.limits.database = web->database;
	web->config.answer_s = ANSWER_FACTOR * web->config.request_s;
	if (r == 0) {
		fprintf(stderr, "dcpiweb: listening on %s\n", listener.url);
		r = web_server_run(&web->config, &listener, err);
	}
	web_listener_close(&listener);
	return r;
}

static int print_metrics(struct web *web, struct error *err)
{
	int r = database_metrics_print(stdout, &web->cli, err);

	return r == 0 ? cli_finish_output(err) : r;
}

int main(int argc, char **argv)
{
	struct web web = {
		.config = {.limits = {.workers = 2,
				      .waiting = WAITING_MAX,
				      .timeout_ns = TIMEOUT_S * NS_PER_SECOND,
				      .report_bytes = REPORT_BYTES_MAX,
				      .results_bytes = RESULTS_BYTES_MAX},
			   .connections = 64,
			   .live_s = 10,
			   .request_s = 10},
	};
	struct error err = {0};
	int status = cli_parse(&web.cli, &tool, argc, argv, &web), r = 0;

	if (status == CLI_RUN)
		r = check_options(&web, &err);
	if (status == CLI_RUN && r == 0 && web.metrics)
		status = sandboxed_start(&web.cli, NULL);
	if (status == CLI_RUN) {
		if (r == 0)
			r = web.metrics ? print_metrics(&web, &err) : run_server(&web, &err);
		status = r < 0 ? cli_fail(&web.cli, &err) : CLI_OK;
	}
	free(web.names);
	cli_deinit(&web.cli);
	return status;
}
