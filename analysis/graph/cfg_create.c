// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/cfg_create.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/graph/cfg_build.h"
#include "analysis/graph/cfg_evidence.h"
#include "analysis/graph/jump_resolve.h"
#include "lib/error.h"

/* Each round may find code that needs another one; real code needs a few rounds. */
#define CHAIN_ROUNDS_MAX 64
#define RESOLVE_ROUNDS_MAX 16

static const struct cfg_evidence no_evidence;

/* Decode code in the middle of instructions that reached branches lead to. */
static int add_chains(struct cfg_flow *flow)
{
	const struct cfg_code *code = flow->code;
	uint32_t count = code->count;
	int added = 0, r;

	for (uint32_t i = 0; i < count; i++) {
		const struct insn *insn = &code->insns[i];

		if (!(flow->flags[i] & FLOW_REACHED) || flow->targets[i] != CFG_CODE_NONE ||
		    (insn->flow != INSN_FLOW_BRANCH && insn->flow != INSN_FLOW_JUMP &&
		     insn->flow != INSN_FLOW_CALL) ||
		    !cfg_code_contains(code, insn->target))
			continue;
		r = cfg_code_add_chain(flow->code, count, insn->target);
		if (r < 0)
			return r;
		added += r;
	}
	if (added == 0)
		return 0;
	r = cfg_code_sort(flow->code);
	return r < 0 ? r : 1;
}

/*
 * Find the flow of the code, adding instructions until it is complete. Hostile code could cause
 * decoding at every byte, a few per round. Therefore the number of rounds is limited; further
 * targets are then ignored.
 */
static int find_flow(struct cfg_flow *flow, struct cfg_code *code)
{
	for (int round = 0;; round++) {
		int r = cfg_flow_init(flow, code);

		if (r == 0)
			r = cfg_flow_reach(flow);
		if (r == 0 && round < CHAIN_ROUNDS_MAX)
			r = add_chains(flow);
		if (r == 0)
			return 0;
		cfg_flow_deinit(flow);
		if (r < 0)
			return r;
	}
}

/* Reach the code that samples prove, and build the graph. */
static int build_once(struct cfg *cfg, struct cfg_flow *flow, const struct cfg_evidence *evidence)
{
	int r = cfg_flow_reach(flow);

	while (r == 0) {
		r = cfg_evidence_samples(flow, evidence);
		if (r <= 0)
			break;
		r = cfg_flow_reach(flow);
	}
	return r == 0 ? cfg_build(cfg, flow) : r;
}

/* Each resolved jump adds to the graph, so that others can be resolved. */
static int build(struct cfg *cfg, struct cfg_flow *flow, const struct cfg_evidence *evidence)
{
	int r = cfg_evidence_branches(flow, evidence);

	if (r == 0)
		r = build_once(cfg, flow, evidence);
	for (int round = 0; r == 0 && round < RESOLVE_ROUNDS_MAX; round++) {
		r = jump_resolve(flow, cfg);
		if (r == 0)
			return cfg_build_tables(cfg, flow);
		cfg_clear(cfg);
		if (r > 0)
			r = build_once(cfg, flow, evidence);
	}
	return r;
}

/* Request the parts that direct jumps lead to; jump_resolve() finds those of tables. */
static int request_parts(const struct cfg_flow *flow)
{
	const struct cfg_code *code = flow->code;

	for (uint32_t i = 0; i < code->count; i++) {
		const struct insn *insn = &code->insns[i];

		if ((flow->flags[i] & FLOW_REACHED) && flow->targets[i] == CFG_CODE_NONE &&
		    (insn->flow == INSN_FLOW_BRANCH || insn->flow == INSN_FLOW_JUMP) &&
		    !cfg_code_contains(code, insn->target) &&
		    cfg_code_want(flow->code, insn->target) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Return: 1 if parts were found, so that a repetition is needed; 0; < 0: an error. */
static int cfg_create_make(struct cfg *cfg, struct cfg_code *code,
			   const struct cfg_evidence *evidence)
{
	struct cfg_flow flow = {0};
	int r = code->count > 0 ? find_flow(&flow, code) : -ENODATA;

	if (r == 0)
		r = build(cfg, &flow, evidence);
	if (r == 0 && !code->several)
		r = request_parts(&flow);
	cfg_flow_deinit(&flow);
	if (r < 0 || code->wanted_count == 0)
		return r;
	cfg_clear(cfg);
	r = cfg_code_add_wanted(code);
	return r < 0 ? r : 1;
}

/* Move the instructions to the graph, without the memory for more of them. */
static void move_insns(struct cfg *cfg, struct cfg_code *code)
{
	struct insn *insns = realloc(code->insns, code->count * sizeof(*insns));

	if (insns != NULL)
		cfg->insns = insns;
	code->insns = NULL;
}

/* Build the graph of decoded parts; takes ownership of the instructions. */
static int create(struct cfg **ret, struct cfg_code *code, const struct cfg_evidence *evidence)
{
	struct cfg *cfg = calloc(1, sizeof(*cfg));
	int r;

	if (cfg == NULL)
		return -ENOMEM;
	r = cfg_code_sort(code);
	if (r == 0) {
		do {
			r = cfg_create_make(cfg, code, evidence != NULL ? evidence : &no_evidence);
		} while (r > 0);
	}
	if (r < 0) {
		cfg_clear(cfg);
		free(cfg);
		return r;
	}
	move_insns(cfg, code);
	*ret = cfg;
	return 0;
}

static int add_run(void *context, uint64_t start, uint64_t end)
{
	struct cfg_code *code = context;
	struct image_range range;

	if (image_code_address(code->image, start, &range.start) < 0)
		return 0;
	range.end = range.start + (end - start);
	return cfg_code_add_range(code, range);
}

/* Add the ranges of the procedure that no other one contains, and its other parts. */
static int add_parts(struct cfg_code *code, size_t index, const struct image_range *parts,
		     size_t count)
{
	int r = procedure_table_visit(image_code_procedures(code->image), index, add_run, code);

	for (size_t i = 1; r == 0 && i < count; i++)
		r = cfg_code_add_range(code, parts[i]);
	return r;
}

int cfg_create(struct cfg **ret, struct image_code *image, size_t index,
	       const struct cfg_evidence *evidence, struct error *err)
{
	const struct procedure *procedure =
		procedure_table_get(image_code_procedures(image), index);
	struct image_range parts[PROCEDURE_PARTS_MAX];
	struct cfg_code code = {.decoder = image_code_decoder(image),
				.image = image,
				.entry = procedure->address,
				.several = procedure->source == PROCEDURE_SECTION};
	size_t parent, count = image_code_parts(image, index, parts, &parent);
	int r;

	if (count == 0)
		return error_set(err, ENOENT, "'%s' is a part of another procedure",
				 procedure->name);
	r = add_parts(&code, index, parts, count);
	if (r == 0)
		r = create(ret, &code, evidence);
	cfg_code_deinit(&code);
	if (r == -ENODATA)
		return error_set(err, ENODATA, "'%s' cannot be decoded", procedure->name);
	return r < 0 ? error_set(err, -r, "cannot create the graph of '%s'", procedure->name) : 0;
}

int cfg_create_from_code(struct cfg **ret, const struct insn_decoder *decoder, const uint8_t *code,
			 size_t bytes, uint64_t address, struct error *err)
{
	struct cfg_code decoded = {.decoder = decoder, .entry = address};
	int r;

	if (bytes > UINT64_MAX - address)
		return error_set(err, EINVAL, "code reaches beyond the end of memory");
	r = cfg_code_add(&decoded, (struct image_range){address, address + bytes}, code);
	if (r == 0)
		r = create(ret, &decoded, NULL);
	cfg_code_deinit(&decoded);
	return r < 0 ? error_set(err, -r, "cannot create a graph of the code") : 0;
}
