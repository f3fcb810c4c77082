/* SPDX-License-Identifier: GPL-2.0-only */
/* Answers to requests, with the headers that protect the browser of the client. */
#ifndef DCPI_WEB_ANSWER_H
#define DCPI_WEB_ANSWER_H

#include <microhttpd.h>
#include <stdbool.h>

#include "tools/web/report_cache.h"
#include "tools/web/web_report.h"

/**
 * web_policy_init() - read the content security policy of the page
 *
 * The page names its script and its style by their digests, and so does the header then.
 *
 * Return: malloc'd; NULL: out of memory, or the page has no policy.
 */
char *web_policy_init(void);

/**
 * web_answer_report() - answer with the output of a report
 * @policy: of the page; other reports get a stricter one
 * @result: the answer keeps a reference
 * @before: text before the output, malloc'd; NULL: none. Owned by this function
 */
enum MHD_Result web_answer_report(struct MHD_Connection *connection, const struct web_query *query,
				  const char *policy, struct report_result *result, char *before);

/**
 * web_answer_error() - answer with an error
 * @json:    as an object; else as text
 * @message: any text
 */
enum MHD_Result web_answer_error(struct MHD_Connection *connection, unsigned int status, bool json,
				 const char *message);

/** web_answer_empty() - answer without a body and without a meaning: MHD_HTTP_NO_CONTENT */
enum MHD_Result web_answer_empty(struct MHD_Connection *connection);

/**
 * web_answer_unchanged() - answer that the client's copy of a report is the present one
 *
 * The headers replace those of the copy, and so are the same.
 */
enum MHD_Result web_answer_unchanged(struct MHD_Connection *connection,
				     const struct web_query *query, const char *policy,
				     const struct report_result *result);

#endif
