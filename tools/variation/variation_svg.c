// SPDX-License-Identifier: GPL-2.0-only
#include "tools/variation/variation_svg.h"

#include <inttypes.h>

#include "analysis/image/demangle.h"
#include "lib/cleanup.h"

#define WIDTH 720
#define HEIGHT 360
#define LEFT 60
#define TOP 20
#define BOTTOM 40
#define LEGEND_LINE 18

static const char *const colours[VARIATION_SVG_PATHS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
							 "#000000"};

static double x_of(size_t step, size_t steps)
{
	return LEFT + (double)step * (WIDTH - LEFT - 20) / (double)(steps > 1 ? steps - 1 : 1);
}

static double y_of(double share)
{
	return TOP + (1 - share) * (HEIGHT - TOP - BOTTOM);
}

/* Escape characters with a meaning in XML, and replace those that it forbids. */
static void variation_svg_print_text(FILE *out, const char *text)
{
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < ' ' || c >= 0x7f)
			putc('?', out);
		else if (c == '<' || c == '>' || c == '&' || c == '"')
			fprintf(out, "&#%u;", c);
		else
			putc(c, out);
	}
}

static void print_axes(FILE *out, size_t steps)
{
	fprintf(out, "<path d=\"M%d,%d V%d H%d\" fill=\"none\" stroke=\"#888\"/>\n", LEFT, TOP,
		HEIGHT - BOTTOM, WIDTH - 20);
	for (size_t i = 0; i < steps; i++)
		fprintf(out,
			"<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%" PRIu64 "</text>\n",
			x_of(i, steps), HEIGHT - BOTTOM + 15, variation_listing_step(i));
	for (int tenth = 0; tenth <= 10; tenth += 5)
		fprintf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%d%%</text>\n",
			LEFT - 5, y_of(tenth / 10.0) + 4, tenth * 10);
	fprintf(out,
		"<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">cycles above the base time, up to "
		"the next mark</text>\n",
		(LEFT + WIDTH) / 2, HEIGHT - 6);
}

static void print_line(FILE *out, const struct variation_row *row, size_t steps, size_t index)
{
	uint64_t samples[VARIATION_STEPS];

	variation_listing_steps(row, samples);
	fprintf(out, "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"%s\" points=\"",
		colours[index]);
	for (size_t i = 0; i < steps; i++)
		fprintf(out, "%.1f,%.1f ", x_of(i, steps),
			y_of((double)samples[i] / (double)row->times->count));
	fputs("\"/>\n", out);
}

static void print_legend(FILE *out, const struct variation_listing *listing,
			 const struct variation_row *row, size_t index)
{
	const struct paths_procedure *procedure = &listing->map->procedures[row->times->procedure];
	_cleanup_free_ char *readable = demangle(procedure->name);

	fprintf(out, "<text x=\"%d\" y=\"%zu\" fill=\"%s\">%zu. ", LEFT,
		HEIGHT + LEGEND_LINE * (index + 1), colours[index], row->rank);
	variation_svg_print_text(out, readable != NULL ? readable : procedure->name);
	fprintf(out,
		", path %" PRIu32 ": %" PRIu64 " times, base time %" PRIu64
		" cycles, net variation %.1f%% of all time</text>\n",
		row->times->number + 1, row->times->count, row->times->least,
		100 * variation_listing_share(listing, row->net));
}

/* Return the number of histogram steps up to the last one with samples in any path. */
static size_t count_steps(const struct variation_listing *listing, size_t count)
{
	size_t steps = 1;

	for (size_t i = 0; i < count; i++) {
		uint64_t samples[VARIATION_STEPS];

		variation_listing_steps(&listing->rows[i], samples);
		for (size_t k = steps; k < VARIATION_STEPS; k++) {
			if (samples[k] > 0)
				steps = k + 1;
		}
	}
	return steps;
}

void variation_svg_print(FILE *out, const struct variation_listing *listing, size_t limit)
{
	size_t count = limit > 0 && limit < VARIATION_SVG_PATHS ? limit : VARIATION_SVG_PATHS;
	size_t steps;

	if (count > listing->row_count)
		count = listing->row_count;
	steps = count_steps(listing, count);
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" width=\"%d\" "
		"height=\"%zu\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n<title>",
		WIDTH, HEIGHT + LEGEND_LINE * (count + 1));
	variation_svg_print_text(out, listing->map->path);
	fputs("</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", out);
	print_axes(out, steps);
	for (size_t i = 0; i < count; i++)
		print_line(out, &listing->rows[i], steps, i);
	for (size_t i = 0; i < count; i++)
		print_legend(out, listing, &listing->rows[i], i);
	fputs("</svg>\n", out);
}
