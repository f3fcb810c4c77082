// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/copy/frame_copies.h"

#include <errno.h>
#include <stdlib.h>

#include "instrument/code/runtime_blob.h"
#include "lib/array.h"

/*
 * @rows: of the clone being described, at @offset. A frame number is the number of the candidate's
 *        cuts at or before the address
 * @tables: addresses of the new tables of handlers for all parts of frames, in order
 */
struct frame_cloner {
	const struct frame_copies *copies;
	const struct candidate *candidate;
	const struct procedure_copy *copy;
	uint64_t offset;
	struct unwind_row *rows;
	size_t row_count;
	size_t row_capacity;
	uint64_t *tables;
	size_t count;
	size_t capacity;
	bool failed;
};

/* A range of new code that belongs to one frame. */
struct part {
	const struct unwind_frame *frame;
	const struct unwind_row *rows;
	size_t count;
	uint64_t end;
};

typedef void visit_part(struct frame_cloner *clone, const struct part *part);

/* Return true if a part contains instructions of the procedure. Out-of-line code throws no
 * exceptions. */
static bool is_body(const struct frame_cloner *clone, const struct part *part)
{
	const struct procedure_copy *copy = clone->copy;

	return part->rows->address < clone->copies->code + clone->offset +
					     machine_code_offset(&copy->code, copy->blocks_end);
}

static void copy_table(struct frame_cloner *clone, const struct part *part)
{
	uint64_t table = 0;

	if (array_reserve(&clone->tables, &clone->capacity, clone->count + 1,
			  sizeof(*clone->tables)) < 0) {
		clone->failed = true;
		return;
	}
	if (is_body(clone, part))
		table = unwind_writer_add_table(clone->copies->writer, part->frame, part->rows,
						part->count, part->end);
	clone->tables[clone->count++] = table;
}

static void copy_frame(struct frame_cloner *clone, const struct part *part)
{
	unwind_writer_add(clone->copies->writer, part->frame, part->rows, part->count, part->end,
			  clone->tables[clone->count++]);
}

/* Without a table of handlers: the code contains no calls. */
static void old_frame(struct frame_cloner *clone, const struct part *part)
{
	unwind_writer_add(clone->copies->writer, part->frame, part->rows, part->count, part->end,
			  0);
}

static const struct unwind_frame *frame_at(const struct unwind_frames *frames, uint64_t address)
{
	size_t after = unwind_frames_first(frames, address + 1);
	const struct unwind_frame *frame = after > 0 ? &frames->all[after - 1] : NULL;

	return frame != NULL && address - frame->start < frame->bytes ? frame : NULL;
}

static void frame_copies_add_row(struct frame_cloner *clone, struct unwind_row row)
{
	if (array_reserve(&clone->rows, &clone->row_capacity, clone->row_count + 1,
			  sizeof(*clone->rows)) < 0)
		clone->failed = true;
	else
		clone->rows[clone->row_count++] = row;
}

/* Find the non-empty rows of a part of the clone. */
static void find_rows(struct frame_cloner *clone, enum machine_part part)
{
	const struct machine_code *code = &clone->copy->code;
	const struct machine_range *range = &code->parts[part];
	uint64_t start = clone->copies->code + clone->offset;
	const struct machine_row *row;
	size_t count = machine_code_rows(code, part, &row);

	clone->row_count = 0;
	for (size_t i = 0; !clone->failed && i < count; i++, row++) {
		uint64_t end = i + 1 < count ? row[1].offset : range->offset + range->bytes;

		if (row->offset < end)
			frame_copies_add_row(
				clone,
				(struct unwind_row){
					.address = start + row->offset,
					.old = row->frame > 0
						       ? clone->candidate->cuts[row->frame - 1]
						       : 0,
					.depth = row->depth,
				});
	}
}

/* Code that is out of order begins a new description of its frame. */
static void visit_part_of(struct frame_cloner *clone, enum machine_part of, visit_part *visit)
{
	const struct machine_range *range = &clone->copy->code.parts[of];
	const struct unwind_row *rows;
	struct part part;

	find_rows(clone, of);
	rows = clone->rows;
	for (size_t i = 0; !clone->failed && i < clone->row_count; i += part.count) {
		part = (struct part){.rows = &rows[i],
				     .frame = frame_at(clone->copies->frames, rows[i].old),
				     .count = 1};
		while (i + part.count < clone->row_count &&
		       rows[i + part.count].old >= rows[i + part.count - 1].old &&
		       frame_at(clone->copies->frames, rows[i + part.count].old) == part.frame)
			part.count++;
		part.end = i + part.count < clone->row_count ? rows[i + part.count].address
							     : clone->copies->code + clone->offset +
								       range->offset + range->bytes;
		if (part.frame != NULL)
			visit(clone, &part);
	}
}

static void visit_copy(struct frame_cloner *clone, visit_part *visit)
{
	visit_part_of(clone, MACHINE_HOT, visit);
	visit_part_of(clone, MACHINE_COLD, visit);
}

/* --- original code -------------------------------------------------------- */

/* Return the next jump in the same frame that was placed in free room, or the frame's end. */
static uint64_t next_patch(const struct old_code *old, uint64_t from, uint64_t end)
{
	for (size_t i = 0; i < old->count; i++) {
		const struct old_patch *patch = &old->patches[i];

		if (patch->label == OLD_PATCH_SHORT && patch->target >= from && patch->target < end)
			end = patch->target;
	}
	return end;
}

/* Describe the original code of a frame from an address on, unchanged. */
static void describe_original(struct frame_cloner *clone, uint64_t from)
{
	const struct candidate *candidate = clone->candidate;
	struct part part = {.frame = frame_at(clone->copies->frames, from)};

	if (part.frame == NULL || part.frame->start == from)
		return;
	part.end = next_patch(&candidate->old, from, part.frame->start + part.frame->bytes);
	clone->row_count = 0;
	if (from < part.end)
		frame_copies_add_row(clone, (struct unwind_row){.address = from, .old = from});
	for (size_t c = 0; c < candidate->cut_count; c++) {
		uint64_t cut = candidate->cuts[c];

		if (cut > from && cut < part.end && (c == 0 || candidate->cuts[c - 1] < cut))
			frame_copies_add_row(clone,
					     (struct unwind_row){.address = cut, .old = cut});
	}
	part.rows = clone->rows;
	part.count = clone->row_count;
	if (!clone->failed && part.count > 0)
		old_frame(clone, &part);
}

/* A jump in free room has the unwind rules of the short jump that leads to it. */
static void describe_patches(struct frame_cloner *clone)
{
	const struct old_code *old = &clone->candidate->old;

	for (size_t i = 0; !clone->failed && i < old->count; i++) {
		const struct old_patch *patch = &old->patches[i];
		struct part part = {.frame = frame_at(clone->copies->frames, patch->address),
				    .count = 1,
				    .end = patch->target + OLD_CODE_JUMP_BYTES};

		if (patch->label != OLD_PATCH_SHORT || part.frame == NULL)
			continue;
		clone->row_count = 0;
		frame_copies_add_row(clone, (struct unwind_row){.address = patch->target,
								.old = patch->address});
		part.rows = clone->rows;
		if (!clone->failed)
			old_frame(clone, &part);
		describe_original(clone, part.end);
	}
}

/* --- all ------------------------------------------------------------------ */

static void visit_copied(struct frame_cloner *clone, visit_part *visit)
{
	const struct candidates *candidates = clone->copies->candidates;

	clone->count = 0;
	for (size_t c = 0; !clone->failed && c < candidates->count; c++) {
		const struct candidate *candidate = &candidates->all[c];

		if (candidate->kept)
			continue;
		clone->candidate = candidate;
		clone->copy = &candidate->copy;
		clone->offset = candidate->offset;
		visit_copy(clone, visit);
		if (candidate->recording.code.parts[MACHINE_HOT].bytes == 0)
			continue;
		clone->copy = &candidate->recording;
		clone->offset = candidate->recording_offset;
		visit_copy(clone, visit);
	}
}

static void describe_old(struct frame_cloner *clone)
{
	const struct candidates *candidates = clone->copies->candidates;

	for (size_t c = 0; !clone->failed && c < candidates->count; c++) {
		clone->candidate = &candidates->all[c];
		if (!clone->candidate->kept)
			describe_patches(clone);
	}
}

/* Rows with STUBS_FRAME are contiguous; the others cannot be described. */
static void describe_stubs(struct frame_cloner *clone)
{
	const struct machine_code *code = &clone->copies->stubs->code;
	uint64_t start = clone->copies->code + clone->copies->stubs_offset;
	const struct machine_row *row;
	size_t count = machine_code_rows(code, MACHINE_HOT, &row);

	clone->row_count = 0;
	for (size_t i = 0; i < count; i++) {
		if (row[i].frame == STUBS_FRAME)
			frame_copies_add_row(clone,
					     (struct unwind_row){.address = start + row[i].offset,
								 .old = start,
								 .depth = row[i].depth});
	}
	if (!clone->failed && clone->row_count > 0)
		unwind_writer_add_plain(clone->copies->writer, clone->rows, clone->row_count,
					start + code->parts[MACHINE_HOT].bytes);
}

int frame_copies_write(const struct frame_copies *copies)
{
	struct frame_cloner clone = {.copies = copies};

	visit_copied(&clone, copy_table);
	if (!clone.failed)
		visit_copied(&clone, copy_frame);
	describe_old(&clone);
	describe_stubs(&clone);
	unwind_writer_add_linked(copies->writer, runtime_blob_frames(), runtime_blob_frames_bytes(),
				 copies->code, runtime_blob_bytes());
	free(clone.tables);
	free(clone.rows);
	return clone.failed ? -ENOMEM : 0;
}
