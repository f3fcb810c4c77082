// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz indexes of symbols. The magic and the checksum, which a fuzzer would not find, are set to
 * the correct values, and in most inputs also the sizes of the parts. An accepted index must give a
 * new index with the same number of procedures.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/image/procedure_index.h"
#include "tests/fuzz/fuzz.h"

#define MAGIC_BYTES 8
#define SUMMED 16
#define HEADER 56
#define PARTS 3 /* stamps, procedures, segments; the names take the remaining bytes */

/* Set sizes of the parts that add up to the size of the input, and an empty key. */
static void make_fit(uint8_t *index, size_t bytes)
{
	static const uint64_t sizes[PARTS] = {48, 32, 24};
	uint64_t counts[PARTS + 2], left = bytes - HEADER;

	memcpy(counts, index + SUMMED, sizeof(counts));
	for (unsigned int i = 0; i < PARTS; i++) {
		counts[i] %= left / sizes[i] + 1;
		left -= counts[i] * sizes[i];
	}
	if (left == 0)
		return;
	counts[PARTS] = left;
	counts[PARTS + 1] = left - 1;
	memcpy(index + SUMMED, counts, sizeof(counts));
	index[bytes - 1] = 0;
}

static void seal(uint8_t *index, size_t bytes)
{
	static const uint8_t magic[MAGIC_BYTES] = {1, 'M', 'Y', 'S', 'I', 'P', 'C', 'D'};
	uint64_t sum;

	if (bytes < SUMMED)
		return;
	if (bytes > HEADER && index[0] % 8 != 0)
		make_fit(index, bytes);
	memcpy(index, magic, MAGIC_BYTES);
	sum = procedure_index_checksum(index + SUMMED, bytes - SUMMED);
	memcpy(index + MAGIC_BYTES, &sum, sizeof(sum));
}

static void look(const struct procedure_table *table)
{
	size_t names = 0;

	for (size_t i = 0; i < procedure_table_count(table); i++) {
		const struct procedure *procedure = procedure_table_get(table, i);
		long found = procedure_table_find(table, procedure->offset);

		names += strlen(procedure->name);
		require(found < 0 || (size_t)found < procedure_table_count(table));
	}
	require(names < (size_t)1 << 40);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct file_stamps stamps = {0};
	struct procedure_table *table = NULL, *again = NULL;
	uint8_t *copy = malloc(bytes > 0 ? bytes : 1);
	void *index = NULL;
	size_t count = 0;

	require(copy != NULL);
	memcpy(copy, data, bytes);
	seal(copy, bytes);
	if (procedure_index_open(&table, copy, bytes, "") < 0)
		return 0;
	look(table);
	require(procedure_index_make(table, &stamps, "", &index, &count) == 0);
	require(procedure_index_open(&again, index, count, "") == 0);
	require(procedure_table_count(again) == procedure_table_count(table));
	procedure_table_destroy(again);
	procedure_table_destroy(table);
	return 0;
}
