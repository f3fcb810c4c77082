// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/cfg_code.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"
#include "lib/partition_point.h"

/* Limits on the parts of a procedure. */
#define WANTED_MAX 64
#define PART_BYTES_MAX 4096
#define PLACE_BYTES 32
/*
 * Memory is initially allocated for at most FIRST_MAX instructions, assuming INSN_BYTES_LIKELY
 * each.
 */
#define FIRST_MAX 65536
#define INSN_BYTES_LIKELY 4

/* Ensure memory for @count more instructions. */
static int cfg_code_reserve(struct cfg_code *code, size_t count)
{
	if (code->count >= CFG_CODE_NONE - 16)
		return -E2BIG;
	return array_reserve(&code->insns, &code->capacity, code->count + count,
			     sizeof(*code->insns));
}

/*
 * Count the zeros that linkers put between input sections. Decoded as instructions, the last of
 * them would include the beginning of the following code. @count: available bytes. Return: bytes of
 * fill.
 */
static size_t fill_at(const struct cfg_code *code, const uint8_t *bytes, size_t count)
{
	const struct insn *before = code->count > 0 ? &code->insns[code->count - 1] : NULL;
	size_t zeros = 0;

	if (before != NULL && before->flow != INSN_FLOW_RETURN && before->flow != INSN_FLOW_JUMP &&
	    before->flow != INSN_FLOW_JUMP_INDIRECT && !cfg_code_is_padding(before))
		return 0;
	while (zeros < count && bytes[zeros] == 0)
		zeros++;
	return zeros - zeros % code->decoder->alignment;
}

/*
 * Linux continues after the ud2 of a warning (WARN), but not after that of a bug (BUG). Only a
 * table that is not part of the code distinguishes them, so each may be a warning.
 */
static void resume_trap(const struct cfg_code *code, struct insn *insn)
{
	if (insn->flow == INSN_FLOW_STOP && code->image != NULL &&
	    code->decoder->isa == INSN_ISA_X86_64 && image_code_is_kernel(code->image))
		insn->flow = INSN_FLOW_NEXT;
}

int cfg_code_add(struct cfg_code *code, struct image_range range, const uint8_t *bytes)
{
	uint64_t total = range.end - range.start;
	uint64_t likely = total / INSN_BYTES_LIKELY;
	size_t length;

	if (array_reserve(&code->parts, &code->part_capacity, code->part_count + 1,
			  sizeof(*code->parts)) < 0)
		return -ENOMEM;
	code->parts[code->part_count++] = (struct cfg_code_part){.range = range, .bytes = bytes};
	if (likely > 0 && likely < FIRST_MAX && cfg_code_reserve(code, likely) == -ENOMEM)
		return -ENOMEM;
	for (uint64_t at = 0; at < total; at += length) {
		int r = cfg_code_reserve(code, 1);

		if (r < 0)
			return r;
		length = fill_at(code, bytes + at, total - at);
		if (length > 0)
			continue;
		length = code->decoder->decode(&code->insns[code->count], bytes + at, total - at,
					       range.start + at);
		if (length > 0) {
			resume_trap(code, &code->insns[code->count]);
			code->count++;
			continue;
		}
		length = code->decoder->alignment;
		code->bad_bytes += length < total - at ? length : total - at;
	}
	return 0;
}

int cfg_code_add_range(struct cfg_code *code, struct image_range range)
{
	const uint8_t *first = NULL, *bytes;
	uint64_t at = range.start;
	size_t available = 0;

	while (at < range.end) {
		bytes = image_code_bytes(code->image, at, &available);
		if (first == NULL)
			first = bytes;
		if (bytes == NULL || bytes != first + (at - range.start))
			break;
		at += available < range.end - at ? available : range.end - at;
	}
	range.end = at;
	return at > range.start ? cfg_code_add(code, range, first) : 0;
}

/* Return true if @procedure jumps back into this code after its entry, which only a part does. */
static bool jumps_back(const struct cfg_code *code, const struct procedure *procedure)
{
	size_t available = 0, length;
	const uint8_t *bytes = image_code_bytes(code->image, procedure->address, &available);

	if (bytes == NULL || procedure->bytes > PART_BYTES_MAX)
		return false;
	if (available > procedure->bytes)
		available = procedure->bytes;
	for (size_t at = 0; at < available; at += length) {
		struct insn insn;

		length = code->decoder->decode(&insn, bytes + at, available - at,
					       procedure->address + at);
		if (length == 0)
			return false;
		if ((insn.flow == INSN_FLOW_BRANCH || insn.flow == INSN_FLOW_JUMP) &&
		    insn.target != code->entry && cfg_code_contains(code, insn.target))
			return true;
	}
	return false;
}

int cfg_code_want(struct cfg_code *code, uint64_t address)
{
	const struct procedure *procedure;
	long index;

	if (code->image == NULL || code->part_count + code->wanted_count >= WANTED_MAX)
		return 0;
	index = image_code_find(code->image, address);
	if (index < 0)
		return 0;
	procedure = procedure_table_get(image_code_procedures(code->image), (size_t)index);
	if (procedure->source != PROCEDURE_UNWIND ||
	    (procedure->address == address && !procedure->inside && !jumps_back(code, procedure)))
		return 0;
	for (size_t i = 0; i < code->wanted_count; i++) {
		if (code->wanted[i].start == procedure->address)
			return 1;
	}
	if (array_reserve(&code->wanted, &code->wanted_capacity, code->wanted_count + 1,
			  sizeof(*code->wanted)) < 0)
		return -ENOMEM;
	code->wanted[code->wanted_count++] =
		(struct image_range){procedure->address, procedure->address + procedure->bytes};
	return 1;
}

int cfg_code_add_wanted(struct cfg_code *code)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < code->wanted_count; i++)
		r = cfg_code_add_range(code, code->wanted[i]);
	code->wanted_count = 0;
	return r < 0 ? r : cfg_code_sort(code);
}

void cfg_code_deinit(struct cfg_code *code)
{
	free(code->parts);
	free(code->places);
	free(code->wanted);
	free(code->insns);
	*code = (struct cfg_code){0};
}

static int insn_compare(const void *a, const void *b)
{
	const struct insn *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static int part_compare(const void *a, const void *b)
{
	const struct cfg_code_part *x = a, *y = b;

	return (x->range.start > y->range.start) - (x->range.start < y->range.start);
}

/* Parts of a damaged image may overlap: keep each instruction only once. */
static void drop_doubles(struct cfg_code *code)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < code->count; i++) {
		if (kept == 0 || code->insns[kept - 1].address != code->insns[i].address)
			code->insns[kept++] = code->insns[i];
	}
	code->count = kept;
}

/* Build the index from addresses to instructions. */
static int index_places(struct cfg_code *code)
{
	size_t count = 0, place = 0;
	uint32_t insn = 0;

	for (size_t i = 0; i < code->part_count; i++) {
		struct cfg_code_part *part = &code->parts[i];

		part->place = count;
		count += (part->range.end - part->range.start) / PLACE_BYTES + 1;
	}
	free(code->places);
	code->places = malloc((count + 1) * sizeof(*code->places));
	if (code->places == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < code->part_count; i++) {
		const struct cfg_code_part *part = &code->parts[i];

		/* Parts of a damaged image may overlap. */
		while (insn > 0 && code->insns[insn - 1].address >= part->range.start)
			insn--;
		for (uint64_t at = part->range.start; at <= part->range.end; at += PLACE_BYTES) {
			while (insn < code->count && code->insns[insn].address < at)
				insn++;
			code->places[place++] = insn;
		}
	}
	return 0;
}

int cfg_code_sort(struct cfg_code *code)
{
	bool sorted = true;

	if (code->part_count > 1)
		qsort(code->parts, code->part_count, sizeof(*code->parts), part_compare);
	for (uint32_t i = 1; sorted && i < code->count; i++)
		sorted = code->insns[i - 1].address < code->insns[i].address;
	if (!sorted) {
		qsort(code->insns, code->count, sizeof(*code->insns), insn_compare);
		drop_doubles(code);
	}
	return index_places(code);
}

static const struct cfg_code_part *part_at(const struct cfg_code *code, uint64_t address)
{
	size_t low = partition_point(0, code->part_count, i, code->parts[i].range.start <= address);

	return low > 0 && address < code->parts[low - 1].range.end ? &code->parts[low - 1] : NULL;
}

/* Search the first @count instructions, which are sorted. */
static uint32_t cfg_code_do_find(const struct cfg_code *code, const struct cfg_code_part *part,
				 uint32_t count, uint64_t address)
{
	uint32_t insn = code->places[part->place + (address - part->range.start) / PLACE_BYTES];

	while (insn < count && code->insns[insn].address < address)
		insn++;
	return insn < count && code->insns[insn].address == address ? insn : CFG_CODE_NONE;
}

int cfg_code_add_chain(struct cfg_code *code, uint32_t sorted, uint64_t address)
{
	const struct cfg_code_part *part = part_at(code, address);
	int added = 0;

	while (part != NULL && address < part->range.end) {
		const uint8_t *bytes = part->bytes + (address - part->range.start);
		int r = cfg_code_reserve(code, 1);
		struct insn *insn;
		size_t length;

		if (r < 0)
			return r;
		insn = &code->insns[code->count];
		length = code->decoder->decode(insn, bytes, part->range.end - address, address);
		if (length == 0 || cfg_code_do_find(code, part, sorted, address) != CFG_CODE_NONE)
			break;
		code->count++;
		added++;
		code->bad_bytes += length;
		code->twice += length;
		address += length;
		if (insn->flow == INSN_FLOW_JUMP || insn->flow == INSN_FLOW_RETURN ||
		    insn->flow == INSN_FLOW_JUMP_INDIRECT || insn->flow == INSN_FLOW_STOP)
			break;
	}
	return added;
}

uint32_t cfg_code_find(const struct cfg_code *code, uint64_t address)
{
	const struct cfg_code_part *part = part_at(code, address);

	return part != NULL ? cfg_code_do_find(code, part, code->count, address) : CFG_CODE_NONE;
}

bool cfg_code_contains(const struct cfg_code *code, uint64_t address)
{
	return part_at(code, address) != NULL;
}

uint32_t cfg_code_next(const struct cfg_code *code, uint32_t insn)
{
	uint64_t address = code->insns[insn].address + code->insns[insn].bytes;

	do {
		insn++;
	} while (insn < code->count && code->insns[insn].address < address);
	return insn < code->count && code->insns[insn].address == address ? insn : CFG_CODE_NONE;
}

bool cfg_code_is_padding(const struct insn *insn)
{
	return insn->class == INSN_NOP || insn->flow == INSN_FLOW_STOP;
}
