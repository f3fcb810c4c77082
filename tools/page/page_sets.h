/* SPDX-License-Identifier: GPL-2.0-only */
/* Adds the variation between epochs, and the differences between two sets of samples, to a page. */
#ifndef DCPI_PAGE_SETS_H
#define DCPI_PAGE_SETS_H

#include "tools/page/page_document.h"

struct cli;
struct error;

/**
 * page_sets_add_variation() - add the object of dcpistats for all epochs that @cli selects
 *
 * Its columns are also the time axis of the page. With one epoch, the member
 * "variation" is null.
 *
 * Return: 0 or -ENOMEM, or an error of sample_sets_load().
 */
int page_sets_add_variation(struct page_document *document, struct cli *cli, struct error *err);

/**
 * page_sets_add_diff() - add the object of dcpidiff for the two operands of @cli
 *
 * Return: 0; -ENOMEM; or an error of sample_sets_load().
 */
int page_sets_add_diff(struct page_document *document, struct cli *cli, struct error *err);

#endif
