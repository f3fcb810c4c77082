/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A client for requests to one destination, over HTTP or HTTPS with verified certificates. Secrets
 * are read from files for each connection attempt, are in no message, and are sent to the
 * destination only: redirections are not followed.
 */
#ifndef DCPI_HTTP_CLIENT_H
#define DCPI_HTTP_CLIENT_H

#include <stdbool.h>
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
 * @unprocessed:   the destination has not received the request, or refuses all requests for a time
 * @rejected:      parts of the request that the destination has not accepted
 * @text:          body, truncated to 64 KiB, and NUL; valid until the next request
 * @bytes:         length of @text
 * @message:       what went wrong, one line of printable characters
 */
struct http_response {
	enum http_result result;
	long status;
	uint64_t retry_after_s;
	bool unprocessed;
	uint64_t rejected;
	const char *text;
	size_t bytes;
	char message[512];
};

/** struct http_field - a field of a query: "?NAME=VALUE"; @name NULL ends a list */
struct http_field {
	const char *name;
	const char *value;
};

/** http_response_set() - set the result and the message, whose first line is made printable */
void http_response_set(struct http_response *response, enum http_result result, const char *format,
		       ...) __attribute__((format(printf, 3, 4)));

/** struct http_reply - a body of any length; zero-initialised is empty; @data: freed by the caller
 */
struct http_reply {
	char *data;
	size_t bytes;
	size_t capacity;
};

/**
 * struct http_post - a request
 * @path:    appended to the destination's address; may be ""
 * @fields:  of the query
 * @type:    media type of the body
 * @body:    sent compressed by gzip, unless it is short
 * @compressed: @body is compressed already
 * @gzipped: gzip is a part of the media type: the body is always compressed, and no header states
 * it
 * @once:    never send the request twice. Otherwise libcurl repeats it if the connection, which was
 *           open from before, is closed without a response
 * @reply:   gets the body of a response with status 200, up to 1 GiB; NULL: @text has it
 */
struct http_post {
	const char *path;
	const struct http_field *fields;
	const char *type;
	const void *body;
	size_t bytes;
	bool compressed;
	bool gzipped;
	bool once;
	struct http_reply *reply;
};

/** http_client_post() - send a request and wait for the response */
void http_client_post(struct http_client *client, const struct http_post *post,
		      struct http_response *response);

/** http_client_stop() - end the request in progress, from a signal handler */
void http_client_stop(void);

#endif
