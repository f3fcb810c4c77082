// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check schedules against the simulator of in-order machines:
 *
 *	schedule_check MODEL IMAGE SIM EDGES [-v]
 *
 * SIM is the output of sim_plugin (sim_report.h has its format), EDGES are the edges that it
 * counted. Considers each block that ran with almost no dynamic stalls, and compares M_i of its
 * instructions with the cycles that the simulator charged to them. Prints a JSON object: the share
 * of executions whose M_i is right to within 2% of a cycle, and the mean error. With -v, also
 * prints the instructions with the largest errors.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/graph/cfg_create.h"
#include "analysis/image/image_code.h"
#include "analysis/machine/schedule.h"
#include "lib/error.h"

/* The first causes of the simulator are static: issue to fetch. */
#define STATIC_CAUSES 7
#define CAUSES_MAX 32
#define DYNAMIC_MAX 0.002 /* share of a block's cycles: it ran without stalls */
#define RIGHT 0.02
#define SHOWN 40

struct truth {
	uint64_t address;
	double executed;
	double fixed; /* cycles by static causes */
	double dynamic;
	double causes[CAUSES_MAX];
};

struct edge {
	uint64_t from; /* file offsets */
	uint64_t to;
	double count;
};

struct wrong {
	uint64_t address;
	double weight;
	char text[200];
};

struct check {
	struct image_code *code;
	const struct machine_model *model;
	struct truth *truth;
	size_t truth_count;
	struct edge *edges;
	size_t edge_count;
	double executions;
	double right;
	double error;
	double cycles;
	double all;
	struct wrong wrong[SHOWN];
};

static int by_address(const void *a, const void *b)
{
	const struct truth *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static int by_ends(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->from != y->from)
		return (x->from > y->from) - (x->from < y->from);
	return (x->to > y->to) - (x->to < y->to);
}

static void add_truth(struct check *check, const char *line)
{
	struct truth truth = {0};
	uint64_t offset, executed;
	int used, cause = 0;

	if (sscanf(line, "i %" SCNx64 " %" SCNx64 " %" SCNu64 "%n", &offset, &truth.address,
		   &executed, &used) != 3)
		return;
	truth.executed = (double)executed;
	for (line += used; cause < 17; cause++, line += used) {
		uint64_t cycles;

		if (sscanf(line, " %" SCNu64 "%n", &cycles, &used) != 1)
			break;
		truth.causes[cause] = (double)cycles;
		*(cause < STATIC_CAUSES ? &truth.fixed : &truth.dynamic) += (double)cycles;
	}
	check->truth = realloc(check->truth, (check->truth_count + 1) * sizeof(truth));
	if (check->truth == NULL)
		abort();
	check->truth[check->truth_count++] = truth;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static int read_sim(struct check *check, const char *path, const char *image)
{
	FILE *file = fopen(path, "r");
	char line[4096];
	bool ours = false;

	if (file == NULL)
		return -1;
	while (fgets(line, sizeof(line), file) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "image ", 6) == 0)
			ours = strcmp(base_name(line + 6), base_name(image)) == 0;
		else if (ours && line[0] == 'i')
			add_truth(check, line);
	}
	fclose(file);
	qsort(check->truth, check->truth_count, sizeof(*check->truth), by_address);
	return 0;
}

static int read_edges(struct check *check, const char *path, const char *image)
{
	FILE *file = fopen(path, "r");
	char line[4096], from[2048], to[2048];

	if (file == NULL)
		return -1;
	while (fgets(line, sizeof(line), file) != NULL) {
		struct edge edge;

		if (sscanf(line, "%*s %" SCNx64 " %" SCNx64 " %lf %*s %2047s %2047s", &edge.from,
			   &edge.to, &edge.count, from, to) != 5 ||
		    strcmp(base_name(from), base_name(image)) != 0 || strcmp(from, to) != 0)
			continue;
		check->edges = realloc(check->edges, (check->edge_count + 1) * sizeof(edge));
		if (check->edges == NULL)
			abort();
		check->edges[check->edge_count++] = edge;
	}
	fclose(file);
	qsort(check->edges, check->edge_count, sizeof(*check->edges), by_ends);
	return 0;
}

static const struct truth *truth_at(const struct check *check, uint64_t address)
{
	struct truth key = {.address = address};

	return bsearch(&key, check->truth, check->truth_count, sizeof(key), by_address);
}

static double executed_at(const struct check *check, uint64_t address)
{
	const struct truth *truth = truth_at(check, address);

	return truth != NULL ? truth->executed : 0;
}

static double edge_count(const struct check *check, uint64_t from, uint64_t to)
{
	struct edge key = {0}, *found;

	if (image_code_offset(check->code, from, &key.from) < 0 ||
	    image_code_offset(check->code, to, &key.to) < 0)
		return 0;
	found = bsearch(&key, check->edges, check->edge_count, sizeof(key), by_ends);
	return found != NULL ? found->count : 0;
}

static double *weigh_edges(const struct check *check, const struct cfg *cfg)
{
	double *weights = calloc(cfg->edge_count + 1, sizeof(*weights));

	if (weights == NULL)
		abort();
	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		const struct cfg_edge *edge = &cfg->edges[i];
		const struct insn *from;

		if (edge->to >= cfg->block_count)
			continue;
		if (edge->insn == UINT32_MAX) {
			/* The remaining executions came from elsewhere. */
			uint32_t first = cfg->blocks[edge->to].first;

			weights[i] = executed_at(check, cfg->insns[first].address);
			continue;
		}
		from = &cfg->insns[edge->insn];
		if (from->flow == INSN_FLOW_BRANCH || from->flow == INSN_FLOW_JUMP ||
		    from->flow == INSN_FLOW_JUMP_INDIRECT)
			weights[i] = edge_count(check, from->address, edge->target);
		else
			weights[i] = executed_at(check, from->address);
	}
	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		const struct cfg_block *block;

		if (cfg->edges[i].insn != UINT32_MAX || cfg->edges[i].to >= cfg->block_count)
			continue;
		block = &cfg->blocks[cfg->edges[i].to];
		for (uint32_t e = 0; e < block->in_count; e++)
			if (cfg->in_edges[block->in + e] != i)
				weights[i] -= weights[cfg->in_edges[block->in + e]];
		if (weights[i] < 0)
			weights[i] = 0;
	}
	return weights;
}

static void note_wrong(struct check *check, const struct insn *insn, const struct truth *truth,
		       const struct schedule_insn *scheduled, double weight)
{
	struct wrong *least = &check->wrong[0];
	char text[INSN_TEXT_BYTES];
	const uint8_t *bytes;
	size_t available;
	int used;

	for (int i = 1; i < SHOWN; i++)
		if (check->wrong[i].weight < least->weight)
			least = &check->wrong[i];
	if (weight <= least->weight)
		return;
	bytes = image_code_bytes(check->code, insn->address, &available);
	image_code_decoder(check->code)->format(text, bytes, available, insn->address);
	least->address = insn->address;
	least->weight = weight;
	used = snprintf(least->text, sizeof(least->text), "%-32s M %.3f true %.3f (%.0f):", text,
			scheduled->min_cycles, truth->fixed / truth->executed, truth->executed);
	for (int c = 0; c < STATIC_CAUSES && used < 180; c++)
		used += snprintf(least->text + used, sizeof(least->text) - (size_t)used, " %.2f",
				 truth->causes[c] / truth->executed);
}

static bool runs_freely(const struct check *check, const struct cfg *cfg, uint32_t b)
{
	const struct cfg_block *block = &cfg->blocks[b];
	double fixed = 0, dynamic = 0;

	for (uint32_t i = block->first; i < block->first + block->count; i++) {
		const struct truth *truth = truth_at(check, cfg->insns[i].address);

		if (truth == NULL)
			return false;
		fixed += truth->fixed;
		dynamic += truth->dynamic;
	}
	return dynamic <= fixed * DYNAMIC_MAX;
}

static void compare_block(struct check *check, const struct cfg *cfg,
			  const struct schedule *schedule, uint32_t b)
{
	const struct cfg_block *block = &cfg->blocks[b];

	check->all += executed_at(check, cfg->insns[block->first].address) * block->count;
	if (!runs_freely(check, cfg, b))
		return;
	for (uint32_t i = block->first; i < block->first + block->count; i++) {
		const struct truth *truth = truth_at(check, cfg->insns[i].address);
		double error = fabs(truth->fixed / truth->executed - schedule->insns[i].min_cycles);

		check->executions += truth->executed;
		check->cycles += truth->fixed;
		check->error += error * truth->executed;
		if (error <= RIGHT)
			check->right += truth->executed;
		else
			note_wrong(check, &cfg->insns[i], truth, &schedule->insns[i],
				   error * truth->executed);
	}
}

static void compare_procedure(struct check *check, size_t index)
{
	struct schedule schedule;
	struct cfg *cfg;
	double *weights;

	if (cfg_create(&cfg, check->code, index, NULL, NULL) < 0)
		return;
	weights = weigh_edges(check, cfg);
	if (schedule_create(&schedule, check->model, cfg, weights) < 0)
		abort();
	for (uint32_t b = 0; b < cfg->block_count; b++)
		compare_block(check, cfg, &schedule, b);
	schedule_deinit(&schedule);
	free(weights);
	cfg_destroy(cfg);
}

static void print(const struct check *check, const char *image, bool verbose)
{
	for (int i = 0; verbose && i < SHOWN; i++)
		if (check->wrong[i].weight > 0)
			printf("# %.0f 0x%" PRIx64 " %s\n", check->wrong[i].weight,
			       check->wrong[i].address, check->wrong[i].text);
	printf("{\"image\": \"%s\", \"model\": \"%s\", \"executions\": %.0f, \"compared\": %.4f"
	       ", \"right\": %.5f, \"mean_error\": %.5f, \"mean_cycles\": %.4f}\n",
	       base_name(image), check->model->name, check->all,
	       check->all > 0 ? check->executions / check->all : 0,
	       check->executions > 0 ? check->right / check->executions : 0,
	       check->executions > 0 ? check->error / check->executions : 0,
	       check->executions > 0 ? check->cycles / check->executions : 0);
}

int main(int argc, char **argv)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE};
	static const struct debug_file_options options;
	struct check check = {0};
	struct error err;

	if (argc < 5 || (check.model = machine_model_find(argv[1])) == NULL) {
		fprintf(stderr, "usage: schedule_check MODEL IMAGE SIM EDGES [-v]\n");
		return 2;
	}
	image.path = argv[2];
	if (image_code_open(&check.code, &image, &options, &err) < 0) {
		fprintf(stderr, "schedule_check: %s\n", err.message);
		return 2;
	}
	if (read_sim(&check, argv[3], argv[2]) != 0 || read_edges(&check, argv[4], argv[2]) != 0) {
		fprintf(stderr, "schedule_check: cannot read %s or %s\n", argv[3], argv[4]);
		return 2;
	}
	for (size_t i = 0; i < procedure_table_count(image_code_procedures(check.code)); i++)
		compare_procedure(&check, i);
	print(&check, argv[2], argc > 5);
	image_code_close(check.code);
	free(check.truth);
	free(check.edges);
	return 0;
}
