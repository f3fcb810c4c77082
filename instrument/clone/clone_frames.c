// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/clone_frames.h"

#include <errno.h>
#include <stdlib.h>

#include "instrument/codegen/runtime_blob.h"
#include "lib/array.h"

/*
 * @rows: of the clone being described, at @offset. A frame number is the number of the candidate's
 *        cuts at or before the address
 * @tables: addresses of the new tables of handlers for all parts of frames, in order
 */
struct frame_cloner {
	const struct clone_frames *info;
	const struct candidate *candidate;
	const struct procedure_clone *clone;
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

typedef void visit_part(struct frame_cloner *cloner, const struct part *part);

/* Return true if a part contains instructions of the procedure. Out-of-line code throws no
 * exceptions. */
static bool is_body(const struct frame_cloner *cloner, const struct part *part)
{
	const struct procedure_clone *clone = cloner->clone;

	return part->rows->address < cloner->info->code + cloner->offset +
					     machine_code_offset(&clone->code, clone->blocks_end);
}

static void clone_table_of(struct frame_cloner *cloner, const struct part *part)
{
	uint64_t table = 0;

	if (array_reserve(&cloner->tables, &cloner->capacity, cloner->count + 1,
			  sizeof(*cloner->tables)) < 0) {
		cloner->failed = true;
		return;
	}
	if (is_body(cloner, part))
		table = unwind_writer_add_table(cloner->info->writer, part->frame, part->rows,
						part->count, part->end);
	cloner->tables[cloner->count++] = table;
}

static void clone_frame(struct frame_cloner *cloner, const struct part *part)
{
	unwind_writer_add(cloner->info->writer, part->frame, part->rows, part->count, part->end,
			  cloner->tables[cloner->count++]);
}

/* Without a table of handlers: the code contains no calls. */
static void old_frame(struct frame_cloner *cloner, const struct part *part)
{
	unwind_writer_add(cloner->info->writer, part->frame, part->rows, part->count, part->end, 0);
}

static const struct unwind_frame *frame_at(const struct unwind_frames *frames, uint64_t address)
{
	size_t after = unwind_frames_first(frames, address + 1);
	const struct unwind_frame *frame = after > 0 ? &frames->all[after - 1] : NULL;

	return frame != NULL && address - frame->start < frame->bytes ? frame : NULL;
}

static void clone_frames_add_row(struct frame_cloner *cloner, struct unwind_row row)
{
	if (array_reserve(&cloner->rows, &cloner->row_capacity, cloner->row_count + 1,
			  sizeof(*cloner->rows)) < 0)
		cloner->failed = true;
	else
		cloner->rows[cloner->row_count++] = row;
}

/* Find the non-empty rows of a part of the clone. */
static void find_rows(struct frame_cloner *cloner, enum machine_part part)
{
	const struct machine_code *code = &cloner->clone->code;
	const struct machine_range *range = &code->parts[part];
	uint64_t start = cloner->info->code + cloner->offset;
	const struct machine_row *row;
	size_t count = machine_code_rows(code, part, &row);

	cloner->row_count = 0;
	for (size_t i = 0; !cloner->failed && i < count; i++, row++) {
		uint64_t end = i + 1 < count ? row[1].offset : range->offset + range->bytes;

		if (row->offset < end)
			clone_frames_add_row(
				cloner,
				(struct unwind_row){
					.address = start + row->offset,
					.old = row->frame > 0
						       ? cloner->candidate->cuts[row->frame - 1]
						       : 0,
					.depth = row->depth,
				});
	}
}

/* Code that is out of order begins a new description of its frame. */
static void visit_part_of(struct frame_cloner *cloner, enum machine_part of, visit_part *visit)
{
	const struct machine_range *range = &cloner->clone->code.parts[of];
	const struct unwind_row *rows;
	struct part part;

	find_rows(cloner, of);
	rows = cloner->rows;
	for (size_t i = 0; !cloner->failed && i < cloner->row_count; i += part.count) {
		part = (struct part){.rows = &rows[i],
				     .frame = frame_at(cloner->info->frames, rows[i].old),
				     .count = 1};
		while (i + part.count < cloner->row_count &&
		       rows[i + part.count].old >= rows[i + part.count - 1].old &&
		       frame_at(cloner->info->frames, rows[i + part.count].old) == part.frame)
			part.count++;
		part.end = i + part.count < cloner->row_count
				   ? rows[i + part.count].address
				   : cloner->info->code + cloner->offset + range->offset +
					     range->bytes;
		if (part.frame != NULL)
			visit(cloner, &part);
	}
}

static void visit_clone(struct frame_cloner *cloner, visit_part *visit)
{
	visit_part_of(cloner, MACHINE_HOT, visit);
	visit_part_of(cloner, MACHINE_COLD, visit);
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
static void describe_original(struct frame_cloner *cloner, uint64_t from)
{
	const struct candidate *candidate = cloner->candidate;
	struct part part = {.frame = frame_at(cloner->info->frames, from)};

	if (part.frame == NULL || part.frame->start == from)
		return;
	part.end = next_patch(&candidate->old, from, part.frame->start + part.frame->bytes);
	cloner->row_count = 0;
	if (from < part.end)
		clone_frames_add_row(cloner, (struct unwind_row){.address = from, .old = from});
	for (size_t c = 0; c < candidate->cut_count; c++) {
		uint64_t cut = candidate->cuts[c];

		if (cut > from && cut < part.end && (c == 0 || candidate->cuts[c - 1] < cut))
			clone_frames_add_row(cloner,
					     (struct unwind_row){.address = cut, .old = cut});
	}
	part.rows = cloner->rows;
	part.count = cloner->row_count;
	if (!cloner->failed && part.count > 0)
		old_frame(cloner, &part);
}

/* A jump in free room has the unwind rules of the short jump that leads to it. */
static void describe_patches(struct frame_cloner *cloner)
{
	const struct old_code *old = &cloner->candidate->old;

	for (size_t i = 0; !cloner->failed && i < old->count; i++) {
		const struct old_patch *patch = &old->patches[i];
		struct part part = {.frame = frame_at(cloner->info->frames, patch->address),
				    .count = 1,
				    .end = patch->target + OLD_CODE_JUMP_BYTES};

		if (patch->label != OLD_PATCH_SHORT || part.frame == NULL)
			continue;
		cloner->row_count = 0;
		clone_frames_add_row(cloner, (struct unwind_row){.address = patch->target,
								 .old = patch->address});
		part.rows = cloner->rows;
		if (!cloner->failed)
			old_frame(cloner, &part);
		describe_original(cloner, part.end);
	}
}

/* --- all ------------------------------------------------------------------ */

static void visit_cloned(struct frame_cloner *cloner, visit_part *visit)
{
	const struct candidates *candidates = cloner->info->candidates;

	cloner->count = 0;
	for (size_t c = 0; !cloner->failed && c < candidates->count; c++) {
		const struct candidate *candidate = &candidates->all[c];

		if (candidate->kept)
			continue;
		cloner->candidate = candidate;
		cloner->clone = &candidate->clone;
		cloner->offset = candidate->offset;
		visit_clone(cloner, visit);
		if (candidate->recording.code.parts[MACHINE_HOT].bytes == 0)
			continue;
		cloner->clone = &candidate->recording;
		cloner->offset = candidate->recording_offset;
		visit_clone(cloner, visit);
	}
}

static void describe_old(struct frame_cloner *cloner)
{
	const struct candidates *candidates = cloner->info->candidates;

	for (size_t c = 0; !cloner->failed && c < candidates->count; c++) {
		cloner->candidate = &candidates->all[c];
		if (!cloner->candidate->kept)
			describe_patches(cloner);
	}
}

/* Rows with STUBS_FRAME are contiguous; the others cannot be described. */
static void describe_stubs(struct frame_cloner *cloner)
{
	const struct machine_code *code = &cloner->info->stubs->code;
	uint64_t start = cloner->info->code + cloner->info->stubs_offset;
	const struct machine_row *row;
	size_t count = machine_code_rows(code, MACHINE_HOT, &row);

	cloner->row_count = 0;
	for (size_t i = 0; i < count; i++) {
		if (row[i].frame == STUBS_FRAME)
			clone_frames_add_row(cloner,
					     (struct unwind_row){.address = start + row[i].offset,
								 .old = start,
								 .depth = row[i].depth});
	}
	if (!cloner->failed && cloner->row_count > 0)
		unwind_writer_add_plain(cloner->info->writer, cloner->rows, cloner->row_count,
					start + code->parts[MACHINE_HOT].bytes);
}

int clone_frames_write(const struct clone_frames *info)
{
	struct frame_cloner cloner = {.info = info};

	visit_cloned(&cloner, clone_table_of);
	if (!cloner.failed)
		visit_cloned(&cloner, clone_frame);
	describe_old(&cloner);
	describe_stubs(&cloner);
	unwind_writer_add_linked(info->writer, runtime_blob_frames(), runtime_blob_frames_bytes(),
				 info->code, runtime_blob_bytes());
	free(cloner.tables);
	free(cloner.rows);
	return cloner.failed ? -ENOMEM : 0;
}
