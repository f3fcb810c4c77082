/* SPDX-License-Identifier: GPL-2.0-only */
/* The profile that a page shows: its samples by procedure and by owner. */
#ifndef DCPI_PAGE_SOURCE_H
#define DCPI_PAGE_SOURCE_H

#include "tools/annotate/calc_source.h"
#include "tools/page/page_document.h"
#include "tools/report/event_choice.h"
#include "tools/report/event_scale.h"
#include "tools/tally/tally.h"

/**
 * struct page_source - zero-initialised: empty
 * @calc:       input of the analysis; its header is that of the page
 * @unanalysed: reason why nothing can be analysed; "": the analysis is possible
 * @tally:      by procedure, in the order of the page's rows
 */
struct page_source {
	struct cli *cli;
	struct profile_reader *reader;
	struct calc_source calc;
	struct error unanalysed;
	struct event_scale scale;
	struct event_choice events;
	struct tally *tally;
};

/**
 * page_source_load() - open the database that the command line names, and sum its samples
 * @source: zero-initialised; freed by page_source_deinit(), also after a failure
 *
 * Return: 0; -ENOENT: no epoch or no samples; or the reader's error.
 */
int page_source_load(struct page_source *source, struct cli *cli, struct error *err);

void page_source_deinit(struct page_source *source);

/** page_source_config() - make the configuration of a tally of the page's events */
struct tally_config page_source_config(const struct page_source *source, enum tally_by by);

/** page_source_leading() - return the event by which procedures are ranked: of time, if any is */
const char *page_source_leading(const struct page_source *source);

/**
 * page_source_add() - add the header, the procedures and the owners of samples to a document
 * @limit: procedures; 0: all
 *
 * Sorts the rows of the tally. Return: 0, -ENOMEM, or the reader's error.
 */
int page_source_add(struct page_source *source, struct page_document *document, size_t limit,
		    struct error *err);

#endif
