// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image/image_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#include "daemon/image/image_table_state.h"
#include "daemon/image/quota.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* Limits the memory that a user can make us use by running ever new programs, */
#define IMAGES_MAX (1U << 17)
/* and with paths of 4 KB each: all images would fit with 300 bytes each. */
#define IMAGES_BYTES_MAX ((size_t)64 << 20)
/* Above these limits the table should be replaced. */
#define IMAGES_CROWD (IMAGES_MAX - IMAGES_MAX / 4)
#define IMAGES_BYTES_CROWD (IMAGES_BYTES_MAX - IMAGES_BYTES_MAX / 4)
#define FILES_MAX 16384
/* Minimum interval between sweeps if the table is only crowded. */
#define SWEEP_CROWDED_NS (10 * NS_PER_SECOND)
/* Minimum interval between sweeps for unused numbers if there is no room. */
#define SWEEP_NS NS_PER_SECOND

/* Seeded: users choose paths and build-ids, and must not be able to create long chains. */
static uint64_t hash_image(const struct image_table *table, const struct profile_image *image)
{
	uint64_t seed = table->seed + (uint64_t)image->kind * 16 + (uint64_t)image->identity_kind;

	if (image->identity_kind == PROFILE_IDENTITY_NONE)
		return XXH3_64bits_withSeed(image->path, strlen(image->path), seed);
	return XXH3_64bits_withSeed(image->identity, image->identity_bytes, seed);
}

static uint64_t hash_file(const struct image_table *table, const struct image_file_key *key)
{
	return XXH3_64bits_withSeed(key, sizeof(*key), table->seed);
}

static bool same_image(const struct profile_image *a, const struct profile_image *b)
{
	return a->kind == b->kind && image_identity_equal(a, b) &&
	       (a->identity_kind != PROFILE_IDENTITY_NONE || strcmp(a->path, b->path) == 0);
}

static uint64_t hash_path(const struct image_table *table, const char *path)
{
	return XXH3_64bits_withSeed(path, strlen(path), table->seed);
}

/* Return the path string of an earlier image, or NULL. It exists as long as that image. */
static const char *known_path(const struct image_table *table, const char *path)
{
	const uint64_t *first = u64_map_find(&table->by_path, hash_path(table, path));

	if (first == NULL || strcmp(table->entries[*first]->image.path, path) != 0)
		return NULL;
	return table->entries[*first]->image.path;
}

/* Failure costs only memory: the next image stores the path again. */
static void remember_path(struct image_table *table, uint32_t image)
{
	const char *path = table->entries[image]->image.path;
	uint64_t *first;

	if (path != table->entries[image]->path)
		return;
	first = u64_map_insert(&table->by_path, hash_path(table, path));
	if (first != NULL)
		*first = image;
}

static size_t entry_bytes(const struct image_entry *entry)
{
	return sizeof(*entry) + (entry->image.path == entry->path ? strlen(entry->path) + 1 : 0);
}

/* Placeholder at reclaimed numbers. */
static struct image_entry free_entry = {.image = {.kind = PROFILE_IMAGE_UNKNOWN, .path = ""}};

static bool has_room(const struct image_table *table, const struct quota_user *user, size_t bytes)
{
	return (table->free_count > 0 || table->count < IMAGES_MAX) &&
	       table->bytes + bytes <= IMAGES_BYTES_MAX &&
	       (user == NULL || (user->images < QUOTA_IMAGES_MAX &&
				 user->image_bytes + bytes <= QUOTA_IMAGE_BYTES_MAX));
}

struct quota_user *image_table_payer(const struct image_table *table)
{
	struct quota_user *user = table->limits.user != NULL && table->pid != 0
					  ? table->limits.user(table->limits.context, table->pid)
					  : NULL;

	return user != NULL && quota_is_limited(user) ? user : NULL;
}

static void sweep_if_due(struct image_table *table, uint64_t interval_ns)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (table->limits.sweep == NULL ||
	    (table->swept_ns != 0 && now_ns < table->swept_ns + interval_ns))
		return;
	table->swept_ns = now_ns;
	table->limits.sweep(table->limits.context);
}

static bool image_make_room(struct image_table *table, struct quota_user *user, size_t bytes)
{
	if (has_room(table, user, bytes))
		return true;
	sweep_if_due(table, SWEEP_NS);
	if (has_room(table, user, bytes))
		return true;
	if (user != NULL)
		quota_refuse(table->limits.quota, user, QUOTA_IMAGES);
	return false;
}

/* Return: an unused number, without an image; -ENOMEM. */
static int take_number(struct image_table *table)
{
	if (table->free_count > 0)
		return (int)table->free[--table->free_count];
	if (array_reserve(&table->entries, &table->capacity, table->count + 1,
			  sizeof(*table->entries)) < 0)
		return -ENOMEM;
	table->entries[table->count] = &free_entry;
	return (int)table->count++;
}

static int image_append(struct image_table *table, const struct profile_image *image)
{
	const char *known = known_path(table, image->path);
	size_t path_bytes = known == NULL ? strlen(image->path) + 1 : 0;
	struct quota_user *user = image_table_payer(table);
	struct image_entry *entry;
	int number;

	if (!image_make_room(table, user, sizeof(*entry) + path_bytes))
		return -ENOMEM;
	/* image_make_room() may have freed the path. */
	known = known_path(table, image->path);
	path_bytes = known == NULL ? strlen(image->path) + 1 : 0;
	entry = malloc(sizeof(*entry) + path_bytes);
	number = entry != NULL ? take_number(table) : -ENOMEM;
	if (number < 0) {
		free(entry);
		return number;
	}
	*entry = (struct image_entry){.image = *image, .user = user, .named = true};
	entry->image.path = known != NULL ? known : memcpy(entry->path, image->path, path_bytes);
	table->entries[number] = entry;
	table->bytes += entry_bytes(entry);
	if (user != NULL) {
		user->images++;
		user->image_bytes += entry_bytes(entry);
	}
	return number;
}

/* If the number cannot be added to the list of free numbers, only the number is lost. */
static void give_back(struct image_table *table, uint32_t number)
{
	struct image_entry *entry = table->entries[number];

	table->bytes -= entry_bytes(entry);
	if (entry->user != NULL) {
		entry->user->images--;
		entry->user->image_bytes -= entry_bytes(entry);
	}
	free(entry);
	table->entries[number] = &free_entry;
	if (array_reserve(&table->free, &table->free_capacity, table->free_count + 1,
			  sizeof(*table->free)) == 0)
		table->free[table->free_count++] = number;
}

uint32_t image_table_find(const struct image_table *table, const struct profile_image *image)
{
	const uint64_t *first = u64_map_find(&table->by_identity, hash_image(table, image));
	uint32_t i;

	for (i = first != NULL ? (uint32_t)*first : 0; i != 0; i = table->entries[i]->next) {
		if (same_image(&table->entries[i]->image, image))
			return i;
	}
	return IMAGE_UNKNOWN;
}

int image_table_add(struct image_table *table, const struct profile_image *image)
{
	uint64_t *first;
	uint32_t known;
	int number;

	if (image->identity_bytes > sizeof(image->identity))
		return -ENOMEM;
	known = image_table_find(table, image);
	if (known != IMAGE_UNKNOWN)
		return (int)known;
	number = image_append(table, image);
	if (number < 0) {
		table->refused++;
		return number;
	}
	/* Insert only now: a key without an image would stay, and the chain may have changed. */
	first = u64_map_insert(&table->by_identity, hash_image(table, image));
	if (first == NULL) {
		give_back(table, (uint32_t)number);
		return -ENOMEM;
	}
	table->entries[number]->next = (uint32_t)*first;
	*first = (uint64_t)number;
	remember_path(table, (uint32_t)number);
	return number;
}

int image_table_create(struct image_table **ret, struct error *err)
{
	static const struct profile_image none = {.kind = PROFILE_IMAGE_UNKNOWN, .path = "unknown"};
	struct image_table *table = calloc(1, sizeof(*table));

	/* The unknown image is in no chain, so that its number 0 can end chains. */
	if (table == NULL || image_append(table, &none) != IMAGE_UNKNOWN) {
		free(table);
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	/* Without entropy, early at boot, the address must suffice. */
	if (getrandom(&table->seed, sizeof(table->seed), GRND_NONBLOCK) < 0)
		table->seed = (uintptr_t)table;
	table->vdso = -1;
	*ret = table;
	return 0;
}

void image_table_destroy(struct image_table *table)
{
	size_t i;

	if (table == NULL)
		return;
	for (i = 0; i < table->count; i++) {
		if (table->entries[i] != &free_entry)
			free(table->entries[i]);
	}
	image_verifier_destroy(table->verifier);
	free(table->entries);
	free(table->free);
	free(table->files);
	free(table->originals);
	free(table->jits);
	u64_map_deinit(&table->by_identity);
	u64_map_deinit(&table->by_path);
	u64_map_deinit(&table->by_file);
	free(table);
}

uint32_t image_table_count(const struct image_table *table)
{
	return (uint32_t)table->count;
}

uint32_t image_table_used(const struct image_table *table)
{
	return (uint32_t)(table->count - table->free_count);
}

static bool is_crowded(const struct image_table *table)
{
	return image_table_used(table) >= IMAGES_CROWD || table->bytes >= IMAGES_BYTES_CROWD;
}

bool image_table_crowded(struct image_table *table)
{
	if (is_crowded(table))
		sweep_if_due(table, SWEEP_CROWDED_NS);
	return is_crowded(table);
}

size_t image_table_bytes(const struct image_table *table)
{
	return sizeof(*table) + table->bytes + table->free_capacity * sizeof(*table->free) +
	       table->capacity * sizeof(*table->entries) +
	       table->file_capacity * sizeof(*table->files) +
	       table->original_capacity * sizeof(*table->originals) +
	       table->jit_capacity * sizeof(*table->jits) + u64_map_bytes(&table->by_identity) +
	       u64_map_bytes(&table->by_path) + u64_map_bytes(&table->by_file);
}

uint64_t image_table_refused(const struct image_table *table)
{
	return table->refused;
}

const struct profile_image *image_table_get(const struct image_table *table, uint32_t image)
{
	const struct image_entry *entry = table->entries[image];

	return entry->original != 0 ? &table->entries[entry->original]->image : &entry->image;
}

struct known_file *image_table_find_file(struct image_table *table,
					 const struct image_file_key *key)
{
	uint64_t *first = u64_map_find(&table->by_file, hash_file(table, key));
	uint32_t i;

	for (i = first != NULL ? (uint32_t)*first : 0; i != 0; i = table->files[i - 1].next) {
		if (memcmp(&table->files[i - 1].key, key, sizeof(*key)) == 0)
			return &table->files[i - 1];
	}
	return NULL;
}

/* Dropping all files costs only time: they are read again. */
struct known_file *image_table_remember_file(struct image_table *table,
					     const struct image_file_key *key, int image)
{
	struct known_file *known = image_table_find_file(table, key);
	uint64_t *first;

	if (known != NULL) {
		known->image = image;
		return known;
	}
	if (table->file_count == FILES_MAX) {
		table->file_count = 0;
		u64_map_deinit(&table->by_file);
	}
	if (array_reserve(&table->files, &table->file_capacity, table->file_count + 1,
			  sizeof(*table->files)) < 0)
		return NULL;
	first = u64_map_insert(&table->by_file, hash_file(table, key));
	if (first == NULL)
		return NULL;
	known = &table->files[table->file_count++];
	*known = (struct known_file){.key = *key, .image = image, .next = (uint32_t)*first};
	*first = table->file_count;
	return known;
}

void image_table_limit(struct image_table *table, const struct image_table_limits *limits)
{
	table->limits = *limits;
}

void image_table_sampled(struct image_table *table, uint32_t image)
{
	if (image != IMAGE_UNKNOWN)
		table->entries[image]->sampled = true;
}

/* Numbers of images that are not files are also stored in other tables. */
static bool is_kept(const struct image_table *table, const uint8_t *mapped, size_t number)
{
	const struct image_entry *entry = table->entries[number];

	return number == IMAGE_UNKNOWN || (mapped[number / 8] & 1U << number % 8) != 0 ||
	       entry->sampled || entry->image.kind != PROFILE_IMAGE_FILE;
}

/* Images share paths: keep each image that owns the path of a kept image. */
static void keep_paths(const struct image_table *table, uint8_t *kept)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct image_entry *entry = table->entries[i];
		const uint64_t *first;

		if ((kept[i / 8] & 1U << i % 8) == 0 || entry->image.path == entry->path)
			continue;
		first = u64_map_find(&table->by_path, hash_path(table, entry->image.path));
		if (first != NULL && table->entries[*first]->image.path == entry->image.path)
			kept[*first / 8] |= (uint8_t)(1U << *first % 8);
	}
}

static void remove_file_hash(struct image_table *table)
{
	u64_map_deinit(&table->by_file);
	table->by_file = (struct u64_map){.capacity = 0};
}

/* Keep the files of kept images. If memory is short, files are dropped and read again later. */
static void keep_files(struct image_table *table, const uint8_t *kept)
{
	size_t left = 0;

	remove_file_hash(table);
	for (size_t i = 0; i < table->file_count; i++) {
		struct known_file *file = &table->files[i];
		uint64_t *first;

		if (file->image >= 0 && (kept[file->image / 8] & 1U << file->image % 8) == 0)
			continue;
		first = u64_map_insert(&table->by_file, hash_file(table, &file->key));
		if (first == NULL)
			continue;
		table->files[left] = *file;
		table->files[left].next = (uint32_t)*first;
		*first = ++left;
	}
	table->file_count = left;
}

/*
 * An image that cannot be indexed here, for lack of memory, gets a new number when it is mapped
 * again.
 */
static void index_again(struct image_table *table)
{
	u64_map_deinit(&table->by_identity);
	u64_map_deinit(&table->by_path);
	table->by_identity = (struct u64_map){.capacity = 0};
	table->by_path = (struct u64_map){.capacity = 0};
	for (uint32_t i = 1; i < table->count; i++) {
		struct image_entry *entry = table->entries[i];
		uint64_t *first;

		if (entry == &free_entry)
			continue;
		first = u64_map_insert(&table->by_identity, hash_image(table, &entry->image));
		if (first == NULL)
			continue;
		entry->next = (uint32_t)*first;
		*first = i;
		remember_path(table, i);
	}
}

void image_table_reclaim(struct image_table *table, const uint8_t *mapped)
{
	_cleanup_free_ uint8_t *kept = calloc(1, table->count / 8 + 1);
	size_t i;

	if (kept == NULL)
		return;
	for (i = 0; i < table->count; i++) {
		if (is_kept(table, mapped, i))
			kept[i / 8] |= (uint8_t)(1U << i % 8);
	}
	image_table_keep_compared(table, kept);
	keep_paths(table, kept);
	keep_files(table, kept);
	for (i = 0; i < table->count; i++) {
		if ((kept[i / 8] & 1U << i % 8) != 0 || table->entries[i] == &free_entry)
			continue;
		if (table->limits.forget != NULL)
			table->limits.forget(table->limits.context, (uint32_t)i);
		give_back(table, (uint32_t)i);
	}
	index_again(table);
}

bool image_table_is_named(const struct image_table *table, uint32_t image)
{
	return table->entries[image]->named;
}

uint64_t image_table_revision(const struct image_table *table)
{
	return table->revision;
}

void image_table_recorded(struct image_table *table, const struct image_recording *recording)
{
	table->is_recorded = true;
	table->recording = *recording;
}

void image_table_watch(struct image_table *table, image_table_watch_fn watch, void *context)
{
	table->watch = watch;
	table->watch_context = context;
}
