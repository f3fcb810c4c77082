/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared objects need two additions compared with executables. One is a relocation by which the
 * loader stores the position of the word that marks a thread as known to the runtime. The other is
 * a list of the places in the added code that depend on the image's range in threads' windows
 * (profile_layout.h), in case that range is occupied. Both follow the added code.
 */
#ifndef DCPI_INSTRUMENT_SHARED_OBJECT_H
#define DCPI_INSTRUMENT_SHARED_OBJECT_H

#include "instrument/clone/candidate.h"
#include "instrument/elf/elf_image.h"
#include "instrument/profile/profile_layout.h"

struct error;

/* Maximum size of a shared object's range. */
#define SHARED_OBJECT_RANGE_BYTES (UINT64_C(64) << 20)

/**
 * struct shared_object - zero-initialised is empty; freed by shared_object_deinit()
 * @slot:       position of the word in the image's thread-local data
 * @code:       offset of the first procedure in the added code, and @code_end: of the end of the
 *              last
 * @sites_at, @relocations_at: offsets of the two additions in the added code
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
	uint64_t last; /* last site added */
	uint64_t base;
	bool failed;
};

/**
 * shared_object_range() - choose a range for an image, which few other images are likely to have
 * @number: of the image
 */
uint64_t shared_object_range(uint64_t number);

/** shared_object_code() - return the offset for procedures in the added code, from @offset on. */
uint64_t shared_object_code(struct shared_object *object, const struct elf_image *image,
			    uint64_t offset);

/**
 * shared_object_place() - find all sites and their place after the added code
 * @offset: of the end of the added code
 *
 * Return: offset of the end of both additions; 0: out of memory.
 */
uint64_t shared_object_place(struct shared_object *object, const struct candidates *candidates,
			     uint64_t offset);

/**
 * shared_object_write() - write both additions
 * @out:   the added code, which is at @address
 * @state: address of the runtime's state
 *
 * Return: 0; -ENOTSUP.
 */
int shared_object_write(const struct shared_object *object, struct elf_image *image, uint8_t *out,
			uint64_t address, uint64_t state, struct error *err);

/**
 * shared_object_fill_state() - fill in the runtime's state
 * @address: of the added code; @at: of the state
 */
void shared_object_fill_state(const struct shared_object *object, const char *path,
			      uint64_t address, uint64_t at, struct profile_layout_state *state);

void shared_object_deinit(struct shared_object *object);

#endif
