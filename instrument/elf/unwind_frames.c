// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/elf/unwind_cie.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/cie_augmentation.h"
#include "analysis/image/elf_file.h"
#include "lib/encoded_pointer.h"
#include "instrument/elf/unwind_insn.h"
#include "instrument/elf/unwind_stubs.h"
#include "lib/array.h"
#include "lib/partition_point.h"
#include "lib/u64_map.h"

#define WORD_BYTES 8

struct reader {
	const unsigned char *ident;
	Elf_Data *data;
	uint64_t address;
	struct u64_map known; /* offset of a CIE: its number + 1 */
	struct unwind_frames frames;
	size_t capacity;
	size_t cie_capacity;
};

/* Return: true if the augmentation is understood. */
static bool read_augmentation(const struct reader *frames, struct unwind_cie *cie,
			      const Dwarf_CIE *entry)
{
	const uint8_t *data = frames->data->d_buf;
	struct cie_augmentation read;
	struct bounded_reader reader;

	if (!cie_augmentation_read(&read, entry, WORD_BYTES) || read.other_key)
		return false;
	cie->address_encoding = read.address_encoding;
	cie->handler_encoding = read.handler_encoding;
	cie->augmented = read.augmented;
	cie->signal = read.signal;
	if (read.personality_bytes == 0)
		return true;
	cie->personality_encoding = read.personality_encoding;
	bounded_reader_init(&reader, read.personality, read.personality_bytes);
	return encoded_pointer_resolve(&cie->personality, &reader,
				       (uint8_t)(cie->personality_encoding & ~DW_EH_PE_indirect),
				       WORD_BYTES,
				       frames->address + (uint64_t)(read.personality - data)) == 0;
}

static int add_cie(struct reader *reader, const Dwarf_CIE *entry)
{
	struct unwind_cie cie = {
		.program = entry->initial_instructions,
		.program_bytes =
			(size_t)(entry->initial_instructions_end - entry->initial_instructions),
		.code_align = entry->code_alignment_factor,
		.data_align = entry->data_alignment_factor,
		.return_register = entry->return_address_register,
	};

	cie.bad = !read_augmentation(reader, &cie, entry) || cie.code_align != 1;
	if (array_reserve(&reader->frames.cies, &reader->cie_capacity, reader->frames.cie_count + 1,
			  sizeof(cie)) < 0)
		return -ENOMEM;
	reader->frames.cies[reader->frames.cie_count++] = cie;
	return 0;
}

/* Return: number of the CIE, or -ENOENT, -ENOMEM. */
static long find_cie(struct reader *reader, Dwarf_Off offset)
{
	uint64_t *known = u64_map_insert(&reader->known, offset);
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (known == NULL)
		return -ENOMEM;
	if (*known == 0) {
		if (dwarf_next_cfi(reader->ident, reader->data, true, offset, &next, &entry) != 0 ||
		    !dwarf_cfi_cie_p(&entry))
			return -ENOENT;
		if (add_cie(reader, &entry.cie) < 0)
			return -ENOMEM;
		*known = reader->frames.cie_count;
	}
	return (long)*known - 1;
}

/* Return: true if the FDE is understood. */
static bool read_fde(const struct reader *reader, const Dwarf_FDE *fde, Dwarf_Off offset,
		     struct unwind_frame *frame)
{
	const struct unwind_cie *cie = &reader->frames.cies[frame->cie];
	const uint8_t *data = reader->data->d_buf;
	struct bounded_reader own;

	if (cie->bad || fde->start < data || fde->end < fde->start ||
	    fde->end > data + reader->data->d_size)
		return false;
	bounded_reader_init(&own, fde->start, (size_t)(fde->end - fde->start));
	if (encoded_pointer_resolve(&frame->start, &own, cie->address_encoding, WORD_BYTES,
				    reader->address + (uint64_t)(fde->start - data)) < 0)
		return false;
	frame->bytes =
		encoded_pointer_read(&own, cie->address_encoding & ~DW_EH_PE_signed,
				     encoded_pointer_bytes(cie->address_encoding, WORD_BYTES));
	frame->entry = reader->address + offset;
	if (cie->augmented) {
		uint64_t bytes = bounded_reader_uleb128(&own);
		const uint8_t *augmentation = bounded_reader_bytes(&own, bytes);
		struct bounded_reader inner;

		if (augmentation == NULL)
			return false;
		bounded_reader_init(&inner, augmentation, bytes);
		if (cie->handler_encoding != DW_EH_PE_omit &&
		    encoded_pointer_resolve(&frame->handlers, &inner, cie->handler_encoding,
					    WORD_BYTES,
					    reader->address + (uint64_t)(augmentation - data)) < 0)
			return false;
	}
	frame->program = own.position;
	frame->program_bytes = bounded_reader_left(&own);
	return !bounded_reader_failed(&own) && frame->bytes > 0;
}

static int add_frame(struct reader *reader, const struct unwind_frame *frame)
{
	if (array_reserve(&reader->frames.all, &reader->capacity, reader->frames.count + 1,
			  sizeof(*frame)) < 0)
		return -ENOMEM;
	reader->frames.all[reader->frames.count++] = *frame;
	return 0;
}

/* A table of PLT stubs has one description; each stub becomes a frame of its own here. */
static int add_frames(struct reader *reader, const struct unwind_frame *frame)
{
	struct unwind_frame rest = *frame, head, stub;
	bool divided = unwind_stubs_divide(&rest, &head);
	int r = add_frame(reader, divided ? &head : frame);

	while (r == 0 && divided && unwind_stubs_next(&rest, &stub))
		r = add_frame(reader, &stub);
	return r;
}

static int unwind_frames_read_all(struct reader *reader)
{
	Dwarf_Off offset = 0, next = 0;
	Dwarf_CFI_Entry entry;

	while (dwarf_next_cfi(reader->ident, reader->data, true, offset, &next, &entry) == 0 &&
	       next > offset) {
		struct unwind_frame frame = {0};
		Dwarf_Off own = offset;
		long cie;

		offset = next;
		if (dwarf_cfi_cie_p(&entry))
			continue;
		cie = find_cie(reader, entry.fde.CIE_pointer);
		if (cie == -ENOMEM)
			return -ENOMEM;
		frame.cie = (uint32_t)cie;
		if (cie < 0 || !read_fde(reader, &entry.fde, own, &frame))
			continue;
		if (add_frames(reader, &frame) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int unwind_frames_by_start(const void *a, const void *b)
{
	const struct unwind_frame *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

int unwind_frames_read(struct unwind_frames *ret, const struct elf_file *file)
{
	struct reader reader = {.ident = (const unsigned char *)elf_getident(file->elf, NULL)};
	const Elf_Data *tables;
	int r;

	*ret = (struct unwind_frames){0};
	reader.data = elf_file_contents(file, ".eh_frame", &reader.address);
	if (reader.data == NULL || reader.ident == NULL)
		return 0;
	tables = elf_file_contents(file, ".gcc_except_table", &reader.frames.table_address);
	if (tables != NULL) {
		reader.frames.tables = tables->d_buf;
		reader.frames.table_bytes = tables->d_size;
	}
	r = unwind_frames_read_all(&reader);
	u64_map_deinit(&reader.known);
	if (r < 0) {
		unwind_frames_deinit(&reader.frames);
		return r;
	}
	if (reader.frames.count > 0)
		qsort(reader.frames.all, reader.frames.count, sizeof(*reader.frames.all),
		      unwind_frames_by_start);
	*ret = reader.frames;
	return 0;
}

void unwind_frames_deinit(struct unwind_frames *frames)
{
	free(frames->all);
	free(frames->cies);
	*frames = (struct unwind_frames){0};
}

size_t unwind_frames_first(const struct unwind_frames *frames, uint64_t address)
{
	return partition_point(0, frames->count, i, frames->all[i].start < address);
}

/* --- addresses where frames change -------------------------------------------- */

int unwind_frame_table(struct handler_table *table, const struct unwind_frames *frames,
		       const struct unwind_frame *frame)
{
	uint64_t offset = frame->handlers - frames->table_address;

	if (frame->handlers == 0)
		return -ENOENT;
	if (frame->handlers < frames->table_address || offset >= frames->table_bytes)
		return -ENOTSUP;
	return handler_table_parse(table, frames->tables + offset, frames->table_bytes - offset,
				   frame->handlers, frame->start);
}

static int table_cuts(const struct unwind_frames *frames, const struct unwind_frame *frame,
		      void (*visit)(void *context, uint64_t address), void *context)
{
	struct handler_table table;
	int r = unwind_frame_table(&table, frames, frame);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	for (size_t i = 0; i < table.count; i++) {
		visit(context, table.calls[i].start);
		visit(context, table.calls[i].end);
	}
	handler_table_deinit(&table);
	return 0;
}

int unwind_frame_cuts(const struct unwind_frames *frames, const struct unwind_frame *frame,
		      void (*visit)(void *context, uint64_t address), void *context)
{
	uint64_t address = frame->start, advance;
	struct bounded_reader reader;
	int r;

	/* A signal trampoline must not move: its FDE starts one byte before the restorer that the
	 * kernel knows, and debuggers recognise the code. */
	if (frames->cies[frame->cie].signal)
		return -ENOTSUP;
	visit(context, frame->start);
	bounded_reader_init(&reader, frame->program, frame->program_bytes);
	while ((r = unwind_insn_next(&reader, &advance)) > 0) {
		address += advance;
		if (advance > 0)
			visit(context, address);
	}
	visit(context, frame->start + frame->bytes);
	return r == 0 ? table_cuts(frames, frame, visit, context) : r;
}
