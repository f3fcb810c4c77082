// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/perf/side_band.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/online_cpus.h"
#include "lib/epoll_set.h"
#include "loader-hook/perf/perf_ring.h"
#include "loader-hook/perf/ring_reader.h"
#include "loader-hook/perf/side_band_record.h"
#include "loader-hook/perf/thread_count.h"

/*
 * The fork, exec and exit of a process take about 1 KiB of records. The largest ring of a CPU holds
 * one second of a storm of such processes, in case the reader is late by that much.
 */
#define MACHINE_BYTES_MAX (1U << 20)
#define MACHINE_BYTES_MIN (1U << 18)
/* For all CPUs together. */
#define MACHINE_BYTES (64U << 20)
/* All rings of a user count against perf_event_mlock_kb, including the sampler's. */
#define TARGET_BYTES (1U << 16)
/* Records of kernel code are rare; they are read at each drain. */
#define KERNEL_BYTES (1U << 14)
/* The reader is woken when a quarter of a ring is full, or this many bytes wait. */
#define WAKE_BYTES (1U << 16)

/*
 * @online:   the CPUs that are recorded
 * @rings:    by CPU number; NULL: not recorded
 * @heap:     during a drain: CPUs with a record waiting, the one with the oldest record on top
 * @times:    times of the waiting records, by CPU number
 * @gap_ns:   during a drain: start of the interval in which records may be missing or were
 *            malformed
 * @gaps:   number of drains with such an interval
 * @now_ns:   start of this drain or the last one
 * @since_ns: start of the drain before
 */
struct side_band {
	struct perf_event_attr attr;
	int target_pid;
	size_t ring_bytes;
	struct epoll_set *wakes;
	struct ring_reader *reader;
	struct online_cpus online;
	struct perf_ring *rings[CPU_LIST_MAX];
	const struct perf_event_header *waiting[CPU_LIST_MAX];
	uint64_t times[CPU_LIST_MAX];
	uint16_t heap[CPU_LIST_MAX];
	size_t heap_count;
	struct thread_count threads;
	uint64_t lost;
	uint64_t gap_ns;
	uint64_t gaps;
	image_event_fn handle;
	void *context;
	image_event_refuse_fn refuses;
	void *refuses_context;
	uint64_t now_ns;
	uint64_t since_ns;
};

CLEANUP_DEFINE(side_band, struct side_band *, side_band_close)

static size_t pages_of(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return bytes > page ? bytes / page : 1;
}

/* Size of the ring of one CPU if the whole machine is recorded; a power of two. */
static size_t machine_bytes(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	size_t bytes = MACHINE_BYTES_MAX;

	while (bytes > MACHINE_BYTES_MIN && bytes > MACHINE_BYTES / (cpus > 0 ? (size_t)cpus : 1))
		bytes /= 2;
	return bytes;
}

/*
 * Some records are not requested, because Linux makes one record for all listeners, modifies it for
 * each listener and does not restore it. A build-id for one listener marks the mmap records of
 * others as having one, and perf aborts on those. Records of kernel code (ksymbol, bpf_event and
 * text_poke) get longer by each listener's trailer, and perf script fails on them; see
 * set_kernel_attr().
 */
static void set_attr(struct perf_event_attr *attr, bool target, size_t ring_bytes)
{
	memset(attr, 0, sizeof(*attr));
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	attr->sample_type = PERF_SAMPLE_TIME;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->watermark = 1;
	attr->wakeup_watermark =
		(uint32_t)(ring_bytes / 4 < WAKE_BYTES ? ring_bytes / 4 : WAKE_BYTES);
	attr->mmap = 1;
	attr->mmap2 = 1;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->task = 1;
	if (target) {
		attr->inherit = 1;
		attr->disabled = 1;
		attr->enable_on_exec = 1;
		/* With these flags a user may record his own processes without privileges. */
		attr->exclude_kernel = 1;
		attr->exclude_hv = 1;
	}
}

/* Records without a trailer (sample_id_all) do not change those of other listeners. */
static void set_kernel_attr(struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	attr->ksymbol = 1;
}

/* Open a ring, which is made smaller if the user's limit of locked memory is exceeded. */
static int open_ring(struct side_band *band, struct perf_ring **ring, unsigned int cpu,
		     struct error *err)
{
	size_t least = band->ring_bytes < MACHINE_BYTES_MIN ? band->ring_bytes : MACHINE_BYTES_MIN;
	int result;

	for (;; band->ring_bytes /= 2) {
		result = perf_ring_open(ring, &band->attr, band->target_pid, (int)cpu,
					pages_of(band->ring_bytes), err);
		if ((result != -EPERM && result != -ENOMEM) || band->ring_bytes / 2 < least)
			return result;
	}
}

static int open_cpu(struct side_band *band, unsigned int cpu, struct error *err)
{
	struct perf_ring *ring;
	int result = open_ring(band, &ring, cpu, err);

	if (result < 0)
		return result;
	result = band->attr.ksymbol ? 0 : ring_reader_add(band->reader, ring, err);
	if (result < 0) {
		perf_ring_close(ring);
		return result;
	}
	band->rings[cpu] = ring;
	return 0;
}

/* Open the rings of the CPUs that are online at the start. */
static int open_cpus(struct side_band *band, struct error *err)
{
	uint32_t cpu;

	for (cpu = 0; cpu < band->online.end; cpu++) {
		int result = online_cpus_has(&band->online, cpu) ? open_cpu(band, cpu, err) : 0;

		/* The CPU went offline again; it is recorded when it comes back. */
		if (result == -ENODEV)
			cpu_list_remove(&band->online.list, cpu);
		else if (result < 0)
			return result;
	}
	return 0;
}

/* Note that records may be missing from @since_ns on. */
static void gap_from(struct side_band *band, uint64_t since_ns)
{
	if (since_ns < band->gap_ns)
		band->gap_ns = since_ns;
}

static int cpu_online(void *context, uint32_t cpu)
{
	return open_cpu(context, cpu, NULL);
}

/* The event of an offline CPU stays disabled; the CPU needs a new event when it comes back. */
static void cpu_offline(void *context, uint32_t cpu)
{
	struct side_band *band = context;

	if (!band->attr.ksymbol)
		ring_reader_remove(band->reader, band->rings[cpu]);
	perf_ring_close(band->rings[cpu]);
	band->rings[cpu] = NULL;
}

/*
 * An event that is found stopped has stopped at or before the previous check, but not before the
 * check preceding it.
 */
static bool cpu_has_stopped(void *context, uint32_t cpu)
{
	struct side_band *band = context;

	if (!perf_ring_stands(band->rings[cpu]))
		return false;
	gap_from(band, band->online.asked_before_ns);
	return true;
}

/*
 * Follow CPUs that went offline or came online. Events on a CPU that came online are unknown since
 * the last drain; so are those on a CPU that went offline, because the last drain left its youngest
 * records for this one. Not for a target: its inherited event cannot be added to existing children,
 * and loses none of its CPUs.
 */
static void follow_cpus(struct side_band *band, uint64_t drained_ns)
{
	static const struct online_cpus_user user = {cpu_online, cpu_offline, cpu_has_stopped};

	if (band->target_pid < 0 && online_cpus_follow(&band->online, &user, band) != 0)
		gap_from(band, drained_ns);
}

static int reader_open(struct side_band *band, struct error *err)
{
	int result = ring_reader_open(&band->reader, err);

	return result < 0 ? result
			  : epoll_set_add(band->wakes, ring_reader_fd(band->reader),
					  "an event descriptor", err);
}

static int band_open(struct side_band **ret, uint32_t target_pid,
		     const struct perf_event_attr *attr, size_t ring_bytes, struct error *err)
{
	_cleanup_(cleanup_side_band) struct side_band *band = calloc(1, sizeof(*band));
	int result;

	if (band == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	band->online.fd = -1;
	band->target_pid = target_pid != 0 ? (int)target_pid : -1;
	band->ring_bytes = ring_bytes;
	band->attr = *attr;
	result = epoll_set_open(&band->wakes, err);
	if (result == 0 && !attr->ksymbol)
		result = reader_open(band, err);
	if (result == 0)
		result = online_cpus_open(&band->online, err);
	if (result < 0)
		return result;
	band->now_ns = clock_monotonic_ns();
	result = open_cpus(band, err);
	if (result < 0)
		return result;
	*ret = take_ptr(band);
	return 0;
}

int side_band_open(struct side_band **ret, uint32_t target_pid, struct error *err)
{
	size_t ring_bytes = target_pid != 0 ? TARGET_BYTES : machine_bytes();
	struct perf_event_attr attr;

	set_attr(&attr, target_pid != 0, ring_bytes);
	return band_open(ret, target_pid, &attr, ring_bytes, err);
}

int side_band_open_kernel_code(struct side_band **ret, struct error *err)
{
	struct perf_event_attr attr;

	set_kernel_attr(&attr);
	return band_open(ret, 0, &attr, KERNEL_BYTES, err);
}

void side_band_close(struct side_band *band)
{
	uint32_t cpu;

	if (band == NULL)
		return;
	for (cpu = 0; cpu < band->online.end; cpu++) {
		if (band->rings[cpu] != NULL)
			cpu_offline(band, cpu);
	}
	ring_reader_close(band->reader);
	thread_count_deinit(&band->threads);
	epoll_set_close(band->wakes);
	online_cpus_close(&band->online);
	free(band);
}

int side_band_poll_fd(struct side_band *band)
{
	return epoll_set_fd(band->wakes);
}

void side_band_refuse(struct side_band *band, image_event_refuse_fn refuses, void *context)
{
	band->refuses = refuses;
	band->refuses_context = context;
}

static bool older(const struct side_band *band, size_t a, size_t b)
{
	return band->times[band->heap[a]] < band->times[band->heap[b]];
}

static void swap(struct side_band *band, size_t a, size_t b)
{
	uint16_t cpu = band->heap[a];

	band->heap[a] = band->heap[b];
	band->heap[b] = cpu;
}

static void sift_down(struct side_band *band)
{
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= band->heap_count)
			return;
		if (child + 1 < band->heap_count && older(band, child + 1, child))
			child++;
		if (!older(band, child, i))
			return;
		swap(band, i, child);
		i = child;
	}
}

static void side_band_push(struct side_band *band, size_t cpu)
{
	size_t i = band->heap_count++;

	band->heap[i] = (uint16_t)cpu;
	while (i > 0 && older(band, i, (i - 1) / 2)) {
		swap(band, i, (i - 1) / 2);
		i = (i - 1) / 2;
	}
}

/* Records of kernel code carry no time: the code was made after the last drain began. */
static uint64_t record_time(const struct side_band *band, const struct perf_event_header *record)
{
	return band->attr.ksymbol ? band->since_ns : side_band_record_time(record);
}

/*
 * Read a CPU's next record. A record made after the drain began is left for the next drain, because
 * a record on which it depends may be in a ring that was read before. A record with an impossible
 * time would be left forever, so it is dropped. Malformed records are dropped, too; any records may
 * then be missing since the previous one.
 */
static bool advance(struct side_band *band, size_t cpu)
{
	struct perf_ring *ring = band->rings[cpu];
	const struct perf_event_header *record;

	for (;; band->lost++) {
		record = perf_ring_next(ring);
		if (record == NULL) {
			if (perf_ring_dropped(ring) > 0) {
				band->lost++;
				gap_from(band, band->times[cpu]);
			}
			return false;
		}
		band->times[cpu] = record_time(band, record);
		if (band->times[cpu] <= band->now_ns + NS_PER_SECOND)
			break;
	}
	if (perf_ring_is_nearly_full(ring, false))
		gap_from(band, band->times[cpu]);
	if (band->times[cpu] > band->now_ns) {
		perf_ring_put_back(ring);
		return false;
	}
	band->waiting[cpu] = record;
	return true;
}

static void side_band_deliver(struct side_band *band, const struct perf_event_header *header)
{
	struct side_band_record record;
	uint32_t pid;

	if (band->refuses != NULL && side_band_record_mapper(header, &pid) &&
	    band->refuses(band->refuses_context, pid, side_band_record_time(header)))
		return;
	if (band->attr.ksymbol)
		side_band_record_take(&record, header, 0, band->since_ns);
	else
		side_band_record_parse(&record, header);
	pid = record.event.pid;
	switch (record.kind) {
	case SIDE_BAND_EVENT:
		if (record.event.type == IMAGE_EVENT_FORK)
			thread_count_fork(&band->threads, pid);
		else if (record.event.type == IMAGE_EVENT_EXEC)
			thread_count_exec(&band->threads, pid);
		band->handle(band->context, &record.event);
		break;
	case SIDE_BAND_CLONE:
		thread_count_clone(&band->threads, pid);
		break;
	case SIDE_BAND_EXIT:
		if (thread_count_exit(&band->threads, pid, record.tid))
			band->handle(band->context, &record.event);
		break;
	case SIDE_BAND_LOST:
		band->lost += record.lost;
		break;
	case SIDE_BAND_KERNEL: /* only the perf tool writes these */
	case SIDE_BAND_OTHER:
		break;
	}
}

static void gone_report(void *context, uint32_t pid)
{
	struct side_band *band = context;
	struct image_event event = {
		.type = IMAGE_EVENT_EXIT,
		.pid = pid,
		.time_ns = band->now_ns,
	};

	band->handle(band->context, &event);
}

/* A ring that became full while it was read refused only records younger than the drain. */
static void consume(struct side_band *band, struct perf_ring *ring)
{
	if (perf_ring_is_nearly_full(ring, true))
		gap_from(band, band->now_ns);
	perf_ring_consumed(ring);
}

/*
 * Report an interval with losses. It ends now, because the rings have room again and all CPUs are
 * recorded.
 */
static void loss_report(struct side_band *band)
{
	struct image_event event = {.type = IMAGE_EVENT_LOST, .time_ns = band->gap_ns};

	if (band->gap_ns == UINT64_MAX || band->attr.ksymbol)
		return;
	band->gaps++;
	event.until_ns = clock_monotonic_ns();
	band->handle(band->context, &event);
}

/*
 * The clock is read first. A record made before that time may depend on others: a child's exec on
 * the fork, a sample on its mapping. These others were in their rings by then, because the kernel
 * writes such records before it resumes the task. So the drain sees them, regardless of the order
 * in which rings are read.
 */
uint64_t side_band_drain(struct side_band *band, image_event_fn handle, void *context)
{
	uint64_t lost = band->lost, gaps = band->gaps, drained_ns = band->now_ns;
	size_t cpu;

	epoll_set_clear(band->wakes);
	band->handle = handle;
	band->context = context;
	band->since_ns = drained_ns;
	band->now_ns = clock_monotonic_ns();
	band->heap_count = 0;
	band->gap_ns = UINT64_MAX;
	for (cpu = 0; cpu < band->online.end; cpu++) {
		if (band->rings[cpu] != NULL && advance(band, cpu))
			side_band_push(band, cpu);
	}
	while (band->heap_count > 0) {
		cpu = band->heap[0];
		side_band_deliver(band, band->waiting[cpu]);
		if (!advance(band, cpu))
			band->heap[0] = band->heap[--band->heap_count];
		sift_down(band);
	}
	for (cpu = 0; cpu < band->online.end; cpu++) {
		if (band->rings[cpu] != NULL)
			consume(band, band->rings[cpu]);
	}
	follow_cpus(band, drained_ns);
	loss_report(band);
	if (band->lost != lost || band->gaps != gaps)
		thread_count_verify(&band->threads, gone_report, band);
	return band->now_ns;
}

uint64_t side_band_gaps(const struct side_band *band)
{
	return band->gaps;
}

uint64_t side_band_lost(const struct side_band *band)
{
	return band->lost;
}
