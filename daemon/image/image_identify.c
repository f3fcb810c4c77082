// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image/image_table.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/image/image_system.h"
#include "daemon/image/image_table_state.h"
#include "daemon/image/jit_file.h"
#include "daemon/image/quota.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/file_read.h"
#include "loader-hook/build_id.h"
#include "loader-hook/image_event.h"
#include "loader-hook/vdso.h"

/* Suffixes of the path of a program. The second is that of a user's JIT code. */
#define JIT_SUFFIX " [jit]"
#define JIT_USER_SUFFIX " [jit of user %u]"
/* CPU time for opening a file and reading its build-id, in points of a quota. */
#define LOOK_POINTS 40
/* Minimum interval between attempts to pass files to a full verifier. */
#define RETRY_NS (100 * NS_PER_MS)
/* Size in keys made from an event without the state of the file. */
#define BYTES_OF_EVENT UINT64_MAX
/*
 * A file that cannot be found any more is assumed to be unchanged for this long. A program may
 * write to it meanwhile without an event.
 */
#define STATE_STANDS_NS (10 * NS_PER_SECOND)

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

void image_identity_set(struct profile_image *image, enum profile_identity_kind kind,
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

/* Return true if a file begins as an ELF file does. */
static bool is_elf(int fd)
{
	_cleanup_close_ int readable = image_file_readable(fd);
	char magic[SELFMAG];

	return readable >= 0 && file_read_exactly(readable, magic, sizeof(magic), 0) == 0 &&
	       memcmp(magic, ELFMAG, sizeof(magic)) == 0;
}

/* Register a file with the identity of its status, until it has been read. */
static int image_of_status(struct image_table *table, struct profile_image *image,
			   const struct stat *status)
{
	uint8_t digest[FILE_IDENTITY_BYTES];

	file_identity_status(digest, status);
	image_identity_set(image, PROFILE_IDENTITY_FILE, digest, NULL, 0);
	return image_table_add(table, image);
}

/*
 * Register a file that is not a system file. It is a separate image until its contents have been
 * read and identify it. Only the first bytes of files in memory are read here: whether they are
 * images depends on it.
 */
static int image_of_claim(struct image_table *table, struct profile_image *image, int fd,
			  const struct image_system *claim)
{
	struct image_entry *entry;
	int number;

	if (is_volatile(image->path) && !is_elf(fd))
		return -ENOENT;
	number = image_of_status(table, image, &claim->status);
	if (number < 0)
		return number;
	entry = table->entries[number];
	entry->trusted = claim->trusted;
	if (entry->verdict != VERDICT_NONE)
		return number;
	entry->named = false;
	entry->verdict = image_table_verify(table, (uint32_t)number, IMAGE_VERIFIER_BUILD_ID, fd,
					    &claim->status);
	return number;
}

/*
 * Register a system file without build-id that a user with limits has mapped: computing its digest
 * would take much longer than the user pays for.
 */
static int image_of_digest(struct image_table *table, struct profile_image *image, int fd,
			   const struct image_system *claim)
{
	int number = image_of_status(table, image, &claim->status);
	struct image_entry *entry;

	if (number < 0)
		return number;
	entry = table->entries[number];
	if (entry->verdict != VERDICT_NONE)
		return number;
	entry->digested = true;
	entry->verdict = image_table_verify(table, (uint32_t)number, IMAGE_VERIFIER_DIGEST, fd,
					    &claim->status);
	return number;
}

static bool read_system_build_id(struct profile_image *image, int fd)
{
	_cleanup_close_ int readable = image_file_readable(fd);
	struct build_id build_id;

	if (readable < 0 || build_id_from_file(&build_id, readable) < 0)
		return false;
	image->identity_kind = PROFILE_IDENTITY_BUILD_ID;
	image->identity_bytes = build_id.bytes;
	memcpy(image->identity, build_id.data, build_id.bytes);
	return true;
}

/* Register a system file. */
static int image_of_system(struct image_table *table, struct profile_image *image, int fd,
			   const struct image_file_key *key, const struct image_system *claim)
{
	int result;

	if (image_table_payer(table) != NULL && !is_volatile(image->path)) {
		if (read_system_build_id(image, fd))
			return image_table_add(table, image);
		return image_of_digest(table, image, fd, claim);
	}
	result = image_file_identify(image, fd, key);
	if (is_volatile(image->path) && result != 0)
		return -ENOENT;
	return image_table_add(table, image);
}

/*
 * Return true if an event with this path needs no further look at a known file. If @path is the
 * file's path in our root directory, the file is a system file, even if it was first seen under
 * another path in another mount namespace.
 */
static bool is_recognized(const struct image_table *table, const struct known_file *known,
			  const char *path)
{
	const struct image_entry *entry;

	if (known->image <= IMAGE_UNKNOWN || path == NULL)
		return true;
	entry = table->entries[known->image];
	return !entry->trusted || strcmp(entry->image.path, path) == 0;
}

/*
 * Return true if the verifier's queue was full when this file was last passed to it, and a retry is
 * due.
 */
static bool is_due(const struct image_table *table, const struct known_file *known)
{
	return known->image > IMAGE_UNKNOWN &&
	       table->entries[known->image]->verdict == VERDICT_WANTED &&
	       clock_ns(CLOCK_MONOTONIC_COARSE) >= table->retry_ns;
}

static enum image_verifier_kind kind_wanted(const struct image_entry *entry)
{
	if (entry->digested)
		return IMAGE_VERIFIER_DIGEST;
	return entry->named ? IMAGE_VERIFIER_CONTENT : IMAGE_VERIFIER_BUILD_ID;
}

static void verify_again(struct image_table *table, const struct known_file *known, int fd)
{
	struct image_entry *entry = table->entries[known->image];
	struct stat status;

	table->retry_ns = clock_ns(CLOCK_MONOTONIC_COARSE) + RETRY_NS;
	if (fstat(fd, &status) == 0)
		entry->verdict = image_table_verify(table, (uint32_t)known->image,
						    kind_wanted(entry), fd, &status);
}

/* Register a file that can be opened. */
static int image_of_file(struct image_table *table, struct profile_image *image, int fd,
			 const struct image_file_key *key)
{
	struct known_file *known = image_table_find_file(table, key);
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
		result = image_of_system(table, image, fd, key, &claim);
	else
		result = image_of_claim(table, image, fd, &claim);
	/* If it has no identity, it may become readable later. */
	if (result != -ENOMEM && (result < 0 || image->identity_kind != PROFILE_IDENTITY_NONE))
		image_table_remember_file(table, key, result);
	return result;
}

void image_identity_jit(struct profile_image *jit, const struct profile_image *program,
			uint32_t uid)
{
	uint8_t digest[FILE_IDENTITY_BYTES];
	const uint8_t *build_id;
	size_t bytes = 0;

	if (uid == 0 || program->identity_kind == PROFILE_IDENTITY_NONE) {
		jit->identity_kind = program->identity_kind;
		jit->identity_bytes = program->identity_bytes;
		memcpy(jit->identity, program->identity, program->identity_bytes);
		return;
	}
	file_identity_jit(digest, uid, program->identity, program->identity_bytes);
	build_id = profile_image_build_id(program, &bytes);
	image_identity_set(jit,
			   program->identity_kind == PROFILE_IDENTITY_FILE
				   ? PROFILE_IDENTITY_FILE
				   : PROFILE_IDENTITY_CONTENT,
			   digest, build_id, build_id != NULL ? bytes : 0);
}

/* Failure means only that the JIT code keeps the first identity of its program. */
static void jit_follow(struct image_table *table, uint32_t image, uint32_t program, uint32_t uid)
{
	if (table->entries[image]->program != 0 ||
	    array_reserve(&table->jits, &table->jit_capacity, table->jit_count + 1,
			  sizeof(*table->jits)) < 0)
		return;
	table->jits[table->jit_count++] = image;
	table->entries[image]->program = program;
	table->entries[image]->jit_uid = uid;
}

/* @uid: the user that generated the code; 0: a trusted one */
static int image_of_user_jit(struct image_table *table, uint32_t program, uint32_t uid)
{
	static const struct profile_image none = {.path = ""};
	const struct profile_image *of =
		program != IMAGE_UNKNOWN ? image_table_get(table, program) : &none;
	struct profile_image image = {.kind = PROFILE_IMAGE_JIT};
	char label[PATH_MAX + sizeof(JIT_USER_SUFFIX) + 16];
	int number;

	if (uid == 0)
		snprintf(label, sizeof(label), "%s" JIT_SUFFIX, of->path);
	else
		snprintf(label, sizeof(label), "%s" JIT_USER_SUFFIX, of->path, uid);
	image.path = label + (program == IMAGE_UNKNOWN);
	image_identity_jit(&image, of, uid);
	number = image_table_add(table, &image);
	if (number > 0 && of->identity_kind == PROFILE_IDENTITY_FILE)
		jit_follow(table, (uint32_t)number, program, uid);
	return number;
}

int image_table_jit_of(struct image_table *table, uint32_t program)
{
	return image_of_user_jit(table, program, 0);
}

/*
 * A user chooses the names of the code that the user's processes generate, so it must not be in the
 * same image as that of root.
 */
static uint32_t jit_user(const struct image_table *table)
{
	const struct quota_user *user = image_table_payer(table);

	return user != NULL && user->uid != geteuid() ? user->uid : 0;
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
	return image_of_user_jit(table, number >= 0 ? (uint32_t)number : IMAGE_UNKNOWN,
				 jit_user(table));
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
			  struct known_file *known)
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
static bool is_file_assumed(const struct image_event *event, const struct known_file *known)
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
	image_identity_set(&image, PROFILE_IDENTITY_FILE, digest, event->build_id,
			   event->build_id_bytes);
	return image_table_add(table, &image);
}

/* Charge the user of an event for opening a file. Return: false: there are no points left. */
static bool may_look(struct image_table *table)
{
	struct quota_user *user = image_table_payer(table);

	if (user == NULL)
		return true;
	/* Recognising a known file is cheap, so the account may become negative. */
	if (quota_points(user, clock_monotonic_ns()) > 0) {
		quota_charge(user, clock_monotonic_ns(), LOOK_POINTS);
		user->files++;
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
	struct known_file *known = NULL, *seen;
	int number;

	if (event->inode != 0)
		known = image_table_find_file(table, &event_key);
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
			       ? image_table_remember_file(table, &event_key, number)
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
