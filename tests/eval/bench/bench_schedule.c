// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure the time to compute the schedules of all procedures of an image, for each model of its
 * architecture. The image is the argument, or this program without one.
 */
#include <stdlib.h>

#include "analysis/graph/cfg_create.h"
#include "analysis/image/image_code.h"
#include "analysis/machine/schedule.h"
#include "lib/error.h"
#include "tests/eval/bench/bench.h"

struct graphs {
	struct cfg **list;
	size_t count;
	size_t insns;
};

static void make_graphs(struct graphs *graphs, struct image_code *code)
{
	size_t count = procedure_table_count(image_code_procedures(code));

	graphs->list = calloc(count + 1, sizeof(*graphs->list));
	for (size_t i = 0; graphs->list != NULL && i < count; i++) {
		struct cfg *cfg;

		if (cfg_create(&cfg, code, i, NULL, NULL) < 0)
			continue;
		graphs->list[graphs->count++] = cfg;
		graphs->insns += cfg->insn_count;
	}
}

static void measure(const struct graphs *graphs, const struct machine_model *model)
{
	double start = bench_now_ns();

	for (size_t i = 0; i < graphs->count; i++) {
		struct schedule schedule;

		if (schedule_create(&schedule, model, graphs->list[i], NULL) == 0)
			schedule_deinit(&schedule);
	}
	bench_report("schedule_insn", "schedule", model->name,
		     (bench_now_ns() - start) / (double)graphs->insns, "ns");
}

int main(int argc, char **argv)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE,
				      .path = argc > 1 ? argv[1] : "/proc/self/exe"};
	static const struct debug_file_options options;
	struct graphs graphs = {0};
	struct image_code *code;
	struct error err;

	if (image_code_open(&code, &image, &options, &err) < 0) {
		fprintf(stderr, "bench_schedule: %s\n", err.message);
		return 2;
	}
	make_graphs(&graphs, code);
	for (size_t m = 0; graphs.insns > 0 && machine_model_list()[m] != NULL; m++)
		if (machine_model_list()[m]->isa == image_code_decoder(code)->isa)
			measure(&graphs, machine_model_list()[m]);
	for (size_t i = 0; i < graphs.count; i++)
		cfg_destroy(graphs.list[i]);
	free(graphs.list);
	image_code_close(code);
	return 0;
}
