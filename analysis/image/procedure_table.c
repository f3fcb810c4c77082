// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/procedure_table.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "analysis/image/elf_symbols.h"
#include "analysis/image/go_names.h"
#include "analysis/image/image_lookup.h"
#include "analysis/image/landing_pads.h"
#include "analysis/image/plt_names.h"
#include "analysis/image/procedure_aliases.h"
#include "analysis/image/procedure_table_parts.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/parse_guard.h"
#include "lib/partition_point.h"

#define CANDIDATES_MAX UINT32_MAX
/* Longer names are from C++ and have no version: do not copy huge names. */
#define VERSIONED_BYTES_MAX 256

CLEANUP_DEFINE(procedure_table, struct procedure_table *, procedure_table_destroy)

/* struct builder - state while a table is built; candidates of a layer are adjacent */
struct builder {
	struct procedure_table *table;
	struct procedure_candidate *candidates;
	size_t count;
	size_t capacity;
	struct procedure_segments segments; /* owners: indices of candidates */
	struct unwind_range *unwind;
	size_t unwind_count;
	bool sized; /* symbols with a size are being collected */
	bool unsized_seen;
	size_t sized_count;  /* number of symbols with a size, which are the first candidates */
	size_t symbol_count; /* also counting the symbols without a size, which follow */
};

static int add_candidate(struct builder *builder, const struct procedure *procedure,
			 unsigned int rank)
{
	if (builder->count >= CANDIDATES_MAX ||
	    array_reserve(&builder->candidates, &builder->capacity, builder->count + 1,
			  sizeof(*builder->candidates)) < 0)
		return -ENOMEM;
	builder->candidates[builder->count++] =
		(struct procedure_candidate){.procedure = *procedure, .rank = rank};
	return 0;
}

/* Add a candidate at an address, if that is code in the file. */
static int add_at(struct builder *builder, uint64_t address, uint64_t bytes, const char *name,
		  enum procedure_source source, unsigned int rank)
{
	struct procedure procedure = {.address = address, .name = name, .source = source};
	uint64_t left = image_elf_offset(builder->table->image, address, &procedure.offset);

	if (left == 0)
		return 0;
	procedure.bytes = bytes < left ? bytes : left;
	return add_candidate(builder, &procedure, rank);
}

/* Unwind ranges and the symbols of some linkers are already sorted, tens of thousands of them. */
static void sort_layer(struct builder *builder, size_t first)
{
	if (builder->count > first)
		array_sort(builder->candidates + first, builder->count - first,
			   sizeof(*builder->candidates), procedure_layers_compare);
}

static int finish_layer(struct builder *builder, size_t first)
{
	return procedure_layers_add(&builder->segments, builder->candidates, first, builder->count);
}

static int collect_symbol(void *context, const struct elf_symbol *symbol)
{
	struct builder *builder = context;
	const char *name = symbol->name, *version = symbol->version;
	const char *at = memchr(name, '@', strnlen(name, VERSIONED_BYTES_MAX));
	bool hidden = symbol->hidden;
	size_t count = builder->count;

	builder->unsized_seen = builder->unsized_seen || symbol->bytes == 0;
	if ((symbol->bytes > 0) != builder->sized)
		return 0;
	if (at != NULL && at > name) {
		hidden = at[1] != '@';
		version = at + strspn(at, "@");
		name = name_pool_add(&builder->table->pool, name, (size_t)(at - name));
		if (name == NULL)
			return -ENOMEM;
	}
	if (add_at(builder, symbol->address, symbol->bytes, name,
		   builder->sized ? PROCEDURE_SYMBOL : PROCEDURE_LABEL, symbol->rank) < 0)
		return -ENOMEM;
	if (builder->count > count) {
		builder->candidates[count].version = version;
		builder->candidates[count].hidden = hidden;
		builder->candidates[count].file = symbol->file;
	}
	return 0;
}

static int collect_symbols(struct builder *builder, bool sized)
{
	const struct elf_file *elf = image_elf_file(builder->table->image);
	int r;

	builder->sized = sized;
	r = elf_symbols_visit(elf, SHT_SYMTAB, collect_symbol, builder);
	if (r == 0 && builder->table->debug.elf != NULL)
		r = elf_symbols_visit(&builder->table->debug, SHT_SYMTAB, collect_symbol, builder);
	if (r == 0)
		r = elf_symbols_visit(elf, SHT_DYNSYM, collect_symbol, builder);
	return r;
}

/* Return the index of the first range that begins after an address, or the number of ranges. */
static size_t unwind_after(const struct builder *builder, uint64_t address)
{
	return partition_point(0, builder->unwind_count, i, builder->unwind[i].address <= address);
}

static uint64_t nearer(uint64_t bytes, uint64_t address, uint64_t end)
{
	return end > address && end - address < bytes ? end - address : bytes;
}

/* Limit a symbol without a size by information other than symbols. */
static uint64_t label_limit(const struct builder *builder, uint64_t address, uint64_t bytes)
{
	const struct image_section *section = image_elf_section_at(builder->table->image, address);
	size_t after = unwind_after(builder, address);

	if (section != NULL)
		bytes = nearer(bytes, address, section->address + section->bytes);
	if (after < builder->unwind_count)
		bytes = nearer(bytes, address, builder->unwind[after].address);
	if (after > 0)
		bytes = nearer(bytes, address,
			       builder->unwind[after - 1].address +
				       builder->unwind[after - 1].bytes);
	return bytes;
}

static uint64_t next_segment(const struct builder *builder, uint64_t offset)
{
	size_t low = partition_point(0, builder->segments.count, i,
				     builder->segments.segments[i].start <= offset);

	return low < builder->segments.count ? builder->segments.segments[low].start : UINT64_MAX;
}

/* Set the extents of symbols without a size, which are sorted and begin at @first. */
static void size_labels(struct builder *builder, size_t first)
{
	uint64_t next = UINT64_MAX, current = UINT64_MAX;

	for (size_t i = builder->count; i-- > first;) {
		struct procedure *label = &builder->candidates[i].procedure;
		uint64_t bytes;

		if (label->offset != current) {
			next = current;
			current = label->offset;
		}
		if (procedure_segments_find(&builder->segments, label->offset) != NULL) {
			label->bytes = 0; /* a label inside a symbol with a size */
			continue;
		}
		bytes = nearer(UINT64_MAX - label->offset, label->offset, next);
		bytes = nearer(bytes, label->offset, next_segment(builder, label->offset));
		if (builder->table->image != NULL) {
			uint64_t unused, left = image_elf_offset(builder->table->image,
								 label->address, &unused);

			bytes = label_limit(builder, label->address, bytes < left ? bytes : left);
		}
		label->bytes = bytes;
	}
}

/* After add_symbols(). */
static int add_labels(struct builder *builder)
{
	size_t first = builder->count;
	int r = builder->unsized_seen ? collect_symbols(builder, false) : 0;

	if (r < 0)
		return r;
	sort_layer(builder, first);
	size_labels(builder, first);
	builder->symbol_count = builder->count;
	return finish_layer(builder, first);
}

static int add_symbols(struct builder *builder)
{
	int r = collect_symbols(builder, true);

	if (r < 0)
		return r;
	sort_layer(builder, 0);
	procedure_aliases_extend(builder->candidates, builder->count);
	builder->sized_count = builder->count;
	return finish_layer(builder, 0);
}

static int collect_go(void *context, uint64_t address, uint64_t bytes, const char *name)
{
	return add_at(context, address, bytes, name, PROCEDURE_SYMBOL, 0);
}

/* Where symbols already cover the code, these get no bytes. */
static int add_go(struct builder *builder)
{
	size_t first = builder->count;
	int r = go_names_visit(image_elf_file(builder->table->image), collect_go, builder);

	if (r < 0)
		return r;
	sort_layer(builder, first);
	return finish_layer(builder, first);
}

static int add_plt(struct builder *builder)
{
	_cleanup_free_ struct plt_stub *stubs = NULL;
	size_t first = builder->count, count = 0;
	int r = plt_names_read(&stubs, &count, image_elf_file(builder->table->image),
			       &builder->table->pool);

	for (size_t i = 0; r == 0 && i < count; i++)
		r = add_at(builder, stubs[i].address, stubs[i].bytes, stubs[i].name, PROCEDURE_PLT,
			   0);
	if (r < 0)
		return r;
	sort_layer(builder, first);
	return finish_layer(builder, first);
}

/* Return true if no earlier layer covers an address. */
static bool unwind_is_news(const struct builder *builder, uint64_t address)
{
	const struct image_section *section = image_elf_section_at(builder->table->image, address);
	uint64_t offset;

	/* A single description covers all stubs of such a section. */
	if (section != NULL && strncmp(section->name, ".plt", 4) == 0)
		return false;
	return image_elf_offset(builder->table->image, address, &offset) > 0 &&
	       procedure_segments_find(&builder->segments, offset) == NULL;
}

/* Format "proc_0x..." without printf, because there may be a hundred thousand of them. */
static const char *unwind_name(struct builder *builder, uint64_t address)
{
	static const char prefix[] = "proc_0x";
	char name[sizeof(prefix) + 16];
	size_t end = sizeof(name), start = end;

	do {
		name[--start] = "0123456789abcdef"[address % 16];
		address /= 16;
	} while (address > 0);
	start -= sizeof(prefix) - 1;
	memcpy(name + start, prefix, sizeof(prefix) - 1);
	return name_pool_add(&builder->table->pool, name + start, end - start);
}

static int add_unwind(struct builder *builder)
{
	size_t first = builder->count, count;

	for (size_t i = 0; i < builder->unwind_count; i++) {
		const struct unwind_range *range = &builder->unwind[i];
		const char *name;

		if (!unwind_is_news(builder, range->address))
			continue;
		name = unwind_name(builder, range->address);
		count = builder->count;
		if (name == NULL ||
		    add_at(builder, range->address, range->bytes, name, PROCEDURE_UNWIND, 0) < 0)
			return -ENOMEM;
		if (builder->count > count)
			builder->candidates[count].procedure.inside = range->inside;
	}
	sort_layer(builder, first);
	return finish_layer(builder, first);
}

/* Add the procedures in one of the arrays of initialisation or finalisation functions. */
static int collect_called(struct builder *builder, const char *array)
{
	const struct elf_file *elf = image_elf_file(builder->table->image);
	uint64_t address;
	const Elf_Data *data = elf_file_contents(elf, array, &address);
	size_t count = data != NULL ? data->d_size / sizeof(address) : 0;

	for (size_t i = 0; i < count; i++) {
		const char *name;

		memcpy(&address, (const char *)data->d_buf + i * sizeof(address), sizeof(address));
		address = le64toh(address);
		if (image_elf_section_at(builder->table->image, address) == NULL ||
		    !unwind_is_news(builder, address))
			continue;
		name = unwind_name(builder, address);
		if (name == NULL || add_at(builder, address, 0, name, PROCEDURE_UNWIND, 0) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_called(struct builder *builder)
{
	const struct elf_file *elf = image_elf_file(builder->table->image);
	size_t first = builder->count;
	GElf_Ehdr header;
	int r = 0;

	if (gelf_getehdr(elf->elf, &header) == NULL || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB)
		return 0;
	r = collect_called(builder, ".init_array");
	if (r == 0)
		r = collect_called(builder, ".fini_array");
	if (r < 0)
		return r;
	sort_layer(builder, first);
	size_labels(builder, first);
	return finish_layer(builder, first);
}

static int add_sections(struct builder *builder)
{
	size_t first = builder->count, count;
	const struct image_section *sections = image_elf_sections(builder->table->image, &count);

	for (size_t i = 0; i < count; i++) {
		const char *name =
			name_pool_format(&builder->table->pool, "[%s]", sections[i].name);

		if (name == NULL || add_at(builder, sections[i].address, sections[i].bytes, name,
					   PROCEDURE_SECTION, 0) < 0)
			return -ENOMEM;
	}
	sort_layer(builder, first);
	return finish_layer(builder, first);
}

struct owner {
	uint32_t candidate;
	uint64_t offset;
	enum procedure_source source;
};

static int owner_compare(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return (x->candidate > y->candidate) - (x->candidate < y->candidate);
}

/* List the candidates that have bytes, once each, in the table's order. */
static size_t list_owners(const struct builder *builder, struct owner *owners, uint32_t *index)
{
	size_t count = 0;

	for (size_t i = 0; i < builder->segments.count; i++) {
		uint32_t candidate = builder->segments.segments[i].owner;
		const struct procedure *procedure = &builder->candidates[candidate].procedure;

		if (index[candidate] != 0)
			continue;
		index[candidate] = 1;
		owners[count++] = (struct owner){candidate, procedure->offset, procedure->source};
	}
	array_sort(owners, count, sizeof(*owners), owner_compare);
	return count;
}

/* Build the table from the candidates that have bytes. */
static int procedure_table_finish(struct builder *builder)
{
	struct procedure_table *table = builder->table;
	_cleanup_free_ struct owner *owners = calloc(builder->segments.count + 1, sizeof(*owners));
	_cleanup_free_ uint32_t *index = calloc(builder->count + 1, sizeof(*index));
	_cleanup_free_ uint32_t *from = calloc(builder->segments.count + 1, sizeof(*from));
	struct procedure_symbols symbols = {builder->candidates, builder->sized_count,
					    builder->symbol_count, index};

	if (owners == NULL || index == NULL || from == NULL)
		return -ENOMEM;
	table->count = list_owners(builder, owners, index);
	table->procedures = calloc(table->count + 1, sizeof(*table->procedures));
	if (table->procedures == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < table->count; i++) {
		from[i] = owners[i].candidate;
		table->procedures[i] = builder->candidates[from[i]].procedure;
	}
	if (procedure_aliases_add(table, &symbols, from) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < table->count; i++)
		index[from[i]] = (uint32_t)i;
	for (size_t i = 0; i < builder->segments.count; i++)
		builder->segments.segments[i].owner = index[builder->segments.segments[i].owner];
	table->segments = builder->segments;
	builder->segments = (struct procedure_segments){0};
	return 0;
}

static void builder_deinit(struct builder *builder)
{
	free(builder->candidates);
	free(builder->unwind);
	procedure_segments_deinit(&builder->segments);
}

static int build_from_file(struct procedure_table *table)
{
	static int (*const layers[])(struct builder * builder) = {
		add_symbols, add_labels, add_go,       add_plt,
		add_unwind,  add_called, add_sections, procedure_table_finish,
	};
	struct builder builder = {.table = table};
	const struct elf_file *file = image_elf_file(table->image);
	int r = unwind_ranges_read(&builder.unwind, &builder.unwind_count, file);

	if (r == 0)
		r = landing_pads_init(&table->pads, file, builder.unwind, builder.unwind_count);
	for (size_t i = 0; r == 0 && i < sizeof(layers) / sizeof(*layers); i++)
		r = layers[i](&builder);
	builder_deinit(&builder);
	return r;
}

static int build_guarded(struct procedure_table *table, const struct debug_file_options *options)
{
	const struct elf_file *file = image_elf_file(table->image);
	const char *previous = parse_guard_begin(file->subject);
	int r;

	if (!elf_symbols_present(file, SHT_SYMTAB))
		debug_file_open(&table->debug, table->image, options);
	r = build_from_file(table);
	parse_guard_end(previous, r);
	return r;
}

int procedure_table_open(struct procedure_table **ret, const struct profile_image *image,
			 const struct debug_file_options *options, struct error *err)
{
	_cleanup_(cleanup_procedure_table) struct procedure_table *table = NULL;
	int r;

	table = calloc(1, sizeof(*table));
	if (table == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	r = image_lookup_open(&table->image, image, options, err);
	if (r < 0)
		return r;
	r = build_guarded(table, options);
	if (r < 0)
		return error_set(err, -r, "cannot list the procedures of '%s'",
				 image_elf_path(table->image));
	*ret = take_ptr(table);
	return 0;
}

static int add_kept(struct builder *builder, const struct profile_symbol *symbols, size_t count,
		    bool sized)
{
	unsigned int rank = 0;

	for (size_t i = 0; i < count; i++) {
		struct procedure procedure = {
			.offset = symbols[i].offset,
			.bytes = symbols[i].bytes,
			.address = symbols[i].offset,
			.source = sized ? PROCEDURE_SYMBOL : PROCEDURE_LABEL,
		};

		if ((symbols[i].bytes > 0) != sized)
			continue;
		if (procedure.bytes > UINT64_MAX - procedure.offset)
			procedure.bytes = UINT64_MAX - procedure.offset;
		procedure.name = name_pool_add(&builder->table->pool, symbols[i].name,
					       strlen(symbols[i].name));
		if (procedure.name == NULL || add_candidate(builder, &procedure, rank++) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int build_from_symbols(struct builder *builder, const struct profile_symbol *symbols,
			      size_t count)
{
	size_t first;
	int r = add_kept(builder, symbols, count, true);

	if (r < 0)
		return r;
	sort_layer(builder, 0);
	r = finish_layer(builder, 0);
	if (r < 0)
		return r;
	first = builder->sized_count = builder->count;
	r = add_kept(builder, symbols, count, false);
	if (r < 0)
		return r;
	sort_layer(builder, first);
	size_labels(builder, first);
	builder->symbol_count = builder->count;
	r = finish_layer(builder, first);
	return r < 0 ? r : procedure_table_finish(builder);
}

int procedure_table_from_symbols(struct procedure_table **ret, const struct profile_symbol *symbols,
				 size_t count, struct error *err)
{
	_cleanup_(cleanup_procedure_table) struct procedure_table *table = NULL;
	struct builder builder = {0};
	int r;

	table = calloc(1, sizeof(*table));
	if (table == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	builder.table = table;
	r = build_from_symbols(&builder, symbols, count);
	builder_deinit(&builder);
	if (r < 0)
		return error_set(err, -r, ERROR_NO_MEMORY);
	*ret = take_ptr(table);
	return 0;
}

void procedure_table_destroy(struct procedure_table *table)
{
	if (table == NULL)
		return;
	free(table->procedures);
	free((void *)table->aliases);
	procedure_segments_deinit(&table->segments);
	name_pool_deinit(&table->pool);
	landing_pads_deinit(&table->pads);
	elf_file_close(&table->debug);
	image_elf_close(table->image);
	free(table->index);
	free(table);
}

const struct image_elf *procedure_table_image(const struct procedure_table *table)
{
	return table->image;
}

const struct elf_file *procedure_table_debug_file(const struct procedure_table *table)
{
	return table->debug.elf != NULL ? &table->debug : NULL;
}

const struct landing_pads *procedure_table_pads(const struct procedure_table *table)
{
	return &table->pads;
}

size_t procedure_table_count(const struct procedure_table *table)
{
	return table->count;
}

const struct procedure *procedure_table_get(const struct procedure_table *table, size_t index)
{
	return &table->procedures[index];
}

const char *procedure_table_alias(const struct procedure_table *table, size_t index, size_t alias)
{
	return table->aliases[table->procedures[index].alias_first + alias];
}

long procedure_table_find(const struct procedure_table *table, uint64_t offset)
{
	const struct procedure_segment *segment = procedure_segments_find(&table->segments, offset);

	return segment != NULL ? (long)segment->owner : -ENOENT;
}

int procedure_table_visit(const struct procedure_table *table, size_t index,
			  int (*visit)(void *context, uint64_t start, uint64_t end), void *context)
{
	const struct procedure *procedure = &table->procedures[index];
	const struct procedure_segments *list = &table->segments;
	size_t low = partition_point(0, list->count, i, list->segments[i].end <= procedure->offset);
	int r = 0;

	for (; r >= 0 && low < list->count; low++) {
		const struct procedure_segment *segment = &list->segments[low];

		if (segment->start >= procedure->offset &&
		    segment->start - procedure->offset >= procedure->bytes)
			break;
		if (segment->owner == index)
			r = visit(context, segment->start, segment->end);
	}
	return r < 0 ? r : 0;
}
