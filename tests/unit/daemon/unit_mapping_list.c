// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdbool.h>

#include "daemon/image/mapping_list.h"

/* The last address of the model, which is not mapped, stands for all higher addresses. */
static void narrows_as_model(const struct mapping_list *list, const uint32_t *image, int last,
			     int at)
{
	uint64_t start = 0, end = UINT64_MAX;
	int low = at, high = at;

	while (low > 0 && image[low - 1] == image[at])
		low--;
	while (high <= last && image[high] == image[at])
		high++;
	mapping_list_narrow(list, at < last ? (uint64_t)at : UINT64_MAX, &start, &end);
	assert_true(start == (uint64_t)low);
	assert_true(end == (high <= last ? (uint64_t)high : UINT64_MAX));
}

/* Mapping lists are compared with a plain array of addresses, and shared lists do not change. */
static void mapping_list_follows_model(void **state)
{
	enum {
		SPAN = 200
	};
	uint32_t image[SPAN + 1] = {0};
	uint64_t seed = 3;
	struct mapping_list *list = NULL;
	int i, at;

	(void)state;
	narrows_as_model(NULL, image, SPAN, SPAN);
	for (i = 0; i < 20000; i++) {
		uint64_t start = unit_random(&seed) % SPAN;
		struct mapping mapping = {
			.start = start,
			.end = start + 1 + unit_random(&seed) % (SPAN - start) / 4,
			.image = 1 + unit_random(&seed) % 3,
		};
		struct mapping_list *before = mapping_list_share(list);
		uint32_t count = before != NULL ? before->count : 0, n;

		assert_int_equal(mapping_list_add(&list, &mapping), 0);
		assert_true(before == NULL || before->count == count);
		mapping_list_release(before);
		for (at = (int)mapping.start; at < (int)mapping.end; at++)
			image[at] = mapping.image;
		for (at = 0; at < SPAN; at++) {
			uint64_t low = 0, high = UINT64_MAX;
			const struct mapping *found = mapping_list_find(list, (uint64_t)at);

			assert_int_equal(found != NULL ? found->image : 0, image[at]);
			assert_ptr_equal(mapping_list_narrow(list, (uint64_t)at, &low, &high),
					 found);
		}
		narrows_as_model(list, image, SPAN, SPAN);
		narrows_as_model(list, image, SPAN, (int)(unit_random(&seed) % SPAN));
		for (n = 1; n < list->count; n++)
			assert_true(list->mappings[n].start > list->mappings[n - 1].end ||
				    (list->mappings[n].start == list->mappings[n - 1].end &&
				     list->mappings[n].image != list->mappings[n - 1].image));
	}
	mapping_list_release(list);
}

static void mapping_list_is_bounded(void **state)
{
	struct mapping_list *list = NULL;
	uint64_t i;

	(void)state;
	for (i = 0; i < MAPPINGS_MAX; i++) {
		struct mapping mapping = {.start = 3 * i, .end = 3 * i + 1, .image = 1};

		assert_int_equal(mapping_list_add(&list, &mapping), 0);
	}
	assert_int_equal(
		mapping_list_add(&list, &(struct mapping){.start = 3 * i, .end = 3 * i + 1}),
		-ENOSPC);
	assert_int_equal(list->count, MAPPINGS_MAX);
	mapping_list_release(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mapping_list_follows_model),
		cmocka_unit_test(mapping_list_is_bounded),
	};

	return cmocka_run_group_tests_name("mapping_list", tests, NULL, NULL);
}
