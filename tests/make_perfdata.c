// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write a small perf.data file; its contents are always the same: make_perfdata FILE
 *
 * It has two events, two processes of three images, and 200 samples, two of them in no image.
 */
#include <stdio.h>

#include "tests/perfdata_writer.h"

#define SAMPLES 200

static void fill(struct perfdata_writer *writer)
{
	uint64_t time_ns = 1000000;

	perfdata_writer_begin(writer, 2, 0);
	perfdata_writer_exec(writer, 10, time_ns++);
	for (uint8_t image = 1; image <= 3; image++)
		perfdata_writer_map(writer, 10, time_ns++, image * 0x100000ULL, 0x10000, 0x1000,
				    image);
	perfdata_writer_task(writer, PERF_RECORD_FORK, 11, 10, time_ns++);
	for (unsigned int i = 0; i < SAMPLES; i++) {
		uint64_t address = (i % 100 == 99 ? 9 : 1 + i % 3) * 0x100000ULL + i % 7 * 16;

		perfdata_writer_sample(writer, PERF_RECORD_MISC_USER, 1 + i % 2, 10 + i % 2,
				       time_ns++, address, 62000);
		if (i % 50 == 49)
			perfdata_writer_round(writer);
	}
	perfdata_writer_task(writer, PERF_RECORD_EXIT, 11, 10, time_ns++);
	perfdata_writer_round(writer);
	perfdata_writer_end(writer);
}

int main(int argc, char **argv)
{
	struct perfdata_writer writer = {.bytes = NULL};
	FILE *file;
	int status = 2;

	if (argc != 2)
		return 2;
	fill(&writer);
	file = fopen(argv[1], "w");
	if (file != NULL) {
		if (fwrite(writer.bytes, writer.used, 1, file) == 1)
			status = 0;
		if (fclose(file) != 0)
			status = 2;
	}
	perfdata_writer_free(&writer);
	return status;
}
