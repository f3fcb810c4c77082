// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image/kernel_image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "daemon/image/image_map.h"
#include "daemon/image/image_table.h"
#include "daemon/image/kallsyms.h"
#include "daemon/image/kernel_module.h"
#include "daemon/image/symbol_list.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/partition_point.h"
#include "lib/probe_mark.h"
#include "loader-hook/vdso.h"

#define TEXT_PAGE_BYTES 4096

/*
 * A range of kernel text: module "" is the kernel itself.
 *
 * @end:     upper bound of its text
 * @reach:   upper bound derived from its symbols
 * @limit:   start of the next range or symbol of another module
 * @image:   number in the image table; IMAGE_UNKNOWN: it has no text, or there was no free number
 * @symbols: with absolute addresses, from when the text was first seen until a caller takes them or
 *           kernel_images_forget_symbols()
 * @wanted:  they are being read
 * @spared:  one call of kernel_images_forget_symbols() has kept them
 */
struct kernel_text {
	struct kernel_module module;
	uint64_t end;
	uint64_t reach;
	uint64_t limit;
	uint32_t image;
	struct symbol_list symbols;
	bool wanted;
	bool spared;
};

/* Sorted by address; does not include the kernel itself. */
struct text_list {
	struct kernel_text *texts;
	size_t count;
	size_t capacity;
};

/*
 * @gone:       unloaded modules with symbols that no caller has taken yet
 * @adopted:    kallsyms has been read for the modules
 * @changed_ns: time since when the map may have text of unloaded modules; 0: it has none
 * @probes:     the image of kernel samples caused by probes; IMAGE_UNKNOWN: there is none
 */
struct kernel_images {
	const struct kernel_paths *paths;
	struct image_table *table;
	struct image_map *map;
	char release[65];
	struct kernel_text kernel;
	struct text_list modules;
	struct text_list gone;
	bool adopted;
	uint64_t changed_ns;
	uint32_t vdso;
	uint32_t probes;
};

CLEANUP_DEFINE(kernel, struct kernel_images *, kernel_images_destroy)

static int compare_texts(const void *first, const void *second)
{
	const struct kernel_text *a = first, *b = second;

	return (a->module.start > b->module.start) - (a->module.start < b->module.start);
}

/* If there is no file, the kernel does not support modules. */
static int read_modules(struct text_list *list, const struct kernel_paths *paths, struct error *err)
{
	const char *path = paths->modules;
	_cleanup_file_ FILE *file = fopen(path, "re");
	_cleanup_free_ char *line = NULL;
	struct kernel_text text = {0};
	size_t capacity = 0;

	memset(list, 0, sizeof(*list));
	if (file == NULL && errno == ENOENT)
		return 0;
	if (file == NULL)
		return error_set_errno(err, ERROR_OPEN, path);
	while (getline(&line, &capacity, file) >= 0) {
		if (!kernel_module_parse(&text.module, line, paths->module_directory))
			continue;
		if (array_reserve(&list->texts, &list->capacity, list->count + 1, sizeof(text)) <
		    0) {
			free(list->texts);
			return error_set(err, ENOMEM, ERROR_NO_MEMORY);
		}
		list->texts[list->count++] = text;
	}
	if (list->count > 0)
		qsort(list->texts, list->count, sizeof(text), compare_texts);
	return 0;
}

static bool same_modules(const struct text_list *a, const struct text_list *b)
{
	size_t i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++) {
		if (!kernel_module_same(&a->texts[i].module, &b->texts[i].module))
			return false;
	}
	return true;
}

static void symbols_drop(struct text_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		symbol_list_deinit(&list->texts[i].symbols);
}

static void text_list_deinit(struct text_list *list)
{
	symbols_drop(list);
	free(list->texts);
	memset(list, 0, sizeof(*list));
}

/* Return true for names that mark a place within a function, not its beginning. */
static bool is_mark(const char *name)
{
	return strncmp(name, "__pfx_", 6) == 0 || strncmp(name, "__cfi_", 6) == 0 ||
	       name[0] == '$' || strncmp(name, ".L", 2) == 0;
}

static void symbol_keep(struct kernel_text *text, const struct kallsyms_symbol *symbol)
{
	/* Hidden addresses are 0. */
	if (symbol->address != 0 && !is_mark(symbol->name))
		symbol_list_add(&text->symbols, symbol->name, symbol->address, 0,
				symbol->type == 'T');
}

/*
 * struct bounds - bounds and symbols found by one pass over kallsyms
 * @image_end:   end of the kernel's data
 * @keep_kernel: keep the symbols of the kernel itself, too
 */
struct bounds {
	struct kernel_text *kernel;
	struct text_list *modules;
	uint64_t stext;
	uint64_t image_end;
	bool keep_kernel;
};

static void kernel_bounds(struct bounds *bounds, const struct kallsyms_symbol *symbol)
{
	if (bounds->keep_kernel && kallsyms_is_text(symbol))
		symbol_keep(bounds->kernel, symbol);
	if (strcmp(symbol->name, "_text") == 0)
		bounds->kernel->module.start = symbol->address;
	else if (strcmp(symbol->name, "_stext") == 0)
		bounds->stext = symbol->address;
	else if (strcmp(symbol->name, "_etext") == 0)
		bounds->kernel->end = symbol->address;
	else if (strcmp(symbol->name, "_end") == 0)
		bounds->image_end = symbol->address;
}

/* Return the last module that starts at or below an address, or NULL. */
static struct kernel_text *module_below(const struct text_list *modules, uint64_t address)
{
	size_t low =
		partition_point(0, modules->count, i, modules->texts[i].module.start <= address);

	return low > 0 ? &modules->texts[low - 1] : NULL;
}

/*
 * Since Linux 6.4 the parts of a module are in separate ranges, but /proc/modules still shows their
 * total size. So a module's range may seem to include other modules or BPF programs. A module's
 * text is taken to end where that of another owner begins.
 */
static void find_bounds(void *context, const struct kallsyms_symbol *symbol)
{
	struct bounds *bounds = context;
	struct kernel_text *text;

	if (symbol->module[0] == '\0')
		kernel_bounds(bounds, symbol);
	if (symbol->module[0] == '\0' || !kallsyms_is_text(symbol))
		return;
	text = module_below(bounds->modules, symbol->address);
	if (text == NULL)
		return;
	if (strcmp(text->module.name, symbol->module) == 0) {
		symbol_keep(text, symbol);
		if (symbol->address >= text->reach)
			text->reach = (symbol->address | (TEXT_PAGE_BYTES - 1)) + 1;
	} else if (symbol->address < text->limit) {
		text->limit = symbol->address;
	}
}

static int map_probes(struct kernel_images *kernel, const struct kernel_text *text)
{
	return image_map_add_kernel(kernel->map, kernel->probes, probe_mark_set(text->module.start),
				    text->end - text->module.start);
}

static int map_text(struct kernel_images *kernel, const struct kernel_text *text)
{
	return image_map_add_kernel(kernel->map, text->image, text->module.start,
				    text->end - text->module.start);
}

/*
 * Kernel samples caused by probes belong to a second image of the kernel. Its identity is the
 * build-id, stored as a digest, so that it differs from the kernel's image but leads to the
 * kernel's symbols.
 */
static int register_probes(struct kernel_images *kernel, const struct kernel_text *text,
			   const struct profile_image *image)
{
	struct profile_image probes = *image;
	char label[192];
	int number;

	if (image->identity_kind != PROFILE_IDENTITY_BUILD_ID)
		return 0;
	probes.identity_kind = PROFILE_IDENTITY_DIGEST;
	probes.path = label;
	snprintf(label, sizeof(label), "%s %s", image->path, PROFILE_PROBES_SUFFIX);
	number = image_table_add(kernel->table, &probes);
	if (number < 0)
		return number;
	kernel->probes = (uint32_t)number;
	return map_probes(kernel, text);
}

/* Without a build-id, kernels are distinguished by name. */
static int register_text(struct kernel_images *kernel, struct kernel_text *text)
{
	const struct build_id *build_id = &text->module.build_id;
	bool is_module = text->module.name[0] != '\0';
	char label[192];
	struct profile_image image = {
		.kind = is_module ? PROFILE_IMAGE_MODULE : PROFILE_IMAGE_KERNEL,
		.path = label,
	};
	int number;

	if (build_id->bytes > 0) {
		image.identity_kind = PROFILE_IDENTITY_BUILD_ID;
		image.identity_bytes = build_id->bytes;
		memcpy(image.identity, build_id->data, build_id->bytes);
	}
	if (!is_module)
		snprintf(label, sizeof(label), "vmlinux-%s", kernel->release);
	else if (build_id->bytes > 0)
		snprintf(label, sizeof(label), "%s.ko", text->module.name);
	else
		snprintf(label, sizeof(label), "%s.ko-%s", text->module.name, kernel->release);
	number = image_table_add(kernel->table, &image);
	if (number < 0)
		return number;
	text->image = (uint32_t)number;
	number = is_module ? 0 : register_probes(kernel, text, &image);
	return number < 0 ? number : map_text(kernel, text);
}

static struct kernel_text *text_of(struct text_list *list, uint32_t image)
{
	for (size_t i = 0; image != IMAGE_UNKNOWN && i < list->count; i++) {
		if (list->texts[i].image == image)
			return &list->texts[i];
	}
	return NULL;
}

/*
 * Keep the symbols of an unloaded module: its samples may not be merged yet, and the symbols cannot
 * be read again.
 */
static int keep_gone(struct kernel_images *kernel, struct kernel_text *text)
{
	struct text_list *gone = &kernel->gone;
	struct kernel_text *known = text_of(gone, text->image);

	if (known != NULL)
		known->spared = false;
	if (known != NULL || text->image == IMAGE_UNKNOWN || text->symbols.count == 0)
		return 0;
	if (array_reserve(&gone->texts, &gone->capacity, gone->count + 1, sizeof(*text)) < 0)
		return -ENOMEM;
	text->spared = false;
	gone->texts[gone->count++] = *text;
	text->symbols = (struct symbol_list){0};
	return 0;
}

static int keep_all_gone(struct kernel_images *kernel, struct text_list *modules)
{
	int result = 0;

	for (size_t i = 0; i < kernel->modules.count && result == 0; i++) {
		if (text_of(modules, kernel->modules.texts[i].image) == NULL)
			result = keep_gone(kernel, &kernel->modules.texts[i]);
	}
	return result;
}

static void limit_texts(struct text_list *modules)
{
	for (size_t i = 0; i < modules->count; i++) {
		struct kernel_text *text = &modules->texts[i];

		text->reach = text->module.start + text->module.bytes;
		text->limit =
			i + 1 < modules->count ? modules->texts[i + 1].module.start : UINT64_MAX;
	}
}

static void end_texts(struct text_list *modules)
{
	for (size_t i = 0; i < modules->count; i++) {
		struct kernel_text *text = &modules->texts[i];

		text->end = text->reach < text->limit ? text->reach : text->limit;
	}
}

/* Take over a list of modules and the data of kallsyms about it. Return: 1, or an error. */
static int adopt(struct kernel_images *kernel, struct text_list *modules, struct error *err)
{
	struct kernel_text found = {0};
	struct bounds bounds = {
		.kernel = &found,
		.modules = modules,
		.keep_kernel = kernel->kernel.end == 0,
	};
	int result;
	size_t i;

	limit_texts(modules);
	result = kallsyms_walk(kernel->paths->kallsyms, find_bounds, &bounds, err);
	if (result < 0) {
		symbol_list_deinit(&found.symbols);
		return result;
	}
	end_texts(modules);
	if (found.module.start == 0)
		found.module.start = bounds.stext;
	if (bounds.image_end > found.module.start)
		found.module.bytes = bounds.image_end - found.module.start;
	if (kernel->kernel.end == 0 && found.module.start != 0 && found.end > found.module.start) {
		kernel_module_notes(&found.module.build_id, kernel->paths->notes);
		result = register_text(kernel, &found);
		if (result == 0) {
			kernel->kernel = found;
			found.symbols = (struct symbol_list){0};
		}
	}
	symbol_list_deinit(&found.symbols);
	/* Ignore a module that cannot be registered, rather than failing for all. */
	for (i = 0; i < modules->count && result == 0; i++) {
		if (modules->texts[i].end > modules->texts[i].module.start)
			register_text(kernel, &modules->texts[i]);
	}
	if (result == 0)
		result = keep_all_gone(kernel, modules);
	if (result < 0)
		return error_set(err, -result, "cannot register the kernel's images");
	text_list_deinit(&kernel->modules);
	kernel->modules = *modules;
	memset(modules, 0, sizeof(*modules));
	if (kernel->adopted)
		kernel->changed_ns = clock_monotonic_ns();
	kernel->adopted = true;
	return 1;
}

static int register_vdso(struct kernel_images *kernel)
{
	int number = image_table_vdso(kernel->table);

	if (number < 0)
		return number;
	kernel->vdso = (uint32_t)number;
	return 0;
}

int kernel_images_create(struct kernel_images **ret, struct image_table *table,
			 struct image_map *map, struct error *err)
{
	static const struct kernel_paths paths = {
		.kallsyms = "/proc/kallsyms",
		.modules = "/proc/modules",
		.notes = "/sys/kernel/notes",
		.module_directory = "/sys/module",
	};

	return kernel_images_create_from(ret, &paths, table, map, err);
}

int kernel_images_create_user(struct kernel_images **ret, struct image_table *table,
			      struct image_map *map, struct error *err)
{
	static const struct kernel_paths none = {.kallsyms = NULL};

	return kernel_images_create_from(ret, &none, table, map, err);
}

int kernel_images_create_from(struct kernel_images **ret, const struct kernel_paths *paths,
			      struct image_table *table, struct image_map *map, struct error *err)
{
	_cleanup_(cleanup_kernel) struct kernel_images *kernel = calloc(1, sizeof(*kernel));
	struct utsname name;
	int result;

	if (err != NULL)
		err->message[0] = '\0';
	if (kernel == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	kernel->paths = paths;
	kernel->table = table;
	kernel->map = map;
	if (uname(&name) == 0)
		snprintf(kernel->release, sizeof(kernel->release), "%s", name.release);
	if (register_vdso(kernel) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	result = kernel_images_refresh(kernel, err);
	if (result == -ENOMEM)
		return result;
	/* Otherwise the message names the file that could not be read. */
	if (result >= 0 && kernel->kernel.end == 0 && paths->kallsyms != NULL)
		error_set(err, EACCES,
			  "'%s' hides the kernel's addresses (kptr_restrict; grant CAP_SYSLOG): "
			  "samples in the kernel will be unknown",
			  kernel->paths->kallsyms);
	*ret = take_ptr(kernel);
	return 0;
}

void kernel_images_destroy(struct kernel_images *kernel)
{
	if (kernel == NULL)
		return;
	symbol_list_deinit(&kernel->kernel.symbols);
	text_list_deinit(&kernel->modules);
	text_list_deinit(&kernel->gone);
	free(kernel);
}

int kernel_images_refresh(struct kernel_images *kernel, struct error *err)
{
	struct text_list modules;
	int result;

	if (kernel->paths->kallsyms == NULL)
		return 0;
	result = read_modules(&modules, kernel->paths, err);
	if (result < 0)
		return result;
	if (!kernel->adopted || !same_modules(&modules, &kernel->modules))
		result = adopt(kernel, &modules, err);
	text_list_deinit(&modules);
	return result;
}

bool kernel_images_unsettled(const struct kernel_images *kernel)
{
	return kernel->changed_ns != 0;
}

void kernel_images_expire(struct kernel_images *kernel, uint64_t time_ns)
{
	if (kernel->changed_ns == 0 || kernel->changed_ns > time_ns)
		return;
	kernel->changed_ns = 0;
	image_map_forget_kernel(kernel->map);
	if (kernel->kernel.end != 0)
		map_text(kernel, &kernel->kernel);
	if (kernel->probes != IMAGE_UNKNOWN)
		map_probes(kernel, &kernel->kernel);
	for (size_t i = 0; i < kernel->modules.count; i++) {
		if (kernel->modules.texts[i].image != IMAGE_UNKNOWN)
			map_text(kernel, &kernel->modules.texts[i]);
	}
}

static void collect_vdso(void *context, const char *name, uint64_t offset, uint64_t bytes,
			 bool global)
{
	symbol_list_add(context, name, offset, bytes, global);
}

static struct kernel_text *find_text(struct kernel_images *kernel, uint32_t image)
{
	struct kernel_text *text;

	if (kernel->kernel.end != 0 && kernel->kernel.image == image)
		return &kernel->kernel;
	text = text_of(&kernel->modules, image);
	return text != NULL ? text : text_of(&kernel->gone, image);
}

int kernel_images_place(const struct kernel_images *kernel, uint32_t image,
			struct kernel_place *ret)
{
	const struct kernel_text *text = NULL;

	if (kernel->kernel.end != 0 && kernel->kernel.image == image)
		text = &kernel->kernel;
	for (size_t i = 0; text == NULL && image != IMAGE_UNKNOWN && i < kernel->modules.count; i++)
		text = kernel->modules.texts[i].image == image ? &kernel->modules.texts[i] : NULL;
	if (text == NULL)
		return -ENOENT;
	*ret = (struct kernel_place){
		.start = text->module.start,
		.text_end = text->end,
		.image_end = text->module.start + text->module.bytes,
	};
	if (ret->image_end < ret->text_end)
		ret->image_end = ret->text_end;
	return 0;
}

bool kernel_images_is_vdso(const struct kernel_images *kernel, uint32_t image)
{
	return image != IMAGE_UNKNOWN && image == kernel->vdso;
}

bool kernel_images_is_current(const struct kernel_images *kernel)
{
	struct text_list modules;
	bool same;

	if (kernel->paths->kallsyms == NULL || read_modules(&modules, kernel->paths, NULL) < 0)
		return false;
	same = same_modules(&modules, &kernel->modules);
	text_list_deinit(&modules);
	return same;
}

static void find_symbol(void *context, const struct kallsyms_symbol *symbol)
{
	struct kernel_images *kernel = context;
	struct kernel_text *text = &kernel->kernel;

	if (symbol->module[0] != '\0')
		text = module_below(&kernel->modules, symbol->address);
	if (kallsyms_is_text(symbol) && text != NULL && text->wanted &&
	    strcmp(text->module.name, symbol->module) == 0)
		symbol_keep(text, symbol);
}

/* Read only missing symbols: the others may be of a module that is gone by now. */
static int symbols_read(struct kernel_images *kernel, struct error *err)
{
	kernel->kernel.wanted = kernel->kernel.symbols.count == 0;
	for (size_t i = 0; i < kernel->modules.count; i++)
		kernel->modules.texts[i].wanted = kernel->modules.texts[i].symbols.count == 0;
	return kallsyms_walk(kernel->paths->kallsyms, find_symbol, kernel, err);
}

/* Convert addresses to offsets; remove symbols outside the text. Return: number of symbols left. */
static size_t symbols_relate(const struct kernel_text *text, struct profile_symbol *symbols,
			     size_t count)
{
	size_t i, kept = 0;

	for (i = 0; i < count; i++) {
		if (symbols[i].offset < text->module.start || symbols[i].offset >= text->end)
			continue;
		symbols[kept] = symbols[i];
		symbols[kept++].offset -= text->module.start;
	}
	return kept;
}

static int text_symbols(struct kernel_images *kernel, struct kernel_text *text,
			struct profile_symbol **symbols, size_t *count, char **names,
			struct error *err)
{
	int result = text->symbols.count == 0 ? symbols_read(kernel, err) : 0;

	if (result == 0)
		result = symbol_list_take(&text->symbols, symbols, count, names);
	if (result == 0)
		*count = symbols_relate(text, *symbols, *count);
	return result;
}

static int vdso_list(struct profile_symbol **symbols, size_t *count, char **names)
{
	struct symbol_list list = {0};
	int result = vdso_symbols(collect_vdso, &list);

	if (result == 0)
		result = symbol_list_take(&list, symbols, count, names);
	symbol_list_deinit(&list);
	return result;
}

/* Forget the symbols at the second flush: the module's last samples may arrive after the first. */
static void text_forget(struct kernel_text *text)
{
	if (text->spared)
		symbol_list_deinit(&text->symbols);
	text->spared = true;
}

uint32_t kernel_images_names(const struct kernel_images *kernel, uint32_t image)
{
	return image != IMAGE_UNKNOWN && image == kernel->probes ? kernel->kernel.image : image;
}

int kernel_images_symbols(struct kernel_images *kernel, uint32_t image,
			  struct profile_symbol **symbols, size_t *count, char **names,
			  struct error *err)
{
	struct kernel_text *text = find_text(kernel, image);
	int result;

	if (image == kernel->vdso)
		result = vdso_list(symbols, count, names);
	else if (text != NULL)
		result = text_symbols(kernel, text, symbols, count, names, err);
	else
		return error_set(err, ENOENT, "image %u is not the kernel's", image);
	return result < 0 ? error_set(err, -result, "cannot read the symbols of image %u", image)
			  : 0;
}

void kernel_images_forget_symbols(struct kernel_images *kernel)
{
	struct text_list *gone = &kernel->gone;
	size_t kept = 0;

	symbol_list_deinit(&kernel->kernel.symbols);
	for (size_t i = 0; i < kernel->modules.count; i++)
		text_forget(&kernel->modules.texts[i]);
	for (size_t i = 0; i < gone->count; i++) {
		text_forget(&gone->texts[i]);
		if (gone->texts[i].symbols.count > 0)
			gone->texts[kept++] = gone->texts[i];
	}
	gone->count = kept;
}
