// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/unwind_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/counter_set.h"
#include "daemon/base/log.h"
#include "daemon/collect/image_unwind.h"
#include "daemon/collect/stack_unwinder.h"
#include "daemon/collect/unwind_builder.h"
#include "daemon/image/image_table.h"
#include "daemon/unwind/unwind_cache.h"
#include "lib/clock.h"
#include "lib/u64_map.h"

/* Images with missing pages. */
#define MISSING_MAX 64

/* One builder for root's processes, so that other users cannot delay their tables. */
enum lane {
	LANE_ROOT,
	LANE_OTHERS,
	LANES,
};

/* Pages of an image that stacks need. @pid: a process that maps it */
struct missing {
	uint32_t image;
	uint32_t pid;
	struct unwind_wanted wanted;
};

/*
 * @builders: created for the first file
 * @waiting:  images with a table under construction
 * @began_ns: CLOCK_MONOTONIC, for the limit of the CPU time of tables
 * @warned:   a missing seccomp filter has been reported
 */
struct unwind_tables {
	const struct stack_unwinder_code *code;
	struct unwind_cache *cache;
	struct unwind_builder *builders[LANES];
	struct u64_map waiting;
	uint64_t began_ns;
	bool warned;
	size_t missing_count;
	struct missing missing[MISSING_MAX];
};

struct unwind_tables *unwind_tables_create(const struct stack_unwinder_code *code)
{
	struct unwind_tables *tables = calloc(1, sizeof(*tables));

	if (tables == NULL)
		return NULL;
	tables->code = code;
	tables->began_ns = clock_monotonic_ns();
	tables->cache = unwind_cache_create(code->table_bytes);
	if (tables->cache == NULL) {
		unwind_tables_destroy(tables);
		return NULL;
	}
	return tables;
}

void unwind_tables_destroy(struct unwind_tables *tables)
{
	if (tables == NULL)
		return;
	for (int i = 0; i < LANES; i++)
		unwind_builder_destroy(tables->builders[i]);
	u64_map_deinit(&tables->waiting);
	unwind_cache_destroy(tables->cache);
	free(tables);
}

static void files_close(struct unwind_job *job)
{
	for (size_t i = 0; i < IMAGE_UNWIND_FILES; i++) {
		if (job->files[i] >= 0)
			close(job->files[i]);
	}
}

/* Return: 0: the pages are being built; -EAGAIN: later; other errors: they cannot be. */
static int pages_request(struct unwind_tables *tables, const struct missing *missing)
{
	const struct profile_image *image = image_table_get(tables->code->images, missing->image);
	struct unwind_job job = {.image = missing->image,
				 .uid = tables->code->uid(tables->code->context, missing->pid),
				 .wanted = missing->wanted};
	enum lane lane = job.uid == 0 ? LANE_ROOT : LANE_OTHERS;
	int r = image_unwind_find(job.files, &job.identity, image, missing->pid);

	if (r < 0)
		return r;
	if (tables->builders[lane] == NULL)
		tables->builders[lane] = unwind_builder_create();
	r = -EAGAIN;
	if (tables->builders[lane] != NULL && u64_map_insert(&tables->waiting, job.image) != NULL)
		r = unwind_builder_add(tables->builders[lane], &job);
	if (r == 0)
		return 0;
	u64_map_remove(&tables->waiting, job.image);
	files_close(&job);
	return r;
}

static struct unwind_builder_counts builders_counts(const struct unwind_tables *tables)
{
	struct unwind_builder_counts sum = {.cpu_ns = 0};

	for (int i = 0; i < LANES; i++) {
		struct unwind_builder_counts counts;

		if (tables->builders[i] == NULL)
			continue;
		counts = unwind_builder_counts(tables->builders[i]);
		sum.cpu_ns += counts.cpu_ns;
		sum.user_cpu_ns += counts.user_cpu_ns;
		sum.stopped += counts.stopped;
		sum.crashed += counts.crashed;
	}
	return sum;
}

static bool may_build(const struct unwind_tables *tables)
{
	const struct stack_unwinder_code *code = tables->code;
	uint64_t elapsed_ns = clock_monotonic_ns() - tables->began_ns;

	return code->build_permille == 0 ||
	       builders_counts(tables).cpu_ns <
		       code->build_start_ns + elapsed_ns / 1000 * code->build_permille;
}

static void missing_add_page(struct missing *missing, uint64_t page)
{
	struct unwind_wanted *wanted = &missing->wanted;

	for (uint32_t i = 0; i < wanted->count; i++) {
		if (wanted->pages[i] == page)
			return;
	}
	if (wanted->count < UNWIND_WANTED_MAX)
		wanted->pages[wanted->count++] = page;
}

static void missing_add(struct unwind_tables *tables, uint32_t image, uint64_t page, uint32_t pid)
{
	struct missing *missing = tables->missing;
	struct missing *end = missing + tables->missing_count;

	while (missing < end && missing->image != image)
		missing++;
	if (tables->missing_count == MISSING_MAX && missing == end)
		return;
	if (missing == end) {
		missing->image = image;
		missing->wanted.count = 0;
		missing->wanted.bytes_max = 0;
		missing->wanted.only = true;
		tables->missing_count++;
	}
	/* The last process is most likely to be still there. */
	missing->pid = pid;
	missing_add_page(missing, page);
}

void unwind_tables_request(struct unwind_tables *tables)
{
	size_t kept = 0;

	for (size_t i = 0; i < tables->missing_count; i++) {
		if (!may_build(tables) || pages_request(tables, &tables->missing[i]) == -EAGAIN)
			tables->missing[kept++] = tables->missing[i];
	}
	tables->missing_count = kept;
}

/* The vDSO is the kernel's own file, in this process's memory. */
static void vdso_add(struct unwind_tables *tables, uint32_t image)
{
	struct unwind_table *built = NULL;

	if (tables->code->vdso_here)
		image_unwind_vdso(&built);
	unwind_cache_add(tables->cache, image, built, NULL);
}

/* Request the table of an image that is not known. Return: true: the image is known now. */
static bool image_request(struct unwind_tables *tables, uint32_t image, uint64_t page, uint32_t pid,
			  bool *postponed)
{
	const struct profile_image *wanted = image_table_get(tables->code->images, image);
	const struct missing missing = {
		image, pid, {.pages = {page}, .count = 1, .bytes_max = tables->code->table_bytes}};
	int r;

	if (wanted->kind == PROFILE_IMAGE_VDSO && strcmp(wanted->path, "[vdso]") == 0) {
		vdso_add(tables, image);
		return true;
	}
	if (!image_table_is_named(tables->code->images, image))
		return false;
	*postponed = !may_build(tables);
	r = *postponed ? -EAGAIN : pages_request(tables, &missing);
	if (r == 0 || r == -EAGAIN)
		return false;
	unwind_cache_add(tables->cache, image, NULL, NULL);
	return true;
}

static bool is_waiting(const struct unwind_tables *tables, uint32_t image)
{
	return u64_map_find(&tables->waiting, image) != NULL;
}

enum unwind_where unwind_tables_find(struct unwind_tables *tables, uint32_t image, uint64_t offset,
				     uint32_t pid, const struct unwind_rule **ret, bool *postponed)
{
	uint64_t page = offset >> UNWIND_PAGE_SHIFT;
	enum unwind_cached found = unwind_cache_find(tables->cache, image, offset, ret);

	if (found == UNWIND_CACHED_UNKNOWN && !is_waiting(tables, image)) {
		image_table_sampled(tables->code->images, image);
		if (image_request(tables, image, page, pid, postponed))
			found = unwind_cache_find(tables->cache, image, offset, ret);
	} else if (found == UNWIND_CACHED_MISSING && !is_waiting(tables, image)) {
		*postponed = !may_build(tables);
		if (!*postponed)
			missing_add(tables, image, page, pid);
	}
	if (found == UNWIND_CACHED_RULE)
		return UNWIND_WHERE_RULE;
	return found == UNWIND_CACHED_NONE ? UNWIND_WHERE_NO_TABLE : UNWIND_WHERE_WAITING;
}

static void open_warn(struct unwind_tables *tables)
{
	if (tables->warned)
		return;
	for (int i = 0; i < LANES; i++) {
		if (tables->builders[i] == NULL || !unwind_builder_counts(tables->builders[i]).open)
			continue;
		log_warning("seccomp is not available; files are parsed without its protection");
		tables->warned = true;
		return;
	}
}

bool unwind_tables_take(struct unwind_tables *tables)
{
	struct unwind_result result;
	bool any = false;

	for (int i = 0; i < LANES; i++) {
		while (tables->builders[i] != NULL &&
		       unwind_builder_result(tables->builders[i], &result)) {
			u64_map_remove(&tables->waiting, result.image);
			unwind_cache_add(tables->cache, result.image, result.table, &result.wanted);
			any = true;
		}
	}
	if (any)
		open_warn(tables);
	return any;
}

bool unwind_tables_wait(struct unwind_tables *tables, uint64_t until_ns)
{
	bool any = false;

	for (int i = 0; i < LANES; i++)
		any |= tables->builders[i] != NULL &&
		       unwind_builder_wait(tables->builders[i], until_ns);
	return any;
}

void unwind_tables_counters(const struct unwind_tables *tables, struct counter_set *tally)
{
	struct unwind_cache_counts cache = unwind_cache_counts(tables->cache);
	struct unwind_builder_counts built = builders_counts(tables);

	counter_set_put(tally, "stat", "unwind_tables", cache.built);
	counter_set_put(tally, "stat", "unwind_tables_missing", cache.failed);
	counter_set_put(tally, "stat", "unwind_tables_stopped", built.stopped);
	counter_set_put(tally, "stat", "unwind_tables_crashed", built.crashed);
	counter_set_put(tally, "stat", "unwind_pages_evicted", cache.evicted);
	counter_set_put(tally, "stat", "unwind_build_user_ms", built.user_cpu_ns / NS_PER_MS);
	counter_set_put(tally, "stat", "unwind_build_ms", built.cpu_ns / NS_PER_MS);
}

size_t unwind_tables_bytes(const struct unwind_tables *tables)
{
	return sizeof(*tables) + u64_map_bytes(&tables->waiting) +
	       unwind_cache_counts(tables->cache).bytes;
}
