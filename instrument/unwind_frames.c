// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/unwind_frames.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/elf_file.h"
#include "analysis/image/encoded_pointer.h"
#include "instrument/handler_table.h"
#include "lib/array.h"
#include "lib/u64_map.h"

#define WORD_BYTES 8

/* What frames have in common. @bad: it is not understood. */
struct unwind_cie {
	const uint8_t *program;
	size_t program_bytes;
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_register;
	uint64_t personality; /* address of it, or of a pointer to it; 0: none */
	uint8_t personality_encoding;
	uint8_t address_encoding;
	uint8_t handler_encoding;
	bool augmented;
	bool signal;
	bool bad;
};

struct reader {
	const unsigned char *ident;
	const Elf_Data *data;
	uint64_t address;
	struct u64_map known; /* CIE's offset: its number + 1 */
	struct unwind_frames frames;
	size_t capacity;
	size_t cie_capacity;
};

static bool read_augmentation(const struct reader *frames, struct unwind_cie *cie,
			      const Dwarf_CIE *entry)
{
	const char *letter = entry->augmentation;
	const uint8_t *data = frames->data->d_buf;
	struct bounded_reader reader;

	cie->address_encoding = DW_EH_PE_absptr;
	cie->handler_encoding = DW_EH_PE_omit;
	if (*letter == '\0')
		return true;
	if (*letter != 'z')
		return false;
	cie->augmented = true;
	bounded_reader_init(&reader, entry->augmentation_data, entry->augmentation_data_size);
	while (*++letter != '\0') {
		switch (*letter) {
		case 'L':
			cie->handler_encoding = bounded_reader_u8(&reader);
			break;
		case 'P':
			cie->personality_encoding = bounded_reader_u8(&reader);
			if (encoded_pointer_resolve(
				    &cie->personality, &reader,
				    (uint8_t)(cie->personality_encoding & ~DW_EH_PE_indirect),
				    WORD_BYTES,
				    frames->address + (uint64_t)(reader.position - data)) < 0)
				return false;
			break;
		case 'R':
			cie->address_encoding = bounded_reader_u8(&reader);
			break;
		case 'S':
			cie->signal = true;
			break;
		default:
			return false;
		}
	}
	return !bounded_reader_failed(&reader);
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

/* Return: its number, or -ENOENT, -ENOMEM. */
static long find_cie(struct reader *reader, Dwarf_Off offset)
{
	uint64_t *known = u64_map_insert(&reader->known, offset);
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (known == NULL)
		return -ENOMEM;
	if (*known == 0) {
		if (dwarf_next_cfi(reader->ident, (Elf_Data *)(uintptr_t)reader->data, true, offset,
				   &next, &entry) != 0 ||
		    !dwarf_cfi_cie_p(&entry))
			return -ENOENT;
		if (add_cie(reader, &entry.cie) < 0)
			return -ENOMEM;
		*known = reader->frames.cie_count;
	}
	return (long)*known - 1;
}

/* Return: whether it is understood. */
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
		uint64_t bytes = bounded_reader_varint(&own);
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

static int read_all(struct reader *reader)
{
	Dwarf_Off offset = 0, next = 0;
	Dwarf_CFI_Entry entry;

	while (dwarf_next_cfi(reader->ident, (Elf_Data *)(uintptr_t)reader->data, true, offset,
			      &next, &entry) == 0 &&
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
		if (array_reserve(&reader->frames.all, &reader->capacity, reader->frames.count + 1,
				  sizeof(frame)) < 0)
			return -ENOMEM;
		reader->frames.all[reader->frames.count++] = frame;
	}
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct unwind_frame *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void find_tables(struct unwind_frames *frames, const struct elf_file *file)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_section(file, ".gcc_except_table", &header);
	const Elf_Data *data = NULL;

	if (section != NULL && header.sh_type != SHT_NOBITS)
		data = elf_rawdata(section, NULL);
	if (data == NULL || data->d_buf == NULL)
		return;
	frames->tables = data->d_buf;
	frames->table_bytes = data->d_size;
	frames->table_address = header.sh_addr;
}

int unwind_frames_read(struct unwind_frames *ret, const struct elf_file *file)
{
	struct reader reader = {.ident = (const unsigned char *)elf_getident(file->elf, NULL)};
	GElf_Shdr header;
	Elf_Scn *section = elf_file_section(file, ".eh_frame", &header);
	int r;

	*ret = (struct unwind_frames){0};
	if (section == NULL || header.sh_type == SHT_NOBITS || reader.ident == NULL)
		return 0;
	reader.data = elf_rawdata(section, NULL);
	reader.address = header.sh_addr;
	if (reader.data == NULL || reader.data->d_buf == NULL)
		return 0;
	find_tables(&reader.frames, file);
	r = read_all(&reader);
	u64_map_deinit(&reader.known);
	if (r < 0) {
		unwind_frames_deinit(&reader.frames);
		return r;
	}
	if (reader.frames.count > 0)
		qsort(reader.frames.all, reader.frames.count, sizeof(*reader.frames.all), by_start);
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
	size_t low = 0, high = frames->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (frames->all[middle].start < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* --- programs ------------------------------------------------------------- */

/* Compilers' numbers may be longer than they need be. */
static void skip_leb128(struct bounded_reader *reader)
{
	while (bounded_reader_u8(reader) & 0x80)
		;
}

static void skip_block(struct bounded_reader *reader)
{
	bounded_reader_bytes(reader, bounded_reader_varint(reader));
}

/*
 * Passes over one instruction. @advance: out: by how many bytes of code it moves on.
 * Return: 1; 0 at the end; -ENOTSUP.
 */
static int next_operation(struct bounded_reader *reader, uint64_t *advance)
{
	uint8_t opcode;

	*advance = 0;
	if (bounded_reader_left(reader) == 0)
		return 0;
	opcode = bounded_reader_u8(reader);
	switch (opcode & 0xc0) {
	case DW_CFA_advance_loc:
		*advance = opcode & 0x3f;
		return 1;
	case DW_CFA_offset:
		skip_leb128(reader);
		return 1;
	case DW_CFA_restore:
		return 1;
	}
	switch (opcode) {
	case DW_CFA_advance_loc1:
		*advance = bounded_reader_u8(reader);
		break;
	case DW_CFA_advance_loc2:
		*advance = bounded_reader_u8(reader);
		*advance |= (uint64_t)bounded_reader_u8(reader) << 8;
		break;
	case DW_CFA_advance_loc4:
		*advance = bounded_reader_u32(reader);
		break;
	case DW_CFA_nop:
	case DW_CFA_remember_state:
	case DW_CFA_restore_state:
		break;
	case DW_CFA_restore_extended:
	case DW_CFA_undefined:
	case DW_CFA_same_value:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_GNU_args_size:
		skip_leb128(reader);
		break;
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_register:
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		skip_leb128(reader);
		skip_leb128(reader);
		break;
	case DW_CFA_def_cfa_expression:
		skip_block(reader);
		break;
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		skip_leb128(reader);
		skip_block(reader);
		break;
	default:
		return -ENOTSUP;
	}
	return bounded_reader_failed(reader) ? -ENOTSUP : 1;
}

/* Return: 0; -ENOENT the frame has no table; as for handler_table_parse(). */
static int parse_table(struct handler_table *table, const struct unwind_frames *frames,
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
	int r = parse_table(&table, frames, frame);

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

	visit(context, frame->start);
	bounded_reader_init(&reader, frame->program, frame->program_bytes);
	while ((r = next_operation(&reader, &advance)) > 0) {
		address += advance;
		if (advance > 0)
			visit(context, address);
	}
	visit(context, frame->start + frame->bytes);
	return r == 0 ? table_cuts(frames, frame, visit, context) : r;
}

/* --- writing -------------------------------------------------------------- */

int unwind_writer_init(struct unwind_writer *writer, const struct unwind_frames *frames,
		       uint64_t address)
{
	*writer = (struct unwind_writer){.frames = frames, .address = address};
	writer->cies = calloc(2 * frames->cie_count + 1, sizeof(*writer->cies));
	return writer->cies != NULL ? 0 : -ENOMEM;
}

void unwind_writer_deinit(struct unwind_writer *writer)
{
	free(writer->data);
	free(writer->index);
	free(writer->cies);
	*writer = (struct unwind_writer){0};
}

static void put(struct unwind_writer *writer, const void *bytes, size_t count)
{
	if (writer->failed ||
	    array_reserve(&writer->data, &writer->capacity, writer->bytes + count, 1) < 0) {
		writer->failed = true;
		return;
	}
	memcpy(writer->data + writer->bytes, bytes, count);
	writer->bytes += count;
}

static void put_u8(struct unwind_writer *writer, uint8_t value)
{
	put(writer, &value, sizeof(value));
}

static void put_u32(struct unwind_writer *writer, uint32_t value)
{
	put(writer, &value, sizeof(value));
}

static void put_leb128(struct unwind_writer *writer, uint64_t value)
{
	uint8_t bytes[VARINT_BYTES_MAX];

	put(writer, bytes, varint_write(bytes, value));
}

static void put_signed_leb128(struct unwind_writer *writer, int64_t value)
{
	bool more = true;

	while (more) {
		uint8_t byte = (uint8_t)(value & 0x7f);

		value >>= 7;
		more = !((value == 0 && !(byte & 0x40)) || (value == -1 && (byte & 0x40)));
		put_u8(writer, (uint8_t)(byte | (more ? 0x80 : 0)));
	}
}

/* Ends an entry that began with its length at @start. */
static void end_entry(struct unwind_writer *writer, size_t start)
{
	uint32_t length;

	while (!writer->failed && (writer->bytes - start) % 8 != 0)
		put_u8(writer, DW_CFA_nop);
	if (writer->failed)
		return;
	length = (uint32_t)(writer->bytes - start - sizeof(length));
	memcpy(writer->data + start, &length, sizeof(length));
}

/* Four bytes that mean an address. */
static void put_relative(struct unwind_writer *writer, uint64_t target)
{
	int64_t distance = (int64_t)(target - (writer->address + writer->bytes));

	writer->failed |= distance != (int32_t)distance;
	put_u32(writer, (uint32_t)distance);
}

static void put_augmentation(struct unwind_writer *writer, const struct unwind_cie *cie,
			     bool handles)
{
	put_leb128(writer, handles ? 7 : 1);
	if (handles) {
		put_u8(writer, (uint8_t)((cie->personality_encoding & DW_EH_PE_indirect) |
					 DW_EH_PE_pcrel | DW_EH_PE_sdata4));
		put_relative(writer, cie->personality);
		put_u8(writer, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	}
	put_u8(writer, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
}

/* Frames in which nothing is caught need no personality. */
static size_t put_cie(struct unwind_writer *writer, uint32_t number, bool handles)
{
	static const char *const augmentations[] = {"zR", "zRS", "zPLR", "zPLRS"};
	const struct unwind_cie *cie = &writer->frames->cies[number];
	uint32_t *known = &writer->cies[2 * number + handles];
	const char *augmentation = augmentations[2 * handles + cie->signal];
	size_t start = writer->bytes;

	if (*known != 0)
		return *known - 1;
	*known = (uint32_t)start + 1;
	put_u32(writer, 0);
	put_u32(writer, 0); /* it is a CIE */
	put_u8(writer, 1);
	put(writer, augmentation, strlen(augmentation) + 1);
	put_leb128(writer, cie->code_align);
	put_signed_leb128(writer, cie->data_align);
	put_u8(writer, (uint8_t)cie->return_register);
	put_augmentation(writer, cie, handles);
	put(writer, cie->program, cie->program_bytes);
	end_entry(writer, start);
	return start;
}

static void put_advance(struct unwind_writer *writer, uint64_t bytes)
{
	if (bytes == 0)
		return;
	if (bytes < 0x40) {
		put_u8(writer, (uint8_t)(DW_CFA_advance_loc | bytes));
	} else {
		put_u8(writer, DW_CFA_advance_loc4);
		put_u32(writer, (uint32_t)bytes);
	}
}

static void put_program(struct unwind_writer *writer, const struct unwind_frame *frame,
			uint64_t start, uint64_t (*where)(void *context, uint64_t old),
			void *context)
{
	uint64_t old = frame->start, now = start, advance;
	struct bounded_reader reader;
	const uint8_t *begin = frame->program;

	bounded_reader_init(&reader, frame->program, frame->program_bytes);
	while (next_operation(&reader, &advance) > 0) {
		if (advance == 0) {
			put(writer, begin, (size_t)(reader.position - begin));
		} else {
			uint64_t then = where(context, old += advance);

			put_advance(writer, then > now ? then - now : 0);
			now = then > now ? then : now;
		}
		begin = reader.position;
	}
}

static void add_index(struct unwind_writer *writer, uint64_t code, uint64_t entry)
{
	if (writer->failed || array_reserve(&writer->index, &writer->index_capacity,
					    writer->index_count + 1, sizeof(*writer->index)) < 0) {
		writer->failed = true;
		return;
	}
	writer->index[writer->index_count][0] = code;
	writer->index[writer->index_count++][1] = entry;
}

uint64_t unwind_writer_add_table(struct unwind_writer *writer, const struct unwind_frame *frame,
				 uint64_t start, uint64_t (*where)(void *context, uint64_t old),
				 void *context)
{
	uint64_t address = writer->address + writer->bytes;
	struct handler_table table;
	int r = parse_table(&table, writer->frames, frame);

	if (r == -ENOENT)
		return 0;
	if (r == 0) {
		r = handler_table_write(&table, &writer->data, &writer->bytes, &writer->capacity,
					writer->address, start, where, context);
		handler_table_deinit(&table);
	}
	while (r == 0 && !writer->failed && writer->bytes % 8 != 0)
		put_u8(writer, 0);
	writer->tables = writer->bytes;
	writer->failed |= r < 0;
	return r == 0 ? address : 0;
}

void unwind_writer_add(struct unwind_writer *writer, const struct unwind_frame *frame,
		       uint64_t start, uint64_t end, uint64_t table,
		       uint64_t (*where)(void *context, uint64_t old), void *context)
{
	size_t cie = put_cie(writer, frame->cie, table != 0);
	size_t entry = writer->bytes;

	put_u32(writer, 0);
	put_u32(writer, (uint32_t)(writer->bytes - cie));
	put_u32(writer, (uint32_t)(start - (writer->address + writer->bytes)));
	put_u32(writer, (uint32_t)(end - start));
	put_leb128(writer, table != 0 ? 4 : 0);
	if (table != 0)
		put_relative(writer, table);
	put_program(writer, frame, start, where, context);
	end_entry(writer, entry);
	add_index(writer, start, writer->address + entry);
}

static int by_code(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (x[0] > y[0]) - (x[0] < y[0]);
}

int unwind_writer_end(struct unwind_writer *writer, uint64_t *index, size_t *index_bytes)
{
	static const uint8_t head[] = {1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_udata4,
				       DW_EH_PE_datarel | DW_EH_PE_sdata4};
	size_t start;

	put_u32(writer, 0); /* no more */
	while (!writer->failed && writer->bytes % 8 != 0)
		put_u8(writer, 0);
	start = writer->bytes;
	*index = writer->address + start;
	for (size_t i = 0; i < writer->frames->count; i++)
		add_index(writer, writer->frames->all[i].start, writer->frames->all[i].entry);
	if (writer->index_count > 0)
		qsort(writer->index, writer->index_count, sizeof(*writer->index), by_code);
	put(writer, head, sizeof(head));
	put_relative(writer, writer->address + writer->tables);
	put_u32(writer, (uint32_t)writer->index_count);
	for (size_t i = 0; i < writer->index_count; i++) {
		for (int k = 0; k < 2; k++) {
			int64_t distance = (int64_t)(writer->index[i][k] - *index);

			if (distance != (int32_t)distance)
				return -ERANGE;
			put_u32(writer, (uint32_t)distance);
		}
	}
	*index_bytes = writer->bytes - start;
	return writer->failed ? -ENOMEM : 0;
}
