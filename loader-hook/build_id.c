// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/build_id.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "lib/file_read.h"
#include "lib/cleanup.h"

/* Real files have a dozen program headers and less than a kilobyte of notes. */
#define SEGMENTS_MAX 256
#define NOTES_BYTES_MAX 65536
/* Limit for all segments together: a hostile file may have many that overlap. */
#define NOTES_BYTES_ALL (4 * NOTES_BYTES_MAX)

/* A program header of either ELF class, reduced to the fields needed for notes. */
struct segment {
	uint32_t type;
	uint64_t offset;
	uint64_t bytes;
	uint64_t alignment;
};

/* Location of the program headers, from the ELF header. */
struct segment_table {
	bool is_64;
	uint64_t offset;
	size_t count;
};

static int build_id_read_header(struct segment_table *table, int fd)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr e32;
		Elf64_Ehdr e64;
	} header;
	const unsigned char native = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
	size_t entry_bytes;
	int result;

	memset(&header, 0, sizeof(header));
	result = file_read_exactly(fd, &header, sizeof(header.e32), 0);
	if (result < 0)
		return result == -EIO ? -ENOEXEC : result;
	if (memcmp(header.ident, ELFMAG, SELFMAG) != 0 || header.ident[EI_DATA] != native)
		return -ENOEXEC;
	table->is_64 = header.ident[EI_CLASS] == ELFCLASS64;
	if (table->is_64) {
		result = file_read_exactly(fd, &header, sizeof(header.e64), 0);
		if (result < 0)
			return result == -EIO ? -ENOEXEC : result;
		table->offset = header.e64.e_phoff;
		table->count = header.e64.e_phnum;
		entry_bytes = header.e64.e_phentsize;
	} else if (header.ident[EI_CLASS] == ELFCLASS32) {
		table->offset = header.e32.e_phoff;
		table->count = header.e32.e_phnum;
		entry_bytes = header.e32.e_phentsize;
	} else {
		return -ENOEXEC;
	}
	if (entry_bytes != (table->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
		return -ENOEXEC;
	if (table->count > SEGMENTS_MAX)
		table->count = SEGMENTS_MAX;
	return 0;
}

static int read_segment(struct segment *segment, const struct segment_table *table, size_t i,
			int fd)
{
	Elf64_Phdr p64;
	Elf32_Phdr p32;
	uint64_t offset;
	int result;

	if (__builtin_add_overflow(table->offset, i * (table->is_64 ? sizeof(p64) : sizeof(p32)),
				   &offset))
		return -EIO;
	if (table->is_64) {
		result = file_read_exactly(fd, &p64, sizeof(p64), offset);
		if (result == 0)
			*segment = (struct segment){p64.p_type, p64.p_offset, p64.p_filesz,
						    p64.p_align};
	} else {
		result = file_read_exactly(fd, &p32, sizeof(p32), offset);
		if (result == 0)
			*segment = (struct segment){p32.p_type, p32.p_offset, p32.p_filesz,
						    p32.p_align};
	}
	return result;
}

int build_id_from_file(struct build_id *ret, int fd)
{
	_cleanup_free_ uint8_t *notes = NULL;
	struct segment_table table;
	struct segment segment = {0};
	size_t i, left = NOTES_BYTES_ALL;
	int result;

	result = build_id_read_header(&table, fd);
	if (result < 0)
		return result;
	for (i = 0; i < table.count; i++) {
		size_t bytes;

		result = read_segment(&segment, &table, i, fd);
		if (result < 0)
			return result == -EIO ? -ENOENT : result;
		if (segment.type != PT_NOTE)
			continue;
		if (notes == NULL)
			notes = malloc(NOTES_BYTES_MAX);
		if (notes == NULL)
			return -ENOMEM;
		bytes = segment.bytes < NOTES_BYTES_MAX ? segment.bytes : NOTES_BYTES_MAX;
		if (bytes > left)
			return -ENOENT;
		left -= bytes;
		if (file_read_exactly(fd, notes, bytes, segment.offset) == 0 &&
		    build_id_from_notes(ret, notes, bytes, segment.alignment) == 0)
			return 0;
	}
	return -ENOENT;
}
