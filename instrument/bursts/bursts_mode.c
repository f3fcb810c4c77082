// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/bursts/bursts_mode.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/bursts/burst_layout.h"
#include "instrument/bursts/bursts_map.h"
#include "instrument/codegen/block_code.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* The recorded references of a procedure: addresses, and for each instruction its number, or -1. */
struct bursts_plan {
	uint64_t *references;
	size_t count;
	int64_t *numbers;
};

/* Round up so that the area is a multiple of 64 bytes. */
static uint64_t record_capacity(const struct mode_options *options)
{
	uint64_t room = options->room != 0 ? options->room : BURST_RECORDS_DEFAULT;

	return (room + 3) / 4 * 4;
}

static int bursts_begin(struct mode_image *image, struct error *err)
{
	struct bursts_map *map = calloc(1, sizeof(*map));
	const struct mode_options *options = image->options;

	image->data = map;
	image->area_bytes =
		sizeof(struct burst_area) + record_capacity(options) * sizeof(struct burst_record);
	image->bursts.checks = options->checks != 0 ? options->checks : BURSTS_CHECKS_DEFAULT;
	if (options->all)
		image->bursts.checks = 0;
	image->bursts.records = options->burst != 0 ? options->burst : BURSTS_RECORDS_DEFAULT;
	if (map != NULL) {
		map->image = image->number;
		map->checks = image->bursts.checks;
		map->records = image->bursts.records;
		map->path = strdup(image->path);
		map->build_id = strdup(image->build_id);
	}
	if (map == NULL || map->path == NULL || map->build_id == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return 0;
}

static void bursts_end(struct mode_image *image)
{
	if (image->data != NULL)
		bursts_map_deinit(image->data);
	free(image->data);
	image->data = NULL;
}

static bool bursts_mode_is_plain(uint8_t reg)
{
	return reg < 16 || reg == INSN_REG_NONE;
}

static bool is_recorded(const struct insn *insn)
{
	return insn->flags & (INSN_READS_MEMORY | INSN_WRITES_MEMORY) &&
	       insn->class != INSN_STRING && insn->flow == INSN_FLOW_NEXT && !insn->memory.pushes &&
	       !insn->memory.segment && bursts_mode_is_plain(insn->memory.base) &&
	       bursts_mode_is_plain(insn->memory.index);
}

static int bursts_plan(struct mode_plan *plan, struct error *err)
{
	const struct cfg *cfg = plan->procedure->cfg;
	const struct bursts_map *map = plan->image->data;
	struct bursts_plan *bursts = calloc(1, sizeof(*bursts));

	plan->data = bursts;
	if (bursts != NULL) {
		bursts->references = malloc((cfg->insn_count + 1) * sizeof(*bursts->references));
		bursts->numbers = malloc((cfg->insn_count + 1) * sizeof(*bursts->numbers));
	}
	if (bursts == NULL || bursts->references == NULL || bursts->numbers == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	for (uint32_t i = 0; i < cfg->insn_count; i++) {
		bursts->numbers[i] = -1;
		if (!is_recorded(&cfg->insns[i]))
			continue;
		bursts->numbers[i] = (int64_t)(map->reference_count + bursts->count);
		bursts->references[bursts->count++] = cfg->insns[i].address;
	}
	return 0;
}

static void bursts_drop(struct mode_plan *plan)
{
	struct bursts_plan *bursts = plan->data;

	if (bursts == NULL)
		return;
	free(bursts->references);
	free(bursts->numbers);
	free(bursts);
}

static bool bursts_has_code(const struct mode_plan *plan, const struct point *point)
{
	const struct bursts_plan *bursts = plan->data;

	return point->kind == POINT_REFERENCE && bursts->numbers[point->insn] >= 0;
}

/* lea of the instruction's operand. @depth: bytes pushed since the instruction's stack pointer. */
static void emit_address(struct machine_code *code, unsigned int reg,
			 const struct insn_memory *memory, unsigned int depth)
{
	bool based = memory->base != INSN_REG_NONE, indexed = memory->index != INSN_REG_NONE;
	unsigned int base = based ? memory->base : 5, index = indexed ? memory->index : 4;
	uint8_t rex = (uint8_t)(0x48 | (reg >= 8 ? 4 : 0) | (indexed && index >= 8 ? 2 : 0) |
				(based && base >= 8 ? 1 : 0));
	int32_t displacement =
		(int32_t)memory->displacement + (base == MACHINE_RSP ? (int32_t)depth : 0);
	uint8_t relative[] = {rex, 0x8d, (uint8_t)(0x05 | (reg & 7) << 3), 0, 0, 0, 0};
	uint8_t lea[] = {rex,
			 0x8d,
			 (uint8_t)((based ? 0x84 : 0x04) | (reg & 7) << 3),
			 (uint8_t)(memory->scale << 6 | (index & 7) << 3 | (base & 7)),
			 0,
			 0,
			 0,
			 0};

	if (memory->pc_relative) {
		machine_code_relative(code, relative, sizeof(relative), 3,
				      (uint64_t)memory->displacement);
		return;
	}
	memcpy(lea + 4, &displacement, sizeof(displacement));
	machine_code_bytes(code, lea, sizeof(lea));
}

/* @place: of a record whose offset from the first one is in register @index */
static struct mem_operand record_place(const struct mode_image *image, unsigned int index,
				       size_t field)
{
	return (struct mem_operand){
		.at = image->area_at + (uint32_t)(offsetof(struct burst_area, all) + field),
		.index = (int)index,
		.scale = 1,
	};
}

/* xadd %reg, %gs:at: one instruction, so that no signal handler can run in between */
static void emit_take(struct machine_code *code, unsigned int reg, uint32_t at)
{
	uint8_t xadd[] = {0x65,
			  (uint8_t)(0x48 | (reg >= 8 ? 4 : 0)),
			  0x0f,
			  0xc1,
			  (uint8_t)(0x04 | (reg & 7) << 3),
			  0x25,
			  0,
			  0,
			  0,
			  0};

	memcpy(xadd + 6, &at, sizeof(at));
	machine_code_bytes(code, xadd, sizeof(xadd));
}

static void emit_record(struct machine_code *code, const struct mode_image *image,
			unsigned int address, unsigned int offset, uint32_t number)
{
	uint32_t full = machine_code_label(code);
	uint32_t area = image->area_at;

	block_code_number(code, offset, sizeof(struct burst_record));
	emit_take(code, offset, area + (uint32_t)offsetof(struct burst_area, bytes));
	block_code_alu(code, BLOCK_ALU_COMPARE, offset,
		       (uint32_t)(image->area_bytes - sizeof(struct burst_area)));
	machine_code_branch(code, MACHINE_NOT_BELOW, full);
	block_code_move(code, BLOCK_STORE, address,
			record_place(image, offset, offsetof(struct burst_record, address)));
	block_code_set32(code,
			 record_place(image, offset, offsetof(struct burst_record, reference)),
			 number);
	block_code_move(code, BLOCK_LOAD32, address,
			mem_operand(area + (uint32_t)offsetof(struct burst_area, bursts.burst)));
	block_code_move(code, BLOCK_STORE32, address,
			record_place(image, offset, offsetof(struct burst_record, burst)));
	machine_code_bind_label(code, full);
}

/*
 * Compute the address first, since its registers may be reused for the rest. Not in %rax, where
 * scratch_acquire() saves the flags.
 */
static void bursts_emit(const struct mode_plan *plan, const struct point *point,
			struct machine_code *code)
{
	const struct bursts_plan *bursts = plan->data;
	struct point outer = *point, inner = *point;
	struct scratch_regs first, second;
	unsigned int address;

	outer.excluded = 1U << MACHINE_RAX;
	scratch_acquire(code, &outer, 0, 1, false, &first);
	address = first.registers[0];
	emit_address(code, address, &plan->procedure->cfg->insns[point->insn].memory, first.depth);
	inner.free |= 1U << address;
	inner.red_zone = point->red_zone && first.depth == 0;
	scratch_acquire(code, &inner, 1U << address, 1, true, &second);
	emit_record(code, plan->image, address, second.registers[0],
		    (uint32_t)bursts->numbers[point->insn]);
	scratch_release(code, &second);
	scratch_release(code, &first);
}

static int bursts_commit(struct mode_image *image, const struct mode_plan *plan)
{
	const struct bursts_plan *bursts = plan->data;

	return bursts_map_add(image->data, plan->procedure->name, plan->procedure->address,
			      bursts->references, bursts->count);
}

static int bursts_encode(const struct mode_image *image, uint8_t **ret, size_t *bytes)
{
	return bursts_map_encode(image->data, ret, bytes);
}

const struct instrument_mode bursts_mode = {
	.name = "bursts",
	.section = BURSTS_MAP_SECTION,
	.reader = "dcpibursts",
	.number = PROFILE_LAYOUT_BURSTS,
	.references = true,
	.bursts = true,
	.room = true,
	.begin = bursts_begin,
	.plan = bursts_plan,
	.has_code = bursts_has_code,
	.emit = bursts_emit,
	.commit = bursts_commit,
	.drop = bursts_drop,
	.encode = bursts_encode,
	.end = bursts_end,
};
