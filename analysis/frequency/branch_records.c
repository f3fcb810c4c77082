// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/branch_records.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/frequency/procedure_profile.h"
#include "lib/cleanup.h"

/*
 * Samples that are added to those in the ranges from an instruction, evenly over their
 * instructions: instructions without samples may take time.
 */
#define SAMPLES_PRIOR 0.5

/*
 * struct insn_records - records of an instruction
 * @passed: weighted executions; @timed: those in ranges with cycles
 * @count:  number of records
 * @taken:  weighted executions of ranges that end there
 * @cycles: of the instruction, in all of @timed
 * @here:   @timed and samples of ranges with the same beginning, the current one
 */
struct insn_records {
	double passed;
	double timed;
	double count;
	double taken;
	double cycles;
	double here_timed;
	double here_samples;
};

/* Sums over the ranges that begin at the instruction @first, up to @last. */
struct beginning {
	uint32_t first;
	uint32_t last;
	double weight;
	double cycles;
	double count;
	double samples;
	double passed;
};

struct mapping {
	const struct cfg *cfg;
	struct insn_records *insns;
	double *edges;
	struct branch_records *records;
};

void branch_records_destroy(struct branch_records *records)
{
	if (records == NULL)
		return;
	free(records->edges);
	free(records->blocks);
	free(records);
}

static void mapping_deinit(struct mapping *mapping)
{
	free(mapping->insns);
	free(mapping->edges);
	branch_records_destroy(mapping->records);
}

static int mapping_init(struct mapping *mapping, const struct cfg *cfg)
{
	struct branch_records *records = calloc(1, sizeof(*records));

	*mapping = (struct mapping){.cfg = cfg, .records = records};
	if (records == NULL)
		return -ENOMEM;
	mapping->insns = calloc((size_t)cfg->insn_count + 1, sizeof(*mapping->insns));
	mapping->edges = calloc((size_t)cfg->edge_count + 1, sizeof(*mapping->edges));
	records->edges = calloc((size_t)cfg->edge_count + 1, sizeof(*records->edges));
	records->blocks = calloc((size_t)cfg->block_count + 1, sizeof(*records->blocks));
	return mapping->insns != NULL && mapping->edges != NULL && records->edges != NULL &&
			       records->blocks != NULL
		       ? 0
		       : -ENOMEM;
}

/* Return true if control can run through the instructions; @system: one of them is a system call */
static bool is_straight(const struct cfg *cfg, uint32_t first, uint32_t last, bool *system)
{
	*system = cfg->insns[last].class == INSN_SYSTEM;
	for (uint32_t i = first; i < last; i++) {
		const struct insn *insn = &cfg->insns[i];

		if ((insn->flow != INSN_FLOW_NEXT && insn->flow != INSN_FLOW_BRANCH) ||
		    cfg->insns[i + 1].address != insn->address + insn->bytes)
			return false;
		*system |= insn->class == INSN_SYSTEM;
	}
	return true;
}

/* Return the edge from a block to the next instruction; -1: there is none. */
static long edge_next(const struct cfg *cfg, uint32_t insn)
{
	const struct cfg_block *block = &cfg->blocks[cfg->block_of[insn]];

	for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
		if (cfg->edges[e].kind == CFG_EDGE_NEXT && cfg->edges[e].insn == insn)
			return (long)e;
	}
	return -1;
}

static void range_count(struct mapping *mapping, const struct record_range *range, uint32_t first,
			uint32_t last, bool timed)
{
	double weight = range->weight > 0 ? range->weight : range->count;

	for (uint32_t i = first; i <= last; i++) {
		struct insn_records *insn = &mapping->insns[i];
		long edge = i < last ? edge_next(mapping->cfg, i) : -1;

		insn->passed += weight;
		insn->count += range->count;
		insn->timed += timed ? weight : 0;
		insn->here_timed += timed ? weight : 0;
		if (edge >= 0)
			mapping->edges[edge] += weight;
	}
	mapping->insns[last].taken += weight;
}

static void range_map(struct mapping *mapping, struct beginning *beginning,
		      const struct record_range *range)
{
	long found = cfg_find_insn(mapping->cfg, range->end);
	uint32_t first = beginning->first, last = (uint32_t)found;
	bool system;

	if (found < 0 || last < first)
		return;
	if (!is_straight(mapping->cfg, first, last, &system)) {
		mapping->records->refused += range->count;
		return;
	}
	mapping->records->used += range->count;
	range_count(mapping, range, first, last, !system && range->weight > 0);
	if (last > beginning->last)
		beginning->last = last;
	beginning->samples += range->sampled;
	mapping->insns[last].here_samples += range->sampled;
	if (system || range->weight <= 0)
		return;
	beginning->weight += range->weight;
	beginning->cycles += range->cycles;
	beginning->count += range->count;
	beginning->passed += range->weight * (last - first + 1);
}

/* Divide the cycles of the ranges from @beginning among their instructions. */
static void beginning_divide(struct mapping *mapping, const struct beginning *beginning)
{
	for (uint32_t i = beginning->first; i <= beginning->last; i++) {
		struct insn_records *insn = &mapping->insns[i];

		if (beginning->passed > 0)
			insn->cycles += beginning->cycles *
					(insn->here_samples +
					 SAMPLES_PRIOR * insn->here_timed / beginning->passed) /
					(beginning->samples + SAMPLES_PRIOR);
		insn->here_samples = insn->here_timed = 0;
	}
}

/*
 * The ranges that begin in a block are a part of its executions: the others entered it from the
 * block before.
 */
static void beginning_add(struct mapping *mapping, const struct beginning *beginning)
{
	struct record_block *block =
		&mapping->records->blocks[mapping->cfg->block_of[beginning->first]];

	if (beginning->weight <= 0)
		return;
	block->samples += beginning->samples;
	block->range_cycles += beginning->cycles;
	block->ranges += beginning->count;
}

/* Divide the ranges that end at a branch among its recorded targets. */
static void targets_map(struct mapping *mapping, const struct branch_count *branches, size_t count)
{
	for (size_t first = 0, end; first < count; first = end) {
		long insn = cfg_find_insn(mapping->cfg, branches[first].from);
		double total = 0;

		for (end = first; end < count && branches[end].from == branches[first].from; end++)
			total += branches[end].recorded;
		for (size_t i = first; i < end && insn >= 0 && total > 0; i++) {
			long edge = procedure_profile_edge(mapping->cfg, (uint32_t)insn,
							   branches[i].to);

			if (edge >= 0)
				mapping->edges[edge] +=
					mapping->insns[insn].taken * branches[i].recorded / total;
		}
	}
}

static void edges_scale(struct mapping *mapping)
{
	const struct cfg *cfg = mapping->cfg;

	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];
		double sum = 0, count = mapping->insns[block->first + block->count - 1].count;

		for (uint32_t e = block->out; e < block->out + block->out_count; e++)
			sum += mapping->edges[e];
		for (uint32_t e = block->out; sum > 0 && e < block->out + block->out_count; e++)
			mapping->records->edges[e] = mapping->edges[e] / sum * count;
	}
}

/* Executions of a block are those of its first instruction. */
static void blocks_scale(struct mapping *mapping)
{
	const struct cfg *cfg = mapping->cfg;

	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *place = &cfg->blocks[b];
		struct record_block *block = &mapping->records->blocks[b];
		double timed = mapping->insns[place->first].timed;

		if (timed <= 0) {
			*block = (struct record_block){.cycles = 0};
			continue;
		}
		block->range_cycles /= timed;
		for (uint32_t i = place->first; i < place->first + place->count; i++) {
			if (mapping->insns[i].timed > 0)
				block->cycles += mapping->insns[i].cycles / mapping->insns[i].timed;
		}
	}
}

int branch_records_create(struct branch_records **ret, const struct cfg *cfg,
			  const struct record_range *ranges, size_t range_count,
			  const struct branch_count *branches, size_t branch_count)
{
	_cleanup_(mapping_deinit) struct mapping mapping;
	int r = mapping_init(&mapping, cfg);

	if (r < 0)
		return r;
	for (size_t first = 0, end; first < range_count; first = end) {
		long insn = cfg_find_insn(cfg, ranges[first].start);
		struct beginning beginning = {.first = (uint32_t)insn, .last = (uint32_t)insn};

		for (end = first; end < range_count && ranges[end].start == ranges[first].start;)
			end++;
		if (insn < 0)
			continue;
		for (size_t i = first; i < end; i++)
			range_map(&mapping, &beginning, &ranges[i]);
		beginning_divide(&mapping, &beginning);
		beginning_add(&mapping, &beginning);
	}
	*ret = NULL;
	if (mapping.records->used <= 0)
		return 0;
	targets_map(&mapping, branches, branch_count);
	edges_scale(&mapping);
	blocks_scale(&mapping);
	*ret = take_ptr(mapping.records);
	return 0;
}
