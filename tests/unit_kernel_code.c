// SPDX-License-Identifier: GPL-2.0-only
/* Code that the kernel makes, told by events and by kallsyms. */
#include "tests/unit.h"

#include <stdbool.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/image/image_map.h"
#include "daemon/image/image_table.h"
#include "daemon/jit/jit_image.h"
#include "daemon/jit/kernel_code.h"
#include "loader-hook/image_event.h"

#define SECOND 1000000000ULL
#define BPF 0xffffffffc0020000ULL

static struct image_table *table;
static struct jit_images *images;
static struct kernel_code *code;
static char path[] = "/tmp/unit_kernel_code.XXXXXX";

static void kallsyms(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void tell(const char *name, uint64_t start, uint64_t bytes, uint64_t time_ns)
{
	const struct image_event event = {
		.type = IMAGE_EVENT_KERNEL_CODE,
		.time_ns = time_ns,
		.start = start,
		.bytes = bytes,
		.path = name,
	};

	kernel_code_event(code, &event);
}

static struct image_place find(uint64_t pc, uint64_t now_ns)
{
	struct image_place place = {.image = IMAGE_UNKNOWN, .unknown = IMAGE_UNKNOWN_KERNEL};

	kernel_code_place(code, pc, now_ns, &place);
	return place;
}

static const char *image_of(struct image_place place)
{
	return image_table_get(table, place.image)->path;
}

static void events(void **state)
{
	struct image_place a, b, other;

	(void)state;
	kallsyms("");
	assert_int_equal(find(BPF, SECOND).image, IMAGE_UNKNOWN);
	tell("bpf_prog_0123456789abcdef_one", BPF, 100, 2 * SECOND);
	tell("ftrace_trampoline", BPF + 4096, 64, 2 * SECOND);
	tell("something_else", BPF + 8192, 64, 2 * SECOND);
	tell("bpf_prog_too_long", UINT64_MAX - 10, 100, 2 * SECOND);
	a = find(BPF, 3 * SECOND);
	b = find(BPF + 99, 3 * SECOND);
	assert_string_equal(image_of(a), "[bpf]");
	assert_int_equal(b.image, a.image);
	assert_int_equal(b.offset, a.offset + 99);
	assert_int_equal(a.start, BPF);
	assert_int_equal(a.bytes, 100);
	assert_int_equal(find(BPF + 100, 3 * SECOND).image, IMAGE_UNKNOWN);
	assert_int_equal(find(BPF + 8192, 3 * SECOND).image, IMAGE_UNKNOWN);
	assert_int_equal(find(UINT64_MAX - 5, 3 * SECOND).image, IMAGE_UNKNOWN);
	assert_string_equal(image_of(find(BPF + 4096, 3 * SECOND)), "[ftrace]");
	/* Loaded again, elsewhere: the same code. Something else in its place: not. */
	kernel_code_expire(code, 4 * SECOND);
	tell("bpf_prog_0123456789abcdef_one", BPF + 65536, 100, 5 * SECOND);
	tell("bpf_prog_fedcba9876543210_two", BPF + 50, 100, 5 * SECOND);
	assert_int_equal(find(BPF + 65536 + 7, 6 * SECOND).offset, a.offset + 7);
	kernel_code_expire(code, 6 * SECOND);
	other = find(BPF + 60, 7 * SECOND);
	assert_int_equal(other.image, a.image);
	assert_true(other.offset / JIT_SLOT_BYTES != a.offset / JIT_SLOT_BYTES);
	/* A new epoch asks for everything again, and gets the same. */
	jit_images_forget(images);
	assert_int_equal(find(BPF + 60, 7 * SECOND).offset, other.offset);
}

/* What was there before: lengths are up to the next one; read once in a while. */
static void from_kallsyms(void **state)
{
	struct image_place a, b;

	(void)state;
	kallsyms("ffffffff81000000 T _text\n"
		 "ffffffffc0025000 t bpf_prog_22_b\t[bpf]\n"
		 "ffffffffc0021000 t other\t[module]\n"
		 "ffffffffc0020000 t bpf_prog_00_z\t[bpf]\n"
		 "ffffffffc0024000 t bpf_prog_11_a\t[bpf]\n"
		 "0000000000000000 t bpf_prog_33_hidden\t[bpf]\n"
		 "ffffffffc0026000 t kprobe_insn_page\t[__builtin__kprobes]\n");
	a = find(0xffffffffc0024fffULL, 100 * SECOND);
	b = find(0xffffffffc0025000ULL, 100 * SECOND);
	assert_string_equal(image_of(a), "[bpf]");
	assert_true(a.offset / JIT_SLOT_BYTES != b.offset / JIT_SLOT_BYTES);
	assert_int_equal(a.offset % JIT_SLOT_BYTES, 0xfff);
	assert_string_equal(image_of(find(0xffffffffc0026010ULL, 100 * SECOND)), "[kprobes]");
	assert_int_equal(find(0xffffffffc0021000ULL, 100 * SECOND).image, IMAGE_UNKNOWN);
	/* None reaches into a module, or further than a guess may; the last one ends, too. */
	assert_int_equal(find(0xffffffffc0023000ULL, 100 * SECOND).image, IMAGE_UNKNOWN);
	assert_int_equal(find(0xffffffffc0020fffULL, 100 * SECOND).image, a.image);
	assert_int_equal(find(0xffffffffc0046000ULL, 100 * SECOND).image, IMAGE_UNKNOWN);
	kallsyms("ffffffffc0060000 t bpf_prog_44_later\t[bpf]\n");
	assert_int_equal(find(0xffffffffc0060000ULL, 100 * SECOND + 1000).image, IMAGE_UNKNOWN);
	assert_string_equal(image_of(find(0xffffffffc0060000ULL, 140 * SECOND)), "[bpf]");
}

/* Nothing announces that a program took another one's place, or half of its room. */
static void another_takes_its_place(void **state)
{
	struct image_place first, second, above;

	(void)state;
	kallsyms("ffffffffc0020000 t bpf_prog_00_a\t[bpf]\n"
		 "ffffffffc0021000 t bpf_prog_11_b\t[bpf]\n");
	first = find(0xffffffffc0020100ULL, 100 * SECOND);
	assert_string_equal(image_of(first), "[bpf]");
	kallsyms("ffffffffc0020000 t bpf_prog_22_c\t[bpf]\n"
		 "ffffffffc0020800 t bpf_prog_33_d\t[bpf]\n"
		 "ffffffffc0021000 t bpf_prog_11_b\t[bpf]\n");
	kernel_code_expire(code, 140 * SECOND);
	find(0xffffffffc0020100ULL, 140 * SECOND);
	kernel_code_expire(code, 141 * SECOND);
	second = find(0xffffffffc0020100ULL, 142 * SECOND);
	above = find(0xffffffffc0020810ULL, 142 * SECOND);
	assert_true(second.offset / JIT_SLOT_BYTES != first.offset / JIT_SLOT_BYTES);
	assert_int_equal(second.offset % JIT_SLOT_BYTES, 0x100);
	assert_int_equal(above.offset % JIT_SLOT_BYTES, 0x10);
	/* The first one comes back, and has all the room again. */
	kallsyms("ffffffffc0020000 t bpf_prog_00_a\t[bpf]\n"
		 "ffffffffc0021000 t bpf_prog_11_b\t[bpf]\n");
	find(0xffffffffc0020100ULL, 200 * SECOND);
	kernel_code_expire(code, 201 * SECOND);
	assert_int_equal(find(0xffffffffc0020100ULL, 202 * SECOND).offset, first.offset);
}

/* Trampolines are told to have a page, in which others are, whichever was there first. */
static void packed(void **state)
{
	struct image_place before, above, program;

	(void)state;
	kallsyms("");
	tell("bpf_trampoline_6442486911", BPF + 0x80, 4096, SECOND);
	tell("bpf_trampoline_6442486900", BPF + 0x140, 4096, SECOND);
	tell("bpf_prog_0123456789abcdef_one", BPF + 0x200, 3 * 4096, 2 * SECOND);
	tell("bpf_dispatcher_xdp", BPF, 4096, 3 * SECOND);
	before = find(BPF + 0x90, 4 * SECOND);
	above = find(BPF + 0x150, 4 * SECOND);
	program = find(BPF + 0x200 + 4096, 4 * SECOND);
	assert_int_equal(find(BPF + 0x7f, 4 * SECOND).offset % JIT_SLOT_BYTES, 0x7f);
	assert_int_equal(before.offset % JIT_SLOT_BYTES, 0x10);
	assert_int_equal(above.offset % JIT_SLOT_BYTES, 0x10);
	assert_true(above.offset != before.offset);
	assert_int_equal(program.offset % JIT_SLOT_BYTES, 4096);
}

/* A program has gone, and kallsyms has others there: its samples are on their way still. */
static void gone_since(void **state)
{
	struct image_place program;

	(void)state;
	kallsyms("ffffffffc0300800 t bpf_prog_22_b\t[bpf]\n");
	tell("bpf_prog_0123456789abcdef_one", 0xffffffffc0301000ULL, 3 * 4096, 2 * SECOND);
	kernel_code_expire(code, 3 * SECOND);
	program = find(0xffffffffc0302010ULL, 4 * SECOND);
	assert_int_equal(program.offset % JIT_SLOT_BYTES, 0x1010);
	assert_string_equal(image_of(find(0xffffffffc0300800ULL, 100 * SECOND)), "[bpf]");
	assert_int_equal(find(0xffffffffc0302010ULL, 100 * SECOND).offset, program.offset);
	kernel_code_expire(code, 101 * SECOND);
	assert_int_not_equal(find(0xffffffffc0302010ULL, 102 * SECOND).offset, program.offset);
}

/* Programs of other names each time, more than are kept. */
static void many_programs(const char *prefix)
{
	FILE *file = fopen(path, "w");
	int i;

	assert_non_null(file);
	for (i = 0; i < 100000; i++)
		fprintf(file, "%llx t bpf_prog_%s_%d\t[bpf]\n",
			0xffffffffc0020000ULL + (uint64_t)i * 64, prefix, i);
	assert_int_equal(fclose(file), 0);
}

/* Names that are not kept leave nothing behind. */
static void too_many_names(void **state)
{
	size_t before;

	(void)state;
	many_programs("a");
	assert_string_equal(image_of(find(0xffffffffc0020000ULL, 100 * SECOND)), "[bpf]");
	before = mallinfo2().uordblks + mallinfo2().hblkhd;
	many_programs("b");
	assert_int_equal(find(0xffffffffd0020000ULL, 200 * SECOND).image, IMAGE_UNKNOWN);
	assert_true(mallinfo2().uordblks + mallinfo2().hblkhd < before + (1U << 16));
}

static int setup(void **state)
{
	(void)state;
	assert_int_equal(image_table_create(&table, NULL), 0);
	assert_int_equal(jit_images_create(&images, NULL), 0);
	return kernel_code_create(&code, table, images, path, NULL);
}

static int teardown(void **state)
{
	(void)state;
	kernel_code_destroy(code);
	jit_images_destroy(images);
	image_table_destroy(table);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(events, setup, teardown),
		cmocka_unit_test_setup_teardown(packed, setup, teardown),
		cmocka_unit_test_setup_teardown(gone_since, setup, teardown),
		cmocka_unit_test_setup_teardown(from_kallsyms, setup, teardown),
		cmocka_unit_test_setup_teardown(another_takes_its_place, setup, teardown),
		cmocka_unit_test_setup_teardown(too_many_names, setup, teardown),
	};
	int fd = mkstemp(path), rc;

	if (fd < 0)
		return 1;
	close(fd);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return rc;
}
