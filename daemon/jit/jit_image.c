// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/jit/jit_image.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/u64_map.h"
#include "loader-hook/jit/jit_dump.h"

/* Limits for hostile programs: per image, between two epochs. */
#define NAMES_BYTES_MAX (16U << 20)
#define CODE_BYTES_MAX (8U << 20)

/* @code: a copy of the code until it has been written to the database */
struct entry {
	uint64_t slot;
	uint32_t bytes;
	uint32_t code_bytes;
	uint8_t *code;
	char *name;
};

/*
 * @written: number of @entries in the database
 * @writing: number of entries including those in the open transaction, or 0
 */
struct image {
	uint32_t number;
	struct entry *entries;
	size_t count;
	size_t capacity;
	size_t written;
	size_t writing;
	size_t name_bytes;
	size_t code_bytes;
	struct u64_map by_slot; /* slot -> index + 1 */
};

struct jit_images {
	struct image *images;
	size_t count;
	size_t capacity;
	uint32_t version;
	size_t bytes;
};

int jit_images_create(struct jit_images **ret, struct error *err)
{
	struct jit_images *images = calloc(1, sizeof(*images));

	if (images == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	images->version = 1;
	*ret = images;
	return 0;
}

static void image_empty(struct image *image)
{
	size_t i;

	for (i = 0; i < image->count; i++) {
		free(image->entries[i].name);
		free(image->entries[i].code);
	}
	free(image->entries);
	u64_map_deinit(&image->by_slot);
	*image = (struct image){.number = image->number};
}

void jit_images_forget(struct jit_images *images)
{
	size_t i;

	for (i = 0; i < images->count; i++)
		image_empty(&images->images[i]);
	images->bytes = 0;
	if (++images->version == 0)
		images->version = 1;
}

void jit_images_destroy(struct jit_images *images)
{
	if (images == NULL)
		return;
	jit_images_forget(images);
	free(images->images);
	free(images);
}

uint32_t jit_images_version(const struct jit_images *images)
{
	return images->version;
}

size_t jit_images_bytes(const struct jit_images *images)
{
	return images->bytes;
}

/* A linear search suffices: there are few. */
static struct image *image_find(struct jit_images *images, uint32_t number)
{
	size_t i;

	for (i = 0; i < images->count; i++) {
		if (images->images[i].number == number)
			return &images->images[i];
	}
	return NULL;
}

static struct image *image_get(struct jit_images *images, uint32_t number)
{
	struct image *image = image_find(images, number);

	if (image != NULL)
		return image;
	if (array_reserve(&images->images, &images->capacity, images->count + 1, sizeof(*image)) <
	    0)
		return NULL;
	image = &images->images[images->count++];
	*image = (struct image){.number = number};
	return image;
}

/* The result is stored in databases, so this must never be changed. */
static uint64_t slot_of(const struct jit_procedure *procedure)
{
	uint64_t hash = XXH3_64bits_withSeed(procedure->name, procedure->name_bytes,
					     procedure->code != NULL ? procedure->shape | 1 : 0);
	uint64_t slot = (hash >> 1) & ~(uint64_t)(JIT_SLOT_BYTES - 1);

	return slot != 0 ? slot : JIT_SLOT_BYTES;
}

static char *copy_name(const struct jit_procedure *procedure)
{
	char *name = malloc(procedure->name_bytes + 1);
	size_t i;

	if (name == NULL)
		return NULL;
	for (i = 0; i < procedure->name_bytes; i++) {
		unsigned char c = (unsigned char)procedure->name[i];

		name[i] = (char)(c < 0x20 || c == 0x7f ? '?' : c);
	}
	name[i] = '\0';
	return name;
}

static uint64_t entry_add(struct jit_images *images, struct image *image,
			  const struct jit_procedure *procedure, uint64_t slot, uint32_t bytes)
{
	_cleanup_free_ uint8_t *code = NULL;
	_cleanup_free_ char *name = copy_name(procedure);
	uint64_t *index;

	if (procedure->code != NULL) {
		code = malloc(bytes);
		if (code != NULL)
			memcpy(code, procedure->code, bytes);
	}
	if (name == NULL || (procedure->code != NULL && code == NULL) ||
	    array_reserve(&image->entries, &image->capacity, image->count + 1,
			  sizeof(image->entries[0])) < 0)
		return 0;
	index = u64_map_insert(&image->by_slot, slot);
	if (index == NULL)
		return 0;
	*index = image->count + 1;
	image->name_bytes += procedure->name_bytes;
	image->code_bytes += code != NULL ? bytes : 0;
	images->bytes += sizeof(struct entry) + procedure->name_bytes + 1;
	images->bytes += code != NULL ? bytes : 0;
	image->entries[image->count++] = (struct entry){
		.slot = slot,
		.bytes = bytes,
		.code_bytes = code != NULL ? bytes : 0,
		.code = take_ptr(code),
		.name = take_ptr(name),
	};
	return slot;
}

static bool is_full(const struct image *image, const struct jit_procedure *procedure)
{
	return image->name_bytes + image->count * sizeof(struct entry) + procedure->name_bytes >
	       NAMES_BYTES_MAX;
}

uint64_t jit_images_slot(struct jit_images *images, uint32_t image,
			 const struct jit_procedure *procedure, uint32_t *bytes)
{
	struct jit_procedure wanted = *procedure;
	struct image *of = image_get(images, image);
	uint64_t slot, *known;

	if (of == NULL)
		return 0;
	if (wanted.bytes > JIT_SLOT_BYTES ||
	    (wanted.code != NULL && of->code_bytes + wanted.bytes > CODE_BYTES_MAX))
		wanted.code = NULL;
	slot = slot_of(&wanted);
	known = u64_map_find(&of->by_slot, slot);
	if (known == NULL && is_full(of, &wanted))
		return 0;
	*bytes = 1;
	if (wanted.code != NULL || wanted.offsets)
		*bytes = wanted.bytes < JIT_SLOT_BYTES ? (uint32_t)wanted.bytes : JIT_SLOT_BYTES;
	return known != NULL ? slot : entry_add(images, of, &wanted, slot, *bytes);
}

static int by_offset(const void *first, const void *second)
{
	const struct profile_symbol *a = first, *b = second;

	return (a->offset > b->offset) - (a->offset < b->offset);
}

static int symbols_write(const struct image *image, struct profile_writer *writer, int64_t id,
			 struct error *err)
{
	size_t count = image->count - image->written, i;
	_cleanup_free_ struct profile_symbol *symbols = calloc(count, sizeof(*symbols));

	if (symbols == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	for (i = 0; i < count; i++) {
		const struct entry *entry = &image->entries[image->written + i];

		symbols[i] = (struct profile_symbol){
			.offset = entry->slot,
			.bytes = entry->bytes,
			.name = entry->name,
		};
	}
	qsort(symbols, count, sizeof(*symbols), by_offset);
	return profile_writer_symbols_add(writer, id, symbols, count, err);
}

static int code_write(const struct image *image, struct profile_writer *writer, int64_t id,
		      struct error *err)
{
	size_t count = image->count - image->written, kept = 0, i;
	_cleanup_free_ struct profile_code *codes = calloc(count, sizeof(*codes));

	if (codes == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	for (i = image->written; i < image->count; i++) {
		const struct entry *entry = &image->entries[i];

		if (entry->code == NULL)
			continue;
		codes[kept++] = (struct profile_code){
			.offset = entry->slot,
			.bytes = entry->code_bytes,
			.machine = JIT_DUMP_MACHINE,
			.data = entry->code,
		};
	}
	return kept > 0 ? profile_writer_code(writer, id, codes, kept, err) : 0;
}

int jit_images_write(struct jit_images *images, uint32_t image, struct profile_writer *writer,
		     int64_t id, struct error *err)
{
	struct image *of = image_find(images, image);
	int rc;

	if (of == NULL || of->written == of->count || of->writing == of->count)
		return 0;
	rc = symbols_write(of, writer, id, err);
	if (rc == 0)
		rc = code_write(of, writer, id, err);
	if (rc == 0)
		of->writing = of->count;
	return rc;
}

void jit_images_unwritten(struct jit_images *images)
{
	size_t i;

	for (i = 0; i < images->count; i++)
		images->images[i].writing = 0;
}

void jit_images_written(struct jit_images *images)
{
	size_t i;

	for (i = 0; i < images->count; i++) {
		struct image *image = &images->images[i];

		for (; image->written < image->writing; image->written++) {
			struct entry *entry = &image->entries[image->written];

			images->bytes -= entry->code_bytes;
			free(entry->code);
			entry->code = NULL;
		}
	}
}
