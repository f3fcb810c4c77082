// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/control.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/base/local_group.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/local_socket.h"

#define GROUPS_MAX 1024

/* @failed: @error contains the error message */
struct control_reply {
	char text[CONTROL_REPLY_BYTES];
	size_t bytes;
	char error[256];
	bool failed;
};

/* @sent: bytes of the reply sent; while some are left, nothing is read */
struct peer {
	int fd;
	char request[CONTROL_REQUEST_BYTES];
	size_t request_bytes;
	struct control_reply reply;
	size_t sent;
	uint64_t progress_ns;
};

/* @paused: connections are not accepted at the moment */
struct control {
	int listen_fd;
	int epoll_fd;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	gid_t group;
	bool has_group;
	control_fn handle;
	void *context;
	struct peer *peers[CONTROL_PEERS_MAX];
	bool paused;
};

/* Replies. */

static void line_append(struct control_reply *reply, const char *line)
{
	size_t bytes = strlen(line), i;

	/* Keep room for the last line. */
	if (reply->bytes + bytes + sizeof(reply->error) + 16 > sizeof(reply->text)) {
		control_reply_error(reply, "the reply is too long");
		return;
	}
	for (i = 0; i < bytes; i++)
		reply->text[reply->bytes++] = (char)(line[i] == '\n' ? ' ' : line[i]);
	reply->text[reply->bytes++] = '\n';
}

void control_reply_value(struct control_reply *reply, const char *key, const char *format, ...)
{
	char line[2048];
	int used = snprintf(line, sizeof(line), "%s ", key);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line + used, sizeof(line) - (size_t)used, format, arguments);
	va_end(arguments);
	line_append(reply, line);
}

void control_reply_error(struct control_reply *reply, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reply->error, sizeof(reply->error), format, arguments);
	va_end(arguments);
	reply->failed = true;
}

static void reply_finish(struct control_reply *reply)
{
	size_t i;

	if (!reply->failed) {
		memcpy(reply->text + reply->bytes, "ok\n", 3);
		reply->bytes += 3;
		return;
	}
	for (i = 0; reply->error[i] != '\0'; i++) {
		if (reply->error[i] == '\n')
			reply->error[i] = ' ';
	}
	reply->bytes +=
		(size_t)snprintf(reply->text + reply->bytes, sizeof(reply->text) - reply->bytes,
				 "error %s\n", reply->error);
}

/* Peers. */

static void peer_close(struct control *control, struct peer *peer)
{
	int i;

	for (i = 0; i < CONTROL_PEERS_MAX; i++) {
		if (control->peers[i] == peer)
			control->peers[i] = NULL;
	}
	/*
	 * A process that is being started has a copy of the descriptor, which would keep the
	 * connection in the epoll set after close().
	 */
	epoll_ctl(control->epoll_fd, EPOLL_CTL_DEL, peer->fd, NULL);
	close(peer->fd);
	free(peer);
}

static bool in_group(int fd, gid_t group)
{
	gid_t groups[GROUPS_MAX];
	socklen_t bytes = sizeof(groups);
	size_t i;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &bytes) < 0)
		return false;
	for (i = 0; i < bytes / sizeof(groups[0]); i++) {
		if (groups[i] == group)
			return true;
	}
	return false;
}

static bool peer_allowed(const struct control *control, int fd)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) < 0)
		return false;
	if (peer.uid == 0 || peer.uid == geteuid())
		return true;
	return control->has_group && (peer.gid == control->group || in_group(fd, control->group));
}

static bool peer_watch(struct control *control, struct peer *peer, int operation, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = peer};

	return epoll_ctl(control->epoll_fd, operation, peer->fd, &event) == 0;
}

/*
 * A pending connection keeps the socket readable. It must not be polled while it cannot be
 * accepted.
 */
static void accept_pause(struct control *control, bool paused)
{
	struct epoll_event event = {.events = paused ? 0 : EPOLLIN, .data.ptr = NULL};

	if (epoll_ctl(control->epoll_fd, EPOLL_CTL_MOD, control->listen_fd, &event) == 0)
		control->paused = paused;
}

static void peer_accept(struct control *control)
{
	_cleanup_close_ int fd =
		accept4(control->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct peer *peer;
	int i = 0;

	if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
		accept_pause(control, true);
	if (fd < 0 || !peer_allowed(control, fd))
		return;
	while (i < CONTROL_PEERS_MAX && control->peers[i] != NULL)
		i++;
	peer = i < CONTROL_PEERS_MAX ? calloc(1, sizeof(*peer)) : NULL;
	if (peer == NULL)
		return;
	peer->fd = fd;
	peer->progress_ns = clock_monotonic_ns();
	if (!peer_watch(control, peer, EPOLL_CTL_ADD, EPOLLIN)) {
		free(peer);
		return;
	}
	control->peers[i] = peer;
	fd = -1;
}

/* Send as much as possible. Return: false: the peer is gone. */
static bool peer_write(struct control *control, struct peer *peer)
{
	ssize_t bytes;

	while (peer->sent < peer->reply.bytes) {
		bytes = send(peer->fd, peer->reply.text + peer->sent,
			     peer->reply.bytes - peer->sent, MSG_NOSIGNAL);
		if (bytes < 0 && errno == EAGAIN)
			return peer_watch(control, peer, EPOLL_CTL_MOD, EPOLLOUT);
		if (bytes <= 0)
			return false;
		peer->sent += (size_t)bytes;
		peer->progress_ns = clock_monotonic_ns();
	}
	peer->sent = peer->reply.bytes = 0;
	return peer_watch(control, peer, EPOLL_CTL_MOD, EPOLLIN);
}

/* Take one line out of the buffer and reply to it. Return: false: close the connection. */
static bool request_handle(struct control *control, struct peer *peer)
{
	char *end = memchr(peer->request, '\n', peer->request_bytes);
	char line[CONTROL_REQUEST_BYTES], *argument;
	size_t length;

	if (end == NULL)
		return peer->request_bytes < sizeof(peer->request);
	length = (size_t)(end - peer->request);
	memcpy(line, peer->request, length);
	line[length] = '\0';
	peer->request_bytes -= length + 1;
	memmove(peer->request, end + 1, peer->request_bytes);
	if (length > 0 && line[length - 1] == '\r')
		line[length - 1] = '\0';
	argument = line + strcspn(line, " ");
	if (*argument != '\0')
		*argument++ = '\0';
	memset(&peer->reply, 0, sizeof(peer->reply));
	control->handle(control->context, line, argument, &peer->reply);
	reply_finish(&peer->reply);
	return peer_write(control, peer);
}

/* Return: false at an end of file or an error: the peer is gone. */
static bool peer_read(struct peer *peer)
{
	ssize_t bytes = recv(peer->fd, peer->request + peer->request_bytes,
			     sizeof(peer->request) - peer->request_bytes, 0);

	if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (bytes <= 0)
		return false;
	peer->request_bytes += (size_t)bytes;
	return true;
}

/*
 * Handle one request per event. Further lines in the buffer wait for EPOLLOUT, since the peer must
 * have read the reply by then.
 */
static void peer_serve(struct control *control, struct peer *peer, uint32_t events)
{
	bool alive = true;

	if (peer->reply.bytes > 0)
		alive = peer_write(control, peer);
	else if (memchr(peer->request, '\n', peer->request_bytes) == NULL)
		alive = (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0 || peer_read(peer);
	if (alive && peer->reply.bytes == 0)
		alive = request_handle(control, peer);
	if (alive && peer->reply.bytes == 0 &&
	    memchr(peer->request, '\n', peer->request_bytes) != NULL)
		alive = peer_watch(control, peer, EPOLL_CTL_MOD, EPOLLOUT);
	if (!alive)
		peer_close(control, peer);
}

void control_dispatch(struct control *control)
{
	struct epoll_event events[CONTROL_PEERS_MAX + 1];
	int count = epoll_wait(control->epoll_fd, events, CONTROL_PEERS_MAX + 1, 0), i;

	for (i = 0; i < count; i++) {
		if (events[i].data.ptr == NULL)
			peer_accept(control);
		else
			peer_serve(control, events[i].data.ptr, events[i].events);
	}
}

void control_expire(struct control *control, uint64_t now_ns)
{
	int i;

	if (control->paused)
		accept_pause(control, false);
	for (i = 0; i < CONTROL_PEERS_MAX; i++) {
		if (control->peers[i] != NULL &&
		    now_ns > control->peers[i]->progress_ns + CONTROL_IDLE_NS)
			peer_close(control, control->peers[i]);
	}
}

unsigned int control_peers(const struct control *control)
{
	unsigned int count = 0;
	int i;

	for (i = 0; i < CONTROL_PEERS_MAX; i++)
		count += control->peers[i] != NULL;
	return count;
}

int control_poll_fd(const struct control *control)
{
	return control->epoll_fd;
}

/* Opening and closing. */

static int socket_listen(struct control *control, struct error *err)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};

	control->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (control->epoll_fd < 0)
		return error_set_errno(err, ERROR_EPOLL_DESCRIPTOR);
	control->listen_fd = local_socket_bind(control->path, SOCK_STREAM, 0660, err);
	if (control->listen_fd < 0)
		return control->listen_fd;
	if (control->has_group && chown(control->path, (uid_t)-1, control->group) < 0)
		control->has_group = false; /* not root: only the daemon's own user */
	if (listen(control->listen_fd, CONTROL_PEERS_MAX) < 0 ||
	    epoll_ctl(control->epoll_fd, EPOLL_CTL_ADD, control->listen_fd, &event) < 0)
		return error_set_errno(err, "cannot listen on '%s'", control->path);
	return 0;
}

int control_open(struct control **ret, const char *path, const char *group, control_fn handle,
		 void *context, struct error *err)
{
	struct control *control;
	int rc;

	if (strlen(path) >= sizeof(control->path))
		return error_set(err, ENAMETOOLONG, ERROR_SOCKET_PATH, path);
	control = calloc(1, sizeof(*control));
	if (control == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	control->listen_fd = control->epoll_fd = -1;
	memcpy(control->path, path, strlen(path));
	control->handle = handle;
	control->context = context;
	control->group = group != NULL ? local_group_find(group) : (gid_t)-1;
	control->has_group = control->group != (gid_t)-1;
	rc = socket_listen(control, err);
	if (rc < 0) {
		control_close(control);
		return rc;
	}
	*ret = control;
	return 0;
}

void control_close(struct control *control)
{
	int i;

	if (control == NULL)
		return;
	for (i = 0; i < CONTROL_PEERS_MAX; i++) {
		if (control->peers[i] != NULL)
			peer_close(control, control->peers[i]);
	}
	if (control->listen_fd >= 0) {
		unlink(control->path);
		close(control->listen_fd);
	}
	if (control->epoll_fd >= 0)
		close(control->epoll_fd);
	free(control);
}
