// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/reg_summary_graph.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/elf/elf_image.h"

#define RAX 0

/*
 * A call through a TLS descriptor, whose address the previous instruction loads into %rax, changes
 * only that register.
 */
static bool is_by_descriptor(const struct cfg *cfg, uint32_t call)
{
	const struct insn *insn = &cfg->insns[call];

	if (!(insn->flags & INSN_READS_MEMORY) || insn->memory.base != RAX ||
	    insn->memory.index != INSN_REG_NONE || insn->memory.displacement != 0)
		return false;
	for (uint32_t i = call; i > cfg->blocks[cfg->block_of[call]].first; i--) {
		if (insn_regs_has(&cfg->insns[i - 1].writes, RAX))
			return cfg->insns[i - 1].opcode == ZYDIS_MNEMONIC_LEA;
	}
	return true;
}

static uint32_t indirect_callee(const struct cfg *cfg, uint32_t call)
{
	if (cfg->insns[call].memory.pc_relative)
		return REG_SUMMARY_OUTSIDE;
	return is_by_descriptor(cfg, call) ? REG_SUMMARY_UNKNOWN : REG_SUMMARY_POINTER;
}

static void assume_callers_of_all(struct reg_summary_graph *graph)
{
	for (size_t c = 0; c < graph->candidates->count; c++)
		graph->nodes[c].unknown_callers = true;
}

static bool is_stub(const struct candidates *candidates, uint64_t address)
{
	long index = image_code_find(candidates->code, address);

	return index >= 0 &&
	       procedure_table_get(image_code_procedures(candidates->code), (size_t)index)
			       ->source == PROCEDURE_PLT;
}

static struct reg_summary_callee callee_in(struct reg_summary_graph *graph, uint32_t number,
					   uint64_t target)
{
	const struct cfg *cfg = reg_summary_graph_cfg(graph, number);
	struct reg_summary_node *node = &graph->nodes[number];
	long insn;

	if (graph->candidates->all[number].procedure->address == target)
		return (struct reg_summary_callee){node->known ? number : REG_SUMMARY_UNKNOWN,
						   REG_SUMMARY_BEGINNING};
	insn = node->known ? cfg_find_insn(cfg, target) : -1;
	if (insn >= 0 && cfg->blocks[cfg->block_of[insn]].first == (uint32_t)insn) {
		node->joined = true;
		return (struct reg_summary_callee){number, cfg->block_of[insn]};
	}
	node->unknown_callers = true;
	return (struct reg_summary_callee){REG_SUMMARY_UNKNOWN, REG_SUMMARY_BEGINNING};
}

static struct reg_summary_callee callee_of(struct reg_summary_graph *graph, const struct cfg *cfg,
					   const struct cfg_call *call)
{
	long number;

	if (call->target == 0)
		return (struct reg_summary_callee){indirect_callee(cfg, call->insn),
						   REG_SUMMARY_BEGINNING};
	number = candidates_of(graph->candidates, call->target);
	if (number >= 0)
		return callee_in(graph, (uint32_t)number, call->target);
	if (is_stub(graph->candidates, call->target))
		return (struct reg_summary_callee){REG_SUMMARY_OUTSIDE, REG_SUMMARY_BEGINNING};
	assume_callers_of_all(graph); /* a part of an unknown procedure */
	return (struct reg_summary_callee){REG_SUMMARY_UNKNOWN, REG_SUMMARY_BEGINNING};
}

static bool is_known(const struct candidates *candidates, const struct candidate *candidate)
{
	const struct cfg *cfg = candidate->cfg;

	return cfg != NULL && !cfg->missing && cfg->unresolved_jumps == 0 &&
	       cfg->bad_bytes <= cfg->twice && candidate->procedure->source != PROCEDURE_SECTION &&
	       !elf_image_is_writable(candidates->image, candidate->procedure->address);
}

static int find_callees(struct reg_summary_graph *graph)
{
	const struct candidates *candidates = graph->candidates;
	size_t calls = 0;

	for (size_t c = 0; c < candidates->count; c++) {
		struct reg_summary_node *node = &graph->nodes[c];

		node->known = is_known(candidates, &candidates->all[c]);
		node->first = calls;
		if (!node->known)
			continue;
		if (reg_summary_flow_make(&node->flow, candidates->all[c].cfg) < 0)
			return -ENOMEM;
		calls += candidates->all[c].cfg->call_count;
		if (candidates->all[c].cfg->call_count > graph->most)
			graph->most = candidates->all[c].cfg->call_count;
	}
	graph->callees = malloc((calls + 1) * sizeof(*graph->callees));
	graph->callers = malloc((calls + 1) * sizeof(*graph->callers));
	if (graph->callees == NULL || graph->callers == NULL)
		return -ENOMEM;
	for (uint32_t c = 0; c < candidates->count; c++) {
		const struct cfg *cfg = reg_summary_graph_cfg(graph, c);

		for (uint32_t i = 0; graph->nodes[c].known && i < cfg->call_count; i++)
			graph->callees[graph->nodes[c].first + i] =
				callee_of(graph, cfg, &cfg->calls[i]);
	}
	return 0;
}

/* Sort the calls by callee: count them, then store the callers. */
static void find_callers(struct reg_summary_graph *graph)
{
	size_t count = graph->candidates->count;

	for (int round = 0; round < 2; round++) {
		for (uint32_t c = 0; c < count; c++) {
			const struct cfg *cfg = reg_summary_graph_cfg(graph, c);

			for (uint32_t i = 0; graph->nodes[c].known && i < cfg->call_count; i++) {
				uint32_t callee = graph->callees[graph->nodes[c].first + i].number;

				if (callee < REG_SUMMARY_UNKNOWN && round == 0)
					graph->first_caller[callee + 1]++;
				else if (callee < REG_SUMMARY_UNKNOWN)
					graph->callers[graph->first_caller[callee]++] = c;
			}
		}
		for (size_t c = 0; round == 0 && c < count; c++)
			graph->first_caller[c + 1] += graph->first_caller[c];
	}
	memmove(graph->first_caller + 1, graph->first_caller, count * sizeof(*graph->first_caller));
	graph->first_caller[0] = 0;
}

/* --- code that could not be analysed -------------------------------------- */

/* Return the target of the branch that may be encoded at some bytes; 0: none. */
static uint64_t branch_to(const uint8_t *bytes, size_t count, uint64_t address)
{
	bool far = count >= 5 && (bytes[0] == 0xe8 || bytes[0] == 0xe9);
	bool conditional = count >= 6 && bytes[0] == 0x0f && (bytes[1] & 0xf0) == 0x80;
	size_t length = far ? 5 : 6;
	int32_t distance;

	if (far || conditional) {
		memcpy(&distance, bytes + length - sizeof(distance), sizeof(distance));
		return address + length + (uint64_t)(int64_t)distance;
	}
	if (count >= 2 && (bytes[0] == 0xeb || (bytes[0] & 0xf0) == 0x70 ||
			   (bytes[0] >= 0xe0 && bytes[0] <= 0xe3)))
		return address + 2 + (uint64_t)(int64_t)(int8_t)bytes[1];
	return 0;
}

static void assume_callers_of_targets(struct reg_summary_graph *graph, const Elf64_Phdr *segment,
				      const uint8_t *bytes, const uint8_t *known)
{
	for (size_t i = 0; i < segment->p_filesz; i++) {
		uint64_t target = known[i] ? 0
					   : branch_to(bytes + i, segment->p_filesz - i,
						       segment->p_vaddr + i);
		long callee = target != 0 ? candidates_of(graph->candidates, target) : -1;

		if (callee >= 0)
			graph->nodes[callee].unknown_callers = true;
	}
}

/* Mark the bytes of a segment that belong to known candidates. */
static void mark_known(const struct reg_summary_graph *graph, const Elf64_Phdr *segment,
		       uint8_t *known)
{
	for (uint32_t c = 0; c < graph->candidates->count; c++) {
		const struct cfg *cfg = reg_summary_graph_cfg(graph, c);

		for (uint32_t i = 0; graph->nodes[c].known && i < cfg->insn_count; i++) {
			const struct insn *insn = &cfg->insns[i];
			uint64_t at = insn->address - segment->p_vaddr;

			if (insn->address >= segment->p_vaddr && at < segment->p_filesz &&
			    insn->bytes <= segment->p_filesz - at)
				memset(known + at, 1, insn->bytes);
		}
	}
}

static int find_unknown_callers(struct reg_summary_graph *graph)
{
	const struct elf_image *image = graph->candidates->image;

	for (size_t s = 0; s < image->segment_count; s++) {
		const Elf64_Phdr *segment = &image->segments[s];
		const uint8_t *bytes;
		uint8_t *known;

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		bytes = elf_image_at(image, segment->p_vaddr, segment->p_filesz);
		known = calloc(segment->p_filesz + 1, 1);
		if (known == NULL)
			return -ENOMEM;
		mark_known(graph, segment, known);
		if (bytes != NULL)
			assume_callers_of_targets(graph, segment, bytes, known);
		free(known);
	}
	return 0;
}

int reg_summary_graph_find(struct reg_summary_graph *ret, const struct candidates *candidates)
{
	int r = -ENOMEM;

	*ret = (struct reg_summary_graph){
		.candidates = candidates,
		.nodes = calloc(candidates->count + 1, sizeof(*ret->nodes)),
		.first_caller = calloc(candidates->count + 2, sizeof(*ret->first_caller)),
	};
	if (ret->nodes != NULL && ret->first_caller != NULL)
		r = find_callees(ret);
	if (r == 0)
		r = find_unknown_callers(ret);
	if (r == 0)
		find_callers(ret);
	else
		reg_summary_graph_deinit(ret);
	return r;
}

void reg_summary_graph_deinit(struct reg_summary_graph *graph)
{
	for (size_t c = 0; graph->nodes != NULL && c < graph->candidates->count; c++)
		reg_summary_flow_deinit(&graph->nodes[c].flow);
	free(graph->nodes);
	free(graph->callees);
	free(graph->callers);
	free(graph->first_caller);
	*graph = (struct reg_summary_graph){0};
}

/* --- order ---------------------------------------------------------------- */

/* Stack entry of the depth-first search: a candidate, and its next call. */
struct visit {
	uint32_t number;
	uint32_t call;
};

/* Return the next callee that was not visited, or REG_SUMMARY_UNKNOWN. */
static uint32_t next_callee(const struct reg_summary_graph *graph, struct visit *visit,
			    const bool *seen)
{
	const struct reg_summary_node *node = &graph->nodes[visit->number];
	uint32_t calls = node->known ? reg_summary_graph_cfg(graph, visit->number)->call_count : 0;

	while (visit->call < calls) {
		uint32_t callee = graph->callees[node->first + visit->call++].number;

		if (callee < REG_SUMMARY_UNKNOWN && !seen[callee])
			return callee;
	}
	return REG_SUMMARY_UNKNOWN;
}

int reg_summary_graph_order(const struct reg_summary_graph *graph, uint32_t *ret)
{
	size_t count = graph->candidates->count, done = 0, depth = 0;
	bool *seen = calloc(count + 1, sizeof(*seen));
	struct visit *stack = malloc((count + 1) * sizeof(*stack));
	int r = -ENOMEM;

	for (uint32_t c = 0; seen != NULL && stack != NULL && c < count; c++) {
		if (!seen[c])
			stack[depth++] = (struct visit){.number = c};
		seen[c] = true;
		while (depth > 0) {
			uint32_t callee = next_callee(graph, &stack[depth - 1], seen);

			if (callee == REG_SUMMARY_UNKNOWN) {
				ret[done++] = stack[--depth].number;
				continue;
			}
			seen[callee] = true;
			stack[depth++] = (struct visit){.number = callee};
		}
	}
	if (seen != NULL && stack != NULL)
		r = 0;
	free(seen);
	free(stack);
	return r;
}
