// SPDX-License-Identifier: GPL-2.0-only
/* Files with the build-id of another file are separate images. */
#include "tests/lib/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/image/image_table.h"
#include "daemon/image/image_verifier.h"
#include "daemon/image/quota.h"
#include "lib/file_identity.h"
#include "loader-hook/build_id.h"
#include "loader-hook/image_event.h"
#include "loader-hook/proc/process_scan.h"
#include "tests/lib/copy_file.h"
#include "tests/lib/patience.h"

#define ATTACKER 65534
#define OTHER 65533

static char directory[] = "/tmp/unit_image_system.XXXXXX";
static struct build_id self_id;

static int setup(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(build_id_from_file(&self_id, fd), 0);
	close(fd);
	return mkdtemp(directory) == NULL ? -1 : chmod(directory, 0755);
}

static int teardown(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command); /* NOLINT(cert-env33-c): a path of the test */
}

/* A mapped copy of this program. */
struct copy {
	char path[64];
	void *mapping;
};

/* @more: bytes appended to the file, which do not change the build-id */
static struct copy copy_make(const char *name, uid_t owner, mode_t mode, const char *more)
{
	struct copy copy;
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to;
	off_t bytes;

	snprintf(copy.path, sizeof(copy.path), "%s/%s", directory, name);
	to = open(copy.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	assert_true(to >= 0);
	bytes = copy_file(to, from);
	assert_int_equal(pwrite(to, more, strlen(more), bytes), strlen(more));
	assert_int_equal(fchown(to, owner, owner), 0);
	assert_int_equal(fchmod(to, mode), 0);
	copy.mapping = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, to, 0);
	assert_true(copy.mapping != MAP_FAILED);
	close(from);
	close(to);
	return copy;
}

static void copy_remove(struct copy *copy)
{
	munmap(copy->mapping, 4096);
	unlink(copy->path);
}

struct search {
	const char *path;
	struct image_event event;
};

static void find(void *context, const struct image_event *event)
{
	struct search *search = context;

	if (event->type == IMAGE_EVENT_MAP && strcmp(event->path, search->path) == 0) {
		search->event = *event;
		search->event.path = search->path;
	}
}

static struct image_event event_of(const char *path)
{
	struct search search = {.path = path};

	assert_true(process_scan((uint32_t)getpid(), find, &search, NULL) >= 0);
	assert_int_equal(search.event.type, IMAGE_EVENT_MAP);
	return search.event;
}

static struct image_table *create(void)
{
	struct image_table *table = NULL;

	assert_int_equal(image_table_create(&table, NULL), 0);
	return table;
}

static uint32_t number_of(struct image_table *table, const char *path)
{
	struct image_event event = event_of(path);
	int number = image_table_from_event(table, &event);

	assert_true(number > 0);
	return (uint32_t)number;
}

static void settle(struct image_table *table)
{
	image_table_settle(table, patience_s() * NS_PER_SECOND);
}

/* Check that the build-id alone identifies the image. */
static void assert_system(const struct image_table *table, uint32_t number, const char *path)
{
	const struct profile_image *image = image_table_get(table, number);

	assert_int_equal(image->identity_kind, PROFILE_IDENTITY_BUILD_ID);
	assert_int_equal(image->identity_bytes, self_id.bytes);
	assert_memory_equal(image->identity, self_id.data, self_id.bytes);
	assert_string_equal(image->path, path);
}

static void assert_other(const struct image_table *table, uint32_t number,
			 enum profile_identity_kind kind, const char *path)
{
	const struct profile_image *image = image_table_get(table, number);
	size_t bytes;
	const uint8_t *id = profile_image_build_id(image, &bytes);

	assert_int_equal(image->identity_kind, kind);
	assert_string_equal(image->path, path);
	/* Only the thread reads the file. */
	if (!image_table_is_named(table, number)) {
		assert_int_equal(kind, PROFILE_IDENTITY_FILE);
		assert_null(id);
		return;
	}
	assert_int_equal(bytes, self_id.bytes);
	assert_memory_equal(id, self_id.data, bytes);
}

static bool is_equal(const struct image_table *table, uint32_t one, uint32_t other)
{
	const struct profile_image *a = image_table_get(table, one);
	const struct profile_image *b = image_table_get(table, other);

	return a->identity_kind == b->identity_kind && a->identity_bytes == b->identity_bytes &&
	       memcmp(a->identity, b->identity, a->identity_bytes) == 0;
}

static void superuser_or_skip(void)
{
	if (geteuid() != 0)
		skip();
}

static void forged(const bool first)
{
	struct copy victim, evil;
	struct image_table *table = create();
	uint32_t system = 0, other;

	victim = copy_make("victim", 0, 0755, "");
	evil = copy_make("evil", ATTACKER, 0755, "other code");
	if (!first)
		system = number_of(table, victim.path);
	other = number_of(table, evil.path);
	if (first)
		system = number_of(table, victim.path);
	assert_int_not_equal(system, other);
	assert_system(table, system, victim.path);
	assert_other(table, other, PROFILE_IDENTITY_FILE, evil.path);
	settle(table);
	assert_system(table, system, victim.path);
	assert_other(table, other, PROFILE_IDENTITY_CONTENT, evil.path);
	assert_int_equal(number_of(table, evil.path), other);
	assert_int_equal(number_of(table, victim.path), system);
	copy_remove(&victim);
	copy_remove(&evil);
	image_table_destroy(table);
}

static void forged_first(void **state)
{
	(void)state;
	superuser_or_skip();
	forged(true);
}

static void forged_last(void **state)
{
	(void)state;
	superuser_or_skip();
	forged(false);
}

/* A file with equal contents joins the image of the system's file, which keeps its path. */
static void equal_contents(void **state)
{
	struct image_table *table = create();
	struct copy victim, same;
	uint32_t other;
	uint64_t revision;

	(void)state;
	superuser_or_skip();
	victim = copy_make("victim", 0, 0755, "");
	same = copy_make("same", ATTACKER, 0755, "");
	assert_system(table, number_of(table, victim.path), victim.path);
	other = number_of(table, same.path);
	assert_other(table, other, PROFILE_IDENTITY_FILE, same.path);
	revision = image_table_revision(table);
	settle(table);
	assert_true(image_table_revision(table) > revision);
	assert_system(table, other, victim.path);
	copy_remove(&victim);
	copy_remove(&same);
	image_table_destroy(table);
}

/* The contents of a system file are forgotten with its number. */
static void number_reused(void **state)
{
	const uint8_t mapped[8] = {0};
	struct image_table *table = create();
	struct copy victim, evil, old, same;
	uint32_t number;

	(void)state;
	superuser_or_skip();
	evil = copy_make("evil", ATTACKER, 0755, "other code");
	victim = copy_make("victim", 0, 0755, "");
	number_of(table, evil.path);
	number = number_of(table, victim.path);
	settle(table);
	copy_remove(&evil);
	copy_remove(&victim);
	image_table_reclaim(table, mapped);
	assert_int_equal(image_table_used(table), 1);

	victim = copy_make("victim", 0, 0755, "new version");
	assert_int_equal(number_of(table, victim.path), number);
	old = copy_make("old", ATTACKER, 0755, "");
	same = copy_make("same", ATTACKER, 0755, "new version");
	number_of(table, old.path);
	number_of(table, same.path);
	settle(table);
	assert_other(table, number_of(table, old.path), PROFILE_IDENTITY_CONTENT, old.path);
	assert_system(table, number_of(table, same.path), victim.path);
	copy_remove(&victim);
	copy_remove(&old);
	copy_remove(&same);
	image_table_destroy(table);
}

/* Files of one owner with equal contents are one image; those of several owners are not. */
static void owners(void **state)
{
	struct image_table *table = create();
	struct copy one, two, third;
	uint32_t first, second, other;

	(void)state;
	superuser_or_skip();
	one = copy_make("one", ATTACKER, 0755, "x");
	two = copy_make("two", ATTACKER, 0755, "x");
	third = copy_make("third", OTHER, 0755, "x");
	first = number_of(table, one.path);
	second = number_of(table, two.path);
	other = number_of(table, third.path);
	assert_false(is_equal(table, first, second));
	settle(table);
	assert_true(is_equal(table, first, second));
	assert_false(is_equal(table, first, other));
	assert_other(table, other, PROFILE_IDENTITY_CONTENT, third.path);
	copy_remove(&one);
	copy_remove(&two);
	copy_remove(&third);
	image_table_destroy(table);
}

/* A file that all users can write is a separate image. */
static void writable_by_others(void **state)
{
	struct image_table *table = create();
	struct copy copy = copy_make("writable", geteuid(), 0757, "");

	(void)state;
	assert_other(table, number_of(table, copy.path), PROFILE_IDENTITY_FILE, copy.path);
	copy_remove(&copy);
	image_table_destroy(table);
}

static void deleted(void **state)
{
	struct image_table *table = create();
	struct copy copy;
	char path[80];

	(void)state;
	superuser_or_skip();
	copy = copy_make("deleted", 0, 0755, "");
	unlink(copy.path);
	snprintf(path, sizeof(path), "%s (deleted)", copy.path);
	assert_system(table, number_of(table, path), path);
	copy_remove(&copy);
	image_table_destroy(table);
}

/* In a mount namespace of a user, a file of the system may have any path. */
static void paths_of_other_namespaces(void **state)
{
	struct image_table *table = create();
	struct copy copy = copy_make("victim", geteuid(), 0755, "");
	struct image_event event = event_of(copy.path);
	char link[80];
	int number, other;

	(void)state;
	snprintf(link, sizeof(link), "%s/link", directory);
	assert_int_equal(symlink(copy.path, link), 0);
	event.path = link;
	other = image_table_from_event(table, &event);
	assert_other(table, (uint32_t)other, PROFILE_IDENTITY_FILE, link);
	event.path = "/elsewhere/evil";
	assert_int_equal(image_table_from_event(table, &event), other);
	/* The path in the test's root directory decides, also for all later events. */
	number = (int)number_of(table, copy.path);
	assert_int_not_equal(number, other);
	assert_system(table, (uint32_t)number, copy.path);
	assert_int_equal(image_table_from_event(table, &event), number);
	settle(table);
	assert_system(table, (uint32_t)number, copy.path);
	assert_system(table, (uint32_t)other, copy.path);
	unlink(link);
	copy_remove(&copy);
	image_table_destroy(table);
}

/* For an event from another user's process, the mapping itself decides. */
static void claims(void **state)
{
	struct image_table *table = create();
	struct copy victim = copy_make("victim", geteuid(), 0755, "");
	struct image_event event = event_of(victim.path), claim = {
								  .type = IMAGE_EVENT_MAP,
								  .pid = (uint32_t)getpid(),
								  .start = event.start,
								  .bytes = event.bytes,
								  .build_id = {1, 2, 3},
								  .build_id_bytes = 20,
								  .path = "/claimed",
								  .has_user = true,
								  .user = ATTACKER,
								  .file_user = ATTACKER,
							  };
	const struct profile_image *image;
	int number;

	(void)state;
	superuser_or_skip();
	number = image_table_from_event(table, &claim);
	assert_true(number > 0);
	assert_system(table, (uint32_t)number, victim.path);
	/* The address is not mapped. */
	claim.start = 0x1000;
	claim.path = victim.path;
	claim.build_id_bytes = self_id.bytes;
	memcpy(claim.build_id, self_id.data, self_id.bytes);
	number = image_table_from_event(table, &claim);
	assert_true(number > 0);
	assert_other(table, (uint32_t)number, PROFILE_IDENTITY_FILE, victim.path);
	/* Events of the superuser's processes are trusted. */
	claim.user = claim.file_user = 0;
	number = image_table_from_event(table, &claim);
	image = image_table_get(table, (uint32_t)number);
	assert_int_equal(image->identity_kind, PROFILE_IDENTITY_BUILD_ID);
	copy_remove(&victim);
	image_table_destroy(table);
}

/* More files than may wait: all are read eventually. */
static void many_files(void **state)
{
	enum {
		COUNT = 150
	};
	struct image_table *table = create();
	static struct copy copies[COUNT];
	char name[16], more[16];
	unsigned int left = COUNT;
	uint64_t end_ns = clock_monotonic_ns() + patience_s() * NS_PER_SECOND;

	(void)state;
	superuser_or_skip();
	for (int i = 0; i < COUNT; i++) {
		snprintf(name, sizeof(name), "many-%d", i);
		snprintf(more, sizeof(more), "%d", i);
		copies[i] = copy_make(name, ATTACKER, 0755, more);
		assert_int_equal(truncate(copies[i].path, 65536), 0);
	}
	while (left > 0 && clock_monotonic_ns() < end_ns) {
		left = 0;
		for (int i = 0; i < COUNT; i++) {
			uint32_t number = number_of(table, copies[i].path);

			left += image_table_get(table, number)->identity_kind ==
				PROFILE_IDENTITY_FILE;
		}
		settle(table);
	}
	assert_int_equal(left, 0);
	for (int i = 0; i < COUNT; i++)
		copy_remove(&copies[i]);
	image_table_destroy(table);
}

static struct quota quota;

static struct quota_user *limited_user(void *context, uint32_t pid)
{
	(void)context;
	(void)pid;
	return quota_user_of(&quota, ATTACKER);
}

/*
 * Reading all of a system file takes longer than the quota of a user permits: the thread does it.
 * The identity is the same as if the superuser had mapped the file.
 */
static void system_file_without_build_id(void **state)
{
	const struct image_table_limits limits = {.quota = &quota, .user = limited_user};
	struct image_table *limited = create(), *table = create();
	struct copy file;
	uint32_t number, other;

	(void)state;
	superuser_or_skip();
	file = copy_make("data", 0, 0755, "");
	assert_int_equal(truncate(file.path, 0), 0);
	assert_int_equal(truncate(file.path, 65536), 0);
	image_table_limit(limited, &limits);
	number = number_of(limited, file.path);
	assert_int_equal(image_table_get(limited, number)->identity_kind, PROFILE_IDENTITY_FILE);
	other = number_of(table, file.path);
	assert_int_equal(image_table_get(table, other)->identity_kind, PROFILE_IDENTITY_DIGEST);
	settle(limited);
	assert_int_equal(image_table_get(limited, number)->identity_kind, PROFILE_IDENTITY_DIGEST);
	assert_memory_equal(image_table_get(limited, number)->identity,
			    image_table_get(table, other)->identity, FILE_DIGEST_BYTES);
	assert_int_equal(number_of(limited, file.path), number);
	copy_remove(&file);
	image_table_destroy(limited);
	image_table_destroy(table);
	quota_deinit(&quota);
	quota = (struct quota){.others = {.uid = 0}};
}

static int data_file(size_t bytes)
{
	int fd = memfd_create("data", MFD_CLOEXEC);
	void *data = malloc(bytes);

	assert_true(fd >= 0);
	assert_non_null(data);
	memset(data, 1, bytes);
	assert_int_equal(write(fd, data, bytes), bytes);
	free(data);
	return fd;
}

static void data_add(struct image_verifier *verifier, uint32_t user, int fd, uint32_t tag)
{
	struct stat status;

	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(
		image_verifier_add(verifier, tag, IMAGE_VERIFIER_CONTENT, user, fd, &status), 0);
}

/* The small files of one user do not delay the large file of another. */
static void users_take_turns(void **state)
{
	struct image_verifier *verifier = image_verifier_create();
	int small = data_file((size_t)4 << 20), large = data_file((size_t)6 << 20);
	struct image_verifier_result result = {.tag = 0};
	unsigned int later = 0;

	(void)state;
	assert_non_null(verifier);
	for (uint32_t i = 0; i < 8; i++)
		data_add(verifier, 1, small, i);
	data_add(verifier, 2, large, 100);
	/* Some may have been read before the large file was added. */
	while (result.tag != 100 && image_verifier_result(verifier, &result))
		assert_int_equal(result.result, 0);
	for (; result.tag != 100; later++) {
		assert_true(image_verifier_wait(verifier, patience_end_ns()));
		assert_true(image_verifier_result(verifier, &result));
		assert_int_equal(result.result, 0);
	}
	/* The file that was being read, and the large file. */
	assert_true(later <= 2);
	image_verifier_destroy(verifier);
	close(small);
	close(large);
}

/* Destroying the table stops the thread while files are pending. */
static void destroyed_while_reading(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		struct image_table *table = create();
		struct copy copy = copy_make("reading", geteuid(), 0757, "");

		number_of(table, copy.path);
		copy_remove(&copy);
		image_table_destroy(table);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forged_first),
		cmocka_unit_test(forged_last),
		cmocka_unit_test(equal_contents),
		cmocka_unit_test(number_reused),
		cmocka_unit_test(owners),
		cmocka_unit_test(writable_by_others),
		cmocka_unit_test(deleted),
		cmocka_unit_test(paths_of_other_namespaces),
		cmocka_unit_test(claims),
		cmocka_unit_test(many_files),
		cmocka_unit_test(system_file_without_build_id),
		cmocka_unit_test(users_take_turns),
		cmocka_unit_test(destroyed_while_reading),
	};

	return cmocka_run_group_tests_name("image_system", tests, setup, teardown);
}
