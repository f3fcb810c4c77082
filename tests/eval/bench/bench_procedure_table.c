// SPDX-License-Identifier: GPL-2.0-only
/* Measure the time to list the procedures of big images: bench_procedure_table [FILE...] */
#include <stdio.h>

#include "analysis/image/procedure_table.h"
#include "lib/error.h"
#include "tests/eval/bench/bench.h"

/* Report the best of three runs: the first run also reads the file from disk. */
static void bench(const char *path)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE, .path = path};
	struct debug_file_options options = {0};
	double best = 1e18;
	size_t count = 0;

	for (int round = 0; round < 3; round++) {
		struct procedure_table *table = NULL;
		struct error err;
		double start = bench_now_ns();

		if (procedure_table_open(&table, &image, &options, &err) < 0) {
			fprintf(stderr, "bench_procedure_table: %s\n", err.message);
			return;
		}
		if (bench_now_ns() - start < best)
			best = bench_now_ns() - start;
		count = procedure_table_count(table);
		procedure_table_destroy(table);
	}
	bench_report("open_ms", "procedure_table", path, best / 1e6, "ms");
	bench_report("procedures", "procedure_table", path, (double)count, "procedures");
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		for (int i = 1; i < argc; i++)
			bench(argv[i]);
		return 0;
	}
	bench("/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1");
	bench("/usr/lib/x86_64-linux-gnu/libc.so.6");
	return 0;
}
