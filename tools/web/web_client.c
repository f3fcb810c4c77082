// SPDX-License-Identifier: GPL-2.0-only
#include "tools/web/web_client.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/clock.h"
#include "tools/web/peer_user.h"

static bool is_own(int fd)
{
	uid_t user;

	return peer_user(fd, &user, NULL) == 0 && (user == geteuid() || user == 0);
}

/* Unix sockets are protected by the permissions of their names. */
static bool is_unix(int fd)
{
	struct sockaddr_storage address = {0};
	socklen_t bytes = sizeof(address);

	return getsockname(fd, (struct sockaddr *)&address, &bytes) == 0 &&
	       address.ss_family == AF_UNIX;
}

struct web_client *web_client_open(struct web_clients *clients, int fd)
{
	struct web_client *client = calloc(1, sizeof(*client));

	if (client == NULL)
		return NULL;
	client->fd = fd;
	client->own = is_unix(fd) || is_own(fd);
	client->next = clients->first;
	clients->first = client;
	clients->count++;
	web_client_enter(clients, client, WEB_CLIENT_REQUESTS);
	return client;
}

void web_client_close(struct web_clients *clients, struct web_client *client)
{
	struct web_client **at = &clients->first;

	if (client == NULL)
		return;
	while (*at != client)
		at = &(*at)->next;
	*at = client->next;
	clients->count--;
	free(client);
}

void web_client_enter(const struct web_clients *clients, struct web_client *client,
		      enum web_phase phase)
{
	uint64_t now_ns = clock_monotonic_ns();

	client->phase = phase;
	client->deadline_ns = phase == WEB_CLIENT_WAITS	  ? UINT64_MAX
			      : phase == WEB_CLIENT_READS ? now_ns + clients->answer_ns
							  : now_ns + clients->request_ns;
}

uint64_t web_clients_end_late(struct web_clients *clients, uint64_t now_ns)
{
	uint64_t next_ns = UINT64_MAX;

	for (struct web_client *client = clients->first; client != NULL; client = client->next) {
		if (client->ended)
			continue;
		if (client->deadline_ns > now_ns) {
			if (client->deadline_ns < next_ns)
				next_ns = client->deadline_ns;
			continue;
		}
		/* The library finds the connection closed, and releases it. */
		shutdown(client->fd, SHUT_RDWR);
		client->ended = true;
		clients->late++;
	}
	return next_ns;
}
