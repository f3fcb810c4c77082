// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the machine models' estimates for the blocks of a program, for mca.py:
 *
 *	block_cycles MODEL IMAGE EVERY
 *
 * Prints a line for each EVERYth block that can be compared: the cycles of an execution when the
 * block is executed repeatedly, and its bytes. Branches and calls are left out. Blocks with
 * instructions that other models treat differently are omitted: system instructions, atomics,
 * barriers, and x86's push and pop, which llvm-mca makes depend on each other.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/graph/cfg_create.h"
#include "analysis/image/image_code.h"
#include "analysis/machine/issue_queue.h"
#include "analysis/machine/throughput.h"
#include "lib/error.h"

#define ITERATIONS 60
#define WARM_UP 20
#define INSNS_MIN 3
#define INSNS_MAX 40

static bool is_plain(const struct insn_decoder *decoder, const struct insn *insn)
{
	bool pushes = decoder->isa == INSN_ISA_X86_64 && insn->memory.pushes;

	return insn->flow == INSN_FLOW_NEXT && !pushes && insn->class != INSN_SYSTEM &&
	       insn->class != INSN_ATOMIC && insn->class != INSN_BARRIER &&
	       insn->class != INSN_STRING && insn->class != INSN_OTHER &&
	       (insn->flags & INSN_SERIALIZES) == 0;
}

/* Return the length of the longest sequence without branches. */
static uint32_t plain_count(const struct cfg *cfg, const struct cfg_block *block)
{
	uint32_t count = 0;

	while (count < block->count && is_plain(cfg->decoder, &cfg->insns[block->first + count]))
		count++;
	return count;
}

static double in_order(const struct machine_issue *issue, const struct insn *insns, uint32_t count)
{
	struct issue_queue queue;
	struct issue_event event;
	uint32_t cycles = 0;

	issue_queue_init(&queue, issue);
	for (uint32_t i = 0; i < ITERATIONS * count; i++) {
		const struct insn *insn = &insns[i % count];

		issue_queue_add(&queue, insn, machine_issue_class(issue, insn), i, &event);
		if (i >= WARM_UP * count)
			cycles += event.cycles;
	}
	return (double)cycles / (ITERATIONS - WARM_UP);
}

static double out_of_order(const struct machine_bound *bound, const struct insn *insns,
			   uint32_t count)
{
	struct machine_bound mca = *bound;
	struct throughput t;
	double most;

	/* llvm-mca does not model store-to-load forwarding. */
	mca.forward_latency = 0;
	t = throughput_of_block(&mca, insns, count, true);
	most = t.front > t.ports ? t.front : t.ports;

	return most > t.dependences ? most : t.dependences;
}

static void print_block(struct image_code *code, const struct machine_model *model,
			const struct cfg *cfg, const struct cfg_block *block)
{
	const struct insn *insns = &cfg->insns[block->first];
	uint32_t count = plain_count(cfg, block);
	const uint8_t *bytes;
	size_t available, length;

	if (count < INSNS_MIN || count > INSNS_MAX)
		return;
	bytes = image_code_bytes(code, insns->address, &available);
	length = insns[count - 1].address + insns[count - 1].bytes - insns[0].address;
	if (bytes == NULL || length > available)
		return;
	printf("%" PRIx64 " %u %.4f", insns->address, count,
	       model->in_order ? in_order(model->issue, insns, count)
			       : out_of_order(model->bound, insns, count));
	for (size_t i = 0; i < length; i++)
		printf(" 0x%02x", bytes[i]);
	printf("\n");
}

int main(int argc, char **argv)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE};
	static const struct debug_file_options options;
	const struct machine_model *model;
	struct image_code *code;
	struct error err;
	size_t count, seen = 0, every;

	if (argc != 4 || (model = machine_model_find(argv[1])) == NULL ||
	    (every = strtoul(argv[3], NULL, 10)) == 0) {
		fprintf(stderr, "usage: block_cycles MODEL IMAGE EVERY\n");
		return 2;
	}
	image.path = argv[2];
	if (image_code_open(&code, &image, &options, &err) < 0) {
		fprintf(stderr, "block_cycles: %s\n", err.message);
		return 2;
	}
	count = procedure_table_count(image_code_procedures(code));
	for (size_t i = 0; i < count; i++) {
		struct cfg *cfg;

		if (cfg_create(&cfg, code, i, NULL, NULL) < 0)
			continue;
		for (uint32_t b = 0; b < cfg->block_count; b++)
			if (seen++ % every == 0)
				print_block(code, model, cfg, &cfg->blocks[b]);
		cfg_destroy(cfg);
	}
	image_code_close(code);
	return 0;
}
