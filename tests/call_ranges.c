// SPDX-License-Identifier: GPL-2.0-only
/*
 * call_ranges CALLS COUNTS: for tests/truth/call_plugin.c, print the code ranges of the procedures
 * of a program rewritten with --mode calls or context. The ranges come from the same program
 * rewritten with --mode counts. Output: "ENTRY START END" in hexadecimal.
 */
#include <inttypes.h>
#include <stdio.h>

#include "instrument/calls/call_map.h"
#include "instrument/counts/counts_map.h"
#include "lib/error.h"
#include "lib/u64_map.h"

int main(int argc, char **argv)
{
	struct counts_map counts = {0};
	struct call_map calls = {0};
	struct u64_map wanted = {0};
	struct error err;

	if (argc != 3 || call_map_read(&calls, argv[1], &err) < 0 ||
	    counts_map_read(&counts, argv[2], &err) < 0) {
		fprintf(stderr, "call_ranges: %s\n", argc == 3 ? err.message : "two files");
		return 2;
	}
	for (size_t i = 0; i < calls.procedure_count; i++)
		u64_map_insert(&wanted, calls.procedures[i].address);
	for (size_t i = 0; i < counts.procedure_count; i++) {
		const struct counts_procedure *procedure = &counts.procedures[i];

		for (uint32_t n = 0; n < procedure->node_count; n++) {
			const struct counts_node *node = &counts.nodes[procedure->first_node + n];

			if (node->bytes > 0 && u64_map_find(&wanted, procedure->address) != NULL)
				printf("%" PRIx64 " %" PRIx64 " %" PRIx64 "\n", procedure->address,
				       node->address, node->address + node->bytes);
		}
	}
	u64_map_deinit(&wanted);
	counts_map_deinit(&counts);
	call_map_deinit(&calls);
	return 0;
}
