// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure the x86-64 interpreter on samples of real programs: the cost per sample, the share of
 * samples that give an edge, and the share of these edges that are correct.
 *
 * The cost is that of the interpreter alone: the memory it read is recorded with each sample and
 * replayed from that record.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/eval/bench/bench.h"
#include "tests/fixtures/x86_program.h"
#include "tests/fixtures/x86_tracee.h"

enum {
	STOPS = 400,
	READS_MAX = 64,
	ROUNDS = 15,
	REPEATS = 50
};

struct recorded_read {
	bool there;
	uint8_t bytes[64];
};

struct recording {
	struct interpret_state state;
	uint32_t count;
	uint32_t at;
	struct recorded_read read[READS_MAX];
};

struct bench {
	struct recording *recordings;
	uint32_t count;
	uint32_t edges;
	uint32_t right;
	pid_t pid;
};

static bool read_recording(void *context, u64 address, void *to, size_t bytes)
{
	struct bench *bench = context;
	struct recording *recording = &bench->recordings[bench->count];
	struct recorded_read *entry;
	bool there = x86_program_read(&bench->pid, address, to, bytes);

	if (recording->count >= READS_MAX)
		abort();
	entry = &recording->read[recording->count++];
	entry->there = there;
	memcpy(entry->bytes, to, bytes);
	return there;
}

static bool read_recorded(void *context, u64 address, void *to, size_t bytes)
{
	struct recording *recording = context;
	const struct recorded_read *entry = &recording->read[recording->at++];

	(void)address;
	memcpy(to, entry->bytes, bytes);
	return entry->there;
}

static bool visit(void *context, pid_t pid, const struct user_regs_struct *stopped)
{
	struct bench *bench = context;
	struct recording *recording = &bench->recordings[bench->count];
	struct user_regs_struct regs = *stopped;
	struct interpret_state state;
	struct interpret_edge edge;
	enum interpret_end end;

	bench->pid = pid;
	recording->count = 0;
	x86_state_set(&recording->state, stopped);
	state = recording->state;
	end = interpret_x86_64(&state, read_recording, bench, &edge);
	bench->count++;
	if (end != INTERPRET_EDGE)
		return true;
	bench->edges++;
	while (edge.steps-- > 0) {
		if (!x86_program_step(pid, &regs))
			return false;
	}
	bench->right += regs.rip == edge.to;
	return true;
}

static double replay_ns(const struct bench *bench)
{
	double begin = bench_now_ns();
	uint32_t i, repeat;

	for (repeat = 0; repeat < REPEATS; repeat++) {
		for (i = 0; i < bench->count; i++) {
			struct interpret_state state = bench->recordings[i].state;
			struct interpret_edge edge;

			bench->recordings[i].at = 0;
			interpret_x86_64(&state, read_recorded, &bench->recordings[i], &edge);
		}
	}
	return (bench_now_ns() - begin) / REPEATS / bench->count;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void report(const char *workload, const struct bench *bench)
{
	double ns[ROUNDS];
	int i;

	for (i = 0; i < ROUNDS; i++)
		ns[i] = replay_ns(bench);
	qsort(ns, ROUNDS, sizeof(ns[0]), compare);
	bench_report("interpret_cost", "x86_64", workload, ns[ROUNDS / 2], "ns");
	bench_report("interpret_yield", "x86_64", workload, 100.0 * bench->edges / bench->count,
		     "%");
	if (bench->edges > 0)
		bench_report("interpret_right", "x86_64", workload,
			     100.0 * bench->right / bench->edges, "%");
}

int main(void)
{
	struct bench bench = {.recordings = calloc(STOPS, sizeof(struct recording))};
	const struct x86_program *program;

	if (bench.recordings == NULL)
		return 2;
	for (program = x86_programs; program->name != NULL; program++) {
		bench.count = bench.edges = bench.right = 0;
		x86_program_run(program, STOPS, visit, &bench);
		if (bench.count > 0)
			report(program->name, &bench);
	}
	free(bench.recordings);
	return 0;
}
