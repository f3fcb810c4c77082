// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/rewriter_internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/codegen/runtime_blob.h"
#include "lib/error.h"

static uint64_t code_address(const struct rewriter *rewriter)
{
	return elf_image_code_address(&rewriter->image);
}

static uint64_t state_address(const struct rewriter *rewriter)
{
	return elf_image_data_address(&rewriter->image, rewriter->code_bytes);
}

static uint64_t stubs_address(const struct rewriter *rewriter, uint32_t label)
{
	return code_address(rewriter) + rewriter->stubs_offset +
	       machine_code_offset(&rewriter->stubs.code, label);
}

/* Return the address of a crossing in the other clone than the one being written. */
static uint64_t crossing_address(const struct rewriter *rewriter, uint32_t crossing)
{
	const struct candidate *candidate = rewriter->written;
	bool records = !rewriter->records;
	const struct procedure_clone *clone = records ? &candidate->recording : &candidate->clone;

	return code_address(rewriter) +
	       (records ? candidate->recording_offset : candidate->offset) +
	       machine_code_offset(&clone->code, clone->crossings[crossing]);
}

/* The callback of machine_code_write(). A procedure that was not cloned is at its original
 * address. */
static uint64_t where(void *context, uint32_t other)
{
	const struct rewriter *rewriter = context;
	const struct candidate *candidate;

	switch (other) {
	case RUNTIME_CODE_ENTER:
		return stubs_address(rewriter, rewriter->stubs.enter);
	case RUNTIME_CODE_SLOW:
		return stubs_address(rewriter, rewriter->stubs.slow);
	case BURST_SWITCH_CODE_TESTED:
		return stubs_address(rewriter, rewriter->stubs.tested);
	case RUNTIME_CODE_GUARD:
		return state_address(rewriter) + state_layout_guard();
	case RUNTIME_CODE_SLOT:
		return state_address(rewriter) + offsetof(struct profile_layout_state, slot);
	case STUBS_STATE:
		return state_address(rewriter);
	case STUBS_DUMMY:
		return state_address(rewriter) + state_layout_dummy(&rewriter->state);
	}
	if (other <= BURST_SWITCH_CODE_COUNTED(0) &&
	    other > BURST_SWITCH_CODE_COUNTED(PROFILE_LAYOUT_COUNTERS))
		return stubs_address(rewriter,
				     rewriter->stubs.counted[BURST_SWITCH_CODE_COUNTED(0) - other]);
	if (other & CLONE_CROSSING)
		return crossing_address(rewriter, other & ~CLONE_CROSSING);
	candidate = &rewriter->candidates.all[other & ~CLONE_RECORDING];
	if (candidate->kept)
		return candidate->procedure->address;
	if (other & CLONE_RECORDING)
		return code_address(rewriter) + candidate->recording_offset +
		       machine_code_offset(&candidate->recording.code, candidate->recording.inside);
	return code_address(rewriter) + candidate->offset +
	       machine_code_offset(&candidate->clone.code, candidate->clone.inside);
}

static int patch_old(struct rewriter *rewriter, const struct candidate *candidate)
{
	for (size_t i = 0; i < candidate->old.count; i++) {
		const struct old_patch *patch = &candidate->old.patches[i];
		bool is_short = patch->label == OLD_PATCH_SHORT;
		uint8_t *bytes = elf_image_at(&rewriter->image, patch->address, is_short ? 2 : 5);
		uint64_t target = is_short ? patch->target
					   : code_address(rewriter) + candidate->offset +
						     machine_code_offset(&candidate->clone.code,
									 patch->label);
		int32_t distance = (int32_t)(target - patch->address - (is_short ? 2 : 5));

		if (bytes == NULL)
			return -ERANGE;
		bytes[0] = is_short ? 0xeb : 0xe9;
		memcpy(bytes + 1, &distance, is_short ? 1 : 4);
	}
	return 0;
}

static int write_code(struct rewriter *rewriter)
{
	uint64_t address = code_address(rewriter);
	int r;

	rewriter->out = malloc(rewriter->code_bytes);
	if (rewriter->out == NULL)
		return -ENOMEM;
	memset(rewriter->out, 0xcc, rewriter->code_bytes); /* int3 */
	memcpy(rewriter->out, runtime_blob(), runtime_blob_bytes());
	if (rewriter->unwind.bytes > 0)
		memcpy(rewriter->out + rewriter->unwind_offset, rewriter->unwind.data,
		       rewriter->unwind.bytes);
	r = machine_code_write(&rewriter->stubs.code, rewriter->out + rewriter->stubs_offset,
			       address + rewriter->stubs_offset, where, rewriter);
	for (size_t c = 0; r == 0 && c < rewriter->candidates.count; c++) {
		const struct candidate *candidate = &rewriter->candidates.all[c];

		if (candidate->kept)
			continue;
		rewriter->written = candidate;
		rewriter->records = false;
		r = machine_code_write(&candidate->clone.code, rewriter->out + candidate->offset,
				       address + candidate->offset, where, rewriter);
		rewriter->records = true;
		if (r == 0)
			r = machine_code_write(&candidate->recording.code,
					       rewriter->out + candidate->recording_offset,
					       address + candidate->recording_offset, where,
					       rewriter);
		if (r == 0)
			r = patch_old(rewriter, candidate);
	}
	if (!rewriter->image.dynamic)
		elf_image_set_entry(&rewriter->image,
				    stubs_address(rewriter, rewriter->stubs.start));
	return r;
}

static int fill_state(struct rewriter *rewriter, struct error *err)
{
	struct profile_layout_state *state = &rewriter->state;
	const char *profile =
		rewriter->options->profile ? rewriter->options->profile : rewriter->options->output;
	char absolute[PATH_MAX] = "";

	/* The program may run in another directory. */
	if (profile[0] != '/' && realpath(".", absolute) == NULL)
		return error_set_errno(err, "cannot find the current folder");
	if ((size_t)snprintf(state->path, sizeof(state->path), "%s%s%s", absolute,
			     absolute[0] != '\0' ? "/" : "", profile) >= sizeof(state->path))
		return error_set(err, ENAMETOOLONG, "the profile's name is too long: '%s'",
				 profile);
	state->secure = rewriter->options->secure;
	state->image = rewriter->recorded.number;
	state->slot = rewriter->runtime.slot;
	state->guard = (int64_t)state_layout_guard();
	memcpy(state->parameters, rewriter->recorded.parameters, sizeof(state->parameters));
	if (rewriter->image.shared)
		shared_object_fill_state(&rewriter->shared, rewriter->path, code_address(rewriter),
					 state_address(rewriter), state);
	return 0;
}

int rewriter_write(struct rewriter *rewriter, struct error *err)
{
	struct elf_image_addition addition = {.note_name = rewriter->mode->section};
	uint8_t *note = NULL;
	int r = fill_state(rewriter, err);

	if (r < 0)
		return r;
	r = rewriter->mode->encode(&rewriter->recorded, &note, &addition.note_bytes);
	if (r == 0)
		r = write_code(rewriter);
	if (r < 0) {
		free(note);
		return error_set(err, -r, "cannot assemble the new code");
	}
	if (rewriter->image.shared)
		r = shared_object_write(&rewriter->shared, &rewriter->image, rewriter->out,
					code_address(rewriter), state_address(rewriter), err);
	if (r < 0) {
		free(note);
		return r;
	}
	elf_image_rename(&rewriter->image, rewriter->recorded.number);
	addition.code = rewriter->out;
	addition.code_bytes = rewriter->code_bytes;
	addition.data = (const uint8_t *)&rewriter->state;
	addition.data_bytes = sizeof(rewriter->state);
	addition.zero_bytes = state_layout_end(&rewriter->state) - sizeof(rewriter->state);
	addition.note = note;
	r = elf_image_write(&rewriter->image, &addition, rewriter->options->output, err);
	free(note);
	return r;
}
