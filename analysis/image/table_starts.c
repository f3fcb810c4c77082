// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/table_starts.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "analysis/image/image_memory.h"
#include "lib/array.h"
#include "lib/partition_point.h"

struct table_starts {
	struct image_text *text;
	pthread_mutex_t lock; /* protects the members below */
	bool complete;
	uint64_t *addresses; /* ascending */
	size_t count;
	size_t capacity;
};

int table_starts_create(struct table_starts **ret, struct image_text *text)
{
	struct table_starts *starts = calloc(1, sizeof(*starts));

	if (starts == NULL)
		return -ENOMEM;
	starts->text = text;
	pthread_mutex_init(&starts->lock, NULL);
	*ret = starts;
	return 0;
}

void table_starts_destroy(struct table_starts *starts)
{
	if (starts == NULL)
		return;
	pthread_mutex_destroy(&starts->lock);
	free(starts->addresses);
	free(starts);
}

/* Return the address at which the data of an instruction begin, or 0. */
static uint64_t start_of(const struct insn *insn)
{
	const struct insn_memory *memory = &insn->memory;
	bool accesses = (insn->flags & (INSN_READS_MEMORY | INSN_WRITES_MEMORY)) != 0;

	if (memory->pc_relative)
		return accesses || insn->class != INSN_ALU ? 0 : (uint64_t)memory->displacement;
	if (memory->base != INSN_REG_NONE || memory->index == INSN_REG_NONE || memory->segment ||
	    memory->displacement <= 0)
		return 0;
	return (uint64_t)memory->displacement;
}

static int add_starts(struct table_starts *starts, const struct procedure *procedure)
{
	uint64_t address = procedure->address, end = address + procedure->bytes;

	while (address < end) {
		struct insn insn;
		size_t available, length;
		const uint8_t *code = image_text_bytes(starts->text, address, &available);
		uint64_t start;

		length = code == NULL
				 ? 0
				 : starts->text->decoder->decode(&insn, code, available, address);
		if (length == 0)
			return 0;
		address += length;
		start = start_of(&insn);
		if (start == 0 || image_text_find(starts->text, start) >= 0)
			continue;
		if (array_reserve(&starts->addresses, &starts->capacity, starts->count + 1,
				  sizeof(*starts->addresses)) < 0)
			return -ENOMEM;
		starts->addresses[starts->count++] = start;
	}
	return 0;
}

static int start_compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Called with the lock held. */
static int find_all(struct table_starts *starts)
{
	const struct procedure_table *procedures = starts->text->procedures;
	int r = 0;

	starts->count = 0;
	for (size_t i = 0; r == 0 && i < procedure_table_count(procedures); i++)
		r = add_starts(starts, procedure_table_get(procedures, i));
	if (r < 0)
		return r;
	if (starts->count > 0)
		qsort(starts->addresses, starts->count, sizeof(*starts->addresses), start_compare);
	starts->complete = true;
	return 0;
}

/* Return the index of the first start after an address. */
static size_t index_after(const struct table_starts *starts, uint64_t address)
{
	return partition_point(0, starts->count, i, starts->addresses[i] <= address);
}

struct pointers {
	uint64_t address;
	uint32_t bytes;
	uint64_t first;
};

static void visit_pointer(void *context, uint64_t target)
{
	struct pointers *pointers = context;

	if (target < pointers->first && (target - pointers->address) % pointers->bytes == 0)
		pointers->first = target;
}

int table_starts_next(struct table_starts *starts, uint64_t address, uint32_t bytes, uint64_t *next)
{
	struct pointers pointers = {.address = address, .bytes = bytes};
	size_t i;
	int r = 0;

	pthread_mutex_lock(&starts->lock);
	if (!starts->complete && starts->text->decoder != NULL)
		r = find_all(starts);
	pthread_mutex_unlock(&starts->lock);
	if (r < 0)
		return r;
	i = index_after(starts, address);
	while (i < starts->count && (starts->addresses[i] - address) % bytes != 0)
		i++;
	pointers.first = i < starts->count ? starts->addresses[i] : UINT64_MAX;
	if (starts->text->memory != NULL)
		image_memory_pointers(starts->text->memory, address + 1, pointers.first,
				      visit_pointer, &pointers);
	*next = pointers.first;
	return 0;
}
