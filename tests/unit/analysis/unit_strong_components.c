// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <stdbool.h>
#include <string.h>

#include "analysis/graph/strong_components.h"

#define NODES_MAX 24
#define EDGES_MAX 60

struct model {
	uint32_t first[NODES_MAX + 1];
	uint32_t targets[EDGES_MAX];
	uint32_t nodes;
	bool reaches[NODES_MAX][NODES_MAX];
};

static void make_model(struct model *model, uint64_t *random)
{
	uint32_t edges = 0;

	memset(model, 0, sizeof(*model));
	model->nodes = 1 + unit_random(random) % NODES_MAX;
	for (uint32_t n = 0; n < model->nodes; n++) {
		model->first[n] = edges;
		for (uint32_t k = unit_random(random) % 3; k > 0 && edges < EDGES_MAX; k--) {
			uint32_t target = unit_random(random) % (model->nodes + 1);

			model->targets[edges++] = target < model->nodes ? target : UINT32_MAX;
			if (target < model->nodes)
				model->reaches[n][target] = true;
		}
	}
	model->first[model->nodes] = edges;
	for (uint32_t via = 0; via < model->nodes; via++)
		for (uint32_t a = 0; a < model->nodes; a++)
			for (uint32_t b = 0; b < model->nodes; b++)
				model->reaches[a][b] |=
					model->reaches[a][via] && model->reaches[via][b];
}

static void test_against_reachability(void **state)
{
	static struct model model;
	uint64_t random = 1972;

	(void)state;
	for (unsigned int round = 0; round < 2000; round++) {
		uint32_t of_node[NODES_MAX], count;
		struct strong_graph graph = {model.first, model.targets, 0};

		make_model(&model, &random);
		graph.nodes = model.nodes;
		assert_int_equal(strong_components_find(of_node, &count, &graph), 0);
		for (uint32_t a = 0; a < model.nodes; a++) {
			assert_true(of_node[a] < count);
			for (uint32_t b = 0; b < model.nodes; b++) {
				bool same = a == b || (model.reaches[a][b] && model.reaches[b][a]);

				assert_true((of_node[a] == of_node[b]) == same);
				if (model.reaches[a][b])
					assert_true(of_node[a] >= of_node[b]);
			}
		}
	}
}

/* A ring too long for a recursive algorithm. */
static void test_long_cycle(void **state)
{
	const uint32_t nodes = 1000000;
	uint32_t *first = malloc((nodes + 1) * sizeof(*first));
	uint32_t *targets = malloc(nodes * sizeof(*targets));
	uint32_t *of_node = malloc(nodes * sizeof(*of_node));
	struct strong_graph graph = {first, targets, nodes};
	uint32_t count = 0;

	(void)state;
	assert_true(first != NULL && targets != NULL && of_node != NULL);
	for (uint32_t n = 0; n < nodes; n++) {
		first[n] = n;
		targets[n] = (n + 1) % nodes;
	}
	first[nodes] = nodes;
	assert_int_equal(strong_components_find(of_node, &count, &graph), 0);
	assert_int_equal(count, 1);
	free(first);
	free(targets);
	free(of_node);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_reachability),
		cmocka_unit_test(test_long_cycle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
