// SPDX-License-Identifier: GPL-2.0-only
#include "tools/web/web_server.h"

#include <errno.h>
#include <limits.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/report/cli.h"
#include "tools/web/web_answer.h"
#include "tools/web/web_client.h"
#include "tools/web/web_metrics.h"
#include "tools/web/web_report.h"

/* Memory of a connection for the request with its headers; a larger request is refused. */
#define REQUEST_BYTES (16 << 10)

/* struct web_request - a request; in the list of the server while its connection is suspended */
struct web_request {
	struct web_request *next;
	struct MHD_Connection *connection;
	struct web_query query;
	struct report_result *result;
};

struct web_server {
	const struct web_config *config;
	const struct web_listener *listener;
	struct MHD_Daemon *daemon;
	struct report_cache *reports;
	struct web_clients clients;
	struct web_counts counts;
	struct web_request *suspended;
	char *policy; /* of the page */
	int signals;
};

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static struct web_client *client_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info != NULL ? info->socket_context : NULL;
}

static bool wants_json(const char *path)
{
	return strncmp(path, "/api/", strlen("/api/")) == 0;
}

static enum MHD_Result answered(struct web_server *server, struct MHD_Connection *connection,
				unsigned int status, enum MHD_Result r)
{
	web_counts_add(&server->counts, status);
	web_client_enter(&server->clients, client_of(connection), WEB_CLIENT_READS);
	return r;
}

static enum MHD_Result refuse(struct web_server *server, struct MHD_Connection *connection,
			      unsigned int status, const char *path, const char *message)
{
	return answered(server, connection, status,
			web_answer_error(connection, status, wants_json(path), message));
}

/* A browser sends the token as a password, other programs as a bearer token. */
static bool token_valid(const struct web_token *token, struct MHD_Connection *connection)
{
	const char *bearer = web_token_bearer(header_of(connection, "Authorization"));
	char *password = NULL, *user;
	bool valid;

	if (!token->required || bearer != NULL)
		return web_token_matches(token, bearer);
	user = MHD_basic_auth_get_username_password(connection, &password);
	valid = web_token_matches(token, password);
	if (password != NULL)
		explicit_bzero(password, strlen(password));
	MHD_free(user);
	MHD_free(password);
	return valid;
}

struct host_check {
	const struct web_server *server;
	unsigned int count;
	bool allowed;
};

static enum MHD_Result check_host(void *context, enum MHD_ValueKind kind, const char *key,
				  const char *value)
{
	struct host_check *check = context;
	const struct web_config *config = check->server->config;

	(void)kind;
	if (strcasecmp(key, MHD_HTTP_HEADER_HOST) != 0)
		return MHD_YES;
	check->count++;
	check->allowed &=
		web_host_allowed(value, config->names, config->name_count) ||
		(value != NULL && *check->server->listener->host != '\0' &&
		 web_host_allowed(value, (const char *const[]){check->server->listener->host}, 1));
	return MHD_YES;
}

static bool host_valid(const struct web_server *server, struct MHD_Connection *connection)
{
	struct host_check check = {.server = server, .allowed = true};

	MHD_get_connection_values(connection, MHD_HEADER_KIND, check_host, &check);
	return check.count == 1 && check.allowed;
}

/* Check the client. Return: 0, or the status of the answer, with its @message. */
static unsigned int guard(const struct web_server *server, struct MHD_Connection *connection,
			  const char **message)
{
	const struct web_token *token = server->config->token;
	const struct web_client *client = client_of(connection);

	if (!host_valid(server, connection)) {
		*message = "the server does not have the name in the request: use localhost, or "
			   "start it with --host NAME";
		return MHD_HTTP_FORBIDDEN;
	}
	if (!web_fetch_allowed(header_of(connection, "Sec-Fetch-Site"),
			       header_of(connection, "Sec-Fetch-Mode"))) {
		*message = "requests of other sites are not answered";
		return MHD_HTTP_FORBIDDEN;
	}
	if (!token->required && (client == NULL || !client->own)) {
		*message = "only processes of the server's user are answered: use --token-file or "
			   "--socket";
		return MHD_HTTP_FORBIDDEN;
	}
	if (!token_valid(token, connection)) {
		*message = "a token is required";
		return MHD_HTTP_UNAUTHORIZED;
	}
	return 0;
}

/* Check the form of a request. Return: 0, or the status of the answer. */
static unsigned int check_form(struct MHD_Connection *connection, const char *method,
			       const char **message)
{
	const char *length = header_of(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);

	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0) {
		*message = "only GET and HEAD are supported";
		return MHD_HTTP_METHOD_NOT_ALLOWED;
	}
	if ((length != NULL && strcmp(length, "0") != 0) ||
	    header_of(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING) != NULL) {
		*message = "a request must not have a body";
		return MHD_HTTP_CONTENT_TOO_LARGE;
	}
	return 0;
}

/* struct query_parse - parameters are added to a query until one is not valid */
struct query_parse {
	struct web_query *query;
	struct error *err;
	int r;
};

static enum MHD_Result add_parameter(void *context, enum MHD_ValueKind kind, const char *key,
				     size_t key_bytes, const char *value, size_t value_bytes)
{
	struct query_parse *parse = context;

	(void)kind;
	if (strlen(key) != key_bytes)
		parse->r = error_set(parse->err, EINVAL, "the name of a parameter is not valid");
	else
		parse->r = web_query_add(parse->query, key, value, value_bytes, parse->err);
	return parse->r == 0 ? MHD_YES : MHD_NO;
}

static int parse_query(struct web_query *query, struct MHD_Connection *connection,
		       struct error *err)
{
	struct query_parse parse = {.query = query, .err = err};

	MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, add_parameter, &parse);
	return parse.r == 0 ? web_query_check(query, err) : parse.r;
}

/* Start the report of a request, or find it. */
static int start_report(struct web_server *server, struct web_request *request, struct error *err)
{
	const struct web_config *config = server->config;
	const char *database = config->limits.database;
	struct database_state state = database_state_read(database);
	char **command = web_query_command(&request->query, config->folder, database, config->cli);

	if (command == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return report_cache_get(server->reports, command, request->query.moves, &state,
				&request->result, err);
}

/* Return: the last line of a report's messages, without the name of the program. */
static const char *reason_of(const struct web_request *request, char text[REPORT_MESSAGE_BYTES])
{
	const char *program = request->query.report->program;
	size_t bytes = strlen(program);
	char *line;

	memcpy(text, request->result->message, REPORT_MESSAGE_BYTES);
	for (size_t end = strlen(text); end > 0 && text[end - 1] == '\n'; end--)
		text[end - 1] = '\0';
	line = strrchr(text, '\n');
	line = line != NULL ? line + 1 : text;
	if (strncmp(line, program, bytes) == 0 && strncmp(line + bytes, ": ", 2) == 0)
		line += bytes + 2;
	return *line != '\0' ? line : "the report failed";
}

static enum MHD_Result answer_failure(struct web_server *server, struct web_request *request)
{
	static const struct {
		unsigned int status;
		const char *message; /* NULL: that of the report */
	} answers[REPORT_ENDS] = {
		[REPORT_NOTHING] = {MHD_HTTP_NOT_FOUND, NULL},
		[REPORT_REFUSED] = {MHD_HTTP_INTERNAL_SERVER_ERROR, NULL},
		[REPORT_CRASHED] = {MHD_HTTP_INTERNAL_SERVER_ERROR, "the report crashed"},
		[REPORT_LATE] = {MHD_HTTP_GATEWAY_TIMEOUT,
				 "the report took too long: select less, or use dcpireport"},
		[REPORT_LARGE] = {MHD_HTTP_INTERNAL_SERVER_ERROR,
				  "the report is too large: select less"},
	};
	enum report_end end = request->result->end;
	unsigned int status = answers[end].status;
	char text[REPORT_MESSAGE_BYTES];

	/* With parameters, the report refuses these: a name, for example, that does not exist. */
	if (end == REPORT_REFUSED && web_query_any(&request->query))
		status = MHD_HTTP_UNPROCESSABLE_CONTENT;
	return refuse(server, request->connection, status, request->query.report->path,
		      answers[end].message != NULL ? answers[end].message
						   : reason_of(request, text));
}

static enum MHD_Result answer_result(struct web_server *server, struct web_request *request)
{
	const struct web_query *query = &request->query;
	const char *known = header_of(request->connection, MHD_HTTP_HEADER_IF_NONE_MATCH);
	struct report_result *result = request->result;
	bool metrics = strcmp(query->report->path, "/metrics") == 0;
	char *before = NULL;

	if (metrics) {
		before = web_metrics_text(&server->counts, report_cache_counts(server->reports),
					  &server->clients, result->end == REPORT_OK);
		if (before == NULL)
			return MHD_NO;
	} else if (result->end != REPORT_OK) {
		return answer_failure(server, request);
	} else if (known != NULL && strcmp(known, result->tag) == 0) {
		return answered(
			server, request->connection, MHD_HTTP_NOT_MODIFIED,
			web_answer_unchanged(request->connection, query, server->policy, result));
	}
	return answered(
		server, request->connection, MHD_HTTP_OK,
		web_answer_report(request->connection, query, server->policy, result, before));
}

static enum MHD_Result wait_for_report(struct web_server *server, struct web_request *request)
{
	web_client_enter(&server->clients, client_of(request->connection), WEB_CLIENT_WAITS);
	request->next = server->suspended;
	server->suspended = request;
	MHD_suspend_connection(request->connection);
	return MHD_YES;
}

static enum MHD_Result begin_report(struct web_server *server, struct web_request *request,
				    const char *path)
{
	struct error err = {0};
	int r;

	/* Browsers ask for it. */
	if (strcmp(path, "/favicon.ico") == 0)
		return answered(server, request->connection, MHD_HTTP_NO_CONTENT,
				web_answer_empty(request->connection));
	request->query.report = web_report_find(path);
	if (request->query.report == NULL)
		return refuse(server, request->connection, MHD_HTTP_NOT_FOUND, path,
			      "there is no such resource");
	r = parse_query(&request->query, request->connection, &err);
	if (r == -EINVAL)
		return refuse(server, request->connection, MHD_HTTP_BAD_REQUEST, path, err.message);
	request->query.live_s = server->config->live_s;
	if (r == 0)
		r = start_report(server, request, &err);
	if (r < 0)
		return refuse(server, request->connection, MHD_HTTP_SERVICE_UNAVAILABLE, path,
			      err.message);
	if (request->result->stage != REPORT_DONE)
		return wait_for_report(server, request);
	return answer_result(server, request);
}

/* The library keeps a connection only if it may read the whole request before the answer. */
static enum MHD_Result accept_request(struct MHD_Connection *connection, void **state)
{
	struct web_request *request = calloc(1, sizeof(*request));

	if (request == NULL)
		return MHD_NO;
	request->connection = connection;
	*state = request;
	return MHD_YES;
}

/*
 * Handle a request: called after its headers, after its end, and after its connection was resumed.
 */
static enum MHD_Result
handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
       const char *version, const char *data,
       /* NOLINTNEXTLINE(readability-non-const-parameter): type of the library */
       size_t *data_bytes, void **state)
{
	struct web_server *server = context;
	struct web_request *request = *state;
	const char *message = NULL;
	unsigned int status;

	(void)version;
	(void)data;
	(void)data_bytes;
	if (client_of(connection) == NULL)
		return MHD_NO;
	if (request != NULL && request->result != NULL)
		return answer_result(server, request);
	if (request != NULL)
		return begin_report(server, request, url);
	status = guard(server, connection, &message);
	if (status == 0)
		status = check_form(connection, method, &message);
	if (status != 0)
		return refuse(server, connection, status, url, message);
	return accept_request(connection, state);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **state,
			 enum MHD_RequestTerminationCode why)
{
	struct web_server *server = context;
	struct web_request *request = *state;
	struct web_client *client = client_of(connection);

	(void)why;
	if (client != NULL)
		web_client_enter(&server->clients, client, WEB_CLIENT_REQUESTS);
	if (request == NULL)
		return;
	*state = NULL;
	report_result_put(request->result);
	web_query_deinit(&request->query);
	free(request);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **client,
			  enum MHD_ConnectionNotificationCode what)
{
	struct web_server *server = context;
	const union MHD_ConnectionInfo *info;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		web_client_close(&server->clients, *client);
		*client = NULL;
		return;
	}
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	*client = info != NULL ? web_client_open(&server->clients, info->connect_fd) : NULL;
}

/* Resume the connections whose reports have ended; @all: every one. */
static void resume(struct web_server *server, bool all)
{
	struct web_request **at = &server->suspended;

	while (*at != NULL) {
		struct web_request *request = *at;

		if (!all && request->result->stage != REPORT_DONE) {
			at = &request->next;
			continue;
		}
		*at = request->next;
		MHD_resume_connection(request->connection);
	}
}

static int poll_ms(struct MHD_Daemon *daemon, uint64_t deadline_ns)
{
	uint64_t now_ns = clock_monotonic_ns(), ms = INT_MAX;
	MHD_UNSIGNED_LONG_LONG library_ms;

	if (deadline_ns != UINT64_MAX)
		ms = deadline_ns > now_ns ? (deadline_ns - now_ns) / NS_PER_MS + 1 : 0;
	if (MHD_get_timeout(daemon, &library_ms) == MHD_YES && library_ms < ms)
		ms = library_ms;
	return ms < INT_MAX ? (int)ms : -1;
}

/*
 * The library stops listening while it has as many connections as it may. It listens again in the
 * next step after one was closed, for which there may be no other reason.
 */
static void run_library(struct web_server *server)
{
	unsigned int before;

	do {
		before = server->clients.count;
		MHD_run(server->daemon);
	} while (server->clients.count < before);
}

static void serve(struct web_server *server)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd polls[2 + REPORT_CACHE_WORKERS_MAX * REPORT_PROCESS_FILES] = {
		{.fd = server->signals, .events = POLLIN},
		{.fd = info->epoll_fd, .events = POLLIN},
	};

	while ((polls[0].revents & POLLIN) == 0) {
		uint64_t deadline_ns = web_clients_end_late(&server->clients, clock_monotonic_ns());
		size_t count = 2 + report_cache_poll(server->reports, polls + 2, &deadline_ns);

		if (poll(polls, count, poll_ms(server->daemon, deadline_ns)) < 0)
			continue;
		report_cache_advance(server->reports);
		resume(server, false);
		run_library(server);
	}
}

/* A NUL would end a path or a value early. It becomes a character that none may contain. */
static size_t decode(void *context, struct MHD_Connection *connection, char *text)
{
	size_t bytes = MHD_http_unescape(text);

	(void)context;
	(void)connection;
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] == '\0')
			text[i] = '\1';
	}
	return bytes;
}

static int start_daemon(struct web_server *server, struct error *err)
{
	const struct web_config *config = server->config;

	server->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle, server,
		MHD_OPTION_LISTEN_SOCKET, server->listener->fd, MHD_OPTION_CONNECTION_LIMIT,
		config->connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES,
		MHD_OPTION_CONNECTION_TIMEOUT, config->request_s, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_NOTIFY_COMPLETED, on_completed,
		server, MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,
		MHD_OPTION_UNESCAPE_CALLBACK, decode, NULL, MHD_OPTION_END);
	return server->daemon != NULL ? 0 : error_set(err, EIO, "cannot start the HTTP server");
}

/* Signals are read from a descriptor, so that none arrives between two checks. */
static int open_signals(struct error *err)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd >= 0 ? fd : error_set_errno(err, ERROR_EVENT_DESCRIPTOR);
}

static void server_stop(struct web_server *server)
{
	/* Suspended connections have to be resumed; their clients get no answer. */
	for (struct web_client *client = server->clients.first; client != NULL;
	     client = client->next)
		shutdown(client->fd, SHUT_RDWR);
	resume(server, true);
	if (server->daemon != NULL)
		MHD_stop_daemon(server->daemon);
	report_cache_destroy(server->reports);
	free(server->policy);
	if (server->signals >= 0)
		close(server->signals);
}

int web_server_run(const struct web_config *config, const struct web_listener *listener,
		   struct error *err)
{
	struct web_server server = {
		.config = config,
		.listener = listener,
		.clients = {.request_ns = config->request_s * NS_PER_SECOND,
			    .answer_ns = config->answer_s * NS_PER_SECOND},
		.reports = report_cache_create(&config->limits),
		.policy = web_policy_init(),
		.signals = -1,
	};
	int r = 0;

	if (server.reports == NULL || server.policy == NULL)
		r = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r == 0)
		r = server.signals = open_signals(err);
	if (r >= 0)
		r = start_daemon(&server, err);
	if (r == 0)
		serve(&server);
	server_stop(&server);
	return r;
}
