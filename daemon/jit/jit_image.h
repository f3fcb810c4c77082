/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Images of code generated at run time, and their procedures.
 *
 * An image represents the JIT code of all processes that run one program. Its offsets are not
 * addresses, which differ from run to run. Instead a procedure begins at a multiple of
 * JIT_SLOT_BYTES that is a hash of its name, and of its code if that is known. So the same
 * procedure has the same offset in each process, after a restart of the daemon and on another host.
 * The size of a database depends on the number of procedures, not on how often the program was run.
 * (With 65,536 names, the chance that two of them share an offset is 1 in 4,000; the first one then
 * represents both.)
 *
 * All samples of a procedure whose code is unknown are at its first byte: without the code, offsets
 * have no meaning.
 */
#ifndef DCPI_JIT_IMAGE_H
#define DCPI_JIT_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "db/profile_write.h"

struct error;
struct jit_images;

/* Longer code is treated as unknown. */
#define JIT_SLOT_BYTES (1U << 20)

int jit_images_create(struct jit_images **ret, struct error *err);
void jit_images_destroy(struct jit_images *images);

/**
 * struct jit_procedure - a procedure that was sampled
 * @name:       not terminated; control characters become "?"
 * @name_bytes: its length
 * @bytes:      of its code
 * @code:       its code, or NULL
 * @shape:      of its code; see daemon/jit/jit_shape.h
 * @offsets:    distinguish samples by offset even without @code
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
 * jit_images_slot() - return the offset of a procedure in an image
 * @image: number in the image table
 * @bytes: out: samples may be at offsets below this; 1 if only the name is known
 *
 * The next merge stores the procedure. An image holds 16 MiB of names and 8 MiB of code between two
 * epochs; beyond the latter, only the name of a procedure is stored.
 *
 * Return: the offset, > 0; 0 if out of memory, or the image has no room for the name.
 */
uint64_t jit_images_slot(struct jit_images *images, uint32_t image,
			 const struct jit_procedure *procedure, uint32_t *bytes);

/**
 * jit_images_write() - store the new procedures of an image, in the writer's open transaction
 * @id: number of the image in the database
 *
 * Does nothing for images without JIT code.
 */
int jit_images_write(struct jit_images *images, uint32_t image, struct profile_writer *writer,
		     int64_t id, struct error *err);

/** jit_images_written() - the transaction was committed. */
void jit_images_written(struct jit_images *images);

/** jit_images_unwritten() - the transaction was rolled back. */
void jit_images_unwritten(struct jit_images *images);

/**
 * jit_images_forget() - an epoch begins: everything must be stored again
 *
 * An image without references may be deleted together with an old epoch.
 */
void jit_images_forget(struct jit_images *images);

/** jit_images_version() - return a number that changes when all slots become invalid; never 0. */
uint32_t jit_images_version(const struct jit_images *images);

/** jit_images_bytes() - return the memory in use. */
size_t jit_images_bytes(const struct jit_images *images);

#endif
