// SPDX-License-Identifier: GPL-2.0-only
/* Test dcpi.ko's edges with a program whose branches are known. */
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "kmod/uapi/dcpi_snapshot.h"
#include "tests/qemu/device.h"
#include "tests/qemu/tap.h"

/*
 * A loop with one conditional branch that is taken in every fourth iteration; both paths have the
 * same length. The two direct jumps yield no edges.
 */
__asm__(".text\n"
	".globl loop_begin, loop_branch, loop_next, loop_taken, loop_end\n"
#if defined(__x86_64__)
	"loop_begin:\n"
	"	xorl %eax, %eax\n"
	"1:	incl %eax\n"
	"	movl %eax, -8(%rsp)\n"
	"	movl -8(%rsp), %ecx\n"
	"	testl $3, %ecx\n"
	"loop_branch:\n"
	"	je loop_taken\n"
	"loop_next:\n"
	"	movl %eax, %edx\n"
	"	jmp 1b\n"
	"loop_taken:\n"
	"	movl %eax, %edx\n"
	"	jmp 1b\n"
	"loop_end:\n"
#elif defined(__aarch64__)
	"loop_begin:\n"
	"	mov w0, #0\n"
	"1:	add w0, w0, #1\n"
	"	str w0, [sp, #-16]\n"
	"	ldr w1, [sp, #-16]\n"
	"	tst w1, #3\n"
	"loop_branch:\n"
	"	b.eq loop_taken\n"
	"loop_next:\n"
	"	mov w2, w0\n"
	"	b 1b\n"
	"loop_taken:\n"
	"	mov w2, w0\n"
	"	b 1b\n"
	"loop_end:\n"
#else
#error "a loop for this architecture is missing"
#endif
);

extern const char loop_begin[], loop_branch[], loop_next[], loop_taken[], loop_end[];

#define ADDRESS(symbol) ((uint64_t)(uintptr_t)(symbol))

static pid_t loop_start(int cpu)
{
	cpu_set_t set;
	pid_t pid = fork();

	if (pid == 0) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		sched_setaffinity(0, sizeof(set), &set);
		((void (*)(void))ADDRESS(loop_begin))();
	}
	return pid;
}

/**
 * struct edge_counts - edges of one process
 * @taken, @next: directions of its branch
 * @wrong:   edges that its code cannot take
 * @inside:  pairs with both ends in the loop
 * @others:  edges of other processes and the kernel
 */
struct edge_counts {
	uint32_t pid;
	uint64_t taken;
	uint64_t next;
	uint64_t wrong;
	uint64_t inside;
	uint64_t others;
};

static bool in_loop(uint64_t pc)
{
	return pc >= ADDRESS(loop_begin) && pc < ADDRESS(loop_end);
}

static void edge_count(void *context, const struct source_edge *edge)
{
	struct edge_counts *counts = context;
	uint64_t count = edge->count;
	bool branch = dcpi_tag_event(edge->tag) == DCPI_EVENT_BRANCH;

	if (dcpi_tag_pid(edge->tag) != counts->pid || !in_loop(edge->from))
		counts->others += count;
	else if (!branch)
		*(in_loop(edge->to) ? &counts->inside : &counts->wrong) += count;
	else if (edge->from == ADDRESS(loop_branch) && edge->to == ADDRESS(loop_taken))
		counts->taken += count;
	else if (edge->from == ADDRESS(loop_branch) && edge->to == ADDRESS(loop_next))
		counts->next += count;
	else
		counts->wrong += count;
}

static struct dcpi_config branch_config(uint32_t every)
{
	struct dcpi_config config = device_config(1024, 1024);

	config.flags = DCPI_START_BRANCHES;
	config.branch_every = every;
	return config;
}

/* Every sample in the loop yields an edge of its branch; one in four edges is taken. */
static bool branches_go_where_they_go(void)
{
	struct dcpi_config config = branch_config(1);
	struct edge_counts counts = {};
	struct dcpi_stats stats;
	struct device d;
	double n, share;

	CHECK(device_open(&d));
	counts.pid = (uint32_t)loop_start(1);
	sleep_ms(100);
	CHECK(device_start(&d, &config) == 0);
	d.edge = edge_count;
	d.edge_context = &counts;
	CHECK(device_wait(&d, 1, 0, 1000));
	CHECK(device_stop(&d) == 0);
	CHECK(device_accounted(&d));
	CHECK(device_drain_cpus(&d, NULL, NULL) == 0);
	CHECK(device_accounted(&d));
	CHECK(device_stats(&d, 1, &stats) == 0);
	n = (double)(counts.taken + counts.next);
	share = (double)counts.taken / n;
	printf("%llu interpreted, %llu edges; of the loop: %llu taken, %llu not, %llu wrong\n",
	       stats.branches_tried, stats.edges, (unsigned long long)counts.taken,
	       (unsigned long long)counts.next, (unsigned long long)counts.wrong);
	CHECK(counts.wrong == 0);
	CHECK(stats.branches_tried == stats.interrupts - stats.losses[DCPI_LOSS_NESTED]);
	CHECK(n > 0.7 * (double)stats.branches_tried, "%.0f", n);
	/*
	 * Five standard errors, plus 0.05 because the emulator does not interrupt at uniform times.
	 */
	CHECK(fabs(share - 0.25) < 5 * sqrt(0.25 * 0.75 / n) + 0.05, "share %.3f", share);
	return true;
}

/*
 * Every edge is accounted for, with the kernel's branches, page faults, and the smallest buffers.
 */
static bool edges_of_everything_are_accounted_for(void)
{
	struct dcpi_config config = branch_config(2);
	struct dcpi_stats s;
	struct device d;
	unsigned int round;

	config.table_entries = config.buffer_entries = 64;
	config.events = 2;
	config.event[1] = (struct dcpi_event){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.period_min = DCPI_PERIOD_MIN,
		.period_max = DCPI_PERIOD_MIN,
	};
	load_start(4);
	load_fault();
	CHECK(device_open(&d));
	CHECK(device_start(&d, &config) == 0);
	for (round = 0; round < 200; round++) {
		CHECK(device_drain_cpus(&d, NULL, NULL) == 0);
		sleep_ms(round % 16);
	}
	CHECK(device_stop(&d) == 0);
	CHECK(device_accounted(&d));
	CHECK(device_drain_cpus(&d, NULL, NULL) == 0);
	CHECK(device_accounted(&d));
	s = device_total(&d);
	printf("%llu interrupts, %llu interpreted, %llu edges, %llu lost\n", s.interrupts,
	       s.branches_tried, s.edges, s.edges_lost);
	CHECK(s.pending_edges == 0 && s.edges > 100);
	CHECK(s.edges * 10 > s.branches_tried * 3);
	CHECK(s.branches_tried > s.interrupts * 4 / 10 && s.branches_tried < s.interrupts * 6 / 10);
	return true;
}

/* Pairs consist of user code only; one interrupt in five is the second sample of a pair. */
static bool double_samples_are_pairs(void)
{
	struct dcpi_config config = device_config(1024, 1024);
	struct edge_counts counts = {};
	struct dcpi_stats stats;
	struct device d;
	int err;

	config.flags = DCPI_START_DOUBLE;
	config.double_every = 4;
	config.double_period = 200;
	config.event[0] = (struct dcpi_event){
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.flags = DCPI_EVENT_EXCLUDE_KERNEL,
		.period_min = 60000,
		.period_max = 64000,
	};
	CHECK(device_open(&d));
	counts.pid = (uint32_t)loop_start(1);
	sleep_ms(100);
	err = device_start(&d, &config);
	if (err == ENOENT || err == EOPNOTSUPP) {
		printf("no PMU here\n");
		return true;
	}
	CHECK(err == 0, "%d", err);
	d.edge = edge_count;
	d.edge_context = &counts;
	CHECK(device_wait(&d, 1, 0, 1000));
	CHECK(device_stop(&d) == 0);
	CHECK(device_drain_cpus(&d, NULL, NULL) == 0);
	CHECK(device_accounted(&d));
	CHECK(device_stats(&d, 1, &stats) == 0);
	printf("%llu interrupts, %llu second, %llu edges; %llu in the loop, %llu wrong\n",
	       stats.interrupts, stats.second, stats.edges, (unsigned long long)counts.inside,
	       (unsigned long long)counts.wrong);
	CHECK(counts.wrong == 0);
	CHECK(stats.second > stats.interrupts / 6 && stats.second < stats.interrupts / 4);
	CHECK(stats.edges <= stats.second && counts.inside > stats.second / 2);
	return true;
}

/* struct pair_counts - pairs of the loop's process; @wrong: those that its code cannot produce */
struct pair_counts {
	uint32_t pid;
	uint64_t pairs;
	uint64_t wrong;
	uint64_t seconds;
};

/* eax or w0, which the loop increments in each iteration */
#define COUNTER 0

/* The emulator may take both samples of a pair without executing an instruction in between. */
static void pair_count(struct pair_counts *counts, const struct dcpi_snapshot *first,
		       const struct dcpi_snapshot *second)
{
	uint32_t iterations = (uint32_t)(second->registers[COUNTER] - first->registers[COUNTER]);

	counts->seconds++;
	if (first->kind != DCPI_SNAPSHOT_FIRST || first->pid != counts->pid || !in_loop(first->pc))
		return;
	if (second->series == first->series && second->tid == counts->pid && in_loop(second->pc) &&
	    second->samples >= 1 && second->time_ns > first->time_ns && iterations < 1U << 31 &&
	    first->registers[DCPI_SNAPSHOT_SP] == second->registers[DCPI_SNAPSHOT_SP])
		counts->pairs++;
	else
		counts->wrong++;
}

/* Snapshots of a CPU: a second one directly follows its first one. */
static bool snapshots_take(struct device *d, uint32_t cpu, struct pair_counts *counts,
			   struct dcpi_snapshots *request)
{
	static struct dcpi_snapshot batch[DCPI_SNAPSHOTS_MAX];
	static struct dcpi_snapshot last[DEVICE_CPUS_MAX];

	*request = (struct dcpi_snapshots){
		.cpu = cpu, .capacity = DCPI_SNAPSHOTS_MAX, .snapshots = (uintptr_t)batch};
	CHECK(device_ioctl(d, DCPI_IOC_SNAPSHOTS, request) == 0);
	CHECK(request->count <= DCPI_SNAPSHOTS_MAX);
	for (uint32_t i = 0; i < request->count; i++) {
		CHECK(batch[i].cpu == cpu && batch[i].event == 0);
		if (batch[i].kind == DCPI_SNAPSHOT_SECOND)
			pair_count(counts, &last[cpu], &batch[i]);
		last[cpu] = batch[i];
	}
	return true;
}

/*
 * Pairs of samples of a loop differ by whole iterations, and each pair that begins is accounted
 * for.
 */
static bool pairs_count_iterations(void)
{
	struct dcpi_config config = branch_config(8);
	struct dcpi_snapshots request;
	struct pair_counts counts = {};
	uint64_t begun = 0, ended = 0;
	struct device d;
	unsigned int round;
	uint32_t cpu;

	config.flags |= DCPI_START_SNAPSHOTS;
	CHECK(device_open(&d));
	counts.pid = (uint32_t)loop_start(1);
	CHECK(device_start(&d, &config) == 0);
	for (round = 0; round < 2000 && counts.pairs < 100; round++) {
		CHECK(device_drain_cpus(&d, NULL, NULL) == 0);
		for (cpu = 0; cpu < d.cpus; cpu++)
			CHECK(snapshots_take(&d, cpu, &counts, &request));
		sleep_ms(20);
	}
	CHECK(device_stop(&d) == 0);
	for (cpu = 0; cpu < d.cpus; cpu++) {
		CHECK(snapshots_take(&d, cpu, &counts, &request));
		begun += request.begun;
		ended += request.waiting + request.ended + request.expired + request.missed_second;
	}
	printf("%llu pairs of the loop, %llu wrong, %llu begun\n", (unsigned long long)counts.pairs,
	       (unsigned long long)counts.wrong, (unsigned long long)begun);
	CHECK(counts.pairs >= 100 && counts.wrong == 0);
	CHECK(begun == ended + counts.seconds);
	return true;
}

int main(void)
{
	static const struct tap_test tests[] = {
		TAP_TEST(branches_go_where_they_go),
		TAP_TEST(edges_of_everything_are_accounted_for),
		TAP_TEST(double_samples_are_pairs),
		TAP_TEST(pairs_count_iterations),
	};

	return tap_main(tests, sizeof(tests) / sizeof(tests[0]));
}
