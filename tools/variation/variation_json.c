// SPDX-License-Identifier: GPL-2.0-only
#include "tools/variation/variation_json.h"

#include <inttypes.h>

#include "instrument/profile/report_text.h"
#include "tools/base/json_stream.h"

static size_t limited(const struct variation_listing *listing, size_t limit)
{
	return limit > 0 && limit < listing->row_count ? limit : listing->row_count;
}

static void put_address(struct json_stream *json, const char *key, uint64_t address)
{
	char text[24];

	snprintf(text, sizeof(text), "%#" PRIx64, address);
	json_stream_text(json, key, text);
}

static void put_blocks(struct json_stream *json, const struct paths_row *path)
{
	json_stream_open(json, "blocks", '[');
	for (size_t i = 0; i < path->node_count; i++) {
		if (path->nodes[i]->bytes > 0)
			put_address(json, NULL, path->nodes[i]->address);
	}
	json_stream_close(json, ']');
	if (path->next != 0)
		put_address(json, "next", path->next);
	else
		json_stream_null(json, "next");
}

static void put_histogram(struct json_stream *json, const struct variation_row *row)
{
	uint64_t samples[VARIATION_STEPS];

	variation_listing_steps(row, samples);
	json_stream_open(json, "above", '[');
	for (size_t i = 0; i < VARIATION_STEPS; i++) {
		if (samples[i] == 0)
			continue;
		json_stream_open(json, NULL, '{');
		json_stream_count(json, "cycles", variation_listing_step(i));
		json_stream_count(json, "times", samples[i]);
		json_stream_close(json, '}');
	}
	json_stream_close(json, ']');
}

static void put_row(struct json_stream *json, const struct variation_listing *listing,
		    const struct variation_row *row)
{
	const struct variation_path *times = row->times;
	const struct paths_procedure *procedure = &listing->map->procedures[times->procedure];

	json_stream_open(json, NULL, '{');
	json_stream_text(json, "procedure", procedure->name);
	put_address(json, "address", procedure->address);
	json_stream_count(json, "path", times->number);
	json_stream_count(json, "net_variation", row->net);
	json_stream_number(json, "percent", 100 * variation_listing_share(listing, row->net));
	json_stream_count(json, "times", times->count);
	json_stream_count(json, "cycles", times->total);
	json_stream_count(json, "fastest", times->least);
	json_stream_count(json, "interrupted", times->interrupted);
	json_stream_count(json, "rank_by_times", row->by_count);
	json_stream_count(json, "rank_by_cycles", row->by_time);
	put_blocks(json, row->path);
	put_histogram(json, row);
	json_stream_close(json, '}');
}

static void put_stability(struct json_stream *json, const struct variation_stability *stability)
{
	static const char *const runs[] = {"this", "other"};

	json_stream_open(json, "compared", '{');
	json_stream_count(json, "first", stability->count);
	json_stream_count(json, "common", stability->common);
	for (size_t i = 0; i < 2; i++) {
		json_stream_open(json, runs[i], '{');
		json_stream_number(json, "own_percent", 100 * stability->own[i]);
		json_stream_number(json, "cross_percent", 100 * stability->other[i]);
		json_stream_close(json, '}');
	}
	json_stream_count(json, "timed_in_both", stability->both);
	json_stream_number(json, "rank_correlation", stability->correlation);
	json_stream_close(json, '}');
}

void variation_json_print(FILE *out, const struct variation_listing *listing, size_t limit,
			  const struct variation_stability *stability)
{
	const struct variation_profile *profile = listing->profile;
	struct json_stream json = {.file = out};

	json_stream_open(&json, NULL, '{');
	json_stream_text(&json, "image", listing->map->path);
	json_stream_text(&json, "build_id", listing->map->build_id);
	json_stream_count(&json, "checks", listing->map->checks);
	json_stream_count(&json, "threads", profile->threads);
	json_stream_count(&json, "times", listing->count);
	json_stream_count(&json, "cycles", listing->total);
	json_stream_count(&json, "net_variation", listing->net);
	json_stream_count(&json, "timed_once", listing->once);
	json_stream_count(&json, "timed_once_cycles", listing->once_total);
	json_stream_count(&json, "interrupted", listing->interrupted);
	json_stream_count(&json, "interrupted_cycles", listing->interrupted_total);
	json_stream_count(&json, "lost", profile->lost);
	json_stream_count(&json, "without_room", profile->overflow);
	json_stream_count(&json, "threads_without_room", profile->shared);
	json_stream_count(&json, "first_not_by_times", listing->not_frequent);
	json_stream_count(&json, "first_not_by_cycles", listing->not_long);
	if (stability != NULL)
		put_stability(&json, stability);
	json_stream_open(&json, "paths", '[');
	for (size_t i = 0; i < limited(listing, limit); i++)
		put_row(&json, listing, &listing->rows[i]);
	json_stream_close(&json, ']');
	json_stream_close(&json, '}');
	json_stream_line(&json);
}

void variation_csv_print(FILE *out, const struct variation_listing *listing, size_t limit)
{
	fputs("net_variation,times,cycles,fastest,interrupted,rank_by_times,rank_by_cycles,path,"
	      "address,procedure,blocks,next\n",
	      out);
	for (size_t i = 0; i < limited(listing, limit); i++) {
		const struct variation_row *row = &listing->rows[i];
		const struct variation_path *times = row->times;
		const struct paths_procedure *procedure =
			&listing->map->procedures[times->procedure];
		const char *between = "";

		fprintf(out,
			"%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			",%zu,%zu,%" PRIu32 ",%" PRIx64 ",",
			row->net, times->count, times->total, times->least, times->interrupted,
			row->by_count, row->by_time, times->number, procedure->address);
		report_text_procedure(out, procedure->name, true);
		putc(',', out);
		for (size_t k = 0; k < row->path->node_count; k++) {
			if (row->path->nodes[k]->bytes == 0)
				continue;
			fprintf(out, "%s%" PRIx64, between, row->path->nodes[k]->address);
			between = " ";
		}
		fprintf(out, ",%" PRIx64 "\n", row->path->next);
	}
}
