// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/code_references.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "analysis/image/elf_symbols.h"
#include "analysis/image/image_code.h"
#include "analysis/image/image_elf.h"
#include "analysis/image/image_memory.h"
#include "lib/array.h"
#include "lib/partition_point.h"

/* Larger images take too long to decode. */
#define CODE_BYTES_MAX ((uint64_t)4 << 20)
/* arm64 computes the address of a page first. */
#define PAGE_MASK UINT64_C(0xfff)

struct code_references {
	struct image_text *text;
	pthread_mutex_t lock; /* protects the members below */
	bool complete;
	bool too_large;
	struct code_reference *list; /* by target, ascending */
	size_t count;
	size_t capacity;
};

int code_references_create(struct code_references **ret, struct image_text *text)
{
	struct code_references *references = calloc(1, sizeof(*references));

	if (references == NULL)
		return -ENOMEM;
	references->text = text;
	pthread_mutex_init(&references->lock, NULL);
	*ret = references;
	return 0;
}

void code_references_destroy(struct code_references *references)
{
	if (references == NULL)
		return;
	pthread_mutex_destroy(&references->lock);
	free(references->list);
	free(references);
}

static int reference_add(struct code_references *references, const struct insn *insn,
			 uint64_t target, bool is_address)
{
	if (image_text_find(references->text, target) < 0)
		return 0;
	if (array_reserve(&references->list, &references->capacity, references->count + 1,
			  sizeof(*references->list)) < 0)
		return -ENOMEM;
	references->list[references->count++] = (struct code_reference){
		.target = target, .from = insn->address, .is_address = is_address};
	return 0;
}

/* struct procedure_walk - @shift: difference between addresses and offsets */
struct procedure_walk {
	struct code_references *references;
	size_t index;
	uint64_t shift;
};

static int insn_add(struct procedure_walk *walk, const struct insn *insn)
{
	struct code_references *references = walk->references;
	int r = 0;

	if (insn->flow == INSN_FLOW_CALL ||
	    ((insn->flow == INSN_FLOW_JUMP || insn->flow == INSN_FLOW_BRANCH) &&
	     image_text_find(references->text, insn->target) != (long)walk->index))
		return reference_add(references, insn, insn->target, false);
	if (insn->immediate != 0)
		r = reference_add(references, insn, (uint64_t)insn->immediate, true);
	if (r == 0 && insn->memory.pc_relative)
		r = reference_add(references, insn, (uint64_t)insn->memory.displacement, true);
	return r;
}

/* Decode the bytes [@start, @end) of a procedure; both are offsets. */
static int run_visit(void *context, uint64_t start, uint64_t end)
{
	struct procedure_walk *walk = context;
	struct image_text *text = walk->references->text;
	uint64_t address = start + walk->shift;

	while (address < end + walk->shift) {
		struct insn insn;
		size_t available, length;
		const uint8_t *code = image_text_bytes(text, address, &available);

		if (code == NULL)
			return 0;
		length = text->decoder->decode(&insn, code, available, address);
		if (length > 0 && insn_add(walk, &insn) < 0)
			return -ENOMEM;
		address += length > 0 ? length : text->decoder->alignment;
	}
	return 0;
}

static int procedure_add(struct code_references *references, size_t index)
{
	const struct procedure_table *table = references->text->procedures;
	const struct procedure *procedure = procedure_table_get(table, index);
	struct procedure_walk walk = {references, index, procedure->address - procedure->offset};

	return procedure_table_visit(table, index, run_visit, &walk);
}

static int count_run(void *context, uint64_t start, uint64_t end)
{
	*(uint64_t *)context += end - start;
	return 0;
}

static int reference_compare(const void *a, const void *b)
{
	const struct code_reference *x = a, *y = b;

	if (x->target != y->target)
		return x->target < y->target ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

/* Called with the lock held. */
static int references_read(struct code_references *references)
{
	const struct procedure_table *procedures = references->text->procedures;
	size_t procedure_count = procedure_table_count(procedures);
	uint64_t bytes = 0;
	int r = 0;

	references->count = 0;
	for (size_t i = 0; i < procedure_count; i++)
		procedure_table_visit(procedures, i, count_run, &bytes);
	references->too_large = bytes > CODE_BYTES_MAX;
	for (size_t i = 0; r == 0 && !references->too_large && i < procedure_count; i++)
		r = procedure_add(references, i);
	if (r < 0)
		return r;
	if (references->count > 0)
		qsort(references->list, references->count, sizeof(*references->list),
		      reference_compare);
	references->complete = true;
	return 0;
}

/* Return the index of the first reference to an address or a later one. */
static size_t references_index(const struct code_references *references, uint64_t address)
{
	return partition_point(0, references->count, i, references->list[i].target < address);
}

static void pointer_visit(void *context, uint64_t target)
{
	(void)target;
	*(bool *)context = true;
}

static int symbol_visit(void *context, const struct elf_symbol *symbol)
{
	const struct image_range *procedure = context;

	return symbol->address >= procedure->start && symbol->address < procedure->end ? -EEXIST
										       : 0;
}

/* Return: true if code of other images, or pointers in data, may lead to the procedure. */
static bool is_reachable_by_pointer(const struct code_references *references,
				    const struct image_range *procedure)
{
	const struct elf_file *file = image_elf_file(references->text->image);
	struct image_range range = *procedure;
	bool pointed = false;
	GElf_Ehdr header;

	/* Pointers of programs with a fixed address are no relocations. */
	if (gelf_getehdr(file->elf, &header) == NULL || header.e_type != ET_DYN ||
	    (header.e_entry >= range.start && header.e_entry < range.end))
		return true;
	image_memory_pointers(references->text->memory, range.start, range.end, pointer_visit,
			      &pointed);
	return pointed || elf_symbols_visit(file, SHT_DYNSYM, symbol_visit, &range) != 0;
}

/* Return: true if an instruction computes an address in the procedure, or its page. */
static bool is_address_computed(const struct code_references *references,
				const struct image_range *procedure)
{
	size_t i = references_index(references, procedure->start & ~PAGE_MASK);

	for (; i < references->count && references->list[i].target < procedure->end; i++) {
		const struct code_reference *reference = &references->list[i];

		if (reference->is_address &&
		    (reference->target >= procedure->start || (reference->target & PAGE_MASK) == 0))
			return true;
	}
	return false;
}

int code_references_find(struct code_references *references, const struct image_range *procedure,
			 const struct code_reference **ret, size_t *count)
{
	size_t first, end;
	int r = 0;

	*count = 0;
	if (references->text->decoder == NULL || references->text->memory == NULL)
		return 0;
	pthread_mutex_lock(&references->lock);
	if (!references->complete)
		r = references_read(references);
	pthread_mutex_unlock(&references->lock);
	if (r < 0 || references->too_large)
		return r;
	first = references_index(references, procedure->start);
	end = references_index(references, procedure->end);
	if (first == end || is_address_computed(references, procedure) ||
	    is_reachable_by_pointer(references, procedure))
		return 0;
	*ret = &references->list[first];
	*count = end - first;
	return 1;
}
