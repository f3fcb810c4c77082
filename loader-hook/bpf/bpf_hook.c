// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/bpf/bpf_hook.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/epoll_set.h"
#include "loader-hook/bpf/bpf_machine.h"
#include "loader-hook/bpf/hook_losses.h"
#include "loader-hook/bpf/hook_record.h"
#include "loader-hook/bpf/hook_ring.h"

/* The warning is in code that bpftool generates. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#include "loader-hook/bpf/image_watch.skel.h"
#pragma GCC diagnostic pop

/* The fork, exec and exit of a process take about 1 KiB of records. */
#define RING_BYTES_A_CPU (256U << 10)
#define RING_BYTES_MIN (1U << 20)
#define RING_BYTES_MAX (16U << 20)
/* Small enough to follow a process that calls exec a thousand times per second. */
#define WAKE_BYTES (64U << 10)
/* A record is busy only while the kernel copies it into the ring. */
#define BUSY_WAIT_NS 20000
#define BUSY_ROUNDS 500

/* How the programs are attached to functions of the kernel. */
enum hook_calls {
	HOOK_FENTRY,
	HOOK_MODULE,
	HOOK_KPROBES,
};

/*
 * @module_fd:   DCPI_IMAGES_PATH, or -1
 * @complete_ns: the value that the last drain returned
 * @must_scan:   next result of bpf_hook_must_scan()
 */
struct bpf_hook {
	struct image_watch *skeleton;
	struct hook_ring ring;
	struct hook_losses losses;
	int ring_fd;
	struct epoll_set *wakes;
	enum hook_calls calls;
	int module_fd;
	uint64_t complete_ns;
	bool must_scan;
	image_event_fn handle;
	void *context;
	image_event_refuse_fn refuses;
	void *refuses_context;
	char path[HOOK_RECORD_PATH_BYTES];
};

CLEANUP_DEFINE(bpf_hook, struct bpf_hook *, bpf_hook_close)
CLEANUP_DEFINE(btf, struct btf *, btf__free)

static uint32_t ring_bytes(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint32_t bytes = RING_BYTES_MIN;

	while (bytes < RING_BYTES_MAX && cpus > 0 && bytes < (uint64_t)cpus * RING_BYTES_A_CPU)
		bytes *= 2;
	return bytes;
}

/*
 * unmap_vmas() is not a stable interface: its third parameter must be a vm_area_struct, as in
 * kernels 6.1 to 6.18. In other kernels unmapping is not recorded; an unmapped range then stays
 * known until another mapping replaces it, as with perf.
 */
static bool unmap_is_known(void)
{
	_cleanup_(cleanup_btf) struct btf *btf = btf__load_vmlinux_btf();
	const struct btf_type *type;
	int id;

	if (btf == NULL)
		return false;
	id = btf__find_by_name_kind(btf, "unmap_vmas", BTF_KIND_FUNC);
	type = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
	type = type != NULL ? btf__type_by_id(btf, type->type) : NULL;
	if (type == NULL || btf_vlen(type) < 5)
		return false;
	type = btf__type_by_id(btf, btf_params(type)[2].type);
	if (type == NULL || !btf_is_ptr(type))
		return false;
	type = btf__type_by_id(btf, type->type);
	return type != NULL &&
	       strcmp(btf__name_by_offset(btf, type->name_off), "vm_area_struct") == 0;
}

static void programs_choose(struct image_watch *skeleton, enum hook_calls calls, bool unmap)
{
	bpf_program__set_autoload(skeleton->progs.dcpi_hook_comm, calls == HOOK_FENTRY);
	bpf_program__set_autoload(skeleton->progs.dcpi_hook_map, calls == HOOK_FENTRY);
	bpf_program__set_autoload(skeleton->progs.dcpi_hook_unmap, calls == HOOK_FENTRY && unmap);
	bpf_program__set_autoload(skeleton->progs.dcpi_hook_record, calls == HOOK_MODULE);
	bpf_program__set_autoload(skeleton->progs.dcpi_probe_comm, calls == HOOK_KPROBES);
	bpf_program__set_autoload(skeleton->progs.dcpi_probe_map, calls == HOOK_KPROBES);
	bpf_program__set_autoload(skeleton->progs.dcpi_probe_unmap, calls == HOOK_KPROBES && unmap);
}

static int attach(struct bpf_hook *hook, enum hook_calls calls, bool unmap, struct error *err)
{
	struct image_watch *skeleton = hook->skeleton = image_watch__open();
	uint32_t bytes = ring_bytes();
	int r;

	if (skeleton == NULL)
		return bpf_machine_load_error(errno, err);
	skeleton->rodata->page_shift =
		(uint32_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
	skeleton->rodata->wake_bytes = WAKE_BYTES;
	bpf_map__set_max_entries(skeleton->maps.ring, bytes);
	programs_choose(skeleton, calls, unmap);
	r = image_watch__load(skeleton);
	if (r == 0)
		r = image_watch__attach(skeleton);
	if (r < 0) {
		r = bpf_machine_load_error(-r, err);
	} else {
		hook->calls = calls;
		hook->ring_fd = bpf_map__fd(skeleton->maps.ring);
		r = hook_ring_map(&hook->ring, hook->ring_fd, bytes, err);
	}
	if (r < 0) {
		image_watch__destroy(skeleton);
		hook->skeleton = NULL;
	}
	return r;
}

/* The file exists only on kernels without fentry. */
static int attach_module(struct bpf_hook *hook)
{
	int r;

	hook->module_fd = open(DCPI_IMAGES_PATH, O_RDONLY | O_CLOEXEC);
	if (hook->module_fd < 0)
		return -errno;
	r = attach(hook, HOOK_MODULE, true, NULL);
	if (r < 0) {
		close(hook->module_fd);
		hook->module_fd = -1;
	}
	return r;
}

static int attach_kprobes(struct bpf_hook *hook, bool unmap, struct error *err)
{
	if (access("/sys/bus/event_source/devices/kprobe", F_OK) < 0)
		return error_set(err, EOPNOTSUPP, "not supported by this kernel");
	return attach(hook, HOOK_KPROBES, unmap, err);
}

static int wait_open(struct bpf_hook *hook, struct error *err)
{
	int r = epoll_set_open(&hook->wakes, err);

	return r < 0 ? r : epoll_set_add(hook->wakes, hook->ring_fd, "a BPF ring buffer", err);
}

int bpf_hook_open(struct bpf_hook **ret, struct error *err)
{
	_cleanup_(cleanup_bpf_hook) struct bpf_hook *hook = NULL;
	struct error fentry = {.message = ""}, probes = {.message = ""};
	bool unmap;
	int r = bpf_machine_check(err);

	if (r < 0)
		return r;
	hook = calloc(1, sizeof(*hook));
	if (hook == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	hook->module_fd = -1;
	hook->losses.checked_ns = clock_monotonic_ns();
	libbpf_set_print(NULL);
	unmap = unmap_is_known();
	r = attach_module(hook);
	if (r < 0)
		r = attach(hook, HOOK_FENTRY, unmap, &fentry);
	if (r < 0)
		r = attach_kprobes(hook, unmap, &probes);
	if (r < 0)
		r = error_set(err, -r, "fentry: %.200s; kprobes: %.200s", fentry.message,
			      probes.message);
	if (r == 0)
		r = wait_open(hook, err);
	/* Return the memory to the system that libbpf used to read the kernel's types. */
	malloc_trim(0);
	if (r < 0)
		return r;
	*ret = take_ptr(hook);
	return 0;
}

void bpf_hook_close(struct bpf_hook *hook)
{
	if (hook == NULL)
		return;
	hook_ring_unmap(&hook->ring);
	image_watch__destroy(hook->skeleton);
	if (hook->module_fd >= 0)
		close(hook->module_fd);
	epoll_set_close(hook->wakes);
	free(hook);
}

int bpf_hook_poll_fd(struct bpf_hook *hook)
{
	return epoll_set_fd(hook->wakes);
}

const char *bpf_hook_attached(const struct bpf_hook *hook)
{
	static const char *const names[] = {
		[HOOK_FENTRY] = "fentry",
		[HOOK_MODULE] = "dcpi.ko",
		[HOOK_KPROBES] = "kprobes",
	};

	return names[hook->calls];
}

static void record_take(void *context, const void *record, size_t bytes)
{
	struct bpf_hook *hook = context;
	struct image_event event;
	uint64_t time_ns;
	uint32_t pid;

	if (hook->refuses != NULL && hook_record_mapper(record, bytes, &pid, &time_ns) &&
	    hook->refuses(hook->refuses_context, pid, time_ns))
		return;
	if (hook_record_parse(&event, hook->path, record, bytes))
		hook->handle(hook->context, &event);
}

/* Records that are missing from the ring by the program's own counters, or are unreadable there. */
static uint64_t records_lost(const struct bpf_hook *hook)
{
	const __u64 *lost = hook->skeleton->bss->records_lost;
	uint64_t sum = hook_ring_malformed(&hook->ring);
	size_t i;

	for (i = 0; i < IMAGE_RECORD_TYPES; i++)
		sum += __atomic_load_n(&lost[i], __ATOMIC_RELAXED);
	return sum;
}

/*
 * Times that the kernel did not run a program, by its counters (incomplete before 6.7: bpf_hook.h).
 */
static uint64_t runs_missed(const struct bpf_hook *hook)
{
	struct bpf_program *program;
	uint64_t sum = 0;

	bpf_object__for_each_program(program, hook->skeleton->obj)
	{
		struct bpf_prog_info info;
		uint32_t bytes = sizeof(info);
		int fd = bpf_program__fd(program);

		memset(&info, 0, sizeof(info));
		if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &bytes) == 0)
			sum += info.recursion_misses;
	}
	return sum;
}

static bool lost_take(void *context, uint32_t *pid)
{
	const struct bpf_hook *hook = context;
	int fd = bpf_map__fd(hook->skeleton->maps.lost);

	return bpf_map_get_next_key(fd, NULL, pid) == 0 && bpf_map_delete_elem(fd, pid) == 0;
}

static void lost_report(void *context, uint32_t pid, uint64_t since_ns)
{
	const struct bpf_hook *hook = context;
	const struct image_event event = {
		.type = IMAGE_EVENT_LOST,
		.pid = pid,
		.time_ns = since_ns,
		.until_ns = clock_monotonic_ns(),
	};

	hook->handle(hook->context, &event);
}

/* Report losses after the ring's contents, which are older than the state in /proc. */
static void handle_losses(struct bpf_hook *hook, uint64_t began_ns)
{
	const struct hook_counts counts = {
		.records = records_lost(hook),
		.unnamed = __atomic_load_n(&hook->skeleton->bss->processes_lost, __ATOMIC_RELAXED) +
			   hook_ring_malformed(&hook->ring),
		.runs = runs_missed(hook),
	};
	unsigned int read = hook_losses_check(&hook->losses, &counts, began_ns,
					      clock_monotonic_ns(), hook->handle, hook->context);

	if (read & HOOK_LOSSES_NAMED)
		hook_losses_named(&hook->losses, lost_take, lost_report, hook);
	hook->must_scan |= (read & HOOK_LOSSES_ALL) != 0;
}

/*
 * The clock is read first: an event before that time is in the ring before the end that is read
 * next, because the program runs in the context of the process.
 */
void bpf_hook_refuse(struct bpf_hook *hook, image_event_refuse_fn refuses, void *context)
{
	hook->refuses = refuses;
	hook->refuses_context = context;
}

uint64_t bpf_hook_drain(struct bpf_hook *hook, image_event_fn handle, void *context)
{
	const struct timespec pause = {.tv_nsec = BUSY_WAIT_NS};
	uint64_t now = clock_monotonic_ns(), end = hook_ring_end(&hook->ring);
	bool whole = false;
	int round;

	epoll_set_clear(hook->wakes);
	hook->handle = handle;
	hook->context = context;
	for (round = 0; !whole && round < BUSY_ROUNDS; round++) {
		if (round > 0)
			nanosleep(&pause, NULL);
		whole = hook_ring_read(&hook->ring, end, record_take, hook);
	}
	handle_losses(hook, now);
	if (whole)
		hook->complete_ns = now;
	return hook->complete_ns;
}

bool bpf_hook_must_scan(struct bpf_hook *hook)
{
	bool must = hook->must_scan;

	hook->must_scan = false;
	return must;
}

uint64_t bpf_hook_lost(const struct bpf_hook *hook)
{
	return hook->losses.counts.records + hook->losses.counts.runs;
}
