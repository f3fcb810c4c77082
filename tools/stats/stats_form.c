// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text before and after the table of a variation or difference report: sets, normalization, the
 * test.
 */
#include <errno.h>
#include <json-c/json.h>
#include <string.h>

#include "lib/cleanup.h"
#include "tools/base/json_tree.h"
#include "tools/base/text.h"
#include "tools/stats/stats_parts.h"

#define LINE_WIDTH 72
#define INDENT "            "
/* Number of programs listed in text; JSON lists all. */
#define PROGRAMS_LISTED 3

/* Print a word, in lines of LINE_WIDTH; @column: current position in the line. */
static void print_word(FILE *stream, const char *word, size_t *column, const char *indent)
{
	size_t length = strlen(word);

	if (*column > 0 && *column + 1 + length > LINE_WIDTH) {
		fputc('\n', stream);
		fputs(indent, stream);
		*column = strlen(indent);
	} else if (*column > strlen(indent)) {
		fputc(' ', stream);
		++*column;
	}
	fputs(word, stream);
	*column += length;
}

/* Print the first lines of the paper's figure. */
void stats_form_text(FILE *stream, const void *context)
{
	const struct stats_listing *listing = context;
	const struct sample_sets *sets = listing->sets;
	double total = 0;
	size_t column = 0;

	fprintf(stream, "Number of samples of type %s\n", sets->event_text);
	for (size_t set = 0; set < sets->count; set++) {
		char word[80];

		snprintf(word, sizeof(word), "set %zu = %.0f", set + 1,
			 listing->significance.totals[set].value);
		print_word(stream, word, &column, "");
		total += listing->significance.totals[set].value;
	}
	fprintf(stream, "\nTOTAL: %.0f\n\n", total);
}

static void print_sets(FILE *stream, const struct sample_sets *sets)
{
	char word[256];
	size_t column = strlen(INDENT);

	fputs("sets        ", stream);
	if (sets->by == SAMPLE_SETS_BY_NR)
		snprintf(word, sizeof(word), "as given:");
	else
		snprintf(word, sizeof(word), "by %s:", sample_sets_by_name(sets->by));
	print_word(stream, word, &column, INDENT);
	for (size_t set = 0; set < sets->count; set++) {
		snprintf(word, sizeof(word), "%s%s",
			 *sets->list[set].name != '\0' ? sets->list[set].name : "(none)",
			 set + 1 < sets->count ? "," : "");
		print_word(stream, word, &column, INDENT);
	}
	fputc('\n', stream);
	if (sets->left_out > 0)
		fprintf(stream, "skipped     %zu epoch(s) without samples of %s\n", sets->left_out,
			sets->event_text);
}

/* Print the images that were matched by name only, which may be wrong. */
static void print_programs(FILE *stream, const struct program_match *programs)
{
	for (size_t i = 0; i < programs->count && i < PROGRAMS_LISTED; i++) {
		_cleanup_free_ char *path = text_clean(programs->list[i].path);
		_cleanup_free_ char *program = text_clean(programs->list[i].program);
		size_t column = strlen(INDENT);

		if (path == NULL || program == NULL)
			return;
		fputs(i == 0 ? "programs    " : INDENT, stream);
		print_word(stream, path, &column, INDENT);
		print_word(stream, "is assumed to be", &column, INDENT);
		print_word(stream, program, &column, INDENT);
		fputc('\n', stream);
	}
	if (programs->count > PROGRAMS_LISTED)
		fprintf(stream, INDENT "and %zu more, by name\n",
			programs->count - PROGRAMS_LISTED);
}

static void print_norm(FILE *stream, const struct stats_listing *listing)
{
	static const char *const texts[] = {
		[SIGNIFICANCE_COUNTS] = "none: sets are assumed to be the same work",
		[SIGNIFICANCE_TIME] =
			"by time: samples per second, scaled to sets of average length",
		[SIGNIFICANCE_TOTAL] =
			"by total: shares of a set's samples, scaled to an average set",
		[SIGNIFICANCE_REST] = "by the total of procedures that do not vary",
	};

	fprintf(stream, "normalized  %s", texts[listing->config.norm]);
	if (listing->config.norm == SIGNIFICANCE_REST)
		fprintf(stream, " (%zu excluded)", listing->significance.removed);
	fputc('\n', stream);
}

static void print_test(FILE *stream, const struct stats_listing *listing)
{
	const struct significance *significance = &listing->significance;

	fprintf(stream, "test        * %s more than %s: %zu of %zu tested\n",
		listing->config.form == STATS_LISTING_DIFF ? "differs" : "varies",
		listing->config.null == SIGNIFICANCE_OTHERS
			? "sampling noise and the variation of the others explain"
			: "sampling noise explains",
		significance->significant, significance->tested);
	fprintf(stream,
		"            (dispersion, chi-square; %g%% false discoveries, "
		"Benjamini-Hochberg)\n",
		100 * listing->config.level);
	if (listing->config.null == SIGNIFICANCE_OTHERS)
		fprintf(stream, "            spread of the others: %.1f%%\n",
			100 * significance->background);
}

void stats_form_notes(FILE *stream, const void *context)
{
	const struct stats_listing *listing = context;

	print_sets(stream, listing->sets);
	print_programs(stream, set_table_programs(listing->table));
	print_norm(stream, listing);
	print_test(stream, listing);
}

void stats_form_caption(FILE *stream, const void *context)
{
	const struct stats_listing *listing = context;

	if (listing->config.form == STATS_LISTING_DIFF) {
		fputc('\n', stream);
		return;
	}
	fprintf(stream, "\nStatistics using the sample counts for each %s from %zu sample set(s)\n",
		tally_by_name(listing->config.by), listing->sets->count);
	for (int i = 0; i < LINE_WIDTH; i++)
		fputc('=', stream);
	fputc('\n', stream);
}

void stats_form_footer(FILE *stream, const void *context)
{
	const struct stats_listing *listing = context;

	if (listing->small > 0)
		fprintf(stream, "\n%zu %s(s) with less than %g%% of the samples not listed\n",
			listing->small, tally_by_name(listing->config.by),
			100 * listing->config.least);
}

static struct json_object *number_json(double number)
{
	char text[32];

	snprintf(text, sizeof(text), "%.9g", number);
	return json_object_new_double_s(number, text);
}

static struct json_object *set_json(const struct stats_listing *listing, size_t number)
{
	const struct sample_set *set = &listing->sets->list[number];
	double excluded = set_table_excluded(listing->table, PROFILER_WHOLE, number).value;
	double idle = set_table_excluded(listing->table, PROFILER_IDLE, number).value;
	struct json_object *object = json_object_new_object();

	if (object == NULL)
		return NULL;
	if (json_tree_add(object, "set", json_object_new_uint64(number + 1)) < 0 ||
	    json_tree_add(object, "name", json_object_new_string(set->name)) < 0 ||
	    json_tree_add(object, "epochs", json_object_new_uint64(set->epochs)) < 0 ||
	    json_tree_add(object, "seconds", number_json(set->seconds)) < 0 ||
	    json_tree_add(object, "samples",
			  number_json(listing->significance.totals[number].value + excluded +
				      idle)) < 0 ||
	    (excluded > 0 &&
	     json_tree_add(object, "profiler_samples", number_json(excluded)) < 0) ||
	    (idle > 0 && json_tree_add(object, "idle_samples", number_json(idle)) < 0) ||
	    json_tree_add(object, "factor", number_json(listing->significance.factors[number])) <
		    0) {
		json_object_put(object);
		return NULL;
	}
	return object;
}

static int add_sets(struct json_object *object, const struct stats_listing *listing)
{
	struct json_object *list = json_object_new_array();

	if (json_tree_add(object, "sets", list) < 0)
		return -ENOMEM;
	for (size_t set = 0; set < listing->sets->count; set++) {
		struct json_object *item = set_json(listing, set);

		if (item == NULL || json_object_array_add(list, item) < 0) {
			json_object_put(item);
			return -ENOMEM;
		}
	}
	return 0;
}

/* Add a text, cleaned of terminal escape sequences. */
static int add_text(struct json_object *object, const char *key, const char *text)
{
	_cleanup_free_ char *clean = text_clean(text);

	return clean != NULL ? json_tree_add(object, key, json_object_new_string(clean)) : -ENOMEM;
}

static int add_programs(struct json_object *object, const struct program_match *programs)
{
	struct json_object *list = json_object_new_array();

	if (json_tree_add(object, "programs", list) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < programs->count; i++) {
		struct json_object *item = json_object_new_object();

		if (item == NULL || add_text(item, "path", programs->list[i].path) < 0 ||
		    add_text(item, "program", programs->list[i].program) < 0 ||
		    json_object_array_add(list, item) < 0) {
			json_object_put(item);
			return -ENOMEM;
		}
	}
	return 0;
}

int stats_form_json(struct json_object *object, const void *context)
{
	const struct stats_listing *listing = context;
	const struct sample_sets *sets = listing->sets;
	const char *by = sets->by == SAMPLE_SETS_BY_NR ? "name" : sample_sets_by_name(sets->by);
	bool others = listing->config.null == SIGNIFICANCE_OTHERS;

	if (json_tree_add(object, "event", json_object_new_string(sets->event_text)) < 0 ||
	    json_tree_add(object, "sets_by", json_object_new_string(by)) < 0 ||
	    add_sets(object, listing) < 0 ||
	    add_programs(object, set_table_programs(listing->table)) < 0 ||
	    json_tree_add(object, "epochs_left_out", json_object_new_uint64(sets->left_out)) < 0 ||
	    json_tree_add(object, "periods_differ", json_object_new_boolean(sets->scaled_period)) <
		    0 ||
	    json_tree_add(object, "normalized",
			  json_object_new_string(stats_listing_norm_name(listing->config.norm))) <
		    0 ||
	    json_tree_add(object, "against",
			  json_object_new_string(others ? "others" : "sampling")) < 0 ||
	    json_tree_add(object, "background_percent",
			  number_json(100 * listing->significance.background)) < 0 ||
	    json_tree_add(object, "level", number_json(listing->config.level)) < 0 ||
	    json_tree_add(object, "correction", json_object_new_string("Benjamini-Hochberg")) < 0 ||
	    json_tree_add(object, "tested", json_object_new_uint64(listing->significance.tested)) <
		    0 ||
	    json_tree_add(object, "significant",
			  json_object_new_uint64(listing->significance.significant)) < 0 ||
	    json_tree_add(object, "not_listed", json_object_new_uint64(listing->small)) < 0)
		return -ENOMEM;
	return 0;
}
