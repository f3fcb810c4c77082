// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/unwind_ranges.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/cie_augmentation.h"
#include "analysis/image/elf_segments.h"
#include "lib/encoded_pointer.h"
#include "lib/array.h"
#include "lib/bounded_reader.h"
#include "lib/u64_map.h"

/*
 * Value of a CIE in the map of encodings: the encoding of addresses in its FDEs and, shifted, that
 * of pointers to handler tables.
 */
#define CIE_ADDRESS 0xffU
#define CIE_BAD 0x100U	     /* its FDEs cannot be read */
#define CIE_AUGMENTED 0x200U /* its FDEs have augmentation data */
#define CIE_HANDLERS_SHIFT 16

struct frame_section {
	const unsigned char *ident;
	Elf_Data *data;
	uint64_t address;
	size_t word_bytes;
	struct u64_map encodings; /* offset of a CIE -> its value + 1 */
};

static unsigned int cie_encodings(const Dwarf_CIE *cie, size_t word_bytes)
{
	struct cie_augmentation read;

	if (!cie_augmentation_read(&read, cie, word_bytes))
		return CIE_BAD;
	return read.address_encoding | (read.augmented ? CIE_AUGMENTED : 0) |
	       (unsigned int)read.handler_encoding << CIE_HANDLERS_SHIFT;
}

/* Return: the value of a CIE, CIE_BAD, or -ENOMEM. Each CIE is read only once. */
static int find_cie(struct frame_section *section, Dwarf_Off cie_offset)
{
	uint64_t *known = u64_map_insert(&section->encodings, cie_offset);
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (known == NULL)
		return -ENOMEM;
	if (*known == 0) {
		*known = CIE_BAD + 1;
		if (dwarf_next_cfi(section->ident, section->data, true, cie_offset, &next,
				   &entry) == 0 &&
		    dwarf_cfi_cie_p(&entry))
			*known = cie_encodings(&entry.cie, section->word_bytes) + 1;
	}
	return (int)(*known - 1);
}

/*
 * Read the address of the handler table from an FDE's augmentation data. Return: true if readable.
 */
static bool read_augmentation(const struct frame_section *section, unsigned int cie,
			      struct bounded_reader *reader, struct unwind_range *range)
{
	uint8_t encoding = (uint8_t)(cie >> CIE_HANDLERS_SHIFT);
	const uint8_t *data = section->data->d_buf, *augmentation;
	struct bounded_reader own;
	uint64_t bytes = bounded_reader_uleb128(reader);

	if (bytes > bounded_reader_left(reader))
		return false;
	augmentation = bounded_reader_bytes(reader, bytes);
	if (encoding == DW_EH_PE_omit || augmentation == NULL)
		return augmentation != NULL;
	bounded_reader_init(&own, augmentation, bytes);
	if (encoded_pointer_resolve(&range->handlers, &own, encoding, section->word_bytes,
				    section->address + (uint64_t)(augmentation - data)) < 0 ||
	    bounded_reader_failed(&own))
		range->handlers = 0;
	return true;
}

/* Return true if the first instructions change the frame before any code has run. */
static bool begins_inside(struct bounded_reader *reader)
{
	uint8_t opcode = bounded_reader_u8(reader);

	return opcode == DW_CFA_def_cfa || opcode == DW_CFA_def_cfa_offset ||
	       opcode == DW_CFA_def_cfa_register || (opcode & 0xc0) == DW_CFA_offset;
}

/* Return: true if the FDE could be read. */
static bool read_fde(const struct frame_section *section, const Dwarf_FDE *fde, unsigned int cie,
		     struct unwind_range *range)
{
	uint8_t encoding = (uint8_t)(cie & CIE_ADDRESS);
	const uint8_t *data = section->data->d_buf;
	size_t bytes = encoded_pointer_bytes(encoding, section->word_bytes);
	struct bounded_reader reader;

	*range = (struct unwind_range){0};
	if (fde->start < data || fde->end < fde->start || fde->end > data + section->data->d_size)
		return false;
	bounded_reader_init(&reader, fde->start, (size_t)(fde->end - fde->start));
	if (encoded_pointer_resolve(&range->address, &reader, encoding, section->word_bytes,
				    section->address + (uint64_t)(fde->start - data)) < 0)
		return false;
	range->bytes = encoded_pointer_read(&reader, encoding & ~DW_EH_PE_signed, bytes);
	if (bounded_reader_failed(&reader) || range->bytes == 0 ||
	    range->bytes > UINT64_MAX - range->address)
		return false;
	if ((cie & CIE_AUGMENTED) == 0 || read_augmentation(section, cie, &reader, range))
		range->inside = begins_inside(&reader);
	return true;
}

static int read_section(struct frame_section *section, struct unwind_range **ranges, size_t *count)
{
	Dwarf_Off offset = 0, next = 0;
	size_t capacity = 0;
	Dwarf_CFI_Entry entry;

	while (dwarf_next_cfi(section->ident, section->data, true, offset, &next, &entry) == 0 &&
	       next > offset) {
		struct unwind_range range;
		int cie;

		offset = next;
		if (dwarf_cfi_cie_p(&entry))
			continue;
		cie = find_cie(section, entry.fde.CIE_pointer);
		if (cie < 0)
			return cie;
		if (cie == CIE_BAD || !read_fde(section, &entry.fde, (unsigned int)cie, &range))
			continue;
		if (array_reserve(ranges, &capacity, *count + 1, sizeof(range)) < 0)
			return -ENOMEM;
		(*ranges)[(*count)++] = range;
	}
	return 0;
}

static int range_compare(const void *a, const void *b)
{
	const struct unwind_range *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

int unwind_ranges_read(struct unwind_range **ret, size_t *count, const struct elf_file *file)
{
	struct frame_section frames = {0};
	struct unwind_range *ranges = NULL;
	size_t found = 0;
	int r;

	frames.ident = (const unsigned char *)elf_getident(file->elf, NULL);
	frames.data = elf_file_contents(file, ".eh_frame", &frames.address);
	if (frames.data == NULL && !elf_file_has_sections(file))
		frames.data = elf_segments_eh_frame(file, &frames.address);
	if (frames.ident != NULL && frames.data != NULL && frames.ident[EI_DATA] == ELFDATA2LSB) {
		frames.word_bytes = frames.ident[EI_CLASS] == ELFCLASS32 ? 4 : 8;
		r = read_section(&frames, &ranges, &found);
		u64_map_deinit(&frames.encodings);
		if (r < 0) {
			free(ranges);
			return r;
		}
	}
	array_sort(ranges, found, sizeof(*ranges), range_compare);
	*ret = ranges;
	*count = found;
	return 0;
}
