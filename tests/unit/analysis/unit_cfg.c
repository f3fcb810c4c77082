// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "analysis/frequency/procedure_profile.h"
#include "analysis/graph/cfg_create.h"
#include "lib/error.h"
#include "tests/fixtures/cfg_check.h"
#include "tests/lib/unit.h"

#define BASE UINT64_C(0x401000)
#define MODEL_BLOCKS 24
#define CODE_BYTES UINT64_C(4096)

/* --- random graphs, assembled --------------------------------------------- */

enum ending {
	END_NEXT,
	END_BRANCH,
	END_JUMP,
	END_RETURN,
	END_TAIL,
	ENDINGS,
};

struct model_block {
	enum ending ending;
	uint32_t target; /* block */
	uint32_t filler; /* instructions before the last one */
	uint64_t address;
	uint64_t branch; /* where to write its displacement */
};

struct model {
	struct model_block blocks[MODEL_BLOCKS];
	uint32_t count;
	uint8_t code[CODE_BYTES];
	size_t bytes;
	uint8_t reached[MODEL_BLOCKS];
};

/* Instructions of an architecture; displacements are filled in by link(). */
struct assembler {
	const struct insn_decoder *decoder;
	const char *filler;
	size_t filler_bytes;
	const char *code[ENDINGS];
	size_t bytes[ENDINGS];
	void (*link)(uint8_t *insn_end, uint64_t end, uint64_t target);
};

static void x86_link(uint8_t *insn_end, uint64_t end, uint64_t target)
{
	int32_t displacement = (int32_t)(target - end);

	memcpy(insn_end - 4, &displacement, 4);
}

static void alpha_link(uint8_t *insn_end, uint64_t end, uint64_t target)
{
	uint32_t word;

	memcpy(&word, insn_end - 4, 4);
	word = (word & ~0x1fffffU) | ((uint32_t)((int64_t)(target - end) / 4) & 0x1fffff);
	memcpy(insn_end - 4, &word, 4);
}

static const struct assembler x86_assembler = {
	.decoder = &insn_x86_decoder,
	.filler = "\x01\xc8", /* add %ecx,%eax */
	.filler_bytes = 2,
	.code = {"", "\x0f\x85\0\0\0\0", "\xe9\0\0\0\0", "\xc3", "\xe9\0\0\0\0"},
	.bytes = {0, 6, 5, 1, 5},
	.link = x86_link,
};

static const struct assembler alpha_assembler = {
	.decoder = &insn_alpha_decoder,
	.filler = "\x01\x04\x22\x40", /* addq t0,t1,t0 */
	.filler_bytes = 4,
	/* bne t0; br; ret; br */
	.code = {"", "\0\0\x20\xf4", "\0\0\xe0\xc3", "\x01\x80\xfa\x6b", "\0\0\xe0\xc3"},
	.bytes = {0, 4, 4, 4, 4},
	.link = alpha_link,
};

static void assemble(struct model *model, const struct assembler *assembler)
{
	for (uint32_t i = 0; i < model->count; i++) {
		struct model_block *block = &model->blocks[i];

		block->address = BASE + model->bytes;
		for (uint32_t k = 0; k < block->filler; k++) {
			memcpy(model->code + model->bytes, assembler->filler,
			       assembler->filler_bytes);
			model->bytes += assembler->filler_bytes;
		}
		memcpy(model->code + model->bytes, assembler->code[block->ending],
		       assembler->bytes[block->ending]);
		model->bytes += assembler->bytes[block->ending];
		block->branch = model->bytes;
	}
	for (uint32_t i = 0; i < model->count; i++) {
		struct model_block *block = &model->blocks[i];
		uint64_t target = block->ending == END_TAIL ? BASE + 2 * CODE_BYTES
							    : model->blocks[block->target].address;

		if (block->ending != END_NEXT && block->ending != END_RETURN)
			assembler->link(model->code + block->branch, BASE + block->branch, target);
	}
}

static void make_model(struct model *model, const struct assembler *assembler, uint64_t *seed)
{
	*model = (struct model){.count = 1 + unit_random(seed) % MODEL_BLOCKS};
	for (uint32_t i = 0; i < model->count; i++) {
		struct model_block *block = &model->blocks[i];

		block->ending = unit_random(seed) % ENDINGS;
		block->target = unit_random(seed) % model->count;
		block->filler = unit_random(seed) % 4 + (block->ending == END_NEXT);
	}
	if (model->blocks[model->count - 1].ending <= END_BRANCH)
		model->blocks[model->count - 1].ending = END_RETURN;
	assemble(model, assembler);
}

static void model_reach(struct model *model, uint32_t i)
{
	if (model->reached[i])
		return;
	model->reached[i] = 1;
	if (model->blocks[i].ending == END_BRANCH || model->blocks[i].ending == END_JUMP)
		model_reach(model, model->blocks[i].target);
	if (model->blocks[i].ending <= END_BRANCH)
		model_reach(model, i + 1);
}

/* Count the edges of a kind from one place to another. */
static unsigned int edges_between(const struct cfg *cfg, uint64_t from_end, uint64_t to,
				  enum cfg_edge_kind kind)
{
	unsigned int found = 0;

	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		const struct cfg_edge *edge = &cfg->edges[i];
		const struct insn *last;

		if (edge->from >= cfg->block_count || edge->kind != kind)
			continue;
		last = &cfg->insns[edge->insn];
		found += last->address + last->bytes == from_end && (to == 0 || edge->target == to);
	}
	return found;
}

static void compare_block(const struct model *model, const struct cfg *cfg, uint32_t i)
{
	const struct model_block *block = &model->blocks[i];
	uint64_t end = BASE + block->branch, target = model->blocks[block->target].address;

	if (block->ending == END_BRANCH) {
		assert_int_equal(edges_between(cfg, end, target, CFG_EDGE_TAKEN), 1);
		assert_int_equal(edges_between(cfg, end, end, CFG_EDGE_NEXT), 1);
	} else if (block->ending == END_JUMP) {
		assert_int_equal(edges_between(cfg, end, target, CFG_EDGE_JUMP), 1);
	} else if (block->ending == END_RETURN) {
		assert_int_equal(edges_between(cfg, end, 0, CFG_EDGE_RETURN), 1);
	} else if (block->ending == END_TAIL) {
		assert_int_equal(edges_between(cfg, end, BASE + 2 * CODE_BYTES, CFG_EDGE_TAIL), 1);
	}
}

static void compare(struct model *model, const struct cfg *cfg)
{
	model_reach(model, 0);
	for (uint32_t i = 0; i < model->count; i++) {
		long insn = cfg_find_insn(cfg, model->blocks[i].address);
		const struct cfg_block *block;

		assert_true(insn >= 0);
		block = &cfg->blocks[cfg->block_of[insn]];
		assert_int_equal(model->reached[i], !(block->flags & CFG_BLOCK_UNREACHED));
		if (model->reached[i])
			compare_block(model, cfg, i);
	}
}

static void test_random_graphs(void **state)
{
	static const struct assembler *const assemblers[] = {&x86_assembler, &alpha_assembler};
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 4000; round++) {
		const struct assembler *assembler = assemblers[round % 2];
		struct cfg *cfg = NULL;
		struct model model;

		make_model(&model, assembler, &seed);
		assert_int_equal(cfg_create_from_code(&cfg, assembler->decoder, model.code,
						      model.bytes, BASE, NULL),
				 0);
		assert_null(cfg_check(cfg));
		assert_false(cfg->missing);
		compare(&model, cfg);
		cfg_destroy(cfg);
	}
}

static void test_random_bytes(void **state)
{
	static const struct insn_decoder *const decoders[] = {&insn_x86_decoder,
							      &insn_alpha_decoder};
	uint64_t seed = 11;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		uint8_t code[256];
		size_t bytes = 1 + unit_random(&seed) % sizeof(code);
		struct cfg *cfg = NULL;
		int r;

		for (size_t i = 0; i < bytes; i++)
			code[i] = (uint8_t)unit_random(&seed);
		r = cfg_create_from_code(&cfg, decoders[round % 2], code, bytes, BASE, NULL);
		assert_true(r == 0 || r == -ENODATA);
		if (r == 0)
			assert_null(cfg_check(cfg));
		cfg_destroy(cfg);
	}
}

/* --- single properties -------------------------------------------------------- */

static struct cfg *graph_of(const char *code, size_t bytes)
{
	struct cfg *cfg = NULL;

	assert_int_equal(cfg_create_from_code(&cfg, &insn_x86_decoder, (const uint8_t *)code, bytes,
					      BASE, NULL),
			 0);
	assert_null(cfg_check(cfg));
	return cfg;
}

#define GRAPH_OF(code) graph_of(code, sizeof(code) - 1)

/* glibc: je 1f; lock; 1: cmpxchg %ecx,(%rdx); ret */
static void test_jump_after_prefix(void **state)
{
	struct cfg *cfg = GRAPH_OF("\x74\x01\xf0\x0f\xb1\x0a\xc3");

	(void)state;
	assert_true(cfg_find_insn(cfg, BASE + 2) >= 0);
	assert_true(cfg_find_insn(cfg, BASE + 3) >= 0);
	assert_int_equal(cfg->bad_bytes, 3);
	assert_int_equal(edges_between(cfg, BASE + 2, BASE + 3, CFG_EDGE_TAKEN), 1);
	assert_int_equal(edges_between(cfg, BASE + 2, BASE + 2, CFG_EDGE_NEXT), 1);
	/* Both lead to the return instruction. */
	assert_int_equal(edges_between(cfg, BASE + 6, BASE + 6, CFG_EDGE_NEXT), 2);
	cfg_destroy(cfg);
}

/* ret; nop; int3; add: padding and code after it is not reached */
static void test_padding_is_unreachable(void **state)
{
	struct cfg *cfg = GRAPH_OF("\xc3\x90\xcc\x01\xc8");

	(void)state;
	for (uint32_t i = 1; i < cfg->block_count; i++)
		assert_true(cfg->blocks[i].flags & CFG_BLOCK_UNREACHED);
	cfg_destroy(cfg);
}

/* call 1f; ret; 1: ret: a call inside enters the procedure there */
static void test_targets_of_inner_calls_are_entries(void **state)
{
	struct cfg *cfg = GRAPH_OF("\xe8\x01\x00\x00\x00\xc3\xc3");
	unsigned int entries = 0;

	(void)state;
	for (uint32_t i = 0; i < cfg->edge_count; i++)
		entries += cfg->edges[i].kind == CFG_EDGE_ENTRY;
	assert_int_equal(entries, 2);
	assert_int_equal(cfg->call_count, 1);
	assert_true(cfg->calls[0].returns);
	assert_int_equal(cfg->calls[0].target, BASE + 6);
	/* A call that returns does not end a block. */
	assert_int_equal(cfg->block_of[0], cfg->block_of[1]);
	cfg_destroy(cfg);
}

/* push %rbx; jmp *(%rax); add; ret: possible targets of the jump get edges from CFG_UNKNOWN */
static void test_marks_unresolved_jumps(void **state)
{
	struct cfg *cfg = GRAPH_OF("\x53\xff\x20\x01\xc8\xc3");
	bool in = false, out = false;

	(void)state;
	assert_true(cfg->missing);
	assert_int_equal(cfg->unresolved_jumps, 1);
	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		in |= cfg->edges[i].from == 0 && cfg->edges[i].to == CFG_UNKNOWN;
		out |= cfg->edges[i].from == CFG_UNKNOWN && cfg->edges[i].to == 1;
	}
	assert_true(in && out);
	cfg_destroy(cfg);
}

static void test_counts_undecodable_bytes(void **state)
{
	struct cfg *cfg = NULL;

	(void)state;
	assert_int_equal(cfg_create_from_code(&cfg, &insn_x86_decoder, (const uint8_t *)"\x06\x06",
					      2, BASE, NULL),
			 -ENODATA);
	cfg = GRAPH_OF("\x01\xc8\x06\xc3");
	assert_int_equal(cfg->bad_bytes, 1);
	/* Control flow ends at the end of the code. */
	assert_int_equal(edges_between(cfg, BASE + 2, BASE + 2, CFG_EDGE_STOP), 1);
	cfg_destroy(cfg);
}

/* --- profiles ------------------------------------------------------------------- */

/* 1: add; jne 1b; ret */
static void test_adds_edges_from_samples(void **state)
{
	static const struct address_count samples[] = {
		{BASE - 1, 5}, {BASE, 3}, {BASE + 1, 2}, {BASE + 4, 7}, {BASE + 9, 1}};
	static const struct branch_count branches[] = {
		{.from = BASE + 2, .to = BASE, .count = 9},
		{.from = BASE + 2, .to = BASE + 4, .count = 1},
		{.from = BASE + 2, .to = BASE + 7, .count = 4},
		/* target in another image */
		{.from = BASE + 2, .to = UINT64_MAX, .count = 0, .to_image = 2}};
	struct cfg *cfg = GRAPH_OF("\x01\xc8\x75\xfc\xc3");
	struct procedure_profile profile;
	double seen = 0;

	(void)state;
	assert_int_equal(procedure_profile_create(&profile, cfg, samples, 5, 62000), 0);
	assert_true(profile.samples[0] == 3 && profile.samples[1] == 0 && profile.samples[2] == 7);
	assert_true(profile.total == 10 && profile.unmatched == 2 && profile.calls_in < 0);
	assert_null(profile.edge_samples);
	assert_int_equal(procedure_profile_add_branches(&profile, cfg, branches, 3), 0);
	assert_true(profile.branch_total[1] == 14);
	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		seen += profile.edge_samples[i];
		if (cfg->edges[i].kind == CFG_EDGE_TAKEN)
			assert_true(profile.edge_samples[i] == 9);
	}
	assert_true(seen == 10);
	assert_int_equal(
		procedure_profile_add_role(&profile, cfg, PROFILE_ROLE_DMISS, samples, 5, 100), 0);
	assert_true(profile.roles[PROFILE_ROLE_DMISS].samples[2] == 7);
	procedure_profile_deinit(&profile);
	cfg_destroy(cfg);
}

/* 1: jne 2f; 2: jne 1b; ret. Executions of two branches, each counted over periods of the other. */
static void test_adds_edges_from_probes(void **state)
{
	static const struct branch_count branches[] = {
		{.from = BASE, .to = BASE + 2, .count = 3, .reference_executions = 700},
		{.from = BASE, .to = BASE + 4, .reference_executions = 9},
		{.from = BASE, .to = UINT64_MAX, .reference_executions = 8},
		{.from = BASE + 2, .to = BASE, .reference_executions = 7}};
	struct cfg *cfg = GRAPH_OF("\x75\x00\x75\xfc\xc3");
	struct procedure_profile profile;

	(void)state;
	assert_int_equal(procedure_profile_create(&profile, cfg, NULL, 0, 62000), 0);
	assert_int_equal(procedure_profile_add_branches(&profile, cfg, branches, 4), 0);
	assert_int_equal(profile.reference_count, 1);
	assert_int_equal(profile.references[0].insns[0], 0);
	assert_int_equal(profile.references[0].insns[1], 1);
	assert_true(profile.references[0].executions[0] == 700);
	assert_true(profile.references[0].executions[1] == 7);
	procedure_profile_deinit(&profile);
	cfg_destroy(cfg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_graphs),
		cmocka_unit_test(test_random_bytes),
		cmocka_unit_test(test_jump_after_prefix),
		cmocka_unit_test(test_padding_is_unreachable),
		cmocka_unit_test(test_targets_of_inner_calls_are_entries),
		cmocka_unit_test(test_marks_unresolved_jumps),
		cmocka_unit_test(test_counts_undecodable_bytes),
		cmocka_unit_test(test_adds_edges_from_samples),
		cmocka_unit_test(test_adds_edges_from_probes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
