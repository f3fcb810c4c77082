// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/codegen/machine_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"

#define NOT_PLACED UINT64_MAX
/* Offset of the cold part until it is placed: no branch into it is short. */
#define COLD_OFFSET (UINT64_C(1) << 32)

enum item_kind {
	ITEM_BYTES,
	ITEM_RELATIVE, /* operand refers to @address */
	ITEM_REFER,    /* operand refers to external @other */
	ITEM_ABSOLUTE, /* displacement is label @other + @address */
	ITEM_ENTRY,    /* data: label @other - @address */
	ITEM_THREAD,   /* operand is a %gs offset */
	ITEM_BRANCH,   /* to label @other */
	ITEM_LEAVE,    /* to @address */
	ITEM_ENTER,    /* to external @other */
	ITEM_LABEL,
	ITEM_ALIGN, /* to a multiple of @count bytes */
	ITEM_FIT,   /* padding for label @other to label @end; @count bytes, after layout */
	ITEM_ROW,   /* row number @other */
};

/* @known: a branch to the label has defined @frame and @depth */
struct machine_label {
	uint64_t offset; /* after layout */
	uint32_t frame;
	uint32_t depth;
	bool known;
};

struct machine_item {
	uint64_t address;
	uint64_t offset; /* after layout */
	size_t pool;	 /* index of the first byte */
	uint32_t other;
	uint32_t end;
	uint16_t count;
	uint8_t kind;
	uint8_t branch;
	uint8_t at;
	bool wide; /* a branch that needs 32 bits */
};

void machine_code_deinit(struct machine_code *code)
{
	free(code->pool);
	free(code->items);
	free(code->labels);
	free(code->rows);
	*code = (struct machine_code){0};
}

static void machine_code_add(struct machine_code *code, struct machine_item item)
{
	if (code->failed || array_reserve(&code->items, &code->item_capacity, code->item_count + 1,
					  sizeof(*code->items)) < 0) {
		code->failed = true;
		return;
	}
	code->items[code->item_count++] = item;
}

static size_t pool_add(struct machine_code *code, const void *bytes, size_t count)
{
	size_t place = code->pool_bytes;

	if (code->failed ||
	    array_reserve(&code->pool, &code->pool_capacity, place + count, 1) < 0) {
		code->failed = true;
		return 0;
	}
	memcpy(code->pool + place, bytes, count);
	code->pool_bytes += count;
	return place;
}

uint32_t machine_code_label(struct machine_code *code)
{
	if (code->failed || array_reserve(&code->labels, &code->label_capacity,
					  code->label_count + 1, sizeof(*code->labels)) < 0) {
		code->failed = true;
		return 0;
	}
	code->labels[code->label_count] = (struct machine_label){.offset = NOT_PLACED};
	return (uint32_t)code->label_count++;
}

static void machine_code_add_row(struct machine_code *code, uint32_t frame, uint32_t depth)
{
	if (code->failed || array_reserve(&code->rows, &code->row_capacity, code->row_count + 1,
					  sizeof(*code->rows)) < 0) {
		code->failed = true;
		return;
	}
	code->frame = frame;
	code->depth = depth;
	machine_code_add(
		code, (struct machine_item){.kind = ITEM_ROW, .other = (uint32_t)code->row_count});
	code->rows[code->row_count++] = (struct machine_row){.frame = frame, .depth = depth};
}

static void set_stack(struct machine_code *code, uint32_t frame, uint32_t depth)
{
	if (frame != code->frame || depth != code->depth)
		machine_code_add_row(code, frame, depth);
}

void machine_code_frame(struct machine_code *code, uint32_t frame)
{
	set_stack(code, frame, code->depth);
}

void machine_code_stack(struct machine_code *code, int32_t bytes)
{
	set_stack(code, code->frame, code->depth + (uint32_t)bytes);
}

void machine_code_bind_label(struct machine_code *code, uint32_t label)
{
	machine_code_add(code, (struct machine_item){.kind = ITEM_LABEL, .other = label});
	if (!code->failed && code->labels[label].known)
		set_stack(code, code->labels[label].frame, code->labels[label].depth);
}

void machine_code_bytes(struct machine_code *code, const void *bytes, size_t count)
{
	struct machine_item *last = code->item_count ? &code->items[code->item_count - 1] : NULL;
	size_t place = pool_add(code, bytes, count);

	if (code->failed)
		return;
	if (last != NULL && last->kind == ITEM_BYTES && last->count + count <= UINT16_MAX)
		last->count = (uint16_t)(last->count + count);
	else
		machine_code_add(code, (struct machine_item){.kind = ITEM_BYTES,
							     .pool = place,
							     .count = (uint16_t)count});
}

void machine_code_relative(struct machine_code *code, const void *bytes, size_t count, size_t at,
			   uint64_t address)
{
	machine_code_add(code, (struct machine_item){.kind = ITEM_RELATIVE,
						     .pool = pool_add(code, bytes, count),
						     .count = (uint16_t)count,
						     .at = (uint8_t)at,
						     .address = address});
}

void machine_code_refer(struct machine_code *code, const void *bytes, size_t count, size_t at,
			uint32_t other)
{
	machine_code_add(code, (struct machine_item){.kind = ITEM_REFER,
						     .pool = pool_add(code, bytes, count),
						     .count = (uint16_t)count,
						     .at = (uint8_t)at,
						     .other = other});
}

void machine_code_absolute(struct machine_code *code, const void *bytes, size_t count,
			   uint32_t label, uint64_t bias)
{
	machine_code_add(code, (struct machine_item){.kind = ITEM_ABSOLUTE,
						     .pool = pool_add(code, bytes, count),
						     .count = (uint16_t)count,
						     .other = label,
						     .address = bias});
}

void machine_code_entry(struct machine_code *code, size_t bytes, uint32_t label, uint64_t base)
{
	machine_code_add(code, (struct machine_item){.kind = ITEM_ENTRY,
						     .count = (uint16_t)bytes,
						     .other = label,
						     .address = base});
}

void machine_code_thread(struct machine_code *code, const void *bytes, size_t count, size_t at)
{
	machine_code_add(code, (struct machine_item){.kind = ITEM_THREAD,
						     .pool = pool_add(code, bytes, count),
						     .count = (uint16_t)count,
						     .at = (uint8_t)at});
}

void machine_code_branch(struct machine_code *code, unsigned int kind, uint32_t label)
{
	struct machine_label *to = code->failed ? NULL : &code->labels[label];

	if (to != NULL && !to->known) {
		to->known = true;
		to->frame = code->frame;
		to->depth = code->depth;
	}
	machine_code_add(code, (struct machine_item){.kind = ITEM_BRANCH,
						     .branch = (uint8_t)kind,
						     .other = label,
						     .wide = kind == MACHINE_CALL});
}

void machine_code_leave(struct machine_code *code, unsigned int kind, uint64_t address)
{
	machine_code_add(code, (struct machine_item){.kind = ITEM_LEAVE,
						     .branch = (uint8_t)kind,
						     .address = address,
						     .wide = true});
}

void machine_code_enter(struct machine_code *code, unsigned int kind, uint32_t other)
{
	machine_code_add(code, (struct machine_item){.kind = ITEM_ENTER,
						     .branch = (uint8_t)kind,
						     .other = other,
						     .wide = true});
}

void machine_code_align(struct machine_code *code, unsigned int bytes)
{
	machine_code_add(code, (struct machine_item){.kind = ITEM_ALIGN, .count = (uint16_t)bytes});
}

void machine_code_fit(struct machine_code *code, uint32_t begin, uint32_t end)
{
	machine_code_add(code, (struct machine_item){.kind = ITEM_FIT, .other = begin, .end = end});
	code->fits = true;
}

static size_t branch_bytes(const struct machine_item *item)
{
	if (!item->wide)
		return 2;
	return item->branch < MACHINE_JUMP ? 6 : 5;
}

static size_t item_bytes(const struct machine_item *item, uint64_t offset)
{
	switch (item->kind) {
	case ITEM_BYTES:
	case ITEM_RELATIVE:
	case ITEM_REFER:
	case ITEM_ABSOLUTE:
	case ITEM_ENTRY:
	case ITEM_THREAD:
	case ITEM_FIT:
		return item->count;
	case ITEM_BRANCH:
	case ITEM_LEAVE:
	case ITEM_ENTER:
		return branch_bytes(item);
	case ITEM_ALIGN:
		return -offset & (item->count - 1U);
	}
	return 0;
}

void machine_code_begin_cold(struct machine_code *code)
{
	struct machine_range *has_cold = &code->parts[MACHINE_COLD];

	code->has_cold = true;
	has_cold->first_item = code->item_count;
	has_cold->first_row = code->row_count;
	machine_code_add_row(code, code->frame, code->depth);
}

static uint64_t lines(uint64_t bytes)
{
	return (bytes + MACHINE_LINE_BYTES - 1) / MACHINE_LINE_BYTES;
}

/* Return the index of the item after a part. */
static size_t machine_code_end_of(const struct machine_code *code, enum machine_part part)
{
	return part == MACHINE_HOT && code->has_cold ? code->parts[MACHINE_COLD].first_item
						     : code->item_count;
}

/* Compute padding from the offsets that both labels had in the previous pass. Changes of branches
 * and padding in between are accounted for in the next pass. */
static void fit(const struct machine_code *code, struct machine_item *item, uint64_t offset)
{
	uint64_t begin = code->labels[item->other].offset, end = code->labels[item->end].offset;
	uint64_t bytes = end - begin, ahead = begin - (item->offset + item->count);

	item->count = 0;
	if (begin == NOT_PLACED || end == NOT_PLACED || lines(bytes) > MACHINE_FIT_LINES)
		return;
	begin = (code->begin + offset + ahead) % MACHINE_LINE_BYTES;
	if (lines(begin + bytes) > lines(bytes))
		item->count = (uint16_t)(MACHINE_LINE_BYTES - begin);
}

static void machine_code_put(struct machine_code *code, struct machine_item *item, uint64_t offset)
{
	item->offset = offset;
	if (item->kind == ITEM_LABEL)
		code->labels[item->other].offset = offset;
	if (item->kind == ITEM_ROW)
		code->rows[item->other].offset = offset;
}

static void find_places(struct machine_code *code, enum machine_part part)
{
	struct machine_range *range = &code->parts[part];
	uint64_t offset = range->offset;

	for (size_t i = range->first_item; i < machine_code_end_of(code, part); i++) {
		struct machine_item *item = &code->items[i];

		if (item->kind == ITEM_FIT)
			fit(code, item, offset);
		machine_code_put(code, item, offset);
		offset += item_bytes(item, offset);
	}
	range->bytes = offset - range->offset;
}

/*
 * Widen the branches that do not reach their labels. Return: true if there was one. Branches only
 * ever grow, so the layout terminates. Alignment padding may shrink when code before it grows, but
 * a branch that once did not fit stays wide.
 */
static bool widen(struct machine_code *code)
{
	bool changed = false;

	for (size_t i = 0; i < code->item_count; i++) {
		struct machine_item *item = &code->items[i];
		int64_t distance;

		if (item->kind != ITEM_BRANCH || item->wide)
			continue;
		distance = (int64_t)(code->labels[item->other].offset - (item->offset + 2));
		if (distance < INT8_MIN || distance > INT8_MAX) {
			item->wide = true;
			changed = true;
		}
	}
	return changed;
}

static void find_all_places(struct machine_code *code)
{
	find_places(code, MACHINE_HOT);
	if (code->has_cold)
		find_places(code, MACHINE_COLD);
}

int machine_code_layout(struct machine_code *code)
{
	if (code->failed)
		return -ENOMEM;
	code->parts[MACHINE_COLD].offset = COLD_OFFSET;
	do {
		find_all_places(code);
		if (code->fits)
			find_all_places(code); /* the sizes for ITEM_FIT are known now */
	} while (widen(code));
	return 0;
}

void machine_code_begin(struct machine_code *code, uint64_t offset)
{
	code->begin = offset % MACHINE_LINE_BYTES;
	if (code->fits)
		machine_code_layout(code);
}

void machine_code_place_cold(struct machine_code *code, uint64_t offset)
{
	uint64_t by = offset - code->parts[MACHINE_COLD].offset;

	code->parts[MACHINE_COLD].offset = offset;
	if (!code->has_cold)
		return;
	for (size_t i = code->parts[MACHINE_COLD].first_item; i < code->item_count; i++)
		machine_code_put(code, &code->items[i], code->items[i].offset + by);
}

size_t machine_code_rows(const struct machine_code *code, enum machine_part part,
			 const struct machine_row **ret)
{
	size_t near = code->has_cold ? code->parts[MACHINE_COLD].first_row : code->row_count;

	*ret = part == MACHINE_HOT ? code->rows : code->rows + near;
	return part == MACHINE_HOT ? near : code->row_count - near;
}

uint64_t machine_code_offset(const struct machine_code *code, uint32_t label)
{
	return code->labels[label].offset;
}

void machine_code_visit_thread(const struct machine_code *code, enum machine_part part,
			       void (*visit)(void *context, uint64_t offset), void *context)
{
	if (part == MACHINE_COLD && !code->has_cold)
		return;
	for (size_t i = code->parts[part].first_item; i < machine_code_end_of(code, part); i++) {
		if (code->items[i].kind == ITEM_THREAD)
			visit(context, code->items[i].offset + code->items[i].at);
	}
}

static int put_distance(uint8_t *out, uint64_t target, uint64_t end)
{
	int64_t distance = (int64_t)(target - end);
	int32_t narrow = (int32_t)distance;

	if (narrow != distance)
		return -ERANGE;
	memcpy(out, &narrow, sizeof(narrow));
	return 0;
}

static int write_entry(uint8_t *out, size_t bytes, uint64_t target, uint64_t base)
{
	uint64_t distance = target - base;

	if (bytes == 4)
		return put_distance(out, target, base);
	memcpy(out, &distance, sizeof(distance));
	return 0;
}

static int write_branch(const struct machine_item *item, uint8_t *out, uint64_t address,
			uint64_t target)
{
	size_t bytes = branch_bytes(item);

	if (!item->wide) {
		out[0] = item->branch < MACHINE_JUMP ? (uint8_t)(0x70 | item->branch) : 0xeb;
		out[1] = (uint8_t)(target - (address + 2));
		return 0;
	}
	if (item->branch < MACHINE_JUMP) {
		out[0] = 0x0f;
		out[1] = (uint8_t)(0x80 | item->branch);
	} else {
		out[0] = item->branch == MACHINE_CALL ? 0xe8 : 0xe9;
	}
	return put_distance(out + bytes - 4, target, address + bytes);
}

/* Write the recommended nops of one to nine bytes. */
static void write_padding(uint8_t *out, size_t bytes)
{
	static const uint8_t nops[9][9] = {
		{0x90},
		{0x66, 0x90},
		{0x0f, 0x1f, 0x00},
		{0x0f, 0x1f, 0x40, 0x00},
		{0x0f, 0x1f, 0x44, 0x00, 0x00},
		{0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
		{0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
		{0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
		{0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
	};

	while (bytes > 0) {
		size_t part = bytes < 9 ? bytes : 9;

		memcpy(out, nops[part - 1], part);
		out += part;
		bytes -= part;
	}
}

static int write_item(const struct machine_code *code, const struct machine_item *item,
		      uint8_t *out, uint64_t address,
		      uint64_t (*where)(void *context, uint32_t other), void *context)
{
	uint64_t here = address + item->offset;

	out += item->offset;
	switch (item->kind) {
	case ITEM_BYTES:
	case ITEM_THREAD:
		memcpy(out, code->pool + item->pool, item->count);
		return 0;
	case ITEM_RELATIVE:
		memcpy(out, code->pool + item->pool, item->count);
		return put_distance(out + item->at, item->address, here + item->count);
	case ITEM_REFER:
		memcpy(out, code->pool + item->pool, item->count);
		return put_distance(out + item->at, where(context, item->other),
				    here + item->count);
	case ITEM_ABSOLUTE:
		memcpy(out, code->pool + item->pool, item->count);
		return put_distance(out + item->count - 4,
				    address + code->labels[item->other].offset, -item->address);
	case ITEM_ENTRY:
		return write_entry(out, item->count, address + code->labels[item->other].offset,
				   item->address);
	case ITEM_BRANCH:
		return write_branch(item, out, here, address + code->labels[item->other].offset);
	case ITEM_LEAVE:
		return write_branch(item, out, here, item->address);
	case ITEM_ENTER:
		return write_branch(item, out, here, where(context, item->other));
	case ITEM_ALIGN:
	case ITEM_FIT:
		write_padding(out, item_bytes(item, item->offset));
		return 0;
	}
	return 0;
}

int machine_code_write(const struct machine_code *code, uint8_t *out, uint64_t address,
		       uint64_t (*where)(void *context, uint32_t other), void *context)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < code->item_count; i++)
		r = write_item(code, &code->items[i], out, address, where, context);
	return r;
}
