// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/symbol_reader.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/unwind/unwind_elf.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/symbol_name.h"

/* Symbols are read in blocks of this number. */
#define BLOCK_SYMBOLS 16384
/* A symbol table and a dynamic symbol table of the file and of its debug file. */
#define TABLES_MAX 4
/* Rank of the best symbol without a type; better ones are functions. */
#define RANK_LABEL 3

/* @label: it has no size, and @bytes extends to the end of its section */
struct symbol {
	uint64_t offset;
	uint64_t bytes;
	uint32_t name;
	uint8_t table;
	uint8_t rank;
	bool label;
};

/* @strings: with a NUL at the end */
struct string_section {
	uint8_t *data;
	size_t bytes;
};

struct reader {
	struct unwind_elf elf;
	Elf64_Shdr *sections;
	size_t section_count;
	struct string_section strings[TABLES_MAX];
	unsigned int table_count;
	struct symbol *symbols;
	size_t count;
	size_t capacity;
	struct symbol_extents *result;
	size_t extent_capacity;
	size_t names_capacity;
};

static void reader_deinit(struct reader *reader)
{
	unwind_elf_deinit(&reader->elf);
	free(reader->sections);
	for (size_t i = 0; i < TABLES_MAX; i++)
		free(reader->strings[i].data);
	free(reader->symbols);
}

static const char *symbol_reader_name(const struct reader *reader, const struct symbol *symbol)
{
	return (const char *)reader->strings[symbol->table].data + symbol->name;
}

/* Reading the tables. */

/* Functions come before labels, global before weak before local symbols. */
static bool rank_of(const Elf64_Sym *symbol, uint8_t *rank)
{
	unsigned int type = ELF64_ST_TYPE(symbol->st_info), bind = ELF64_ST_BIND(symbol->st_info);

	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	*rank = type == STT_NOTYPE ? RANK_LABEL : 0;
	if (bind == STB_WEAK)
		*rank += 1;
	else if (bind != STB_GLOBAL && bind != STB_GNU_UNIQUE)
		*rank += 2;
	return true;
}

/* Return the number of bytes from a symbol to the end of its section of code; 0: it is no code. */
static uint64_t bytes_in_section(const struct reader *reader, const Elf64_Sym *symbol)
{
	const Elf64_Shdr *section;

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE ||
	    symbol->st_shndx >= reader->section_count)
		return 0;
	section = &reader->sections[symbol->st_shndx];
	if ((section->sh_flags & SHF_EXECINSTR) == 0 || (section->sh_flags & SHF_ALLOC) == 0 ||
	    symbol->st_value < section->sh_addr ||
	    symbol->st_value - section->sh_addr >= section->sh_size)
		return 0;
	return section->sh_size - (symbol->st_value - section->sh_addr);
}

static int symbol_add(struct reader *reader, const Elf64_Sym *entry)
{
	unsigned int table = reader->table_count;
	uint64_t left = bytes_in_section(reader, entry), offset;
	struct symbol symbol = {.name = entry->st_name, .table = (uint8_t)table};

	if (left == 0 || entry->st_size > left || !rank_of(entry, &symbol.rank) ||
	    entry->st_name >= reader->strings[table].bytes ||
	    !unwind_elf_offset(&reader->elf, entry->st_value, &offset) ||
	    offset > UINT64_MAX - left || symbol_name_is_noise(symbol_reader_name(reader, &symbol)))
		return 0;
	symbol.offset = offset;
	symbol.label = entry->st_size == 0;
	symbol.bytes = symbol.label ? left : entry->st_size;
	if (reader->count == SYMBOL_READER_SYMBOLS_MAX)
		return -EFBIG;
	if (array_reserve(&reader->symbols, &reader->capacity, reader->count + 1,
			  sizeof(*reader->symbols)) < 0)
		return -ENOMEM;
	reader->symbols[reader->count++] = symbol;
	return 0;
}

static int entries_read(struct reader *reader, const struct unwind_file *file,
			const Elf64_Shdr *table)
{
	_cleanup_free_ uint8_t *block = NULL;
	uint64_t left = table->sh_size / sizeof(Elf64_Sym), at = table->sh_offset;
	int r = 0;

	while (left > 0 && r == 0) {
		size_t count = left < BLOCK_SYMBOLS ? (size_t)left : BLOCK_SYMBOLS;
		size_t bytes = count * sizeof(Elf64_Sym);
		const Elf64_Sym *entries;

		free(take_ptr(block));
		r = unwind_elf_block_read(file, &block, bytes, bytes, at);
		if (r < 0)
			return r;
		entries = (const void *)block;
		for (size_t i = 0; i < count && r == 0; i++)
			r = symbol_add(reader, &entries[i]);
		left -= count;
		at += bytes;
	}
	return r;
}

static int table_read(struct reader *reader, const struct unwind_file *file,
		      const Elf64_Shdr *table)
{
	struct string_section *strings = &reader->strings[reader->table_count];
	const Elf64_Shdr *section;
	int r;

	if (table->sh_link >= reader->section_count || table->sh_entsize != sizeof(Elf64_Sym) ||
	    reader->table_count == TABLES_MAX)
		return 0;
	section = &reader->sections[table->sh_link];
	if (section->sh_type != SHT_STRTAB || table->sh_offset > INT64_MAX ||
	    table->sh_size > INT64_MAX)
		return 0;
	r = unwind_elf_block_read(file, &strings->data, section->sh_size, SYMBOL_READER_STRINGS_MAX,
				  section->sh_offset);
	if (r < 0)
		return r;
	strings->bytes = section->sh_size;
	strings->data[strings->bytes] = '\0';
	r = entries_read(reader, file, table);
	reader->table_count++;
	return r;
}

/* The first table of each type, as other programs do. */
static int tables_read(struct reader *reader, const struct unwind_file *file)
{
	bool symtab = false, dynsym = false;
	int r;

	free(take_ptr(reader->sections));
	r = unwind_elf_headers_read(&reader->sections, &reader->section_count, file);
	for (size_t i = 0; i < reader->section_count && r == 0; i++) {
		const Elf64_Shdr *section = &reader->sections[i];
		bool *seen = section->sh_type == SHT_SYMTAB ? &symtab : &dynsym;

		if ((section->sh_type != SHT_SYMTAB && section->sh_type != SHT_DYNSYM) || *seen)
			continue;
		*seen = true;
		r = table_read(reader, file, section);
	}
	return r;
}

/* Choosing symbols. */

/* Symbols that begin together: longest first. Labels come after all symbols with a size. */
static int symbol_by_place(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->label != y->label)
		return x->label ? 1 : -1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static bool is_better(const struct reader *reader, const struct symbol *a, const struct symbol *b)
{
	if (a->rank != b->rank)
		return a->rank < b->rank;
	return symbol_name_prefer(symbol_reader_name(reader, a), symbol_reader_name(reader, b)) < 0;
}

/* Reduce symbols that begin together to the best, with the length of the longest. */
static void aliases_join(struct reader *reader)
{
	struct symbol *symbols = reader->symbols;
	size_t kept = 0;

	for (size_t i = 0; i < reader->count; i++) {
		struct symbol *last = kept > 0 ? &symbols[kept - 1] : NULL;

		if (last == NULL || last->offset != symbols[i].offset ||
		    last->label != symbols[i].label) {
			symbols[kept++] = symbols[i];
		} else if (is_better(reader, &symbols[i], last)) {
			uint64_t bytes = last->bytes;

			*last = symbols[i];
			last->bytes = bytes;
		}
	}
	reader->count = kept;
}

/* A version is not part of the name. Return 0 if there is no room. */
static int name_add(struct reader *reader, const struct symbol *symbol, uint64_t *ret)
{
	const char *name = symbol_reader_name(reader, symbol);
	size_t bytes = strnlen(name, SYMBOL_READER_NAME_BYTES_MAX);
	const char *at = memchr(name, '@', bytes);
	struct symbol_extents *result = reader->result;

	*ret = 0;
	if (at != NULL && at > name)
		bytes = (size_t)(at - name);
	if (bytes == SYMBOL_READER_NAME_BYTES_MAX ||
	    result->names_bytes + bytes + 1 > SYMBOL_READER_NAMES_BYTES_MAX)
		return 0;
	if (array_reserve(&result->names, &reader->names_capacity, result->names_bytes + bytes + 1,
			  1) < 0)
		return -ENOMEM;
	*ret = result->names_bytes;
	memcpy(result->names + result->names_bytes, name, bytes);
	result->names_bytes += bytes;
	result->names[result->names_bytes++] = '\0';
	return 0;
}

/* @symbol: NULL: the range has none */
static int extent_add(struct reader *reader, const struct symbol *symbol, uint64_t start,
		      uint64_t end)
{
	struct symbol_extents *result = reader->result;
	struct symbol_extent extent = {.start = start, .end = end};

	if (array_reserve(&result->extents, &reader->extent_capacity, result->count + 1,
			  sizeof(extent)) < 0)
		return -ENOMEM;
	if (symbol != NULL) {
		int r = name_add(reader, symbol, &extent.name);

		if (r < 0)
			return r;
		extent.offset = symbol->offset;
		extent.bytes = symbol->label ? end - symbol->offset : symbol->bytes;
	}
	result->extents[result->count++] = extent;
	return 0;
}

/*
 * A walk over offsets and symbols with a size, both ascending.
 *
 * @next:   the first symbol that begins after the offset
 * @open:   indices of symbols that begin before it and may contain it, the last one innermost
 * @ended:  where the last symbol that ends before it ends
 * @labels: symbols without a size are from this index on
 * @label:  the first of them that begins after the offset
 */
struct walk {
	size_t next;
	size_t *open;
	size_t open_count;
	uint64_t ended;
	size_t labels;
	size_t label;
};

static uint64_t end_of(const struct symbol *symbol)
{
	return symbol->offset + symbol->bytes;
}

static void walk_to(const struct reader *reader, struct walk *walk, uint64_t offset)
{
	const struct symbol *symbols = reader->symbols;

	while (walk->next < walk->labels && symbols[walk->next].offset <= offset)
		walk->open[walk->open_count++] = walk->next++;
	while (walk->open_count > 0) {
		uint64_t end = end_of(&symbols[walk->open[walk->open_count - 1]]);

		if (end > offset)
			break;
		if (end > walk->ended)
			walk->ended = end;
		walk->open_count--;
	}
	while (walk->label < reader->count && symbols[walk->label].offset <= offset)
		walk->label++;
}

static uint64_t lower(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The offset is in no symbol with a size: a label extends to the next symbol or label. */
static int gap_add(struct reader *reader, const struct walk *walk, uint64_t offset, uint64_t end)
{
	const struct symbol *symbols = reader->symbols;
	uint64_t start = walk->ended;

	if (walk->label < reader->count)
		end = lower(end, symbols[walk->label].offset);
	if (walk->label > walk->labels) {
		const struct symbol *label = &symbols[walk->label - 1];

		if (label->offset >= start && end_of(label) > offset)
			return extent_add(reader, label, label->offset, lower(end, end_of(label)));
		if (label->offset >= start)
			start = lower(end_of(label), offset);
	}
	return extent_add(reader, NULL, start, end);
}

static int offset_find(struct reader *reader, struct walk *walk, uint64_t offset)
{
	const struct symbol *symbols = reader->symbols, *owner;
	uint64_t end = UINT64_MAX, start;

	walk_to(reader, walk, offset);
	if (walk->next < walk->labels)
		end = symbols[walk->next].offset;
	if (walk->open_count == 0)
		return gap_add(reader, walk, offset, end);
	owner = &symbols[walk->open[walk->open_count - 1]];
	start = walk->ended > owner->offset ? walk->ended : owner->offset;
	return extent_add(reader, owner, start, lower(end, end_of(owner)));
}

static int offsets_find(struct reader *reader, const uint64_t *offsets, size_t count)
{
	_cleanup_free_ size_t *open = calloc(reader->count + 1, sizeof(*open));
	struct symbol_extents *result = reader->result;
	struct walk walk = {.open = open};
	int r = open == NULL ? -ENOMEM : 0;

	while (walk.labels < reader->count && !reader->symbols[walk.labels].label)
		walk.labels++;
	walk.label = walk.labels;
	for (size_t i = 0; i < count && r == 0; i++) {
		if (offsets[i] < UINT64_MAX &&
		    (result->count == 0 || offsets[i] >= result->extents[result->count - 1].end))
			r = offset_find(reader, &walk, offsets[i]);
	}
	return r;
}

int symbol_reader_read(struct symbol_extents *ret, const struct unwind_file *file,
		       const struct unwind_file *debug, const uint64_t *offsets, size_t count)
{
	struct symbol_extents result = {.names_bytes = 1};
	struct reader reader = {.result = &result};
	int r = array_reserve(&result.names, &reader.names_capacity, 1, 1);

	if (r == 0) {
		result.names[0] = '\0';
		r = unwind_elf_code_read(&reader.elf, file);
	}
	if (r == 0)
		r = tables_read(&reader, file);
	if (r == 0 && debug != NULL)
		r = tables_read(&reader, debug);
	if (r == 0) {
		array_sort(reader.symbols, reader.count, sizeof(*reader.symbols), symbol_by_place);
		aliases_join(&reader);
		r = offsets_find(&reader, offsets, count);
	}
	reader_deinit(&reader);
	if (r < 0)
		symbol_extents_deinit(&result);
	else
		*ret = result;
	return r;
}

void symbol_extents_deinit(struct symbol_extents *extents)
{
	free(extents->extents);
	free(extents->names);
	*extents = (struct symbol_extents){.count = 0};
}
