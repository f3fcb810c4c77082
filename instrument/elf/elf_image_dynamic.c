// SPDX-License-Identifier: GPL-2.0-only
/* Read and change the dynamic section of an image. */
#include <errno.h>
#include <string.h>

#include "instrument/elf/elf_image.h"
#include "lib/error.h"

/* Return: the entries, terminated by DT_NULL; NULL without a dynamic section. */
static Elf64_Dyn *entries_of(const struct elf_image *image, size_t *count)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const Elf64_Phdr *segment = &image->segments[i];

		if (segment->p_type != PT_DYNAMIC || segment->p_offset % sizeof(uint64_t) != 0 ||
		    !elf_image_has(image, segment->p_offset, segment->p_filesz))
			continue;
		*count = segment->p_filesz / sizeof(Elf64_Dyn);
		return (Elf64_Dyn *)(void *)(image->file + segment->p_offset);
	}
	return NULL;
}

static Elf64_Dyn *elf_image_dynamic_find_entry(const struct elf_image *image, int64_t tag)
{
	size_t count;
	Elf64_Dyn *entries = entries_of(image, &count);

	for (size_t i = 0; entries != NULL && i < count; i++) {
		if (entries[i].d_tag == tag)
			return &entries[i];
		if (entries[i].d_tag == DT_NULL)
			break;
	}
	return NULL;
}

static uint64_t elf_image_dynamic_value_of(const struct elf_image *image, int64_t tag)
{
	const Elf64_Dyn *entry = elf_image_dynamic_find_entry(image, tag);

	return entry != NULL ? entry->d_un.d_val : 0;
}

static const char *elf_image_dynamic_name_of(const struct elf_image *image)
{
	uint64_t bytes = elf_image_dynamic_value_of(image, DT_STRSZ),
		 at = elf_image_dynamic_value_of(image, DT_SONAME);
	const uint8_t *strings =
		elf_image_at(image, elf_image_dynamic_value_of(image, DT_STRTAB), bytes);

	if (at == 0 || strings == NULL || at >= bytes ||
	    memchr(strings + at, '\0', bytes - at) == NULL)
		return NULL;
	return (const char *)strings + at;
}

int elf_image_dynamic(const struct elf_image *image, struct elf_image_dynamic *ret,
		      struct error *err)
{
	size_t bytes = elf_image_dynamic_value_of(image, DT_RELASZ), count;
	const uint8_t *relocations =
		elf_image_at(image, elf_image_dynamic_value_of(image, DT_RELA), bytes);
	const char *name = elf_image_dynamic_name_of(image);

	if (entries_of(image, &count) == NULL)
		return error_set(err, ENOTSUP, "it has no dynamic section");
	if (bytes % sizeof(Elf64_Rela) != 0 || (bytes > 0 && relocations == NULL))
		return error_set(err, ENOTSUP, "its relocations are not supported");
	if (name != NULL && (strncmp(name, "ld-", 3) == 0 || strncmp(name, "libc.musl", 9) == 0))
		return error_set(err, ENOTSUP,
				 "it is the dynamic loader, which runs before there are threads");
	*ret = (struct elf_image_dynamic){
		.name = name,
		.relocations = relocations,
		.relocation_bytes = bytes,
	};
	return 0;
}

/* Find the file offset of a table and its size from tag @size; 0 if there is no table. */
static int table_of(const struct elf_image *image, int64_t tag, int64_t size, uint64_t *offset,
		    uint64_t *bytes, struct error *err)
{
	const uint8_t *at;

	*offset = 0;
	*bytes = elf_image_dynamic_value_of(image, size);
	if (*bytes == 0)
		return 0;
	at = elf_image_at(image, elf_image_dynamic_value_of(image, tag), *bytes);
	if (at == NULL || *bytes % sizeof(Elf64_Rela) != 0)
		return error_set(err, ENOTSUP, "its relocations are not supported");
	*offset = (uint64_t)(at - image->file);
	return 0;
}

int elf_image_visit_relocations(const struct elf_image *image,
				void (*visit)(void *context, uint64_t offset, size_t count),
				void *context, struct error *err)
{
	uint64_t all, bytes, slots, slot_bytes;
	int r = table_of(image, DT_RELA, DT_RELASZ, &all, &bytes, err);

	if (r == 0)
		r = table_of(image, DT_JMPREL, DT_PLTRELSZ, &slots, &slot_bytes, err);
	if (r < 0)
		return r;
	/* The table of PLT relocations may be a part of the table of all relocations. */
	if (slot_bytes > 0 && slots >= all && slots + slot_bytes <= all + bytes)
		slot_bytes = 0;
	else if (slot_bytes > 0 && slots < all + bytes && all < slots + slot_bytes)
		return error_set(err, ENOTSUP, "its relocations are not supported");
	if (bytes > 0)
		visit(context, all, bytes / sizeof(Elf64_Rela));
	if (slot_bytes > 0)
		visit(context, slots, slot_bytes / sizeof(Elf64_Rela));
	return 0;
}

/* Each word is an address or, if it is odd, a bitmap of the relocated words among the next 63
 * words. */
bool elf_image_packs_relocations(const struct elf_image *image, uint64_t address, uint64_t bytes)
{
	uint64_t packed = elf_image_dynamic_value_of(image, DT_RELRSZ), next = 0;
	const uint8_t *at = elf_image_at(image, elf_image_dynamic_value_of(image, DT_RELR), packed);

	if (packed > 0 && at == NULL)
		return true;
	for (uint64_t i = 0; i + sizeof(uint64_t) <= packed; i += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, at + i, sizeof(word));
		if ((word & 1) == 0) {
			if (word - address < bytes)
				return true;
			next = word + sizeof(word);
			continue;
		}
		for (unsigned int bit = 1; bit < 64; bit++) {
			if ((word >> bit & 1) && next + (bit - 1) * sizeof(word) - address < bytes)
				return true;
		}
		next += 63 * sizeof(word);
	}
	return false;
}

/* Return the entry of a tag. A missing entry replaces a DT_NULL entry that another one follows. */
static Elf64_Dyn *make_entry(struct elf_image *image, int64_t tag)
{
	Elf64_Dyn *entry = elf_image_dynamic_find_entry(image, tag), *entries;
	size_t count;

	if (entry != NULL)
		return entry;
	entries = entries_of(image, &count);
	entry = elf_image_dynamic_find_entry(image, DT_NULL);
	if (entry == NULL || (size_t)(entry - entries) + 1 >= count || entry[1].d_tag != DT_NULL)
		return NULL;
	entry->d_tag = tag;
	return entry;
}

int elf_image_set_relocations(struct elf_image *image, uint64_t address, size_t bytes,
			      struct error *err)
{
	const struct {
		int64_t tag;
		uint64_t value;
	} wanted[] = {{DT_RELA, address}, {DT_RELASZ, bytes}, {DT_RELAENT, sizeof(Elf64_Rela)}};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		Elf64_Dyn *entry = make_entry(image, wanted[i].tag);

		if (entry == NULL)
			return error_set(err, ENOTSUP, "no space for a relocation");
		entry->d_un.d_val = wanted[i].value;
	}
	return 0;
}
