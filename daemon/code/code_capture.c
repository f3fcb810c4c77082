// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/code/code_capture.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "daemon/base/log.h"
#include "daemon/code/code_mask.h"
#include "daemon/code/code_source.h"
#include "daemon/image/kernel_image.h"
#include "db/profile_write.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/partition_point.h"
#include "loader-hook/jit/jit_dump.h"
#include "loader-hook/vdso.h"

/* More than the longest procedure of a kernel. Data may follow the last symbol. */
#define PROCEDURE_BYTES_MAX (128U << 10)
#define TRANSACTION_BYTES_MAX (4U << 20)

/* struct procedure - @digest: of the code that the database has; 0: none */
struct procedure {
	uint64_t offset;
	uint64_t digest;
};

/* struct text - an image with samples; @procedures: by ascending offset */
struct text {
	uint32_t image;
	struct procedure *procedures;
	size_t count;
};

/*
 * @source:  NULL: not opened yet, or, with @refused, not permitted
 * @vdso:    the database has the vDSO
 * @read_bytes: in the current transaction
 */
struct code_capture {
	struct kernel_images *kernel;
	struct code_source *source;
	bool refused;
	bool vdso;
	size_t read_bytes;
	struct text *texts;
	size_t text_count;
	size_t text_capacity;
	struct code_capture_counts counts;
};

/* struct batch - the procedures of one image that are read for one merge; owns their code */
struct batch {
	struct profile_code *codes;
	struct procedure **procedures;
	uint64_t *digests;
	size_t count;
	size_t capacity;
};

static void batch_deinit(struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		free((void *)(uintptr_t)batch->codes[i].data);
	free(batch->codes);
	free((void *)batch->procedures);
	free(batch->digests);
}

int code_capture_create(struct code_capture **ret, struct kernel_images *kernel, struct error *err)
{
	struct code_capture *capture = calloc(1, sizeof(*capture));

	if (capture == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	capture->kernel = kernel;
	*ret = capture;
	return 0;
}

void code_capture_destroy(struct code_capture *capture)
{
	if (capture == NULL)
		return;
	for (size_t i = 0; i < capture->text_count; i++)
		free(capture->texts[i].procedures);
	free(capture->texts);
	code_source_close(capture->source);
	free(capture);
}

static struct text *capture_text(const struct code_capture *capture, uint32_t image)
{
	for (size_t i = 0; i < capture->text_count; i++) {
		if (capture->texts[i].image == image)
			return &capture->texts[i];
	}
	return NULL;
}

int code_capture_symbols(struct code_capture *capture, uint32_t image,
			 const struct profile_symbol *symbols, size_t count)
{
	struct text text = {.image = image};
	struct kernel_place place;

	if (count == 0 || capture_text(capture, image) != NULL ||
	    kernel_images_place(capture->kernel, image, &place) < 0)
		return 0;
	text.procedures = calloc(count, sizeof(*text.procedures));
	if (text.procedures == NULL || array_reserve(&capture->texts, &capture->text_capacity,
						     capture->text_count + 1, sizeof(text)) < 0) {
		free(text.procedures);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		if (text.count == 0 || text.procedures[text.count - 1].offset != symbols[i].offset)
			text.procedures[text.count++].offset = symbols[i].offset;
	}
	capture->texts[capture->text_count++] = text;
	return 0;
}

/* Return: NULL: the image has no symbols, or out of memory */
static struct text *text_load(struct code_capture *capture, uint32_t image)
{
	_cleanup_free_ struct profile_symbol *symbols = NULL;
	_cleanup_free_ char *names = NULL;
	struct text *text = capture_text(capture, image);
	size_t count;

	if (text != NULL)
		return text;
	if (kernel_images_symbols(capture->kernel, image, &symbols, &count, &names, NULL) < 0 ||
	    code_capture_symbols(capture, image, symbols, count) < 0)
		return NULL;
	return capture_text(capture, image);
}

/* Return true if code can be read. A refusal is reported once. */
static bool source_is_open(struct code_capture *capture, uint64_t address)
{
	struct error err;

	if (capture->source != NULL || capture->refused)
		return capture->source != NULL;
	if (code_source_open(&capture->source, address, &err) == 0)
		return true;
	capture->refused = true;
	log_warning("cannot read the kernel's code, so that its procedures are not analysed: %s",
		    err.message);
	return false;
}

/* Return the last procedure that begins at or before an offset; NULL: none does. */
static struct procedure *procedure_at(const struct text *text, uint64_t offset)
{
	size_t low = partition_point(0, text->count, i, text->procedures[i].offset <= offset);

	return low > 0 ? &text->procedures[low - 1] : NULL;
}

static uint64_t procedure_end(const struct text *text, const struct procedure *procedure,
			      const struct kernel_place *place)
{
	uint64_t end = place->text_end - place->start;

	if (procedure + 1 < text->procedures + text->count && procedure[1].offset < end)
		end = procedure[1].offset;
	if (end > procedure->offset + PROCEDURE_BYTES_MAX)
		end = procedure->offset + PROCEDURE_BYTES_MAX;
	return end;
}

static int batch_add(struct batch *batch, struct procedure *procedure,
		     const struct profile_code *code, uint64_t digest)
{
	size_t capacity = batch->capacity;

	if (batch->count == capacity) {
		size_t by_digest = capacity, by_procedure = capacity;

		if (array_reserve(&batch->digests, &by_digest, capacity + 1,
				  sizeof(*batch->digests)) < 0 ||
		    array_reserve(&batch->procedures, &by_procedure, capacity + 1,
				  sizeof(struct procedure *)) < 0 ||
		    array_reserve(&batch->codes, &batch->capacity, capacity + 1,
				  sizeof(*batch->codes)) < 0)
			return -ENOMEM;
	}
	batch->codes[batch->count] = *code;
	batch->procedures[batch->count] = procedure;
	batch->digests[batch->count++] = digest;
	return 0;
}

/* Read one procedure, and add it to the batch if the database does not have this code. */
static int procedure_read(struct code_capture *capture, struct batch *batch,
			  struct procedure *procedure, uint64_t end,
			  const struct kernel_place *place)
{
	const struct code_mask_image image = {.start = place->start, .end = place->image_end};
	uint64_t address = place->start + procedure->offset, digest;
	struct profile_code code = {
		.offset = procedure->offset,
		.bytes = (size_t)(end - procedure->offset),
		.machine = JIT_DUMP_MACHINE,
	};
	_cleanup_free_ uint8_t *data = malloc(code.bytes);

	if (data == NULL)
		return -ENOMEM;
	capture->read_bytes += code.bytes;
	if (code_source_read(capture->source, address, data, code.bytes) < 0) {
		capture->counts.unreadable++;
		return 0;
	}
	code_mask(data, code.bytes, address, &image);
	digest = XXH3_64bits(data, code.bytes) | 1;
	if (digest == procedure->digest)
		return 0;
	code.data = data;
	if (batch_add(batch, procedure, &code, digest) < 0)
		return -ENOMEM;
	data = NULL;
	return 0;
}

/* @known: read procedures again that the database has */
static int batch_read(struct code_capture *capture, struct batch *batch, const struct text *text,
		      const struct kernel_place *place, const struct profile_sample *samples,
		      size_t count, bool known)
{
	const struct procedure *last = NULL;
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		struct procedure *procedure = procedure_at(text, samples[i].offset);
		uint64_t end;

		if (procedure == NULL || procedure == last ||
		    capture->read_bytes > TRANSACTION_BYTES_MAX)
			continue;
		last = procedure;
		if (!known && procedure->digest != 0)
			continue;
		end = procedure_end(text, procedure, place);
		if (samples[i].offset < end)
			r = procedure_read(capture, batch, procedure, end, place);
	}
	return r;
}

static int batch_write(struct code_capture *capture, struct batch *batch, int64_t id,
		       struct profile_writer *writer, struct error *err)
{
	int r = profile_writer_code_set(writer, id, batch->codes, batch->count, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < batch->count; i++) {
		capture->counts.changed += batch->procedures[i]->digest != 0;
		batch->procedures[i]->digest = batch->digests[i];
	}
	return 0;
}

static int vdso_write(struct code_capture *capture, int64_t id, struct profile_writer *writer,
		      struct error *err)
{
	struct profile_code code = {.machine = JIT_DUMP_MACHINE};
	int r;

	code.data = vdso_file(&code.bytes);
	if (code.data == NULL || capture->vdso)
		return 0;
	r = profile_writer_code_set(writer, id, &code, 1, err);
	capture->vdso = r == 0;
	return r;
}

static int procedures_write(struct code_capture *capture, uint32_t image, int64_t id,
			    const struct profile_sample *samples, size_t count, bool known,
			    struct profile_writer *writer, struct error *err)
{
	_cleanup_(batch_deinit) struct batch batch = {.count = 0};
	struct kernel_place place;
	const struct text *text;

	if (kernel_images_is_vdso(capture->kernel, image))
		return vdso_write(capture, id, writer, err);
	if (kernel_images_place(capture->kernel, image, &place) < 0 ||
	    !source_is_open(capture, place.start))
		return 0;
	text = text_load(capture, image);
	if (text == NULL)
		return 0;
	if (batch_read(capture, &batch, text, &place, samples, count, known) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	/* Otherwise another module may have been at these addresses. */
	if (batch.count == 0 || !kernel_images_is_current(capture->kernel))
		return 0;
	return batch_write(capture, &batch, id, writer, err);
}

int code_capture_write(struct code_capture *capture, uint32_t image, int64_t id,
		       const struct profile_sample *samples, size_t count,
		       struct profile_writer *writer, struct error *err)
{
	return procedures_write(capture, image, id, samples, count, true, writer, err);
}

int code_capture_callers(struct code_capture *capture, uint32_t image, int64_t id,
			 const struct profile_sample *frames, size_t count,
			 struct profile_writer *writer, struct error *err)
{
	return procedures_write(capture, image, id, frames, count, false, writer, err);
}

void code_capture_written(struct code_capture *capture)
{
	capture->read_bytes = 0;
}

void code_capture_forget(struct code_capture *capture)
{
	capture->read_bytes = 0;
	capture->vdso = false;
	for (size_t i = 0; i < capture->text_count; i++) {
		const struct text *text = &capture->texts[i];

		for (size_t j = 0; j < text->count; j++)
			text->procedures[j].digest = 0;
	}
}

struct code_capture_counts code_capture_counts(const struct code_capture *capture)
{
	return capture->counts;
}
