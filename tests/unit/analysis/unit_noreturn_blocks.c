// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <stdbool.h>
#include <string.h>

#include "analysis/graph/cfg_create.h"
#include "analysis/graph/noreturn_blocks.h"

#define ADDRESS 0x1000
#define STEP 4
#define STEPS 24
#define ROUNDS 2000

static struct cfg *cfg_of(const char *code, size_t bytes)
{
	struct cfg *cfg;

	assert_int_equal(cfg_create_from_code(&cfg, &insn_x86_decoder, (const uint8_t *)code, bytes,
					      ADDRESS, NULL),
			 0);
	return cfg;
}

/* test %edi, %edi; je to the ud2; ret; ud2 */
static void test_failed_checks_are_noreturn(void **state)
{
	struct cfg *cfg = cfg_of("\x85\xff\x74\x01\xc3\x0f\x0b", 7);
	bool noreturn[4];

	(void)state;
	assert_int_equal(cfg->block_count, 3);
	assert_int_equal(noreturn_blocks_find(noreturn, cfg), 0);
	assert_true(!noreturn[0] && !noreturn[1] && noreturn[2]);
	cfg_destroy(cfg);
}

/* Make returns, traps, branches and jumps with random targets, in steps of STEP bytes. */
static void make_code(char code[STEPS * STEP], uint64_t *random)
{
	memset(code, 0x90, STEPS * STEP);
	for (int i = 0; i < STEPS; i++) {
		char *at = &code[i * STEP];
		int to = (int)(unit_random(random) % STEPS);

		switch (unit_random(random) % 6) {
		case 0:
			*at = '\xc3';
			break;
		case 1:
			memcpy(at, "\x0f\x0b", 2);
			break;
		case 2:
			*at = '\xeb';
			at[1] = (char)((to - i) * STEP - 2);
			break;
		default:
			*at = '\x74';
			at[1] = (char)((to - i) * STEP - 2);
		}
	}
	code[(STEPS - 1) * STEP] = '\xc3';
}

static bool all_ways_are(const struct cfg *cfg, const bool *noreturn, uint32_t b)
{
	const struct cfg_block *block = &cfg->blocks[b];

	for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
		const struct cfg_edge *edge = &cfg->edges[e];

		if (edge->kind != CFG_EDGE_STOP &&
		    (edge->to >= cfg->block_count || !noreturn[edge->to]))
			return false;
	}
	return block->out_count > 0;
}

/* The result equals that of the definition, iterated until it is stable. */
static void test_agrees_with_definition(void **state)
{
	uint64_t random = 1;
	uint32_t found = 0;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		char code[STEPS * STEP];
		bool noreturn[STEPS * STEP + 1], model[STEPS * STEP + 1] = {false};
		bool more = true;
		struct cfg *cfg;

		make_code(code, &random);
		cfg = cfg_of(code, sizeof(code));
		assert_true(cfg->block_count <= STEPS * STEP);
		while (more) {
			more = false;
			for (uint32_t b = 0; b < cfg->block_count; b++) {
				if (model[b] || !all_ways_are(cfg, model, b))
					continue;
				model[b] = more = true;
				found++;
			}
		}
		assert_int_equal(noreturn_blocks_find(noreturn, cfg), 0);
		assert_memory_equal(noreturn, model, cfg->block_count * sizeof(*noreturn));
		cfg_destroy(cfg);
	}
	assert_true(found > ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_failed_checks_are_noreturn),
		cmocka_unit_test(test_agrees_with_definition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
