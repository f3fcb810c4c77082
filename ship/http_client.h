/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A client for requests to one destination, over HTTP or HTTPS with verified certificates. Secrets
 * are read from files for each connection attempt, are in no message, and are sent to the
 * destination only: redirections are not followed.
 */
#ifndef DCPI_HTTP_CLIENT_H
#define DCPI_HTTP_CLIENT_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct http_client;
struct ship_config;

/** http_client_create() - @config must outlive the client */
int http_client_create(struct http_client **ret, const struct ship_config *config,
		       struct error *err);

/** http_client_destroy() - free. NULL is fine. */
void http_client_destroy(struct http_client *client);

/** enum http_result - what follows from the result of a request */
enum http_result {
	HTTP_DONE,    /* the destination has accepted it */
	HTTP_RETRY,   /* no connection, 408, 429 or 5xx: try again later */
	HTTP_REFUSED, /* any other status: the same request will be refused again */
};

/**
 * struct http_response - of a request
 * @status:        0: none
 * @retry_after_s: time that the destination asks to wait; 0: none
 * @text:          body, truncated to 64 KiB; valid until the next request
 * @message:       what went wrong, one line of printable characters
 */
struct http_response {
	enum http_result result;
	long status;
	uint64_t retry_after_s;
	const char *text;
	char message[512];
};

/** struct http_field - a field of a query: "?NAME=VALUE"; @name NULL ends a list */
struct http_field {
	const char *name;
	const char *value;
};

/**
 * http_client_post() - send a request and wait for the response
 * @path:   appended to the destination's address; may be ""
 * @fields: of the query
 * @type:   media type of the body
 * @body:   sent compressed by gzip, unless it is short
 */
void http_client_post(struct http_client *client, const char *path, const struct http_field *fields,
		      const char *type, const void *body, size_t bytes,
		      struct http_response *response);

/** http_client_stop() - end the request in progress, from a signal handler */
void http_client_stop(void);

#endif
