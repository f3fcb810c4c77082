/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The document that the page of dcpireport shows, in JSON.
 *
 * Problem: the page has to appear at once, but the analyses of all procedures are megabytes of
 * JSON. Therefore the document has a main object, which lists and timelines need, and a part for
 * each analysed procedure, which is read when it is shown. docs/reports.schema.json defines both.
 *
 * Invariants: element I of the member "details" of the main object describes part I. The objects
 * are those that dcpiprof, dcpicalc, dcpilist, dcpistats and dcpidiff print, by the same functions.
 */
#ifndef DCPI_PAGE_DOCUMENT_H
#define DCPI_PAGE_DOCUMENT_H

#include <stddef.h>
#include <stdio.h>

struct json_object;

/** struct page_part - complete JSON text, owned by the document */
struct page_part {
	char *text;
	size_t bytes;
};

/**
 * struct page_document - zero-initialised: empty
 * @root:  the main object, without the parts
 * @parts: of the analysed procedures
 */
struct page_document {
	struct json_object *root;
	struct page_part *parts;
	size_t count;
	size_t capacity;
};

/** page_document_init() - make the main object. Return: 0 or -ENOMEM */
int page_document_init(struct page_document *document);

void page_document_deinit(struct page_document *document);

/** page_document_add() - add a part; takes ownership of @text, also on failure. Return: 0 or
 * -ENOMEM */
int page_document_add(struct page_document *document, char *text, size_t bytes);

/** page_document_text() - return the main object as text, valid until it changes; NULL: no memory
 */
const char *page_document_text(const struct page_document *document);

/** page_document_print() - print as one object, whose member "parts" has the parts. Return: 0 or
 * -ENOMEM */
int page_document_print(FILE *stream, const struct page_document *document);

#endif
