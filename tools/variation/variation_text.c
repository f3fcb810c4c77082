// SPDX-License-Identifier: GPL-2.0-only
#include "tools/variation/variation_text.h"

#include <inttypes.h>

#include "instrument/paths/paths_report.h"
#include "instrument/profile/report_text.h"

#define BAR 40

static double variation_text_percent(const struct variation_listing *listing, uint64_t cycles)
{
	return 100 * variation_listing_share(listing, cycles);
}

static void print_head(FILE *out, const struct variation_listing *listing)
{
	const struct variation_profile *profile = listing->profile;

	fputs("variation of ", out);
	report_text_name(out, listing->map->path, false);
	fprintf(out, "; %zu file%s, %" PRIu64 " thread%s; ", profile->files,
		profile->files == 1 ? "" : "s", profile->threads, profile->threads == 1 ? "" : "s");
	if (listing->map->checks > 0)
		fprintf(out, "one path timed for %" PRIu32 " checks\n", listing->map->checks);
	else
		fputs("all paths timed\n", out);
	fprintf(out,
		"%" PRIu64 " times of %zu paths: %" PRIu64
		" cycles, of which %.1f%% exceed the paths' fastest times\n",
		listing->count, listing->row_count, listing->total,
		variation_text_percent(listing, listing->net));
	fprintf(out,
		"excluded: %" PRIu64 " paths timed once; %" PRIu64
		" times with interrupts (%" PRIu64 " cycles); lost: %" PRIu64
		"; no memory: %" PRIu64 "\n",
		listing->once, listing->interrupted, listing->interrupted_total, profile->lost,
		profile->overflow);
	fprintf(out,
		"of the first %d: %zu are not among the first %d by frequency, %zu not by time\n",
		VARIATION_TOP, listing->not_frequent, VARIATION_TOP, listing->not_long);
}

/* Empty steps at both ends are omitted. */
static void print_histogram(FILE *out, const struct variation_row *row)
{
	uint64_t samples[VARIATION_STEPS], most = 1;
	size_t last = 0;

	variation_listing_steps(row, samples);
	for (size_t i = 0; i < VARIATION_STEPS; i++) {
		if (samples[i] > 0)
			last = i;
		if (samples[i] > most)
			most = samples[i];
	}
	fputs("      cycles above      times\n", out);
	for (size_t i = 0; i <= last; i++) {
		int bar = (int)((double)samples[i] * BAR / (double)most + 0.5);

		fprintf(out, "    %8" PRIu64 " and up %10" PRIu64 "  %.*s\n",
			variation_listing_step(i), samples[i], bar,
			"########################################");
	}
}

static void print_row(FILE *out, const struct variation_listing *listing,
		      const struct variation_row *row, struct image_code *code)
{
	const struct variation_path *times = row->times;
	const struct paths_procedure *procedure = &listing->map->procedures[times->procedure];

	fprintf(out,
		"\n%4zu. variation %5.1f%%  time %5.1f%% (%zu.)  %" PRIu64
		" times (%zu.)  fastest %" PRIu64 ", mean %.1f cycles  ",
		row->rank, variation_text_percent(listing, row->net),
		variation_text_percent(listing, times->total), row->by_time, times->count,
		row->by_count, times->least, (double)times->total / (double)times->count);
	report_text_procedure(out, procedure->name, false);
	fprintf(out, ", path %" PRIu32 " of %" PRIu32 "\n", times->number + 1,
		procedure->graph.count);
	paths_report_blocks(out, row->path, code);
	print_histogram(out, row);
}

void variation_text_print(FILE *out, const struct variation_listing *listing, size_t limit,
			  struct image_code *code)
{
	size_t count = limit > 0 && limit < listing->row_count ? limit : listing->row_count;

	print_head(out, listing);
	for (size_t i = 0; i < count; i++)
		print_row(out, listing, &listing->rows[i], code);
	if (count < listing->row_count)
		fprintf(out, "\n... %zu more\n", listing->row_count - count);
}

void variation_text_stability(FILE *out, const struct variation_stability *stability)
{
	fprintf(out, "\ncompared: %zu of the first %zu paths are the first ones of the other run\n",
		stability->common, stability->count);
	fputs("net variation, of the run's time      this run  other run\n", out);
	fprintf(out, "  of its own first paths                %5.1f%%     %5.1f%%\n",
		100 * stability->own[0], 100 * stability->own[1]);
	fprintf(out, "  of the other run's first paths        %5.1f%%     %5.1f%%\n",
		100 * stability->other[0], 100 * stability->other[1]);
	fprintf(out, "rank correlation of %zu paths timed in both: ", stability->both);
	if (stability->correlation == stability->correlation)
		fprintf(out, "%.3f\n", stability->correlation);
	else
		fputs("too few\n", out);
}
