// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/unwind_ranges.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/bounded_reader.h"
#include "lib/u64_map.h"

#define ENCODING_FORMAT 0x0f
#define ENCODING_BASE 0x70
/* In the map of encodings: a CIE whose FDEs cannot be read. */
#define ENCODING_BAD 0x100
/* Likewise: its FDEs have augmentation data. */
#define ENCODING_AUGMENTED 0x200

struct frame_section {
	const unsigned char *ident;
	Elf_Data *data;
	uint64_t address;
	size_t word_bytes;
	struct u64_map encodings; /* CIE's offset -> encoding of its FDEs' addresses, + 1 */
};

/* Bytes of a pointer in an encoding; 0: not of fixed size, or not valid. */
static size_t encoded_bytes(uint8_t encoding, size_t word_bytes)
{
	switch (encoding & ENCODING_FORMAT) {
	case DW_EH_PE_absptr:
		return word_bytes;
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		return 2;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return 8;
	}
	return 0;
}

static uint64_t read_encoded(struct bounded_reader *reader, uint8_t encoding, size_t bytes)
{
	uint64_t value = 0;

	if (bytes == 8)
		return bounded_reader_u64(reader);
	for (size_t i = 0; i < bytes; i++)
		value |= (uint64_t)bounded_reader_u8(reader) << (8 * i);
	if ((encoding & DW_EH_PE_signed) && (value >> (8 * bytes - 1) & 1))
		value |= UINT64_MAX << (8 * bytes);
	return value;
}

/* The 'R' entry of a CIE's augmentation: how its FDEs write addresses. */
static unsigned int cie_encoding(const Dwarf_CIE *cie, size_t word_bytes)
{
	const char *letter = cie->augmentation;
	struct bounded_reader reader;
	unsigned int encoding = DW_EH_PE_absptr;
	uint8_t personality;

	if (*letter != 'z')
		return *letter == '\0' ? encoding : ENCODING_BAD;
	bounded_reader_init(&reader, cie->augmentation_data, cie->augmentation_data_size);
	while (*++letter != '\0') {
		switch (*letter) {
		case 'L':
			bounded_reader_u8(&reader);
			break;
		case 'P':
			personality = bounded_reader_u8(&reader);
			if ((personality & ENCODING_BASE) == DW_EH_PE_aligned ||
			    encoded_bytes(personality, word_bytes) == 0)
				return ENCODING_BAD;
			bounded_reader_bytes(&reader, encoded_bytes(personality, word_bytes));
			break;
		case 'R':
			encoding = bounded_reader_u8(&reader);
			return bounded_reader_failed(&reader) ? ENCODING_BAD
							      : encoding | ENCODING_AUGMENTED;
		case 'S':
		case 'B':
			break;
		default:
			return ENCODING_BAD;
		}
	}
	return encoding | ENCODING_AUGMENTED;
}

/* Return: the encoding, ENCODING_BAD, or -ENOMEM. Each CIE is looked at once. */
static int fde_encoding(struct frame_section *section, Dwarf_Off cie_offset)
{
	uint64_t *known = u64_map_insert(&section->encodings, cie_offset);
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (known == NULL)
		return -ENOMEM;
	if (*known == 0) {
		*known = ENCODING_BAD + 1;
		if (dwarf_next_cfi(section->ident, section->data, true, cie_offset, &next,
				   &entry) == 0 &&
		    dwarf_cfi_cie_p(&entry))
			*known = cie_encoding(&entry.cie, section->word_bytes) + 1;
	}
	return (int)(*known - 1);
}

/* Whether the first instructions, before any code has run, change the frame. */
static bool begins_inside(struct bounded_reader *reader, bool augmented)
{
	uint8_t opcode;

	if (augmented) {
		uint64_t bytes = bounded_reader_varint(reader);

		if (bytes > bounded_reader_left(reader))
			return false;
		bounded_reader_bytes(reader, bytes);
	}
	opcode = bounded_reader_u8(reader);
	return opcode == DW_CFA_def_cfa || opcode == DW_CFA_def_cfa_offset ||
	       opcode == DW_CFA_def_cfa_register || (opcode & 0xc0) == DW_CFA_offset;
}

/* Return: whether the FDE could be read. */
static bool read_fde(const struct frame_section *section, const Dwarf_FDE *fde, unsigned int cie,
		     struct unwind_range *range)
{
	uint8_t encoding = (uint8_t)cie;
	const uint8_t *data = section->data->d_buf;
	size_t bytes = encoded_bytes(encoding, section->word_bytes);
	struct bounded_reader reader;
	uint64_t start;

	if (bytes == 0 || (encoding & DW_EH_PE_indirect) || fde->start < data ||
	    fde->end < fde->start || fde->end > data + section->data->d_size)
		return false;
	bounded_reader_init(&reader, fde->start, (size_t)(fde->end - fde->start));
	start = read_encoded(&reader, encoding, bytes);
	if ((encoding & ENCODING_BASE) == DW_EH_PE_pcrel)
		start += section->address + (uint64_t)(fde->start - data);
	else if ((encoding & ENCODING_BASE) != DW_EH_PE_absptr)
		return false;
	if (section->word_bytes == 4)
		start &= UINT32_MAX;
	range->address = start;
	range->bytes = read_encoded(&reader, encoding & ~DW_EH_PE_signed & ENCODING_FORMAT, bytes);
	if (bounded_reader_failed(&reader) || range->bytes == 0 ||
	    range->bytes > UINT64_MAX - start)
		return false;
	range->inside = begins_inside(&reader, (cie & ENCODING_AUGMENTED) != 0);
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
		int encoding;

		offset = next;
		if (dwarf_cfi_cie_p(&entry))
			continue;
		encoding = fde_encoding(section, entry.fde.CIE_pointer);
		if (encoding < 0)
			return encoding;
		if (encoding == ENCODING_BAD ||
		    !read_fde(section, &entry.fde, (unsigned int)encoding, &range))
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
	GElf_Shdr header;
	Elf_Scn *section = elf_file_section(file, ".eh_frame", &header);
	int r;

	frames.ident = (const unsigned char *)elf_getident(file->elf, NULL);
	if (section != NULL && header.sh_type != SHT_NOBITS)
		frames.data = elf_rawdata(section, NULL);
	frames.address = section != NULL ? header.sh_addr : 0;
	if (frames.ident != NULL && frames.data != NULL && frames.data->d_buf != NULL &&
	    frames.ident[EI_DATA] == ELFDATA2LSB) {
		frames.word_bytes = frames.ident[EI_CLASS] == ELFCLASS32 ? 4 : 8;
		r = read_section(&frames, &ranges, &found);
		u64_map_deinit(&frames.encodings);
		if (r < 0) {
			free(ranges);
			return r;
		}
	}
	if (found > 0)
		qsort(ranges, found, sizeof(*ranges), range_compare);
	*ret = ranges;
	*count = found;
	return 0;
}
