// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image/image_place.h"

#include "daemon/image/address_spaces.h"
#include "daemon/image/image_table.h"
#include "daemon/image/loss_list.h"
#include "daemon/image/mapping_list.h"

const char *image_unknown_name(enum image_unknown reason)
{
	switch (reason) {
	case IMAGE_UNKNOWN_PROCESS:
		return "process";
	case IMAGE_UNKNOWN_ADDRESS:
		return "address";
	case IMAGE_UNKNOWN_ANONYMOUS:
		return "anonymous";
	case IMAGE_UNKNOWN_KERNEL:
		return "kernel";
	case IMAGE_UNKNOWN_REPLACED:
		return "replaced";
	case IMAGE_UNKNOWN_LOST:
		return "lost";
	case IMAGE_UNKNOWN_JIT_LIMIT:
		return "jit_limit";
	case IMAGE_UNKNOWN_JIT_AMBIGUOUS:
		return "jit_ambiguous";
	case IMAGE_UNKNOWN_QUOTA_EVENTS:
		return quota_limit_name(QUOTA_EVENTS);
	case IMAGE_UNKNOWN_QUOTA_MAPPINGS:
		return quota_limit_name(QUOTA_MAPPINGS);
	case IMAGE_UNKNOWN_QUOTA_IMAGES:
		return quota_limit_name(QUOTA_IMAGES);
	case IMAGE_UNKNOWN_NR:
		break;
	}
	return "invalid";
}

struct image_place image_place_in(const struct mapping *mapping, uint64_t pc)
{
	return (struct image_place){
		.image = mapping->image,
		.offset = pc + mapping->delta,
		.start = mapping->start,
		.bytes = mapping->end - mapping->start,
	};
}

struct image_place image_place_unknown(enum image_unknown reason)
{
	return (struct image_place){.image = IMAGE_UNKNOWN, .unknown = reason};
}

/*
 * Return true if a sample of a generation may be from a version. An own generation of 0 was
 * determined before the process was known; a scan may have found its original mappings since. The
 * kernel's generation of a version is unknown if execs may have been lost.
 */
static bool is_candidate(const struct image_history *history, const struct address_space *space,
			 uint32_t generation)
{
	if (history->own_generations)
		return space->generation == generation ||
		       (generation == 0 && space->start_ns == 0 && history->losses->count == 0);
	if (loss_list_between(history->losses, space->counted_ns, space->start_ns))
		return false;
	return space->generation == generation || space->generation == GENERATION_ANY;
}

/* Own generations are only assigned if the mappings are valid. */
static bool is_sound(const struct image_history *history, const struct address_space *space)
{
	return history->own_generations ||
	       (space->doubt_ns == UINT64_MAX &&
		!loss_list_between(history->losses, space->sound_ns, space->end_ns));
}

static bool disagree(const struct mapping *a, const struct mapping *b)
{
	return a != NULL && b != NULL && (a->image != b->image || a->delta != b->delta);
}

struct image_place image_place_find(const struct image_history *history,
				    const struct process_spaces *process, uint32_t generation,
				    uint64_t pc)
{
	const struct mapping *found = NULL, *unsound = NULL, *mapping;
	size_t candidates = 0, in_doubt = 0;
	const struct address_space *space;
	uint64_t start = 0, end = UINT64_MAX, since_ns = UINT64_MAX, until_ns = 0;

	for (space = process->newest; space != NULL; space = space->older) {
		if (!is_candidate(history, space, generation))
			continue;
		candidates++;
		since_ns = space->start_ns < since_ns ? space->start_ns : since_ns;
		until_ns = space->end_ns > until_ns ? space->end_ns : until_ns;
		mapping = mapping_list_narrow(space->mappings, pc, &start, &end);
		if (disagree(found, mapping) || disagree(unsound, mapping))
			return image_place_unknown(IMAGE_UNKNOWN_REPLACED);
		if (!is_sound(history, space)) {
			in_doubt++;
			unsound = mapping != NULL ? mapping : unsound;
		} else if (mapping != NULL) {
			found = mapping;
		}
		if (history->own_generations)
			break;
	}
	if (found == NULL && in_doubt > 0)
		return image_place_unknown(IMAGE_UNKNOWN_LOST);
	if (found == NULL)
		return image_place_unknown(candidates > 0 ? IMAGE_UNKNOWN_ADDRESS
							  : IMAGE_UNKNOWN_PROCESS);
	if (found->image == IMAGE_UNKNOWN && found->delta == IMAGE_PLACE_NO_NUMBER)
		return image_place_unknown(IMAGE_UNKNOWN_QUOTA_IMAGES);
	if (found->image == IMAGE_UNKNOWN)
		return (struct image_place){
			.image = IMAGE_UNKNOWN,
			.unknown = IMAGE_UNKNOWN_ANONYMOUS,
			.since_ns = since_ns,
			.until_ns = until_ns,
		};
	return (struct image_place){
		.image = found->image,
		.offset = pc + found->delta,
		.start = start,
		.bytes = end - start,
	};
}
