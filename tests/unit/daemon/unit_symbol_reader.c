// SPDX-License-Identifier: GPL-2.0-only
/* The symbols that contain offsets of an ELF file, from files whose symbols are known. */
#include "tests/lib/unit.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/collect/symbol_reader.h"
#include "daemon/unwind/unwind_elf.h"

#define FILE_BYTES (8U << 20)
#define CODE_AT 0x1000
#define CODE_BYTES 0x1000
#define ADDRESS 0x401000
#define SYMBOLS_MAX 512
#define FUNCTION ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)
#define LOCAL ELF64_ST_INFO(STB_LOCAL, STT_FUNC)
#define LABEL ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE)

/* A file under construction: a section of code, a symbol table and its strings. */
static struct {
	uint8_t data[FILE_BYTES];
	size_t bytes;
	Elf64_Sym symbols[SYMBOLS_MAX];
	size_t symbol_count;
	size_t string_bytes;
} made;

static char strings[FILE_BYTES / 2];

static void begin(void)
{
	memset(&made, 0, sizeof(made));
	made.symbol_count = 1;
	made.string_bytes = 1;
}

/* @offset: from the start of the code */
static void symbol(const char *name, uint64_t offset, uint64_t bytes, unsigned char info)
{
	assert_true(made.symbol_count < SYMBOLS_MAX);
	made.symbols[made.symbol_count++] = (Elf64_Sym){
		.st_name = (Elf64_Word)made.string_bytes,
		.st_info = info,
		.st_shndx = 1,
		.st_value = ADDRESS + offset,
		.st_size = bytes,
	};
	memcpy(strings + made.string_bytes, name, strlen(name) + 1);
	made.string_bytes += strlen(name) + 1;
}

static struct unwind_file end(void)
{
	const size_t symbol_bytes = made.symbol_count * sizeof(Elf64_Sym);
	const size_t symbols_at = CODE_AT + CODE_BYTES, strings_at = symbols_at + symbol_bytes;
	const Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shoff = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 4,
		.e_shstrndx = 3,
	};
	const Elf64_Phdr segment = {
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = CODE_AT,
		.p_vaddr = ADDRESS,
		.p_filesz = CODE_BYTES,
		.p_memsz = CODE_BYTES,
	};
	const Elf64_Shdr sections[4] = {
		{.sh_type = SHT_NULL},
		{.sh_type = SHT_PROGBITS,
		 .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		 .sh_addr = ADDRESS,
		 .sh_offset = CODE_AT,
		 .sh_size = CODE_BYTES},
		{.sh_type = SHT_SYMTAB,
		 .sh_offset = symbols_at,
		 .sh_size = symbol_bytes,
		 .sh_link = 3,
		 .sh_entsize = sizeof(Elf64_Sym)},
		{.sh_type = SHT_STRTAB, .sh_offset = strings_at, .sh_size = made.string_bytes},
	};

	memcpy(made.data, &header, sizeof(header));
	memcpy(made.data + header.e_phoff, &segment, sizeof(segment));
	memcpy(made.data + header.e_shoff, sections, sizeof(sections));
	memcpy(made.data + symbols_at, made.symbols, symbol_bytes);
	memcpy(made.data + strings_at, strings, made.string_bytes);
	made.bytes = strings_at + made.string_bytes;
	return (struct unwind_file){.fd = -1, .data = made.data, .bytes = made.bytes};
}

/* Each offset has a range, ranges are ascending and disjoint, and symbols contain their ranges. */
static void extents_check(const struct symbol_extents *extents, const uint64_t *offsets,
			  size_t count)
{
	size_t at = 0;

	assert_true(extents->count <= count);
	for (size_t i = 0; i < extents->count; i++) {
		const struct symbol_extent *extent = &extents->extents[i];

		assert_true(extent->start < extent->end);
		assert_true(i == 0 || extent->start >= extent[-1].end);
		assert_true(extent->name < extents->names_bytes);
		if (extent->name != 0) {
			assert_true(extent->offset <= extent->start);
			assert_true(extent->end - extent->offset <= extent->bytes);
		}
	}
	for (size_t i = 0; i < count; i++) {
		while (at < extents->count && extents->extents[at].end <= offsets[i])
			at++;
		assert_true(at < extents->count && extents->extents[at].start <= offsets[i]);
	}
}

/* The name at an offset from the start of the code, of one that is read alone. */
static void name_is(const struct unwind_file *file, uint64_t offset, const char *name,
		    uint64_t start, uint64_t bytes)
{
	const uint64_t at = CODE_AT + offset;
	struct symbol_extents extents;

	assert_int_equal(symbol_reader_read(&extents, file, NULL, &at, 1), 0);
	extents_check(&extents, &at, 1);
	assert_string_equal(extents.names + extents.extents[0].name, name);
	if (*name != '\0') {
		assert_int_equal(extents.extents[0].offset, CODE_AT + start);
		assert_int_equal(extents.extents[0].bytes, bytes);
	}
	symbol_extents_deinit(&extents);
}

static void innermost_symbol_is_found(void **state)
{
	struct unwind_file file;

	(void)state;
	begin();
	symbol("outer", 0x100, 0x100, FUNCTION);
	symbol("inner", 0x140, 0x20, FUNCTION);
	symbol("last", 0x300, 0x10, FUNCTION);
	file = end();
	name_is(&file, 0, "", 0, 0);
	name_is(&file, 0x100, "outer", 0x100, 0x100);
	name_is(&file, 0x13f, "outer", 0x100, 0x100);
	name_is(&file, 0x140, "inner", 0x140, 0x20);
	name_is(&file, 0x15f, "inner", 0x140, 0x20);
	name_is(&file, 0x160, "outer", 0x100, 0x100);
	name_is(&file, 0x1ff, "outer", 0x100, 0x100);
	name_is(&file, 0x200, "", 0, 0);
	name_is(&file, 0x30f, "last", 0x300, 0x10);
	name_is(&file, 0x310, "", 0, 0);
}

static void best_alias_is_chosen(void **state)
{
	struct unwind_file file;

	(void)state;
	begin();
	symbol("__copy", 0, 0x40, FUNCTION);
	symbol("copy@@VERSION_1", 0, 0x20, FUNCTION);
	symbol("aa", 0, 0x40, LOCAL);
	symbol("bb", 0, 0x40, LABEL);
	symbol("g.part.0", 0x80, 0x10, FUNCTION);
	symbol("long_name", 0x80, 0x10, FUNCTION);
	file = end();
	/* The version is not part of the name, and the procedure is as long as its longest symbol.
	 */
	name_is(&file, 0x30, "copy", 0, 0x40);
	name_is(&file, 0x8f, "long_name", 0x80, 0x10);
}

static void labels_extend_to_the_next_symbol(void **state)
{
	struct unwind_file file;

	(void)state;
	begin();
	symbol("first", 0x10, 0, LABEL);
	symbol("second", 0x20, 0, FUNCTION);
	symbol(".L1", 0x28, 0, LABEL);
	symbol("sized", 0x40, 0x20, FUNCTION);
	symbol("inside", 0x48, 0, LABEL);
	symbol("end", 0xf00, 0, LABEL);
	file = end();
	name_is(&file, 0xf, "", 0, 0);
	name_is(&file, 0x10, "first", 0x10, 0x10);
	name_is(&file, 0x3f, "second", 0x20, 0x20);
	name_is(&file, 0x50, "sized", 0x40, 0x20);
	/* A label inside a procedure does not extend beyond its end. */
	name_is(&file, 0x60, "", 0, 0);
	name_is(&file, 0xfff, "end", 0xf00, 0x100);
}

/* All offsets at once have the same names as one by one, and ranges never hide another symbol. */
static void ranges_have_one_symbol(void **state)
{
	static uint64_t all[CODE_BYTES];
	struct symbol_extents extents, one;
	struct unwind_file file;
	uint64_t seed = 1;

	(void)state;
	begin();
	for (size_t i = 0; i < SYMBOLS_MAX - 1; i++) {
		char name[16];

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		snprintf(name, sizeof(name), "f%zu", i);
		symbol(name, seed >> 52, (seed >> 40 & 0xff) % 90 % (CODE_BYTES - (seed >> 52)),
		       FUNCTION);
	}
	file = end();
	for (size_t i = 0; i < CODE_BYTES; i++)
		all[i] = CODE_AT + i;
	assert_int_equal(symbol_reader_read(&extents, &file, NULL, all, CODE_BYTES), 0);
	extents_check(&extents, all, CODE_BYTES);
	for (size_t i = 0; i < CODE_BYTES; i += 7) {
		size_t at = 0;

		assert_int_equal(symbol_reader_read(&one, &file, NULL, &all[i], 1), 0);
		while (extents.extents[at].end <= all[i])
			at++;
		assert_string_equal(extents.names + extents.extents[at].name,
				    one.names + one.extents[0].name);
		/* The range around this one offset has its symbol at each of its offsets. */
		for (uint64_t x = one.extents[0].start;
		     x < one.extents[0].end && x < CODE_AT + CODE_BYTES; x++) {
			at = x < CODE_AT ? extents.count : 0;
			while (at < extents.count && extents.extents[at].end <= x)
				at++;
			assert_true(at == extents.count ||
				    strcmp(extents.names + extents.extents[at].name,
					   one.names + one.extents[0].name) == 0);
		}
		symbol_extents_deinit(&one);
	}
	symbol_extents_deinit(&extents);
}

static void names_are_bounded(void **state)
{
	static char name[SYMBOL_READER_NAME_BYTES_MAX + 2];
	uint64_t offsets[400];
	struct symbol_extents extents;
	struct unwind_file file;
	size_t named = 0;

	(void)state;
	begin();
	memset(name, 'x', SYMBOL_READER_NAME_BYTES_MAX);
	symbol(name, 0, 8, FUNCTION);
	name[SYMBOL_READER_NAME_BYTES_MAX / 2] = '\0';
	for (size_t i = 1; i < 400; i++)
		symbol(name, i * 8, 8, FUNCTION);
	file = end();
	name_is(&file, 0, "", 0, 0);
	name_is(&file, 8, name, 8, 8);
	for (size_t i = 0; i < 400; i++)
		offsets[i] = CODE_AT + i * 8;
	assert_int_equal(symbol_reader_read(&extents, &file, NULL, offsets, 400), 0);
	extents_check(&extents, offsets, 400);
	assert_true(extents.names_bytes <= SYMBOL_READER_NAMES_BYTES_MAX);
	for (size_t i = 0; i < extents.count; i++)
		named += extents.extents[i].name != 0;
	assert_int_equal(named, 399);
	symbol_extents_deinit(&extents);
}

static void damaged_files_are_refused(void **state)
{
	const uint64_t offsets[] = {0, CODE_AT, CODE_AT + 0x50, UINT64_MAX};
	struct symbol_extents extents;
	struct unwind_file file;

	(void)state;
	begin();
	symbol("first", 0, 0x40, FUNCTION);
	symbol("second", 0x40, 0, LABEL);
	file = end();
	for (size_t bytes = made.bytes; bytes-- > 0;) {
		file.bytes = bytes;
		assert_true(symbol_reader_read(&extents, &file, NULL, offsets, 4) < 0);
	}
	file.bytes = made.bytes;
	/* Each byte of the headers and the symbols, with each bit. */
	for (size_t i = 0; i < made.bytes; i++) {
		if (i == 0x200)
			i = CODE_AT + CODE_BYTES;
		for (int bit = 0; bit < 8; bit++) {
			made.data[i] ^= (uint8_t)(1U << bit);
			if (symbol_reader_read(&extents, &file, NULL, offsets, 4) == 0) {
				extents_check(&extents, offsets, 3);
				symbol_extents_deinit(&extents);
			}
			made.data[i] ^= (uint8_t)(1U << bit);
		}
	}
}

/* A debug file has symbols that the program lacks. */
static void debug_file_is_used(void **state)
{
	static uint8_t copy[CODE_AT + CODE_BYTES + 4096];
	const uint64_t at = CODE_AT + 0x44;
	struct symbol_extents extents;
	struct unwind_file debug = {.fd = -1, .data = copy}, file;

	(void)state;
	begin();
	symbol("hidden", 0x40, 0x10, LOCAL);
	file = end();
	memcpy(copy, made.data, made.bytes);
	debug.bytes = file.bytes;
	begin();
	symbol("public", 0, 0x10, FUNCTION);
	file = end();
	name_is(&file, 0x44, "", 0, 0);
	assert_int_equal(symbol_reader_read(&extents, &file, &debug, &at, 1), 0);
	assert_string_equal(extents.names + extents.extents[0].name, "hidden");
	symbol_extents_deinit(&extents);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(innermost_symbol_is_found),
		cmocka_unit_test(best_alias_is_chosen),
		cmocka_unit_test(labels_extend_to_the_next_symbol),
		cmocka_unit_test(ranges_have_one_symbol),
		cmocka_unit_test(names_are_bounded),
		cmocka_unit_test(damaged_files_are_refused),
		cmocka_unit_test(debug_file_is_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
