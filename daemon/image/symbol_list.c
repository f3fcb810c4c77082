// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image/symbol_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/cleanup.h"

#define BYTES_MAX ((1U << 31) - 1)

/* @name: offset in the list's names. Compact, because a kernel has a hundred thousand symbols. */
struct symbol_list_entry {
	uint64_t offset;
	uint32_t name;
	unsigned int bytes : 31;
	unsigned int global : 1;
};

void symbol_list_deinit(struct symbol_list *list)
{
	free(list->entries);
	free(list->names);
	memset(list, 0, sizeof(*list));
}

void symbol_list_add(struct symbol_list *list, const char *name, uint64_t offset, uint64_t bytes,
		     bool global)
{
	size_t name_bytes = strlen(name) + 1;

	if (list->failed || list->names_bytes + name_bytes > UINT32_MAX ||
	    array_reserve(&list->entries, &list->capacity, list->count + 1,
			  sizeof(*list->entries)) < 0 ||
	    array_reserve(&list->names, &list->names_capacity, list->names_bytes + name_bytes, 1) <
		    0) {
		list->failed = true;
		return;
	}
	memcpy(list->names + list->names_bytes, name, name_bytes);
	list->entries[list->count++] = (struct symbol_list_entry){
		.offset = offset,
		.bytes = bytes <= BYTES_MAX ? (unsigned int)bytes : 0,
		.name = (uint32_t)list->names_bytes,
		.global = global,
	};
	list->names_bytes += name_bytes;
}

static int compare_names(const char *a, const char *b)
{
	size_t a_bytes = strlen(a), b_bytes = strlen(b);
	size_t a_underscores = strspn(a, "_"), b_underscores = strspn(b, "_");
	bool a_suffix = strchr(a, '.') != NULL, b_suffix = strchr(b, '.') != NULL;

	if (a_underscores != b_underscores)
		return a_underscores < b_underscores ? -1 : 1;
	if (a_suffix != b_suffix)
		return a_suffix ? 1 : -1;
	if (a_bytes != b_bytes)
		return a_bytes < b_bytes ? -1 : 1;
	return strcmp(a, b);
}

static int compare_entries(const void *first, const void *second, void *names)
{
	const struct symbol_list_entry *a = first, *b = second;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	if (a->global != b->global)
		return a->global ? -1 : 1;
	return compare_names((const char *)names + a->name, (const char *)names + b->name);
}

int symbol_list_take(struct symbol_list *list, struct profile_symbol **symbols, size_t *count,
		     char **names)
{
	struct profile_symbol *result;
	size_t i, kept = 0;

	if (list->failed)
		return -ENOMEM;
	result = malloc((list->count > 0 ? list->count : 1) * sizeof(*result));
	if (result == NULL)
		return -ENOMEM;
	if (list->count > 0)
		qsort_r(list->entries, list->count, sizeof(*list->entries), compare_entries,
			list->names);
	for (i = 0; i < list->count; i++) {
		const struct symbol_list_entry *entry = &list->entries[i];

		if (kept > 0 && result[kept - 1].offset == entry->offset &&
		    strcmp(result[kept - 1].name, list->names + entry->name) == 0)
			continue;
		result[kept++] = (struct profile_symbol){
			.offset = entry->offset,
			.bytes = entry->bytes,
			.name = list->names + entry->name,
		};
	}
	*symbols = result;
	*count = kept;
	*names = take_ptr(list->names);
	symbol_list_deinit(list);
	return 0;
}
