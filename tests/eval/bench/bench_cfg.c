// SPDX-License-Identifier: GPL-2.0-only
/* Measure the time to build the control-flow graphs of big images: bench_cfg [FILE...] */
#include <stdio.h>

#include "analysis/graph/cfg_create.h"
#include "analysis/image/image_code.h"
#include "lib/error.h"
#include "tests/eval/bench/bench.h"

struct totals {
	uint64_t insns;
	uint64_t graphs;
	uint64_t bytes;
};

static struct image_code *open_code(const char *path)
{
	static const struct debug_file_options options;
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE, .path = path};
	struct image_code *code = NULL;
	struct error err;

	if (image_code_open(&code, &image, &options, &err) < 0)
		fprintf(stderr, "bench_cfg: %s\n", err.message);
	return code;
}

static void make(struct image_code *code, size_t index, struct totals *totals)
{
	struct cfg *cfg = NULL;

	if (cfg_create(&cfg, code, index, NULL, NULL) < 0)
		return;
	totals->graphs++;
	totals->insns += cfg->insn_count;
	for (uint32_t i = 0; i < cfg->insn_count; i++)
		totals->bytes += cfg->insns[i].bytes;
	cfg_destroy(cfg);
}

/*
 * Measure opening an image and building one graph, of the procedure in the middle: the best of
 * three.
 */
static void bench_one(const char *path)
{
	double best = 1e18;

	for (int round = 0; round < 3; round++) {
		double start = bench_now_ns();
		struct image_code *code = open_code(path);
		struct totals totals = {0};

		if (code == NULL)
			return;
		make(code, procedure_table_count(image_code_procedures(code)) / 2, &totals);
		image_code_close(code);
		if (bench_now_ns() - start < best)
			best = bench_now_ns() - start;
	}
	bench_report("one_ms", "cfg", path, best / 1e6, "ms");
}

static void bench_all(const char *path)
{
	struct image_code *code = open_code(path);
	double start = bench_now_ns();
	struct totals totals = {0};
	size_t count;

	if (code == NULL)
		return;
	count = procedure_table_count(image_code_procedures(code));
	for (size_t i = 0; i < count; i++)
		make(code, i, &totals);
	bench_report("all_ms", "cfg", path, (bench_now_ns() - start) / 1e6, "ms");
	bench_report("graphs", "cfg", path, (double)totals.graphs, "graphs");
	bench_report("code_megabytes", "cfg", path, (double)totals.bytes / 1e6, "MB");
	bench_report("insn_ns", "cfg", path, (bench_now_ns() - start) / (double)totals.insns, "ns");
	image_code_close(code);
}

int main(int argc, char **argv)
{
	static const char *const defaults[] = {"/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
					       "/usr/lib/gcc/x86_64-linux-gnu/12/cc1",
					       "/usr/lib/x86_64-linux-gnu/libc.so.6"};

	if (argc > 1) {
		for (int i = 1; i < argc; i++) {
			bench_one(argv[i]);
			bench_all(argv[i]);
		}
		return 0;
	}
	for (size_t i = 0; i < sizeof(defaults) / sizeof(*defaults); i++)
		bench_one(defaults[i]);
	bench_all(defaults[1]);
	return 0;
}
