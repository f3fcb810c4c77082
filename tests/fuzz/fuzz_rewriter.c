// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz the rewriter with any bytes as a program, which it may refuse. Its output, if any, is given
 * to the rewriter again, which may refuse it. Random bytes are not a program, so the corpus starts
 * with the programs of tests/fixtures/procedure_fixtures.sh.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "instrument/clone/rewriter.h"
#include "instrument/counts/counts_map.h"
#include "instrument/mode_table.h"
#include "lib/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static char output[64];
	struct rewriter_options options = {
		.output = output, .debug = "/nonexistent", .mode = mode_table_find(NULL)};
	struct rewriter_report report;
	struct counts_map map;
	struct error err;
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	snprintf(output, sizeof(output), "/dev/shm/fuzz_rewriter.%d", (int)getpid());
	if (write(fd, data, bytes) == (ssize_t)bytes &&
	    rewriter_run(path, &options, &report, &err) == 0) {
		if (report.cloned > report.procedures || counts_map_read(&map, output, &err) < 0)
			abort();
		counts_map_deinit(&map);
		unlink(output);
	}
	close(fd);
	return 0;
}
