// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/image_text.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/image/image_elf.h"
#include "analysis/image/image_memory.h"
#include "analysis/image/no_return_names.h"
#include "lib/cleanup.h"
#include "lib/error.h"

/* What image_text_bytes() makes available at once, if there is so much. */
#define WINDOW_BYTES (UINT64_C(1) << 20)

CLEANUP_DEFINE(image_text, struct image_text *, image_text_close)

static int find_decoder(struct image_text *text, struct error *err)
{
	const char *path = image_elf_path(text->image);
	GElf_Ehdr header;

	if (gelf_getehdr(image_elf_file(text->image)->elf, &header) == NULL)
		return error_set(err, ENOEXEC, "cannot read the headers of %s", path);
	text->decoder = insn_decoder_find(header.e_machine);
	if (text->decoder == NULL || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB)
		return error_set(err, ENOTSUP, "%s is code of an architecture without decoder (%u)",
				 path, header.e_machine);
	return 0;
}

int image_text_open(struct image_text **ret, const struct profile_image *image,
		    const struct debug_file_options *options, struct error *err)
{
	_cleanup_(cleanup_image_text) struct image_text *text = calloc(1, sizeof(*text));
	int r;

	if (text == NULL)
		return error_set(err, ENOMEM, "out of memory");
	r = procedure_table_open(&text->procedures, image, options, err);
	if (r < 0)
		return r;
	text->image = procedure_table_image(text->procedures);
	r = find_decoder(text, err);
	if (r < 0)
		return r;
	r = image_memory_open(&text->memory, image_elf_file(text->image));
	if (r < 0)
		return error_set(err, -r, "cannot read the code of %s",
				 image_elf_path(text->image));
	*ret = take_ptr(text);
	return 0;
}

void image_text_close(struct image_text *text)
{
	if (text == NULL)
		return;
	image_memory_close(text->memory);
	procedure_table_destroy(text->procedures);
	free(text);
}

const uint8_t *image_text_bytes(struct image_text *text, uint64_t address, size_t *available)
{
	const struct image_section *section = image_elf_section_at(text->image, address);
	uint64_t offset, bytes = image_elf_offset(text->image, address, &offset);

	if (bytes == 0)
		return NULL;
	if (section != NULL && section->bytes - (address - section->address) < bytes)
		bytes = section->bytes - (address - section->address);
	if (bytes > WINDOW_BYTES)
		bytes = WINDOW_BYTES;
	*available = bytes;
	return image_memory_code(text->memory, address, bytes);
}

long image_text_find(const struct image_text *text, uint64_t address)
{
	uint64_t offset;

	if (image_elf_offset(text->image, address, &offset) == 0)
		return -ENOENT;
	return procedure_table_find(text->procedures, offset);
}

bool image_text_never_returns(const struct image_text *text, uint64_t address)
{
	long index = image_text_find(text, address);
	const struct procedure *procedure;

	if (index < 0)
		return false;
	procedure = procedure_table_get(text->procedures, (size_t)index);
	return procedure->address == address && no_return_names_has(procedure->name);
}
