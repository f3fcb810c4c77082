// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/jit/jit_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/tally.h"
#include "daemon/image/image_map.h"
#include "daemon/image/image_table.h"
#include "daemon/image/jit_file.h"
#include "daemon/jit/jit_image.h"
#include "daemon/jit/jit_program.h"
#include "lib/error.h"
#include "lib/u64_map.h"
#include "loader-hook/image_event.h"

/* Two descriptors each: well below the usual limit of 1024. */
#define PROCESSES_MAX 128
/* What is read in a drain, of all processes. */
#define DRAIN_BYTES (16U << 20)
#define PAUSE_MAX 64
#define SETTLE_NS 100000000
/* Of processes that have forked without an exec, so deep. */
#define ANCESTORS_MAX 4
#define CHILDREN_MAX 65536
#define CHILD_ENDED (1ULL << 32)

/*
 * @used:     drain in which it last had a sample
 * @try:      drain in which a perf map is looked for again; @pause: and how
 *            many drains to wait then
 * @ended_ns: when it ended, or was replaced by an exec; 0: it lives
 * @older:    what had its id before, while samples of that may follow
 */
struct process {
	uint32_t pid;
	uint64_t used;
	uint64_t try;
	uint64_t pause;
	uint64_t ended_ns;
	struct jit_program program;
	struct process *older;
};

/*
 * @parents:   child -> parent, of those that have forked without an exec;
 *             plus CHILD_ENDED when it ended, and again when that is past
 * @reading:   bounds, in this drain and altogether
 * @replaced:  code was replaced since jit_table_expire()
 */
struct jit_table {
	struct image_table *image_table;
	struct jit_images *images;
	struct u64_map processes; /* pid -> struct process * */
	struct u64_map parents;
	struct jit_reading reading;
	uint64_t drain;
	uint64_t doubtful;
	bool replaced;
};

int jit_table_create(struct jit_table **ret, struct image_table *images, struct error *err)
{
	struct jit_table *table = calloc(1, sizeof(*table));

	if (table == NULL)
		return error_set(err, ENOMEM, "out of memory");
	if (jit_images_create(&table->images, err) < 0) {
		free(table);
		return -ENOMEM;
	}
	table->image_table = images;
	*ret = table;
	return 0;
}

static void process_free(struct jit_table *table, struct process *process)
{
	while (process != NULL) {
		struct process *older = process->older;

		jit_program_deinit(&process->program, &table->reading);
		free(process);
		process = older;
	}
}

void jit_table_destroy(struct jit_table *table)
{
	uint64_t pid, value;
	size_t cursor = 0;

	if (table == NULL)
		return;
	while (u64_map_next(&table->processes, &cursor, &pid, &value))
		process_free(table, (struct process *)(uintptr_t)value);
	u64_map_deinit(&table->processes);
	u64_map_deinit(&table->parents);
	jit_images_destroy(table->images);
	free(table);
}

static struct process *process_find(const struct jit_table *table, uint32_t pid)
{
	uint64_t *slot = u64_map_find(&table->processes, pid);

	return slot != NULL ? (struct process *)(uintptr_t)*slot : NULL;
}

/* One without files makes room, or the one that has had no samples for longest. */
static void make_room(struct jit_table *table)
{
	struct process *victim = NULL;
	uint64_t pid, value;
	size_t cursor = 0;

	while (u64_map_next(&table->processes, &cursor, &pid, &value)) {
		struct process *process = (struct process *)(uintptr_t)value;
		bool files = jit_program_has_files(&process->program);

		if (victim == NULL || files < jit_program_has_files(&victim->program) ||
		    (files == jit_program_has_files(&victim->program) &&
		     process->used < victim->used))
			victim = process;
	}
	if (victim == NULL)
		return;
	u64_map_remove(&table->processes, victim->pid);
	process_free(table, victim);
}

/* A new one, in front of what had its id before. */
static struct process *process_add(struct jit_table *table, uint32_t pid)
{
	struct process *process = calloc(1, sizeof(*process));
	uint64_t *slot;

	if (process == NULL)
		return NULL;
	if (process_find(table, pid) == NULL && u64_map_count(&table->processes) >= PROCESSES_MAX)
		make_room(table);
	slot = u64_map_insert(&table->processes, pid);
	if (slot == NULL) {
		free(process);
		return NULL;
	}
	process->pid = pid;
	process->used = table->drain;
	process->pause = 1;
	jit_program_init(&process->program);
	process->older = (struct process *)(uintptr_t)*slot;
	if (process->older != NULL) {
		process_free(table, process->older->older);
		process->older->older = NULL;
	}
	*slot = (uintptr_t)process;
	return process;
}

static struct process *process_get(struct jit_table *table, uint32_t pid)
{
	struct process *process = process_find(table, pid);

	return process != NULL ? process : process_add(table, pid);
}

/* What the process was has ended; its id may be in use again. */
static void process_end(struct jit_table *table, uint32_t pid, uint64_t time_ns, bool goes_on)
{
	struct process *process = process_find(table, pid);
	uint64_t *parent;

	if (goes_on) {
		u64_map_remove(&table->parents, pid);
	} else {
		parent = u64_map_find(&table->parents, pid);
		if (parent != NULL)
			*parent += CHILD_ENDED;
	}
	if (process == NULL)
		return;
	if (process->ended_ns == 0)
		process->ended_ns = time_ns;
	if (goes_on)
		process_add(table, pid);
}

static void process_fork(struct jit_table *table, const struct image_event *event)
{
	uint64_t *parent;

	process_end(table, event->pid, event->time_ns, true);
	if (event->parent == event->pid || u64_map_count(&table->parents) >= CHILDREN_MAX ||
	    (process_find(table, event->parent) == NULL &&
	     u64_map_find(&table->parents, event->parent) == NULL))
		return;
	parent = u64_map_insert(&table->parents, event->pid);
	if (parent != NULL)
		*parent = event->parent;
}

/* While it can still tell what it runs. */
static void take_image(struct jit_table *table, struct process *process)
{
	struct jit_program *program = &process->program;
	int image = program->image == 0 ? image_table_jit(table->image_table, process->pid) : -1;

	if (image > 0)
		program->image = (uint32_t)image;
}

/*
 * A compiler may begin its file late, or begin a new one: it is looked for now and then.
 */
static void map_open(struct jit_table *table, struct process *process)
{
	struct jit_file file;

	if (process->ended_ns != 0 || table->drain < process->try)
		return;
	process->try = table->drain + process->pause;
	if (process->pause < PAUSE_MAX)
		process->pause *= 2;
	if (jit_file_open_map(&file, process->pid) == 0 &&
	    jit_program_set_file(&process->program, JIT_PROGRAM_MAP, &file, &table->reading))
		take_image(table, process);
}

static void dump_mapped(struct jit_table *table, const struct image_event *event)
{
	struct process *process = process_get(table, event->pid);
	struct jit_file file;

	if (process != NULL && jit_file_open_dump(&file, event) == 0 &&
	    jit_program_set_file(&process->program, JIT_PROGRAM_DUMP, &file, &table->reading))
		take_image(table, process);
}

/* Memory of no file may be a JIT compiler's: its files are looked for while it lives. */
static void memory_mapped(struct jit_table *table, const struct image_event *event)
{
	struct process *process = process_get(table, event->pid);

	if (process != NULL && !jit_program_has_files(&process->program))
		map_open(table, process);
}

/* No process has code of its own, nor might one have got it from its parent. */
static bool is_empty(const struct jit_table *table)
{
	return u64_map_count(&table->processes) == 0 && u64_map_count(&table->parents) == 0;
}

void jit_table_event(struct jit_table *table, const struct image_event *event)
{
	if (event->type != IMAGE_EVENT_MAP && is_empty(table))
		return;
	switch (event->type) {
	case IMAGE_EVENT_MAP:
		if (jit_file_is_dump(event))
			dump_mapped(table, event);
		else if (image_table_is_memory(event))
			memory_mapped(table, event);
		break;
	case IMAGE_EVENT_FORK:
		if (!event->scanned)
			process_fork(table, event);
		break;
	case IMAGE_EVENT_EXEC:
		process_end(table, event->pid, event->time_ns, true);
		break;
	case IMAGE_EVENT_EXIT:
		process_end(table, event->pid, event->time_ns, false);
		break;
	default:
		break;
	}
}

static void process_refresh(struct jit_table *table, struct process *process)
{
	map_open(table, process);
	if (jit_program_read(&process->program, &table->reading))
		table->replaced = true;
}

void jit_table_drain(struct jit_table *table, uint64_t until_ns)
{
	uint64_t pid, value;
	size_t cursor = 0;

	table->drain++;
	table->reading.budget = DRAIN_BYTES;
	table->reading.until_ns = until_ns;
	while (u64_map_next(&table->processes, &cursor, &pid, &value)) {
		struct process *process = (struct process *)(uintptr_t)value;

		process_refresh(table, process);
		if (process->older != NULL)
			process_refresh(table, process->older);
	}
}

static bool place_in(struct jit_table *table, struct process *process, uint64_t pc,
		     struct image_place *place)
{
	if (process->program.image == 0)
		return false;
	process->used = table->drain;
	return jit_program_place(&process->program, table->images, &table->reading, pc, place,
				 &table->doubtful);
}

void jit_table_place(struct jit_table *table, uint32_t pid, uint64_t pc, struct image_place *place)
{
	struct process *process = process_get(table, pid);
	uint64_t *parent = u64_map_find(&table->parents, pid);
	int i;

	if (process == NULL || place_in(table, process, pc, place))
		return;
	if (process->older != NULL && place_in(table, process->older, pc, place))
		return;
	/* Code that was there before the fork is told in the parent's files. */
	for (i = 0; i < ANCESTORS_MAX && parent != NULL; i++) {
		uint32_t ancestor = (uint32_t)*parent;

		process = process_find(table, ancestor);
		if (process != NULL && place_in(table, process, pc, place))
			return;
		parent = u64_map_find(&table->parents, ancestor);
	}
}

/* Samples of one that ended since the last time may still follow. */
static void expire_children(struct jit_table *table)
{
	struct u64_map kept = {0};
	uint64_t pid, parent, *slot;
	size_t cursor = 0;

	while (u64_map_next(&table->parents, &cursor, &pid, &parent)) {
		slot = parent < 2 * CHILD_ENDED ? u64_map_insert(&kept, pid) : NULL;
		if (slot != NULL)
			*slot = parent + (parent >= CHILD_ENDED ? CHILD_ENDED : 0);
	}
	u64_map_deinit(&table->parents);
	table->parents = kept;
}

static bool is_over(const struct process *process, uint64_t time_ns)
{
	return process->ended_ns != 0 && process->ended_ns < time_ns;
}

void jit_table_expire(struct jit_table *table, uint64_t time_ns)
{
	uint64_t over[PROCESSES_MAX], pid, value;
	size_t cursor = 0, count = 0;

	table->reading.window_ns = time_ns;
	table->replaced = false;
	expire_children(table);
	while (u64_map_next(&table->processes, &cursor, &pid, &value)) {
		struct process *process = (struct process *)(uintptr_t)value;

		if (process->older != NULL && is_over(process->older, time_ns)) {
			process_free(table, process->older);
			process->older = NULL;
		}
		if (is_over(process, time_ns) && count < PROCESSES_MAX)
			over[count++] = pid;
	}
	while (count > 0) {
		struct process *process = process_find(table, (uint32_t)over[--count]);

		u64_map_remove(&table->processes, over[count]);
		process_free(table, process);
	}
}

bool jit_table_unsettled(const struct jit_table *table)
{
	return table->replaced && table->reading.until_ns > table->reading.window_ns + SETTLE_NS;
}

void jit_table_counters(const struct jit_table *table, struct tally *tally)
{
	if (table->doubtful > 0)
		tally_set(tally, "stat", "jit_doubtful", table->doubtful);
	if (table->reading.refused > 0)
		tally_set(tally, "stat", "jit_refused", table->reading.refused);
}

size_t jit_table_bytes(const struct jit_table *table)
{
	return sizeof(*table) + table->reading.pieces * sizeof(struct jit_code) +
	       u64_map_count(&table->processes) * sizeof(struct process) +
	       u64_map_bytes(&table->parents) + jit_images_bytes(table->images);
}

struct jit_images *jit_table_images(struct jit_table *table)
{
	return table->images;
}
