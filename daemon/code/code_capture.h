/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stores code of the kernel, of its modules and of the vDSO with the profile: this code is in no
 * file in the form in which it is executed.
 *
 * When samples are merged, the procedures with samples are read from memory (code_source.h), their
 * addresses are removed (code_mask.h), and they are written to the database in the transaction of
 * the samples. A procedure is read again with each merge that has samples of it, and stored again
 * if it has changed (alternatives, static keys, ftrace). So the database has the code as of the
 * last merge with samples. Procedures that only call others, as stacks show, are read once: the
 * analysis compares the executions of callers and callees (analysis/stack_paths.h).
 *
 * Code of a module counts as read only if no module was loaded or unloaded meanwhile. A procedure
 * ends where the next symbol begins. The vDSO is stored completely, from this process's mapping.
 *
 * Failures: without permission there is one warning, and everything else works.
 */
#ifndef DCPI_CODE_CAPTURE_H
#define DCPI_CODE_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "db/profile.h"

struct code_capture;
struct error;
struct kernel_images;
struct profile_writer;

/**
 * struct code_capture_counts - counts since the start
 * @changed:    procedures stored again, because their code had changed
 * @unreadable: attempts to read a procedure that failed
 */
struct code_capture_counts {
	uint64_t changed;
	uint64_t unreadable;
};

/** code_capture_create() - create; @kernel remains the caller's. Nothing is read yet. */
int code_capture_create(struct code_capture **ret, struct kernel_images *kernel, struct error *err);

/** code_capture_destroy() - free. NULL is fine. */
void code_capture_destroy(struct code_capture *capture);

/**
 * code_capture_symbols() - provide the symbols of an image
 *
 * Optional: otherwise they are read when they are needed, which takes some 50 ms.
 *
 * Return: 0 or -ENOMEM.
 */
int code_capture_symbols(struct code_capture *capture, uint32_t image,
			 const struct profile_symbol *symbols, size_t count);

/**
 * code_capture_write() - store the procedures with samples, in the writer's open transaction
 * @image:   number in the image table; an image that is not the kernel's has no effect
 * @id:      of the image in the database
 * @samples: by ascending offset
 *
 * At most 4 MiB are read in a transaction; other procedures are read with a later merge.
 *
 * Return: 0, or the writer's error, or -ENOMEM.
 */
int code_capture_write(struct code_capture *capture, uint32_t image, int64_t id,
		       const struct profile_sample *samples, size_t count,
		       struct profile_writer *writer, struct error *err);

/**
 * code_capture_callers() - like code_capture_write(), for procedures that stacks contain
 * @frames: by ascending offset
 *
 * Procedures that the database has are not read again.
 */
int code_capture_callers(struct code_capture *capture, uint32_t image, int64_t id,
			 const struct profile_sample *frames, size_t count,
			 struct profile_writer *writer, struct error *err);

/** code_capture_written() - the transaction was committed. */
void code_capture_written(struct code_capture *capture);

/** code_capture_forget() - the transaction was rolled back, or an epoch begins: store all again. */
void code_capture_forget(struct code_capture *capture);

/** code_capture_counts() - return the counts. */
struct code_capture_counts code_capture_counts(const struct code_capture *capture);

#endif
