// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/bpf_sampler.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/source/bpf_store.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "loader-hook/bpf/bpf_machine.h"

/* Warnings in bpftool's generated code. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#include "daemon/source/bpf/sample_count.skel.h"
#pragma GCC diagnostic pop

struct mapped {
	void *memory;
	size_t bytes;
};

struct bpf_sampler {
	struct sample_count *skeleton;
	struct mapped cpus;
	struct mapped table;
	struct mapped buffers;
	uint32_t cpu_count;
	uint32_t buckets;
	uint32_t buffer_entries;
	uint32_t follow_every;
};

static int map_memory(struct mapped *mapped, const struct bpf_map *map, struct error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map);
	void *memory;

	bytes = (bytes + page - 1) / page * page;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (memory == MAP_FAILED)
		return error_set_errno(err, "cannot map a BPF array of %zu bytes", bytes);
	mapped->memory = memory;
	mapped->bytes = bytes;
	return 0;
}

static void unmap_memory(struct mapped *mapped)
{
	if (mapped->memory != NULL)
		munmap(mapped->memory, mapped->bytes);
}

void bpf_sampler_close(struct bpf_sampler *sampler)
{
	if (sampler == NULL)
		return;
	unmap_memory(&sampler->cpus);
	unmap_memory(&sampler->table);
	unmap_memory(&sampler->buffers);
	sample_count__destroy(sampler->skeleton);
	free(sampler);
}

static bool entries_valid(uint32_t entries)
{
	return entries >= DCPI_ENTRIES_MIN && entries <= DCPI_ENTRIES_MAX &&
	       (entries & (entries - 1)) == 0;
}

/* Number of entries in the largest of the arrays. */
static uint64_t entries_of_all(uint32_t cpu_count, uint32_t table_entries, uint32_t buffer_entries)
{
	uint64_t buffers = 2 * (uint64_t)buffer_entries;

	return cpu_count * (buffers > table_entries ? buffers : table_entries);
}

static int skeleton_load(struct bpf_sampler *sampler, const struct bpf_followers *followers,
			 struct error *err)
{
	struct sample_count *skeleton = sampler->skeleton = sample_count__open();
	int rc;

	if (skeleton == NULL)
		return bpf_machine_load_error(errno, err);
	skeleton->rodata->buckets_per_cpu = sampler->buckets;
	skeleton->rodata->entries_per_buffer = sampler->buffer_entries;
	skeleton->rodata->follow_every = sampler->follow_every;
	if (followers != NULL &&
	    bpf_map__reuse_fd(skeleton->maps.pairings, followers->pairings) < 0)
		return error_set_errno(err, "cannot share a BPF array");
	bpf_map__set_max_entries(skeleton->maps.cpus, sampler->cpu_count);
	bpf_map__set_max_entries(skeleton->maps.table, sampler->cpu_count * sampler->buckets);
	bpf_map__set_max_entries(skeleton->maps.buffers,
				 2 * sampler->cpu_count * sampler->buffer_entries);
	rc = sample_count__load(skeleton);
	return rc < 0 ? bpf_machine_load_error(-rc, err) : 0;
}

static int followers_set(const struct bpf_sampler *sampler, const struct bpf_followers *followers,
			 struct error *err)
{
	int fd = bpf_map__fd(sampler->skeleton->maps.follower);

	for (uint32_t key = 0; key < BPF_FOLLOWERS; key++) {
		if (bpf_map_update_elem(fd, &key, &followers->program[key], BPF_ANY) < 0)
			return error_set(err, EOPNOTSUPP, "no BPF program may follow another");
	}
	return 0;
}

static int sampler_fill(struct bpf_sampler *sampler, const struct bpf_followers *followers,
			struct error *err)
{
	uint32_t generation;
	int rc = skeleton_load(sampler, followers, err);

	if (rc == 0)
		rc = map_memory(&sampler->cpus, sampler->skeleton->maps.cpus, err);
	if (rc == 0)
		rc = map_memory(&sampler->table, sampler->skeleton->maps.table, err);
	if (rc == 0)
		rc = map_memory(&sampler->buffers, sampler->skeleton->maps.buffers, err);
	if (rc == 0 && followers != NULL)
		rc = followers_set(sampler, followers, err);
	if (rc == 0 && bpf_sampler_generation(sampler, (uint32_t)getpid(), &generation) < 0)
		rc = error_set(err, EOPNOTSUPP,
			       "this kernel cannot iterate over one task "
			       "(Linux 6.1 and later can)");
	return rc;
}

int bpf_sampler_open(struct bpf_sampler **ret, uint32_t cpu_count, uint32_t table_entries,
		     uint32_t buffer_entries, const struct bpf_followers *followers,
		     struct error *err)
{
	struct bpf_sampler *sampler;
	int rc;

	if (!entries_valid(table_entries) || !entries_valid(buffer_entries))
		return error_set(err, EINVAL,
				 "table_entries and buffer_entries must be powers of two in %d-%u",
				 DCPI_ENTRIES_MIN, DCPI_ENTRIES_MAX);
	/* Limit of the kernel's arrays, and of the program's arithmetic. */
	if (entries_of_all(cpu_count, table_entries, buffer_entries) > UINT32_MAX)
		return error_set(err, EINVAL,
				 "table_entries or buffer_entries are too many for %u CPUs",
				 cpu_count);
	rc = bpf_machine_check(err);
	if (rc < 0)
		return rc;
	sampler = calloc(1, sizeof(*sampler));
	if (sampler == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	sampler->cpu_count = cpu_count;
	sampler->buckets = table_entries / BPF_WAYS;
	sampler->buffer_entries = buffer_entries;
	sampler->follow_every = followers != NULL ? followers->every : 0;
	libbpf_set_print(NULL);
	rc = sampler_fill(sampler, followers, err);
	/* libbpf has read all kernel types, and freed them again. */
	malloc_trim(0);
	if (rc < 0) {
		bpf_sampler_close(sampler);
		return rc;
	}
	*ret = sampler;
	return 0;
}

int bpf_sampler_fd(const struct bpf_sampler *sampler)
{
	return bpf_program__fd(sampler->skeleton->progs.dcpi_sample_count);
}

static int grace_wait(void *context)
{
	const struct bpf_sampler *sampler = context;
	int inner = bpf_map__fd(sampler->skeleton->maps.inner);
	uint32_t key = 0;

	return bpf_map_update_elem(bpf_map__fd(sampler->skeleton->maps.grace), &key, &inner,
				   BPF_ANY);
}

void bpf_sampler_memory(const struct bpf_sampler *sampler, struct bpf_store_config *config)
{
	config->cpus = sampler->cpus.memory;
	config->table = sampler->table.memory;
	config->buffers = sampler->buffers.memory;
	config->cpu_count = sampler->cpu_count;
	config->buckets = sampler->buckets;
	config->buffer_entries = sampler->buffer_entries;
	config->grace = grace_wait;
	config->grace_context = (void *)(uintptr_t)sampler;
}

int bpf_sampler_generation(const struct bpf_sampler *sampler, uint32_t pid, uint32_t *generation)
{
	union bpf_iter_link_info task;
	struct bpf_link_create_opts options = {
		.sz = sizeof(options),
		.iter_info = &task,
		.iter_info_len = sizeof(task),
	};
	_cleanup_close_ int link = -1;
	_cleanup_close_ int iterator = -1;
	uint32_t value;

	memset(&task, 0, sizeof(task));
	task.task.tid = pid;
	link = bpf_link_create(bpf_program__fd(sampler->skeleton->progs.dcpi_process_generation), 0,
			       BPF_TRACE_ITER, &options);
	if (link < 0)
		return link;
	iterator = bpf_iter_create(link);
	if (iterator < 0)
		return iterator;
	if (read(iterator, &value, sizeof(value)) != sizeof(value))
		return -ESRCH;
	*generation = value;
	return 0;
}
