// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "daemon/image/image_table.h"
#include "loader-hook/build_id.h"
#include "loader-hook/image_event.h"
#include "loader-hook/proc/process_scan.h"
#include "tests/fixtures/image_table_fill.h"
#include "tests/lib/copy_file.h"
#include "tests/lib/patience.h"

static struct image_table *create(void)
{
	struct image_table *table = NULL;

	assert_int_equal(image_table_create(&table, NULL), 0);
	assert_int_equal(image_table_count(table), 1);
	assert_int_equal(image_table_get(table, IMAGE_UNKNOWN)->kind, PROFILE_IMAGE_UNKNOWN);
	return table;
}

/* Identities are equal if and only if kind, identity kind and bytes are. */
static void identities(void **state)
{
	enum {
		IMAGES = 3000
	};
	struct image_table *table = create();
	const struct profile_image *first = NULL;
	uint64_t seed = 1;
	int i, pass;

	(void)state;
	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < IMAGES; i++) {
			char path[32];
			struct profile_image image = {
				.kind = i % 3 == 0 ? PROFILE_IMAGE_MODULE : PROFILE_IMAGE_FILE,
				.identity_kind = i % 4 == 0 ? PROFILE_IDENTITY_NONE
							    : PROFILE_IDENTITY_BUILD_ID,
				.identity_bytes = i % 4 == 0 ? 0 : 2 + (size_t)(i % 2),
				.identity = {(uint8_t)i, (uint8_t)(i >> 8)},
				.path = path,
			};

			/* A path is only a label, unless there is no other identity. */
			snprintf(path, sizeof(path), "/%d",
				 i % 4 == 0 ? i : (int)(unit_random(&seed) % 100));
			assert_int_equal(image_table_add(table, &image), i + 1);
		}
		if (pass == 0)
			first = image_table_get(table, 1);
	}
	assert_int_equal(image_table_count(table), IMAGES + 1);
	assert_ptr_equal(image_table_get(table, 1), first);
	assert_string_equal(first->path, "/0");
	image_table_destroy(table);
}

/* An image without room is counted, and leaks no memory. */
static void no_room(void **state)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE};
	struct image_table *table = create();
	char path[32];
	size_t before;
	int i;

	(void)state;
	image_table_fill(table, IMAGE_TABLE_ROOM / 4 * 3 - 1);
	assert_false(image_table_crowded(table));
	image_table_fill(table, IMAGE_TABLE_ROOM / 4 * 3);
	assert_true(image_table_crowded(table));
	assert_int_equal(image_table_fill(table, IMAGE_TABLE_ROOM), IMAGE_TABLE_ROOM - 1);
	assert_int_equal(image_table_refused(table), 0);
	image.path = path;
	before = mallinfo2().uordblks + mallinfo2().hblkhd;
	for (i = 0; i < 2 * IMAGE_TABLE_ROOM; i++) {
		snprintf(path, sizeof(path), "/%d", i);
		assert_int_equal(image_table_add(table, &image), -ENOMEM);
	}
	assert_int_equal(mallinfo2().uordblks + mallinfo2().hblkhd, before);
	assert_int_equal(image_table_refused(table), 2 * IMAGE_TABLE_ROOM);
	assert_int_equal(image_table_count(table), IMAGE_TABLE_ROOM);
	image = *image_table_get(table, 1234);
	assert_int_equal(image_table_add(table, &image), 1234);
	image_table_destroy(table);
}

/* Add images with different build-ids, and different paths if @paths. Return: the number added. */
static unsigned int add_long_paths(struct image_table *table, unsigned int count, bool paths)
{
	struct profile_image image = {
		.kind = PROFILE_IMAGE_FILE,
		.identity_kind = PROFILE_IDENTITY_BUILD_ID,
		.identity_bytes = sizeof(unsigned int),
	};
	char path[4001];
	unsigned int i;

	memset(path, 'd', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	image.path = path;
	for (i = 0; i < count; i++) {
		if (paths)
			path[snprintf(path, sizeof(path), "/%u", i)] = 'd';
		memcpy(image.identity, &i, sizeof(i));
		if (image_table_add(table, &image) < 0)
			break;
	}
	return i;
}

/* The size is limited, too, because paths may be long. */
static void room_in_bytes(void **state)
{
	const size_t most = 64 << 20;
	struct image_table *table = create();
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd, bytes;
	unsigned int added;

	(void)state;
	added = add_long_paths(table, IMAGE_TABLE_ROOM, true);
	assert_in_range(added, most / 4400, most / 4000);
	assert_true(image_table_crowded(table));
	assert_true(image_table_refused(table) > 0);
	bytes = image_table_bytes(table);
	assert_in_range(bytes, most - 8192, most + (4 << 20));
	assert_true(mallinfo2().uordblks + mallinfo2().hblkhd - before < bytes + (2 << 20));
	image_table_destroy(table);
}

/* If many build-ids are written into one file, its path is stored once. */
static void paths_are_shared(void **state)
{
	struct image_table *table = create();

	(void)state;
	assert_int_equal(add_long_paths(table, IMAGE_TABLE_ROOM / 2, false), IMAGE_TABLE_ROOM / 2);
	assert_false(image_table_crowded(table));
	assert_true(image_table_bytes(table) < 24 << 20);
	assert_int_equal(strlen(image_table_get(table, 1)->path), 4000);
	assert_string_equal(image_table_get(table, 1)->path,
			    image_table_get(table, IMAGE_TABLE_ROOM / 2)->path);
	image_table_destroy(table);
}

struct found {
	struct image_table *table;
	const char *path;
	int image;
	struct image_event event;
};

static void find_path(void *context, const struct image_event *event)
{
	struct found *found = context;

	if (event->type == IMAGE_EVENT_MAP && strcmp(event->path, found->path) == 0) {
		found->image = image_table_from_event(found->table, event);
		found->event = *event;
		found->event.path = found->path;
	}
}

static int scan_for(struct image_table *table, const char *path, struct image_event *event)
{
	struct found found = {.table = table, .path = path, .image = -1};

	assert_true(process_scan((uint32_t)getpid(), find_path, &found, NULL) >= 0);
	if (event != NULL)
		*event = found.event;
	return found.image;
}

/* A scan of this process and a perf record with a build-id give the same image. */
static void file_and_event_agree(void **state)
{
	struct image_table *table = create();
	struct image_event event = {.type = IMAGE_EVENT_MAP, .path = "/elsewhere"};
	struct build_id build_id;
	char exe[4096] = "";
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int image;

	(void)state;
	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	assert_int_equal(build_id_from_file(&build_id, fd), 0);
	close(fd);
	image = scan_for(table, exe, NULL);
	assert_true(image > 0);
	assert_string_equal(image_table_get(table, (uint32_t)image)->path, exe);
	event.build_id_bytes = build_id.bytes;
	memcpy(event.build_id, build_id.data, build_id.bytes);
	assert_int_equal(image_table_from_event(table, &event), image);
	image_table_destroy(table);
}

/* Executable mappings of a file: not an ELF file, replaced, deleted, process ended. */
static void files_without_build_id(void **state)
{
	char path[] = "/tmp/unit_image_table.XXXXXX", deleted[64];
	struct image_table *table = create();
	const struct profile_image *image;
	struct image_event event;
	int fd = mkstemp(path);
	int first, second;
	void *mapping;

	(void)state;
	assert_int_equal(ftruncate(fd, 4096), 0);
	mapping = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(mapping != MAP_FAILED);
	first = scan_for(table, path, &event);
	assert_true(first > 0);
	image = image_table_get(table, (uint32_t)first);
	assert_int_equal(image->identity_kind, PROFILE_IDENTITY_DIGEST);
	assert_int_equal(scan_for(table, path, NULL), first);
	/* Changed contents are another image, even in the same inode. */
	assert_int_equal(pwrite(fd, "x", 1, 0), 1);
	assert_int_equal(ftruncate(fd, 5000), 0);
	second = scan_for(table, path, NULL);
	assert_true(second > first);
	/* Deleted while mapped. */
	assert_int_equal(unlink(path), 0);
	snprintf(deleted, sizeof(deleted), "%s (deleted)", path);
	if (geteuid() == 0)
		assert_int_equal(scan_for(table, deleted, NULL), second);
	/* The process has also ended: the result is the last image of that inode. */
	munmap(mapping, 4096);
	close(fd);
	event.pid = 4194304;
	assert_int_equal(image_table_from_event(table, &event), second);
	event.inode ^= 1ULL << 40;
	first = image_table_from_event(table, &event);
	assert_true(first > second);
	assert_int_equal(image_table_get(table, (uint32_t)first)->identity_kind,
			 PROFILE_IDENTITY_NONE);
	image_table_destroy(table);
}

static void no_images(void **state)
{
	static const char *const paths[] = {"",
					    "//anon",
					    "[heap]",
					    "[vsyscall]",
					    "/dev/zero (deleted)",
					    "/dev/null",
					    "[uprobes]",
					    "anon_inode:x",
					    "/memfd:jit (deleted)",
					    "/SYSV00000000 (deleted)"};
	struct image_event event = {.type = IMAGE_EVENT_MAP,
				    .pid = (uint32_t)getpid(),
				    .start = 0x1000,
				    .bytes = 0x1000};
	struct image_table *table = create();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		event.path = paths[i];
		assert_int_equal(image_table_from_event(table, &event), -ENOENT);
	}
	event.path = NULL;
	assert_int_equal(image_table_from_event(table, &event), -ENOENT);
	assert_int_equal(image_table_count(table), 1);
	image_table_destroy(table);
}

/* Compilers may put code into any mapping, except those of the kernel. */
static void memory(void **state)
{
	static const struct {
		const char *path;
		bool is_memory;
	} cases[] = {
		{"", true},
		{"//anon", true},
		{"[heap]", true},
		{"/memfd:jit (deleted)", true},
		{"[vdso]", false},
		{"[vsyscall]", false},
		{"/usr/bin/true", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct image_event event = {.type = IMAGE_EVENT_MAP, .path = cases[i].path};

		if (image_table_is_memory(&event) != cases[i].is_memory)
			fail_msg("%s", cases[i].path);
	}
}

/* A program may run from a memfd; a memfd of a JIT compiler is not a program. */
static void memory_files(void **state)
{
	struct image_table *table = create();
	int fd = memfd_create("jit", MFD_CLOEXEC);
	int exe = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), image;
	uint8_t *code;

	(void)state;
	assert_int_equal(ftruncate(fd, 8192), 0);
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	assert_true(code != MAP_FAILED);
	assert_int_equal(scan_for(table, "/memfd:jit (deleted)", NULL), -ENOENT);
	if (geteuid() == 0) {
		assert_int_equal(ftruncate(fd, copy_file(fd, exe) + 1), 0);
		image = scan_for(table, "/memfd:jit (deleted)", NULL);
		assert_true(image > 0);
		/* The file has the build-id of this program, and one more byte. */
		assert_int_equal(image_table_get(table, (uint32_t)image)->identity_kind,
				 PROFILE_IDENTITY_FILE);
		image_table_settle(table, patience_s() * NS_PER_SECOND);
		assert_int_equal(image_table_get(table, (uint32_t)image)->identity_kind,
				 PROFILE_IDENTITY_CONTENT);
	}
	munmap(code, 4096);
	close(exe);
	close(fd);
	image_table_destroy(table);
}

/* A path that now has another file is neither opened nor trusted. */
static void paths_that_lie(void **state)
{
	char directory[] = "/tmp/unit_image_table.XXXXXX", path[96];
	struct image_event event = {.type = IMAGE_EVENT_MAP,
				    .pid = (uint32_t)getpid(),
				    .start = 0x1000,
				    .bytes = 0x1000,
				    .path = path};
	struct image_table *table = create();

	(void)state;
	assert_non_null(mkdtemp(directory));
	/* Opening a FIFO would block forever. */
	snprintf(path, sizeof(path), "%s/fifo", directory);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(image_table_from_event(table, &event), -ENOENT);
	unlink(path);
	snprintf(path, sizeof(path), "%s/link", directory);
	assert_int_equal(symlink("/proc/self/exe", path), 0);
	event.inode = 12345;
	assert_int_equal(image_table_get(table, (uint32_t)image_table_from_event(table, &event))
				 ->identity_kind,
			 PROFILE_IDENTITY_NONE);
	unlink(path);
	rmdir(directory);
	image_table_destroy(table);
}

static void vdso(void **state)
{
	struct image_event event = {.type = IMAGE_EVENT_MAP,
				    .start = 0x7fff00000000,
				    .bytes = 0x2000,
				    .path = "[vdso]"};
	struct image_table *table = create();
	int image = image_table_from_event(table, &event);

	(void)state;
	assert_int_equal(image, image_table_vdso(table));
	assert_int_equal(image_table_get(table, (uint32_t)image)->kind, PROFILE_IMAGE_VDSO);
	event.start = 0xf7fc0000;
	assert_int_not_equal(image_table_from_event(table, &event), image);
	image_table_destroy(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identities),
		cmocka_unit_test(no_room),
		cmocka_unit_test(room_in_bytes),
		cmocka_unit_test(paths_are_shared),
		cmocka_unit_test(file_and_event_agree),
		cmocka_unit_test(files_without_build_id),
		cmocka_unit_test(no_images),
		cmocka_unit_test(memory),
		cmocka_unit_test(memory_files),
		cmocka_unit_test(paths_that_lie),
		cmocka_unit_test(vdso),
	};

	return cmocka_run_group_tests_name("image_table", tests, NULL, NULL);
}
