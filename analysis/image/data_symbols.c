// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/data_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/elf_symbols.h"
#include "analysis/image/image_elf.h"
#include "analysis/image/procedure_table.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/partition_point.h"
#include "lib/symbol_name.h"

/* struct data_list - @list: by address; names belong to the file of the table */
struct data_list {
	struct data_symbol *list;
	size_t count;
	size_t capacity;
};

/* @bias: address of code minus its offset in the image */
struct data_symbols {
	struct procedure_table *table;
	uint64_t bias;
	struct data_list objects;
	struct data_list sections;
};

CLEANUP_DEFINE(data_symbols, struct data_symbols *, data_symbols_close)

static int data_list_add(struct data_list *list, const struct data_symbol *symbol)
{
	if (array_reserve(&list->list, &list->capacity, list->count + 1, sizeof(*list->list)) < 0)
		return -ENOMEM;
	list->list[list->count++] = *symbol;
	return 0;
}

static int object_add(void *context, const struct elf_symbol *symbol)
{
	const struct data_symbol object = {symbol->address, symbol->bytes, symbol->name};

	return data_list_add(context, &object);
}

/* The most readable of several names of the same data comes first. */
static int data_symbol_compare(const void *a, const void *b)
{
	const struct data_symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return symbol_name_prefer(x->name, y->name);
}

/* The largest symbol at an address stands for all; those that begin inside another are left out. */
static void objects_settle(struct data_list *list)
{
	size_t count = 0;

	if (list->count > 0)
		qsort(list->list, list->count, sizeof(*list->list), data_symbol_compare);
	for (size_t i = 0; i < list->count; i++) {
		struct data_symbol *last = count > 0 ? &list->list[count - 1] : NULL;

		if (last != NULL && list->list[i].address == last->address &&
		    list->list[i].bytes > last->bytes)
			last->bytes = list->list[i].bytes;
		else if (last == NULL || list->list[i].address - last->address >= last->bytes)
			list->list[count++] = list->list[i];
	}
	list->count = count;
}

static int sections_read(struct data_list *list, const struct elf_file *file)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int r = 0;

	while (r == 0 && (section = elf_nextscn(file->elf, section)) != NULL) {
		struct data_symbol found;

		if (gelf_getshdr(section, &header) == NULL || !(header.sh_flags & SHF_ALLOC) ||
		    (header.sh_flags & SHF_TLS) || header.sh_size == 0 ||
		    header.sh_addr > UINT64_MAX - header.sh_size)
			continue;
		found = (struct data_symbol){header.sh_addr, header.sh_size,
					     elf_file_section_name(file, &header)};
		if (found.name[0] != '\0')
			r = data_list_add(list, &found);
	}
	objects_settle(list);
	return r;
}

static int symbols_read(struct data_symbols *symbols)
{
	const struct elf_file *file = image_elf_file(procedure_table_image(symbols->table));
	const struct elf_file *debug = procedure_table_debug_file(symbols->table);
	struct data_list *objects = &symbols->objects;
	int r = elf_symbols_data(file, SHT_SYMTAB, object_add, objects);

	if (r == 0 && objects->count == 0 && debug != NULL)
		r = elf_symbols_data(debug, SHT_SYMTAB, object_add, objects);
	if (r == 0 && objects->count == 0)
		r = elf_symbols_data(file, SHT_DYNSYM, object_add, objects);
	objects_settle(objects);
	return r < 0 ? r : sections_read(&symbols->sections, file);
}

/* Return: the difference of address and offset of the first section of code; 0: no code. */
static uint64_t bias_of(const struct image_elf *image)
{
	const struct image_section *sections;
	size_t count;
	uint64_t offset;

	sections = image_elf_sections(image, &count);
	if (count == 0 || image_elf_offset(image, sections[0].address, &offset) == 0)
		return 0;
	return sections[0].address - offset;
}

int data_symbols_open(struct data_symbols **ret, const struct profile_image *image,
		      const struct debug_file_options *options, struct error *err)
{
	_cleanup_(cleanup_data_symbols) struct data_symbols *symbols = calloc(1, sizeof(*symbols));
	int r;

	if (symbols == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	r = procedure_table_open(&symbols->table, image, options, err);
	if (r < 0)
		return r;
	symbols->bias = bias_of(procedure_table_image(symbols->table));
	if (symbols_read(symbols) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	*ret = take_ptr(symbols);
	return 0;
}

void data_symbols_close(struct data_symbols *symbols)
{
	if (symbols == NULL)
		return;
	free(symbols->objects.list);
	free(symbols->sections.list);
	procedure_table_destroy(symbols->table);
	free(symbols);
}

static const struct data_symbol *data_list_find(const struct data_list *list, uint64_t address)
{
	size_t after = partition_point(0, list->count, i, list->list[i].address <= address);

	return after > 0 && address - list->list[after - 1].address < list->list[after - 1].bytes
		       ? &list->list[after - 1]
		       : NULL;
}

const struct data_symbol *data_symbols_find(const struct data_symbols *symbols, int64_t position)
{
	uint64_t address = (uint64_t)position + symbols->bias;
	const struct data_symbol *found = data_list_find(&symbols->objects, address);

	return found != NULL ? found : data_list_find(&symbols->sections, address);
}
