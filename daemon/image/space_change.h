/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What becomes of a version of an address space when something is mapped or unmapped: it grows,
 * or another one takes its place, since samples of what was may follow.
 */
#ifndef DCPI_SPACE_CHANGE_H
#define DCPI_SPACE_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

struct address_space;
struct address_spaces;
struct mapping;

/**
 * space_change_map() - executable memory appears in a version
 * @space:    its process' newest, or one that has ended, of which this is told late: what it has
 *            become in the end is not changed
 * @time_ns:  when; in a version that has ended, while it was valid
 * @in_place: what is replaced has never run: no other version begins
 *
 * Without memory or room (MAPPINGS_MAX) what there was is in doubt rather than wrong.
 */
void space_change_map(struct address_spaces *spaces, struct address_space *space,
		      const struct mapping *mapping, uint64_t time_ns, bool in_place);

/** space_change_unmap() - what was in a range is no more; @gone: its start and end. As above. */
void space_change_unmap(struct address_spaces *spaces, struct address_space *space,
			const struct mapping *gone, uint64_t time_ns, bool in_place);

#endif
