// SPDX-License-Identifier: GPL-2.0-only
/* The description of burst records is read as it was written, and damage is refused. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/bursts/bursts_map.h"

#define ROUNDS 200
#define REFERENCES_MAX 50

static void fill(struct bursts_map *map, uint64_t *seed)
{
	*map = (struct bursts_map){
		.image = unit_random(seed),
		.path = strdup("/usr/bin/some\nthing"),
		.build_id = strdup("0123abcd"),
		.checks = (uint32_t)(unit_random(seed) >> 33),
		.records = (uint32_t)(unit_random(seed) >> 33),
	};
	for (uint64_t p = unit_random(seed) % 20; p > 0; p--) {
		uint64_t references[REFERENCES_MAX], at = unit_random(seed) >> 17;
		size_t count = unit_random(seed) % REFERENCES_MAX;
		uint64_t address = at;

		for (size_t i = 0; i < count; i++)
			references[i] = at += 1 + unit_random(seed) % 100;
		assert_int_equal(bursts_map_add(map, "procedure", address, references, count), 0);
	}
}

static void assert_same(const struct bursts_map *a, const struct bursts_map *b)
{
	assert_true(a->image == b->image);
	assert_string_equal(a->path, b->path);
	assert_string_equal(a->build_id, b->build_id);
	assert_int_equal(a->checks, b->checks);
	assert_int_equal(a->records, b->records);
	assert_int_equal(a->procedure_count, b->procedure_count);
	assert_int_equal(a->reference_count, b->reference_count);
	for (size_t i = 0; i < a->procedure_count; i++) {
		assert_string_equal(a->procedures[i].name, b->procedures[i].name);
		assert_true(a->procedures[i].address == b->procedures[i].address);
		assert_int_equal(a->procedures[i].first, b->procedures[i].first);
		assert_int_equal(a->procedures[i].count, b->procedures[i].count);
	}
	for (size_t i = 0; i < a->reference_count; i++) {
		size_t p = bursts_map_find(a, (uint32_t)i);

		assert_true(a->references[i] == b->references[i]);
		assert_in_range(i, a->procedures[p].first,
				a->procedures[p].first + a->procedures[p].count - 1);
	}
}

static void test_round_trip(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct bursts_map map, read;
		uint8_t *data;
		size_t bytes;

		fill(&map, &seed);
		assert_int_equal(bursts_map_encode(&map, &data, &bytes), 0);
		assert_int_equal(bursts_map_decode(&read, data, bytes), 0);
		assert_same(&map, &read);
		bursts_map_deinit(&read);
		for (size_t cut = 0; cut < bytes; cut++)
			assert_int_equal(bursts_map_decode(&read, data, cut), -EBADMSG);
		data = realloc(data, bytes + 1);
		data[bytes] = 0;
		assert_int_equal(bursts_map_decode(&read, data, bytes + 1), -EBADMSG);
		data[0]++;
		assert_int_equal(bursts_map_decode(&read, data, bytes), -EPROTO);
		data[0]--;
		for (int damage = 0; damage < 50; damage++) {
			data[1 + unit_random(&seed) % (bytes - 1)] = (uint8_t)unit_random(&seed);
			if (bursts_map_decode(&read, data, bytes) == 0)
				bursts_map_deinit(&read);
		}
		free(data);
		bursts_map_deinit(&map);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
