// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reference memory trace: the memory references of a program's instructions, in order. A plugin for
 * QEMU's user mode:
 *
 *	qemu-x86_64 -plugin build/tests/reference_plugin.so,out=FILE,image=PATH PROGRAM
 *
 * FILE begins with the load address of image PATH and the address of the end of its last segment.
 * The latter is an address according to the program headers, as are addresses of instructions. Then
 * FILE has a line for each time that an instruction of the image referred to memory, regardless of
 * the number of accesses. The line has the instruction's address and the address that it referred
 * to, in the process. All are hexadecimal. Only one thread of the first process is traced.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/eval/truth/guest_image.h"
#include "tests/eval/truth/qemu_plugin.h"

struct reference {
	uint64_t address;
	bool told;
};

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static FILE *out;
static char *image_path;
static pid_t first_pid;
static struct guest_file image;

static void die(const char *what)
{
	fprintf(stderr, "reference_plugin: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void begins(unsigned int vcpu, void *data)
{
	(void)vcpu;
	((struct reference *)data)->told = false;
}

static void refers(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	struct reference *reference = data;

	(void)vcpu;
	(void)info;
	if (reference->told || getpid() != first_pid)
		return;
	reference->told = true;
	fprintf(out, "%" PRIx64 " %" PRIx64 "\n", reference->address, address);
}

/* The first instruction of the image is translated before any instruction refers to memory. */
static void image_open(uint32_t number, uint64_t at, uint64_t offset)
{
	image = guest_file_open(number);
	fprintf(out, "%" PRIx64 " %" PRIx64 "\n", at - guest_file_address(&image, offset),
		guest_file_end(&image));
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t at = qemu_plugin_insn_vaddr(insn);
		struct guest_place place = guest_image_place(qemu_plugin_insn_haddr(insn), at);
		struct reference *reference;

		if (strcmp(guest_image_path(place.image), image_path) != 0)
			continue;
		if (image.elf == NULL)
			image_open(place.image, at, place.offset);
		reference = calloc(1, sizeof(*reference));
		if (reference == NULL)
			die("memory");
		reference->address = guest_file_address(&image, place.offset);
		qemu_plugin_register_vcpu_insn_exec_cb(insn, begins, QEMU_PLUGIN_CB_NO_REGS,
						       reference);
		qemu_plugin_register_vcpu_mem_cb(insn, refers, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, reference);
	}
}

static void ended(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	if (getpid() == first_pid && fclose(out) != 0)
		die("out");
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
					   char **argv)
{
	(void)info;
	if (argc != 2 || strncmp(argv[0], "out=", 4) != 0 || strncmp(argv[1], "image=", 6) != 0) {
		fprintf(stderr, "reference_plugin: needs out=FILE,image=PATH\n");
		return -1;
	}
	out = fopen(argv[0] + 4, "w");
	image_path = strdup(argv[1] + 6);
	if (out == NULL || image_path == NULL)
		die(argv[0] + 4);
	first_pid = getpid();
	guest_image_watch(id);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, ended, NULL);
	return 0;
}
