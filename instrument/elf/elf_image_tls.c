// SPDX-License-Identifier: GPL-2.0-only
/* Widen the thread-local data of an image. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/elf/elf_image.h"
#include "lib/error.h"
#include "lib/error_text.h"

static bool is_thread_local(const Elf64_Sym *symbol)
{
	return ELF64_ST_TYPE(symbol->st_info) == STT_TLS && symbol->st_shndx != SHN_UNDEF;
}

/* Symbols of thread-local variables are offsets in the template, which grows at its start. */
static int shift_symbols(struct elf_image *image, const Elf64_Shdr *section, uint64_t bytes)
{
	uint64_t at;

	if (!elf_image_has(image, section->sh_offset, section->sh_size))
		return -ENOEXEC;
	for (at = 0; at + sizeof(Elf64_Sym) <= section->sh_size; at += sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;

		memcpy(&symbol, image->file + section->sh_offset + at, sizeof(symbol));
		if (!is_thread_local(&symbol))
			continue;
		symbol.st_value += bytes;
		memcpy(image->file + section->sh_offset + at, &symbol, sizeof(symbol));
	}
	return 0;
}

struct shift {
	struct elf_image *image;
	uint64_t bytes;
};

/* Addends of thread-local relocations without a symbol are such offsets as well. */
static void shift_relocations(void *context, uint64_t offset, size_t count)
{
	const struct shift *shift = context;
	uint8_t *at = shift->image->file + offset;

	for (size_t i = 0; i < count; i++, at += sizeof(Elf64_Rela)) {
		Elf64_Rela relocation;
		uint32_t type;

		memcpy(&relocation, at, sizeof(relocation));
		type = ELF64_R_TYPE(relocation.r_info);
		if (ELF64_R_SYM(relocation.r_info) != 0 ||
		    (type != R_X86_64_TPOFF64 && type != R_X86_64_DTPOFF64 &&
		     type != R_X86_64_TLSDESC))
			continue;
		relocation.r_addend += (int64_t)shift->bytes;
		memcpy(at, &relocation, sizeof(relocation));
	}
}

/* Shift the offsets of thread-local variables in symbols and relocations. */
static int shift_variables(struct elf_image *image, uint64_t bytes, struct error *err)
{
	size_t count, name_bytes;
	const uint8_t *names;
	const Elf64_Shdr *sections = elf_image_sections(image, &count, &names, &name_bytes);
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		if (sections[i].sh_type == SHT_DYNSYM || sections[i].sh_type == SHT_SYMTAB)
			r = shift_symbols(image, &sections[i], bytes);
	}
	if (r < 0)
		return error_set(err, -r, "it has a damaged section");
	return elf_image_visit_relocations(image, shift_relocations,
					   &(struct shift){.image = image, .bytes = bytes}, err);
}

/* Append to the variables of a shared object. The loader chooses the address of the whole block. */
static int widen_shared(struct elf_image *image, size_t bytes, int64_t *offset, struct error *err)
{
	Elf64_Phdr *tls;

	if (image->tls < 0) {
		image->tls = (int)image->segment_count++;
		image->segments[image->tls] = (Elf64_Phdr){.p_type = PT_TLS,
							   .p_flags = PF_R,
							   .p_offset = image->end - image->bias,
							   .p_vaddr = image->end,
							   .p_paddr = image->end,
							   .p_align = sizeof(uint64_t)};
	}
	tls = &image->segments[image->tls];
	if (tls->p_memsz > INT32_MAX)
		return error_set(err, ENOTSUP, "its thread-local data are too large");
	*offset = (int64_t)elf_image_round_up(tls->p_memsz, sizeof(uint64_t));
	tls->p_memsz = (uint64_t)*offset + bytes;
	if (tls->p_align < sizeof(uint64_t))
		tls->p_align = sizeof(uint64_t);
	return 0;
}

/*
 * The thread-local block of an executable ends at the thread pointer, after its size is rounded up
 * to its alignment. Bytes inserted at its start therefore do not move any variable.
 */
static int widen_executable(struct elf_image *image, int64_t *offset, struct error *err)
{
	static const Elf64_Phdr none = {
		.p_type = PT_TLS, .p_flags = PF_R, .p_align = ELF_IMAGE_ALIGN};
	const Elf64_Phdr *tls = image->tls >= 0 ? &image->segments[image->tls] : &none;
	uint64_t align = tls->p_align > 1 ? tls->p_align : 1;
	uint64_t bytes = align > ELF_IMAGE_ALIGN ? align : ELF_IMAGE_ALIGN;
	const uint8_t *old = elf_image_at(image, tls->p_vaddr, tls->p_filesz);

	if (tls->p_memsz > UINT32_MAX || tls->p_filesz > tls->p_memsz || align > ELF_IMAGE_PAGE ||
	    (align & (align - 1)) != 0 || tls->p_vaddr % align != 0 ||
	    (tls->p_filesz > 0 && old == NULL))
		return error_set(err, ENOTSUP, "its thread-local data are not supported");
	if (elf_image_packs_relocations(image, tls->p_vaddr, tls->p_filesz))
		return error_set(err, ENOTSUP,
				 "its thread-local data begin with pointers whose relocations are "
				 "packed");
	if (shift_variables(image, bytes, err) < 0)
		return -ENOTSUP;
	image->template_added = bytes;
	image->template_old = tls->p_vaddr;
	image->template_bytes = bytes + tls->p_filesz;
	image->template = calloc(1, image->template_bytes);
	if (image->template == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (tls->p_filesz > 0)
		memcpy(image->template + bytes, old, tls->p_filesz);
	*offset = -(int64_t)elf_image_round_up(tls->p_memsz + bytes, align);
	if (image->tls < 0) {
		image->tls = (int)image->segment_count++;
		image->segments[image->tls] = none;
	}
	image->segments[image->tls].p_memsz += bytes;
	image->segments[image->tls].p_filesz = image->template_bytes;
	return 0;
}

int elf_image_widen_tls(struct elf_image *image, int64_t *offset, struct error *err)
{
	return image->shared ? widen_shared(image, sizeof(uint64_t), offset, err)
			     : widen_executable(image, offset, err);
}
