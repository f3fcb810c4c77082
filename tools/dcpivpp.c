// SPDX-License-Identifier: GPL-2.0-only
/*
 * dcpivpp - paths whose times vary, as dcpix --mode variation recorded them; manual:
 * docs/man/dcpivpp.1.scd
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/image_code.h"
#include "instrument/paths/paths_report.h"
#include "instrument/variation/variation_mode.h"
#include "lib/array.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/options.h"
#include "tools/report/cli.h"
#include "tools/report/sandboxed.h"
#include "tools/variation/variation_json.h"
#include "tools/variation/variation_source.h"
#include "tools/variation/variation_svg.h"
#include "tools/variation/variation_text.h"

#define FILES_MAX 65536
#define KEY_COMPARE 1001
#define KEY_SVG 1002
#define KEY_DEBUG 1003
#define KEY_EDGES 1004
#define KEY_COMPARE_EPOCH 1005

static const struct option_entry own_options[] = {
	{KEY_COMPARE, "compare", "FILE", "compare with a file of another run; may be repeated"},
	{KEY_COMPARE_EPOCH, "compare-epoch", "LIST",
	 "compare with these epochs of the database: 7, 2-5"},
	{KEY_SVG, "svg", NULL, "draw the times of the first paths as SVG"},
	{KEY_EDGES, "edges", NULL, "print the edges of the path graphs as comma-separated values"},
	{KEY_DEBUG, "debug", "DIR", "search DIR for separate debug files, for source lines"},
};

/* A run: measurements from files or the database, and their order. */
struct run {
	struct variation_profile profile;
	struct variation_source source;
	struct variation_listing listing;
};

struct vpp {
	struct cli cli;
	bool svg;
	bool edges;
	const char *debug;
	const char **others;
	size_t other_count;
	size_t other_capacity;
	struct cli other_cli; /* like the tool's, but with other epochs */
	struct paths_map map;
	struct run own;
	struct run other;
	struct variation_stability stability;
};

static int dcpivpp_set_option(void *context, int key, const char *argument, struct error *err)
{
	struct vpp *vpp = context;

	switch (key) {
	case KEY_COMPARE:
		if (array_reserve(&vpp->others, &vpp->other_capacity, vpp->other_count + 1,
				  sizeof(*vpp->others)) < 0)
			return error_set(err, ENOMEM, ERROR_NO_MEMORY);
		vpp->others[vpp->other_count++] = argument;
		break;
	case KEY_COMPARE_EPOCH:
		epoch_list_deinit(&vpp->other_cli.epochs);
		return epoch_list_parse(&vpp->other_cli.epochs, argument, err);
	case KEY_SVG:
		vpp->svg = true;
		break;
	case KEY_EDGES:
		vpp->edges = true;
		break;
	case KEY_DEBUG:
		vpp->debug = argument;
		break;
	}
	return 0;
}

static const struct cli_tool tool = {
	.name = "dcpivpp",
	.synopsis = "[OPTION]... [REWRITTEN FILE...]",
	.summary = "List the paths of a program whose times vary most, from recordings of dcpix "
		   "--mode variation. The recording is read from files, or from the database if no "
		   "file is given.",
	.accepts = CLI_LIMIT | CLI_FORMATS | CLI_TABLE | CLI_EPOCHS | CLI_IMAGES,
	.operands_max = FILES_MAX,
	.options = own_options,
	.option_count = sizeof(own_options) / sizeof(*own_options),
	.set = dcpivpp_set_option,
};

static int read_files(struct run *run, const struct vpp *vpp, const char *const *files,
		      size_t count, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++)
		r = variation_profile_add(&run->profile, &vpp->map, files[i], err);
	if (r < 0)
		return r;
	r = variation_listing_make(&run->listing, &vpp->map, &run->profile,
				   vpp->cli.format == CLI_CSV);
	return r < 0 ? variation_source_failed(r, err) : 0;
}

static int read_epochs(struct run *run, struct cli *cli, struct error *err)
{
	return variation_source_read(&run->source, cli, cli->format == CLI_CSV, &run->listing, err);
}

static bool is_compared(const struct vpp *vpp)
{
	return vpp->other_count > 0 || !epoch_list_empty(&vpp->other_cli.epochs);
}

/* Read the other run's epochs, which are of the same database, host and time range. */
static int read_other_epochs(struct vpp *vpp, struct error *err)
{
	struct cli cli = vpp->cli;
	int r;

	if (!is_compared(vpp))
		return 0;
	cli.epochs = vpp->other_cli.epochs;
	cli.selected = NULL;
	cli.filter.epochs = NULL;
	cli.filter.epoch_count = 0;
	vpp->other_cli = cli;
	r = read_epochs(&vpp->other, &vpp->other_cli, err);
	if (r == 0 && vpp->other.source.recordings.image != vpp->own.source.recordings.image)
		return error_set(err, EINVAL,
				 "the epochs to be compared are of several programs: select one "
				 "with --image");
	return r;
}

static int read_database(struct vpp *vpp, struct error *err)
{
	int r;

	if (vpp->edges || vpp->other_count > 0)
		return error_set(err, EINVAL, "%s needs a rewritten program",
				 vpp->edges ? "--edges" : "--compare");
	r = read_epochs(&vpp->own, &vpp->cli, err);
	return r == 0 ? read_other_epochs(vpp, err) : r;
}

static int read_operands(struct vpp *vpp, struct error *err)
{
	const char *const *files = (const char *const *)vpp->cli.operands;
	int r;

	if (vpp->cli.operand_count < (vpp->edges ? 1 : 2))
		return error_set(err, EINVAL,
				 "a rewritten program and the files that it recorded are required");
	if (!epoch_list_empty(&vpp->other_cli.epochs))
		return error_set(err, EINVAL,
				 ERROR_EXCLUSIVE("--compare-epoch", "files") ": use --compare");
	r = paths_map_read(&vpp->map, files[0], VARIATION_MAP_SECTION, err);
	if (r == 0)
		r = read_files(&vpp->own, vpp, files + 1, vpp->cli.operand_count - 1, err);
	return r == 0 ? read_files(&vpp->other, vpp, vpp->others, vpp->other_count, err) : r;
}

static int dcpivpp_read_all(struct vpp *vpp, struct error *err)
{
	int r = vpp->cli.operand_count > 0 ? read_operands(vpp, err) : read_database(vpp, err);

	if (r == 0 && is_compared(vpp) &&
	    variation_stability_find(&vpp->stability, &vpp->own.listing, &vpp->other.listing) < 0)
		r = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return r;
}

static void dcpivpp_print(const struct vpp *vpp)
{
	const struct variation_listing *listing = &vpp->own.listing;
	const struct variation_stability *stability = is_compared(vpp) ? &vpp->stability : NULL;
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

static int dcpivpp_run(struct vpp *vpp)
{
	struct error err;
	int r = dcpivpp_read_all(vpp, &err);

	if (r == -ENOENT && vpp->own.source.recordings.reader != NULL)
		return cli_nothing(&vpp->cli, "%s", err.message);
	if (r < 0)
		return cli_fail(&vpp->cli, &err);
	if (vpp->edges) {
		paths_report_edges(stdout, &vpp->map);
		return cli_finish_output(&err) == 0 ? CLI_OK : cli_fail(&vpp->cli, &err);
	}
	if (vpp->own.listing.row_count == 0)
		return cli_nothing(&vpp->cli, "no path was timed twice");
	dcpivpp_print(vpp);
	if (vpp->own.listing.profile->shared > 0)
		fprintf(stderr,
			"dcpivpp: times of %llu threads are incomplete: no memory for their "
			"recording\n",
			(unsigned long long)vpp->own.listing.profile->shared);
	return cli_finish_output(&err) == 0 ? CLI_OK : cli_fail(&vpp->cli, &err);
}

static void run_deinit(struct run *run)
{
	variation_listing_deinit(&run->listing);
	variation_profile_deinit(&run->profile);
	variation_source_close(&run->source);
}

int main(int argc, char **argv)
{
	struct vpp vpp = {0};
	int status = cli_parse(&vpp.cli, &tool, argc, argv, &vpp);
	struct sandboxed_options options = {0};

	options.access.inputs = vpp.others;
	options.access.input_count = vpp.other_count;
	if (status == CLI_RUN)
		status = sandboxed_start(&vpp.cli, &options);
	if (status == CLI_RUN)
		status = dcpivpp_run(&vpp);
	run_deinit(&vpp.own);
	run_deinit(&vpp.other);
	paths_map_deinit(&vpp.map);
	free(vpp.others);
	epoch_list_deinit(&vpp.other_cli.epochs);
	free(vpp.other_cli.selected);
	cli_deinit(&vpp.cli);
	return status;
}
