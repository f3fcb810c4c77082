// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/file_broker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/image/debug_server.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/image_store.h"
#include "tools/base/graphviz.h"
#include "tools/report/control_proxy.h"
#include "tools/report/symbol_cache.h"

#define SOURCE_BYTES_MAX (16 << 20)

struct refused {
	char *path;
	char *reason;
};

struct file_broker {
	const struct cli *cli;
	struct file_broker_access access;
	char **databases; /* canonical paths, as from realpath(3) */
	size_t database_count;
	size_t database_capacity;
	struct refused *refused;
	size_t refused_count;
	size_t refused_capacity;
	/*
	 * The report has read a file that another user could write. Its indexes are no longer
	 * stored: they could give wrong names to other images in later reports.
	 */
	bool tainted;
};

/* Add the database of an operand DATABASE or DATABASE@EPOCHS. */
static int add_database(struct file_broker *broker, const char *operand)
{
	const char *at = strrchr(operand, '@');
	char *path = realpath(operand, NULL);

	if (path == NULL && at != NULL) {
		_cleanup_free_ char *name = strndup(operand, (size_t)(at - operand));

		path = name != NULL ? realpath(name, NULL) : NULL;
	}
	if (path == NULL)
		return 0;
	if (array_reserve(&broker->databases, &broker->database_capacity,
			  broker->database_count + 1, sizeof(*broker->databases)) < 0) {
		free(path);
		return -ENOMEM;
	}
	broker->databases[broker->database_count++] = path;
	return 0;
}

struct file_broker *file_broker_create(const struct cli *cli,
				       const struct file_broker_access *access)
{
	struct file_broker *broker = calloc(1, sizeof(*broker));
	int r = broker != NULL ? 0 : -ENOMEM;

	if (r == 0) {
		broker->cli = cli;
		broker->access = *access;
	}
	for (size_t i = 0; r == 0 && i < cli->database_count; i++)
		r = add_database(broker, cli->databases[i]);
	for (size_t i = 0; r == 0 && i < cli->operand_count; i++)
		r = add_database(broker, cli->operands[i]);
	if (r == 0)
		return broker;
	file_broker_destroy(broker);
	return NULL;
}

void file_broker_destroy(struct file_broker *broker)
{
	if (broker == NULL)
		return;
	for (size_t i = 0; i < broker->database_count; i++)
		free(broker->databases[i]);
	for (size_t i = 0; i < broker->refused_count; i++) {
		free(broker->refused[i].path);
		free(broker->refused[i].reason);
	}
	free(broker->databases);
	free(broker->refused);
	free(broker);
}

void file_broker_forget_owners(struct file_broker *broker)
{
	broker->tainted = false;
}

int file_broker_refuse(struct file_broker *broker, const char *path, const char *reason)
{
	struct refused refused = {.path = strdup(path), .reason = strdup(reason)};

	if (refused.path == NULL || refused.reason == NULL ||
	    array_reserve(&broker->refused, &broker->refused_capacity, broker->refused_count + 1,
			  sizeof(refused)) < 0) {
		free(refused.path);
		free(refused.reason);
		return -ENOMEM;
	}
	broker->refused[broker->refused_count++] = refused;
	return 0;
}

static const char *refusal_of(const struct file_broker *broker, const char *path)
{
	for (size_t i = 0; i < broker->refused_count; i++) {
		if (strcmp(broker->refused[i].path, path) == 0)
			return broker->refused[i].reason;
	}
	return NULL;
}

/*
 * Open a regular file for reading. The open must not block (a FIFO) or have effects (a tape drive).
 */
static int open_regular(const char *path, int flags, struct stat *status)
{
	_cleanup_close_ int fd =
		open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (flags & O_NOFOLLOW));

	if (fd < 0 || fstat(fd, status) < 0)
		return -errno;
	return S_ISREG(status->st_mode) ? take_fd(fd) : -EMEDIUMTYPE;
}

static bool others_could_write(const struct stat *status, const char *path)
{
	return (status->st_uid != 0 && status->st_uid != geteuid()) || image_store_is_users(path);
}

static int open_image(struct file_broker *broker, const char *path)
{
	static const char magic[] = {0x7f, 'E', 'L', 'F'};
	_cleanup_close_ int fd = -1;
	char start[sizeof(magic)];
	struct stat status;

	fd = open_regular(path, 0, &status);
	if (fd < 0)
		return fd;
	if (pread(fd, start, sizeof(start), 0) != sizeof(start) ||
	    memcmp(start, magic, sizeof(magic)) != 0)
		return -ENOEXEC;
	broker->tainted |= others_could_write(&status, path);
	return take_fd(fd);
}

static int open_source(const struct file_broker *broker, const char *path)
{
	_cleanup_close_ int fd = -1;
	struct stat status;

	if ((broker->cli->accepts & CLI_SOURCES) == 0)
		return -EPERM;
	fd = open_regular(path, 0, &status);
	if (fd < 0)
		return fd;
	return status.st_size <= SOURCE_BYTES_MAX ? take_fd(fd) : -EFBIG;
}

/* Return: the part of a path after that of a database: "", "-wal"; NULL: not a database's file. */
static const char *database_suffix(const struct file_broker *broker, const char *path,
				   const char **database)
{
	static const char *const suffixes[] = {"", "-wal", "-shm", "-journal", "-lock"};

	for (size_t i = 0; i < broker->database_count; i++) {
		size_t bytes = strlen(broker->databases[i]);

		*database = broker->databases[i];
		if (strncmp(path, *database, bytes) != 0)
			continue;
		for (size_t j = 0; j < sizeof(suffixes) / sizeof(*suffixes); j++) {
			if (strcmp(path + bytes, suffixes[j]) == 0)
				return path + bytes;
		}
	}
	return NULL;
}

/*
 * Give a file that was just created next to a database the database's owner and mode, as SQLite
 * does.
 */
static int adopt_owner(int fd, const char *database)
{
	struct stat status;

	if (geteuid() != 0 || fstat(fd, &status) < 0 || status.st_size > 0)
		return 0;
	if (stat(database, &status) < 0 || fchmod(fd, status.st_mode & 0666) < 0 ||
	    fchown(fd, status.st_uid, status.st_gid) < 0)
		return -errno;
	return 0;
}

/*
 * Open a file of a database. Readers write only to the shared memory that indexes the log. They may
 * have to create an empty log, which SQLite then opens for reading.
 */
static int open_database(const struct file_broker *broker, const char *path, int flags, mode_t mode)
{
	const char *database = NULL, *suffix = database_suffix(broker, path, &database);
	bool log = suffix != NULL && strcmp(suffix, "-wal") == 0;
	bool shared = suffix != NULL && strcmp(suffix, "-shm") == 0;
	bool writes = (flags & O_ACCMODE) != O_RDONLY;
	_cleanup_close_ int fd = -1;
	struct stat status;
	int r;

	if (suffix == NULL)
		return -EPERM;
	if (writes && !shared && !(log && (flags & O_CREAT) != 0))
		return -EACCES;
	fd = open(path,
		  (shared && writes ? O_RDWR : O_RDONLY) | (flags & O_NOFOLLOW) | O_NONBLOCK |
			  O_CLOEXEC | (writes ? flags & O_CREAT : 0),
		  mode & 0666);
	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EMEDIUMTYPE;
	r = writes ? adopt_owner(fd, database) : 0;
	if (r < 0 || (log && writes))
		return r < 0 ? r : -EACCES;
	return take_fd(fd);
}

static bool names_file(const char *const *names, size_t count, const char *path)
{
	size_t i = 0;

	while (i < count && strcmp(names[i], path) != 0)
		i++;
	return i < count;
}

static int open_operand(const struct file_broker *broker, const char *path)
{
	int fd;

	if (!names_file((const char *const *)broker->cli->operands, broker->cli->operand_count,
			path) &&
	    !names_file(broker->access.inputs, broker->access.input_count, path))
		return -EPERM;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_output(const struct file_broker *broker, const char *path)
{
	int fd;

	if (broker->access.output == NULL || strcmp(path, broker->access.output) != 0)
		return -EPERM;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return fd < 0 ? -errno : fd;
}

static int remove_output(const struct file_broker *broker, const char *path)
{
	if (broker->access.output == NULL || strcmp(path, broker->access.output) != 0)
		return -EPERM;
	return unlink(path) < 0 ? -errno : 0;
}

static int open_file(struct file_broker *broker, const struct broker_packet *request,
		     const char *path)
{
	switch (request->message.kind) {
	case BROKER_IMAGE:
		return open_image(broker, path);
	case BROKER_SOURCE:
		return open_source(broker, path);
	case BROKER_INDEX:
		return symbol_cache_open_index(broker->cli->symbol_cache, path);
	case BROKER_DATABASE:
		return open_database(broker, path, request->message.flags, request->message.mode);
	case BROKER_OPERAND:
		return open_operand(broker, path);
	case BROKER_OUTPUT:
		return open_output(broker, path);
	}
	return -EPERM;
}

/* Serve an open request: the reply has the descriptor, or the reason why the file is refused. */
static int serve_open(struct file_broker *broker, const struct broker_packet *request,
		      const char *path, struct broker_packet *reply)
{
	const char *reason =
		request->message.kind == BROKER_IMAGE ? refusal_of(broker, path) : NULL;

	if (reason != NULL) {
		broker_packet_set_text(reply, reason);
		return -ENOTRECOVERABLE;
	}
	reply->fds[0] = open_file(broker, request, path);
	return reply->fds[0] < 0 ? reply->fds[0] : 0;
}

static int serve_stat(const char *path, struct broker_packet *reply)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return -errno;
	memcpy(reply->message.data, &status, sizeof(status));
	reply->message.bytes = sizeof(status);
	return 0;
}

static int serve_realpath(const char *path, struct broker_packet *reply)
{
	_cleanup_free_ char *real = realpath(path, NULL);

	return real != NULL ? broker_packet_set_text(reply, real) : -errno;
}

static int serve_path(struct file_broker *broker, const struct broker_packet *request,
		      const char *path, struct broker_packet *reply)
{
	switch (request->message.operation) {
	case BROKER_OPEN:
		return serve_open(broker, request, path, reply);
	case BROKER_STAT:
		return serve_stat(path, reply);
	case BROKER_ACCESS:
		return access(path, request->message.flags) < 0 ? -errno : 0;
	case BROKER_REALPATH:
		return serve_realpath(path, reply);
	case BROKER_UNLINK:
		return request->message.kind == BROKER_OUTPUT ? remove_output(broker, path)
							      : -EPERM;
	case BROKER_STORE_INDEX:
		return broker->tainted ? -EPERM
				       : symbol_cache_store_index(broker->cli->symbol_cache, path,
								  request->fds[0]);
	case BROKER_DRAW:
		return graphviz_run(path, request->fds);
	}
	return -EPERM;
}

/* Return: the number of requests for files of servers in a packet; 0: it is malformed. */
static size_t server_requests(struct debug_server_request ret[DEBUG_SERVER_REQUESTS_MAX],
			      const struct broker_packet *request)
{
	size_t count = request->message.bytes / sizeof(*ret);

	if (request->message.bytes % sizeof(*ret) != 0 || count > DEBUG_SERVER_REQUESTS_MAX)
		return 0;
	memcpy(ret, request->message.data, request->message.bytes);
	for (size_t i = 0; i < count; i++) {
		if (ret[i].bytes > sizeof(ret[i].id) || (ret[i].kind != DEBUG_SERVER_EXECUTABLE &&
							 ret[i].kind != DEBUG_SERVER_DEBUGINFO))
			return 0;
	}
	return count;
}

static int serve_servers(const struct file_broker *broker, const struct broker_packet *request,
			 struct broker_packet *reply)
{
	struct debug_server_request requests[DEBUG_SERVER_REQUESTS_MAX];
	size_t count = server_requests(requests, request);
	_cleanup_free_ char *path = NULL;

	if (!broker->cli->debug.debuginfod || count == 0)
		return -EPERM;
	if (request->message.operation == BROKER_FETCH) {
		debug_server_fetch(requests, count);
		return 0;
	}
	path = debug_server_find(requests[0].kind, requests[0].id, requests[0].bytes);
	return path != NULL ? broker_packet_set_text(reply, path) : -ENOENT;
}

void file_broker_serve(struct file_broker *broker, struct broker_packet *packet)
{
	enum broker_operation operation = (enum broker_operation)packet->message.operation;
	const char *path = broker_packet_text(packet);
	struct broker_packet reply;
	int r;

	broker_packet_init(&reply, operation);
	if (operation == BROKER_FETCH || operation == BROKER_FIND) {
		r = serve_servers(broker, packet, &reply);
	} else if (operation == BROKER_CONNECT) {
		r = reply.fds[0] = control_proxy_start(broker->access.socket);
		r = r < 0 ? r : 0;
	} else {
		r = path != NULL ? serve_path(broker, packet, path, &reply) : -EPROTO;
	}
	reply.message.result = r;
	broker_packet_close(packet);
	*packet = reply;
}
