/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Analyses the hottest procedures of a page. Each becomes a part of the document: the objects of
 * dcpicalc, dcpicalc --summary, dcpilist --asm and dcpilist --source, the sentences about its worst
 * stall, and the layout of its graph.
 *
 * A procedure that cannot be analysed gets no part, but an entry in "not_analysed" with the reason.
 */
#ifndef DCPI_PAGE_DETAIL_H
#define DCPI_PAGE_DETAIL_H

#include "tools/page/page_source.h"

struct source_text;

/**
 * struct page_detail_options - scope of the analyses
 * @limit:  number of procedures
 * @blocks: of a large procedure, show this many, the ones with most samples
 * @graphs: lay out graphs
 * @text:   source of source lines
 * @lines:  list them, too
 */
struct page_detail_options {
	size_t limit;
	size_t blocks;
	bool graphs;
	struct source_text *text;
	bool lines;
};

/**
 * page_detail_add() - add the parts of the hottest procedures, and their lists to the main object
 * @source: page_source_add() has sorted its rows
 *
 * Return: 0 or -ENOMEM; what cannot be read is in the document.
 */
int page_detail_add(struct page_source *source, const struct page_detail_options *options,
		    struct page_document *document, struct error *err);

#endif
