// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/branch_snapshots.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/source/bpf_sampler.h"
#include "daemon/source/kernel_types.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/pid_namespace.h"

/* Warnings in bpftool's generated code. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#include "daemon/source/bpf/branch_snapshot.skel.h"
#pragma GCC diagnostic pop

/*
 * The ring has room for two seconds of samples, so that it is not half full before the next drain.
 * The maximum exists because the kernel maps the whole ring twice.
 */
#define RING_SECONDS 2
#define RING_SAMPLES 5200 /* per second and CPU */
#define RING_BYTES_MIN (64U << 10)
#define RING_BYTES_MAX (8U << 20)

/* @left: if @is_left, the snapshot that the last drain refused; the ring continues after it */
struct branch_snapshots {
	struct branch_snapshot_bpf *skeleton;
	struct ring_buffer *ring;
	branch_snapshots_fn visit;
	void *context;
	bool is_left;
	struct branch_snapshot left;
};

static int snapshot_take(void *context, void *data, size_t bytes)
{
	struct branch_snapshots *snapshots = context;

	const struct dcpi_snapshot *snapshot = data;

	if (bytes < sizeof(*snapshot) || snapshot->pieces > SNAPSHOT_PIECES ||
	    bytes < sizeof(*snapshot) + snapshot->pieces * sizeof(struct dcpi_piece) ||
	    snapshots->visit(snapshots->context, snapshot))
		return 0;
	memcpy(&snapshots->left, data,
	       sizeof(*snapshot) + snapshot->pieces * sizeof(struct dcpi_piece));
	snapshots->is_left = true;
	return -EAGAIN;
}

/* Return: a power of two. */
static uint32_t ring_bytes(uint32_t every)
{
	uint64_t samples = (uint64_t)sysconf(_SC_NPROCESSORS_CONF) * RING_SAMPLES * RING_SECONDS;
	uint64_t wanted = samples / every * sizeof(struct branch_snapshot);
	uint32_t bytes = RING_BYTES_MIN;

	while (bytes < wanted && bytes < RING_BYTES_MAX)
		bytes *= 2;
	return bytes;
}

/* As declared in branch_snapshot.bpf.c. */
static const struct kernel_struct kernel_structs[] = {
#if defined(__x86_64__)
	{"thread_struct", {"fsbase"}},
#endif
	{"sched_info", {"run_delay"}},
	{"sched_entity", {"nr_migrations"}},
	{"task_struct",
	 {
		 "self_exec_id",
		 "nvcsw",
		 "nivcsw",
		 "sched_info",
		 "se",
#if defined(__x86_64__)
		 "thread",
#endif
	 }},
};

/* @types_fd: the kernel types that the program uses; -1: libbpf reads all of them */
static int snapshots_load_with(struct branch_snapshots *snapshots, uint32_t every, int types_fd)
{
	char path[32];
	struct bpf_object_open_opts options = {.sz = sizeof(options)};
	struct branch_snapshot_bpf *skeleton;
	int r;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", types_fd);
	if (types_fd >= 0)
		options.btf_custom_path = path;
	skeleton = branch_snapshot_bpf__open_opts(&options);
	if (skeleton == NULL)
		return -errno;
	skeleton->data->branch_every = every;
	/* Kernels that do not know this type do not check it either. */
	bpf_program__set_expected_attach_type(skeleton->progs.dcpi_branch_probe,
					      (enum bpf_attach_type)BRANCH_PROBE_ATTACH_TYPE);
	bpf_map__set_max_entries(skeleton->maps.snapshots, ring_bytes(every));
	r = branch_snapshot_bpf__load(skeleton);
	if (r < 0)
		branch_snapshot_bpf__destroy(skeleton);
	else
		snapshots->skeleton = skeleton;
	return r;
}

static int snapshots_load(struct branch_snapshots *snapshots, uint32_t every)
{
	_cleanup_close_ int types_fd =
		kernel_types_open(KERNEL_TYPES_PATH, kernel_structs,
				  sizeof(kernel_structs) / sizeof(*kernel_structs));
	int r = -ENOENT;

	if (types_fd >= 0)
		r = snapshots_load_with(snapshots, every, types_fd);
	/* EPERM: it would be refused again. */
	if (r < 0 && r != -EPERM) {
		r = snapshots_load_with(snapshots, every, -1);
		/* libbpf has read all kernel types, and freed them again. */
		malloc_trim(0);
	}
	if (r < 0)
		return r;
	snapshots->ring = ring_buffer__new(bpf_map__fd(snapshots->skeleton->maps.snapshots),
					   snapshot_take, snapshots, NULL);
	return snapshots->ring == NULL ? -errno : 0;
}

int branch_snapshots_open(struct branch_snapshots **ret, uint32_t every, struct error *err)
{
	struct branch_snapshots *snapshots;
	int rc;

	if (!pid_namespace_is_initial())
		return error_set(
			err, EOPNOTSUPP,
			"BPF needs the initial PID namespace, and this process is in another one");
	snapshots = calloc(1, sizeof(*snapshots));
	if (snapshots == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	libbpf_set_print(NULL);
	rc = snapshots_load(snapshots, every);
	if (rc < 0) {
		branch_snapshots_close(snapshots);
		return error_set(err, -rc, "the kernel rejects the BPF program");
	}
	*ret = snapshots;
	return 0;
}

void branch_snapshots_set_every(struct branch_snapshots *snapshots, uint32_t every)
{
	snapshots->skeleton->data->branch_every = every;
}

void branch_snapshots_close(struct branch_snapshots *snapshots)
{
	if (snapshots == NULL)
		return;
	ring_buffer__free(snapshots->ring);
	branch_snapshot_bpf__destroy(snapshots->skeleton);
	free(snapshots);
}

int branch_snapshots_program(const struct branch_snapshots *snapshots)
{
	return bpf_program__fd(snapshots->skeleton->progs.dcpi_branch_snapshot);
}

void branch_snapshots_followers(const struct branch_snapshots *snapshots, struct bpf_followers *ret)
{
	const struct branch_snapshot_bpf *skeleton = snapshots->skeleton;

	ret->program[BPF_FOLLOWER_EXAMINED] = bpf_program__fd(skeleton->progs.dcpi_branch_follower);
	ret->program[BPF_FOLLOWER_FIRST] = bpf_program__fd(skeleton->progs.dcpi_first_follower);
	ret->program[BPF_FOLLOWER_SECOND] = bpf_program__fd(skeleton->progs.dcpi_second_follower);
	ret->pairings = bpf_map__fd(skeleton->maps.pairings);
}

struct branch_probe_program branch_snapshots_probe(const struct branch_snapshots *snapshots)
{
	return (struct branch_probe_program){
		.fd = bpf_program__fd(snapshots->skeleton->progs.dcpi_branch_probe),
		.windows = snapshots->skeleton->bss->windows,
		.references = snapshots->skeleton->bss->references,
	};
}

int branch_snapshots_fd(const struct branch_snapshots *snapshots)
{
	return ring_buffer__epoll_fd(snapshots->ring);
}

void branch_snapshots_drain(struct branch_snapshots *snapshots, branch_snapshots_fn visit,
			    void *context)
{
	snapshots->visit = visit;
	snapshots->context = context;
	if (snapshots->is_left && !visit(context, &snapshots->left.head))
		return;
	snapshots->is_left = false;
	ring_buffer__consume(snapshots->ring);
}

uint64_t branch_snapshots_missed(const struct branch_snapshots *snapshots)
{
	return __atomic_load_n(&snapshots->skeleton->bss->missed, __ATOMIC_RELAXED);
}

uint64_t branch_snapshots_missed_second(const struct branch_snapshots *snapshots)
{
	return __atomic_load_n(&snapshots->skeleton->bss->missed_second, __ATOMIC_RELAXED);
}

uint64_t branch_snapshots_spent_ns(const struct branch_snapshots *snapshots)
{
	return __atomic_load_n(&snapshots->skeleton->bss->spent_ns, __ATOMIC_RELAXED);
}
