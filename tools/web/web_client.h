/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connections of clients, and the time that each may take.
 *
 * The library's own limit is one of inactivity: a client that sends or reads a byte every few
 * seconds would keep its connection forever. Here each request and each answer has a deadline. Time
 * in which a client waits for a report does not count: the report has a deadline of its own.
 */
#ifndef DCPI_WEB_CLIENT_H
#define DCPI_WEB_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** enum web_phase - of a connection */
enum web_phase {
	WEB_CLIENT_REQUESTS, /* idle, or sends a request */
	WEB_CLIENT_WAITS,    /* for a report */
	WEB_CLIENT_READS,    /* the answer */
};

/**
 * struct web_client - a connection
 * @fd:     owned by the library
 * @own:    its process belongs to the user of this process or to the superuser
 */
struct web_client {
	struct web_client *next;
	int fd;
	bool own;
	bool ended;
	enum web_phase phase;
	uint64_t deadline_ns;
};

/** struct web_clients - all connections; zero-initialised except the limits */
struct web_clients {
	struct web_client *first;
	unsigned int count;
	uint64_t late; /* connections ended after a deadline */
	uint64_t request_ns;
	uint64_t answer_ns;
};

/** web_client_open() - add a connection. Return: NULL if out of memory */
struct web_client *web_client_open(struct web_clients *clients, int fd);

/** web_client_close() - remove a connection, which the library closes. NULL is permitted */
void web_client_close(struct web_clients *clients, struct web_client *client);

/** web_client_enter() - begin a phase, and its deadline */
void web_client_enter(const struct web_clients *clients, struct web_client *client,
		      enum web_phase phase);

/** web_clients_end_late() - end connections after their deadlines. Return: the next deadline */
uint64_t web_clients_end_late(struct web_clients *clients, uint64_t now_ns);

#endif
