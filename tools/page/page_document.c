// SPDX-License-Identifier: GPL-2.0-only
#include "tools/page/page_document.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/array.h"
#include "tools/base/json_tree.h"
#include "tools/base/time_spec.h"

/* Version of the format, which docs/reports.schema.json describes. */
#define PAGE_DOCUMENT_VERSION 1

int page_document_init(struct page_document *document)
{
	char now[TIME_SPEC_BYTES];

	time_spec_utc(now, (int64_t)time(NULL) * 1000000000);
	document->root = json_object_new_object();
	if (document->root == NULL ||
	    json_tree_add(document->root, "version", json_object_new_int(PAGE_DOCUMENT_VERSION)) <
		    0 ||
	    json_tree_add(document->root, "program", json_object_new_string(DCPI_VERSION)) < 0)
		return -ENOMEM;
	return json_tree_add(document->root, "generated", json_object_new_string(now));
}

void page_document_deinit(struct page_document *document)
{
	for (size_t i = 0; i < document->count; i++)
		free(document->parts[i].text);
	free(document->parts);
	json_object_put(document->root);
}

int page_document_add(struct page_document *document, char *text, size_t bytes)
{
	if (text == NULL || array_reserve(&document->parts, &document->capacity,
					  document->count + 1, sizeof(*document->parts)) < 0) {
		free(text);
		return -ENOMEM;
	}
	document->parts[document->count++] = (struct page_part){text, bytes};
	return 0;
}

const char *page_document_text(const struct page_document *document)
{
	return json_object_to_json_string_ext(
		document->root, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
}

int page_document_print(FILE *stream, const struct page_document *document)
{
	const char *text = page_document_text(document);

	if (text == NULL)
		return -ENOMEM;
	/* Without the last brace, the object is still open. */
	fwrite(text, 1, strlen(text) - 1, stream);
	fputs(",\"parts\":[", stream);
	for (size_t i = 0; i < document->count; i++) {
		fputs(i > 0 ? "," : "", stream);
		fwrite(document->parts[i].text, 1, document->parts[i].bytes, stream);
	}
	fputs("]}\n", stream);
	return 0;
}
