// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reference counts: how often each instruction of a program ran. A plugin for QEMU's user mode, for
 * any guest:
 *
 *	qemu-aarch64 -plugin build/tests/count_plugin.so,out=FILE[,edges=FILE][,threads=on] PROGRAM
 *
 * Counts are exact: an instruction counts when it begins to execute, even if it then faults. A
 * program with threads needs threads=on, which counts with atomic operations (slower). Without it,
 * the first line of FILE reports if there was more than one thread; counts may then be too low.
 * Each forked process has separate counts: children write to FILE.PID.
 *
 * FILE is text, and sorted:
 *
 *	counts TARGET exact|racy
 *	image PATH
 *	OFFSET ADDRESS SIZE COUNT
 *	...
 *
 * for every instruction that was executed or at least translated: its offset in the file and its
 * virtual address according to the file's program headers (hexadecimal), its bytes, and its count.
 * Code outside of files is in an image named "[anonymous]", by its address in the process. Counts
 * outlive mappings: an image that is loaded twice is one image.
 *
 * The edges file gets the exact edges (tests/eval/truth/edge_counts.h), after a line "edges TARGET
 * exact|racy".
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/eval/truth/edge_counts.h"
#include "tests/eval/truth/guest_image.h"
#include "tests/eval/truth/qemu_plugin.h"

#define BUCKETS (1U << 16)

struct count {
	struct count *next;
	struct guest_place place;
	uint32_t size;
	_Atomic uint64_t executed;
};

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for all data below except the counts */
static struct count *buckets[BUCKETS];
static size_t count_total;
static char *out_path;
static char *edges_path;
static char *target;
static bool threads;
static bool second_thread;
static pid_t first_pid;

static void die(const char *what)
{
	fprintf(stderr, "count_plugin: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void *checked(void *memory)
{
	if (!memory)
		die("memory");
	return memory;
}

static struct count *count_get(struct guest_place place, uint32_t size)
{
	struct count **bucket =
		&buckets[((place.offset >> 1) ^ place.image * 2654435761U) % BUCKETS];
	struct count *count;

	for (count = *bucket; count; count = count->next) {
		if (count->place.image == place.image && count->place.offset == place.offset)
			return count;
	}
	count = checked(calloc(1, sizeof(*count)));
	count->place = place;
	count->size = size;
	count->next = *bucket;
	*bucket = count;
	count_total++;
	return count;
}

static void executed(unsigned int vcpu, void *data)
{
	struct count *count = data;

	(void)vcpu;
	atomic_fetch_add_explicit(&count->executed, 1, memory_order_relaxed);
}

static void count_register(struct qemu_plugin_insn *insn, struct count *count)
{
	if (threads)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, executed, QEMU_PLUGIN_CB_NO_REGS,
						       count);
	else
		qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
							   &count->executed, 1);
}

/* For a block of one instruction, both callbacks are called, in this order. */
static void edge_register(struct qemu_plugin_tb *tb, const struct count *first,
			  const struct count *last)
{
	size_t total = qemu_plugin_tb_n_insns(tb);
	struct qemu_plugin_insn *end = qemu_plugin_tb_get_insn(tb, total - 1);
	struct edge_block *block = checked(edge_block_create(
		first->place, last->place,
		edge_kind_of(target, qemu_plugin_insn_data(end), qemu_plugin_insn_size(end)),
		(uint32_t)total));

	qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(tb, 0), edge_block_began,
					       QEMU_PLUGIN_CB_NO_REGS, block);
	qemu_plugin_register_vcpu_insn_exec_cb(end, edge_block_ended, QEMU_PLUGIN_CB_NO_REGS,
					       block);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	struct count *first = NULL, *count = NULL;
	size_t i;

	(void)id;
	pthread_mutex_lock(&lock);
	for (i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		struct guest_place place = guest_image_place(qemu_plugin_insn_haddr(insn),
							     qemu_plugin_insn_vaddr(insn));

		count = count_get(place, (uint32_t)qemu_plugin_insn_size(insn));
		count_register(insn, count);
		if (!first)
			first = count;
	}
	if (edges_path && first)
		edge_register(tb, first, count);
	pthread_mutex_unlock(&lock);
}

static void vcpu_began(qemu_plugin_id_t id, unsigned int vcpu)
{
	(void)id;
	if (vcpu > 0)
		second_thread = true;
}

static int count_order(const void *a, const void *b)
{
	const struct count *x = *(struct count *const *)a, *y = *(struct count *const *)b;

	if (x->place.image != y->place.image)
		return strcmp(guest_image_path(x->place.image), guest_image_path(y->place.image));
	return x->place.offset < y->place.offset ? -1 : x->place.offset > y->place.offset;
}

static void image_write(FILE *out, struct count **counts, size_t total)
{
	struct guest_file file = guest_file_open(counts[0]->place.image);
	size_t i;

	fprintf(out, "image %s\n", guest_image_path(counts[0]->place.image));
	for (i = 0; i < total; i++) {
		uint64_t offset = counts[i]->place.offset;

		fprintf(out, "%" PRIx64 " %" PRIx64 " %u %" PRIu64 "\n", offset,
			guest_file_address(&file, offset), counts[i]->size,
			atomic_load(&counts[i]->executed));
	}
	guest_file_close(&file);
}

static FILE *out_open(const char *name)
{
	char path[4096];
	FILE *file;

	if (getpid() == first_pid)
		snprintf(path, sizeof(path), "%s", name);
	else
		snprintf(path, sizeof(path), "%s.%d", name, getpid());
	file = fopen(path, "we");
	if (!file)
		die(path);
	return file;
}

static const char *exactness(void)
{
	return second_thread && !threads ? "racy" : "exact";
}

static void edges_write(void)
{
	FILE *file = out_open(edges_path);

	fprintf(file, "edges %s %s\n", target, exactness());
	if (edge_counts_write(file, guest_image_paths()) != 0 || fclose(file) != 0)
		die(edges_path);
}

static void ended(qemu_plugin_id_t id, void *data)
{
	struct count **counts, *count;
	size_t n = 0, i, first;
	FILE *file;

	(void)id;
	(void)data;
	pthread_mutex_lock(&lock);
	counts = checked(calloc(count_total + 1, sizeof(struct count *)));
	for (i = 0; i < BUCKETS; i++) {
		for (count = buckets[i]; count; count = count->next)
			counts[n++] = count;
	}
	qsort(counts, n, sizeof(struct count *), count_order);
	file = out_open(out_path);
	fprintf(file, "counts %s %s\n", target, exactness());
	for (i = first = 0; i < n; first = i) {
		while (i < n && counts[i]->place.image == counts[first]->place.image)
			i++;
		image_write(file, counts + first, i - first);
	}
	if (fclose(file) != 0)
		die(out_path);
	free(counts);
	if (edges_path)
		edges_write();
	pthread_mutex_unlock(&lock);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	bool good = true;
	int i;

	for (i = 0; i < argc; i++) {
		if (strncmp(argv[i], "out=", 4) == 0)
			out_path = argv[i] + 4;
		else if (strncmp(argv[i], "edges=", 6) == 0)
			edges_path = checked(strdup(argv[i] + 6));
		else if (strcmp(argv[i], "threads=on") == 0)
			threads = true;
		else
			good = false;
	}
	if (!good || !out_path || info->system_emulation) {
		fprintf(stderr,
			"count_plugin: user mode only; needs out=FILE[,edges=FILE][,threads=on]\n");
		return -1;
	}
	out_path = checked(strdup(out_path));
	target = checked(strdup(info->target_name));
	first_pid = getpid();
	if (threads)
		edge_counts_lock();
	qemu_plugin_register_vcpu_init_cb(id, vcpu_began);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	guest_image_watch(id);
	qemu_plugin_register_atexit_cb(id, ended, NULL);
	return 0;
}
