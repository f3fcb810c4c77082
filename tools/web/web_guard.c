// SPDX-License-Identifier: GPL-2.0-only
#include "tools/web/web_guard.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/blake2b.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

static const char *const loopback_names[] = {"localhost", "127.0.0.1", "[::1]"};

static bool name_equals(const char *name, const char *host, size_t bytes)
{
	return strlen(name) == bytes && strncasecmp(name, host, bytes) == 0;
}

/* Return: the length of the name in NAME:PORT; 0: malformed. */
static size_t name_bytes(const char *host)
{
	size_t bytes = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
	const char *port;

	if (*host == '[' && host[bytes - 1] != ']')
		return 0;
	port = host + bytes;
	if (*port == ':')
		port += 1 + strspn(port + 1, "0123456789");
	return *port == '\0' ? bytes : 0;
}

bool web_host_allowed(const char *host, const char *const *names, size_t count)
{
	size_t bytes = host != NULL ? name_bytes(host) : 0;
	bool allowed = false;

	if (bytes == 0)
		return false;
	for (size_t i = 0; i < sizeof(loopback_names) / sizeof(*loopback_names); i++)
		allowed |= name_equals(loopback_names[i], host, bytes);
	for (size_t i = 0; i < count; i++)
		allowed |= name_equals(names[i], host, bytes);
	return allowed;
}

bool web_fetch_allowed(const char *site, const char *mode)
{
	if (site == NULL || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0)
		return true;
	return mode != NULL && strcmp(mode, "navigate") == 0;
}

static void token_digest(const struct web_token *token, const char *text, size_t bytes,
			 uint8_t digest[WEB_TOKEN_DIGEST_BYTES])
{
	struct blake2b hash;

	blake2b_init(&hash, WEB_TOKEN_DIGEST_BYTES);
	blake2b_update(&hash, token->salt, sizeof(token->salt));
	blake2b_update(&hash, text, bytes);
	blake2b_final(&hash, digest);
	explicit_bzero(&hash, sizeof(hash));
}

static int token_set(struct web_token *token, const char *text, size_t bytes, const char *path,
		     struct error *err)
{
	while (bytes > 0 && (text[bytes - 1] == '\n' || text[bytes - 1] == '\r'))
		bytes--;
	for (size_t i = 0; i < bytes; i++) {
		if (!isgraph((unsigned char)text[i]))
			return error_set(err, EINVAL, "'%s' is not one line without blanks", path);
	}
	if (bytes < WEB_TOKEN_BYTES_MIN || bytes > WEB_TOKEN_BYTES_MAX)
		return error_set(err, EINVAL,
				 "'%s' has no token of %d to %d characters; for example: openssl "
				 "rand -hex 32",
				 path, WEB_TOKEN_BYTES_MIN, WEB_TOKEN_BYTES_MAX);
	if (getrandom(token->salt, sizeof(token->salt), 0) != (ssize_t)sizeof(token->salt))
		return error_set_errno(err, "cannot get random numbers");
	token_digest(token, text, bytes, token->digest);
	token->required = true;
	return 0;
}

int web_token_read(struct web_token *token, const char *path, struct error *err)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char text[WEB_TOKEN_BYTES_MAX + 3];
	struct stat status;
	ssize_t bytes;
	int r;

	if (fd < 0 || fstat(fd, &status) < 0)
		return error_set_errno(err, ERROR_OPEN, path);
	if (!S_ISREG(status.st_mode))
		return error_set(err, EINVAL, "'%s' is not a regular file", path);
	if ((status.st_mode & S_IRWXO) != 0)
		return error_set(err, EACCES, "'%s' is open to other users: use chmod 600", path);
	bytes = read(fd, text, sizeof(text));
	if (bytes < 0)
		return error_set_errno(err, ERROR_READ, path);
	r = token_set(token, text, (size_t)bytes, path, err);
	explicit_bzero(text, sizeof(text));
	return r;
}

bool web_token_matches(const struct web_token *token, const char *text)
{
	uint8_t digest[WEB_TOKEN_DIGEST_BYTES];
	volatile uint8_t difference = 0;

	if (!token->required)
		return true;
	if (text == NULL)
		return false;
	token_digest(token, text, strlen(text), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		difference |= digest[i] ^ token->digest[i];
	return difference == 0;
}

const char *web_token_bearer(const char *header)
{
	static const char scheme[] = "Bearer ";

	if (header == NULL || strncasecmp(header, scheme, sizeof(scheme) - 1) != 0)
		return NULL;
	header += sizeof(scheme) - 1;
	return header + strspn(header, " ");
}
