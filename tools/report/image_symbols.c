// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/image_symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/image_lines.h"
#include "analysis/image/procedure_names.h"
#include "analysis/image/procedure_table.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/report/code_elf.h"
#include "tools/report/symbol_cache.h"

struct image_symbols {
	struct procedure_table *table; /* may be NULL */
	const char *unnamed;	       /* name for samples without a procedure */
	bool has_no_file;	       /* @table is made from stored symbols of a file */
	struct profile_image image;    /* of a file; this structure owns the path */
	struct debug_file_options debug;
	struct procedure_table *file; /* for lines, if @table is from an index */
	bool lines_opened;
	struct image_lines *lines; /* NULL: none */
};

CLEANUP_DEFINE(image_symbols, struct image_symbols *, image_symbols_close)

static const char *why_unreadable(int r)
{
	switch (r) {
	case -ESTALE:
		return "<image changed>";
	case -ENOENT:
	case -ENOTDIR:
		return "<image missing>";
	case -EACCES:
	case -EPERM:
		return "<no permission to read image>";
	case -ENOEXEC:
		return "<image is not ELF>";
	case -EBADF:
		return "<image damaged>";
	case -ENOTSUP:
		return "<image is not executable>";
	case -ENOTRECOVERABLE:
		return "<image cannot be parsed>";
	}
	return "<image unreadable>";
}

static int load_kept(struct image_symbols *symbols, struct profile_reader *reader, int64_t id,
		     struct error *err)
{
	struct profile_symbols kept = {0};
	int r = profile_reader_symbols(reader, id, &kept, err);

	if (r < 0)
		return r;
	symbols->unnamed = kept.count > 0 ? "<no symbol>" : "<no symbols stored>";
	r = procedure_table_from_symbols(&symbols->table, kept.symbols, kept.count, err);
	profile_symbols_deinit(&kept);
	return r;
}

/*
 * The names of procedures with samples are stored. Other code has the reason why the file cannot be
 * used as its name, because the file may have names for it.
 */
static int load_sampled(struct image_symbols *symbols, struct profile_reader *reader, int64_t id,
			const char *reason, struct error *err)
{
	int r = load_kept(symbols, reader, id, err);

	symbols->unnamed = reason;
	symbols->has_no_file = true;
	return r;
}

static int load_file(struct image_symbols *symbols, struct profile_reader *reader, int64_t id,
		     const struct profile_image *image, const struct debug_file_options *options,
		     struct error *err)
{
	int r = symbol_cache_open(&symbols->table, image, options, err);

	if (r == -ENOMEM)
		return r;
	symbols->image = *image;
	symbols->image.path = strdup(image->path);
	if (symbols->image.path == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r < 0)
		return load_sampled(symbols, reader, id, why_unreadable(r), err);
	symbols->unnamed = "<no symbol>";
	return 0;
}

/* The vDSO is stored as a file, which also has the procedures that it does not export. */
static int load_vdso(struct image_symbols *symbols, struct profile_reader *reader, int64_t id,
		     const struct debug_file_options *options, struct error *err)
{
	struct profile_image file = {.kind = PROFILE_IMAGE_FILE};
	_cleanup_close_ int fd = -1;
	char path[32];
	int r = code_elf_make(&fd, reader, id, PROFILE_IMAGE_VDSO, err);

	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	file.path = path;
	symbols->unnamed = "<no symbol>";
	return procedure_table_open(&symbols->table, &file, options, err);
}

int image_symbols_open(struct image_symbols **ret, struct profile_reader *reader, int64_t id,
		       const struct profile_image *image, const struct debug_file_options *options,
		       struct error *err)
{
	_cleanup_(cleanup_image_symbols) struct image_symbols *symbols =
		calloc(1, sizeof(*symbols));
	int r = 0;

	if (symbols == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	symbols->unnamed = "<unknown>";
	symbols->debug = *options;
	if (image->kind == PROFILE_IMAGE_FILE)
		r = load_file(symbols, reader, id, image, options, err);
	else if (image->kind == PROFILE_IMAGE_VDSO &&
		 load_vdso(symbols, reader, id, options, err) == 0)
		r = 0;
	else if (image->kind != PROFILE_IMAGE_UNKNOWN)
		r = load_kept(symbols, reader, id, err);
	if (r < 0)
		return r;
	*ret = take_ptr(symbols);
	return 0;
}

void image_symbols_close(struct image_symbols *symbols)
{
	if (symbols == NULL)
		return;
	image_lines_close(symbols->lines);
	procedure_table_destroy(symbols->file);
	procedure_table_destroy(symbols->table);
	free((void *)(uintptr_t)symbols->image.path);
	free(symbols);
}

size_t image_symbols_count(const struct image_symbols *symbols)
{
	return symbols->table != NULL ? procedure_table_count(symbols->table) + 1 : 1;
}

size_t image_symbols_find(const struct image_symbols *symbols, uint64_t offset)
{
	long index = symbols->table != NULL ? procedure_table_find(symbols->table, offset) : -1;

	return index >= 0 ? (size_t)index : image_symbols_count(symbols) - 1;
}

int image_symbols_names(const struct image_symbols *symbols, size_t index, bool demangle_names,
			struct procedure_names *ret)
{
	struct procedure_names names = {0};

	if (index + 1 < image_symbols_count(symbols))
		return procedure_names_make(ret, symbols->table, index, demangle_names);
	names.name = strdup(symbols->unnamed);
	names.note = strdup("");
	names.list = strdup("");
	if (names.name != NULL && names.note != NULL && names.list != NULL) {
		*ret = names;
		return 0;
	}
	procedure_names_deinit(&names);
	return -ENOMEM;
}

char *image_symbols_name(const struct image_symbols *symbols, size_t index, bool demangle_names,
			 uint64_t *address, bool *has_address)
{
	_cleanup_(procedure_names_deinit) struct procedure_names names = {0};
	uint64_t offset;

	*address = 0;
	*has_address = image_symbols_start(symbols, index, &offset, address);
	if (image_symbols_names(symbols, index, demangle_names, &names) < 0)
		return NULL;
	return take_ptr(names.name);
}

bool image_symbols_start(const struct image_symbols *symbols, size_t index, uint64_t *offset,
			 uint64_t *address)
{
	const struct procedure *procedure;

	if (index + 1 >= image_symbols_count(symbols))
		return false;
	procedure = procedure_table_get(symbols->table, index);
	*offset = procedure->offset;
	*address = procedure->address;
	return true;
}

const char *image_symbols_lineless(const struct image_symbols *symbols)
{
	return symbols->table != NULL && !symbols->has_no_file ? "<no line>" : symbols->unnamed;
}

/* An index has no lines, so the file is opened for them. Return: 0, also without lines; -ENOMEM. */
static int open_lines(struct image_symbols *symbols)
{
	const struct procedure_table *table = symbols->table;

	if (procedure_table_image(table) == NULL && symbols->image.path != NULL) {
		if (procedure_table_open(&symbols->file, &symbols->image, &symbols->debug, NULL) ==
		    -ENOMEM)
			return -ENOMEM;
		table = symbols->file;
	}
	if (table == NULL || procedure_table_image(table) == NULL)
		return 0;
	return image_lines_open(&symbols->lines, table, &symbols->debug);
}

/* Get the address of a byte, and open the lines. Return: 0; -ENOENT: no lines; -ENOMEM. */
static int line_address(struct image_symbols *symbols, uint64_t offset, uint64_t *ret)
{
	uint64_t start, address;

	if (!image_symbols_start(symbols, image_symbols_find(symbols, offset), &start, &address))
		return -ENOENT;
	if (!symbols->lines_opened && open_lines(symbols) < 0)
		return -ENOMEM;
	symbols->lines_opened = true;
	*ret = address + (offset - start);
	return symbols->lines != NULL ? 0 : -ENOENT;
}

int image_symbols_line(struct image_symbols *symbols, uint64_t offset, const char **file,
		       unsigned int *line)
{
	uint64_t address;
	int r = line_address(symbols, offset, &address);

	return r == 0 ? image_lines_find(symbols->lines, address, file, line) : r;
}

int image_symbols_inlines(struct image_symbols *symbols, uint64_t offset,
			  const char *names[IMAGE_LINES_INLINES_MAX], size_t *count)
{
	uint64_t address;
	int r = line_address(symbols, offset, &address);

	*count = 0;
	if (r == 0)
		r = image_lines_inlines(symbols->lines, address, names, count);
	return r == -ENOENT ? 0 : r;
}
