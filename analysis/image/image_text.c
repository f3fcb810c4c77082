// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/image_text.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/image/image_elf.h"
#include "analysis/image/image_memory.h"
#include "analysis/image/no_return_names.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* Greatest number of bytes that image_text_bytes() makes available at once. */
#define WINDOW_BYTES (UINT64_C(1) << 20)

CLEANUP_DEFINE(image_text, struct image_text *, image_text_close)

static const char *machine_name(const GElf_Ehdr *header)
{
	switch (header->e_machine) {
	case EM_386:
		return "32-bit x86";
	case EM_X86_64:
		return "x32 (32-bit pointers)";
	case EM_ARM:
		return "32-bit Arm";
	case EM_AARCH64:
		return "big-endian AArch64";
	case EM_PPC64:
		return "64-bit PowerPC";
	case EM_S390:
		return "s390";
	case EM_RISCV:
		return "RISC-V";
	case EM_MIPS:
		return "MIPS";
	case EM_LOONGARCH:
		return "LoongArch";
	}
	return NULL;
}

static int no_decoder(const char *path, const GElf_Ehdr *header, struct error *err)
{
	const char *name = machine_name(header);

	if (name == NULL)
		return error_set(err, ENOTSUP,
				 "no instruction decoder for the code of '%s' (ELF machine %u)",
				 path, header->e_machine);
	return error_set(err, ENOTSUP, "no instruction decoder for the code of '%s' (%s)", path,
			 name);
}

static int open_decoder(struct image_text *text, struct error *err)
{
	const char *path = image_elf_path(text->image);
	const struct insn_decoder *decoder;
	GElf_Ehdr header;
	int r;

	if (gelf_getehdr(image_elf_file(text->image)->elf, &header) == NULL)
		return error_set(err, EBADF, "cannot read the headers of '%s'", path);
	decoder = insn_decoder_find(header.e_machine);
	if (decoder == NULL || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB)
		return no_decoder(path, &header, err);
	if (!image_elf_has_code(text->image))
		return error_set(err, ENODATA,
				 "the code of '%s' is missing: only its debug file '%s' exists",
				 image_elf_profiled_path(text->image), path);
	r = image_memory_open(&text->memory, image_elf_file(text->image));
	if (r < 0)
		return error_set(err, -r, "cannot read the code of '%s'", path);
	text->decoder = decoder;
	text->kernel = header.e_ident[EI_OSABI] == ELFOSABI_STANDALONE;
	return 0;
}

int image_text_open(struct image_text **ret, const struct profile_image *image,
		    const struct debug_file_options *options, bool names, struct error *err)
{
	_cleanup_(cleanup_image_text) struct image_text *text = calloc(1, sizeof(*text));
	int r;

	if (text == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	r = procedure_table_open(&text->procedures, image, options, err);
	if (r < 0)
		return r;
	text->image = procedure_table_image(text->procedures);
	r = open_decoder(text, err);
	if (r < 0 && (r == -ENOMEM || !names))
		return r;
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

	if (bytes == 0 || text->memory == NULL || (section != NULL && section->empty))
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
	if (procedure->address != address)
		return false;
	return no_return_names_has(procedure->name) ||
	       (text->kernel && no_return_names_kernel_has(procedure->name));
}
