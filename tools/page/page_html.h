/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes a document into the page: one HTML file that needs nothing else.
 *
 * The page's markup, style and script are an asset, built from web/. Each part of the document is
 * compressed (zlib, RFC 1950), encoded in base64, and put into an element of its own that is not
 * executed. Names, sources and labels thus never are markup.
 */
#ifndef DCPI_PAGE_HTML_H
#define DCPI_PAGE_HTML_H

#include "tools/page/page_document.h"

struct error;

/** page_html_asset() - return the page without data; @bytes: out: its length */
const char *page_html_asset(size_t *bytes);

/**
 * page_html_write() - write the page
 *
 * Return: 0; -ENOMEM; -EINVAL: the asset has no place for data.
 */
int page_html_write(FILE *stream, const struct page_document *document, struct error *err);

#endif
