// SPDX-License-Identifier: GPL-2.0-only
#include "tools/web/web_listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/local_socket.h"
#include "tools/web/socket_address.h"

#define BACKLOG 64

/* Divide "[::1]:80" or "127.0.0.1:80". Return: 0 or -EINVAL. */
static int divide(const char *address, char host[WEB_LISTENER_BYTES], const char **port)
{
	const char *colon = strrchr(address, ':');
	bool brackets = *address == '[';
	const char *begin = address + brackets;
	size_t bytes;

	if (colon == NULL || colon - address < 1 + 2 * brackets || (brackets && colon[-1] != ']'))
		return -EINVAL;
	bytes = (size_t)(colon - begin) - brackets;
	if (bytes >= WEB_LISTENER_BYTES || memchr(begin, '[', bytes) != NULL ||
	    (!brackets && memchr(begin, ':', bytes) != NULL))
		return -EINVAL;
	memcpy(host, begin, bytes);
	host[bytes] = '\0';
	*port = colon + 1;
	return (*port)[strspn(*port, "0123456789")] == '\0' && **port != '\0' ? 0 : -EINVAL;
}

static bool is_loopback(const union socket_address *address)
{
	if (address->any.sa_family == AF_INET)
		return ntohl(address->four.sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&address->six.sin6_addr);
}

static int bind_address(const struct addrinfo *info, const char *address, struct error *err)
{
	_cleanup_close_ int fd =
		socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int one = 1;

	if (fd < 0)
		return error_set_errno(err, ERROR_SOCKET);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (info->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	if (bind(fd, info->ai_addr, info->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0)
		return error_set_errno(err, "cannot listen on '%s'", address);
	return take_fd(fd);
}

/* Describe the address that the socket has, with the port that the kernel may have chosen. */
static int address_describe(struct web_listener *listener, const char *host, struct error *err)
{
	union socket_address own = {.any.sa_family = AF_UNSPEC};
	socklen_t bytes = sizeof(own);
	unsigned int port;

	if (getsockname(listener->fd, &own.any, &bytes) < 0)
		return error_set_errno(err, "cannot read the address of a socket");
	listener->loopback = is_loopback(&own);
	if (own.any.sa_family == AF_INET) {
		port = ntohs(own.four.sin_port);
		snprintf(listener->host, sizeof(listener->host), "%.64s", host);
	} else {
		port = ntohs(own.six.sin6_port);
		snprintf(listener->host, sizeof(listener->host), "[%.64s]", host);
	}
	snprintf(listener->url, sizeof(listener->url), "http://%.80s:%u/", listener->host, port);
	return 0;
}

int web_listener_open_tcp(struct web_listener *listener, const char *address, struct error *err)
{
	const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
				       .ai_socktype = SOCK_STREAM};
	char host[WEB_LISTENER_BYTES];
	struct addrinfo *info = NULL;
	const char *port = NULL;

	*listener = (struct web_listener){.fd = -1};
	if (divide(address, host, &port) < 0 || getaddrinfo(host, port, &hints, &info) != 0)
		return error_set(err, EINVAL, ERROR_NOT_VALID, address,
				 "address: 127.0.0.1:8197, [::1]:8197");
	listener->fd = bind_address(info, address, err);
	freeaddrinfo(info);
	if (listener->fd < 0)
		return listener->fd;
	return address_describe(listener, host, err);
}

static int give_to_group(const char *path, const char *name, struct error *err)
{
	const struct group *group = getgrnam(name);

	if (group == NULL)
		return error_set(err, EINVAL, "there is no group '%s'", name);
	if (chown(path, (uid_t)-1, group->gr_gid) < 0 || chmod(path, 0660) < 0)
		return error_set_errno(err, "cannot give '%s' to group '%s'", path, name);
	return 0;
}

int web_listener_open_unix(struct web_listener *listener, const char *path, const char *group,
			   struct error *err)
{
	int r;

	*listener = (struct web_listener){.fd = -1, .loopback = true};
	listener->fd = local_socket_bind(path, SOCK_STREAM, 0600, err);
	if (listener->fd < 0)
		return listener->fd;
	listener->path = path;
	r = group != NULL ? give_to_group(path, group, err) : 0;
	if (r == 0 && listen(listener->fd, BACKLOG) < 0)
		r = error_set_errno(err, "cannot listen on '%s'", path);
	snprintf(listener->url, sizeof(listener->url), "%s", path);
	return r;
}

void web_listener_close(struct web_listener *listener)
{
	if (listener->fd >= 0)
		close(listener->fd);
	if (listener->path != NULL)
		unlink(listener->path);
	listener->fd = -1;
}
