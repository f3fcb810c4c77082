// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/unwind/unwind_frames.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/encoded_pointer.h"
#include "lib/u64_map.h"

#define LENGTH_64 UINT32_C(0xffffffff)
#define WORD_BYTES 8

/*
 * @cie_of: offset of a CIE to its index, plus 1; CIE_BAD: it cannot be used
 */
struct section_walk {
	struct unwind_frames *frames;
	const struct unwind_machine *machine;
	const struct unwind_section *section;
	bool is_debug;
	struct u64_map cie_of;
};

#define CIE_BAD UINT64_MAX

/*
 * struct entry - a CIE or an FDE
 * @reader:  after the id
 * @id:      CIE: 0 in .eh_frame, all ones in .debug_frame; FDE: refers to the CIE
 * @id_at:   offset of the id; @end: offset of the next entry
 */
struct entry {
	struct bounded_reader reader;
	uint64_t id;
	uint64_t id_at;
	uint64_t end;
	bool is_64;
};

/* Return: false at the end of the section, or if it is malformed. */
static bool entry_read(const struct section_walk *walk, uint64_t at, struct entry *entry)
{
	const struct unwind_section *section = walk->section;
	struct bounded_reader reader;
	uint64_t length;

	if (at >= section->bytes)
		return false;
	bounded_reader_init(&reader, section->data + at, section->bytes - at);
	length = bounded_reader_u32(&reader);
	entry->is_64 = length == LENGTH_64;
	if (entry->is_64)
		length = bounded_reader_u64(&reader);
	if (bounded_reader_failed(&reader) || length > bounded_reader_left(&reader))
		return false;
	entry->id_at = (uint64_t)(reader.position - section->data);
	entry->end = entry->id_at + length;
	bounded_reader_init(&entry->reader, reader.position, (size_t)length);
	/* In .eh_frame the id has four bytes in both formats. */
	entry->id = entry->is_64 && walk->is_debug ? bounded_reader_u64(&entry->reader)
						   : bounded_reader_u32(&entry->reader);
	return true;
}

static bool entry_is_cie(const struct section_walk *walk, const struct entry *entry)
{
	if (!walk->is_debug)
		return entry->id == 0;
	return entry->id == (entry->is_64 ? UINT64_MAX : UINT32_MAX);
}

/* Read the augmentation data that the letters after "z" describe. */
static bool augmentation_read(struct unwind_cie *cie, struct bounded_reader *reader,
			      const char *letters)
{
	uint64_t bytes = bounded_reader_uleb128(reader);
	struct bounded_reader data;
	const void *start = bytes <= bounded_reader_left(reader)
				    ? bounded_reader_bytes(reader, (size_t)bytes)
				    : NULL;
	uint8_t encoding;

	if (start == NULL)
		return false;
	cie->augmented = true;
	bounded_reader_init(&data, start, (size_t)bytes);
	for (; *letters != '\0'; letters++) {
		switch (*letters) {
		case 'R':
			cie->address_encoding = bounded_reader_u8(&data);
			break;
		case 'L':
			bounded_reader_u8(&data);
			break;
		case 'P':
			encoding = bounded_reader_u8(&data);
			if (bounded_reader_bytes(
				    &data, encoded_pointer_bytes(encoding, WORD_BYTES)) == NULL)
				return false;
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'B':
			break;
		default:
			return false;
		}
	}
	return !bounded_reader_failed(&data);
}

/* Return: the string, or NULL if it has no end. */
static const char *string_read(struct bounded_reader *reader)
{
	const uint8_t *start = reader->position;
	const uint8_t *end = memchr(start, '\0', bounded_reader_left(reader));

	if (end == NULL)
		return NULL;
	return bounded_reader_bytes(reader, (size_t)(end - start) + 1);
}

static bool cie_read(const struct section_walk *walk, struct unwind_cie *cie, uint64_t at)
{
	const char *augmentation;
	struct bounded_reader *reader;
	struct entry entry;
	uint8_t version;
	uint64_t column;

	*cie = (struct unwind_cie){.address_encoding = DW_EH_PE_absptr};
	if (!entry_read(walk, at, &entry) || !entry_is_cie(walk, &entry))
		return false;
	reader = &entry.reader;
	version = bounded_reader_u8(reader);
	augmentation = string_read(reader);
	if ((version != 1 && version != 3 && version != 4) || augmentation == NULL)
		return false;
	/* The sizes of addresses and of segment selectors. */
	if (version == 4 && (bounded_reader_u8(reader) != WORD_BYTES || bounded_reader_u8(reader)))
		return false;
	cie->code_factor = bounded_reader_uleb128(reader);
	cie->data_factor = bounded_reader_sleb128(reader);
	column = version == 1 ? bounded_reader_u8(reader) : bounded_reader_uleb128(reader);
	if (column != walk->machine->ra_column || bounded_reader_failed(reader))
		return false;
	if (*augmentation == 'z' ? !augmentation_read(cie, reader, augmentation + 1)
				 : *augmentation != '\0')
		return false;
	cie->program = reader->position;
	cie->program_bytes = bounded_reader_left(reader);
	return true;
}

/* Return: the index of a CIE; -ENOENT: it cannot be used; -ENOMEM. */
static int64_t cie_find(struct section_walk *walk, uint64_t at)
{
	struct unwind_frames *frames = walk->frames;
	uint64_t *known = u64_map_insert(&walk->cie_of, at);
	struct unwind_cie *cie;

	if (known == NULL)
		return -ENOMEM;
	if (*known == CIE_BAD)
		return -ENOENT;
	if (*known != 0)
		return (int64_t)*known - 1;
	if (array_reserve(&frames->cies, &frames->cie_capacity, frames->cie_count + 1,
			  sizeof(*cie)) < 0)
		return -ENOMEM;
	cie = &frames->cies[frames->cie_count];
	if (!cie_read(walk, cie, at)) {
		*known = CIE_BAD;
		return -ENOENT;
	}
	unwind_cie_start(cie, walk->machine);
	*known = ++frames->cie_count;
	return (int64_t)*known - 1;
}

/* Read the range of code, and find the instructions. Return: false if malformed. */
static bool frame_read(const struct section_walk *walk, const struct unwind_cie *cie,
		       struct entry *entry, struct unwind_frame *frame)
{
	const struct unwind_section *section = walk->section;
	struct bounded_reader *reader = &entry->reader;
	uint8_t encoding = cie->address_encoding;
	size_t bytes = encoded_pointer_bytes(encoding, WORD_BYTES);
	uint64_t place = section->address + (uint64_t)(reader->position - section->data);
	uint64_t length;

	if (encoded_pointer_resolve(&frame->start, reader, encoding, WORD_BYTES, place) < 0)
		return false;
	length = encoded_pointer_read(reader, encoding & ENCODED_POINTER_FORMAT & 7, bytes);
	if (cie->augmented) {
		uint64_t skip = bounded_reader_uleb128(reader);

		if (skip > bounded_reader_left(reader))
			return false;
		bounded_reader_bytes(reader, (size_t)skip);
	}
	frame->program = reader->position;
	frame->program_bytes = (uint32_t)bounded_reader_left(reader);
	frame->place = section->address + (uint64_t)(reader->position - section->data);
	return !bounded_reader_failed(reader) &&
	       !__builtin_add_overflow(frame->start, length, &frame->end);
}

static int frame_add(struct section_walk *walk, struct entry *entry)
{
	struct unwind_frames *frames = walk->frames;
	struct unwind_frame frame;
	int64_t cie;

	if (!walk->is_debug && entry->id > entry->id_at) {
		frames->skipped++;
		return 0;
	}
	cie = cie_find(walk, walk->is_debug ? entry->id : entry->id_at - entry->id);
	if (cie == -ENOMEM)
		return -ENOMEM;
	if (cie < 0 || !frame_read(walk, &frames->cies[cie], entry, &frame)) {
		frames->skipped++;
		return 0;
	}
	/* Linkers keep descriptions of removed code, at address 0 or empty. */
	if (frame.start == 0 || frame.start >= frame.end)
		return 0;
	frame.cie = (uint32_t)cie;
	if (array_reserve(&frames->frames, &frames->capacity, frames->count + 1, sizeof(frame)) < 0)
		return -ENOMEM;
	frames->frames[frames->count++] = frame;
	return 0;
}

int unwind_frames_add(struct unwind_frames *frames, const struct unwind_machine *machine,
		      const struct unwind_section *section, bool is_debug)
{
	struct section_walk walk = {
		.frames = frames, .machine = machine, .section = section, .is_debug = is_debug};
	struct entry entry;
	int r = 0;

	for (uint64_t at = 0; r == 0 && section->data != NULL && entry_read(&walk, at, &entry);
	     at = entry.end) {
		/* An empty entry is a terminator, which linkers also leave between entries. */
		if (entry.end > entry.id_at && !entry_is_cie(&walk, &entry))
			r = frame_add(&walk, &entry);
	}
	u64_map_deinit(&walk.cie_of);
	return r;
}

static int by_start(const void *a, const void *b)
{
	const struct unwind_frame *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	/* CIEs are numbered in the order in which sections were added. */
	return (x->cie > y->cie) - (x->cie < y->cie);
}

void unwind_frames_sort(struct unwind_frames *frames)
{
	array_sort(frames->frames, frames->count, sizeof(*frames->frames), by_start);
}

void unwind_frames_deinit(struct unwind_frames *frames)
{
	free(frames->frames);
	free(frames->cies);
	*frames = (struct unwind_frames){.count = 0};
}
