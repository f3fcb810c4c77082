// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count how often each instruction of the kernel ran in a whole machine. A plugin for QEMU's system
 * mode:
 *
 *	qemu-system-aarch64 ... -plugin build/tests/kernel_plugin.so,out=FILE
 *
 * FILE has a line "ADDRESS COUNT" (hexadecimal, decimal) for every instruction in the upper half of
 * the address space that ran at least once. Counts are exact on one CPU. The difference between two
 * runs that differ in one operation is the code that this operation executes.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/eval/truth/qemu_plugin.h"

#define BUCKETS (1U << 18)

struct count {
	struct count *next;
	uint64_t address;
	uint64_t executed;
};

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static struct count *buckets[BUCKETS];
static char *out_path;

static void die(const char *what)
{
	fprintf(stderr, "kernel_plugin: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* A block may be translated many times; an address has one count. */
static struct count *count_of(uint64_t address)
{
	struct count **bucket = &buckets[(address >> 2) % BUCKETS];
	struct count *count;

	for (count = *bucket; count != NULL; count = count->next) {
		if (count->address == address)
			return count;
	}
	count = calloc(1, sizeof(*count));
	if (count == NULL)
		die("count");
	count->address = address;
	count->next = *bucket;
	*bucket = count;
	return count;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t insns = qemu_plugin_tb_n_insns(tb), i;

	(void)id;
	for (i = 0; i < insns; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t address = qemu_plugin_insn_vaddr(insn);

		if (address >> 63 != 0)
			qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
								   &count_of(address)->executed, 1);
	}
}

static void ended(qemu_plugin_id_t id, void *data)
{
	const struct count *count;
	FILE *out = fopen(out_path, "w");
	size_t i;

	(void)id;
	(void)data;
	if (out == NULL)
		die(out_path);
	for (i = 0; i < BUCKETS; i++) {
		for (count = buckets[i]; count != NULL; count = count->next) {
			if (count->executed > 0)
				fprintf(out, "%016" PRIx64 " %" PRIu64 "\n", count->address,
					count->executed);
		}
	}
	if (fclose(out) != 0)
		die(out_path);
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
					   char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4) != 0) {
		fprintf(stderr, "kernel_plugin: needs out=FILE\n");
		return -1;
	}
	out_path = strdup(argv[0] + 4);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, ended, NULL);
	return 0;
}
