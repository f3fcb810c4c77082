/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Images of code made at run time, and their procedures.
 *
 * An image stands for the JIT code of all processes that run one program. Its
 * offsets are not addresses, which differ from run to run: a procedure begins
 * at a multiple of JIT_SLOT_BYTES that is a hash of its name, and of its code
 * where that is known. So the same procedure has the same offset in each
 * process, after a restart of the daemon and on another host, and the size of
 * a database depends on how many procedures there are, not on how often the
 * program was run. (That two of 65,536 names share an offset has a chance of
 * 1 in 4,000; the first then stands for both.)
 *
 * Samples of a procedure whose code is not known are all at its first byte:
 * where else they were means nothing without the code.
 */
#ifndef DCPI_JIT_IMAGE_H
#define DCPI_JIT_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "db/profile_write.h"

struct error;
struct jit_images;

/* Longer code counts as unknown. */
#define JIT_SLOT_BYTES (1U << 20)

int jit_images_create(struct jit_images **ret, struct error *err);
void jit_images_destroy(struct jit_images *images);

/**
 * struct jit_procedure - a procedure that was sampled
 * @name:       not terminated; control characters become "?"
 * @name_bytes: its length
 * @bytes:      of its code
 * @code:       that, or NULL
 * @shape:      of its code; see daemon/jit/jit_shape.h
 * @offsets:    samples are wanted by offset all the same
 */
struct jit_procedure {
	const char *name;
	size_t name_bytes;
	uint64_t bytes;
	const uint8_t *code;
	uint64_t shape;
	bool offsets;
};

/**
 * jit_images_slot() - where a procedure is in an image
 * @image: number in the image table
 * @bytes: out: samples may be at offsets below that; 1 if only the name counts
 *
 * The next merge stores the procedure. An image holds 16 MiB of names and 8 MiB of code
 * between two epochs; a procedure whose code exceeds that is known by name only.
 *
 * Return: the offset, > 0; 0 if out of memory, or the image has no room for the name.
 */
uint64_t jit_images_slot(struct jit_images *images, uint32_t image,
			 const struct jit_procedure *procedure, uint32_t *bytes);

/**
 * jit_images_write() - keep what is new of an image, in the writer's open transaction
 * @id: number of the image in the database
 *
 * Images that are none of these have nothing to keep.
 */
int jit_images_write(struct jit_images *images, uint32_t image, struct profile_writer *writer,
		     int64_t id, struct error *err);

/** jit_images_written() - that transaction was committed. */
void jit_images_written(struct jit_images *images);

/** jit_images_unwritten() - it was rolled back. */
void jit_images_unwritten(struct jit_images *images);

/**
 * jit_images_forget() - an epoch begins: everything is to be told again
 *
 * An image that nothing refers to any more may go with an old epoch.
 */
void jit_images_forget(struct jit_images *images);

/** jit_images_version() - changes when slots must be asked for again; never 0. */
uint32_t jit_images_version(const struct jit_images *images);

/** jit_images_bytes() - memory in use. */
size_t jit_images_bytes(const struct jit_images *images);

#endif
