// SPDX-License-Identifier: GPL-2.0-only
#include "tools/page/page_source.h"

#include <errno.h>
#include <json-c/json.h>
#include <string.h>

#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/base/json_tree.h"
#include "tools/report/report.h"
#include "tools/tally/owner_listing.h"
#include "tools/tally/sample_listing.h"

static int load_header(struct page_source *source, struct error *err)
{
	struct report_header *header = &source->calc.header;
	int r = cli_open(source->cli, &source->reader, err);

	if (r == 0)
		r = report_header_load(header, source->reader, &source->cli->filter, err);
	if (r == 0 && header->epoch_count == 0)
		return cli_no_epoch(source->cli, source->reader, err);
	header->scaled = true;
	if (r == 0)
		r = event_scale_load_header(&source->scale, source->reader, header, err);
	return r;
}

/* A page without an event of time has no analyses, but everything else. */
static int load_analysis(struct page_source *source, struct error *err)
{
	struct cli *cli = source->cli;
	int r;

	if (!cli->include.profiler)
		source->calc.profiler = CALC_PROFILER_NO_SHARE;
	r = calc_source_load(&source->calc, source->reader, &cli->filter, NULL, cli->image,
			     &cli->debug, &source->unanalysed);
	if (r == 0 || r == -ENOENT)
		return 0;
	*err = source->unanalysed;
	return r;
}

struct tally_config page_source_config(const struct page_source *source, enum tally_by by)
{
	const struct cli *cli = source->cli;

	return (struct tally_config){
		.events = source->events.names,
		.event_count = source->events.count,
		.filter = cli->filter,
		.image = cli->image,
		.by = by,
		.scale = &source->scale,
		.demangle = cli->demangle,
		.debug = cli->debug,
		.include = cli->include,
		.tool = cli->tool,
	};
}

int page_source_load(struct page_source *source, struct cli *cli, struct error *err)
{
	struct report_header *header = &source->calc.header;
	struct tally_config config;
	int r;

	source->cli = cli;
	cli->include.idle = true; /* the page states their share */
	r = load_header(source, err);
	if (r == 0)
		r = load_analysis(source, err);
	if (r == 0)
		r = event_choice_make(&source->events, header, cli, err);
	if (r == 0 && source->events.count == 0)
		return error_set(err, ENOENT, "%s", report_header_no_samples(header));
	config = page_source_config(source, TALLY_BY_PROCEDURE);
	if (r == 0)
		r = tally_create(&source->tally, source->reader, &config, err);
	if (r < 0)
		return r;
	tally_describe(source->tally, header);
	if (tally_row_count(source->tally) == 0)
		return error_set(err, ENOENT, "%s", report_header_no_samples(header));
	return 0;
}

void page_source_deinit(struct page_source *source)
{
	tally_destroy(source->tally);
	event_choice_deinit(&source->events);
	event_scale_deinit(&source->scale);
	calc_source_deinit(&source->calc);
	profile_reader_close(source->reader);
}

const char *page_source_leading(const struct page_source *source)
{
	const char *time = source->calc.events.time;

	for (size_t i = 0; time != NULL && i < source->events.count; i++) {
		if (strcmp(source->events.names[i], time) == 0)
			return time;
	}
	return source->events.names[0];
}

static int add_report(struct json_object *object, const char *key, const struct report *report,
		      struct error *err)
{
	return json_tree_add(object, key, report_json(report)) < 0
		       ? error_set(err, ENOMEM, ERROR_NO_MEMORY)
		       : 0;
}

static int add_samples(struct json_object *object, const char *key, struct page_source *source,
		       struct tally *tally, const struct sample_listing_config *limits,
		       const struct report_header *header, struct error *err)
{
	struct sample_listing_config config = *limits;
	struct sample_listing *listing = NULL;
	int r;

	config.tally = tally;
	config.events = source->events.names;
	config.event_count = source->events.count;
	config.sort = page_source_leading(source);
	r = sample_listing_create(&listing, &config, err);
	if (r == 0) {
		struct report report = sample_listing_report(listing);

		report.header = header;
		r = add_report(object, key, &report, err);
	}
	sample_listing_destroy(listing);
	return r;
}

/* Add the rows of one kind of owner, if the database has them. */
static int add_owner(struct json_object *groups, const char *key, enum owner_by by,
		     struct page_source *source, struct error *err)
{
	struct owner_tally_config config = {
		.by = by,
		.events = source->events.names,
		.event_count = source->events.count,
		.filter = source->cli->filter,
		.image = source->cli->image,
		.scale = &source->scale,
		.include = source->cli->include,
		.debug = source->cli->debug,
	};
	struct owner_listing *listing = NULL;
	struct owner_tally *tally = NULL;
	int r = owner_tally_create(&tally, source->reader, &config, err);

	if (r == 0 && owner_tally_known(tally) && owner_tally_row_count(tally) > 0) {
		r = owner_listing_create(&listing, tally, &config, NULL, 0, err);
		if (r == 0) {
			struct report report = owner_listing_report(listing);

			r = add_report(groups, key, &report, err);
		}
	}
	owner_listing_destroy(listing);
	owner_tally_destroy(tally);
	return r;
}

static int add_groups(struct page_source *source, struct json_object *groups, struct error *err)
{
	static const struct {
		const char *key;
		enum owner_by by;
	} owners[] = {
		{"unit", OWNER_BY_UNIT},       {"container", OWNER_BY_CONTAINER},
		{"process", OWNER_BY_PROCESS}, {"host", OWNER_BY_HOST},
		{"epoch", OWNER_BY_EPOCH},
	};
	/* Samples by owner are not kept by owner again. */
	bool asks = source->cli->filter.has_pid || source->cli->filter.unit != NULL ||
		    source->cli->filter.container != NULL;
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(owners) / sizeof(*owners); i++) {
		if (!asks || owners[i].by >= OWNER_BY_HOST)
			r = add_owner(groups, owners[i].key, owners[i].by, source, err);
	}
	return r;
}

static int add_images(struct page_source *source, struct json_object *groups, struct error *err)
{
	static const struct sample_listing_config all = {.by = TALLY_BY_IMAGE};
	struct tally_config config = page_source_config(source, TALLY_BY_IMAGE);
	struct tally *tally = NULL;
	int r = tally_create(&tally, source->reader, &config, err);

	if (r == 0)
		r = add_samples(groups, "image", source, tally, &all, NULL, err);
	tally_destroy(tally);
	return r;
}

/* List the rows in which the kernel waits for work: they are no candidates for optimization. */
static int add_idle(struct page_source *source, struct page_document *document, size_t limit,
		    struct error *err)
{
	const struct tally_row *rows = tally_rows(source->tally);
	struct json_object *list = json_object_new_array();
	size_t count = tally_row_count(source->tally);
	enum profiler_probes probes;
	int r = profiler_probes_load(&probes, source->reader, &source->cli->filter, err);

	if (json_tree_add(document->root, "idle", list) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (limit > 0 && count > limit)
		count = limit;
	for (size_t i = 0; r == 0 && i < count; i++) {
		if (profiler_class_of(rows[i].file, rows[i].procedure, probes) == PROFILER_IDLE &&
		    json_object_array_add(list, json_object_new_uint64(i)) < 0)
			r = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	return r;
}

int page_source_add(struct page_source *source, struct page_document *document, size_t limit,
		    struct error *err)
{
	const struct sample_listing_config limits = {.by = TALLY_BY_PROCEDURE, .limit = limit};
	struct json_object *groups = json_object_new_object();
	const char *leading = page_source_leading(source);
	int r;

	if (json_tree_add(document->root, "event", json_object_new_string(leading)) < 0 ||
	    json_tree_add(document->root, "groups", groups) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	r = add_samples(document->root, "procedures", source, source->tally, &limits,
			&source->calc.header, err);
	if (r == 0)
		r = add_idle(source, document, limit, err);
	if (r == 0)
		r = add_images(source, groups, err);
	if (r == 0)
		r = add_groups(source, groups, err);
	return r;
}
