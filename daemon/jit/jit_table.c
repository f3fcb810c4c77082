// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/jit/jit_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/base/counter_set.h"
#include "daemon/base/log.h"
#include "daemon/image/image_map.h"
#include "daemon/image/image_table.h"
#include "daemon/image/jit_file.h"
#include "daemon/jit/jit_children.h"
#include "daemon/jit/jit_image.h"
#include "daemon/jit/jit_program.h"
#include "daemon/jit/jit_reading.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/u64_map.h"
#include "loader-hook/image_event.h"

#define FILES_DEFAULT 1024
#define FILES_MOST (1U << 16)
/* Fraction of the process's descriptors that may be used: one half. */
#define FILES_SHARE 2
/* Fraction of the memory for code that may be used for processes: a quarter. */
#define PROCESSES_SHARE 4
#define PAUSE_MAX 64
#define SETTLE_NS 100000000
/* While some code is not in memory, flushes show which code is sampled. */
#define LACKING_NS_MAX (10 * NS_PER_SECOND)
/* Maximum depth of processes that have forked without an exec. */
#define ANCESTORS_MAX 4
/* Maximum number of ended processes dropped at a time. */
#define DROPPED_MAX 256

/*
 * A program that a process runs, from its start or exec to its exit or next exec.
 *
 * @used:     drain of its last sample
 * @looked:   drain in which a sample without a name last caused a search for a perf map
 * @try:      next drain in which to search for a perf map
 * @pause:    number of drains to wait after that
 * @begun_ns: 0: unknown, before the first event
 * @no_map_ns: there was no perf map then; 0: unknown
 * @ended_ns: UINT64_MAX: it has not ended
 * @postponed: its files were not searched for or read, because of its user's limit
 * @older:    the previous program with the same process id, as long as samples of it may follow
 */
struct process {
	uint32_t pid;
	uint64_t used;
	uint64_t looked;
	uint64_t try;
	uint64_t pause;
	uint64_t begun_ns;
	uint64_t no_map_ns;
	uint64_t ended_ns;
	bool postponed;
	struct jit_program program;
	struct process *older;
};

/*
 * @reading:    limits, per drain and in total
 * @first:      position in @processes of the first one that is read
 * @replaced:   code was replaced since jit_table_expire()
 * @lacking:    the code of some program is not completely in memory
 * @lacking_ns: maximum delay of a flush in that case
 * @warned:     there is no seccomp filter
 */
struct jit_table {
	struct image_table *image_table;
	struct jit_images *images;
	struct u64_map processes; /* pid -> struct process * */
	size_t process_count;
	struct jit_children children;
	struct jit_reading reading;
	size_t files_max;
	size_t first;
	bool replaced;
	bool lacking;
	uint64_t lacking_ns;
	bool warned;
};

static struct process *process_of(uint64_t value)
{
	return (struct process *)(uintptr_t)value;
}

/* Find the largest program of a user. */
static struct process *largest_of(const struct jit_table *table, uint32_t uid)
{
	struct process *largest = NULL;
	uint64_t pid, value;
	size_t cursor = 0;

	while (u64_map_next(&table->processes, &cursor, &pid, &value)) {
		struct process *process = process_of(value);

		for (; process != NULL; process = process->older) {
			if (process->program.user == uid &&
			    (largest == NULL || process->program.bytes > largest->program.bytes))
				largest = process;
		}
	}
	return largest;
}

/* Evict code of the largest program of the user with the most memory. */
static void make_room(void *context)
{
	struct jit_table *table = context;
	struct jit_reading *reading = &table->reading;
	uint32_t uid;

	while (reading->bytes > reading->bytes_max && jit_reading_largest(reading, &uid) == 0) {
		struct process *process = largest_of(table, uid);
		size_t before = reading->bytes;

		if (process != NULL)
			jit_program_evict(&process->program, reading);
		if (reading->bytes >= before)
			return;
	}
}

static size_t files_max(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return FILES_DEFAULT / FILES_SHARE;
	return (limit.rlim_cur < FILES_MOST ? limit.rlim_cur : FILES_MOST) / FILES_SHARE;
}

int jit_table_create(struct jit_table **ret, struct image_table *images, struct error *err)
{
	struct jit_table *table = calloc(1, sizeof(*table));

	if (table == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (jit_images_create(&table->images, err) < 0) {
		free(table);
		return -ENOMEM;
	}
	table->image_table = images;
	table->files_max = files_max();
	table->reading.bytes_max = JIT_BYTES_MAX;
	table->reading.room = make_room;
	table->reading.context = table;
	*ret = table;
	return 0;
}

void jit_table_limit_users(struct jit_table *table, uint32_t (*uid)(void *context, uint32_t pid),
			   void *context)
{
	table->reading.uid = uid;
	table->reading.uid_context = context;
}

/* Free a process with all its earlier programs. */
static void process_free(struct jit_table *table, struct process *process)
{
	while (process != NULL) {
		struct process *older = process->older;

		jit_program_deinit(&process->program, &table->reading);
		free(process);
		table->process_count--;
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
		process_free(table, process_of(value));
	u64_map_deinit(&table->processes);
	jit_children_deinit(&table->children);
	jit_reading_deinit(&table->reading);
	jit_images_destroy(table->images);
	free(table);
}

static struct process *process_find(const struct jit_table *table, uint32_t pid)
{
	uint64_t *slot = u64_map_find(&table->processes, pid);

	return slot != NULL ? process_of(*slot) : NULL;
}

static size_t processes_bytes(const struct jit_table *table)
{
	return table->process_count * sizeof(struct process);
}

/* Add a program; it precedes those that had its process id. */
static struct process *process_add(struct jit_table *table, uint32_t pid, uint64_t begun_ns)
{
	struct process *process;
	uint64_t *slot;

	if (processes_bytes(table) >= table->reading.bytes_max / PROCESSES_SHARE)
		return NULL;
	process = calloc(1, sizeof(*process));
	slot = process != NULL ? u64_map_insert(&table->processes, pid) : NULL;
	if (slot == NULL) {
		free(process);
		return NULL;
	}
	process->pid = pid;
	process->used = table->reading.drain;
	process->pause = 1;
	process->begun_ns = begun_ns;
	process->ended_ns = UINT64_MAX;
	jit_program_init(&process->program, begun_ns);
	process->program.pid = pid;
	process->older = process_of(*slot);
	*slot = (uintptr_t)process;
	table->process_count++;
	return process;
}

/* Return the program that a process runs now. */
static struct process *process_get(struct jit_table *table, uint32_t pid)
{
	struct process *process = process_find(table, pid);

	if (process != NULL && process->ended_ns == UINT64_MAX)
		return process;
	return process_add(table, pid, process != NULL ? process->ended_ns : 0);
}

/* Drop a program that listed no code. */
static void drop_empty(struct jit_table *table, struct process *process)
{
	uint64_t *slot = u64_map_find(&table->processes, process->pid);

	if (!jit_program_is_empty(&process->program) || slot == NULL)
		return;
	if (process->older != NULL)
		*slot = (uintptr_t)process->older;
	else
		u64_map_remove(&table->processes, process->pid);
	process->older = NULL;
	process_free(table, process);
}

/* Read the rest of the files of a program that has ended. */
static void program_end(struct jit_table *table, struct process *process)
{
	struct jit_work work;

	if (!jit_reading_begin(&table->reading, &work, process->pid)) {
		jit_program_postpone(&process->program);
		jit_program_close(&process->program, &table->reading);
		return;
	}
	table->reading.now_ns = clock_monotonic_ns();
	jit_program_end(&process->program, &table->reading, process->ended_ns);
	jit_reading_end(&work);
}

/* End a program; with @goes_on another one follows in the same process. */
static void process_end(struct jit_table *table, uint32_t pid, uint64_t time_ns, bool goes_on)
{
	struct process *process = process_find(table, pid), *next;

	if (goes_on)
		jit_children_remove(&table->children, pid);
	else
		jit_children_end(&table->children, pid);
	if (process == NULL)
		return;
	if (process->ended_ns == UINT64_MAX) {
		process->ended_ns = time_ns;
		process->program.pid = 0;
		program_end(table, process);
	}
	next = goes_on ? process_add(table, pid, time_ns) : NULL;
	if (next == NULL)
		drop_empty(table, process);
}

/* Return the program that a process ran at a time. */
static struct process *process_at(const struct jit_table *table, uint32_t pid, uint64_t time_ns)
{
	struct process *process = process_find(table, pid);

	while (process != NULL && (process->begun_ns > time_ns || process->ended_ns < time_ns))
		process = process->older;
	return process;
}

/* Keep the code that a child has inherited, as it was at the fork. */
static void keep_inherited(struct jit_table *table, const struct jit_child *child)
{
	for (int i = 0; i < ANCESTORS_MAX && child != NULL; i++) {
		struct process *process = process_at(table, child->parent, child->forked_ns);

		if (process != NULL && child->forked_ns < process->program.keep_ns)
			process->program.keep_ns = child->forked_ns;
		child = jit_children_find(&table->children, child->parent);
	}
}

static void process_fork(struct jit_table *table, const struct image_event *event)
{
	const struct jit_child child = {.parent = event->parent, .forked_ns = event->time_ns};

	process_end(table, event->pid, event->time_ns, true);
	if (event->parent != event->pid &&
	    (process_find(table, event->parent) != NULL ||
	     jit_children_find(&table->children, event->parent) != NULL) &&
	    jit_children_add(&table->children, event->pid, &child) == 0)
		keep_inherited(table, &child);
}

/* The executable can only be determined while the process lives. */
static void take_image(struct jit_table *table, struct process *process)
{
	struct jit_program *program = &process->program;
	int image = program->image == 0 ? image_table_jit(table->image_table, process->pid) : -1;

	if (image > 0)
		program->image = (uint32_t)image;
}

/* Limit open descriptors: close those of the program without samples for the longest time. */
static void files_limit(struct jit_table *table)
{
	struct process *victim = NULL;
	uint64_t pid, value;
	size_t cursor = 0;

	if (table->reading.files <= table->files_max)
		return;
	while (u64_map_next(&table->processes, &cursor, &pid, &value)) {
		struct process *process = process_of(value);

		for (; process != NULL; process = process->older) {
			if (jit_program_has_files(&process->program) &&
			    (victim == NULL || process->used < victim->used))
				victim = process;
		}
	}
	if (victim != NULL)
		jit_program_park(&victim->program, &table->reading);
}

static void file_set(struct jit_table *table, struct process *process, enum jit_program_file which,
		     const struct jit_file *file)
{
	bool is_first = process->program.files[which].inode == 0;

	if (jit_program_set_file(&process->program, which, file, &table->reading))
		take_image(table, process);
	if (is_first && which == JIT_PROGRAM_MAP && process->older != NULL)
		jit_program_follow(&process->program, &process->older->program);
	process->used = table->reading.drain;
	files_limit(table);
}

/*
 * A compiler may create its file late, or begin a new one. So search for it at intervals, and
 * whenever a sample has no name.
 */
static void map_open(struct jit_table *table, struct process *process)
{
	struct jit_file file;

	if (process->ended_ns != UINT64_MAX || table->reading.drain < process->try)
		return;
	process->try = table->reading.drain + process->pause;
	if (process->pause < PAUSE_MAX)
		process->pause *= 2;
	if (jit_file_open_map(&file, process->pid, process->begun_ns) == 0)
		file_set(table, process, JIT_PROGRAM_MAP, &file);
	else if (process->program.files[JIT_PROGRAM_MAP].inode == 0)
		process->no_map_ns = table->reading.now_ns;
}

static void dump_mapped(struct jit_table *table, const struct image_event *event)
{
	struct process *process = process_get(table, event->pid);
	struct jit_file file;

	if (process != NULL && jit_file_open_dump(&file, event) == 0)
		file_set(table, process, JIT_PROGRAM_DUMP, &file);
}

/* Anonymous memory may belong to a JIT compiler: search for its files while the process lives. */
static void memory_mapped(struct jit_table *table, const struct image_event *event)
{
	struct process *process = process_get(table, event->pid);
	struct jit_work work;

	if (process == NULL || jit_program_has_files(&process->program))
		return;
	process->postponed = !jit_reading_begin(&table->reading, &work, event->pid);
	if (process->postponed)
		return;
	map_open(table, process);
	jit_reading_end(&work);
}

/* Return true if no process has JIT code, or may have inherited it from its parent. */
static bool is_empty(const struct jit_table *table)
{
	return u64_map_count(&table->processes) == 0 && u64_map_count(&table->children.map) == 0;
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

/* Return: true if code was replaced. */
static bool process_files_read(struct jit_table *table, struct process *process)
{
	const struct jit_file *map = &process->program.files[JIT_PROGRAM_MAP];
	size_t before = jit_codes_count(&process->program.codes);
	bool replaced;

	if (map->fd >= 0 && jit_file_is_unlinked(map))
		process->try = table->reading.drain;
	map_open(table, process);
	replaced = jit_program_read(&process->program, &table->reading);
	/* A child's code may replace code that the child has inherited. */
	return replaced || (jit_codes_count(&process->program.codes) != before &&
			    jit_children_find(&table->children, process->pid) != NULL);
}

/* Return: false: the process's user has no points left. */
static bool process_refresh(struct jit_table *table, struct process *process)
{
	struct jit_work work;
	bool replaced;

	process->postponed = !jit_reading_begin(&table->reading, &work, process->pid);
	if (process->postponed) {
		jit_program_postpone(&process->program);
		return false;
	}
	table->reading.now_ns = clock_monotonic_ns();
	replaced = process_files_read(table, process);
	jit_reading_end(&work);
	/* Replaced code causes a flush. */
	if (replaced && !table->replaced)
		jit_reading_charge(&work, JIT_FLUSH_POINTS);
	table->replaced |= replaced;
	return true;
}

/* struct refresh - @postponed: a process was; @lacking: some code is not in memory */
struct refresh {
	bool postponed;
	bool lacking;
};

/* The next drain begins with the first postponed process, so that none waits forever. */
static void processes_refresh(struct jit_table *table, size_t begin, size_t end,
			      struct refresh *refresh)
{
	uint64_t pid, value;
	size_t cursor = begin;

	while (u64_map_next(&table->processes, &cursor, &pid, &value) && cursor <= end) {
		struct process *process = process_of(value);

		if (process->ended_ns == UINT64_MAX && !process_refresh(table, process)) {
			if (!refresh->postponed)
				table->first = cursor - 1;
			refresh->postponed = true;
		}
		refresh->lacking |= jit_program_lacks(&process->program);
	}
}

static void open_warn(struct jit_table *table)
{
	for (size_t i = 0; i < JIT_PARSERS && !table->warned; i++) {
		table->warned = table->reading.parsers[i].open;
		if (table->warned)
			log_warning("seccomp is not available; files are parsed without its "
				    "protection");
	}
}

void jit_table_drain(struct jit_table *table, uint64_t until_ns)
{
	struct refresh refresh = {.lacking = false};
	size_t first = table->first;

	table->reading.drain++;
	table->reading.until_ns = until_ns;
	processes_refresh(table, first, SIZE_MAX, &refresh);
	processes_refresh(table, 0, first, &refresh);
	open_warn(table);
	if (refresh.lacking && !table->lacking)
		table->lacking_ns = SETTLE_NS;
	table->lacking = refresh.lacking;
}

static enum jit_answer place_in(struct jit_table *table, struct process *process,
				const struct jit_window *window, uint64_t pc,
				struct image_place *place, struct jit_window *begin)
{
	if (process->program.image == 0)
		return JIT_NO_NAME;
	process->used = table->reading.drain;
	return jit_program_place(&process->program, table->images, window, pc, place, begin);
}

/* Return the time of a sample, as far as it is known. */
static struct jit_window sample_window(const struct jit_reading *reading,
				       const struct image_place *anonymous)
{
	struct jit_window window = {anonymous->since_ns, anonymous->until_ns};

	if (window.since_ns < reading->window_ns)
		window.since_ns = reading->window_ns;
	if (window.until_ns > reading->until_ns)
		window.until_ns = reading->until_ns;
	if (window.until_ns < window.since_ns)
		window.until_ns = window.since_ns;
	return window;
}

/* Search the programs that the process may have run when the sample was taken, last one first. */
static enum jit_answer place_by_time(struct jit_table *table, struct process *process, uint64_t pc,
				     const struct jit_window *window, struct image_place *place,
				     struct jit_window *begin)
{
	uint64_t since = window->since_ns, until = window->until_ns;
	enum jit_answer answer = JIT_NO_NAME;

	for (; process != NULL && answer == JIT_NO_NAME; process = process->older) {
		if ((process->begun_ns >= until && process->begun_ns > since) ||
		    process->ended_ns <= since)
			continue;
		answer = place_in(table, process, window, pc, place, begin);
		if (begin->since_ns < process->no_map_ns && process->no_map_ns < begin->until_ns)
			begin->since_ns = process->no_map_ns;
	}
	return answer;
}

/* Search the parent's files for code from before a fork, as it was then. */
static enum jit_answer place_inherited(struct jit_table *table, const struct jit_child *child,
				       uint64_t pc, struct image_place *place)
{
	enum jit_answer answer = JIT_NO_NAME;
	struct jit_window begin;

	for (int i = 0; i < ANCESTORS_MAX && child != NULL && answer == JIT_NO_NAME; i++) {
		const struct jit_window fork = {child->forked_ns, child->forked_ns};
		struct process *process = process_at(table, child->parent, child->forked_ns);

		if (process != NULL)
			answer = place_in(table, process, &fork, pc, place, &begin);
		child = jit_children_find(&table->children, child->parent);
	}
	return answer;
}

/* Return: the part of a window that is before a time, in percent */
static uint64_t percent_before(const struct jit_window *window, uint64_t time_ns)
{
	uint64_t all = window->until_ns - window->since_ns;
	uint64_t before = time_ns > window->since_ns ? time_ns - window->since_ns : 0;

	if (all == 0)
		return before > 0 ? 100 : 0;
	return before < all ? 100 * before / all : 100;
}

/*
 * A child lists code at the address of a sample, but may not have made it before the sample. The
 * code that the child inherited was there at first. @begin: when the child's code appeared
 */
static enum jit_answer weigh_inherited(struct jit_table *table, const struct jit_child *child,
				       uint64_t pc, const struct jit_window *window,
				       const struct jit_window *begin, struct image_place *place)
{
	struct image_place inherited = *place;

	if (begin->until_ns <= window->since_ns ||
	    100 - percent_before(window, begin->until_ns) >= JIT_CERTAIN_PERCENT ||
	    place_inherited(table, child, pc, &inherited) != JIT_NAMED ||
	    (inherited.image == place->image && inherited.offset == place->offset))
		return JIT_NAMED;
	if (percent_before(window, begin->since_ns) < JIT_CERTAIN_PERCENT) {
		*place = image_place_unknown(IMAGE_UNKNOWN_JIT_AMBIGUOUS);
		return JIT_AMBIGUOUS;
	}
	*place = inherited;
	return JIT_NAMED;
}

/*
 * Search for a perf map that the program may have created since. Return: true if there is a new
 * one.
 */
static bool look_again(struct jit_table *table, struct process *process)
{
	if (process->looked == table->reading.drain || jit_program_has_files(&process->program))
		return false;
	process->looked = process->try = table->reading.drain;
	process->pause = 1;
	process_refresh(table, process);
	return jit_program_has_files(&process->program);
}

/* Find code that the process lists, or that it has inherited. */
static enum jit_answer place_own(struct jit_table *table, struct process *process, uint32_t pid,
				 uint64_t pc, const struct jit_window *window,
				 struct image_place *place)
{
	const struct jit_child *child = jit_children_find(&table->children, pid);
	struct jit_window begin = {0};
	enum jit_answer answer = JIT_LIMIT;

	if (process != NULL)
		answer = place_by_time(table, process, pc, window, place, &begin);
	if (child != NULL && answer == JIT_NAMED)
		return weigh_inherited(table, child, pc, window, &begin, place);
	if (answer != JIT_NO_NAME)
		return answer;
	answer = place_inherited(table, child, pc, place);
	/* The child may list code that replaces the inherited code soon. */
	if (answer == JIT_NAMED && !jit_program_has_files(&process->program) &&
	    process->try > table->reading.drain + 1)
		process->try = table->reading.drain + 1;
	return answer;
}

void jit_table_place(struct jit_table *table, uint32_t pid, uint64_t pc, struct image_place *place)
{
	struct process *process = process_find(table, pid);
	const struct jit_window window = sample_window(&table->reading, place);
	enum jit_answer answer;

	if (process == NULL)
		process = process_get(table, pid);
	/* Inherited names have precedence: most children have no map of their own. */
	answer = place_own(table, process, pid, pc, &window, place);
	if (answer == JIT_NO_NAME && look_again(table, process))
		answer = place_own(table, process, pid, pc, &window, place);
	if (answer == JIT_LIMIT || (answer == JIT_NO_NAME && process != NULL && process->postponed))
		place->unknown = IMAGE_UNKNOWN_JIT_LIMIT;
	else if (answer == JIT_AMBIGUOUS)
		place->unknown = IMAGE_UNKNOWN_JIT_AMBIGUOUS;
}

static void keep_nothing(struct jit_table *table)
{
	uint64_t pid, value;
	size_t cursor = 0;

	while (u64_map_next(&table->processes, &cursor, &pid, &value)) {
		struct process *process = process_of(value);

		for (; process != NULL; process = process->older)
			process->program.keep_ns = UINT64_MAX;
	}
}

static void expire_children(struct jit_table *table)
{
	const struct jit_child *child;
	size_t cursor = 0;

	jit_children_expire(&table->children);
	keep_nothing(table);
	while ((child = jit_children_next(&table->children, &cursor)) != NULL)
		keep_inherited(table, child);
}

static bool is_over(const struct process *process, uint64_t time_ns)
{
	return process->ended_ns < time_ns && process->program.keep_ns == UINT64_MAX;
}

static void expire_older(struct jit_table *table, struct process *process, uint64_t time_ns)
{
	while (process->older != NULL) {
		struct process *older = process->older;

		if (!is_over(older, time_ns)) {
			process = older;
			continue;
		}
		process->older = older->older;
		older->older = NULL;
		process_free(table, older);
	}
}

/* Return: number of processes dropped, at most DROPPED_MAX. */
static size_t expire_ended(struct jit_table *table, uint64_t time_ns)
{
	uint64_t ended[DROPPED_MAX], pid, value;
	size_t cursor = 0, count = 0;

	while (count < DROPPED_MAX && u64_map_next(&table->processes, &cursor, &pid, &value)) {
		expire_older(table, process_of(value), time_ns);
		if (process_of(value)->older == NULL && is_over(process_of(value), time_ns))
			ended[count++] = pid;
	}
	for (size_t i = 0; i < count; i++) {
		struct process *process = process_find(table, (uint32_t)ended[i]);

		u64_map_remove(&table->processes, ended[i]);
		process_free(table, process);
	}
	return count;
}

void jit_table_expire(struct jit_table *table, uint64_t time_ns)
{
	table->reading.window_ns = time_ns;
	table->replaced = false;
	if (table->lacking_ns < LACKING_NS_MAX)
		table->lacking_ns *= 2;
	expire_children(table);
	while (expire_ended(table, time_ns) == DROPPED_MAX)
		;
}

bool jit_table_unsettled(const struct jit_table *table)
{
	uint64_t flushed_ns = table->reading.window_ns, until_ns = table->reading.until_ns;

	return (table->replaced && until_ns > flushed_ns + SETTLE_NS) ||
	       (table->lacking && until_ns > flushed_ns + table->lacking_ns);
}

void jit_table_counters(const struct jit_table *table, struct counter_set *tally)
{
	if (table->reading.evicted > 0)
		counter_set_put(tally, "stat", "jit_evicted", table->reading.evicted);
	if (table->reading.postponed > 0)
		counter_set_put(tally, "stat", "jit_postponed", table->reading.postponed);
	if (jit_reading_failed(&table->reading) > 0)
		counter_set_put(tally, "stat", "jit_parse_failed",
				jit_reading_failed(&table->reading));
	counter_set_put(tally, "stat", "jit_user_ms",
			quota_totals(&table->reading.quota).spent / JIT_POINTS_PER_MS);
	counter_set_put(tally, "stat", "jit_parse_ms",
			jit_reading_parsed_ns(&table->reading) / NS_PER_MS);
}

size_t jit_table_bytes(const struct jit_table *table)
{
	return sizeof(*table) + table->reading.bytes + processes_bytes(table) +
	       u64_map_bytes(&table->processes) + jit_children_bytes(&table->children) +
	       jit_images_bytes(table->images);
}

struct jit_images *jit_table_images(struct jit_table *table)
{
	return table->images;
}
