// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz dead_lines_move() with any bytes as the line programs of a file with code. It moves the
 * sequences of removed code and changes no other byte; dead_lines_restore() undoes all changes.
 */
#include <elf.h>

#include "analysis/image/dead_lines.h"
#include "tests/fuzz/fuzz.h"

#define CODE_ADDRESS 0x1000

enum {
	SECTION_NONE,
	SECTION_CODE,
	SECTION_LINES,
	SECTION_NAMES,
	SECTIONS,
};

static const char names[] = "\0.text\0.debug_line\0.shstrtab";

struct image {
	Elf64_Ehdr header;
	Elf64_Shdr sections[SECTIONS];
	char names[sizeof(names)];
	uint8_t code[16];
	uint8_t lines[];
};

static Elf64_Shdr section(uint32_t name, uint32_t type, uint64_t flags, uint64_t at, uint64_t bytes)
{
	return (Elf64_Shdr){.sh_name = name,
			    .sh_type = type,
			    .sh_flags = flags,
			    .sh_offset = at,
			    .sh_size = bytes,
			    .sh_addralign = 1};
}

static struct image *make_image(const uint8_t *lines, size_t bytes)
{
	struct image *image = calloc(1, sizeof(*image) + bytes);

	require(image != NULL);
	memcpy(image->header.e_ident, ELFMAG, SELFMAG);
	image->header.e_ident[EI_CLASS] = ELFCLASS64;
	image->header.e_ident[EI_DATA] = ELFDATA2LSB;
	image->header.e_ident[EI_VERSION] = EV_CURRENT;
	image->header.e_type = ET_DYN;
	image->header.e_machine = EM_X86_64;
	image->header.e_version = EV_CURRENT;
	image->header.e_ehsize = sizeof(image->header);
	image->header.e_shoff = offsetof(struct image, sections);
	image->header.e_shentsize = sizeof(Elf64_Shdr);
	image->header.e_shnum = SECTIONS;
	image->header.e_shstrndx = SECTION_NAMES;
	image->sections[SECTION_CODE] = section(1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
						offsetof(struct image, code), sizeof(image->code));
	image->sections[SECTION_CODE].sh_addr = CODE_ADDRESS;
	image->sections[SECTION_LINES] =
		section(7, SHT_PROGBITS, 0, offsetof(struct image, lines), bytes);
	image->sections[SECTION_NAMES] =
		section(19, SHT_STRTAB, 0, offsetof(struct image, names), sizeof(names));
	memcpy(image->names, names, sizeof(names));
	if (bytes > 0)
		memcpy(image->lines, lines, bytes);
	return image;
}

/* Every change replaces a whole address outside the code with an address without code. */
static void compare(const uint8_t *now, const uint8_t *before, size_t bytes)
{
	static const uint8_t nowhere[8] = {0, 0, 0, 0, 0, 0, 0, 0xff};

	for (size_t i = 0; i < bytes;) {
		uint64_t address;

		if (now[i] == before[i]) {
			i++;
			continue;
		}
		for (size_t back = 0;; back++) {
			require(back < sizeof(nowhere) && back <= i);
			if (bytes - (i - back) >= sizeof(nowhere) &&
			    memcmp(now + i - back, nowhere, sizeof(nowhere)) == 0) {
				i -= back;
				break;
			}
		}
		memcpy(&address, before + i, sizeof(address));
		require(address < CODE_ADDRESS || address > CODE_ADDRESS + 16);
		i += sizeof(nowhere);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct dead_lines lines = {0};
	struct elf_file file;
	GElf_Shdr header;
	Elf_Scn *scn;
	Elf_Data *contents;

	elf_version(EV_CURRENT);
	require(elf_file_from_memory(&file, make_image(data, bytes),
				     sizeof(struct image) + bytes) == 0);
	scn = elf_file_section(&file, ".debug_line", &header);
	require(scn != NULL && dead_lines_move(&lines, &file) == 0);
	contents = elf_getdata(scn, NULL);
	if (bytes > 0) {
		require(contents != NULL && contents->d_size == bytes);
		compare(contents->d_buf, data, bytes);
	}
	dead_lines_restore(&lines);
	require(bytes == 0 || memcmp(contents->d_buf, data, bytes) == 0);
	elf_file_close(&file);
	return 0;
}
