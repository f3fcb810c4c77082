// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reference timing: how long each instruction of a program takes on an in-order machine, and why. A
 * plugin for QEMU's user mode that feeds the executed instructions, in order, into a simulated
 * pipeline (sim_pipeline.h):
 *
 *	qemu-alpha -plugin build/tests/sim_plugin.so,out=FILE[,edges=FILE]
 *		[,machine=NAME][,budget=SAMPLES:SEED|,sample=PERIOD:SEED]...[,NUMBER=VALUE]...
 *	PROGRAM
 *
 * - out: the results; sim_report.h has the format
 * - edges: exact edges, as from count_plugin.c
 * - machine: alpha21164 (for Alpha programs), cortex-a53 (for arm64 programs)
 * - budget: a sampler that takes about SAMPLES samples, spread over the run; up to 64 samplers
 * - sample: a sampler with a mean period in cycles, a U[60K,64K] for 62000
 * - NUMBER: changes the machine, for example l1d.bytes=16384, latency.load=3
 *
 * Only the first thread's instructions are simulated. Children of fork() write to FILE.PID.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/eval/truth/edge_counts.h"
#include "tests/eval/truth/qemu_plugin.h"
#include "tests/eval/truth/sim_report.h"

#define BUCKETS (1U << 16)
#define ACCESSES 4096
#define SETTINGS 64

/* A block that QEMU translated. */
struct block {
	struct edge_block *edges;
	size_t count;
	struct sim_insn *insns[];
};

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for the translation callbacks */
static struct sim_insn *buckets[BUCKETS];
static size_t insn_total;
static struct sim_machine machine;
static struct sim_samplers samplers;
static struct sim_pipeline pipeline;
static struct block *running;
static struct sim_access accesses[ACCESSES];
static uint32_t access_count;
static bool second_thread;
static struct sim_setting settings[SETTINGS];
static size_t setting_count;
static const char *out_path;
static const char *edges_path;
static const char *target;
static pid_t first_pid;

static void die(const char *what)
{
	fprintf(stderr, "sim_plugin: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void *checked(void *memory)
{
	if (!memory)
		die("memory");
	return memory;
}

/* Code that replaced other code at an address is another instruction. */
static struct sim_insn *insn_get(const struct qemu_plugin_insn *from)
{
	uint64_t pc = qemu_plugin_insn_vaddr(from);
	struct sim_insn **bucket = &buckets[pc / 4 % BUCKETS], *insn;
	struct guest_place place = guest_image_place(
		qemu_plugin_insn_haddr((struct qemu_plugin_insn *)(uintptr_t)from), pc);
	uint32_t word;

	memcpy(&word, qemu_plugin_insn_data(from), sizeof(word));
	for (insn = *bucket; insn; insn = insn->next) {
		if (insn->pc == pc && insn->word == word && insn->place.image == place.image)
			return insn;
	}
	insn = checked(calloc(1, sizeof(*insn)));
	insn->pc = pc;
	insn->word = word;
	insn->place = place;
	insn->op = machine.decode(word);
	insn->next = *bucket;
	*bucket = insn;
	insn_total++;
	return insn;
}

/* Simulate the block that ran, now that its successor is known. */
static void run(uint64_t next)
{
	uint32_t i, first = 0, last;

	for (i = 0; i < running->count; i++) {
		for (last = first; last < access_count && accesses[last].insn == i; last++)
			;
		sim_pipeline_step(&pipeline, running->insns[i],
				  i + 1 < running->count ? running->insns[i + 1]->pc : next,
				  accesses + first, last - first);
		first = last;
	}
	access_count = 0;
}

static void executed(unsigned int vcpu, void *data)
{
	struct block *block = data;

	if (vcpu != 0)
		return;
	if (running)
		run(block->insns[0]->pc);
	running = block;
	if (block->edges) {
		edge_block_began(vcpu, block->edges);
		edge_block_ended(vcpu, block->edges);
	}
}

static void accessed(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	(void)info;
	if (vcpu == 0 && access_count < ACCESSES)
		accesses[access_count++] = (struct sim_access){address, (uint32_t)(uintptr_t)data};
}

static struct edge_block *edges_of(const struct qemu_plugin_tb *tb, const struct block *block)
{
	struct qemu_plugin_insn *end = qemu_plugin_tb_get_insn(tb, block->count - 1);

	if (!edges_path)
		return NULL;
	return checked(edge_block_create(
		block->insns[0]->place, block->insns[block->count - 1]->place,
		edge_kind_of(target, qemu_plugin_insn_data(end), qemu_plugin_insn_size(end)),
		(uint32_t)block->count));
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t count = qemu_plugin_tb_n_insns(tb), i;
	struct block *block;

	(void)id;
	pthread_mutex_lock(&lock);
	block = checked(calloc(1, sizeof(*block) + count * sizeof(*block->insns)));
	block->count = count;
	for (i = 0; i < count; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		block->insns[i] = insn_get(insn);
		qemu_plugin_register_vcpu_mem_cb(insn, accessed, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, (void *)i);
	}
	block->edges = edges_of(tb, block);
	qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, QEMU_PLUGIN_CB_NO_REGS, block);
	pthread_mutex_unlock(&lock);
}

static void vcpu_began(qemu_plugin_id_t id, unsigned int vcpu)
{
	(void)id;
	if (vcpu > 0)
		second_thread = true;
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

static void report_write(void)
{
	struct sim_report report = {
		.target = target,
		.racy = second_thread,
		.pipeline = &pipeline,
		.settings = settings,
		.setting_count = setting_count,
		.insns = checked(calloc(insn_total + 1, sizeof(struct sim_insn *))),
	};
	struct sim_insn *insn;
	FILE *file = out_open(out_path);
	size_t i;

	for (i = 0; i < BUCKETS; i++) {
		for (insn = buckets[i]; insn; insn = insn->next)
			report.insns[report.count++] = insn;
	}
	if (sim_report_write(file, &report) != 0 || fclose(file) != 0)
		die(out_path);
	free(report.insns);
}

static void edges_write(void)
{
	FILE *file = out_open(edges_path);

	fprintf(file, "edges %s %s\n", target, second_thread ? "racy" : "exact");
	if (edge_counts_write(file, guest_image_paths()) != 0 || fclose(file) != 0)
		die(edges_path);
}

static void ended(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	pthread_mutex_lock(&lock);
	if (running)
		run(0);
	running = NULL;
	sim_samplers_end(&samplers, pipeline.now);
	report_write();
	if (edges_path)
		edges_write();
	pthread_mutex_unlock(&lock);
}

static int option_sampler(const char *value, bool budget)
{
	unsigned long long number, seed;
	char end;

	if (sscanf(value, "%llu:%llu%c", &number, &seed, &end) != 2)
		return -EINVAL;
	return sim_samplers_add(&samplers, budget ? 0 : number, budget ? number : 0, seed);
}

static int option(char *name)
{
	char *value = strchr(name, '=');

	if (!value)
		return -EINVAL;
	*value++ = '\0';
	if (strcmp(name, "out") == 0)
		out_path = checked(strdup(value));
	else if (strcmp(name, "edges") == 0)
		edges_path = checked(strdup(value));
	else if (strcmp(name, "machine") == 0)
		return sim_machine_get(&machine, value);
	else if (strcmp(name, "sample") == 0)
		return option_sampler(value, false);
	else if (strcmp(name, "budget") == 0)
		return option_sampler(value, true);
	else if (setting_count == SETTINGS)
		return -E2BIG;
	else
		settings[setting_count++] = (struct sim_setting){
			checked(strdup(name)),
			checked(strdup(value)),
		};
	return 0;
}

static int options(int argc, char **argv)
{
	const char *name = sim_machine_default(target);
	size_t k;
	int i, r;

	sim_samplers_init(&samplers);
	if (!name || sim_machine_get(&machine, name) != 0)
		return -ENOENT;
	for (i = 0; i < argc; i++) {
		r = option(argv[i]);
		if (r != 0)
			return r;
	}
	for (k = 0; k < setting_count; k++) {
		r = sim_machine_set(&machine, settings[k].name, settings[k].value);
		if (r != 0)
			return r;
	}
	if (!out_path || strcmp(machine.target, target) != 0)
		return -EINVAL;
	return sim_machine_check(&machine);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	int r;

	target = checked(strdup(info->target_name));
	r = info->system_emulation ? -EINVAL : options(argc, argv);
	if (r == 0)
		r = sim_pipeline_init(&pipeline, &machine, &samplers);
	if (r != 0) {
		fprintf(stderr,
			"sim_plugin: %s; user mode of alpha or aarch64; needs out=FILE, may have "
			"edges=FILE, machine=NAME, budget=SAMPLES:SEED, sample=PERIOD:SEED, "
			"NUMBER=VALUE\n",
			strerror(-r));
		return -1;
	}
	first_pid = getpid();
	qemu_plugin_register_vcpu_init_cb(id, vcpu_began);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	guest_image_watch(id);
	qemu_plugin_register_atexit_cb(id, ended, NULL);
	return 0;
}
