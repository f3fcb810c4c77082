// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/image_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/call_returns.h"
#include "analysis/image/code_references.h"
#include "analysis/image/image_elf.h"
#include "analysis/image/image_lines.h"
#include "analysis/image/image_memory.h"
#include "analysis/image/landing_pads.h"
#include "analysis/image/procedure_parts.h"
#include "analysis/image/table_starts.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

#define BUILD_ID_BYTES_MAX 64

struct image_code {
	struct image_text *text;
	struct procedure_parts *parts;
	struct call_returns *returns;
	struct table_starts *starts;
	struct code_references *references;
	struct image_lines *lines;
	char build_id[2 * BUILD_ID_BYTES_MAX + 1];
};

CLEANUP_DEFINE(image_code, struct image_code *, image_code_close)

static void read_build_id(struct image_code *code)
{
	const uint8_t *id = NULL;
	size_t bytes = elf_file_build_id(image_elf_file(code->text->image), &id);

	if (bytes > BUILD_ID_BYTES_MAX)
		bytes = 0;
	for (size_t i = 0; i < bytes; i++)
		snprintf(code->build_id + 2 * i, 3, "%02x", id[i]);
}

/* Compute everything that depends on following the code. */
static int image_code_load(struct image_code *code, const struct debug_file_options *options)
{
	int r;

	read_build_id(code);
	r = procedure_parts_create(&code->parts, code->text);
	if (r == 0)
		r = call_returns_create(&code->returns, code->text);
	if (r == 0)
		r = table_starts_create(&code->starts, code->text);
	if (r == 0)
		r = code_references_create(&code->references, code->text);
	if (r == 0)
		r = image_lines_open(&code->lines, code->text->procedures, options);
	return r;
}

static int open_code(struct image_code **ret, const struct profile_image *image,
		     const struct debug_file_options *options, bool names, struct error *err)
{
	_cleanup_(cleanup_image_code) struct image_code *code = calloc(1, sizeof(*code));
	int r;

	if (code == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	r = image_text_open(&code->text, image, options, names, err);
	if (r < 0)
		return r;
	r = image_code_load(code, options);
	if (r < 0)
		return error_set(err, -r, "cannot read the code of '%s'",
				 image_elf_path(code->text->image));
	*ret = take_ptr(code);
	return 0;
}

int image_code_open(struct image_code **ret, const struct profile_image *image,
		    const struct debug_file_options *options, struct error *err)
{
	return open_code(ret, image, options, false, err);
}

int image_code_open_names(struct image_code **ret, const struct profile_image *image,
			  const struct debug_file_options *options, struct error *err)
{
	return open_code(ret, image, options, true, err);
}

struct image_code *image_code_open_same(const char *path, const char *build_id,
					const char *directory)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE, .path = path};
	struct debug_file_options debug = {.directory = directory};
	struct image_code *code = NULL;
	struct error err;

	if (image_code_open(&code, &image, &debug, &err) < 0)
		return NULL;
	if (strcmp(image_code_build_id(code), build_id) == 0)
		return code;
	image_code_close(code);
	return NULL;
}

void image_code_close(struct image_code *code)
{
	if (code == NULL)
		return;
	image_lines_close(code->lines);
	code_references_destroy(code->references);
	table_starts_destroy(code->starts);
	call_returns_destroy(code->returns);
	procedure_parts_destroy(code->parts);
	image_text_close(code->text);
	free(code);
}

const struct insn_decoder *image_code_decoder(const struct image_code *code)
{
	return code->text->decoder;
}

const struct procedure_table *image_code_procedures(const struct image_code *code)
{
	return code->text->procedures;
}

bool image_code_is_kernel(const struct image_code *code)
{
	return code->text->kernel;
}

const struct elf_file *image_code_file(const struct image_code *code)
{
	return image_elf_file(code->text->image);
}

const char *image_code_build_id(const struct image_code *code)
{
	return code->build_id;
}

size_t image_code_parts(const struct image_code *code, size_t index,
			struct image_range parts[PROCEDURE_PARTS_MAX], size_t *parent)
{
	return procedure_parts_get(code->parts, index, parts, parent);
}

const uint8_t *image_code_bytes(struct image_code *code, uint64_t address, size_t *available)
{
	return image_text_bytes(code->text, address, available);
}

int image_code_data(struct image_code *code, uint64_t address, void *buffer, size_t bytes)
{
	return image_memory_read(code->text->memory, address, buffer, bytes);
}

int image_code_initial(struct image_code *code, uint64_t address, uint64_t *pointer)
{
	return image_memory_initial(code->text->memory, address, pointer);
}

void image_code_pointers(struct image_code *code, uint64_t start, uint64_t end,
			 void (*visit)(void *context, uint64_t target), void *context)
{
	image_memory_pointers(code->text->memory, start, end, visit, context);
}

int image_code_next_start(struct image_code *code, uint64_t address, uint32_t bytes, uint64_t *next)
{
	return table_starts_next(code->starts, address, bytes, next);
}

int image_code_callers(struct image_code *code, const struct image_range *procedure,
		       const struct code_reference **ret, size_t *count)
{
	return code_references_find(code->references, procedure, ret, count);
}

void image_code_landing_pads(const struct image_code *code, uint64_t start, uint64_t end,
			     void (*visit)(void *context, uint64_t address), void *context)
{
	landing_pads_visit(procedure_table_pads(code->text->procedures), start, end, visit,
			   context);
}

int image_code_offset(const struct image_code *code, uint64_t address, uint64_t *offset)
{
	return image_elf_offset(code->text->image, address, offset) > 0 ? 0 : -ENOENT;
}

int image_code_address(const struct image_code *code, uint64_t offset, uint64_t *address)
{
	return image_elf_address(code->text->image, offset, address) > 0 ? 0 : -ENOENT;
}

uint64_t image_code_span(const struct image_code *code, uint64_t offset, uint64_t *address)
{
	return image_elf_address(code->text->image, offset, address);
}

long image_code_find(const struct image_code *code, uint64_t address)
{
	return image_text_find(code->text, address);
}

bool image_code_call_returns(struct image_code *code, const struct insn *call,
			     enum call_argument argument)
{
	return call_returns_query(code->returns, call, argument);
}

const char *image_code_slot_name(struct image_code *code, uint64_t address)
{
	return image_memory_slot_name(code->text->memory, address);
}

int image_code_line(struct image_code *code, uint64_t address, const char **file,
		    unsigned int *line)
{
	if (code->lines == NULL)
		return -ENOENT;
	return image_lines_find(code->lines, address, file, line);
}
