// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/jit_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/image_map.h"
#include "daemon/image_table.h"
#include "daemon/jit_code.h"
#include "daemon/jit_file.h"
#include "daemon/jit_image.h"
#include "daemon/jit_shape.h"
#include "daemon/tally.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/file_read.h"
#include "lib/u64_map.h"
#include "loader-hook/image_event.h"
#include "loader-hook/jit_dump.h"
#include "loader-hook/jit_map.h"

/* Two descriptors each: well below the usual limit of 1024. */
#define PROCESSES_MAX 128
/* 48 bytes each, of all processes; and of one. */
#define PIECES_MAX (1U << 17)
#define PROCESS_PIECES_MAX (1U << 16)
#define PIECE_BYTES_MAX (1U << 30)
/* What is read in a drain, of all processes; and of one. */
#define DRAIN_BYTES (16U << 20)
#define PROCESS_BYTES (4U << 20)
#define DUMP_RECORD_COST 256
#define PAUSE_MAX 64
#define SETTLE_NS 100000000
/* Of processes that have forked without an exec, so deep. */
#define ANCESTORS_MAX 4
#define CHILDREN_MAX 65536
#define CHILD_ENDED (1ULL << 32)

enum file_number {
	FILE_MAP,
	FILE_DUMP,
	FILE_NR,
};

/*
 * @image:    number of its JIT image, once it has a file
 * @used:     drain in which it last had a sample
 * @try:      drain in which a perf map is looked for again; @pause: and how
 *            many drains to wait then
 * @read_ns:  when its files were last read
 * @ended_ns: when it ended, or was replaced by an exec; 0: it lives
 * @older:    what had its id before, while samples of that may follow
 */
struct process {
	uint32_t pid;
	uint32_t image;
	uint64_t used;
	uint64_t try;
	uint64_t pause;
	uint64_t read_ns;
	uint64_t ended_ns;
	struct jit_file files[FILE_NR];
	struct jit_map map;
	struct jit_dump dump;
	bool dump_ended;
	struct jit_codes codes;
	struct process *older;
};

/*
 * @parents:   child -> parent, of those that have forked without an exec;
 *             plus CHILD_ENDED when it ended, and again when that is past
 * @pieces:    of code, in all processes
 * @budget:    bytes that may still be read in this drain
 * @replaced:  code was replaced since
 * @window_ns: samples are younger than that; @until_ns: and older than that
 */
struct jit_table {
	struct image_table *image_table;
	struct jit_images *images;
	struct u64_map processes; /* pid -> struct process * */
	struct u64_map parents;
	size_t pieces;
	size_t budget;
	uint64_t drain;
	uint64_t window_ns;
	uint64_t until_ns;
	uint64_t doubtful;
	uint64_t refused;
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

static void forget_codes(struct jit_table *table, struct process *process)
{
	table->pieces -= jit_codes_count(&process->codes);
	jit_codes_deinit(&process->codes);
	process->read_ns = 0;
	process->map = (struct jit_map){0};
	process->dump = (struct jit_dump){0};
	process->dump_ended = false;
}

static void process_free(struct jit_table *table, struct process *process)
{
	while (process != NULL) {
		struct process *older = process->older;

		forget_codes(table, process);
		jit_file_close(&process->files[FILE_MAP]);
		jit_file_close(&process->files[FILE_DUMP]);
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

static bool has_files(const struct process *process)
{
	return process->files[FILE_MAP].fd >= 0 || process->files[FILE_DUMP].fd >= 0;
}

/* One without files makes room, or the one that has had no samples for longest. */
static void make_room(struct jit_table *table)
{
	struct process *victim = NULL;
	uint64_t pid, value;
	size_t cursor = 0;

	while (u64_map_next(&table->processes, &cursor, &pid, &value)) {
		struct process *process = (struct process *)(uintptr_t)value;
		bool files = has_files(process);

		if (victim == NULL || files < has_files(victim) ||
		    (files == has_files(victim) && process->used < victim->used))
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
	process->files[FILE_MAP].fd = -1;
	process->files[FILE_DUMP].fd = -1;
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
	uint64_t *parent = u64_map_find(&table->parents, pid);

	if (goes_on)
		u64_map_remove(&table->parents, pid);
	else if (parent != NULL)
		*parent += CHILD_ENDED;
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

	u64_map_remove(&table->parents, event->pid);
	process_end(table, event->pid, event->time_ns, process_find(table, event->pid) != NULL);
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
	int image = process->image == 0 ? image_table_jit(table->image_table, process->pid) : -1;

	if (image > 0)
		process->image = (uint32_t)image;
}

/*
 * A compiler may begin its file late, or begin a new one: it is looked for now and then.
 */
static void map_open(struct jit_table *table, struct process *process)
{
	struct jit_file *known = &process->files[FILE_MAP], file;

	if (process->ended_ns != 0 || table->drain < process->try)
		return;
	process->try = table->drain + process->pause;
	if (process->pause < PAUSE_MAX)
		process->pause *= 2;
	if (jit_file_open_map(&file, process->pid) < 0)
		return;
	if (jit_file_same(&file, known)) {
		jit_file_close(&file);
		return;
	}
	if (known->fd >= 0)
		forget_codes(table, process);
	jit_file_close(known);
	*known = file;
	take_image(table, process);
}

static void dump_mapped(struct jit_table *table, const struct image_event *event)
{
	struct process *process = process_get(table, event->pid);
	struct jit_file file;

	if (process == NULL || jit_file_open_dump(&file, event) < 0)
		return;
	if (jit_file_same(&file, &process->files[FILE_DUMP])) {
		jit_file_close(&file);
		return;
	}
	if (process->files[FILE_DUMP].fd >= 0)
		forget_codes(table, process);
	jit_file_close(&process->files[FILE_DUMP]);
	process->files[FILE_DUMP] = file;
	take_image(table, process);
}

/* Memory of no file may be a JIT compiler's: its files are looked for while it lives. */
static void memory_mapped(struct jit_table *table, const struct image_event *event)
{
	struct process *process = process_get(table, event->pid);

	if (process != NULL && !has_files(process))
		map_open(table, process);
}

void jit_table_event(struct jit_table *table, const struct image_event *event)
{
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

struct reading {
	struct jit_table *table;
	struct process *process;
};

static void piece_add(struct reading *reading, const struct jit_code *code)
{
	struct jit_table *table = reading->table;

	if (table->pieces >= PIECES_MAX ||
	    jit_codes_count(&reading->process->codes) >= PROCESS_PIECES_MAX ||
	    jit_codes_add(&reading->process->codes, code) < 0)
		table->refused++;
	else
		table->pieces++;
}

/* What is new since the file was read last, came after that. */
static void line_take(void *context, const struct jit_map_line *line)
{
	struct reading *reading = context;

	if (line->bytes > PIECE_BYTES_MAX)
		return;
	piece_add(reading, &(struct jit_code){
				   .start = line->start,
				   .bytes = (uint32_t)line->bytes,
				   .since_ns = reading->process->read_ns,
				   .name_at = line->name_at,
				   .name_bytes = (uint16_t)line->name_bytes,
				   .file = FILE_MAP,
			   });
}

static void record_take(struct reading *reading, const struct jit_dump_record *record)
{
	struct jit_codes *codes = &reading->process->codes;
	size_t before = jit_codes_count(codes);

	if (record->kind == JIT_DUMP_MOVE && before < PROCESS_PIECES_MAX) {
		jit_codes_move(codes, record->from, record->start, record->time_ns);
		reading->table->pieces += jit_codes_count(codes) - before;
	}
	if (record->kind != JIT_DUMP_LOAD || record->bytes > PIECE_BYTES_MAX ||
	    record->name_bytes == 0)
		return;
	piece_add(reading, &(struct jit_code){
				   .start = record->start,
				   .bytes = (uint32_t)record->bytes,
				   .since_ns = record->time_ns,
				   .name_at = record->name_at,
				   .name_bytes = record->name_bytes < JIT_NAME_BYTES_MAX
							 ? (uint16_t)record->name_bytes
							 : JIT_NAME_BYTES_MAX,
				   .code_at = record->code_at,
				   .file = FILE_DUMP,
			   });
}

static void map_read(struct reading *reading, size_t *budget)
{
	struct process *process = reading->process;
	int fd = process->files[FILE_MAP].fd;

	if (fd >= 0 && jit_map_read(&process->map, fd, budget, line_take, reading) == 1) {
		forget_codes(reading->table, process);
		jit_map_read(&process->map, fd, budget, line_take, reading);
	}
}

/* What is later than the events that are known is left for the next time. */
static void dump_read(struct reading *reading, size_t *budget)
{
	struct process *process = reading->process;
	int fd = process->files[FILE_DUMP].fd, rc = 1;

	while (fd >= 0 && !process->dump_ended && rc == 1 && *budget >= DUMP_RECORD_COST) {
		struct jit_dump_record record;

		rc = jit_dump_next(&process->dump, fd, reading->table->until_ns, &record);
		if (rc == 1)
			record_take(reading, &record);
		*budget -= DUMP_RECORD_COST;
	}
	process->dump_ended = process->dump_ended || rc < 0;
}

static void process_refresh(struct jit_table *table, struct process *process)
{
	struct reading reading = {.table = table, .process = process};
	size_t budget = table->budget < PROCESS_BYTES ? table->budget : PROCESS_BYTES;
	size_t left = budget, before;

	map_open(table, process);
	map_read(&reading, &left);
	dump_read(&reading, &left);
	process->read_ns = table->until_ns;
	table->budget -= budget - left;
	before = jit_codes_count(&process->codes);
	if (jit_codes_settle(&process->codes, table->window_ns))
		table->replaced = true;
	table->pieces = table->pieces - before + jit_codes_count(&process->codes);
}

void jit_table_drain(struct jit_table *table, uint64_t until_ns)
{
	uint64_t pid, value;
	size_t cursor = 0;

	table->drain++;
	table->budget = DRAIN_BYTES;
	table->until_ns = until_ns;
	while (u64_map_next(&table->processes, &cursor, &pid, &value)) {
		struct process *process = (struct process *)(uintptr_t)value;

		process_refresh(table, process);
		if (process->older != NULL)
			process_refresh(table, process->older);
	}
}

/* The code, if it is all there and not too long. */
static uint8_t *code_read(int fd, const struct jit_code *code)
{
	uint8_t *data;

	if (code->code_at == 0 || code->bytes > JIT_SLOT_BYTES)
		return NULL;
	data = malloc(code->bytes);
	if (data != NULL && file_read_exactly(fd, data, code->bytes, code->code_at) < 0) {
		free(data);
		return NULL;
	}
	return data;
}

/* Where a piece is in its image: asked for once, when it is first sampled. */
static bool slot_find(struct jit_table *table, const struct process *process, struct jit_code *code)
{
	uint32_t version = jit_images_version(table->images), bytes;
	int fd = process->files[code->file].fd;
	_cleanup_free_ uint8_t *data = NULL;
	char name[JIT_NAME_BYTES_MAX];
	struct jit_procedure procedure = {
		.name = name, .name_bytes = code->name_bytes, .bytes = code->bytes};

	if (code->version == version)
		return code->slot != 0;
	code->version = version;
	code->slot = 0;
	if (file_read_exactly(fd, name, code->name_bytes, code->name_at) < 0)
		return false;
	data = code_read(fd, code);
	procedure.code = data;
	if (data != NULL)
		procedure.shape = jit_shape(data, code->bytes);
	code->slot = jit_images_slot(table->images, process->image, &procedure, &bytes);
	code->by_offset = bytes > 1;
	return code->slot != 0;
}

static bool place_in(struct jit_table *table, struct process *process, uint64_t pc,
		     struct image_place *place)
{
	struct jit_code *code;
	bool doubtful;

	if (process->image == 0)
		return false;
	process->used = table->drain;
	code = jit_codes_find(&process->codes, pc, table->window_ns, table->until_ns, &doubtful);
	if (code == NULL || !slot_find(table, process, code))
		return false;
	table->doubtful += doubtful;
	*place = (struct image_place){
		.image = process->image,
		.offset = code->slot + (code->by_offset ? pc - code->start : 0),
		.start = code->start,
		.bytes = code->by_offset && !doubtful ? code->bytes : 0,
	};
	return true;
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

	table->window_ns = time_ns;
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
	return table->replaced && table->until_ns > table->window_ns + SETTLE_NS;
}

void jit_table_counters(const struct jit_table *table, struct tally *tally)
{
	if (table->doubtful > 0)
		tally_set(tally, "stat", "jit_doubtful", table->doubtful);
	if (table->refused > 0)
		tally_set(tally, "stat", "jit_refused", table->refused);
}

size_t jit_table_bytes(const struct jit_table *table)
{
	return sizeof(*table) + table->pieces * sizeof(struct jit_code) +
	       u64_map_count(&table->processes) * sizeof(struct process) +
	       u64_map_bytes(&table->parents) + jit_images_bytes(table->images);
}

struct jit_images *jit_table_images(struct jit_table *table)
{
	return table->images;
}
