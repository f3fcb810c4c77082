// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure unwinding: building tables of system libraries, their size, and the walk over a stack
 * of 15 frames of this program and the C library, with a table for each image. The look-up of
 * images is not included: see bench_image_map.
 */
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "daemon/unwind/unwind_build.h"
#include "daemon/unwind/unwind_step.h"
#include "tests/eval/bench/bench.h"

enum {
	DEPTH = 8,
	WALKS = 200000,
	BUILDS = 5,
	COPY_BYTES = 65536,
	IMAGES_MAX = 32,
};

struct image {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	struct unwind_table *table;
};

static struct image images[IMAGES_MAX];
static size_t image_count;
static uint8_t copy[COPY_BYTES];
static uint64_t copy_start;
static uint64_t frames;

static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static enum unwind_end word_read(void *context, uint64_t address, uint64_t *ret)
{
	uint64_t at = address - copy_start;

	(void)context;
	if (at > COPY_BYTES - sizeof(*ret))
		return UNWIND_END_SHORT;
	memcpy(ret, copy + at, sizeof(*ret));
	return UNWIND_END_COMPLETE;
}

static enum unwind_where rule_find(void *context, uint64_t pc, const struct unwind_rule **ret)
{
	(void)context;
	frames++;
	for (size_t i = 0; i < image_count; i++) {
		if (pc < images[i].start || pc >= images[i].end)
			continue;
		*ret = unwind_table_find(images[i].table, pc - images[i].start + images[i].offset);
		return UNWIND_WHERE_RULE;
	}
	return UNWIND_WHERE_NO_IMAGE;
}

static void images_read(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512], mode[8], path[256];

	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL &&
	       image_count < IMAGES_MAX) {
		struct image *image = &images[image_count];
		struct unwind_file file;

		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %255s", &image->start, &image->end, mode,
			   &image->offset, path) != 5 ||
		    mode[2] != 'x' || path[0] != '/')
			continue;
		file = (struct unwind_file){.fd = open(path, O_RDONLY | O_CLOEXEC)};
		image_count += unwind_build(&image->table, &file) == 0;
		close(file.fd);
	}
	if (maps != NULL)
		fclose(maps);
}

static struct unwind_registers registers_here(void)
{
	struct unwind_registers registers = {.known = UINT32_MAX};
	ucontext_t here;

	getcontext(&here);
#if defined(__x86_64__)
	registers.pc = (uint64_t)here.uc_mcontext.gregs[REG_RIP];
	registers.reg[3] = (uint64_t)here.uc_mcontext.gregs[REG_RBX];
	registers.reg[6] = (uint64_t)here.uc_mcontext.gregs[REG_RBP];
	registers.reg[7] = (uint64_t)here.uc_mcontext.gregs[REG_RSP];
	for (int i = 12; i < 16; i++)
		registers.reg[i] = (uint64_t)here.uc_mcontext.gregs[REG_R12 + i - 12];
	registers.known = 0xf0c8;
#elif defined(__aarch64__)
	registers.pc = here.uc_mcontext.pc;
	memcpy(registers.reg, here.uc_mcontext.regs, sizeof(here.uc_mcontext.regs));
	registers.reg[31] = here.uc_mcontext.sp;
#endif
	return registers;
}

static __attribute__((noinline)) int walks_measure(void)
{
	const struct unwind_machine *machine = unwind_machine_here();
	const struct unwind_registers here = registers_here();
	enum unwind_end end = UNWIND_END_COMPLETE;
	double began;

	/* Not beyond the end of the stack: the environment is above the outermost frame. */
	copy_start = here.reg[machine->sp];
	memcpy(copy, (const void *)(uintptr_t)copy_start, 4096);
	began = cpu_ns();
	for (int i = 0; i < WALKS; i++) {
		struct unwind_registers registers = here;
		struct unwind_walk walk = {
			.machine = machine, .memory = {word_read, NULL}, .find = rule_find};

		end = unwind_walk(&walk, &registers);
	}
	bench_report("walk", "unwind", "a stack", (cpu_ns() - began) / WALKS, "ns");
	bench_report("walk_frame", "unwind", "a frame", (cpu_ns() - began) / (double)frames, "ns");
	bench_report("walk_frames", "unwind", "a stack", (double)frames / WALKS, "frames");
	return end == UNWIND_END_COMPLETE ? 0 : 1;
}

static __attribute__((noinline)) int nest(int depth)
{
	volatile int result = depth > 0 ? nest(depth - 1) : walks_measure();

	return result;
}

static int status;

static int compare(const void *a, const void *b)
{
	(void)a;
	(void)b;
	if (frames == 0)
		status = nest(DEPTH);
	return 0;
}

static void build_measure(const char *pattern, const char *name)
{
	struct unwind_table *table = NULL;
	glob_t found = {.gl_pathc = 0};
	struct unwind_file file = {.fd = -1};
	double began;

	if (glob(pattern, 0, NULL, &found) == 0)
		file.fd = open(found.gl_pathv[0], O_RDONLY | O_CLOEXEC);
	globfree(&found);
	if (file.fd < 0)
		return;
	began = cpu_ns();
	for (int i = 0; i < BUILDS; i++) {
		unwind_table_destroy(table);
		table = NULL;
		if (unwind_build(&table, &file) < 0)
			break;
	}
	if (table != NULL) {
		bench_report("table_build", "unwind", name, (cpu_ns() - began) / BUILDS / 1e6,
			     "ms");
		bench_report("table_bytes", "unwind", name, (double)unwind_table_bytes(table),
			     "bytes");
		bench_report("table_row_bytes", "unwind", name,
			     (double)unwind_table_bytes(table) / table->row_count, "bytes");
	}
	unwind_table_destroy(table);
	close(file.fd);
}

int main(void)
{
	int values[2] = {2, 1};

	build_measure("/lib/*-linux-gnu/libc.so.6", "libc");
	build_measure("/usr/lib/*-linux-gnu/libstdc++.so.6", "libstdc++");
	build_measure("/usr/lib/*-linux-gnu/libcrypto.so.3", "libcrypto");
	images_read();
	qsort(values, 2, sizeof(*values), compare);
	for (size_t i = 0; i < image_count; i++)
		unwind_table_destroy(images[i].table);
	return status;
}
