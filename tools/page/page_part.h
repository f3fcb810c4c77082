/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of a document that shows one procedure. */
#ifndef DCPI_PAGE_PART_H
#define DCPI_PAGE_PART_H

#include "tools/page/page_source.h"

struct source_text;

/**
 * struct page_part_source - input of a part
 * @choice: the open image, and the procedure
 * @tally:  of the image, by instruction
 * @text:   source of source lines
 * @lines:  list them, too
 * @blocks: of a large procedure, show this many, the ones with most samples
 * @graphs: lay out the graph
 */
struct page_part_source {
	struct page_source *page;
	struct calc_choice *choice;
	struct tally *tally;
	struct source_text *text;
	bool lines;
	size_t blocks;
	bool graphs;
};

/**
 * page_part_make() - make the part of an analysed procedure
 * @analysis: of the procedure that the source's choice names
 * @text:  out: the part, freed by the caller
 * @entry: out: new; its numbers for the list of procedures
 *
 * Return: 0 or -ENOMEM.
 */
int page_part_make(struct page_part *text, struct json_object **entry,
		   const struct page_part_source *source,
		   const struct procedure_analysis *analysis);

#endif
