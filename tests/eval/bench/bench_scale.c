// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure the cost of the daemon on a large machine. A synthetic trace of 256 CPUs with 5,200
 * samples per second each, 2,000 processes in 200 units and 1,500 images is replayed at full speed.
 * It passes through the stores, the matcher and the bins into a database.
 *
 * Prints the CPU time per second of trace, including all work of the kernel module (counting in the
 * stores). Also prints the memory without the stores, which belong to the kernel: the peak, which
 * is before the merge, and the size after the merge.
 *
 * Each CPU runs a process for about 10 ms at a time; a few processes get most of the time. A third
 * of the samples hits the kernel, a third a library, the rest the program. In each of these a few
 * offsets have most of the samples. All data is merged once at the end; a real daemon merges every
 * 30 s.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/base/cgroup.h"
#include "daemon/base/heap.h"
#include "daemon/collect/collector.h"
#include "daemon/event/event.h"
#include "daemon/image/image_map.h"
#include "daemon/image/image_table.h"
#include "daemon/image/kernel_image.h"
#include "daemon/source/trace_writer.h"
#include "kmod/core/sample_store.h"
#include "lib/error.h"
#include "loader-hook/image_event.h"
#include "loader-hook/proc/process_scan.h"
#include "tests/eval/bench/bench.h"

#define CPUS 256
#define RATE 5200
#define SECONDS 5
#define PROCESSES 2000
#define IMAGES 1500
#define LIBRARIES 300
#define UNITS 200
#define SLICE 52 /* samples in 10 ms */
#define SLICES (SECONDS * RATE / SLICE)
#define OFFSETS 4000
#define MAPPINGS 12 /* libraries of a process */

#define PROGRAM_AT 0x400000ULL
#define LIBRARY_AT 0x7f0000000000ULL
#define SPACING 0x1000000ULL
#define KERNEL_AT 0xffffffff81000000ULL
#define KERNEL_BYTES 0x1400000ULL

static uint64_t state = 1;

static uint64_t draw(uint64_t n)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (z ^ z >> 31) % n;
}

/* Draw mostly small numbers: the probability of k is about proportional to 1 / k. */
static uint64_t draw_skewed(uint64_t n)
{
	uint64_t limit = 2;

	while (limit < n && draw(8) != 0)
		limit *= 2;
	return draw(limit < n ? limit : n);
}

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "bench_scale: %s\n", what);
	exit(2);
}

/* A simulated machine replaces /proc and the kernel's images; there is no image feed. */

static void map_image(uint32_t pid, uint32_t image, uint64_t start, image_event_fn handle,
		      void *context)
{
	struct image_event event = {
		.type = IMAGE_EVENT_MAP,
		.pid = pid,
		.time_ns = 1,
		.start = start,
		.bytes = SPACING / 2,
		.build_id_bytes = 20,
		.scanned = true,
	};
	char path[64];

	snprintf(path, sizeof(path), "/usr/lib/x86_64-linux-gnu/image-%u.so", image);
	memcpy(event.build_id, &image, sizeof(image));
	event.path = path;
	handle(context, &event);
}

static uint32_t library_of(uint32_t pid, unsigned int slot)
{
	/* All processes share the first three libraries. */
	return slot < 3 ? slot : (pid * 7 + slot * 13) % LIBRARIES;
}

int process_scan(uint32_t pid, image_event_fn handle, void *context, struct error *err)
{
	struct image_event event = {
		.type = IMAGE_EVENT_FORK, .pid = pid, .time_ns = 1, .scanned = true};

	(void)err;
	handle(context, &event);
	map_image(pid, LIBRARIES + pid % (IMAGES - LIBRARIES), PROGRAM_AT, handle, context);
	for (unsigned int i = 0; i < MAPPINGS; i++)
		map_image(pid, library_of(pid, i), LIBRARY_AT + i * SPACING, handle, context);
	return 0;
}

int process_scan_list(uint32_t **pids, size_t *count, struct error *err)
{
	(void)err;
	*pids = calloc(PROCESSES, sizeof(**pids));
	for (uint32_t i = 0; i < PROCESSES; i++)
		(*pids)[i] = i + 1;
	*count = PROCESSES;
	return 0;
}

int cgroup_read(struct cgroup *ret, uint32_t pid)
{
	memset(ret, 0, sizeof(*ret));
	snprintf(ret->unit, sizeof(ret->unit), "unit-%u.service", pid % UNITS);
	return 0;
}

int kernel_images_create(struct kernel_images **ret, struct image_table *table,
			 struct image_map *map, struct error *err)
{
	struct profile_image kernel = {.kind = PROFILE_IMAGE_KERNEL, .path = "vmlinux"};
	int image = image_table_add(table, &kernel);

	(void)err;
	*ret = NULL;
	return image < 0 ? image
			 : image_map_add_kernel(map, (uint32_t)image, KERNEL_AT, KERNEL_BYTES);
}

int kernel_images_create_user(struct kernel_images **ret, struct image_table *table,
			      struct image_map *map, struct error *err)
{
	return kernel_images_create(ret, table, map, err);
}

void kernel_images_destroy(struct kernel_images *kernel)
{
	(void)kernel;
}

int kernel_images_refresh(struct kernel_images *kernel, struct error *err)
{
	(void)kernel;
	(void)err;
	return 0;
}

bool kernel_images_unsettled(const struct kernel_images *kernel)
{
	(void)kernel;
	return false;
}

void kernel_images_expire(struct kernel_images *kernel, uint64_t time_ns)
{
	(void)kernel;
	(void)time_ns;
}

uint32_t kernel_images_names(const struct kernel_images *kernel, uint32_t image)
{
	(void)kernel;
	return image;
}

int kernel_images_symbols(struct kernel_images *kernel, uint32_t image,
			  struct profile_symbol **symbols, size_t *count, char **names,
			  struct error *err)
{
	(void)kernel;
	(void)image;
	(void)symbols;
	(void)names;
	(void)err;
	*count = 0;
	return 0;
}

int kernel_images_place(const struct kernel_images *kernel, uint32_t image,
			struct kernel_place *ret)
{
	(void)kernel;
	(void)image;
	(void)ret;
	return -ENOENT;
}

bool kernel_images_is_vdso(const struct kernel_images *kernel, uint32_t image)
{
	(void)kernel;
	(void)image;
	return false;
}

bool kernel_images_is_current(const struct kernel_images *kernel)
{
	(void)kernel;
	return true;
}

void kernel_images_forget_symbols(struct kernel_images *kernel)
{
	(void)kernel;
}

/* Generation of the trace. */

static uint64_t draw_pc(uint32_t pid)
{
	uint64_t kind = draw(3), offset = draw_skewed(OFFSETS) * 52;

	if (kind == 0)
		return KERNEL_AT + draw_skewed(20000) * 44;
	if (kind == 1)
		return PROGRAM_AT + offset + pid % 97 * 4ULL;
	return LIBRARY_AT + draw_skewed(MAPPINGS) * SPACING + offset;
}

static void write_trace(const char *path)
{
	struct trace_writer *writer;
	struct error err;

	if (trace_writer_create(&writer, path, &err) < 0)
		die(err.message);
	for (unsigned int slice = 0; slice < SLICES; slice++) {
		for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
			uint32_t pid = 1 + (uint32_t)draw_skewed(PROCESSES);

			for (unsigned int i = 0; i < SLICE; i++)
				trace_writer_add(writer, cpu, slice * (uint64_t)SLICE + i,
						 draw_pc(pid), dcpi_tag(pid, 1, 0));
		}
		trace_writer_settle(writer);
	}
	if (trace_writer_destroy(writer, &err) < 0)
		die(err.message);
}

/* Measurement. */

static double cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* Return the current resident memory. */
static double memory_mb(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file == NULL || fscanf(file, "%*u %lu", &pages) != 1)
		die("cannot read /proc/self/statm");
	fclose(file);
	return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

/* Return the peak resident memory. */
static double memory_most_mb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss * 1024 / 1e6;
}

static void report(const char *name, double value, const char *unit)
{
	bench_report(name, "dcpid", "256 CPUs, 2000 processes, 1500 images", value, unit);
}

static bool ended(struct collector *collector)
{
	struct collector_status status;

	collector_status(collector, &status);
	return counter_set_get(&status.counters, "stat", "replay_ended") != 0;
}

static void check(struct collector *collector)
{
	struct collector_status status;
	uint64_t wanted = (uint64_t)SLICES * SLICE * CPUS;

	collector_status(collector, &status);
	if (status.interrupts != wanted || status.stored != wanted || status.unknown != 0)
		die("not every sample found its image and its way into the database");
}

static void replay(const char *trace, const char *db)
{
	struct collector_config config = {
		.db = db,
		.source = "replay",
		.replay = trace,
		.cpu_hz = 1000000000,
		.memory_limit = 64 << 20,
		.merge_ns = 30000000000ULL,
		.units = true,
	};
	const double stores = CPUS * (double)sample_store_bytes(16384, 8192) / 1e6;
	const uint64_t samples = SLICES * (uint64_t)SLICE; /* per CPU */
	const double length = (double)samples / RATE;
	const double own = memory_mb();
	double before;
	struct collector *collector;
	unsigned int turn = 0;
	struct error err;

	if (event_list_parse(&config.events, "cpu-clock:192307", config.cpu_hz, &err) < 0 ||
	    collector_open(&collector, &config, &err) < 0 || collector_start(collector, &err) < 0)
		die(err.message);
	before = cpu_seconds();
	do {
		if (collector_drain(collector, &err) < 0)
			die(err.message);
	} while (++turn % 64 != 0 || !ended(collector));
	if (collector_flush(collector, &err) < 0)
		die(err.message);
	report("scale_cpu_percent", 100 * (cpu_seconds() - before) / length, "percent of a CPU");
	report("scale_memory_mb", memory_most_mb() - own - stores, "MB");
	report("scale_memory_merged_mb", memory_mb() - own - stores, "MB");
	check(collector);
	if (collector_stop(collector, &err) < 0)
		die(err.message);
	collector_close(collector);
}

int main(void)
{
	char directory[] = "/tmp/dcpi-scale-XXXXXX", trace[64], db[64], command[96];

	heap_configure(); /* as dcpid does */
	if (mkdtemp(directory) == NULL)
		die("no temporary directory");
	snprintf(trace, sizeof(trace), "%s/trace", directory);
	snprintf(db, sizeof(db), "%s/dcpi.db", directory);
	write_trace(trace);
	replay(trace, db);
	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	return system(command) == 0 ? 0 : 2;
}
