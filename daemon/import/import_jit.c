// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/import/import_jit.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/image/image_map.h"
#include "daemon/image/image_place.h"
#include "daemon/image/image_table.h"
#include "daemon/image/jit_file.h"
#include "daemon/import/import_lives.h"
#include "daemon/jit/jit_program.h"
#include "daemon/jit/jit_reading.h"
#include "lib/clock.h"
#include "loader-hook/proc/process_stat.h"

/* Times of files and processes have the resolution of the kernel's tick. */
#define TICK_NS ((int64_t)(20 * NS_PER_MS))
/*
 * perf's clock and CLOCK_MONOTONIC drift apart by at most 1 in 1000, and are not read at the same
 * time.
 */
#define DRIFT_RATIO 1000
#define DRIFT_NS ((int64_t)(2 * NS_PER_SECOND))
/* A map is read at most this number of times JIT_USER_BURST_BYTES: it may grow constantly. */
#define READS_MAX 64
#define DRAINS_PER_READ (JIT_USER_BURST_BYTES / JIT_USER_DRAIN_BYTES)
/* Fraction of the memory for code that may be used for programs: a quarter. */
#define PROGRAMS_SHARE 4
/* Maximum depth of processes that were forked without an exec. */
#define ANCESTORS_MAX 4

/*
 * A program with samples in anonymous memory.
 *
 * @begun_ns, @seen_ns: its start, and the last write of its map; by the recording's clock
 * @older:              another program of the same process
 */
struct recorded {
	uint64_t begun_ns;
	uint64_t seen_ns;
	struct jit_program program;
	struct recorded *older;
};

/*
 * @early_ns, @late_ns: lower and upper bound of CLOCK_REALTIME minus the recording's clock
 */
struct import_jit {
	struct image_table *images;
	struct jit_images *procedures;
	const struct import_lives *lives;
	int64_t early_ns;
	int64_t late_ns;
	struct u64_map programs; /* pid -> struct recorded * */
	size_t program_count;
	struct jit_reading reading;
};

static struct recorded *recorded_of(uint64_t value)
{
	return (struct recorded *)(uintptr_t)value;
}

/* Evict code of the largest program. */
static void make_room(void *context)
{
	struct import_jit *jit = context;

	while (jit->reading.bytes > jit->reading.bytes_max) {
		struct recorded *largest = NULL;
		size_t cursor = 0, before = jit->reading.bytes;
		uint64_t pid, value;

		while (u64_map_next(&jit->programs, &cursor, &pid, &value)) {
			struct recorded *one = recorded_of(value);

			for (; one != NULL; one = one->older) {
				if (largest == NULL || one->program.bytes > largest->program.bytes)
					largest = one;
			}
		}
		if (largest != NULL)
			jit_program_evict(&largest->program, &jit->reading);
		if (jit->reading.bytes >= before)
			return;
	}
}

/* Return: 0 or -ESTALE. */
static int clocks_compare(struct import_jit *jit, uint64_t last_ns, int64_t written_ns)
{
	uint64_t now = clock_monotonic_ns();
	int64_t drift = DRIFT_NS + (int64_t)(now / DRIFT_RATIO), booted, of_file;

	if (last_ns == 0 || last_ns > now + (uint64_t)drift || written_ns < (int64_t)last_ns)
		return -ESTALE;
	booted = clock_real_ns() - (int64_t)now;
	of_file = written_ns - (int64_t)last_ns;
	if (of_file < booted - drift)
		return -ESTALE;
	/* The file may have been written, or copied, some time after the last record. */
	jit->early_ns = of_file < booted ? of_file : booted;
	jit->late_ns = of_file < booted + drift ? of_file : booted + drift;
	if (jit->late_ns < booted)
		jit->late_ns = booted;
	return 0;
}

int import_jit_create(struct import_jit **ret, struct image_table *images,
		      struct jit_images *procedures, const struct import_lives *lives,
		      uint64_t last_ns, int64_t written_ns)
{
	struct import_jit *jit = calloc(1, sizeof(*jit));

	if (jit == NULL)
		return -ENOMEM;
	if (clocks_compare(jit, last_ns, written_ns) < 0) {
		free(jit);
		return -ESTALE;
	}
	jit->images = images;
	jit->procedures = procedures;
	jit->lives = lives;
	jit->reading.bytes_max = JIT_BYTES_MAX;
	jit->reading.room = make_room;
	jit->reading.context = jit;
	*ret = jit;
	return 0;
}

void import_jit_destroy(struct import_jit *jit)
{
	uint64_t pid, value;
	size_t cursor = 0;

	if (jit == NULL)
		return;
	while (u64_map_next(&jit->programs, &cursor, &pid, &value)) {
		struct recorded *one = recorded_of(value), *older;

		for (; one != NULL; one = older) {
			older = one->older;
			jit_program_deinit(&one->program, &jit->reading);
			free(one);
		}
	}
	u64_map_deinit(&jit->programs);
	jit_reading_deinit(&jit->reading);
	free(jit);
}

/*
 * Return: when the process that has an id now was created, CLOCK_REALTIME; -ESRCH: there is none.
 */
static int64_t made_now(uint32_t pid)
{
	struct process_stat process;

	if (process_stat_read(&process, pid) < 0)
		return -ESRCH;
	return clock_real_ns() - (int64_t)clock_boot_ns() +
	       (int64_t)(process.start * (NS_PER_SECOND / (uint64_t)sysconf(_SC_CLK_TCK)));
}

/*
 * Return true if a map was written while a program ran. If it may belong to either of two programs
 * of a process, it is attributed to the later one.
 *
 * @until_ns: CLOCK_REALTIME: since then the map of a later process may be there; INT64_MAX: there
 *            is none
 */
static bool is_of_life(const struct import_jit *jit, const struct import_life *life,
		       int64_t written_ns, int64_t until_ns)
{
	if (written_ns + TICK_NS < (int64_t)life->begun_ns + jit->early_ns || written_ns > until_ns)
		return false;
	if (life->followed)
		return written_ns + TICK_NS < (int64_t)life->ended_ns + jit->early_ns;
	return life->ended_ns == UINT64_MAX ||
	       written_ns <= (int64_t)life->ended_ns + jit->late_ns + TICK_NS;
}

/*
 * Open the perf map of a program, if it belongs to that program.
 *
 * @written_ns: out: when it was last written, CLOCK_REALTIME
 */
static int map_open(const struct import_jit *jit, uint32_t pid, const struct import_life *life,
		    uint64_t time_ns, struct jit_file *file, int64_t *written_ns)
{
	int64_t made = made_now(pid);
	bool lives = life->ended_ns == UINT64_MAX && made >= 0 &&
		     made <= (int64_t)time_ns + jit->late_ns + TICK_NS;
	struct stat status;
	int r = lives ? jit_file_open_map(file, pid, 0) : jit_file_open_ended(file, pid);

	if (r < 0)
		return r;
	if (fstat(file->fd, &status) < 0 ||
	    (uint64_t)status.st_mtim.tv_sec > IMPORT_TIME_MAX / NS_PER_SECOND) {
		jit_file_close(file);
		return -ENOENT;
	}
	*written_ns = status.st_mtim.tv_sec * (int64_t)NS_PER_SECOND + status.st_mtim.tv_nsec;
	if (is_of_life(jit, life, *written_ns, lives || made < 0 ? INT64_MAX : made))
		return 0;
	jit_file_close(file);
	return -ENOENT;
}

static void recorded_image(struct import_jit *jit, struct jit_program *program, uint32_t executable)
{
	int image = image_table_jit_of(jit->images, executable);

	if (image > 0)
		program->image = (uint32_t)image;
}

/* All names in the map appeared between the program's start and the map's last write. */
static void map_read(struct import_jit *jit, struct recorded *one, const struct jit_file *file,
		     int64_t written_ns)
{
	struct jit_reading *reading = &jit->reading;
	int64_t seen = written_ns - jit->early_ns;

	one->seen_ns = seen > (int64_t)one->begun_ns ? (uint64_t)seen : one->begun_ns + 1;
	reading->now_ns = reading->until_ns = one->seen_ns;
	jit_program_set_file(&one->program, JIT_PROGRAM_MAP, file, reading);
	for (int i = 0; i < READS_MAX && (i == 0 || one->program.behind); i++) {
		reading->drain += DRAINS_PER_READ;
		jit_program_read(&one->program, reading);
	}
	jit_program_close(&one->program, reading);
}

static struct recorded *recorded_add(struct import_jit *jit, uint32_t pid, uint64_t begun_ns)
{
	struct recorded *one;
	uint64_t *slot;

	if (jit->program_count >= jit->reading.bytes_max / PROGRAMS_SHARE / sizeof(*one))
		return NULL;
	one = calloc(1, sizeof(*one));
	slot = one != NULL ? u64_map_insert(&jit->programs, pid) : NULL;
	if (slot == NULL) {
		free(one);
		return NULL;
	}
	one->begun_ns = begun_ns;
	jit_program_init(&one->program, begun_ns);
	one->older = recorded_of(*slot);
	*slot = (uintptr_t)one;
	jit->program_count++;
	return one;
}

/* Return the program of a process; its map is read at the first call. */
static struct recorded *recorded_get(struct import_jit *jit, uint32_t pid,
				     const struct import_life *life, uint32_t executable,
				     uint64_t time_ns)
{
	uint64_t *slot = u64_map_find(&jit->programs, pid);
	struct recorded *one = slot != NULL ? recorded_of(*slot) : NULL;
	struct jit_file file;
	int64_t written_ns;

	while (one != NULL && one->begun_ns != life->begun_ns)
		one = one->older;
	if (one != NULL)
		return one;
	one = recorded_add(jit, pid, life->begun_ns);
	if (one != NULL && map_open(jit, pid, life, time_ns, &file, &written_ns) == 0) {
		recorded_image(jit, &one->program, executable);
		map_read(jit, one, &file, written_ns);
	}
	return one;
}

/* The map of a recorded process has no times: its lines are valid for all of its life. */
static enum jit_answer import_jit_place_in(const struct import_jit *jit, struct recorded *one,
					   uint64_t pc, struct image_place *place)
{
	const struct jit_window life = {one->begun_ns, one->seen_ns};
	struct jit_window begin;

	return jit_program_place(&one->program, jit->procedures, &life, pc, place, &begin);
}

void import_jit_place(struct import_jit *jit, uint32_t pid, uint32_t executable, uint64_t pc,
		      uint64_t time_ns, struct image_place *place)
{
	enum jit_answer answer = JIT_NO_NAME;
	struct import_life life;

	if (time_ns > IMPORT_TIME_MAX)
		return;
	/* Code from before a fork is listed in the parent's map. */
	for (int i = 0; i < ANCESTORS_MAX && answer == JIT_NO_NAME && pid != 0; i++) {
		struct recorded *one = NULL;

		if (import_lives_find(jit->lives, pid, time_ns, &life))
			one = recorded_get(jit, pid, &life, executable, time_ns);
		if (one == NULL)
			answer = JIT_LIMIT;
		else if (one->program.image != 0)
			answer = import_jit_place_in(jit, one, pc, place);
		/*
		 * Names that the parent listed after the fork may belong to other addresses in the
		 * child.
		 */
		if (answer == JIT_NAMED && i > 0 && one->seen_ns > time_ns + TICK_NS) {
			*place = image_place_unknown(IMAGE_UNKNOWN_ANONYMOUS);
			answer = JIT_AMBIGUOUS;
		}
		pid = life.parent;
		time_ns = life.begun_ns;
	}
	if (answer == JIT_LIMIT)
		place->unknown = IMAGE_UNKNOWN_JIT_LIMIT;
	else if (answer == JIT_AMBIGUOUS)
		place->unknown = IMAGE_UNKNOWN_JIT_AMBIGUOUS;
}
