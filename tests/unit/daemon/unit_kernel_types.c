// SPDX-License-Identifier: GPL-2.0-only
/* Kernel types extracted from a file of types, which may be damaged. */
#include "tests/lib/unit.h"

#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/source/kernel_types.h"

static const struct kernel_struct wanted[] = {
	{"inner", {"deep"}},
	{"outer", {"number", "inner", "typed"}},
};

static void write_all(const char *path, const void *data, size_t bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, bytes), bytes);
	close(fd);
}

/* struct inner { int first, deep; }; struct outer { long other; int number; inner; const u32; } */
static struct btf *example(void)
{
	struct btf *btf = btf__new_empty();
	int number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	int wide = btf__add_int(btf, "long", 8, BTF_INT_SIGNED);
	int typed = btf__add_const(btf, btf__add_typedef(btf, "u32", number));
	int inner, pointer = btf__add_ptr(btf, number);

	btf__add_array(btf, number, number, 3);
	btf__add_enum(btf, "kind", 4);
	btf__add_enum_value(btf, "one", 1);
	inner = btf__add_struct(btf, "inner", 8);
	btf__add_field(btf, "first", number, 0, 0);
	btf__add_field(btf, "deep", number, 32, 0);
	btf__add_struct(btf, "outer", 32);
	btf__add_field(btf, "other", wide, 0, 0);
	btf__add_field(btf, "number", number, 64, 0);
	btf__add_field(btf, "inner", inner, 96, 0);
	btf__add_field(btf, "typed", typed, 160, 0);
	btf__add_field(btf, "pointer", pointer, 192, 0);
	return btf;
}

static uint32_t offset_in(const struct btf *btf, const char *name, const char *member)
{
	int number = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);
	const struct btf_type *type = btf__type_by_id(btf, (uint32_t)number);

	assert_true(number > 0);
	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		if (strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off), member) == 0)
			return btf_member_bit_offset(type, i);
	}
	return UINT32_MAX;
}

/* Return: the extracted types, or NULL and @error. */
static struct btf *taken(const char *path, const struct kernel_struct *some, size_t count,
			 int *error)
{
	int fd = kernel_types_open(path, some, count);
	char name[64];
	struct btf *btf;

	*error = fd;
	if (fd < 0)
		return NULL;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	btf = btf__parse(name, NULL);
	assert_non_null(btf);
	close(fd);
	return btf;
}

static void members_keep_their_places(void **state)
{
	const char *path = *state;
	struct btf *from = example(), *btf;
	uint32_t bytes;
	const void *data = btf__raw_data(from, &bytes);
	int error;

	write_all(path, data, bytes);
	btf = taken(path, wanted, 2, &error);
	assert_non_null(btf);
	assert_int_equal(offset_in(btf, "inner", "deep"), 32);
	assert_int_equal(offset_in(btf, "inner", "first"), UINT32_MAX);
	assert_int_equal(offset_in(btf, "outer", "number"), 64);
	assert_int_equal(offset_in(btf, "outer", "inner"), 96);
	assert_int_equal(offset_in(btf, "outer", "typed"), 160);
	btf__free(btf);
	btf__free(from);
}

static void missing_types_are_errors(void **state)
{
	const struct kernel_struct absent = {"absent", {"number"}};
	const struct kernel_struct no_member = {"outer", {"absent"}};
	const struct kernel_struct pointer = {"outer", {"pointer"}};
	const char *path = *state;
	struct btf *from = example();
	uint32_t bytes;
	const void *data = btf__raw_data(from, &bytes);

	write_all(path, data, bytes);
	assert_int_equal(kernel_types_open(path, &absent, 1), -ENOENT);
	assert_int_equal(kernel_types_open(path, &no_member, 1), -ENOENT);
	assert_int_equal(kernel_types_open(path, &pointer, 1), -ENOENT);
	/* A structure that was not requested before. */
	assert_int_equal(kernel_types_open(path, &wanted[1], 1), -ENOENT);
	assert_int_equal(kernel_types_open("/nonexistent", wanted, 2), -ENOENT);
	btf__free(from);
}

/* Damage is an error or harmless: nothing outside the file is read. */
static void damage_is_survived(void **state)
{
	const char *path = *state;
	struct btf *from = example();
	uint32_t bytes, refused = 0;
	const uint8_t *data = btf__raw_data(from, &bytes);
	uint8_t *copy = malloc(bytes);
	uint64_t seed = 1;

	assert_non_null(copy);
	for (uint32_t end = 0; end < bytes; end++) {
		write_all(path, data, end);
		assert_true(kernel_types_open(path, wanted, 2) < 0);
	}
	for (int i = 0; i < 4000; i++) {
		int fd;

		memcpy(copy, data, bytes);
		copy[unit_random(&seed) % bytes] = (uint8_t)unit_random(&seed);
		copy[unit_random(&seed) % bytes] = (uint8_t)unit_random(&seed);
		write_all(path, copy, bytes);
		fd = kernel_types_open(path, wanted, 2);
		refused += fd < 0;
		if (fd >= 0)
			close(fd);
	}
	assert_true(refused > 0);
	free(copy);
	btf__free(from);
}

static void the_kernel_has_what_libbpf_finds(void **state)
{
	const struct kernel_struct some[] = {{"sched_info", {"run_delay"}},
					     {"task_struct", {"nvcsw", "sched_info"}}};
	struct btf *all = btf__parse(KERNEL_TYPES_PATH, NULL), *btf;
	int error;

	(void)state;
	if (all == NULL)
		skip();
	btf = taken(KERNEL_TYPES_PATH, some, 2, &error);
	if (btf == NULL) {
		assert_int_equal(error, -ENOENT);
		btf__free(all);
		skip();
	}
	assert_int_equal(offset_in(btf, "task_struct", "nvcsw"),
			 offset_in(all, "task_struct", "nvcsw"));
	assert_int_equal(offset_in(btf, "task_struct", "sched_info"),
			 offset_in(all, "task_struct", "sched_info"));
	assert_int_equal(offset_in(btf, "sched_info", "run_delay"),
			 offset_in(all, "sched_info", "run_delay"));
	btf__free(btf);
	btf__free(all);
}

static int setup(void **state)
{
	static char path[64];
	int fd;

	strcpy(path, "/tmp/unit_kernel_types.XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	*state = path;
	return 0;
}

static int teardown(void **state)
{
	unlink(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(members_keep_their_places, setup, teardown),
		cmocka_unit_test_setup_teardown(missing_types_are_errors, setup, teardown),
		cmocka_unit_test_setup_teardown(damage_is_survived, setup, teardown),
		cmocka_unit_test(the_kernel_has_what_libbpf_finds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
