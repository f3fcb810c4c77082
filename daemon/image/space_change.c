// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image/space_change.h"

#include "daemon/image/address_spaces.h"
#include "daemon/image/mapping_list.h"

/* Begin another version with the same mappings, to be changed. Return: NULL: out of memory. */
static struct address_space *another_version(struct address_spaces *spaces,
					     struct address_space *space, uint64_t time_ns)
{
	struct mapping_list *same = mapping_list_share(space->mappings);

	if (space != space->process->newest)
		return address_spaces_split(spaces, space, same, time_ns);
	return address_spaces_begin(spaces, space->process, same, space, time_ns,
				    space->generation);
}

/* Return the memory of mappings if a space does not share them. */
static size_t own_bytes(const struct address_space *space)
{
	return space->mappings != NULL && space->mappings->references > 1
		       ? 0
		       : mapping_list_bytes(space->mappings);
}

static void note_unfit(struct address_space *space, uint64_t time_ns)
{
	space->process->limit = QUOTA_MAPPINGS;
	address_space_doubt(space, time_ns);
	address_spaces_doubt(space->process, time_ns);
}

/*
 * Handle a mapping for which there was no room. Samples must not be attributed to mappings that it
 * should have replaced. With the kernel's generations, this includes mappings of older versions.
 */
static void note_unfit_map(struct address_space *unfit, const struct mapping *mapping,
			   uint64_t time_ns)
{
	const struct address_space *space = unfit;

	unfit->process->limit = QUOTA_MAPPINGS;
	for (; space != NULL && space->generation == unfit->generation; space = space->older) {
		if (!mapping_list_overlaps(space->mappings, mapping->start, mapping->end))
			continue;
		note_unfit(unfit, time_ns);
		return;
	}
}

void space_change_map(struct address_spaces *spaces, struct address_space *space,
		      const struct mapping *mapping, uint64_t time_ns, bool in_place)
{
	enum mapping_change change = mapping_list_change(space->mappings, mapping);
	size_t before;

	if (change == MAPPING_SAME)
		return;
	if (change == MAPPING_REPLACES && !in_place)
		space = another_version(spaces, space, time_ns);
	if (space == NULL)
		return;
	before = own_bytes(space);
	if (mapping_list_add(&space->mappings, mapping) < 0)
		note_unfit_map(space, mapping, time_ns);
	else
		spaces->bytes += mapping_list_bytes(space->mappings) - before;
}

void space_change_unmap(struct address_spaces *spaces, struct address_space *space,
			const struct mapping *gone, uint64_t time_ns, bool in_place)
{
	size_t before;

	if (!mapping_list_overlaps(space->mappings, gone->start, gone->end))
		return;
	if (!in_place)
		space = another_version(spaces, space, time_ns);
	if (space == NULL)
		return;
	before = own_bytes(space);
	if (mapping_list_remove(&space->mappings, gone->start, gone->end) < 0)
		note_unfit(space, time_ns);
	else
		spaces->bytes += mapping_list_bytes(space->mappings) - before;
}
