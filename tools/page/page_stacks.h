/* SPDX-License-Identifier: GPL-2.0-only */
/* Adds the sampled call stacks to a page, as the tree of its flame graph. */
#ifndef DCPI_PAGE_STACKS_H
#define DCPI_PAGE_STACKS_H

#include "tools/page/page_source.h"

/**
 * page_stacks_add() - add the member "stacks", if the selected epochs have stacks
 *
 * Frames with less than 1 / PAGE_STACKS_SHARES of all samples are left out, which bounds the size
 * of the page. Their samples remain in their callers.
 *
 * Return: 0 or -ENOMEM, or an error of stack_profile_load().
 */
int page_stacks_add(struct page_source *source, struct page_document *document, struct error *err);

#define PAGE_STACKS_SHARES 4000

#endif
