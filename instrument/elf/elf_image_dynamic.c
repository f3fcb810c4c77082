// SPDX-License-Identifier: GPL-2.0-only
/* What a shared object tells the loader. */
#include <errno.h>
#include <string.h>

#include "instrument/elf/elf_image.h"
#include "lib/error.h"

/* The entries, of which the last one is DT_NULL. Return: NULL: there are none. */
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

static Elf64_Dyn *find_entry(const struct elf_image *image, int64_t tag)
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

static uint64_t value_of(const struct elf_image *image, int64_t tag)
{
	const Elf64_Dyn *entry = find_entry(image, tag);

	return entry != NULL ? entry->d_un.d_val : 0;
}

static const char *name_of(const struct elf_image *image)
{
	uint64_t bytes = value_of(image, DT_STRSZ), at = value_of(image, DT_SONAME);
	const uint8_t *strings = elf_image_at(image, value_of(image, DT_STRTAB), bytes);

	if (at == 0 || strings == NULL || at >= bytes ||
	    memchr(strings + at, '\0', bytes - at) == NULL)
		return NULL;
	return (const char *)strings + at;
}

int elf_image_dynamic(const struct elf_image *image, struct elf_image_dynamic *ret,
		      struct error *err)
{
	size_t bytes = value_of(image, DT_RELASZ), count;
	const uint8_t *relocations = elf_image_at(image, value_of(image, DT_RELA), bytes);
	const char *name = name_of(image);

	if (entries_of(image, &count) == NULL)
		return error_set(err, ENOTSUP, "it tells the dynamic loader nothing");
	if (bytes % sizeof(Elf64_Rela) != 0 || (bytes > 0 && relocations == NULL))
		return error_set(err, ENOTSUP, "its relocations are of an unusual shape");
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

/* An entry may be put where there is none yet, if there is another behind it. */
static Elf64_Dyn *make_entry(struct elf_image *image, int64_t tag)
{
	Elf64_Dyn *entry = find_entry(image, tag), *entries;
	size_t count;

	if (entry != NULL)
		return entry;
	entries = entries_of(image, &count);
	entry = find_entry(image, DT_NULL);
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
			return error_set(err, ENOTSUP, "there is no room for a relocation");
		entry->d_un.d_val = wanted[i].value;
	}
	return 0;
}
