// SPDX-License-Identifier: GPL-2.0-only
/*
 * The map of a program that counts paths is read back as it was written. A damaged map is refused,
 * or describes other paths, but never causes invalid memory accesses.
 */
#include "analysis/graph/cfg_create.h"
#include "instrument/paths/path_numbering.h"
#include "tests/lib/unit.h"

#include <errno.h>
#include <string.h>

#include "analysis/image/image_code.h"
#include "instrument/paths/paths_listing.h"
#include "lib/error.h"

#define DAMAGES 20000

static void add_procedures(struct paths_map *map, const char *path, size_t most)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE, .path = path};
	struct debug_file_options options = {0};
	struct image_code *code;
	struct error err;
	size_t count;

	assert_int_equal(image_code_open(&code, &image, &options, &err), 0);
	count = procedure_table_count(image_code_procedures(code));
	for (size_t i = 0; i < count && map->procedure_count < most; i++) {
		struct paths_procedure like = {.first_word = map->words,
					       .first_array = map->words + PATHS_WORDS + 2,
					       .calls = true};
		struct count_graph counts;
		struct path_graph graph;
		uint32_t own[2];
		struct cfg *cfg;

		if (cfg_create(&cfg, code, i, NULL, &err) < 0)
			continue;
		if (!cfg->missing) {
			assert_int_equal(count_graph_create(&counts, cfg, NULL, NULL), 0);
			assert_int_equal(
				path_numbering_create(&graph, &counts,
						      &(struct path_rules){.most = PATH_COUNT_MAX}),
				0);
			own[0] = 0;
			own[1] = graph.count - 1;
			like.own = own;
			like.own_count = graph.count > 0 && paths_map_is_array(map, &graph) ? 2 : 0;
			assert_int_equal(
				paths_map_add(map, "it", 0x1000 + 16 * i, &counts, &graph, &like),
				0);
			map->words = like.first_array + paths_map_arrays(map, &graph);
			path_graph_deinit(&graph);
			count_graph_deinit(&counts);
		}
		cfg_destroy(cfg);
	}
	image_code_close(code);
}

static void make_map(struct paths_map *map, size_t most)
{
	*map = (struct paths_map){.image = 7,
				  .path = strdup("/a"),
				  .build_id = strdup("12"),
				  .metric = strdup("cycles"),
				  .checks = 100,
				  .burst = 10};
	add_procedures(map, "/proc/self/exe", most);
	assert_int_equal(map->procedure_count, most);
}

static void test_round_trip(void **state)
{
	struct paths_map map, back;
	uint8_t *data;
	size_t bytes;

	(void)state;
	make_map(&map, 200);
	assert_int_equal(paths_map_encode(&map, &data, &bytes), 0);
	assert_int_equal(paths_map_decode(&back, data, bytes), 0);
	assert_int_equal(back.image, map.image);
	assert_int_equal(back.words, map.words);
	assert_string_equal(back.metric, "cycles");
	assert_int_equal(back.checks, map.checks);
	assert_int_equal(back.burst, map.burst);
	assert_int_equal(back.procedure_count, map.procedure_count);
	for (size_t p = 0; p < map.procedure_count; p++) {
		const struct paths_procedure *a = &map.procedures[p], *b = &back.procedures[p];

		assert_int_equal(a->address, b->address);
		assert_int_equal(a->first_word, b->first_word);
		assert_int_equal(a->first_array, b->first_array);
		assert_int_equal(a->graph.count, b->graph.count);
		assert_int_equal(a->own_count, b->own_count);
		for (uint32_t i = 0; i < a->own_count; i++)
			assert_int_equal(a->own[i], b->own[i]);
		assert_int_equal(a->graph.node_count, b->graph.node_count);
		assert_int_equal(a->graph.path_edge_count, b->graph.path_edge_count);
		for (uint32_t w = 0; w < a->graph.path_edge_count; w++) {
			assert_int_equal(a->graph.path_edges[w].to, b->graph.path_edges[w].to);
			assert_int_equal(a->graph.path_edges[w].kind, b->graph.path_edges[w].kind);
			assert_int_equal(a->graph.path_edges[w].value,
					 b->graph.path_edges[w].value);
		}
		for (uint32_t n = 0; n < a->graph.node_count; n++)
			assert_int_equal(a->nodes[n].address, b->nodes[n].address);
	}
	paths_map_deinit(&back);
	free(data);
	paths_map_deinit(&map);
}

/* For any counted paths of a map, a listing is made or the paths are refused. */
static void list_any(const struct paths_map *map, uint64_t *seed)
{
	struct paths_profile profile = {0};
	struct paths_listing listing;
	struct paths_sum sums[8];
	int r;

	if (map->procedure_count == 0)
		return;
	for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++) {
		uint32_t procedure = (uint32_t)(unit_random(seed) % map->procedure_count);
		uint32_t count = map->procedures[procedure].graph.count;

		sums[i] = (struct paths_sum){.procedure = procedure,
					     .number = (uint32_t)(unit_random(seed) % (count + 1)),
					     .count = 1};
	}
	profile.sums = sums;
	profile.sum_count = sizeof(sums) / sizeof(*sums);
	r = paths_listing_make(&listing, map, &profile, 0.01);
	assert_true(r == 0 || r == -EBADMSG);
	if (r == 0)
		paths_listing_deinit(&listing);
}

static void test_damage(void **state)
{
	uint64_t seed = 3, accepted = 0, refused = 0;
	struct paths_map map, back;
	uint8_t *data, *damaged;
	size_t bytes;

	(void)state;
	make_map(&map, 8);
	assert_int_equal(paths_map_encode(&map, &data, &bytes), 0);
	damaged = malloc(bytes);
	for (int i = 0; i < DAMAGES; i++) {
		size_t length = i % 4 == 0 ? unit_random(&seed) % bytes : bytes;
		int r;

		memcpy(damaged, data, bytes);
		for (uint64_t k = unit_random(&seed) % 3 + 1; k > 0; k--)
			damaged[unit_random(&seed) % bytes] = (uint8_t)unit_random(&seed);
		r = paths_map_decode(&back, damaged, length);
		assert_true(r == 0 || r == -EBADMSG || r == -EPROTO);
		refused += r < 0;
		if (r < 0)
			continue;
		accepted++;
		list_any(&back, &seed);
		paths_map_deinit(&back);
	}
	assert_true(refused > 1000 && accepted > 1000);
	free(damaged);
	free(data);
	paths_map_deinit(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
