// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/unwind/unwind_select.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/partition_point.h"

/* Return: the index of the first description that begins at or after an address. */
static size_t frame_find(const struct unwind_frames *frames, uint64_t address)
{
	return partition_point(0, frames->count, i, frames->frames[i].start < address);
}

/* Select for the addresses @start to @end - 1. */
static void range_select(const struct unwind_frames *frames, bool *selected, uint64_t start,
			 uint64_t end)
{
	size_t first = frame_find(frames, start);

	/* Several descriptions may begin at the same address. */
	if (first > 0 && (first == frames->count || frames->frames[first].start != start))
		first = frame_find(frames, frames->frames[first - 1].start);
	for (size_t i = first; i < frames->count && frames->frames[i].start < end; i++)
		selected[i] = true;
}

static void page_select(const struct unwind_frames *frames, bool *selected,
			const struct unwind_elf *elf, uint64_t page)
{
	const uint64_t from = page << UNWIND_PAGE_SHIFT, to = from + UNWIND_PAGE_BYTES;

	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct unwind_segment *segment = &elf->segments[i];
		uint64_t bytes = segment->end - segment->start;
		uint64_t begin = from > segment->offset ? from - segment->offset : 0;
		uint64_t end = to > segment->offset ? to - segment->offset : 0;

		end = end < bytes ? end : bytes;
		if (begin < end)
			range_select(frames, selected, segment->start + begin,
				     segment->start + end);
	}
}

int unwind_select(struct unwind_frames *frames, const struct unwind_elf *elf,
		  const struct unwind_wanted *wanted)
{
	bool *selected = calloc(frames->count + 1, sizeof(*selected));
	size_t kept = 0;

	if (selected == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < wanted->count; i++)
		page_select(frames, selected, elf, wanted->pages[i]);
	for (size_t i = 0; i < frames->count; i++) {
		if (selected[i])
			frames->frames[kept++] = frames->frames[i];
	}
	frames->count = kept;
	free(selected);
	return 0;
}
