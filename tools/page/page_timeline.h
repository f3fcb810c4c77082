/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Adds the samples by time to a page, from the slices of the database.
 *
 * A column of the timeline is a time of @step_s seconds in which slices begin. It has the samples
 * of these slices, so that its counts are those of dcpiprof --since and --until for the same time.
 */
#ifndef DCPI_PAGE_TIMELINE_H
#define DCPI_PAGE_TIMELINE_H

#include "tools/page/page_source.h"

/* The columns are as short as this number of them allows. */
#define PAGE_TIMELINE_COLUMNS 240

/* Counts of procedures in columns; bounds the size of the page. */
#define PAGE_TIMELINE_COUNTS 60000

/**
 * page_timeline_add() - add the member "timeline"
 * @source: page_source_add() has sorted its rows
 * @limit: procedures of the page; 0: all
 *
 * It is null if a selected epoch has samples without slices, or all slices are in one column.
 *
 * Return: 0, -ENOMEM, or the reader's error.
 */
int page_timeline_add(struct page_source *source, struct page_document *document, size_t limit,
		      struct error *err);

#endif
