// SPDX-License-Identifier: GPL-2.0-only
#include "tools/page/page_sets.h"

#include <errno.h>
#include <json-c/json.h>

#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/base/json_tree.h"
#include "tools/stats/diff_report.h"

/* More rows would make a page of many epochs larger than its analyses. */
#define PAGE_SETS_ROWS 800

/* struct page_sets - a comparison; zero-initialised: empty */
struct page_sets {
	struct sample_sets sets;
	struct set_table *table;
	struct stats_listing *listing;
};

static void page_sets_deinit(struct page_sets *page)
{
	stats_listing_destroy(page->listing);
	set_table_destroy(page->table);
	sample_sets_deinit(&page->sets);
}

static int add_listing(struct page_sets *page, struct page_document *document, const char *key,
		       const struct stats_listing_config *config, const struct cli *cli,
		       struct error *err)
{
	bool builds = config->form == STATS_LISTING_DIFF;
	struct report report;
	int r = set_table_create(&page->table, &page->sets, config->by, builds, cli, err);

	if (r == 0)
		r = stats_listing_create(&page->listing, config, &page->sets, page->table, err);
	if (r < 0)
		return r;
	report = stats_listing_report(page->listing);
	/* The header of a comparison may be of other databases than the page's. */
	if (builds)
		report.header = &page->sets.header;
	return json_tree_add(document->root, key, report_json(&report)) < 0
		       ? error_set(err, ENOMEM, ERROR_NO_MEMORY)
		       : 0;
}

int page_sets_add_variation(struct page_document *document, struct cli *cli, struct error *err)
{
	const struct stats_listing_config config = {
		.norm = SIGNIFICANCE_TOTAL,
		.level = 0.05,
		.form = STATS_LISTING_TEST,
		.by = TALLY_BY_PROCEDURE,
		.sort = "sum",
		.limit = PAGE_SETS_ROWS,
	};
	size_t operands = cli->operand_count;
	struct page_sets page = {0};
	int r;

	cli->operand_count = 0;
	r = sample_sets_load(&page.sets, cli, SAMPLE_SETS_BY_EPOCH, err);
	if (r == 0 && page.sets.count > 1)
		r = add_listing(&page, document, "variation", &config, cli, err);
	else if (r == 0)
		r = json_object_object_add(document->root, "variation", NULL);
	cli->operand_count = operands;
	page_sets_deinit(&page);
	return r;
}

int page_sets_add_diff(struct page_document *document, struct cli *cli, struct error *err)
{
	struct stats_listing_config config = DIFF_REPORT_DEFAULTS;
	struct page_sets page = {0};
	int r;

	config.by = TALLY_BY_PROCEDURE;
	config.limit = PAGE_SETS_ROWS;
	r = sample_sets_load(&page.sets, cli, SAMPLE_SETS_BY_DEFAULT, err);
	if (r == 0)
		r = add_listing(&page, document, "diff", &config, cli, err);
	page_sets_deinit(&page);
	return r;
}
