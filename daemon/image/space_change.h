/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Applies mapping and unmapping to a version of an address space. The version is either extended or
 * ended and succeeded by another one, because samples from before may follow.
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
 * @space:    the newest of its process, or an ended one that a late event changes: the versions
 *            after it are not changed
 * @time_ns:  time of the change; for an ended version, while it was valid
 * @in_place: the replaced mappings have never run: no other version begins
 *
 * Without memory or room (MAPPINGS_MAX) the existing mappings are invalidated rather than wrong.
 */
void space_change_map(struct address_spaces *spaces, struct address_space *space,
		      const struct mapping *mapping, uint64_t time_ns, bool in_place);

/** space_change_unmap() - a range is unmapped; @gone: its start and end. Otherwise as above. */
void space_change_unmap(struct address_spaces *spaces, struct address_space *space,
			const struct mapping *gone, uint64_t time_ns, bool in_place);

#endif
