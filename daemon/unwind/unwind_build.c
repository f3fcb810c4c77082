// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/unwind/unwind_build.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/unwind/unwind_encode.h"
#include "daemon/unwind/unwind_frames.h"
#include "daemon/unwind/unwind_select.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/partition_point.h"
#include "lib/u64_map.h"

/*
 * @table: under construction: its counts are those of complete elements
 * @rows:  of the table, with offsets from its first page
 * @known: hash of a rule to its number, plus 1
 * @last:  offset of the last row
 * @delta: of the current frame description: offset in the file minus address
 * @limit: where the next description begins, address
 */
struct build {
	const struct unwind_elf *elf;
	struct unwind_table *table;
	struct unwind_row *rows;
	size_t row_capacity;
	size_t rule_capacity;
	struct u64_map known;
	uint64_t last;
	uint64_t delta;
	uint64_t limit;
};

/* Return: the number of a rule; UNWIND_RULE_UNKNOWN if there are too many; -ENOMEM. */
static int rule_number(struct build *build, const struct unwind_rule *rule)
{
	uint64_t *known, hash = unwind_rule_hash(rule);
	struct unwind_table *table = build->table;

	for (;; hash++) {
		known = u64_map_insert(&build->known, hash);
		if (known == NULL)
			return -ENOMEM;
		if (*known == 0)
			break;
		if (memcmp(&table->rules[*known - 1], rule, sizeof(*rule)) == 0)
			return (int)(*known - 1);
	}
	if (table->rule_count == UNWIND_RULES_MAX) {
		*known = UNWIND_RULE_UNKNOWN + 1;
		return UNWIND_RULE_UNKNOWN;
	}
	if (array_reserve(&table->rules, &build->rule_capacity, table->rule_count + 1,
			  sizeof(*rule)) < 0)
		return -ENOMEM;
	table->rules[table->rule_count++] = *rule;
	*known = table->rule_count;
	return (int)table->rule_count - 1;
}

/* Offsets ascend. A row at the offset of the previous one replaces it. */
static int row_add(struct build *build, uint64_t offset, uint16_t rule)
{
	struct unwind_table *table = build->table;
	struct unwind_row *last = table->row_count > 0 ? &build->rows[table->row_count - 1] : NULL;

	if (last != NULL && offset <= build->last) {
		last->rule = offset == build->last ? rule : last->rule;
		return 0;
	}
	if (last != NULL && last->rule == rule)
		return 0;
	if (last == NULL)
		table->first_page = offset >> UNWIND_PAGE_SHIFT;
	if (table->row_count == UNWIND_ROWS_MAX ||
	    (offset >> UNWIND_PAGE_SHIFT) - table->first_page >= UNWIND_PAGES_MAX)
		return -EFBIG;
	if (array_reserve(&build->rows, &build->row_capacity, (size_t)table->row_count + 1,
			  sizeof(*build->rows)) < 0)
		return -ENOMEM;
	build->rows[table->row_count++] = (struct unwind_row){
		(uint32_t)(offset - (table->first_page << UNWIND_PAGE_SHIFT)), rule};
	build->last = offset;
	return 0;
}

static int row_take(void *context, uint64_t address, const struct unwind_rule *rule)
{
	struct build *build = context;
	int number;

	if (address >= build->limit)
		return 0;
	number = rule_number(build, rule);
	return number < 0 ? number : row_add(build, address + build->delta, (uint16_t)number);
}

/* @next: the description that follows; NULL: none */
static int frame_build(struct build *build, const struct unwind_frames *frames,
		       const struct unwind_frame *frame, const struct unwind_frame *next)
{
	const struct unwind_program program = {
		.machine = build->elf->machine,
		.cie = &frames->cies[frame->cie],
		.data = frame->program,
		.bytes = frame->program_bytes,
		.place = frame->place,
		.start = frame->start,
		.end = frame->end,
		.row = row_take,
		.context = build,
	};
	uint64_t offset, last;
	int r;

	if (!unwind_elf_offset(build->elf, frame->start, &offset) ||
	    !unwind_elf_offset(build->elf, frame->end - 1, &last) ||
	    last - offset != frame->end - 1 - frame->start)
		return 0;
	build->delta = offset - frame->start;
	build->limit = next != NULL && next->start < frame->end ? next->start : frame->end;
	r = unwind_program_run(&program);
	return r < 0 ? r : row_add(build, build->limit + build->delta, UNWIND_RULE_NONE);
}

/* Return true if a description of .eh_frame covers any code of one of .debug_frame. */
static bool is_covered(const struct unwind_frames *first, const struct unwind_frame *frame)
{
	size_t begin = partition_point(0, first->count, i, first->frames[i].end <= frame->start);

	return begin < first->count && first->frames[begin].start < frame->end;
}

/* Add the descriptions of .debug_frame that .eh_frame does not make superfluous. */
static int debug_frames_add(struct unwind_frames *frames, const struct unwind_elf *elf)
{
	const struct unwind_frames first = *frames;
	struct unwind_frame *of_first = NULL;
	size_t count = frames->count, kept = count;
	int r = 0;

	if (elf->debug_frame.data == NULL)
		return 0;
	of_first = malloc((count + 1) * sizeof(*of_first));
	if (of_first == NULL)
		return -ENOMEM;
	if (count > 0)
		memcpy(of_first, frames->frames, count * sizeof(*of_first));
	r = unwind_frames_add(frames, elf->machine, &elf->debug_frame, true);
	for (size_t i = count; r == 0 && i < frames->count; i++) {
		if (!is_covered(&(struct unwind_frames){.frames = of_first, .count = first.count},
				&frames->frames[i]))
			frames->frames[kept++] = frames->frames[i];
	}
	frames->count = r == 0 ? kept : frames->count;
	free(of_first);
	return r;
}

/* Describe the code at the entry point, if nothing else does. */
static int entry_add(struct unwind_frames *frames, const struct unwind_elf *elf)
{
	const uint8_t program[] = {DW_CFA_undefined, elf->machine->ra_column};
	struct unwind_frame frame = {.start = elf->entry, .cie = (uint32_t)frames->cie_count};
	struct unwind_cie *cie;
	uint64_t offset;

	frame.end = elf->entry + UNWIND_ENTRY_BYTES;
	if (elf->entry == 0 || !unwind_elf_offset(elf, frame.end, &offset) ||
	    is_covered(frames, &(struct unwind_frame){.start = elf->entry, .end = elf->entry + 1}))
		return 0;
	if (array_reserve(&frames->frames, &frames->capacity, frames->count + 1, sizeof(frame)) <
		    0 ||
	    array_reserve(&frames->cies, &frames->cie_capacity, frames->cie_count + 1,
			  sizeof(*cie)) < 0)
		return -ENOMEM;
	cie = &frames->cies[frames->cie_count++];
	*cie = (struct unwind_cie){
		.code_factor = 1, .program = program, .program_bytes = sizeof(program)};
	unwind_cie_start(cie, elf->machine);
	cie->program = NULL;
	cie->program_bytes = 0;
	frames->frames[frames->count++] = frame;
	return 0;
}

static int frames_read(struct unwind_frames *frames, const struct unwind_elf *elf)
{
	int r = unwind_frames_add(frames, elf->machine, &elf->eh_frame, false);

	if (r < 0)
		return r;
	unwind_frames_sort(frames);
	r = debug_frames_add(frames, elf);
	unwind_frames_sort(frames);
	if (r == 0)
		r = entry_add(frames, elf);
	unwind_frames_sort(frames);
	return r;
}

static int rows_build(struct build *build, const struct unwind_frames *frames)
{
	static const struct unwind_rule none = {.kind = UNWIND_NONE};
	static const struct unwind_rule unknown = {.kind = UNWIND_UNKNOWN};
	int r;

	if (rule_number(build, &none) < 0 || rule_number(build, &unknown) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < frames->count; i++) {
		const struct unwind_frame *next =
			i + 1 < frames->count ? &frames->frames[i + 1] : NULL;

		if (next != NULL && next->start == frames->frames[i].start) {
			/* The first of several descriptions of the same code applies. */
			frames->frames[i + 1] = frames->frames[i];
			continue;
		}
		r = frame_build(build, frames, &frames->frames[i], next);
		if (r < 0)
			return r;
	}
	return build->table->row_count > 0 ? 0 : -ENOENT;
}

/* Remove rows that have the rule of the row before them: replaced rows may. */
static void rows_merge(struct build *build)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < build->table->row_count; i++) {
		if (count == 0 || build->rows[count - 1].rule != build->rows[i].rule)
			build->rows[count++] = build->rows[i];
	}
	build->table->row_count = count;
}

/* Free memory after the last rule. */
static void rules_shrink(struct unwind_table *table)
{
	struct unwind_rule *smaller =
		realloc(table->rules, table->rule_count * sizeof(*table->rules));

	if (smaller != NULL)
		table->rules = smaller;
}

/* Remove the pages that are not wanted. */
static void pages_drop(struct unwind_table *table, const struct unwind_wanted *wanted)
{
	for (uint32_t i = 0; i < table->page_count; i++) {
		if (unwind_wanted_has(wanted, table->first_page + i))
			continue;
		free(table->pages[i]);
		table->pages[i] = NULL;
		table->starts[i] = UNWIND_START_ROWS;
	}
}

int unwind_build(struct unwind_table **ret, const struct unwind_file *file)
{
	return unwind_build_pages(ret, file, NULL);
}

int unwind_build_pages(struct unwind_table **ret, const struct unwind_file *file,
		       const struct unwind_wanted *wanted)
{
	struct unwind_elf elf = {.machine = NULL};
	struct unwind_frames frames = {.count = 0};
	struct build build = {.elf = &elf, .table = calloc(1, sizeof(*build.table))};
	int r = build.table != NULL ? unwind_elf_read(&elf, file) : -ENOMEM;

	if (r == 0)
		r = frames_read(&frames, &elf);
	if (r == 0 && wanted != NULL)
		r = unwind_select(&frames, &elf, wanted);
	if (r == 0)
		r = rows_build(&build, &frames);
	u64_map_deinit(&build.known);
	unwind_frames_deinit(&frames);
	if (r == 0) {
		rows_merge(&build);
		r = unwind_encode(build.table, build.rows);
	}
	if (r == 0) {
		build.table->machine = elf.machine;
		if (wanted != NULL)
			pages_drop(build.table, wanted);
		rules_shrink(build.table);
		*ret = take_ptr(build.table);
	}
	free(build.rows);
	unwind_table_destroy(build.table);
	unwind_elf_deinit(&elf);
	return r;
}
