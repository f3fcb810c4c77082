// SPDX-License-Identifier: GPL-2.0-only
#include "tools/web/web_answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "tools/base/json_stream.h"
#include "tools/base/text.h"
#include "tools/page/page_html.h"

/* Nothing may be loaded or run, and no page may show it in a frame. */
#define POLICY_DATA "default-src 'none'; frame-ancestors 'none'; sandbox"
#define RETRY_AFTER_S "5"

char *web_policy_init(void)
{
	static const char begin[] = "http-equiv=\"Content-Security-Policy\" content=\"";
	size_t bytes = 0;
	const char *asset = page_html_asset(&bytes), *policy, *end;
	char *text = NULL;

	policy = memmem(asset, bytes, begin, sizeof(begin) - 1);
	if (policy == NULL)
		return NULL;
	policy += sizeof(begin) - 1;
	end = memchr(policy, '"', bytes - (size_t)(policy - asset));
	/* A policy in the page cannot forbid frames. */
	if (end == NULL ||
	    asprintf(&text, "%.*s; frame-ancestors 'none'", (int)(end - policy), policy) < 0)
		return NULL;
	return text;
}

static void header(struct MHD_Response *response, const char *name, const char *value)
{
	/* A failure means that memory is short; then the answer fails, too. */
	MHD_add_response_header(response, name, value);
}

static enum MHD_Result send_response(struct MHD_Connection *connection, unsigned int status,
				     struct MHD_Response *response, const char *type,
				     const char *policy)
{
	enum MHD_Result r;

	if (response == NULL)
		return MHD_NO;
	if (type != NULL)
		header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	header(response, "Content-Security-Policy", policy);
	header(response, "X-Content-Type-Options", "nosniff");
	header(response, "X-Frame-Options", "DENY");
	header(response, "Referrer-Policy", "no-referrer");
	header(response, "Cross-Origin-Resource-Policy", "same-origin");
	header(response, "Cross-Origin-Opener-Policy", "same-origin");
	/* A browser asks each time whether its copy is the present one. */
	header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "private, no-cache");
	if (status == MHD_HTTP_UNAUTHORIZED) {
		header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer realm=\"dcpiweb\"");
		header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
		       "Basic realm=\"dcpiweb: the token is the password\", charset=\"UTF-8\"");
	}
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
		header(response, MHD_HTTP_HEADER_RETRY_AFTER, RETRY_AFTER_S);
	r = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return r;
}

static void release_result(void *result)
{
	report_result_put(result);
}

/* A malloc'd body that consists of both texts. */
static struct MHD_Response *joined_response(char *before, const struct report_result *result)
{
	size_t bytes = strlen(before);
	char *body = realloc(before, bytes + result->bytes + 1);

	if (body == NULL) {
		free(before);
		return NULL;
	}
	if (result->bytes > 0)
		memcpy(body + bytes, result->body, result->bytes);
	return MHD_create_response_from_buffer(bytes + result->bytes, body, MHD_RESPMEM_MUST_FREE);
}

/* @response: NULL: memory is short */
static void add_report_headers(struct MHD_Response *response, const struct web_query *query,
			       const struct report_result *result)
{
	char refresh[16], live[16];

	if (response == NULL)
		return;
	header(response, MHD_HTTP_HEADER_ETAG, result->tag);
	if (query->refresh_s > 0) {
		snprintf(refresh, sizeof(refresh), "%u", query->refresh_s);
		header(response, "Refresh", refresh);
	}
	if (query->live_s > 0 && web_report_is_page(query->report)) {
		snprintf(live, sizeof(live), "%u", query->live_s);
		header(response, "DCPI-Live", live);
	}
}

static const char *policy_of(const struct web_query *query, const char *policy)
{
	return web_report_is_page(query->report) ? policy : POLICY_DATA;
}

enum MHD_Result web_answer_report(struct MHD_Connection *connection, const struct web_query *query,
				  const char *policy, struct report_result *result, char *before)
{
	struct MHD_Response *response;

	if (before != NULL) {
		response = joined_response(before, result);
	} else {
		response = MHD_create_response_from_buffer_with_free_callback_cls(
			result->bytes, result->body, release_result, result);
		if (response != NULL)
			report_result_reference(result);
		add_report_headers(response, query, result);
	}
	return send_response(connection, MHD_HTTP_OK, response, query->report->type,
			     policy_of(query, policy));
}

/* Print {"status":404,"error":"..."}. */
static void print_object(FILE *stream, unsigned int status, const char *message)
{
	struct json_stream json = {.file = stream};

	json_stream_open(&json, NULL, '{');
	json_stream_count(&json, "status", status);
	json_stream_text(&json, "error", message);
	json_stream_close(&json, '}');
	json_stream_line(&json);
}

enum MHD_Result web_answer_error(struct MHD_Connection *connection, unsigned int status, bool json,
				 const char *message)
{
	_cleanup_free_ char *clean = text_clean(message);
	char *text = NULL;
	size_t bytes = 0;
	FILE *stream = open_memstream(&text, &bytes);

	if (stream == NULL || clean == NULL) {
		if (stream != NULL)
			fclose(stream);
		free(text);
		return MHD_NO;
	}
	if (json)
		print_object(stream, status, clean);
	else
		fprintf(stream, "%s\n", clean);
	if (fclose(stream) != 0) {
		free(text);
		return MHD_NO;
	}
	return send_response(connection, status,
			     MHD_create_response_from_buffer(bytes, text, MHD_RESPMEM_MUST_FREE),
			     json ? "application/json" : "text/plain; charset=utf-8", POLICY_DATA);
}

static struct MHD_Response *empty_response(void)
{
	static char none[1];

	return MHD_create_response_from_buffer(0, none, MHD_RESPMEM_PERSISTENT);
}

enum MHD_Result web_answer_empty(struct MHD_Connection *connection)
{
	return send_response(connection, MHD_HTTP_NO_CONTENT, empty_response(), NULL, POLICY_DATA);
}

enum MHD_Result web_answer_unchanged(struct MHD_Connection *connection,
				     const struct web_query *query, const char *policy,
				     const struct report_result *result)
{
	struct MHD_Response *response = empty_response();

	add_report_headers(response, query, result);
	return send_response(connection, MHD_HTTP_NOT_MODIFIED, response, NULL,
			     policy_of(query, policy));
}
