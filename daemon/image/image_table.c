// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image/image_table.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#include "daemon/image/image_file.h"
#include "daemon/image/jit_file.h"
#include "daemon/image/quota.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/u64_map.h"
#include "loader-hook/image_event.h"
#include "loader-hook/vdso.h"

/* Bounds what a user can make us remember by running ever new programs, */
#define IMAGES_MAX (1U << 17)
/* and with paths of 4 KB each: so many images of 300 bytes would fit. */
#define IMAGES_BYTES_MAX ((size_t)64 << 20)
/* From here on somebody should begin another table. */
#define IMAGES_CROWD (IMAGES_MAX - IMAGES_MAX / 4)
#define IMAGES_BYTES_CROWD (IMAGES_BYTES_MAX - IMAGES_BYTES_MAX / 4)
#define FILES_MAX 16384
#define JIT_SUFFIX " [jit]"
/* And without need. */
#define SWEEP_CROWDED_NS (10 * NS_PER_SECOND)
/* CPU time for opening a file and reading its build-id, in points of a quota. */
#define LOOK_POINTS 40
/* Numbers are looked for among those in use no more often. */
#define SWEEP_NS NS_PER_SECOND
/* The key of what an event said about a file, not the file itself. */
#define BYTES_OF_EVENT UINT64_MAX
/*
 * A file that cannot be found any more is assumed to be unchanged for this long. A program may
 * write into it meanwhile and leave no trace in an event.
 */
#define STATE_STANDS_NS (10 * NS_PER_SECOND)

/*
 * Images whose hashes are equal are chained by number; 0 ends the chain. The path is only there
 * if no image before has it.
 *
 * @user: is charged for the number; NULL: no user is
 */
struct entry {
	struct profile_image image;
	struct quota_user *user;
	bool sampled;
	uint32_t next;
	char path[];
};

/*
 * @image: its number, or -ENOENT: it is none
 * @next:  index + 1 of the next one with that hash
 * @state: of keys made from an event: the file, when it was seen last, at @seen_ns
 */
struct file {
	struct image_file_key key;
	int image;
	uint32_t next;
	struct image_file_key state;
	uint64_t seen_ns;
};

/*
 * @bytes: of entries
 * @pid:   the process from whose event an image comes now; 0: none
 * @free:  numbers that were given back
 * @swept_ns: when numbers were last looked for
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
	int vdso;		/* number, or -1: not met yet */
	bool is_recorded;
	struct image_recording recording;
	image_table_watch_fn watch;
	void *watch_context;
};

/* Seeded: users choose paths and build-ids, and must not make chains long. */
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

/* That of an image before, which stays as long as the table; or NULL. */
static const char *known_path(const struct image_table *table, const char *path)
{
	const uint64_t *first = u64_map_find(&table->by_path, hash_path(table, path));

	if (first == NULL || strcmp(table->entries[*first]->image.path, path) != 0)
		return NULL;
	return table->entries[*first]->image.path;
}

/* Forgetting costs memory only: the next image has the path once more. */
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

/* Stands at numbers that were given back. */
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

/* Return: a number that is free, without an image; -ENOMEM. */
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
	/* The path may have been given back. */
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

/* Forgetting a number costs only the number. */
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
	/* Only now: a key without an image would stay, and the chain may have changed. */
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

	/* The unknown image is in no chain: as its number, 0 can end them. */
	if (table == NULL || image_append(table, &none) != IMAGE_UNKNOWN) {
		free(table);
		return error_set(err, ENOMEM, "out of memory");
	}
	/* Without entropy, early at boot, the address has to do. */
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
	free(table->entries);
	free(table->free);
	free(table->files);
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
	       table->file_capacity * sizeof(*table->files) + u64_map_bytes(&table->by_identity) +
	       u64_map_bytes(&table->by_path) + u64_map_bytes(&table->by_file);
}

uint64_t image_table_refused(const struct image_table *table)
{
	return table->refused;
}

const struct profile_image *image_table_get(const struct image_table *table, uint32_t image)
{
	return &table->entries[image]->image;
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

/* Forgetting costs time only: the file is read again. Return: NULL: no memory. */
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

/* Other tables have the numbers of images that are no files. */
static bool is_kept(const struct image_table *table, const uint8_t *mapped, size_t number)
{
	const struct entry *entry = table->entries[number];

	return number == IMAGE_UNKNOWN || (mapped[number / 8] & 1U << number % 8) != 0 ||
	       entry->sampled || entry->image.kind != PROFILE_IMAGE_FILE;
}

/* The image whose path one that is kept shares is kept, too. */
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

/* Files of images that are kept. Without memory the others are read again. */
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

/* An image that finds no memory here is met again as another one. */
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

/* Mostly not, which the first few characters tell: for less than a call. */
static inline bool starts_with(const char *string, const char *prefix)
{
	while (*prefix != '\0' && *string == *prefix) {
		string++;
		prefix++;
	}
	return *prefix == '\0';
}

/* Memory that has a file only because memory must: an image if an ELF file is in it. */
static bool is_volatile(const char *path)
{
	return starts_with(path, "/memfd:") || starts_with(path, "/SYSV") ||
	       starts_with(path, "/dev/zero") || starts_with(path, "/anon_hugepage") ||
	       starts_with(path, "/dev/shm/");
}

static bool is_file_name(const char *path)
{
	/* "//anon" is what perf calls anonymous memory. */
	return path != NULL && path[0] == '/' && path[1] != '/' &&
	       (!starts_with(path, "/dev/") || starts_with(path, "/dev/shm/"));
}

/* Code of the kernel's in each process: no compiler puts anything there. */
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

/* Of a kernel that need not be this one. */
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

	/* 32-bit processes have another one, of which we know nothing. */
	if (event->start + event->bytes <= 1ULL << 32)
		return image_table_add(table, &vdso32);
	if (table->is_recorded && (has_build_id(event) || !table->recording.vdso_here))
		return vdso_recorded(table, event);
	return image_table_vdso(table);
}

/* A file that can be looked at. */
static int image_of_file(struct image_table *table, struct profile_image *image, int fd,
			 const struct image_file_key *key)
{
	struct file *known = find_file(table, key);
	int result;

	if (known != NULL)
		return known->image;
	result = image_file_identify(image, fd, key);
	if (is_volatile(image->path) && result != 0)
		result = -ENOENT;
	else if (result < 0 && image->identity_kind == PROFILE_IDENTITY_NONE)
		return image_table_add(table, image); /* may be readable next time */
	else
		result = image_table_add(table, image);
	if (result != -ENOMEM)
		remember_file(table, key, result);
	return result;
}

int image_table_jit_of(struct image_table *table, uint32_t program)
{
	struct profile_image image = {.path = "[jit]"};
	char label[PATH_MAX + sizeof(JIT_SUFFIX)];

	if (program != IMAGE_UNKNOWN) {
		image = *image_table_get(table, program);
		snprintf(label, sizeof(label), "%s" JIT_SUFFIX, image.path);
		image.path = label;
	}
	image.kind = PROFILE_IMAGE_JIT;
	return image_table_add(table, &image);
}

/* A process that has ended cannot tell any more what it ran. */
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

/* What the event says about its file. */
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

/* Mostly it is one that was seen before: a few system calls at most find that out. */
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

/* A file that is gone, or out of reach with its process: an event before may have shown it. */
static bool is_file_assumed(const struct image_event *event, const struct file *known)
{
	if (known == NULL || event->scanned)
		return known != NULL;
	return event->version != 0 && event->time_ns < known->seen_ns + STATE_STANDS_NS;
}

/* Charge the user of an event for opening a file. Return: false: there are no points left. */
static bool may_look(struct image_table *table)
{
	struct quota_user *user = payer(table);

	if (user == NULL)
		return true;
	/* A file that is known costs little: finding it out is worth a debt. */
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
	if (known != NULL && is_file_known(table, event, known))
		return known->image;
	if (event->path != NULL && strcmp(event->path, "[vdso]") == 0)
		return vdso_image(table, event);
	/* A jitdump is mapped to be noticed; what is executed is elsewhere. */
	if (!is_file_name(event->path) || jit_file_is_dump(event))
		return -ENOENT;
	if (has_build_id(event)) {
		set_build_id(&image, event);
		return image_table_add(table, &image);
	}
	if (!may_look(table))
		return -ENOMEM;
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
