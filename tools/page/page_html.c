// SPDX-License-Identifier: GPL-2.0-only
#include "tools/page/page_html.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* The place of the data in the asset. */
#define PAGE_HTML_MARK "<!--DCPI-DATA-->"

/* The asset's file. module.mk defines it for the compiler; the default is for static analysers. */
#ifndef PAGE_ASSET
#define PAGE_ASSET "/dev/null"
#endif

__asm__(".section .rodata\n"
	"page_asset_first:\n"
	"	.incbin \"" PAGE_ASSET "\"\n"
	"page_asset_end:\n"
	"	.previous\n");

extern const char page_asset_first[], page_asset_end[];

const char *page_html_asset(size_t *bytes)
{
	*bytes = (size_t)(page_asset_end - page_asset_first);
	return page_asset_first;
}

static void write_base64(FILE *stream, const uint8_t *data, size_t bytes)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < bytes; i += 3) {
		size_t count = bytes - i < 3 ? bytes - i : 3;
		uint32_t group = (uint32_t)data[i] << 16;
		char text[4];

		group |= count > 1 ? (uint32_t)data[i + 1] << 8 : 0;
		group |= count > 2 ? data[i + 2] : 0;
		for (unsigned int k = 0; k < 4; k++)
			text[k] = k <= count ? digits[group >> (18 - 6 * k) & 63] : '=';
		fwrite(text, 1, sizeof(text), stream);
	}
}

/*
 * Write an element with compressed data. @id: its identifier: letters, digits and "-". Return: 0 or
 * -ENOMEM.
 */
static int page_html_element(FILE *stream, const char *id, const char *data, size_t bytes)
{
	uLongf packed_bytes = compressBound(bytes);
	_cleanup_free_ uint8_t *packed = malloc(packed_bytes);

	if (packed == NULL || compress2(packed, &packed_bytes, (const Bytef *)data, bytes,
					Z_BEST_COMPRESSION) != Z_OK)
		return -ENOMEM;
	fprintf(stream, "<script type=\"application/octet-stream\" id=\"%s\">", id);
	write_base64(stream, packed, packed_bytes);
	fputs("</script>\n", stream);
	return 0;
}

static int write_document(FILE *stream, const struct page_document *document)
{
	const char *root = page_document_text(document);
	int r = root != NULL ? page_html_element(stream, "data-main", root, strlen(root)) : -ENOMEM;

	for (size_t i = 0; r == 0 && i < document->count; i++) {
		char id[32];

		snprintf(id, sizeof(id), "data-part-%zu", i);
		r = page_html_element(stream, id, document->parts[i].text,
				      document->parts[i].bytes);
	}
	return r;
}

int page_html_write(FILE *stream, const struct page_document *document, struct error *err)
{
	size_t bytes, mark = strlen(PAGE_HTML_MARK);
	const char *asset = page_html_asset(&bytes),
		   *place = memmem(asset, bytes, PAGE_HTML_MARK, mark);

	if (place == NULL)
		return error_set(err, EINVAL,
				 "the page template of this program has no marker for data");
	fwrite(asset, 1, (size_t)(place - asset), stream);
	if (write_document(stream, document) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	place += mark;
	fwrite(place, 1, bytes - (size_t)(place - asset), stream);
	return 0;
}
