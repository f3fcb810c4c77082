// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/import/import_lives.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#include "lib/array.h"
#include "lib/partition_point.h"
#include "loader-hook/perf/side_band_record.h"

/* 96 MiB. */
#define MARKS_MAX ((size_t)4 << 20)

void import_lives_deinit(struct import_lives *lives)
{
	free(lives->marks);
	*lives = (struct import_lives){0};
}

void import_lives_add(struct import_lives *lives, const struct import_mark *mark)
{
	if (lives->count >= MARKS_MAX ||
	    array_reserve(&lives->marks, &lives->capacity, lives->count + 1,
			  sizeof(*lives->marks)) < 0) {
		lives->incomplete = true;
		return;
	}
	lives->marks[lives->count++] = *mark;
}

void import_lives_record(struct import_lives *lives, const struct perf_event_header *record,
			 size_t trailer_bytes, uint64_t time_ns)
{
	struct side_band_record taken;
	struct import_mark mark = {.time_ns = time_ns};

	if (time_ns == 0 || time_ns > IMPORT_TIME_MAX ||
	    (record->type != PERF_RECORD_COMM && record->type != PERF_RECORD_FORK &&
	     record->type != PERF_RECORD_EXIT))
		return;
	side_band_record_take(&taken, record, trailer_bytes, time_ns);
	mark.pid = taken.event.pid;
	if (taken.kind == SIDE_BAND_EXIT && taken.tid == mark.pid) {
		import_lives_add(lives, &mark);
		return;
	}
	if (taken.kind != SIDE_BAND_EVENT ||
	    (taken.event.type != IMAGE_EVENT_FORK && taken.event.type != IMAGE_EVENT_EXEC))
		return;
	mark.begins = 1;
	if (taken.event.type == IMAGE_EVENT_FORK && taken.event.parent != mark.pid)
		mark.parent = taken.event.parent;
	import_lives_add(lives, &mark);
}

static int compare_marks(const void *a, const void *b)
{
	const struct import_mark *x = a, *y = b;
	int r = (x->pid > y->pid) - (x->pid < y->pid);

	if (r == 0)
		r = (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
	return r != 0 ? r : (x->begins > y->begins) - (x->begins < y->begins);
}

void import_lives_settle(struct import_lives *lives)
{
	if (lives->count > 0)
		qsort(lives->marks, lives->count, sizeof(*lives->marks), compare_marks);
}

/* Return: number of marks of lower processes, or of this one up to @time_ns. */
static size_t count_up_to(const struct import_lives *lives, uint32_t pid, uint64_t time_ns)
{
	return partition_point(0, lives->count, i,
			       lives->marks[i].pid < pid || (lives->marks[i].pid == pid &&
							     lives->marks[i].time_ns <= time_ns));
}

bool import_lives_find(const struct import_lives *lives, uint32_t pid, uint64_t time_ns,
		       struct import_life *ret)
{
	size_t next = count_up_to(lives, pid, time_ns);

	*ret = (struct import_life){.ended_ns = UINT64_MAX};
	/* A sample that was taken while the process exited may be later than its exit. */
	while (next > 0 && lives->marks[next - 1].pid == pid && !lives->marks[next - 1].begins)
		next--;
	if (next > 0 && lives->marks[next - 1].pid == pid) {
		ret->begun_ns = lives->marks[next - 1].time_ns;
		ret->parent = lives->marks[next - 1].parent;
	}
	if (next < lives->count && lives->marks[next].pid == pid) {
		ret->ended_ns = lives->marks[next].time_ns;
		ret->followed = lives->marks[next].begins;
	}
	return !lives->incomplete;
}
