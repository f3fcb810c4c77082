// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/shared_object.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"

uint64_t shared_object_range(uint64_t number)
{
	uint64_t places = (PROFILE_LAYOUT_WINDOW_BYTES - PROFILE_LAYOUT_SHARED_RANGES -
			   SHARED_OBJECT_RANGE_BYTES) /
			  PROFILE_LAYOUT_PAGE;

	return PROFILE_LAYOUT_SHARED_RANGES + number % places * PROFILE_LAYOUT_PAGE;
}

/* Procedures get pages of their own, so that the runtime can run while they are not executable. */
uint64_t shared_object_code(struct shared_object *object, const struct elf_image *image,
			    uint64_t offset)
{
	uint64_t address = elf_image_code_address(image);

	object->code = elf_image_round_up(address + offset, ELF_IMAGE_PAGE) - address;
	return object->code;
}

static void shared_object_add_site(void *context, uint64_t offset)
{
	struct shared_object *object = context;
	uint64_t at = object->base + offset, distance = at - object->last;

	object->last = at;
	do {
		if (object->failed || array_reserve(&object->sites, &object->site_capacity,
						    object->site_bytes + 1, 1) < 0) {
			object->failed = true;
			return;
		}
		object->sites[object->site_bytes++] =
			(uint8_t)((distance & 127) | (distance > 127 ? 128 : 0));
		distance >>= 7;
	} while (distance > 0);
}

/* Add the sites of one part of all procedures, in order of addresses. */
static void add_sites(struct shared_object *object, const struct candidates *candidates,
		      enum machine_part part)
{
	for (size_t c = 0; c < candidates->count; c++) {
		const struct candidate *candidate = &candidates->all[c];
		const struct machine_range *range = &candidate->clone.code.parts[part];

		if (candidate->kept || range->bytes == 0)
			continue;
		object->base = candidate->offset;
		machine_code_visit_thread(&candidate->clone.code, part, shared_object_add_site,
					  object);
		object->code_end = candidate->offset + range->offset + range->bytes;
	}
}

uint64_t shared_object_place(struct shared_object *object, const struct candidates *candidates,
			     uint64_t offset)
{
	object->last = object->code;
	add_sites(object, candidates, MACHINE_HOT);
	add_sites(object, candidates, MACHINE_COLD);
	if (object->failed)
		return 0;
	object->relocations_at = elf_image_round_up(offset, sizeof(uint64_t));
	object->sites_at =
		object->relocations_at + object->dynamic.relocation_bytes + sizeof(Elf64_Rela);
	return object->sites_at + object->site_bytes;
}

int shared_object_write(const struct shared_object *object, struct elf_image *image, uint8_t *out,
			uint64_t address, uint64_t state, struct error *err)
{
	const Elf64_Rela slot = {
		.r_offset = state + offsetof(struct profile_layout_state, slot),
		.r_info = ELF64_R_INFO(0, R_X86_64_TPOFF64),
		.r_addend = object->slot,
	};
	size_t bytes = object->dynamic.relocation_bytes;

	if (bytes > 0)
		memcpy(out + object->relocations_at, object->dynamic.relocations, bytes);
	memcpy(out + object->relocations_at + bytes, &slot, sizeof(slot));
	if (object->site_bytes > 0)
		memcpy(out + object->sites_at, object->sites, object->site_bytes);
	return elf_image_set_relocations(image, address + object->relocations_at,
					 bytes + sizeof(slot), err);
}

void shared_object_fill_state(const struct shared_object *object, const char *path,
			      uint64_t address, uint64_t at, struct profile_layout_state *state)
{
	state->slot = 0;
	state->code = (int64_t)(address + object->code - at);
	state->code_bytes = elf_image_round_up(object->code_end - object->code, ELF_IMAGE_PAGE);
	state->sites = (int64_t)(address + object->sites_at - at);
	state->sites_bytes = object->site_bytes;
	snprintf(state->name, sizeof(state->name), "%s",
		 object->dynamic.name != NULL ? object->dynamic.name : basename(path));
}

void shared_object_deinit(struct shared_object *object)
{
	free(object->sites);
	*object = (struct shared_object){0};
}
