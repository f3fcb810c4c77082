// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/dead_lines.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/image_text.h"
#include "lib/array.h"
#include "lib/cleanup.h"

/* An address at which no machine has code. */
#define NOWHERE UINT64_C(0xff00000000000000)

/*
 * struct walk - traversal of all line sequences; each begins by setting an address
 * @code:   ranges of code
 * @change: move dead sequences; otherwise only count them
 */
struct walk {
	struct image_range *code;
	size_t count;
	size_t capacity;
	bool change;
	size_t dead;
};

/* struct bytes - bytes that remain to be read; @bad: they ended too early */
struct bytes {
	uint8_t *at;
	uint8_t *end;
	bool bad;
};

static uint64_t dead_lines_take(struct bytes *bytes, size_t count)
{
	uint64_t value = 0;

	if ((size_t)(bytes->end - bytes->at) < count) {
		bytes->bad = true;
		bytes->at = bytes->end;
		return 0;
	}
	memcpy(&value, bytes->at, count < sizeof(value) ? count : sizeof(value));
	bytes->at += count;
	return value;
}

static uint64_t take_leb128(struct bytes *bytes)
{
	uint64_t value = 0, byte = 0x80;

	for (unsigned int shift = 0; (byte & 0x80) != 0 && !bytes->bad; shift += 7) {
		byte = dead_lines_take(bytes, 1);
		value |= shift < 64 ? (byte & 0x7f) << shift : 0;
	}
	return value;
}

static int find_code(struct walk *walk, const struct elf_file *file)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(file->elf, section)) != NULL) {
		uint64_t end;

		if (gelf_getshdr(section, &header) == NULL ||
		    (header.sh_flags & SHF_EXECINSTR) == 0 ||
		    __builtin_add_overflow(header.sh_addr, header.sh_size, &end))
			continue;
		if (array_reserve(&walk->code, &walk->capacity, walk->count + 1,
				  sizeof(*walk->code)) < 0)
			return -ENOMEM;
		walk->code[walk->count++] = (struct image_range){header.sh_addr, end};
	}
	return 0;
}

/* Return true if an address is in code or at its end. */
static bool is_code(const struct walk *walk, uint64_t address)
{
	for (size_t i = 0; i < walk->count; i++)
		if (address >= walk->code[i].start && address <= walk->code[i].end)
			return true;
	return false;
}

static void visit_sequence(struct walk *walk, uint8_t *place)
{
	const uint64_t nowhere = NOWHERE;
	uint64_t address;

	memcpy(&address, place, sizeof(address));
	if (is_code(walk, address))
		return;
	walk->dead++;
	if (walk->change)
		memcpy(place, &nowhere, sizeof(nowhere));
}

static void walk_extended(struct walk *walk, struct bytes *program)
{
	uint64_t length = take_leb128(program);
	uint8_t *start = program->at;

	if (length == 0 || length > (size_t)(program->end - start)) {
		program->bad = true;
		return;
	}
	if (*start == DW_LNE_set_address && length == 1 + sizeof(uint64_t))
		visit_sequence(walk, start + 1);
	program->at = start + length;
}

/* @arguments: number of operands of each standard opcode, from the first on. */
static void walk_program(struct walk *walk, struct bytes *program, uint8_t opcode_base,
			 const uint8_t *arguments)
{
	while (program->at < program->end && !program->bad) {
		uint8_t opcode = (uint8_t)dead_lines_take(program, 1);

		if (opcode >= opcode_base)
			continue;
		if (opcode == 0)
			walk_extended(walk, program);
		else if (opcode == DW_LNS_fixed_advance_pc)
			dead_lines_take(program, 2);
		else
			for (uint8_t i = 0; i < arguments[opcode - 1]; i++)
				take_leb128(program);
	}
}

/* Visit the line program of one unit. */
static void walk_unit(struct walk *walk, struct bytes *unit, bool wide)
{
	struct bytes header;
	uint64_t version = dead_lines_take(unit, 2), length;
	uint8_t opcode_base;

	if (version < 2 || version > 5)
		return;
	if (version == 5)
		dead_lines_take(unit, 2); /* sizes of addresses and segment selectors */
	length = dead_lines_take(unit, wide ? 8 : 4);
	if (length > (size_t)(unit->end - unit->at))
		return;
	header = (struct bytes){unit->at, unit->at + length, false};
	unit->at += length;
	/*
	 * minimum_instruction_length, maximum_operations_per_instruction, default_is_stmt,
	 * line_base, line_range
	 */
	dead_lines_take(&header, version >= 4 ? 5 : 4);
	opcode_base = (uint8_t)dead_lines_take(&header, 1);
	if (opcode_base > 0 && (size_t)(header.end - header.at) >= opcode_base - 1U)
		walk_program(walk, unit, opcode_base, header.at);
}

static void walk_section(struct walk *walk, struct bytes section)
{
	while (section.at < section.end && !section.bad) {
		uint64_t length = dead_lines_take(&section, 4);
		bool wide = length == UINT32_MAX;
		struct bytes unit;

		if (wide)
			length = dead_lines_take(&section, 8);
		if (length > (size_t)(section.end - section.at))
			return;
		unit = (struct bytes){section.at, section.at + length, false};
		section.at += length;
		walk_unit(walk, &unit, wide);
	}
}

static void walk_deinit(struct walk *walk)
{
	free(walk->code);
}

int dead_lines_move(struct dead_lines *lines, const struct elf_file *file)
{
	_cleanup_(walk_deinit) struct walk walk = {0};
	GElf_Shdr header;
	Elf_Scn *section = elf_file_section(file, ".debug_line", &header);
	Elf_Data *data = NULL;

	if (section == NULL || header.sh_type == SHT_NOBITS)
		return 0;
	/* Decompress as libdw does on opening; libdw then finds the section decompressed. */
	if ((header.sh_flags & SHF_COMPRESSED) == 0 || elf_compress(section, 0, 0) >= 0)
		data = elf_getdata(section, NULL);
	if (data == NULL || data->d_buf == NULL || data->d_size == 0)
		return 0;
	if (find_code(&walk, file) < 0)
		return -ENOMEM;
	if (walk.count == 0)
		return 0;
	walk_section(&walk,
		     (struct bytes){data->d_buf, (uint8_t *)data->d_buf + data->d_size, false});
	if (walk.dead == 0)
		return 0;
	lines->changed = malloc(data->d_size);
	if (lines->changed == NULL)
		return -ENOMEM;
	memcpy(lines->changed, data->d_buf, data->d_size);
	walk.change = true;
	walk_section(&walk, (struct bytes){lines->changed, lines->changed + data->d_size, false});
	lines->data = data;
	lines->old = data->d_buf;
	data->d_buf = lines->changed;
	return 0;
}

void dead_lines_restore(struct dead_lines *lines)
{
	if (lines->data != NULL)
		lines->data->d_buf = lines->old;
	free(lines->changed);
	*lines = (struct dead_lines){0};
}
