// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/copy/frame_copies.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"

/* @tables: addresses of the new tables, of all frames that are copied, one after the other */
struct frame_copier {
	const struct frame_copies *copies;
	const struct procedure_copy *copy; /* that is being described, at @offset */
	uint64_t offset;
	uint64_t *tables;
	size_t count;
	size_t capacity;
	bool failed;
};

static uint64_t new_place(void *context, uint64_t address)
{
	const struct frame_copier *copier = context;

	return copier->copies->code + copier->offset + procedure_copy_where(copier->copy, address);
}

static void copy_table(void *context, const struct unwind_frame *frame)
{
	struct frame_copier *copier = context;

	if (array_reserve(&copier->tables, &copier->capacity, copier->count + 1,
			  sizeof(*copier->tables)) < 0) {
		copier->failed = true;
		return;
	}
	copier->tables[copier->count++] = unwind_writer_add_table(
		copier->copies->writer, frame, new_place(copier, frame->start), new_place, copier);
}

static void copy_frame(void *context, const struct unwind_frame *frame)
{
	struct frame_copier *copier = context;
	uint64_t start = new_place(copier, frame->start);
	uint64_t end = new_place(copier, frame->start + frame->bytes);
	uint64_t table = copier->tables[copier->count++];

	if (start < end)
		unwind_writer_add(copier->copies->writer, frame, start, end, table, new_place,
				  copier);
}

static void visit_copied(struct frame_copier *copier,
			 void (*visit)(void *context, const struct unwind_frame *frame))
{
	const struct candidates *candidates = copier->copies->candidates;

	copier->count = 0;
	for (size_t c = 0; !copier->failed && c < candidates->count; c++) {
		const struct candidate *candidate = &candidates->all[c];

		if (candidate->kept)
			continue;
		copier->copy = &candidate->copy;
		copier->offset = candidate->offset;
		candidate_visit_frames(candidate, copier->copies->frames, visit, copier);
		if (candidate->recording.code.bytes == 0)
			continue;
		copier->copy = &candidate->recording;
		copier->offset = candidate->recording_offset;
		candidate_visit_frames(candidate, copier->copies->frames, visit, copier);
	}
}

int frame_copies_write(const struct frame_copies *copies)
{
	struct frame_copier copier = {.copies = copies};

	visit_copied(&copier, copy_table);
	if (!copier.failed)
		visit_copied(&copier, copy_frame);
	free(copier.tables);
	return copier.failed ? -ENOMEM : 0;
}
