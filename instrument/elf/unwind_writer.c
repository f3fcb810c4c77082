// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/elf/unwind_writer.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/elf/unwind_cie.h"
#include "instrument/elf/unwind_program.h"
#include "lib/array.h"

#define DWARF_RSP 7
#define DWARF_RETURN_ADDRESS 16
/* Offsets of fields in an entry that a linker wrote; the length comes first. */
#define LINKED_CIE 4
#define LINKED_START 8
#define LINKED_RANGE 12

int unwind_writer_init(struct unwind_writer *writer, const struct unwind_frames *frames,
		       uint64_t address)
{
	*writer = (struct unwind_writer){.frames = frames, .address = address};
	writer->cies = calloc(2 * frames->cie_count + 1, sizeof(*writer->cies));
	return writer->cies != NULL ? 0 : -ENOMEM;
}

void unwind_writer_deinit(struct unwind_writer *writer)
{
	free(writer->data);
	free(writer->index);
	free(writer->cies);
	*writer = (struct unwind_writer){0};
}

static void unwind_writer_put(struct unwind_writer *writer, const void *bytes, size_t count)
{
	if (writer->failed ||
	    array_reserve(&writer->data, &writer->capacity, writer->bytes + count, 1) < 0) {
		writer->failed = true;
		return;
	}
	memcpy(writer->data + writer->bytes, bytes, count);
	writer->bytes += count;
}

static void put_u8(struct unwind_writer *writer, uint8_t value)
{
	unwind_writer_put(writer, &value, sizeof(value));
}

static void unwind_writer_put_u32(struct unwind_writer *writer, uint32_t value)
{
	unwind_writer_put(writer, &value, sizeof(value));
}

static void put_leb128(struct unwind_writer *writer, uint64_t value)
{
	uint8_t bytes[VARINT_BYTES_MAX];

	unwind_writer_put(writer, bytes, varint_write(bytes, value));
}

static void put_signed_leb128(struct unwind_writer *writer, int64_t value)
{
	bool more = true;

	while (more) {
		uint8_t byte = (uint8_t)(value & 0x7f);

		value >>= 7;
		more = !((value == 0 && !(byte & 0x40)) || (value == -1 && (byte & 0x40)));
		put_u8(writer, (uint8_t)(byte | (more ? 0x80 : 0)));
	}
}

/* Finish the entry whose length field is at @start. */
static void end_entry(struct unwind_writer *writer, size_t start)
{
	uint32_t length;

	while (!writer->failed && (writer->bytes - start) % 8 != 0)
		put_u8(writer, DW_CFA_nop);
	if (writer->failed)
		return;
	length = (uint32_t)(writer->bytes - start - sizeof(length));
	memcpy(writer->data + start, &length, sizeof(length));
}

/* Write an address as a relative distance of four bytes. */
static void put_relative(struct unwind_writer *writer, uint64_t target)
{
	int64_t distance = (int64_t)(target - (writer->address + writer->bytes));

	writer->failed |= distance != (int32_t)distance;
	unwind_writer_put_u32(writer, (uint32_t)distance);
}

static void put_augmentation(struct unwind_writer *writer, const struct unwind_cie *cie,
			     bool handles)
{
	put_leb128(writer, handles ? 7 : 1);
	if (handles) {
		put_u8(writer, (uint8_t)((cie->personality_encoding & DW_EH_PE_indirect) |
					 DW_EH_PE_pcrel | DW_EH_PE_sdata4));
		put_relative(writer, cie->personality);
		put_u8(writer, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	}
	put_u8(writer, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
}

/* Frames without handlers need no personality. */
static size_t put_cie(struct unwind_writer *writer, uint32_t number, bool handles)
{
	static const char *const augmentations[] = {"zR", "zRS", "zPLR", "zPLRS"};
	const struct unwind_cie *cie = &writer->frames->cies[number];
	uint32_t *known = &writer->cies[2 * number + handles];
	const char *augmentation = augmentations[2 * handles + cie->signal];
	size_t start = writer->bytes;

	if (*known != 0)
		return *known - 1;
	*known = (uint32_t)start + 1;
	unwind_writer_put_u32(writer, 0);
	unwind_writer_put_u32(writer, 0); /* marks a CIE */
	put_u8(writer, 1);
	unwind_writer_put(writer, augmentation, strlen(augmentation) + 1);
	put_leb128(writer, cie->code_align);
	put_signed_leb128(writer, cie->data_align);
	put_u8(writer, (uint8_t)cie->return_register);
	put_augmentation(writer, cie, handles);
	unwind_writer_put(writer, cie->program, cie->program_bytes);
	end_entry(writer, start);
	return start;
}

static void put_advance(struct unwind_writer *writer, uint64_t bytes)
{
	if (bytes == 0)
		return;
	if (bytes < 0x40) {
		put_u8(writer, (uint8_t)(DW_CFA_advance_loc | bytes));
	} else if (bytes <= UINT8_MAX) {
		put_u8(writer, DW_CFA_advance_loc1);
		put_u8(writer, (uint8_t)bytes);
	} else {
		put_u8(writer, DW_CFA_advance_loc4);
		unwind_writer_put_u32(writer, (uint32_t)bytes);
	}
}

/* Describe registers as unchanged after they were popped, or as saved where the program has
 * them. */
static void put_popped(struct unwind_writer *writer, struct unwind_program *program,
		       uint32_t registers, bool popped)
{
	for (unsigned int reg = 0; registers >> reg != 0; reg++) {
		if (!(registers & 1U << reg))
			continue;
		put_u8(writer, popped ? DW_CFA_same_value : DW_CFA_offset_extended_sf);
		put_leb128(writer, reg);
		if (!popped)
			put_signed_leb128(writer, program->state.at[reg]);
	}
	program->popped = popped ? program->popped | registers : program->popped & ~registers;
}

/* If the CFA is relative to the stack pointer, add the bytes that inserted code has pushed. */
static void put_depth(struct unwind_writer *writer, struct unwind_program *program, uint32_t depth)
{
	if (program->depth == depth || !unwind_program_lowers(program))
		return;
	put_u8(writer, DW_CFA_def_cfa_offset);
	put_leb128(writer, (uint64_t)program->state.offset + depth);
	if (depth > 0)
		put_popped(writer, program, unwind_program_popped(program) & ~program->popped,
			   true);
	program->depth = depth;
}

static void put_row(struct unwind_writer *writer, struct unwind_program *program,
		    const struct unwind_row *row)
{
	uint32_t popped = program->popped;
	const uint8_t *begin, *end;

	if (program->at <= row->old) {
		put_depth(writer, program, 0);
		put_popped(writer, program, popped, false);
	}
	while (unwind_program_step(program, row->old, &begin, &end))
		unwind_writer_put(writer, begin, (size_t)(end - begin));
	put_popped(writer, program, popped & unwind_program_popped(program) & ~program->popped,
		   true);
	put_depth(writer, program, row->depth);
}

static void put_program(struct unwind_writer *writer, const struct unwind_frame *frame,
			const struct unwind_row *rows, size_t count)
{
	struct unwind_program program;

	unwind_program_init(&program, writer->frames, frame);
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			put_advance(writer, rows[i].address - rows[i - 1].address);
		put_row(writer, &program, &rows[i]);
		if (i == 0)
			put_popped(writer, &program,
				   unwind_program_popped(&program) & ~program.popped, true);
	}
}

static void add_index(struct unwind_writer *writer, uint64_t code, uint64_t entry)
{
	if (writer->failed || array_reserve(&writer->index, &writer->index_capacity,
					    writer->index_count + 1, sizeof(*writer->index)) < 0) {
		writer->failed = true;
		return;
	}
	writer->index[writer->index_count][0] = code;
	writer->index[writer->index_count++][1] = entry;
}

/* Find the call-site records of the rows. Adjacent rows of one original record share a new
 * record. */
static size_t find_calls(const struct handler_table *table, const struct unwind_row *rows,
			 size_t count, uint64_t end, struct handler_calls *calls)
{
	const struct handler_calls *old = NULL;
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		const struct handler_calls *now = handler_table_find(table, rows[i].old);
		uint64_t row_end = i + 1 < count ? rows[i + 1].address : end;

		if (now != NULL && now == old)
			calls[found - 1].end = row_end;
		else if (now != NULL)
			calls[found++] = (struct handler_calls){.start = rows[i].address,
								.end = row_end,
								.pad = now->pad,
								.action = now->action};
		old = now;
	}
	return found;
}

static int put_table(struct unwind_writer *writer, const struct handler_table *table,
		     const struct unwind_row *rows, size_t count, uint64_t end)
{
	struct handler_calls *calls = malloc(count * sizeof(*calls));
	int r;

	if (calls == NULL)
		return -ENOMEM;
	r = handler_table_write(table, calls, find_calls(table, rows, count, end, calls),
				&writer->data, &writer->bytes, &writer->capacity, writer->address,
				rows->address);
	free(calls);
	return r;
}

uint64_t unwind_writer_add_table(struct unwind_writer *writer, const struct unwind_frame *frame,
				 const struct unwind_row *rows, size_t count, uint64_t end)
{
	uint64_t address = writer->address + writer->bytes;
	struct handler_table table;
	int r = unwind_frame_table(&table, writer->frames, frame);

	if (r == -ENOENT)
		return 0;
	if (r == 0) {
		r = put_table(writer, &table, rows, count, end);
		handler_table_deinit(&table);
	}
	while (r == 0 && !writer->failed && writer->bytes % 8 != 0)
		put_u8(writer, 0);
	writer->tables = writer->bytes;
	writer->failed |= r < 0;
	return r == 0 ? address : 0;
}

void unwind_writer_add(struct unwind_writer *writer, const struct unwind_frame *frame,
		       const struct unwind_row *rows, size_t count, uint64_t end, uint64_t table)
{
	size_t cie = put_cie(writer, frame->cie, table != 0);
	size_t entry = writer->bytes;

	unwind_writer_put_u32(writer, 0);
	unwind_writer_put_u32(writer, (uint32_t)(writer->bytes - cie));
	unwind_writer_put_u32(writer,
			      (uint32_t)(rows->address - (writer->address + writer->bytes)));
	unwind_writer_put_u32(writer, (uint32_t)(end - rows->address));
	put_leb128(writer, table != 0 ? 4 : 0);
	if (table != 0)
		put_relative(writer, table);
	put_program(writer, frame, rows, count);
	end_entry(writer, entry);
	add_index(writer, rows->address, writer->address + entry);
}

/* Initial rules of all compilers' procedures: the CFA is rsp + 8, with the return address below
 * it. */
static bool is_usual(const struct unwind_cie *cie)
{
	static const uint8_t usual[] = {DW_CFA_def_cfa, DWARF_RSP, 8,
					DW_CFA_offset | DWARF_RETURN_ADDRESS, 1};

	if (cie->bad || cie->signal || cie->data_align != -8 ||
	    cie->program_bytes < sizeof(usual) || memcmp(cie->program, usual, sizeof(usual)) != 0)
		return false;
	for (size_t i = sizeof(usual); i < cie->program_bytes; i++) {
		if (cie->program[i] != DW_CFA_nop)
			return false;
	}
	return true;
}

void unwind_writer_add_plain(struct unwind_writer *writer, const struct unwind_row *rows,
			     size_t count, uint64_t end)
{
	struct unwind_frame frame = {.start = rows->old, .bytes = end - rows->old};

	while (frame.cie < writer->frames->cie_count && !is_usual(&writer->frames->cies[frame.cie]))
		frame.cie++;
	if (frame.cie < writer->frames->cie_count)
		unwind_writer_add(writer, &frame, rows, count, end, 0);
}

/* @linked: offset of the entry from the code, when they were linked */
static void put_linked(struct unwind_writer *writer, const uint8_t *entry, size_t bytes,
		       uint64_t code, uint64_t linked)
{
	uint64_t address = writer->address + writer->bytes;
	uint32_t cie;
	int32_t distance;

	memcpy(&cie, entry + LINKED_CIE, sizeof(cie));
	if (cie == 0) {
		unwind_writer_put(writer, entry, bytes);
		return;
	}
	memcpy(&distance, entry + LINKED_START, sizeof(distance));
	code += linked + LINKED_START + (uint64_t)(int64_t)distance;
	unwind_writer_put(writer, entry, LINKED_START);
	put_relative(writer, code);
	unwind_writer_put(writer, entry + LINKED_RANGE, bytes - LINKED_RANGE);
	add_index(writer, code, address);
}

void unwind_writer_add_linked(struct unwind_writer *writer, const uint8_t *frames, size_t bytes,
			      uint64_t code, uint64_t distance)
{
	uint32_t length;

	for (size_t at = 0; bytes - at >= LINKED_RANGE; at += length) {
		memcpy(&length, frames + at, sizeof(length));
		length += (uint32_t)sizeof(length);
		if (length < LINKED_RANGE || length > bytes - at)
			return;
		put_linked(writer, frames + at, length, code, distance + at);
	}
}

static int by_code(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (x[0] > y[0]) - (x[0] < y[0]);
}

int unwind_writer_end(struct unwind_writer *writer, uint64_t *index, size_t *index_bytes)
{
	static const uint8_t head[] = {1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_udata4,
				       DW_EH_PE_datarel | DW_EH_PE_sdata4};
	size_t start;

	unwind_writer_put_u32(writer, 0); /* terminator */
	while (!writer->failed && writer->bytes % 8 != 0)
		put_u8(writer, 0);
	start = writer->bytes;
	*index = writer->address + start;
	for (size_t i = 0; i < writer->frames->count; i++) {
		if (writer->frames->all[i].entry != 0)
			add_index(writer, writer->frames->all[i].start,
				  writer->frames->all[i].entry);
	}
	if (writer->index_count > 0)
		qsort(writer->index, writer->index_count, sizeof(*writer->index), by_code);
	unwind_writer_put(writer, head, sizeof(head));
	put_relative(writer, writer->address + writer->tables);
	unwind_writer_put_u32(writer, (uint32_t)writer->index_count);
	for (size_t i = 0; i < writer->index_count; i++) {
		for (int k = 0; k < 2; k++) {
			int64_t distance = (int64_t)(writer->index[i][k] - *index);

			if (distance != (int32_t)distance)
				return -ERANGE;
			unwind_writer_put_u32(writer, (uint32_t)distance);
		}
	}
	*index_bytes = writer->bytes - start;
	return writer->failed ? -ENOMEM : 0;
}
