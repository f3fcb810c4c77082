// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/off_cpu.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/source/bpf/off_cpu.h"
#include "daemon/source/source_stack.h"
#include "daemon/source/stack_copy_read.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "loader-hook/bpf/bpf_machine.h"

/* Warnings in bpftool's generated code. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#include "daemon/source/bpf/off_cpu.skel.h"
#pragma GCC diagnostic pop

#define THRESHOLD_MIN_NS UINT64_C(10000)
#define THRESHOLD_INITIAL_NS NS_PER_MS
#define THRESHOLD_MAX_NS NS_PER_SECOND
/* Interval at which the threshold is adapted. */
#define FOLLOW_NS (100 * NS_PER_MS)
/* Records that the iterator makes before the ring is emptied. */
#define SLEEPERS_AT_ONCE 16

enum {
	LINK_SWITCH,
	LINK_FINISH,
	LINK_FORK,
	LINKS
};

/*
 * @cpus:        that are possible
 * @has_tracepoint: stacks are copied at sched_exit_tp; otherwise at a kprobe
 * @followed_ns: when the threshold was last adapted
 * @spent_ns:    time of the programs up to then
 * @read_ns:     time spent on reading since then
 * @paused_ns:   total length of pauses that have ended
 * @pause_ns:    begin of the current pause; 0: none. @resume_ns: its end
 */
struct off_cpu {
	struct off_cpu_config config;
	struct off_cpu_bpf *skeleton;
	struct ring_buffer *ring;
	struct bpf_link *links[LINKS];
	struct bpf_link *sleepers;
	bool has_tracepoint;
	uint32_t cpus;
	const struct source_sink *sink;
	uint64_t synced_ns;
	uint64_t threshold_max_ns;
	uint64_t followed_ns;
	uint64_t spent_ns;
	uint64_t read_ns;
	uint64_t paused_ns;
	uint64_t pause_ns;
	uint64_t resume_ns;
	uint64_t malformed;
	uint64_t records;
	uint64_t sleeping;
	bool running;
};

static bool record_is_valid(const struct off_cpu_record *record, size_t bytes)
{
	return bytes >= offsetof(struct off_cpu_record, copy.stack) &&
	       record->state < OFF_CPU_STATES && record->length_ns > 0 &&
	       record->ready_ns <= record->length_ns && record->length_ns <= record->sample_ns;
}

static uint64_t scaled(uint64_t value, uint64_t numerator, uint64_t denominator)
{
	return (uint64_t)((unsigned __int128)value * numerator / denominator);
}

/* Image events up to the time of the record must have been processed before it is unwound. */
static int record_take(void *context, void *data, size_t bytes)
{
	struct off_cpu *off_cpu = context;
	const struct off_cpu_config *config = &off_cpu->config;
	const struct off_cpu_record *record = data;
	struct source_stack stack;
	uint64_t waited_ns;

	if (!record_is_valid(record, bytes) ||
	    !stack_copy_read(&stack, &record->copy,
			     bytes - offsetof(struct off_cpu_record, copy))) {
		off_cpu->malformed++;
		return 0;
	}
	if (record->copy.time_ns >= off_cpu->synced_ns) {
		off_cpu->synced_ns = clock_monotonic_ns();
		config->sync(config->context);
	}
	if (config->generation != NULL)
		stack.tag = dcpi_tag(
			record->copy.pid,
			config->generation(config->context, record->copy.pid, record->copy.time_ns),
			0);
	if (config->user_only)
		stack.kernel_count = 0;
	waited_ns =
		scaled(record->length_ns - record->ready_ns, record->sample_ns, record->length_ns);
	stack.is_off_cpu = true;
	stack.off_cpu_ns[record->state] = waited_ns;
	stack.off_cpu_ns[OFF_CPU_RUNNABLE] += record->sample_ns - waited_ns;
	off_cpu->records++;
	off_cpu->sleeping += record->sleeps;
	off_cpu->sink->stack(off_cpu->sink->context, &stack);
	return 0;
}

/* Choose where stacks are copied. */
static int finish_find(struct off_cpu *off_cpu, struct error *err)
{
	bool has_tracepoint = libbpf_find_vmlinux_btf_id("sched_exit_tp", BPF_TRACE_RAW_TP) > 0;

	if (!has_tracepoint && access("/sys/bus/event_source/devices/kprobe", F_OK) < 0)
		return error_set(err, EOPNOTSUPP,
				 "this kernel has neither the tracepoint sched_exit_tp (Linux 6.16 "
				 "and later have it) nor kprobes");
	bpf_program__set_autoload(off_cpu->skeleton->progs.dcpi_off_cpu_exit, has_tracepoint);
	bpf_program__set_autoload(off_cpu->skeleton->progs.dcpi_off_cpu_finish, !has_tracepoint);
	off_cpu->has_tracepoint = has_tracepoint;
	return 0;
}

static int skeleton_load(struct off_cpu *off_cpu, struct error *err)
{
	struct off_cpu_bpf *skeleton = off_cpu->skeleton = off_cpu_bpf__open();
	int r;

	if (skeleton == NULL)
		return bpf_machine_load_error(errno, err);
	r = finish_find(off_cpu, err);
	if (r < 0)
		return r;
	skeleton->rodata->only_pid = off_cpu->config.only_pid;
	skeleton->rodata->only_wanted = off_cpu->config.target_pid != 0;
	skeleton->rodata->iterator_scratch = off_cpu->cpus;
	bpf_map__set_max_entries(skeleton->maps.records,
				 stack_copy_ring_bytes((uint32_t)sysconf(_SC_NPROCESSORS_ONLN)));
	bpf_map__set_max_entries(skeleton->maps.scratch, off_cpu->cpus + 1);
	r = off_cpu_bpf__load(skeleton);
	if (r < 0)
		return bpf_machine_load_error(-r, err);
	off_cpu->ring =
		ring_buffer__new(bpf_map__fd(skeleton->maps.records), record_take, off_cpu, NULL);
	if (off_cpu->ring == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	off_cpu->sleepers = bpf_program__attach_iter(skeleton->progs.dcpi_off_cpu_sleepers, NULL);
	if (off_cpu->sleepers == NULL)
		return error_set_errno(err, "this kernel cannot iterate over threads");
	return 0;
}

int off_cpu_open(struct off_cpu **ret, const struct off_cpu_config *config, struct error *err)
{
	struct off_cpu *off_cpu;
	int cpus = libbpf_num_possible_cpus(), r = bpf_machine_check(err);

	if (r < 0)
		return r;
	off_cpu = calloc(1, sizeof(*off_cpu));
	if (off_cpu == NULL || cpus <= 0) {
		free(off_cpu);
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	off_cpu->config = *config;
	off_cpu->cpus = (uint32_t)cpus;
	off_cpu->threshold_max_ns = THRESHOLD_INITIAL_NS;
	libbpf_set_print(NULL);
	r = skeleton_load(off_cpu, err);
	/* libbpf has read all kernel types, and freed them again. */
	malloc_trim(0);
	if (r < 0) {
		off_cpu_close(off_cpu);
		return r;
	}
	off_cpu->skeleton->data->threshold_ns = THRESHOLD_INITIAL_NS;
	*ret = off_cpu;
	return 0;
}

static void detach(struct off_cpu *off_cpu)
{
	for (int i = 0; i < LINKS; i++)
		bpf_link__destroy(take_ptr(off_cpu->links[i]));
}

void off_cpu_close(struct off_cpu *off_cpu)
{
	if (off_cpu == NULL)
		return;
	detach(off_cpu);
	bpf_link__destroy(off_cpu->sleepers);
	ring_buffer__free(off_cpu->ring);
	off_cpu_bpf__destroy(off_cpu->skeleton);
	free(off_cpu);
}

int off_cpu_fd(const struct off_cpu *off_cpu)
{
	return ring_buffer__epoll_fd(off_cpu->ring);
}

/* Run the iterator over all threads, and pass on its records. Return: 0 or -errno. */
static int threads_visit(struct off_cpu *off_cpu, enum off_cpu_step step)
{
	_cleanup_close_ int fd = bpf_iter_create(bpf_link__fd(off_cpu->sleepers));
	char written[SLEEPERS_AT_ONCE];
	ssize_t n = 1;

	if (fd < 0)
		return -errno;
	off_cpu->skeleton->bss->step = step;
	while (n > 0 || (n < 0 && errno == EAGAIN)) {
		n = read(fd, written, sizeof(written));
		if (step == OFF_CPU_RECORD)
			ring_buffer__consume(off_cpu->ring);
	}
	return n < 0 ? -errno : 0;
}

/* Compilers rename a function whose parameters they change. */
static struct bpf_link *finish_attach(struct off_cpu *off_cpu)
{
	static const char *const names[] = {"finish_task_switch", "finish_task_switch.isra.0"};
	struct off_cpu_bpf *skeleton = off_cpu->skeleton;
	struct bpf_link *link = NULL;

	if (off_cpu->has_tracepoint)
		return bpf_program__attach(skeleton->progs.dcpi_off_cpu_exit);
	for (size_t i = 0; link == NULL && i < sizeof(names) / sizeof(*names); i++)
		link = bpf_program__attach_kprobe(skeleton->progs.dcpi_off_cpu_finish, false,
						  names[i]);
	return link;
}

static int attach(struct off_cpu *off_cpu)
{
	struct off_cpu_bpf *skeleton = off_cpu->skeleton;
	struct bpf_link **links = off_cpu->links;

	if (off_cpu->config.target_pid != 0)
		links[LINK_FORK] = bpf_program__attach(skeleton->progs.dcpi_off_cpu_fork);
	links[LINK_FINISH] = finish_attach(off_cpu);
	links[LINK_SWITCH] = bpf_program__attach(skeleton->progs.dcpi_off_cpu_switch);
	if (links[LINK_SWITCH] != NULL && links[LINK_FINISH] != NULL &&
	    (links[LINK_FORK] != NULL || off_cpu->config.target_pid == 0))
		return 0;
	return -errno;
}

/* Mark the thread of the target; it is not measured until it leaves its CPU again. */
static int target_mark(struct off_cpu *off_cpu)
{
	const struct off_cpu_thread thread = {.since_ns = 0};
	_cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, (pid_t)off_cpu->config.target_pid, 0);

	if (fd < 0 || bpf_map_update_elem(bpf_map__fd(off_cpu->skeleton->maps.threads), &fd,
					  &thread, BPF_ANY) < 0)
		return -errno;
	return 0;
}

/* Begin another round: only intervals that begin in it are measured. */
static int round_begin(struct off_cpu *off_cpu)
{
	int r;

	off_cpu->skeleton->bss->off_cpu_round++;
	r = attach(off_cpu);
	return r == 0 ? threads_visit(off_cpu, OFF_CPU_BEGIN) : r;
}

int off_cpu_start(struct off_cpu *off_cpu, struct error *err)
{
	int r = round_begin(off_cpu);

	if (r == 0 && off_cpu->config.target_pid != 0)
		r = target_mark(off_cpu);
	if (r < 0) {
		detach(off_cpu);
		errno = -r;
		return error_set_errno(err, "cannot attach the BPF programs of off-CPU time");
	}
	off_cpu->running = true;
	off_cpu->followed_ns = clock_monotonic_ns();
	return 0;
}

/* Return the sums over all CPUs; zero if there is no memory. */
static struct off_cpu_counts counts_sum(const struct off_cpu *off_cpu)
{
	struct off_cpu_counts sum = {.intervals = 0};
	_cleanup_free_ struct off_cpu_counts *all = calloc(off_cpu->cpus, sizeof(*all));
	uint32_t key = 0;

	if (all == NULL ||
	    bpf_map_lookup_elem(bpf_map__fd(off_cpu->skeleton->maps.counts), &key, all) < 0)
		return sum;
	for (uint32_t i = 0; i < off_cpu->cpus; i++) {
		sum.intervals += all[i].intervals;
		sum.below += all[i].below;
		sum.lost += all[i].lost;
		sum.lost_ns += all[i].lost_ns;
		sum.untracked += all[i].untracked;
		sum.spent_ns += all[i].spent_ns;
		sum.switches += all[i].switches;
	}
	return sum;
}

static void pause_begin(struct off_cpu *off_cpu, uint64_t now_ns, uint64_t length_ns)
{
	detach(off_cpu);
	off_cpu->pause_ns = now_ns;
	off_cpu->resume_ns = now_ns + length_ns;
}

static void pause_end(struct off_cpu *off_cpu, uint64_t now_ns)
{
	if (round_begin(off_cpu) < 0) {
		detach(off_cpu);
		off_cpu->resume_ns = now_ns + NS_PER_SECOND;
		return;
	}
	now_ns = clock_monotonic_ns();
	off_cpu->paused_ns += now_ns - off_cpu->pause_ns;
	off_cpu->pause_ns = 0;
	off_cpu->followed_ns = now_ns;
}

static void threshold_set(struct off_cpu *off_cpu, uint64_t threshold_ns)
{
	if (threshold_ns < THRESHOLD_MIN_NS)
		threshold_ns = THRESHOLD_MIN_NS;
	if (threshold_ns > THRESHOLD_MAX_NS)
		threshold_ns = THRESHOLD_MAX_NS;
	if (threshold_ns > off_cpu->threshold_max_ns)
		off_cpu->threshold_max_ns = threshold_ns;
	off_cpu->skeleton->data->threshold_ns = threshold_ns;
}

/* Return the time spent since the previous call. */
static uint64_t spent_take(struct off_cpu *off_cpu)
{
	uint64_t spent_ns = counts_sum(off_cpu).spent_ns;
	uint64_t more_ns = spent_ns - off_cpu->spent_ns + off_cpu->read_ns;

	off_cpu->spent_ns = spent_ns;
	off_cpu->read_ns = 0;
	return more_ns;
}

/* Keep the time that is spent below the limit. */
static void limit_follow(struct off_cpu *off_cpu)
{
	uint64_t now_ns = clock_monotonic_ns(), elapsed_ns = now_ns - off_cpu->followed_ns;
	uint64_t threshold_ns = off_cpu->skeleton->data->threshold_ns, spent_ns, limit_ns;
	uint64_t permille = off_cpu->config.permille * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);

	if (off_cpu->pause_ns != 0) {
		if (now_ns >= off_cpu->resume_ns)
			pause_end(off_cpu, now_ns);
		return;
	}
	if (elapsed_ns < FOLLOW_NS)
		return;
	off_cpu->followed_ns = now_ns;
	spent_ns = spent_take(off_cpu);
	limit_ns = elapsed_ns * permille / 1000; /* at least 0.1 ms */
	if (spent_ns < limit_ns / 4)
		threshold_set(off_cpu, threshold_ns / 2);
	else if (spent_ns > limit_ns && threshold_ns < THRESHOLD_MAX_NS)
		threshold_set(off_cpu, threshold_ns * (1 + spent_ns / limit_ns));
	else if (spent_ns > limit_ns)
		pause_begin(off_cpu, now_ns, (spent_ns - limit_ns) * 1000 / permille);
}

void off_cpu_drain(struct off_cpu *off_cpu, bool all, bool last, const struct source_sink *sink)
{
	uint64_t begun_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (off_cpu == NULL || !off_cpu->running)
		return;
	off_cpu->sink = sink;
	ring_buffer__consume(off_cpu->ring);
	if (all && off_cpu->pause_ns == 0)
		threads_visit(off_cpu, OFF_CPU_RECORD);
	off_cpu->read_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns;
	if (!last) {
		limit_follow(off_cpu);
		return;
	}
	detach(off_cpu);
	ring_buffer__consume(off_cpu->ring);
	off_cpu->running = false;
}

uint64_t off_cpu_threshold_ns(const struct off_cpu *off_cpu)
{
	return off_cpu->threshold_max_ns;
}

void off_cpu_report(const struct off_cpu *off_cpu, source_counter_fn visit, void *context)
{
	struct off_cpu_counts counts;
	uint64_t paused_ns;

	if (off_cpu == NULL)
		return;
	counts = counts_sum(off_cpu);
	paused_ns = off_cpu->paused_ns;
	if (off_cpu->pause_ns != 0)
		paused_ns += clock_monotonic_ns() - off_cpu->pause_ns;
	visit(context, "stat", "off_cpu_switches", counts.switches);
	visit(context, "stat", "off_cpu_intervals", counts.intervals);
	visit(context, "stat", "off_cpu_below", counts.below);
	visit(context, "stat", "off_cpu_records", off_cpu->records);
	visit(context, "stat", "off_cpu_sleeping", off_cpu->sleeping);
	visit(context, "stat", "off_cpu_lost", counts.lost);
	visit(context, "stat", "off_cpu_lost_us", counts.lost_ns / NS_PER_US);
	visit(context, "stat", "off_cpu_untracked", counts.untracked);
	visit(context, "stat", "off_cpu_malformed", off_cpu->malformed);
	visit(context, "stat", "off_cpu_paused_ms", paused_ns / NS_PER_MS);
	visit(context, "stat", "off_cpu_spent_us", counts.spent_ns / NS_PER_US);
}
