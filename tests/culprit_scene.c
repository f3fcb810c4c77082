// SPDX-License-Identifier: GPL-2.0-only
#include "tests/culprit_scene.h"

#include "tests/unit.h"

#include <string.h>

#define EXECUTIONS 1000

static const struct insn_decoder decoder = {
	.isa = INSN_ISA_ALPHA,
	.name = "test",
	.alignment = 4,
	.stack_pointer = 30,
};

static const struct machine_model model = {
	.name = "test",
	.isa = INSN_ISA_ALPHA,
	.in_order = true,
	.issue_width = 2,
	.icache = {8192, 32, 6, 50},
	.dcache = {8192, 32, 6, 80},
	.itb = {48, 8192, 20, 40},
	.dtb = {64, 8192, 20, 40},
	.branch_mispredict_cycles = 5,
	.write_buffer_entries = 6,
	.write_retire_cycles = 60,
	.imul_cycles = 16,
	.fdiv_cycles = 30,
};

static void *allocate(size_t count, size_t bytes)
{
	void *memory = calloc(count + 1, bytes);

	assert_non_null(memory);
	return memory;
}

static struct frequency_estimate exactly(double value)
{
	return (struct frequency_estimate){value,	   value,	    value,
					   FREQUENCY_HIGH, FREQUENCY_EXACT, false};
}

void culprit_scene_init(struct culprit_scene *scene, const uint32_t *insn_counts,
			uint32_t block_count, const struct cfg_fixture_edge *edges,
			uint32_t edge_count)
{
	struct cfg *cfg = cfg_fixture_create(insn_counts, block_count, edges, edge_count);

	*scene = (struct culprit_scene){.cfg = cfg, .model = model};
	cfg->decoder = &decoder;
	scene->schedule.insns = allocate(cfg->insn_count, sizeof(*scene->schedule.insns));
	scene->profile.samples = allocate(cfg->insn_count, sizeof(double));
	scene->frequency.blocks = allocate(block_count, sizeof(*scene->frequency.blocks));
	scene->frequency.edges = allocate(edge_count, sizeof(*scene->frequency.edges));
	scene->profile.period_cycles = 1;
	for (uint32_t i = 0; i < cfg->insn_count; i++) {
		scene->schedule.insns[i].min_cycles = 1;
		scene->schedule.insns[i].depends_on = UINT32_MAX;
		culprit_scene_stall(scene, i, 0);
	}
	for (uint32_t b = 0; b < block_count; b++)
		culprit_scene_frequency(scene, b, EXECUTIONS);
	for (uint32_t e = 0; e < edge_count; e++)
		scene->frequency.edges[e] = exactly(EXECUTIONS);
	scene->input = (struct culprit_input){
		.cfg = cfg,
		.model = &scene->model,
		.schedule = &scene->schedule,
		.profile = &scene->profile,
		.frequency = &scene->frequency,
	};
}

void culprit_scene_deinit(struct culprit_scene *scene)
{
	culprits_deinit(&scene->culprits);
	free(scene->schedule.insns);
	free(scene->frequency.blocks);
	free(scene->frequency.edges);
	free(scene->profile.samples);
	for (unsigned int role = 0; role < PROFILE_ROLES; role++)
		free(scene->profile.roles[role].samples);
	cfg_fixture_destroy(scene->cfg);
}

void culprit_scene_frequency(struct culprit_scene *scene, uint32_t block, double value)
{
	const struct cfg_block *b = &scene->cfg->blocks[block];

	scene->frequency.blocks[block] = exactly(value);
	for (uint32_t i = b->first; i < b->first + b->count; i++)
		culprit_scene_stall(scene, i, 0);
}

void culprit_scene_edge(struct culprit_scene *scene, uint32_t from, uint32_t to, double value)
{
	uint32_t edge = cfg_fixture_edge(scene->cfg, from, to);

	assert_int_not_equal(edge, UINT32_MAX);
	scene->frequency.edges[edge] = exactly(value);
}

static struct insn *reset(struct culprit_scene *scene, uint32_t index, enum insn_class class)
{
	struct insn *insn = &scene->cfg->insns[index];

	insn->class = class;
	insn->flags = 0;
	insn->immediate = 0;
	insn->reads = insn->writes = (struct insn_regs){0};
	insn->destination = INSN_REG_NONE;
	insn->memory = (struct insn_memory){.base = INSN_REG_NONE, .index = INSN_REG_NONE};
	return insn;
}

static struct insn *access_memory(struct culprit_scene *scene, uint32_t index,
				  enum insn_class class, uint8_t base, int64_t displacement)
{
	struct insn *insn = reset(scene, index, class);

	insn->flags = class == INSN_LOAD ? INSN_READS_MEMORY : INSN_WRITES_MEMORY;
	insn->memory.base = base;
	insn->memory.displacement = displacement;
	insn->memory.bytes = 8;
	insn_regs_add(&insn->reads, base);
	return insn;
}

void culprit_scene_load(struct culprit_scene *scene, uint32_t insn, uint8_t reg, uint8_t base,
			int64_t displacement)
{
	struct insn *load = access_memory(scene, insn, INSN_LOAD, base, displacement);

	load->destination = reg;
	insn_regs_add(&load->writes, reg);
}

void culprit_scene_store(struct culprit_scene *scene, uint32_t insn, uint8_t reg, uint8_t base,
			 int64_t displacement)
{
	struct insn *store = access_memory(scene, insn, INSN_STORE, base, displacement);

	store->sources[0] = reg;
	insn_regs_add(&store->reads, reg);
}

void culprit_scene_compute(struct culprit_scene *scene, uint32_t insn, enum insn_class class,
			   uint8_t to, uint8_t from)
{
	struct insn *compute = reset(scene, insn, class);

	compute->destination = to;
	insn_regs_add(&compute->writes, to);
	insn_regs_add(&compute->reads, from);
}

void culprit_scene_stall(struct culprit_scene *scene, uint32_t insn, double cycles)
{
	double frequency = scene->frequency.blocks[scene->cfg->block_of[insn]].value;
	double *samples = &scene->profile.samples[insn];

	scene->profile.total -= *samples;
	*samples = frequency * (scene->schedule.insns[insn].min_cycles + cycles);
	scene->profile.total += *samples;
}

void culprit_scene_look(struct culprit_scene *scene)
{
	culprits_deinit(&scene->culprits);
	assert_int_equal(culprits_find(&scene->culprits, &scene->input), 0);
}

const char *culprit_scene_letters(const struct culprit_scene *scene, uint32_t insn)
{
	static char letters[CULPRIT_CAUSES + 1];
	unsigned int count = 0;

	for (unsigned int cause = 0; cause < CULPRIT_CAUSES; cause++)
		if (culprit_scene_find(scene, insn, cause) != NULL)
			letters[count++] = culprit_letter(cause);
	letters[count] = '\0';
	return letters;
}

const struct culprit *culprit_scene_find(const struct culprit_scene *scene, uint32_t insn,
					 enum culprit_cause cause)
{
	const struct instruction_cpi *cpi = &scene->culprits.insns[insn];

	for (uint32_t i = cpi->first; i < cpi->first + cpi->count; i++)
		if (scene->culprits.list[i].cause == cause)
			return &scene->culprits.list[i];
	return NULL;
}

void culprit_scene_straight(struct culprit_scene *scene, uint32_t insns)
{
	static const struct cfg_fixture_edge edges[] = {{CFG_ENTRY, 0}, {0, CFG_EXIT}};

	culprit_scene_init(scene, &insns, 1, edges, 2);
	for (uint32_t i = 0; i < insns; i++)
		culprit_scene_compute(scene, i, INSN_ALU, V, W);
}

void culprit_scene_loop(struct culprit_scene *scene, uint32_t insns)
{
	static const struct cfg_fixture_edge edges[] = {
		{CFG_ENTRY, 0}, {0, 1}, {1, 1}, {1, 2}, {2, CFG_EXIT}};
	const uint32_t counts[] = {8, insns, 1};

	culprit_scene_init(scene, counts, 3, edges, 5);
	culprit_scene_frequency(scene, 1, 100000);
	culprit_scene_edge(scene, 1, 1, 99000);
	for (uint32_t i = 0; i < scene->cfg->insn_count; i++)
		culprit_scene_compute(scene, i, INSN_ALU, V, W);
}
