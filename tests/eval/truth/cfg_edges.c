// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check control-flow graphs against executed edges:
 *
 *	cfg_edges IMAGE [EDGES]
 *
 * EDGES is a file from image_edges.sh. Every edge that was executed inside a procedure must be in
 * the procedure's graph, unless the graph marks an unresolved jump there. Executed instructions
 * must be reachable in the graph, and calls that returned must return there. Prints each violation
 * in a line, then a JSON object of counts. Without EDGES, the graphs of all procedures are made and
 * counted. Exit status 1: there was a violation.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/graph/cfg_create.h"
#include "analysis/image/image_code.h"
#include "lib/error.h"

#define SHOWN_MAX 50

/*
 * @edges:       executed edges between instructions of one procedure
 * @marked:      edges from jumps that are marked as unresolved
 * @missing:     edges that are not in the graph
 * @unreached:   edges that end in unreachable code
 * @no_return:   returns from calls that are marked as noreturn
 * @wrong_exit:  edges that leave where the graph has no exit
 * @entered:     edges from elsewhere into the middle of a procedure
 * @no_insn:     edges with an end where no instruction begins
 * @tables:      executed jump tables
 * @unresolved:  executed unresolved jumps
 */
struct counts {
	uint64_t edges;
	uint64_t marked;
	uint64_t missing;
	uint64_t unreached;
	uint64_t no_return;
	uint64_t wrong_exit;
	uint64_t entered;
	uint64_t no_insn;
	uint64_t tables;
	uint64_t unresolved;
};

struct graphs {
	struct image_code *code;
	struct cfg **graphs; /* by procedure, made on demand */
	struct counts counts;
	unsigned int shown;
};

static struct cfg *graph_at(struct graphs *graphs, uint64_t address)
{
	long found = image_code_find(graphs->code, address);
	struct image_range parts[PROCEDURE_PARTS_MAX];
	size_t index, parent = 0;
	struct error err;

	if (found < 0)
		return NULL;
	index = (size_t)found;
	if (image_code_parts(graphs->code, index, parts, &parent) == 0)
		index = parent;
	if (graphs->graphs[index] == NULL)
		cfg_create(&graphs->graphs[index], graphs->code, index, NULL, &err);
	return graphs->graphs[index];
}

static void complain(struct graphs *graphs, uint64_t *count, const char *what, uint64_t from,
		     uint64_t to)
{
	(*count)++;
	if (graphs->shown++ < SHOWN_MAX)
		printf("# %s: 0x%" PRIx64 " -> 0x%" PRIx64 "\n", what, from, to);
}

static bool has_edge(const struct cfg *cfg, const struct cfg_block *from, uint32_t to)
{
	for (uint32_t i = 0; i < from->out_count; i++) {
		if (cfg->edges[from->out + i].to == to)
			return true;
	}
	return false;
}

/* Check an edge to an instruction of the same procedure. */
static void check_inside(struct graphs *graphs, const struct cfg *cfg, uint32_t from, uint32_t to)
{
	const struct cfg_block *block = &cfg->blocks[cfg->block_of[from]];
	const struct cfg_block *target = &cfg->blocks[cfg->block_of[to]];
	uint64_t from_address = cfg->insns[from].address, to_address = cfg->insns[to].address;

	/* QEMU counts each iteration of a string instruction as an instruction. */
	if (from == to && cfg->insns[from].class == INSN_STRING)
		return;
	graphs->counts.edges++;
	if ((block->flags | target->flags) & CFG_BLOCK_UNREACHED) {
		complain(graphs, &graphs->counts.unreached, "unreached", from_address, to_address);
		return;
	}
	if (from < block->first + block->count - 1 && to == from + 1)
		return;
	if (from == block->first + block->count - 1 && to == target->first &&
	    has_edge(cfg, block, cfg->block_of[to]))
		return;
	/* The procedure calls itself by an indirect tail call. */
	if ((target->flags & CFG_BLOCK_ENTRY) && has_edge(cfg, block, CFG_EXIT) &&
	    cfg->insns[from].flow == INSN_FLOW_JUMP_INDIRECT)
		return;
	if (from == block->first + block->count - 1 && has_edge(cfg, block, CFG_UNKNOWN))
		graphs->counts.marked++;
	else
		complain(graphs, &graphs->counts.missing, "missing", from_address, to_address);
}

/* Check an edge that leaves a procedure by a jump or branch. */
static void check_leaving(struct graphs *graphs, const struct cfg *cfg, uint32_t from, uint64_t to)
{
	const struct cfg_block *block = &cfg->blocks[cfg->block_of[from]];

	if (from != block->first + block->count - 1 ||
	    (!has_edge(cfg, block, CFG_EXIT) && !has_edge(cfg, block, CFG_UNKNOWN)))
		complain(graphs, &graphs->counts.wrong_exit, "no exit", cfg->insns[from].address,
			 to);
}

/* If @to is the instruction after a call, check that the graph has the return of this call. */
static bool check_returned(struct graphs *graphs, const struct cfg *cfg, uint32_t to, uint64_t from)
{
	const struct cfg_block *block;
	uint32_t call = to - 1;

	if (to == 0 || !insn_is_call(&cfg->insns[call]) ||
	    cfg->insns[call].address + cfg->insns[call].bytes != cfg->insns[to].address)
		return false;
	block = &cfg->blocks[cfg->block_of[call]];
	if (cfg->block_of[call] != cfg->block_of[to] && !has_edge(cfg, block, cfg->block_of[to]))
		complain(graphs, &graphs->counts.no_return, "call returned", from,
			 cfg->insns[to].address);
	return true;
}

static void check_entering(struct graphs *graphs, const struct cfg *cfg, uint32_t to, uint64_t from)
{
	const struct cfg_block *block = &cfg->blocks[cfg->block_of[to]];
	bool entry = false;

	for (uint32_t i = 0; i < block->in_count; i++)
		entry |= cfg->edges[cfg->in_edges[block->in + i]].from == CFG_ENTRY;
	if (to != block->first || !entry)
		complain(graphs, &graphs->counts.entered, "entered inside", from,
			 cfg->insns[to].address);
}

/* Return true for the C library's startup code, which may be entered in the middle. */
static bool is_start_code(const struct graphs *graphs, uint64_t address)
{
	long index = image_code_find(graphs->code, address);

	return index >= 0 &&
	       strcmp(procedure_table_get(image_code_procedures(graphs->code), (size_t)index)->name,
		      "_start") == 0;
}

static void check_edge(struct graphs *graphs, uint64_t from, uint64_t to)
{
	const struct cfg *from_cfg = graph_at(graphs, from), *to_cfg = graph_at(graphs, to);
	long from_insn = from_cfg != NULL ? cfg_find_insn(from_cfg, from) : -1;
	long to_insn = to_cfg != NULL ? cfg_find_insn(to_cfg, to) : -1;
	enum insn_flow flow;
	long own;

	if (is_start_code(graphs, from))
		return;
	if (from_insn < 0 || to_insn < 0) {
		complain(graphs, &graphs->counts.no_insn, "no instruction", from, to);
		return;
	}
	flow = (enum insn_flow)from_cfg->insns[from_insn].flow;
	if (flow == INSN_FLOW_CALL || flow == INSN_FLOW_CALL_INDIRECT)
		return;
	if (flow == INSN_FLOW_RETURN) {
		check_returned(graphs, to_cfg, (uint32_t)to_insn, from);
		return;
	}
	/* Code of one procedure may be part of another procedure as well. */
	own = cfg_find_insn(from_cfg, to);
	if (own >= 0) {
		check_inside(graphs, from_cfg, (uint32_t)from_insn, (uint32_t)own);
		return;
	}
	check_leaving(graphs, from_cfg, (uint32_t)from_insn, to);
	check_entering(graphs, to_cfg, (uint32_t)to_insn, from);
}

/* Count an executed indirect jump as resolved or unresolved. */
static void count_jump(struct graphs *graphs, uint64_t from, uint64_t *last)
{
	const struct cfg *cfg = graph_at(graphs, from);
	long insn = cfg != NULL ? cfg_find_insn(cfg, from) : -1;
	const struct cfg_block *block;

	if (insn < 0 || from == *last || cfg->insns[insn].flow != INSN_FLOW_JUMP_INDIRECT)
		return;
	*last = from;
	block = &cfg->blocks[cfg->block_of[insn]];
	if (has_edge(cfg, block, CFG_UNKNOWN))
		graphs->counts.unresolved++;
	else if (block->out_count > 0 && cfg->edges[block->out].kind == CFG_EDGE_SWITCH &&
		 !has_edge(cfg, block, CFG_EXIT))
		graphs->counts.tables++;
}

static int check_file(struct graphs *graphs, const char *path)
{
	FILE *file = fopen(path, "re");
	uint64_t from, to, last = 0;
	char line[256];

	if (file == NULL) {
		perror(path);
		return 2;
	}
	while (fgets(line, sizeof(line), file) != NULL) {
		uint64_t from_address, to_address;

		if (sscanf(line, "%*s %" SCNx64 " %" SCNx64, &from, &to) != 2 ||
		    image_code_address(graphs->code, from, &from_address) < 0 ||
		    image_code_address(graphs->code, to, &to_address) < 0)
			continue;
		check_edge(graphs, from_address, to_address);
		count_jump(graphs, from_address, &last);
	}
	fclose(file);
	return 0;
}

static void print_totals(const struct graphs *graphs, const char *path)
{
	size_t count = procedure_table_count(image_code_procedures(graphs->code));
	uint64_t made = 0, insns = 0, blocks = 0, tables = 0, unresolved = 0, bad = 0;

	for (size_t i = 0; i < count; i++) {
		const struct cfg *cfg = graphs->graphs[i];

		if (cfg == NULL)
			continue;
		made++;
		insns += cfg->insn_count;
		blocks += cfg->block_count;
		tables += cfg->jump_tables;
		unresolved += cfg->unresolved_jumps;
		bad += cfg->bad_bytes;
	}
	printf("{\"image\": \"%s\", \"procedures\": %zu, \"graphs\": %" PRIu64
	       ", \"insns\": %" PRIu64 ", \"blocks\": %" PRIu64 ", \"jump_tables\": %" PRIu64
	       ", \"unresolved\": %" PRIu64 ", \"bad_bytes\": %" PRIu64,
	       path, count, made, insns, blocks, tables, unresolved, bad);
}

static bool print_counts(const struct counts *counts)
{
	printf(", \"edges\": %" PRIu64 ", \"marked\": %" PRIu64 ", \"missing\": %" PRIu64
	       ", \"unreached\": %" PRIu64 ", \"no_return\": %" PRIu64 ", \"wrong_exit\": %" PRIu64
	       ", \"entered\": %" PRIu64 ", \"no_insn\": %" PRIu64 ", \"tables_ran\": %" PRIu64
	       ", \"unresolved_ran\": %" PRIu64,
	       counts->edges, counts->marked, counts->missing, counts->unreached, counts->no_return,
	       counts->wrong_exit, counts->entered, counts->no_insn, counts->tables,
	       counts->unresolved);
	return counts->missing + counts->unreached + counts->no_return + counts->wrong_exit +
		       counts->no_insn ==
	       0;
}

static void list_unresolved(const struct cfg *cfg)
{
	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		if (cfg->edges[i].to == CFG_UNKNOWN)
			printf("# unresolved: 0x%" PRIx64 "\n",
			       cfg->insns[cfg->edges[i].insn].address);
	}
}

static void make_all(struct graphs *graphs, bool list)
{
	size_t count = procedure_table_count(image_code_procedures(graphs->code));

	for (size_t i = 0; i < count; i++) {
		struct error err;

		if (cfg_create(&graphs->graphs[i], graphs->code, i, NULL, &err) == 0 && list)
			list_unresolved(graphs->graphs[i]);
	}
}

int main(int argc, char **argv)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE};
	static const struct debug_file_options options;
	struct graphs graphs = {0};
	struct error err;
	bool good = true;
	size_t count;

	if (argc < 2) {
		fprintf(stderr, "usage: cfg_edges IMAGE [EDGES | --unresolved]\n");
		return 2;
	}
	image.path = argv[1];
	if (image_code_open(&graphs.code, &image, &options, &err) < 0) {
		fprintf(stderr, "cfg_edges: %s\n", err.message);
		return 2;
	}
	count = procedure_table_count(image_code_procedures(graphs.code));
	graphs.graphs = calloc(count + 1, sizeof(struct cfg *));
	if (graphs.graphs == NULL)
		return 2;
	if (argc > 2 && strcmp(argv[2], "--unresolved") != 0) {
		if (check_file(&graphs, argv[2]) != 0)
			return 2;
	} else {
		make_all(&graphs, argc > 2);
	}
	print_totals(&graphs, argv[1]);
	if (argc > 2)
		good = print_counts(&graphs.counts);
	printf("}\n");
	for (size_t i = 0; i < count; i++)
		cfg_destroy(graphs.graphs[i]);
	free(graphs.graphs);
	image_code_close(graphs.code);
	return good ? 0 : 1;
}
