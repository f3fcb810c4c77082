// SPDX-License-Identifier: GPL-2.0-only
#include "tools/top/top_flush.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/broker.h"
#include "lib/cleanup.h"

static void hang_up(struct top_flush *flush)
{
	control_client_close(flush->client);
	flush->client = NULL;
	flush->state = TOP_FLUSH_IDLE;
}

static void send_request(struct top_flush *flush, const char *request, enum top_flush_state state)
{
	flush->state = state;
	if (control_client_send(flush->client, request, &flush->problem) < 0)
		hang_up(flush);
}

/*
 * Connect to the daemon. In a sandbox, the broker connects, and passes on only the requests below.
 */
static int open_client(struct top_flush *flush)
{
	struct broker_packet packet;
	int r;

	if (broker_socket() < 0)
		return control_client_open(&flush->client, flush->socket, &flush->problem);
	broker_packet_init(&packet, BROKER_CONNECT);
	r = broker_ask(&packet);
	if (r < 0)
		return control_client_failed(flush->socket, -r, &flush->problem);
	return control_client_from(&flush->client, packet.fds[0], &flush->problem);
}

void top_flush_begin(struct top_flush *flush)
{
	if (flush->socket == NULL || flush->state != TOP_FLUSH_IDLE)
		return;
	if (flush->client == NULL) {
		flush->same = 0;
		if (open_client(flush) < 0)
			return;
	}
	if (flush->same)
		send_request(flush, "flush", TOP_FLUSH_FLUSH);
	else
		send_request(flush, "status", TOP_FLUSH_STATUS);
}

static void take_value(void *context, const char *key, const char *value)
{
	struct top_flush *flush = context;
	_cleanup_free_ char *ours = NULL;
	_cleanup_free_ char *its = NULL;

	if (flush->state != TOP_FLUSH_STATUS || strcmp(key, "db") != 0)
		return;
	ours = broker_realpath(flush->database);
	its = broker_realpath(value);
	flush->same = strcmp(value, flush->database) == 0 ||
		      (ours != NULL && its != NULL && strcmp(ours, its) == 0);
	if (!flush->same)
		error_set(&flush->problem, EINVAL, "the daemon writes to '%s'", value);
}

int top_flush_receive(struct top_flush *flush, int wait)
{
	while (flush->state != TOP_FLUSH_IDLE) {
		enum top_flush_state asked = flush->state;
		int r = control_client_receive(flush->client, take_value, flush, wait != 0,
					       &flush->problem);

		if (r == -EAGAIN)
			return r;
		flush->state = TOP_FLUSH_IDLE;
		if (r < 0) {
			hang_up(flush);
		} else if (asked == TOP_FLUSH_FLUSH) {
			flush->problem.message[0] = '\0';
		} else if (flush->same) {
			send_request(flush, "flush", TOP_FLUSH_FLUSH);
		} else {
			hang_up(flush);
		}
	}
	return 0;
}

int top_flush_fd(const struct top_flush *flush)
{
	return flush->state != TOP_FLUSH_IDLE ? control_client_fd(flush->client) : -1;
}

void top_flush_deinit(struct top_flush *flush)
{
	control_client_close(flush->client);
}
