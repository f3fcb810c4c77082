// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/landing_pads.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/encoded_pointer.h"
#include "lib/partition_point.h"

/* Limit on the call sites per visit. Frames of a hostile file may share one huge table. */
#define CALLS_MAX (1U << 20)

static size_t count_handled(const struct unwind_range *ranges, size_t count)
{
	size_t handled = 0;

	for (size_t i = 0; i < count; i++)
		handled += ranges[i].handlers != 0;
	return handled;
}

int landing_pads_init(struct landing_pads *pads, const struct elf_file *file,
		      const struct unwind_range *ranges, size_t count)
{
	const char *ident = elf_getident(file->elf, NULL);
	const Elf_Data *tables;
	size_t handled = count_handled(ranges, count);

	*pads = (struct landing_pads){.word_bytes = 8};
	if (handled == 0 || ident == NULL)
		return 0;
	if (ident[EI_CLASS] == ELFCLASS32)
		pads->word_bytes = 4;
	tables = elf_file_contents(file, ".gcc_except_table", &pads->address);
	if (tables == NULL)
		return 0;
	pads->data = tables->d_buf;
	pads->bytes = tables->d_size;
	pads->frames = malloc(handled * sizeof(*pads->frames));
	if (pads->frames == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (ranges[i].handlers != 0)
			pads->frames[pads->frame_count++] = ranges[i];
	return 0;
}

void landing_pads_deinit(struct landing_pads *pads)
{
	free(pads->frames);
	*pads = (struct landing_pads){0};
}

/* Read a number of a call-site table. @bytes: its size, 0: LEB128 */
static uint64_t read_number(struct bounded_reader *reader, uint8_t encoding, size_t bytes)
{
	return bytes == 0 ? bounded_reader_uleb128(reader)
			  : encoded_pointer_read(reader, encoding, bytes);
}

/* struct table_header - header of a frame's table */
struct table_header {
	uint64_t base; /* base address of landing pads */
	uint64_t bytes;
	uint8_t encoding;
	size_t number_bytes; /* 0: LEB128 */
};

/* Return: true if there is a readable table. */
static bool landing_pads_read_header(struct table_header *header, const struct landing_pads *pads,
				     const struct unwind_range *frame,
				     struct bounded_reader *reader)
{
	uint8_t base = bounded_reader_u8(reader);
	uint64_t place = frame->handlers + 1;

	*header = (struct table_header){.base = frame->address};
	if (base != DW_EH_PE_omit &&
	    encoded_pointer_resolve(&header->base, reader, base, pads->word_bytes, place) < 0)
		return false;
	if (bounded_reader_u8(reader) != DW_EH_PE_omit)
		bounded_reader_uleb128(reader); /* offset of the type table */
	header->encoding = bounded_reader_u8(reader);
	header->bytes = bounded_reader_uleb128(reader);
	if ((header->encoding & ~ENCODED_POINTER_FORMAT) != 0)
		return false;
	header->number_bytes = encoded_pointer_bytes(header->encoding, pads->word_bytes);
	return (header->number_bytes > 0 || header->encoding == DW_EH_PE_uleb128) &&
	       header->bytes <= bounded_reader_left(reader) && !bounded_reader_failed(reader);
}

/* @left: remaining call sites to read; updated */
static void visit_frame(const struct landing_pads *pads, const struct unwind_range *frame,
			uint32_t *left, void (*visit)(void *context, uint64_t address),
			void *context)
{
	struct table_header header;
	struct bounded_reader reader;

	if (frame->handlers < pads->address || frame->handlers - pads->address >= pads->bytes)
		return;
	bounded_reader_init(&reader, pads->data + (frame->handlers - pads->address),
			    pads->bytes - (frame->handlers - pads->address));
	if (!landing_pads_read_header(&header, pads, frame, &reader))
		return;
	bounded_reader_init(&reader, bounded_reader_bytes(&reader, header.bytes), header.bytes);
	for (; bounded_reader_left(&reader) > 0 && *left > 0; --*left) {
		uint64_t pad;

		read_number(&reader, header.encoding, header.number_bytes); /* start of the calls */
		read_number(&reader, header.encoding, header.number_bytes); /* length in bytes */
		pad = read_number(&reader, header.encoding, header.number_bytes);
		bounded_reader_uleb128(&reader); /* action */
		if (bounded_reader_failed(&reader))
			return;
		if (pad != 0)
			visit(context, header.base + pad);
	}
}

/* Return the first frame that begins at or after an address. */
static size_t first_frame(const struct landing_pads *pads, uint64_t address)
{
	return partition_point(0, pads->frame_count, i, pads->frames[i].address < address);
}

void landing_pads_visit(const struct landing_pads *pads, uint64_t start, uint64_t end,
			void (*visit)(void *context, uint64_t address), void *context)
{
	uint32_t left = CALLS_MAX;

	for (size_t i = first_frame(pads, start);
	     i < pads->frame_count && pads->frames[i].address < end && left > 0; i++)
		visit_frame(pads, &pads->frames[i], &left, visit, context);
}
