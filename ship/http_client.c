// SPDX-License-Identifier: GPL-2.0-only
#include "ship/http_client.h"

#include <curl/curl.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/printable.h"
#include "ship/gzip.h"
#include "ship/ship_config.h"

#define RESPONSE_BYTES_MAX 65536
#define REPLY_BYTES_MAX ((size_t)1 << 30)
#define HTTP_STATUS_OK 200
#define SECRET_BYTES_MAX 8192
#define CONNECT_SECONDS 10L
#define RETRY_AFTER_S_MAX 86400

static volatile sig_atomic_t stopped;

struct http_client {
	const struct ship_config *config;
	CURL *easy;
	struct http_reply *reply;
	char text[RESPONSE_BYTES_MAX + 1];
	size_t text_bytes;
	char failure[CURL_ERROR_SIZE];
};

static size_t take_response(char *data, size_t size, size_t count, void *context)
{
	struct http_client *client = context;
	size_t bytes = size * count, room = RESPONSE_BYTES_MAX - client->text_bytes;
	struct http_reply *reply = client->reply;
	long status = 0;

	curl_easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &status);
	if (reply != NULL && status == HTTP_STATUS_OK) {
		if (bytes > REPLY_BYTES_MAX - reply->bytes ||
		    array_reserve(&reply->data, &reply->capacity, reply->bytes + bytes + 1, 1) < 0)
			return 0;
		memcpy(reply->data + reply->bytes, data, bytes);
		reply->bytes += bytes;
		reply->data[reply->bytes] = '\0';
		return bytes;
	}

	memcpy(client->text + client->text_bytes, data, bytes < room ? bytes : room);
	client->text_bytes += bytes < room ? bytes : room;
	return bytes;
}

static int progress(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	(void)context, (void)a, (void)b, (void)c, (void)d;
	return stopped != 0;
}

void http_client_stop(void)
{
	stopped = 1;
}

int http_client_create(struct http_client **ret, const struct ship_config *config,
		       struct error *err)
{
	struct http_client *client = calloc(1, sizeof(*client));

	if (client == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	client->config = config;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) == 0)
		client->easy = curl_easy_init();
	if (client->easy == NULL) {
		free(client);
		return error_set(err, ENOMEM, "cannot initialise libcurl");
	}
	*ret = client;
	return 0;
}

void http_client_destroy(struct http_client *client)
{
	if (client == NULL)
		return;
	curl_easy_cleanup(client->easy);
	explicit_bzero(client, sizeof(*client));
	free(client);
}

/* Return the address, or NULL if there is not enough memory. */
static char *make_url(struct http_client *client, const char *path, const struct http_field *fields)
{
	const char *base = client->config->url;
	size_t length = strlen(base);
	char *url = NULL;

	while (length > 0 && base[length - 1] == '/')
		length--;
	if (asprintf(&url, "%.*s/%s", (int)length, base, path) < 0)
		return NULL;
	for (size_t i = 0; fields[i].name != NULL; i++) {
		char *value = curl_easy_escape(client->easy, fields[i].value, 0), *more = NULL;
		int r = value != NULL ? asprintf(&more, "%s%c%s=%s", url, i == 0 ? '?' : '&',
						 fields[i].name, value)
				      : -1;

		curl_free(value);
		free(url);
		if (r < 0)
			return NULL;
		url = more;
	}
	return url;
}

/* Set the user or the token. */
static int set_secrets(struct http_client *client, struct error *err)
{
	const struct ship_config *config = client->config;
	char secret[SECRET_BYTES_MAX];
	int r = 0;

	if (config->user[0] != '\0') {
		r = ship_config_secret(config->password_file, secret, sizeof(secret), err);
		if (r == 0) {
			curl_easy_setopt(client->easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
			curl_easy_setopt(client->easy, CURLOPT_USERNAME, config->user);
			curl_easy_setopt(client->easy, CURLOPT_PASSWORD, secret);
		}
	} else if (config->token_file[0] != '\0') {
		r = ship_config_secret(config->token_file, secret, sizeof(secret), err);
		if (r == 0) {
			curl_easy_setopt(client->easy, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
			curl_easy_setopt(client->easy, CURLOPT_XOAUTH2_BEARER, secret);
		}
	}
	explicit_bzero(secret, sizeof(secret));
	return r;
}

static void set_tls(struct http_client *client)
{
	const struct ship_config *config = client->config;

	curl_easy_setopt(client->easy, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(client->easy, CURLOPT_SSL_VERIFYHOST, 2L);
	curl_easy_setopt(client->easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (config->ca_file[0] != '\0') {
		curl_easy_setopt(client->easy, CURLOPT_CAINFO, config->ca_file);
		curl_easy_setopt(client->easy, CURLOPT_CAPATH, NULL);
	}
	if (config->cert_file[0] != '\0') {
		curl_easy_setopt(client->easy, CURLOPT_SSLCERT, config->cert_file);
		curl_easy_setopt(client->easy, CURLOPT_SSLKEY, config->key_file);
	}
}

static void set_options(struct http_client *client)
{
	CURL *easy = client->easy;

	/* Connections are kept. */
	curl_easy_reset(easy);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "dcpiship/" DCPI_VERSION);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT, (long)client->config->timeout_s);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_response);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, client);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, client->failure);
	curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, progress);
	curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
	set_tls(client);
}

void http_response_set(struct http_response *response, enum http_result result, const char *format,
		       ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(response->message, sizeof(response->message), format, args);
	va_end(args);
	response->message[strcspn(response->message, "\r\n")] = '\0';
	printable_make(response->message);
	response->result = result;
}

static void classify_response(struct http_client *client, CURLcode rc,
			      struct http_response *response)
{
	curl_off_t wait = 0;
	long sent = 0;

	client->text[client->text_bytes] = '\0';
	response->text = client->text;
	response->bytes = client->text_bytes;
	if (rc != CURLE_OK) {
		curl_easy_getinfo(client->easy, CURLINFO_REQUEST_SIZE, &sent);
		response->unprocessed = sent == 0;
		http_response_set(response, HTTP_RETRY, "%s",
				  client->failure[0] != '\0' ? client->failure
							     : curl_easy_strerror(rc));
		return;
	}
	curl_easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &response->status);
	curl_easy_getinfo(client->easy, CURLINFO_RETRY_AFTER, &wait);
	if (wait > 0)
		response->retry_after_s =
			wait < RETRY_AFTER_S_MAX ? (uint64_t)wait : RETRY_AFTER_S_MAX;
	response->unprocessed =
		response->status == 408 || response->status == 429 || response->status == 503;
	if (response->status >= 200 && response->status < 300)
		http_response_set(response, HTTP_DONE, "status %ld", response->status);
	else
		http_response_set(response,
				  response->status == 408 || response->status == 429 ||
						  response->status >= 500
					  ? HTTP_RETRY
					  : HTTP_REFUSED,
				  "status %ld: %s", response->status, client->text);
}

/* Return the headers of a request; NULL: out of memory. */
static struct curl_slist *make_headers(const char *type, bool gzip)
{
	/* Without this, a body of more than 1 MiB waits for a response to its header. */
	struct curl_slist *headers = curl_slist_append(NULL, "Expect:");
	char header[128];

	snprintf(header, sizeof(header), "Content-Type: %s", type);
	if (headers != NULL && curl_slist_append(headers, header) != NULL &&
	    (!gzip || curl_slist_append(headers, "Content-Encoding: gzip") != NULL))
		return headers;
	curl_slist_free_all(headers);
	return NULL;
}

void http_client_post(struct http_client *client, const struct http_post *post,
		      struct http_response *response)
{
	_cleanup_free_ char *url = make_url(client, post->path, post->fields);
	size_t bytes = post->bytes;
	_cleanup_free_ void *copy = !post->compressed && (post->gzipped || bytes >= GZIP_BYTES_MIN)
					    ? gzip_compress(post->body, &bytes)
					    : NULL;
	bool compressed = post->compressed || copy != NULL;
	struct curl_slist *headers = make_headers(post->type, compressed && !post->gzipped);
	struct error err;

	*response = (struct http_response){.text = "", .unprocessed = true};
	client->text_bytes = 0;
	client->reply = post->reply;
	client->failure[0] = '\0';
	if (url == NULL || headers == NULL || (post->gzipped && !compressed)) {
		http_response_set(response, HTTP_RETRY, ERROR_NO_MEMORY);
		curl_slist_free_all(headers);
		return;
	}
	set_options(client);
	if (set_secrets(client, &err) < 0) {
		http_response_set(response, HTTP_RETRY, "%s", err.message);
	} else {
		curl_easy_setopt(client->easy, CURLOPT_URL, url);
		curl_easy_setopt(client->easy, CURLOPT_HTTPHEADER, headers);
		curl_easy_setopt(client->easy, CURLOPT_POST, 1L);
		curl_easy_setopt(client->easy, CURLOPT_FRESH_CONNECT, (long)post->once);
		curl_easy_setopt(client->easy, CURLOPT_POSTFIELDS,
				 copy != NULL ? copy : post->body);
		curl_easy_setopt(client->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)bytes);
		classify_response(client, curl_easy_perform(client->easy), response);
	}
	curl_slist_free_all(headers);
}
