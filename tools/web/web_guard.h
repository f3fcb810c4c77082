/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decides which clients are answered.
 *
 * A page of any site can make the browser of a user send requests to this machine, and by a name
 * whose address changes (DNS rebinding) it can also read the answers. These requests carry the name
 * of the site as Host, and their answers are refused. A bearer token identifies clients where
 * others can connect.
 */
#ifndef DCPI_WEB_GUARD_H
#define DCPI_WEB_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

#define WEB_TOKEN_BYTES_MIN 16
#define WEB_TOKEN_BYTES_MAX 512
#define WEB_TOKEN_SALT_BYTES 32
#define WEB_TOKEN_DIGEST_BYTES 32

/**
 * web_host_allowed() - check the header Host of a request
 * @host:  NAME, NAME:PORT; NULL: it has none
 * @names: @count further names; the names and addresses of the loopback interface are allowed
 *
 * The port is not compared, so that a tunnel may use another one.
 */
bool web_host_allowed(const char *host, const char *const *names, size_t count);

/**
 * web_fetch_allowed() - check the headers Sec-Fetch-Site and Sec-Fetch-Mode; NULL: not sent
 *
 * Return: false if a browser sends the request for another site, unless the user follows a link.
 */
bool web_fetch_allowed(const char *site, const char *mode);

/** struct web_token - a token, as a salted digest; zero-initialised: none is required */
struct web_token {
	bool required;
	uint8_t salt[WEB_TOKEN_SALT_BYTES];
	uint8_t digest[WEB_TOKEN_DIGEST_BYTES];
};

/**
 * web_token_read() - read a token from a file: one line of printable characters
 *
 * Return: 0; -EACCES: others may read the file; -EINVAL: it is no token; or the error of open(2).
 */
int web_token_read(struct web_token *token, const char *path, struct error *err);

/**
 * web_token_matches() - compare a token in constant time, for any length
 * @text: from the client; NULL: none
 */
bool web_token_matches(const struct web_token *token, const char *text);

/** web_token_bearer() - return the token of a header Authorization: "Bearer TOKEN"; else NULL */
const char *web_token_bearer(const char *header);

#endif
