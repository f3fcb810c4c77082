// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/bursts/bursts_recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/profile/recording_builder.h"
#include "lib/array.h"
#include "lib/cleanup.h"

/* --- to a recording ------------------------------------------------------- */

/* A recording being built. @rows: for each instruction of the map its row + 1, 0: none. */
struct part_lists {
	struct recording_builder *builder;
	const struct bursts_map *map;
	uint64_t *rows;
	bursts_offset_fn offset_of;
	const void *context;
};

static uint64_t offset_in(const struct part_lists *part_lists, uint64_t address)
{
	uint64_t offset = 0;

	part_lists->offset_of(part_lists->context, address, &offset);
	return offset;
}

static uint64_t count_used(const struct part_lists *part_lists,
			   const struct bursts_procedure *procedure)
{
	uint64_t used = 0;

	for (uint32_t i = 0; i < procedure->count; i++)
		used += part_lists->rows[procedure->first + i] > 0;
	return used;
}

static void put_procedures(const struct part_lists *part_lists)
{
	recording_builder_table(part_lists->builder, PROFILE_BURSTS_PROCEDURE_COLUMNS);
	for (size_t p = 0; p < part_lists->map->procedure_count; p++) {
		const struct bursts_procedure *procedure = &part_lists->map->procedures[p];
		uint64_t used = count_used(part_lists, procedure);

		if (used == 0)
			continue;
		recording_builder_row(part_lists->builder,
				      (uint64_t[PROFILE_BURSTS_PROCEDURE_COLUMNS]){
					      [PROFILE_PROCEDURE_NAME] = recording_builder_text(
						      part_lists->builder, procedure->name),
					      [PROFILE_PROCEDURE_ADDRESS] = procedure->address,
					      [PROFILE_PROCEDURE_OFFSET] =
						      offset_in(part_lists, procedure->address),
					      [PROFILE_BURSTS_COUNT] = used,
				      });
	}
}

/* The instructions are sorted by procedure in the map, too. */
static void put_instructions(const struct part_lists *part_lists)
{
	uint64_t row = 0;

	recording_builder_table(part_lists->builder, PROFILE_INSTRUCTION_COLUMNS);
	for (size_t i = 0; i < part_lists->map->reference_count; i++) {
		uint64_t address = part_lists->map->references[i];

		if (part_lists->rows[i] == 0)
			continue;
		part_lists->rows[i] = ++row;
		recording_builder_row(
			part_lists->builder,
			(uint64_t[PROFILE_INSTRUCTION_COLUMNS]){
				[PROFILE_INSTRUCTION_ADDRESS] = address,
				[PROFILE_INSTRUCTION_OFFSET] = offset_in(part_lists, address),
			});
	}
}

static void put_references(const struct part_lists *part_lists,
			   const struct bursts_profile *profile)
{
	recording_builder_table(part_lists->builder, PROFILE_REFERENCE_COLUMNS);
	for (size_t i = 0; i < profile->count; i++) {
		const struct bursts_reference *reference = &profile->all[i];

		if (reference->address > PROFILE_RECORDING_VALUE_MAX)
			continue;
		recording_builder_row(part_lists->builder,
				      (uint64_t[PROFILE_REFERENCE_COLUMNS]){
					      [PROFILE_REFERENCE_INSTRUCTION] =
						      part_lists->rows[reference->number] - 1,
					      [PROFILE_REFERENCE_ADDRESS] = reference->address,
					      [PROFILE_REFERENCE_BURST] = reference->burst,
					      [PROFILE_REFERENCE_THREAD] = reference->thread,
				      });
	}
}

static void bursts_recording_put_head(const struct part_lists *part_lists,
				      const struct bursts_profile *profile, size_t processes,
				      uint64_t left_out)
{
	recording_builder_table(part_lists->builder, PROFILE_BURSTS_HEAD_COLUMNS);
	recording_builder_row(part_lists->builder,
			      (uint64_t[PROFILE_BURSTS_HEAD_COLUMNS]){
				      [PROFILE_HEAD_PROCESSES] = processes,
				      [PROFILE_HEAD_THREADS] = profile->threads,
				      [PROFILE_HEAD_SHARED] = profile->shared,
				      [PROFILE_BURSTS_CHECKS] = part_lists->map->checks,
				      [PROFILE_BURSTS_RECORDS] = part_lists->map->records,
				      [PROFILE_BURSTS_BURSTS] = profile->bursts,
				      [PROFILE_BURSTS_LOST] = profile->lost + left_out,
			      });
}

void bursts_recording_make(struct recording_builder *builder, const struct bursts_map *map,
			   const struct bursts_profile *profile, size_t processes,
			   bursts_offset_fn offset_of, const void *context)
{
	_cleanup_free_ uint64_t *rows = calloc(map->reference_count + 1, sizeof(*rows));
	const struct part_lists part_lists = {builder, map, rows, offset_of, context};
	uint64_t left_out = 0;

	if (rows == NULL) {
		builder->failed = true;
		return;
	}
	for (size_t i = 0; i < profile->count; i++) {
		if (profile->all[i].address > PROFILE_RECORDING_VALUE_MAX)
			left_out++;
		else
			rows[profile->all[i].number] = 1;
	}
	bursts_recording_put_head(&part_lists, profile, processes, left_out);
	put_procedures(&part_lists);
	put_instructions(&part_lists);
	put_references(&part_lists, profile);
}

/* --- from a recording ----------------------------------------------------- */

void bursts_recorded_deinit(struct bursts_recorded *recorded)
{
	bursts_map_deinit(&recorded->map);
	bursts_profile_deinit(&recorded->profile);
	free(recorded->instructions);
	u64_map_deinit(&recorded->procedures);
	*recorded = (struct bursts_recorded){0};
}

static bool bursts_recording_is_complete(const struct profile_recording *recording)
{
	return profile_recording_has(recording, PROFILE_BURSTS_HEAD, PROFILE_BURSTS_HEAD_COLUMNS) &&
	       recording->tables[PROFILE_BURSTS_HEAD].rows == 1 &&
	       profile_recording_has(recording, PROFILE_BURSTS_PROCEDURES,
				     PROFILE_BURSTS_PROCEDURE_COLUMNS) &&
	       profile_recording_has(recording, PROFILE_BURSTS_INSTRUCTIONS,
				     PROFILE_INSTRUCTION_COLUMNS) &&
	       profile_recording_has(recording, PROFILE_BURSTS_REFERENCES,
				     PROFILE_REFERENCE_COLUMNS);
}

/* Return: index of the procedure, or UINT32_MAX: no memory. */
static uint32_t procedure_of(struct bursts_recorded *recorded, uint64_t address, const char *name)
{
	uint64_t *at = u64_map_insert(&recorded->procedures, address);

	if (at == NULL)
		return UINT32_MAX;
	if (*at == 0 && bursts_map_add(&recorded->map, name, address, NULL, 0) == 0)
		*at = recorded->map.procedure_count;
	if (*at > 0)
		return (uint32_t)(*at - 1);
	u64_map_remove(&recorded->procedures, address);
	return UINT32_MAX;
}

/* Add the instructions of a procedure, from a row on. */
static int add_instructions(struct bursts_recorded *recorded,
			    const struct profile_recording_table *table, size_t from,
			    uint64_t count, uint32_t procedure)
{
	uint64_t last = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t address =
			profile_recording_row(table, from + i)[PROFILE_INSTRUCTION_ADDRESS];

		if (i > 0 && address <= last)
			return -EBADMSG;
		last = address;
		recorded->instructions[recorded->instruction_count++] =
			(struct bursts_instruction){procedure, address};
	}
	return 0;
}

static int add_procedures(struct bursts_recorded *recorded,
			  const struct profile_recording *recording)
{
	const struct profile_recording_table *table = &recording->tables[PROFILE_BURSTS_PROCEDURES];
	const struct profile_recording_table *instructions =
		&recording->tables[PROFILE_BURSTS_INSTRUCTIONS];
	size_t from = 0;
	int r = 0;

	if (recorded->instruction_count + instructions->rows > INT32_MAX ||
	    recorded->map.procedure_count + table->rows > INT32_MAX)
		return -EBADMSG;
	if (array_reserve(&recorded->instructions, &recorded->instruction_capacity,
			  recorded->instruction_count + instructions->rows,
			  sizeof(*recorded->instructions)) < 0)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < table->rows; i++) {
		const uint64_t *row = profile_recording_row(table, i);
		uint32_t procedure;

		if (row[PROFILE_PROCEDURE_NAME] >= recording->text_count ||
		    row[PROFILE_BURSTS_COUNT] > instructions->rows - from)
			return -EBADMSG;
		procedure = procedure_of(recorded, row[PROFILE_PROCEDURE_ADDRESS],
					 recording->texts[row[PROFILE_PROCEDURE_NAME]]);
		if (procedure == UINT32_MAX)
			return -ENOMEM;
		r = add_instructions(recorded, instructions, from, row[PROFILE_BURSTS_COUNT],
				     procedure);
		from += row[PROFILE_BURSTS_COUNT];
	}
	return r == 0 && from != instructions->rows ? -EBADMSG : r;
}

/* @first: number of the recording's first instruction. */
static int add_references(struct bursts_recorded *recorded,
			  const struct profile_recording *recording, size_t first, uint64_t threads)
{
	const struct profile_recording_table *table = &recording->tables[PROFILE_BURSTS_REFERENCES];
	size_t instructions = recording->tables[PROFILE_BURSTS_INSTRUCTIONS].rows;
	struct bursts_profile *profile = &recorded->profile;

	if (array_reserve(&profile->all, &profile->capacity, profile->count + table->rows,
			  sizeof(*profile->all)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < table->rows; i++) {
		const uint64_t *row = profile_recording_row(table, i);

		if (row[PROFILE_REFERENCE_INSTRUCTION] >= instructions ||
		    row[PROFILE_REFERENCE_THREAD] >= threads || row[PROFILE_REFERENCE_BURST] == 0 ||
		    row[PROFILE_REFERENCE_BURST] > UINT32_MAX)
			return -EBADMSG;
		profile->all[profile->count++] = (struct bursts_reference){
			.address = row[PROFILE_REFERENCE_ADDRESS],
			.number = (uint32_t)(first + row[PROFILE_REFERENCE_INSTRUCTION]),
			.burst = (uint32_t)row[PROFILE_REFERENCE_BURST],
			.thread = profile->threads + (uint32_t)row[PROFILE_REFERENCE_THREAD],
		};
	}
	return 0;
}

static int bursts_recording_set_heading(struct bursts_map *map, const uint64_t *head,
					const char *path)
{
	if (head[PROFILE_BURSTS_CHECKS] > INT32_MAX || head[PROFILE_BURSTS_RECORDS] > INT32_MAX)
		return -EBADMSG;
	if (map->path != NULL)
		return map->checks == head[PROFILE_BURSTS_CHECKS] &&
				       map->records == head[PROFILE_BURSTS_RECORDS]
			       ? 0
			       : -EINVAL;
	map->path = strdup(path);
	map->checks = (uint32_t)head[PROFILE_BURSTS_CHECKS];
	map->records = (uint32_t)head[PROFILE_BURSTS_RECORDS];
	return map->path != NULL ? 0 : -ENOMEM;
}

int bursts_recorded_add(struct bursts_recorded *recorded, const struct profile_recording *recording,
			const char *path)
{
	struct bursts_profile *profile = &recorded->profile;
	size_t first = recorded->instruction_count;
	const uint64_t *head;
	int r;

	if (!bursts_recording_is_complete(recording))
		return -EBADMSG;
	head = profile_recording_row(&recording->tables[PROFILE_BURSTS_HEAD], 0);
	if (head[PROFILE_HEAD_THREADS] > UINT32_MAX - profile->threads)
		return -EBADMSG;
	r = bursts_recording_set_heading(&recorded->map, head, path);
	if (r == 0)
		r = add_procedures(recorded, recording);
	if (r == 0)
		r = add_references(recorded, recording, first, head[PROFILE_HEAD_THREADS]);
	if (r < 0)
		return r;
	profile->threads += (uint32_t)head[PROFILE_HEAD_THREADS];
	profile->shared += head[PROFILE_HEAD_SHARED];
	profile->bursts += head[PROFILE_BURSTS_BURSTS];
	profile->lost += head[PROFILE_BURSTS_LOST];
	return 0;
}

/* --- sums of recordings --------------------------------------------------- */

static int by_place(const void *a, const void *b, void *context)
{
	const struct bursts_instruction *all = context;
	const struct bursts_instruction *x = &all[*(const uint32_t *)a];
	const struct bursts_instruction *y = &all[*(const uint32_t *)b];

	if (x->procedure != y->procedure)
		return x->procedure < y->procedure ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

/* @order: the instructions' numbers, in sorted order; @numbers: out: their new numbers. */
static void make_map(struct bursts_recorded *recorded, const uint32_t *order, uint32_t *numbers)
{
	struct bursts_instruction *all = recorded->instructions;
	struct bursts_map *map = &recorded->map;

	for (size_t i = 0; i < recorded->instruction_count; i++) {
		if (i == 0 || by_place(&order[i - 1], &order[i], all) != 0) {
			map->procedures[all[order[i]].procedure].count++;
			map->references[map->reference_count++] = all[order[i]].address;
		}
		numbers[order[i]] = (uint32_t)(map->reference_count - 1);
	}
	for (size_t p = 1; p < map->procedure_count; p++)
		map->procedures[p].first =
			map->procedures[p - 1].first + map->procedures[p - 1].count;
}

int bursts_recorded_end(struct bursts_recorded *recorded)
{
	size_t count = recorded->instruction_count;
	_cleanup_free_ uint32_t *order = calloc(count + 1, sizeof(*order));
	_cleanup_free_ uint32_t *numbers = calloc(count + 1, sizeof(*numbers));

	if (order == NULL || numbers == NULL ||
	    array_reserve(&recorded->map.references, &recorded->map.reference_capacity, count + 1,
			  sizeof(*recorded->map.references)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	if (count > 0)
		qsort_r(order, count, sizeof(*order), by_place, recorded->instructions);
	make_map(recorded, order, numbers);
	for (size_t i = 0; i < recorded->profile.count; i++)
		recorded->profile.all[i].number = numbers[recorded->profile.all[i].number];
	return 0;
}
