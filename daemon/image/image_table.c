// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image/image_table.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include <xxhash.h>

#include "daemon/image/image_system.h"
#include "daemon/image/image_file.h"
#include "daemon/image/image_verifier.h"
#include "daemon/image/jit_file.h"
#include "daemon/image/quota.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/u64_map.h"
#include "loader-hook/build_id.h"
#include "loader-hook/image_event.h"
#include "loader-hook/vdso.h"

/* Limits the memory that a user can make us use by running ever new programs, */
#define IMAGES_MAX (1U << 17)
/* and with paths of 4 KB each: all images would fit with 300 bytes each. */
#define IMAGES_BYTES_MAX ((size_t)64 << 20)
/* Above these limits the table should be replaced. */
#define IMAGES_CROWD (IMAGES_MAX - IMAGES_MAX / 4)
#define IMAGES_BYTES_CROWD (IMAGES_BYTES_MAX - IMAGES_BYTES_MAX / 4)
#define FILES_MAX 16384
#define JIT_SUFFIX " [jit]"
/* Minimum interval between sweeps if the table is only crowded. */
#define SWEEP_CROWDED_NS (10 * NS_PER_SECOND)
/* CPU time for opening a file and reading its build-id, in points of a quota. */
#define LOOK_POINTS 40
/* Minimum interval between sweeps for unused numbers if there is no room. */
#define SWEEP_NS NS_PER_SECOND
/* Maximum number of system files that are compared with other files by contents. */
#define ORIGINALS_MAX 4096
/* Maximum number of images that wait until the contents of system files have been read. */
#define AWAITING_MAX 1024
/* Marks the number of an original in the verifier. */
#define TAG_ORIGINAL (1U << 31)
/* Minimum interval between attempts to pass files to a full verifier. */
#define RETRY_NS (100 * NS_PER_MS)
/* Size in keys made from an event without the state of the file. */
#define BYTES_OF_EVENT UINT64_MAX
/*
 * A file that cannot be found any more is assumed to be unchanged for this long. A program may
 * write to it meanwhile without an event.
 */
#define STATE_STANDS_NS (10 * NS_PER_SECOND)

/* enum verdict - progress of verifying a file that users other than the superuser may write */
enum verdict {
	VERDICT_NONE,	 /* it need not be verified, or cannot be compared */
	VERDICT_WANTED,	 /* its contents should be read: the queue was full */
	VERDICT_WAITING, /* the verifier has it */
	VERDICT_READ,	 /* its identity is derived from its contents */
};

/*
 * Images with equal hashes are chained by number; 0 ends the chain. The path is stored only if no
 * earlier image has the same path.
 *
 * @user:     account that is charged for the number; NULL: none
 * @original: number of the system file with the same contents; otherwise 0
 * @program:  of JIT code: the number of its program, which has the same identity; otherwise 0
 * @trusted:  only the superuser can write the file, but its path is not known in our root directory
 * @content:  if @verdict is VERDICT_READ
 */
struct entry {
	struct profile_image image;
	struct quota_user *user;
	bool sampled;
	uint32_t next;
	uint32_t program;
	uint32_t original;
	enum verdict verdict;
	bool trusted;
	uint8_t content[CONTENT_DIGEST_BYTES];
	char path[];
};

/*
 * A system file. The contents of other files are compared with its contents.
 *
 * @image: its number
 */
struct original {
	uint32_t image;
	enum verdict verdict;
	uint8_t content[CONTENT_DIGEST_BYTES];
};

/*
 * @image: its number, or -ENOENT: not an image
 * @next:  index + 1 of the next file with the same hash
 * @state: of keys made from an event: the state of the file when it was last seen, at @seen_ns
 */
struct file {
	struct image_file_key key;
	int image;
	uint32_t next;
	struct image_file_key state;
	uint64_t seen_ns;
};

/*
 * @bytes:    of entries
 * @pid:      the process of the current event; 0: none
 * @free:     reclaimed numbers
 * @swept_ns: time of the last sweep
 * @awaiting: images to be compared with an original that is being read
 * @retry_ns: earliest time to pass a file to the verifier again
 * @revision: number of identities that were replaced
 */
struct image_table {
	uint64_t seed;
	struct entry **entries;
	size_t count;
	size_t capacity;
	size_t bytes;
	uint32_t *free;
	size_t free_count;
	size_t free_capacity;
	struct image_table_limits limits;
	uint32_t pid;
	uint64_t swept_ns;
	uint64_t refused;
	struct u64_map by_identity; /* hash -> number */
	struct u64_map by_path;	    /* hash -> number of the first image with that path */
	struct file *files;
	size_t file_count;
	size_t file_capacity;
	struct u64_map by_file; /* hash -> index + 1 */
	struct image_verifier *verifier;
	struct original *originals;
	size_t original_count;
	size_t original_capacity;
	uint32_t awaiting[AWAITING_MAX];
	size_t awaiting_count;
	uint64_t retry_ns;
	uint32_t *jits; /* images whose identity follows that of a program */
	size_t jit_count;
	size_t jit_capacity;
	uint64_t revision;
	int vdso; /* number, or -1: not used yet */
	bool is_recorded;
	struct image_recording recording;
	image_table_watch_fn watch;
	void *watch_context;
};

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
	if (a->kind != b->kind || a->identity_kind != b->identity_kind)
		return false;
	if (a->identity_kind == PROFILE_IDENTITY_NONE)
		return strcmp(a->path, b->path) == 0;
	return a->identity_bytes == b->identity_bytes &&
	       memcmp(a->identity, b->identity, a->identity_bytes) == 0;
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

static size_t entry_bytes(const struct entry *entry)
{
	return sizeof(*entry) + (entry->image.path == entry->path ? strlen(entry->path) + 1 : 0);
}

/* Placeholder at reclaimed numbers. */
static struct entry free_entry = {.image = {.kind = PROFILE_IMAGE_UNKNOWN, .path = ""}};

static bool has_room(const struct image_table *table, const struct quota_user *user, size_t bytes)
{
	return (table->free_count > 0 || table->count < IMAGES_MAX) &&
	       table->bytes + bytes <= IMAGES_BYTES_MAX &&
	       (user == NULL || (user->images < QUOTA_IMAGES_MAX &&
				 user->image_bytes + bytes <= QUOTA_IMAGE_BYTES_MAX));
}

/* Return: NULL: the image comes from no process, or from root's, which has no limits. */
static struct quota_user *payer(const struct image_table *table)
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
	struct quota_user *user = payer(table);
	struct entry *entry;
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
	*entry = (struct entry){.image = *image, .user = user};
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
	struct entry *entry = table->entries[number];

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

int image_table_add(struct image_table *table, const struct profile_image *image)
{
	uint64_t hash, *first;
	uint32_t chain, i;
	int number;

	if (image->identity_bytes > sizeof(image->identity))
		return -ENOMEM;
	hash = hash_image(table, image);
	first = u64_map_find(&table->by_identity, hash);
	chain = first != NULL ? (uint32_t)*first : 0;
	for (i = chain; i != 0; i = table->entries[i]->next) {
		if (same_image(&table->entries[i]->image, image))
			return (int)i;
	}
	number = image_append(table, image);
	if (number < 0) {
		table->refused++;
		return number;
	}
	/* Insert only now: a key without an image would stay, and the chain may have changed. */
	first = u64_map_insert(&table->by_identity, hash);
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
		return error_set(err, ENOMEM, "out of memory");
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
	const struct entry *entry = table->entries[image];

	return entry->original != 0 ? &table->entries[entry->original]->image : &entry->image;
}

static struct file *find_file(struct image_table *table, const struct image_file_key *key)
{
	uint64_t *first = u64_map_find(&table->by_file, hash_file(table, key));
	uint32_t i;

	for (i = first != NULL ? (uint32_t)*first : 0; i != 0; i = table->files[i - 1].next) {
		if (memcmp(&table->files[i - 1].key, key, sizeof(*key)) == 0)
			return &table->files[i - 1];
	}
	return NULL;
}

/* Dropping all files costs only time: they are read again. Return: NULL: no memory. */
static struct file *remember_file(struct image_table *table, const struct image_file_key *key,
				  int image)
{
	struct file *known = find_file(table, key);
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
	*known = (struct file){.key = *key, .image = image, .next = (uint32_t)*first};
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
	const struct entry *entry = table->entries[number];

	return number == IMAGE_UNKNOWN || (mapped[number / 8] & 1U << number % 8) != 0 ||
	       entry->sampled || entry->image.kind != PROFILE_IMAGE_FILE;
}

/* Images share paths: keep each image that owns the path of a kept image. */
static void keep_paths(const struct image_table *table, uint8_t *kept)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct entry *entry = table->entries[i];
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
		struct file *file = &table->files[i];
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
		struct entry *entry = table->entries[i];
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

static void keep_originals(const struct image_table *table, uint8_t *kept)
{
	for (size_t i = 0; i < table->count; i++) {
		uint32_t original = table->entries[i]->original;

		if ((kept[i / 8] & 1U << i % 8) != 0 && original != 0)
			kept[original / 8] |= (uint8_t)(1U << original % 8);
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
	keep_originals(table, kept);
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

/* Usually false after the first few characters; inlined because a call would cost more. */
static inline bool starts_with(const char *string, const char *prefix)
{
	while (*prefix != '\0' && *string == *prefix) {
		string++;
		prefix++;
	}
	return *prefix == '\0';
}

/*
 * Memory that has a file only for technical reasons: it is an image only if it contains an ELF
 * file.
 */
static bool is_volatile(const char *path)
{
	return starts_with(path, "/memfd:") || starts_with(path, "/SYSV") ||
	       starts_with(path, "/dev/zero") || starts_with(path, "/anon_hugepage") ||
	       starts_with(path, "/dev/shm/");
}

static bool is_file_name(const char *path)
{
	/* perf calls anonymous memory "//anon". */
	return path != NULL && path[0] == '/' && path[1] != '/' &&
	       (!starts_with(path, "/dev/") || starts_with(path, "/dev/shm/"));
}

/* Code that the kernel maps into each process; it never contains JIT code. */
static bool is_kernels(const char *path)
{
	return path[0] == '[' && (strcmp(path, "[vdso]") == 0 || strcmp(path, "[vsyscall]") == 0);
}

bool image_table_is_memory(const struct image_event *event)
{
	if (event->path != NULL && is_kernels(event->path))
		return false;
	return !is_file_name(event->path) || is_volatile(event->path);
}

int image_table_vdso(struct image_table *table)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_VDSO, .path = "[vdso]"};
	struct build_id build_id;

	if (table->vdso >= 0)
		return table->vdso;
	if (vdso_build_id(&build_id) == 0) {
		image.identity_kind = PROFILE_IDENTITY_BUILD_ID;
		image.identity_bytes = build_id.bytes;
		memcpy(image.identity, build_id.data, build_id.bytes);
	}
	table->vdso = image_table_add(table, &image);
	return table->vdso;
}

static bool has_build_id(const struct image_event *event)
{
	return event->build_id_bytes > 0 && event->build_id_bytes <= sizeof(event->build_id);
}

static void set_build_id(struct profile_image *image, const struct image_event *event)
{
	image->identity_kind = PROFILE_IDENTITY_BUILD_ID;
	image->identity_bytes = event->build_id_bytes;
	memcpy(image->identity, event->build_id, event->build_id_bytes);
}

/* The vDSO of a recorded kernel, which need not be this one. */
static int vdso_recorded(struct image_table *table, const struct image_event *event)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_VDSO, .path = "[vdso]"};

	if (has_build_id(event))
		set_build_id(&image, event);
	return image_table_add(table, &image);
}

static int vdso_image(struct image_table *table, const struct image_event *event)
{
	static const struct profile_image vdso32 = {.kind = PROFILE_IMAGE_VDSO, .path = "[vdso32]"};

	/* 32-bit processes have another vDSO, about which nothing is known. */
	if (event->start + event->bytes <= 1ULL << 32)
		return image_table_add(table, &vdso32);
	if (table->is_recorded && (has_build_id(event) || !table->recording.vdso_here))
		return vdso_recorded(table, event);
	return image_table_vdso(table);
}

/* Queue a file for reading its contents; the thread is started for the first one. */
static enum verdict verify(struct image_table *table, uint32_t tag, int fd,
			   const struct stat *status)
{
	int r;

	if (table->verifier == NULL)
		table->verifier = image_verifier_create();
	r = table->verifier != NULL ? image_verifier_add(table->verifier, tag, fd, status)
				    : -ENOMEM;
	return r == 0 ? VERDICT_WAITING : VERDICT_WANTED;
}

/* Set an identity of a digest followed by the build-id. */
static void set_identity(struct profile_image *image, enum profile_identity_kind kind,
			 const uint8_t digest[PROFILE_IDENTITY_DIGEST_BYTES],
			 const uint8_t *build_id, size_t bytes)
{
	uint8_t identity[PROFILE_IDENTITY_BYTES_MAX];

	_Static_assert(PROFILE_IDENTITY_DIGEST_BYTES == FILE_IDENTITY_BYTES, "one digest");
	_Static_assert(FILE_IDENTITY_BYTES + IMAGE_BUILD_ID_BYTES_MAX <= sizeof(identity), "room");
	memcpy(identity, digest, FILE_IDENTITY_BYTES);
	if (bytes > 0)
		memcpy(identity + FILE_IDENTITY_BYTES, build_id, bytes);
	image->identity_kind = kind;
	image->identity_bytes = FILE_IDENTITY_BYTES + bytes;
	memcpy(image->identity, identity, image->identity_bytes);
}

/* Return: 0; -ENOENT: it is memory, and not an ELF file. */
static int read_build_id(struct build_id *build_id, const char *path, int fd)
{
	_cleanup_close_ int readable = image_file_readable(fd);
	int r = readable >= 0 ? build_id_from_file(build_id, readable) : readable;

	if (r < 0)
		build_id->bytes = 0;
	return r < 0 && r != -ENOENT && is_volatile(path) ? -ENOENT : 0;
}

/*
 * Register a file that is not a system file. It is a separate image until its contents have been
 * read and identify it.
 */
static int image_of_claim(struct image_table *table, struct profile_image *image, int fd,
			  const struct image_system *claim)
{
	uint8_t digest[FILE_IDENTITY_BYTES];
	struct build_id build_id;
	struct entry *entry;
	int number = read_build_id(&build_id, image->path, fd);

	if (number < 0)
		return number;
	file_identity_status(digest, &claim->status);
	set_identity(image, PROFILE_IDENTITY_FILE, digest, build_id.data, build_id.bytes);
	number = image_table_add(table, image);
	if (number < 0)
		return number;
	entry = table->entries[number];
	entry->trusted = claim->trusted;
	if (entry->verdict == VERDICT_NONE)
		entry->verdict = verify(table, (uint32_t)number, fd, &claim->status);
	return number;
}

/* Register a system file. */
static int image_of_system(struct image_table *table, struct profile_image *image, int fd,
			   const struct image_file_key *key)
{
	int result = image_file_identify(image, fd, key);

	if (is_volatile(image->path) && result != 0)
		return -ENOENT;
	return image_table_add(table, image);
}

/*
 * Return true if an event with this path needs no further look at a known file. If @path is the
 * file's path in our root directory, the file is a system file, even if it was first seen under
 * another path in another mount namespace.
 */
static bool is_recognized(const struct image_table *table, const struct file *known,
			  const char *path)
{
	const struct entry *entry;

	if (known->image <= IMAGE_UNKNOWN || path == NULL)
		return true;
	entry = table->entries[known->image];
	return !entry->trusted || strcmp(entry->image.path, path) == 0;
}

/*
 * Return true if the verifier's queue was full when this file was last passed to it, and a retry is
 * due.
 */
static bool is_due(const struct image_table *table, const struct file *known)
{
	return known->image > IMAGE_UNKNOWN &&
	       table->entries[known->image]->verdict == VERDICT_WANTED &&
	       clock_ns(CLOCK_MONOTONIC_COARSE) >= table->retry_ns;
}

static void verify_again(struct image_table *table, const struct file *known, int fd)
{
	struct stat status;

	table->retry_ns = clock_ns(CLOCK_MONOTONIC_COARSE) + RETRY_NS;
	if (fstat(fd, &status) == 0)
		table->entries[known->image]->verdict =
			verify(table, (uint32_t)known->image, fd, &status);
}

/* Register a file that can be opened. */
static int image_of_file(struct image_table *table, struct profile_image *image, int fd,
			 const struct image_file_key *key)
{
	struct file *known = find_file(table, key);
	struct image_system claim;
	int result;

	if (known != NULL && is_recognized(table, known, image->path)) {
		if (is_due(table, known))
			verify_again(table, known, fd);
		return known->image;
	}
	result = image_system_get(&claim, fd, image->path);
	if (result < 0 || (known != NULL && !claim.system))
		return result < 0 ? -ENOENT : known->image;
	if (claim.system)
		result = image_of_system(table, image, fd, key);
	else
		result = image_of_claim(table, image, fd, &claim);
	/* If it has no identity, it may become readable later. */
	if (result != -ENOMEM && (result < 0 || image->identity_kind != PROFILE_IDENTITY_NONE))
		remember_file(table, key, result);
	return result;
}

/* Failure means only that the JIT code keeps the first identity of its program. */
static void jit_follow(struct image_table *table, uint32_t image, uint32_t program)
{
	if (table->entries[image]->program != 0 ||
	    array_reserve(&table->jits, &table->jit_capacity, table->jit_count + 1,
			  sizeof(*table->jits)) < 0)
		return;
	table->jits[table->jit_count++] = image;
	table->entries[image]->program = program;
}

int image_table_jit_of(struct image_table *table, uint32_t program)
{
	struct profile_image image = {.path = "[jit]"};
	char label[PATH_MAX + sizeof(JIT_SUFFIX)];
	int number;

	if (program != IMAGE_UNKNOWN) {
		image = *image_table_get(table, program);
		snprintf(label, sizeof(label), "%s" JIT_SUFFIX, image.path);
		image.path = label;
	}
	image.kind = PROFILE_IMAGE_JIT;
	number = image_table_add(table, &image);
	if (number > 0 && image.identity_kind == PROFILE_IDENTITY_FILE)
		jit_follow(table, (uint32_t)number, program);
	return number;
}

/* The program of a process that has exited cannot be determined any more. */
static int image_of_jit(struct image_table *table, uint32_t pid)
{
	struct profile_image program = {.kind = PROFILE_IMAGE_FILE};
	char path[PATH_MAX];
	struct image_file_key key;
	_cleanup_close_ int fd = image_file_open_executable(pid, path, &key);
	int number = -ENOENT;

	program.path = path;
	if (fd >= 0)
		number = image_of_file(table, &program, fd, &key);
	if (number == -ENOMEM)
		return number;
	return image_table_jit_of(table, number >= 0 ? (uint32_t)number : IMAGE_UNKNOWN);
}

int image_table_jit(struct image_table *table, uint32_t pid)
{
	int image;

	table->pid = pid;
	image = image_of_jit(table, pid);
	table->pid = 0;
	return image;
}

/* Return the key of the data about a file in an event. */
static struct image_file_key key_of_event(const struct image_event *event)
{
	struct image_file_key key = {
		.device = event->device,
		.inode = event->inode,
		.bytes = event->has_state ? event->file_bytes : BYTES_OF_EVENT,
		.modified_ns = event->has_state ? event->modified_ns : 0,
		.version = event->version,
	};

	return key;
}

static int file_open(const struct image_table *table, const struct image_event *event,
		     struct image_file_key *key)
{
	if (!table->is_recorded)
		return image_file_open(event, key);
	if (!table->recording.here)
		return -ENOENT;
	return image_file_open_recorded(event, table->recording.until_ns, key);
}

/* Return true if a known file has not changed, which takes a few system calls at most. */
static bool is_file_known(const struct image_table *table, const struct image_event *event,
			  struct file *known)
{
	if (event->has_state)
		return true;
	if (table->is_recorded || event->scanned || !image_file_unchanged(event, &known->state))
		return false;
	known->seen_ns = event->time_ns;
	return true;
}

/*
 * The file is gone, or out of reach because its process is. Return true if an earlier event may be
 * trusted.
 */
static bool is_file_assumed(const struct image_event *event, const struct file *known)
{
	if (known == NULL || event->scanned)
		return known != NULL;
	return event->version != 0 && event->time_ns < known->seen_ns + STATE_STANDS_NS;
}

/*
 * Return true if a process of another user has sent the event itself. The superuser's and our own
 * are trusted.
 */
static bool is_claimed(const struct image_event *event)
{
	return event->has_user && event->inode == 0 && event->user != 0 && event->user != geteuid();
}

/* Read the path of a file as we see it. */
static bool read_path(char path[PATH_MAX], int fd)
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, PATH_MAX - 1);
	path[n > 0 ? n : 0] = '\0';
	return is_file_name(path);
}

/*
 * Find the file through the mapping. If the mapping is gone the event may be forged, and the image
 * is attributed to the process's user.
 */
static int image_of_claimer(struct image_table *table, const struct image_event *event)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE};
	_cleanup_close_ int fd = image_file_pin(event);
	uint8_t digest[FILE_IDENTITY_BYTES];
	struct image_file_key key;
	char path[PATH_MAX];

	image.path = path;
	if (fd >= 0 && image_file_get_key(fd, &key) == 0 && read_path(path, fd))
		return image_of_file(table, &image, fd, &key);
	image.path = event->path;
	file_identity_claim(digest, event->user, event->path);
	set_identity(&image, PROFILE_IDENTITY_FILE, digest, event->build_id, event->build_id_bytes);
	return image_table_add(table, &image);
}

/* Charge the user of an event for opening a file. Return: false: there are no points left. */
static bool may_look(struct image_table *table)
{
	struct quota_user *user = payer(table);

	if (user == NULL)
		return true;
	/* Recognising a known file is cheap, so the account may become negative. */
	if (quota_points(user, clock_monotonic_ns()) > 0) {
		quota_charge(user, clock_monotonic_ns(), LOOK_POINTS);
		return true;
	}
	quota_refuse(table->limits.quota, user, QUOTA_IMAGES);
	return false;
}

static int image_of_event(struct image_table *table, const struct image_event *event)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE, .path = event->path};
	struct image_file_key key, event_key = key_of_event(event);
	_cleanup_close_ int fd = -1;
	struct file *known = NULL, *seen;
	int number;

	if (event->inode != 0)
		known = find_file(table, &event_key);
	if (known != NULL && is_recognized(table, known, event->path) && !is_due(table, known) &&
	    is_file_known(table, event, known))
		return known->image;
	if (event->path != NULL && strcmp(event->path, "[vdso]") == 0)
		return vdso_image(table, event);
	/* A jitdump is mapped only as a marker; the code is executed elsewhere. */
	if (!is_file_name(event->path) || jit_file_is_dump(event))
		return -ENOENT;
	if (has_build_id(event)) {
		if (is_claimed(event))
			return image_of_claimer(table, event);
		set_build_id(&image, event);
		return image_table_add(table, &image);
	}
	if (!may_look(table))
		return known != NULL && event->has_state ? known->image : -ENOMEM;
	fd = file_open(table, event, &key);
	if (fd >= 0) {
		number = image_of_file(table, &image, fd, &key);
		seen = event->inode != 0 && number != -ENOMEM
			       ? remember_file(table, &event_key, number)
			       : NULL;
		if (seen != NULL) {
			seen->state = key;
			seen->seen_ns = event->time_ns;
		}
		return number;
	}
	if (fd == -ENODEV)
		return -ENOENT;
	if (is_file_assumed(event, known))
		return known->image;
	return is_volatile(event->path) ? -ENOENT : image_table_add(table, &image);
}

static struct original *find_original(struct image_table *table, uint32_t image)
{
	size_t i;

	for (i = 0; i < table->original_count; i++) {
		if (table->originals[i].image == image)
			return &table->originals[i];
	}
	return NULL;
}

/* Return the number of the system file with the image's build-id, 0 if there is none. */
static uint32_t system_image(struct image_table *table, const struct profile_image *image)
{
	struct profile_image wanted = {.kind = PROFILE_IMAGE_FILE,
				       .identity_kind = PROFILE_IDENTITY_BUILD_ID};
	const uint8_t *build_id = profile_image_build_id(image, &wanted.identity_bytes);
	const uint64_t *first;
	uint32_t i;

	if (build_id == NULL || wanted.identity_bytes > sizeof(wanted.identity))
		return 0;
	memcpy(wanted.identity, build_id, wanted.identity_bytes);
	first = u64_map_find(&table->by_identity, hash_image(table, &wanted));
	for (i = first != NULL ? (uint32_t)*first : 0; i != 0; i = table->entries[i]->next) {
		if (same_image(&table->entries[i]->image, &wanted))
			return i;
	}
	return 0;
}
/* Queue the file at the path of an original for reading, if it is the file that was mapped. */
static enum verdict verify_original(struct image_table *table, uint32_t image)
{
	_cleanup_close_ int fd = image_system_open(table->entries[image]->image.path);
	struct image_file_key key;
	const struct file *known;
	struct stat status;

	if (fd < 0 || image_file_get_key(fd, &key) < 0 || fstat(fd, &status) < 0)
		return VERDICT_WANTED;
	known = find_file(table, &key);
	if (known == NULL || known->image != (int)image)
		return VERDICT_WANTED;
	return verify(table, image | TAG_ORIGINAL, fd, &status);
}

/* Return: NULL: no memory, or the limit is reached. */
static struct original *get_original(struct image_table *table, uint32_t image)
{
	struct original *original = find_original(table, image);

	if (original == NULL) {
		if (table->original_count == ORIGINALS_MAX ||
		    array_reserve(&table->originals, &table->original_capacity,
				  table->original_count + 1, sizeof(*table->originals)) < 0)
			return NULL;
		original = &table->originals[table->original_count++];
		*original = (struct original){.image = image, .verdict = VERDICT_WANTED};
	}
	if (original->verdict == VERDICT_WANTED)
		original->verdict = verify_original(table, image);
	return original;
}

/* Return: true if it need not be compared again. */
static bool original_compare(struct image_table *table, struct entry *entry)
{
	uint32_t system = system_image(table, &entry->image);
	const struct original *original = system != 0 ? get_original(table, system) : NULL;

	if (original == NULL || original->verdict != VERDICT_READ)
		return original == NULL || original->verdict != VERDICT_WAITING;
	if (memcmp(original->content, entry->content, sizeof(entry->content)) == 0) {
		entry->original = system;
		entry->trusted = false;
		table->revision++;
	}
	return true;
}

static void original_compare_awaiting(struct image_table *table)
{
	size_t left = 0;

	for (size_t i = 0; i < table->awaiting_count; i++) {
		if (!original_compare(table, table->entries[table->awaiting[i]]))
			table->awaiting[left++] = table->awaiting[i];
	}
	table->awaiting_count = left;
}

/* Return: true if the image is still that of the file that was read. */
static bool is_file_of(const struct profile_image *image, const struct stat *status)
{
	uint8_t digest[FILE_IDENTITY_BYTES];

	file_identity_status(digest, status);
	return image->identity_kind == PROFILE_IDENTITY_FILE &&
	       memcmp(image->identity, digest, sizeof(digest)) == 0;
}

static void set_content(struct image_table *table, uint32_t image,
			const struct image_verifier_result *result)
{
	struct entry *entry = table->entries[image];
	uint8_t digest[FILE_IDENTITY_BYTES];
	const uint8_t *build_id;
	size_t bytes;

	file_identity_content(digest, result->content, &result->writers);
	build_id = profile_image_build_id(&entry->image, &bytes);
	set_identity(&entry->image, PROFILE_IDENTITY_CONTENT, digest, build_id, bytes);
	memcpy(entry->content, result->content, sizeof(entry->content));
	for (size_t i = 0; i < table->jit_count; i++) {
		struct entry *jit = table->entries[table->jits[i]];

		if (jit->program == image && is_file_of(&jit->image, &result->status))
			set_identity(&jit->image, PROFILE_IDENTITY_CONTENT, digest, build_id,
				     bytes);
	}
	table->revision++;
}

static void take_result(struct image_table *table, const struct image_verifier_result *result)
{
	enum verdict verdict = result->result == 0 ? VERDICT_READ : VERDICT_NONE;
	struct original *original;
	struct entry *entry;

	if (result->tag & TAG_ORIGINAL) {
		original = find_original(table, result->tag & ~TAG_ORIGINAL);
		memcpy(original->content, result->content, sizeof(original->content));
		original->verdict = verdict;
		original_compare_awaiting(table);
		return;
	}
	entry = table->entries[result->tag];
	if (!is_file_of(&entry->image, &result->status))
		return;
	entry->verdict = verdict;
	if (verdict != VERDICT_READ)
		return;
	set_content(table, result->tag, result);
	if (!original_compare(table, entry) && table->awaiting_count < AWAITING_MAX)
		table->awaiting[table->awaiting_count++] = result->tag;
}

void image_table_settle(struct image_table *table, uint64_t wait_ns)
{
	struct image_verifier_result result;
	uint64_t end_ns = wait_ns > 0 ? clock_monotonic_ns() + wait_ns : 0;

	if (table->verifier == NULL)
		return;
	do {
		while (image_verifier_result(table->verifier, &result))
			take_result(table, &result);
	} while (end_ns > clock_monotonic_ns() && image_verifier_wait(table->verifier, end_ns));
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

int image_table_from_event(struct image_table *table, const struct image_event *event)
{
	int image;

	table->pid = event->pid;
	image = image_of_event(table, event);
	table->pid = 0;
	if (image > IMAGE_UNKNOWN && table->watch != NULL)
		table->watch(table->watch_context, table, (uint32_t)image, event);
	return image;
}
