// SPDX-License-Identifier: GPL-2.0-only
/*
 * dcpivpp - paths whose times vary, as dcpix --mode variation recorded them;
 * docs/man/dcpivpp.1.scd is its manual
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/image_code.h"
#include "instrument/paths/paths_report.h"
#include "instrument/variation/variation_mode.h"
#include "lib/array.h"
#include "lib/error.h"
#include "lib/options.h"
#include "tools/report/cli.h"
#include "tools/variation/variation_json.h"
#include "tools/variation/variation_svg.h"
#include "tools/variation/variation_text.h"

#define FILES_MAX 65536
#define KEY_COMPARE 1001
#define KEY_SVG 1002
#define KEY_DEBUG 1003
#define KEY_WAYS 1004

static const struct option_entry own_options[] = {
	{KEY_COMPARE, "compare", "FILE", "another run's, to compare with; may be repeated"},
	{KEY_SVG, "svg", NULL, "a picture of the first paths' times"},
	{KEY_WAYS, "ways", NULL, "the graphs that paths are made of, as comma-separated values"},
	{KEY_DEBUG, "debug", "DIR", "separate debug files, for source lines"},
};

/* A run: what was measured, and its order. */
struct run {
	struct variation_profile profile;
	struct variation_listing listing;
};

struct vpp {
	struct cli cli;
	bool svg;
	bool ways;
	const char *debug;
	const char **others;
	size_t other_count;
	size_t other_capacity;
	struct paths_map map;
	struct run own;
	struct run other;
	struct variation_stability stability;
};

static int set_option(void *context, int key, const char *argument, struct error *err)
{
	struct vpp *vpp = context;

	switch (key) {
	case KEY_COMPARE:
		if (array_reserve(&vpp->others, &vpp->other_capacity, vpp->other_count + 1,
				  sizeof(*vpp->others)) < 0)
			return error_set(err, ENOMEM, "out of memory");
		vpp->others[vpp->other_count++] = argument;
		break;
	case KEY_SVG:
		vpp->svg = true;
		break;
	case KEY_WAYS:
		vpp->ways = true;
		break;
	case KEY_DEBUG:
		vpp->debug = argument;
		break;
	}
	return 0;
}

static const struct cli_tool tool = {
	.name = "dcpivpp",
	.synopsis = "[OPTION]... REWRITTEN FILE...",
	.summary = "Tells which paths of a program would gain most if they always were as fast as "
		   "they can be, from what dcpix --mode variation had it record.",
	.accepts = CLI_LIMIT | CLI_FORMATS | CLI_TABLE | CLI_FILES,
	.operands_max = FILES_MAX,
	.options = own_options,
	.option_count = sizeof(own_options) / sizeof(*own_options),
	.set = set_option,
};

static int read_run(struct run *run, const struct vpp *vpp, const char *const *files, size_t count,
		    struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++)
		r = variation_profile_add(&run->profile, &vpp->map, files[i], err);
	if (r < 0)
		return r;
	r = variation_listing_make(&run->listing, &vpp->map, &run->profile,
				   vpp->cli.format == CLI_CSV);
	return r < 0 ? error_set(err, -r,
				 r == -ENOMEM ? "out of memory" : "damaged graphs of paths")
		     : 0;
}

static int read_all(struct vpp *vpp, struct error *err)
{
	const char *const *files = (const char *const *)vpp->cli.operands;
	int r;

	if (vpp->cli.operand_count < (vpp->ways ? 1 : 2))
		return error_set(err, EINVAL,
				 "a rewritten program is needed, and the files it recorded in");
	r = paths_map_read(&vpp->map, files[0], VARIATION_MAP_SECTION, err);
	if (r == 0)
		r = read_run(&vpp->own, vpp, files + 1, vpp->cli.operand_count - 1, err);
	if (r == 0)
		r = read_run(&vpp->other, vpp, vpp->others, vpp->other_count, err);
	if (r == 0 && vpp->other_count > 0 &&
	    variation_stability_find(&vpp->stability, &vpp->own.listing, &vpp->other.listing) < 0)
		r = error_set(err, ENOMEM, "out of memory");
	return r;
}

static void print(const struct vpp *vpp)
{
	const struct variation_listing *listing = &vpp->own.listing;
	const struct variation_stability *stability = vpp->other_count > 0 ? &vpp->stability : NULL;
	struct image_code *code;
	size_t limit;

	if (vpp->svg) {
		variation_svg_print(stdout, listing, vpp->cli.limit);
		return;
	}
	if (vpp->cli.format == CLI_JSON) {
		variation_json_print(stdout, listing, vpp->cli.limit, stability);
		return;
	}
	if (vpp->cli.format == CLI_CSV) {
		variation_csv_print(stdout, listing, vpp->cli.limit);
		return;
	}
	limit = vpp->cli.limit > 0 ? vpp->cli.limit : VARIATION_TOP;
	code = image_code_open_same(listing->map->path, listing->map->build_id, vpp->debug);
	variation_text_print(stdout, listing, limit, code);
	image_code_close(code);
	if (stability != NULL)
		variation_text_stability(stdout, stability);
}

static int run(struct vpp *vpp)
{
	struct error err;

	if (read_all(vpp, &err) < 0)
		return cli_fail(&vpp->cli, &err);
	if (vpp->ways) {
		paths_report_ways(stdout, &vpp->map);
		return cli_finish_output(&err) == 0 ? CLI_OK : cli_fail(&vpp->cli, &err);
	}
	if (vpp->own.listing.row_count == 0)
		return cli_nothing(&vpp->cli, "no path was timed twice");
	print(vpp);
	if (vpp->own.profile.shared > 0)
		fprintf(stderr, "dcpivpp: %llu threads had no room of their own: some is missing\n",
			(unsigned long long)vpp->own.profile.shared);
	return cli_finish_output(&err) == 0 ? CLI_OK : cli_fail(&vpp->cli, &err);
}

static void run_deinit(struct run *run)
{
	variation_listing_deinit(&run->listing);
	variation_profile_deinit(&run->profile);
}

int main(int argc, char **argv)
{
	struct vpp vpp = {0};
	int status = cli_parse(&vpp.cli, &tool, argc, argv, &vpp);

	if (status == CLI_RUN)
		status = run(&vpp);
	run_deinit(&vpp.own);
	run_deinit(&vpp.other);
	paths_map_deinit(&vpp.map);
	free(vpp.others);
	cli_deinit(&vpp.cli);
	return status;
}
