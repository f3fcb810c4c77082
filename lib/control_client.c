// SPDX-License-Identifier: GPL-2.0-only
#include "lib/control_client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* Longer than any line of a reply, because a whole reply is never longer. */
#define LINE_BYTES_MAX 16384
#define REQUEST_BYTES_MAX 511

struct control_client {
	int fd;
	size_t bytes; /* of @buffer that were received but not processed */
	char buffer[LINE_BYTES_MAX];
};

/* Distinguish a daemon that refuses access from one that does not run. */
int control_client_failed(const char *path, int errnum, struct error *err)
{
	if (errnum == ENOENT || errnum == ECONNREFUSED)
		return error_set(err, errnum, "no daemon listens on '%s': %s", path,
				 strerror(errnum));
	if (errnum == EACCES || errnum == EPERM)
		return error_set(err, errnum,
				 "cannot connect to '%s': %s (permitted: root, the daemon's user "
				 "and group dcpi)",
				 path, strerror(errnum));
	return error_set(err, errnum, "cannot connect to '%s': %s", path, strerror(errnum));
}

int control_client_from(struct control_client **ret, int fd, struct error *err)
{
	struct control_client *client = fd >= 0 ? calloc(1, sizeof(*client)) : NULL;

	if (client == NULL) {
		if (fd >= 0)
			close(fd);
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	client->fd = fd;
	*ret = client;
	return 0;
}

int control_client_open(struct control_client **ret, const char *path, struct error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(address.sun_path))
		return error_set(err, ENAMETOOLONG, ERROR_SOCKET_PATH, path);
	memcpy(address.sun_path, path, strlen(path));
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return control_client_failed(path, errno, err);
	return control_client_from(ret, take_fd(fd), err);
}

void control_client_close(struct control_client *client)
{
	if (client == NULL)
		return;
	close(client->fd);
	free(client);
}

int control_client_fd(const struct control_client *client)
{
	return client->fd;
}

static int hung_up(struct error *err)
{
	return error_set(err, ECONNRESET,
			 "the daemon closed the connection (permitted: root, the daemon's user and "
			 "group dcpi)");
}

static int send_all(struct control_client *client, const char *data, size_t bytes,
		    struct error *err)
{
	while (bytes > 0) {
		ssize_t sent = send(client->fd, data, bytes, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return errno == EPIPE || errno == ECONNRESET
				       ? hung_up(err)
				       : error_set_errno(err,
							 "cannot send a request to the daemon");
		data += sent;
		bytes -= (size_t)sent;
	}
	return 0;
}

int control_client_send(struct control_client *client, const char *request, struct error *err)
{
	size_t length = strlen(request);
	int r;

	if (length > REQUEST_BYTES_MAX || strchr(request, '\n') != NULL)
		return error_set(err, EINVAL, "the request is too long or has several lines");
	r = send_all(client, request, length, err);
	return r == 0 ? send_all(client, "\n", 1, err) : r;
}

/* Return: 0 the reply is complete; -EAGAIN more lines follow; -EREMOTEIO. */
static int take_line(char *line, control_client_fn take, void *context, struct error *err)
{
	char *value;

	if (strcmp(line, "ok") == 0)
		return 0;
	value = line + strcspn(line, " ");
	if (*value != '\0')
		*value++ = '\0';
	if (strcmp(line, "error") == 0)
		return error_set(err, EREMOTEIO, "%s", value);
	take(context, line, value);
	return -EAGAIN;
}

/* Process all complete lines received. Return: as take_line(). */
static int take_lines(struct control_client *client, control_client_fn take, void *context,
		      struct error *err)
{
	char *start = client->buffer, *end;
	size_t left = client->bytes;
	int r = -EAGAIN;

	while (r == -EAGAIN && (end = memchr(start, '\n', left)) != NULL) {
		*end = '\0';
		left -= (size_t)(end + 1 - start);
		r = take_line(start, take, context, err);
		start = end + 1;
	}
	memmove(client->buffer, start, left);
	client->bytes = left;
	if (r == -EAGAIN && left == sizeof(client->buffer))
		return error_set(err, EBADMSG, "the daemon's reply is malformed");
	return r;
}

int control_client_receive(struct control_client *client, control_client_fn line, void *context,
			   bool wait, struct error *err)
{
	int r = take_lines(client, line, context, err);

	while (r == -EAGAIN) {
		ssize_t got = recv(client->fd, client->buffer + client->bytes,
				   sizeof(client->buffer) - client->bytes, wait ? 0 : MSG_DONTWAIT);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return -EAGAIN;
		if (got == 0 || (got < 0 && errno == ECONNRESET))
			return hung_up(err);
		if (got < 0)
			return error_set_errno(err, "cannot receive the daemon's reply");
		client->bytes += (size_t)got;
		r = take_lines(client, line, context, err);
	}
	return r;
}

int control_client_ask(struct control_client *client, const char *request, control_client_fn line,
		       void *context, struct error *err)
{
	int r = control_client_send(client, request, err);

	return r == 0 ? control_client_receive(client, line, context, true, err) : r;
}

void control_client_wait_end(struct control_client *client)
{
	char ignored[256];
	ssize_t got;

	do {
		got = recv(client->fd, ignored, sizeof(ignored), 0);
	} while (got > 0 || (got < 0 && errno == EINTR));
}
