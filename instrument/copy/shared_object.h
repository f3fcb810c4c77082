/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What shared objects need beyond executables: a relocation by which the loader says where
 * the word is by which a thread is known to the runtime, and the places in the added code
 * that change if the image cannot have the range in threads' windows (profile_layout.h) that
 * it was made for. Both are put behind the added code.
 */
#ifndef DCPI_INSTRUMENT_SHARED_OBJECT_H
#define DCPI_INSTRUMENT_SHARED_OBJECT_H

#include "instrument/copy/candidate.h"
#include "instrument/elf/elf_image.h"
#include "instrument/profile/profile_layout.h"

struct error;

/* A shared object's range has at most so many bytes. */
#define SHARED_OBJECT_RANGE_BYTES (UINT64_C(64) << 20)

/**
 * struct shared_object - zero-initialised is empty; freed by shared_object_deinit()
 * @slot:       of the word, in what the image's threads have of their own
 * @code:       offset in the added code of the first procedure, and @code_end: behind the last
 * @sites_at, @relocations_at: likewise, of what is put behind it
 */
struct shared_object {
	struct elf_image_dynamic dynamic;
	int64_t slot;
	uint8_t *sites;
	size_t site_bytes;
	size_t site_capacity;
	uint64_t code;
	uint64_t code_end;
	uint64_t sites_at;
	uint64_t relocations_at;
	uint64_t last; /* site */
	uint64_t base;
	bool failed;
};

/**
 * shared_object_range() - where an image's range may well be: few others' are there
 * @number: of the image
 */
uint64_t shared_object_range(uint64_t number);

/** shared_object_code() - where procedures may begin in the added code, from @offset on. */
uint64_t shared_object_code(struct shared_object *object, const struct elf_image *image,
			    uint64_t offset);

/**
 * shared_object_place() - find all sites, and room for them
 * @offset: behind the added code
 *
 * Return: behind what is put there; 0: no memory.
 */
uint64_t shared_object_place(struct shared_object *object, const struct candidates *candidates,
			     uint64_t offset);

/**
 * shared_object_write() - put it there
 * @out:   the added code, which is at @address
 * @state: address of the runtime's state
 *
 * Return: 0; -ENOTSUP.
 */
int shared_object_write(const struct shared_object *object, struct elf_image *image, uint8_t *out,
			uint64_t address, uint64_t state, struct error *err);

/**
 * shared_object_tell() - the runtime of it
 * @address: of the added code, and @at the state's
 */
void shared_object_tell(const struct shared_object *object, const char *path, uint64_t address,
			uint64_t at, struct profile_layout_state *state);

void shared_object_deinit(struct shared_object *object);

#endif
