// SPDX-License-Identifier: GPL-2.0-only
#include "db/profile_owners.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "db/profile_read.h"
#include "db/profile_reader.h"
#include "lib/array.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* A value of the column pid in an epoch. */
struct profile_owner {
	int64_t epoch;
	int64_t pid;
};

/* Search of one epoch: owners from @first on, @labels labels, then processes. */
struct search {
	struct profile_owners *owners;
	int64_t epoch;
	size_t first;
	size_t labels;
};

static int profile_owners_compare(const void *a, const void *b)
{
	const struct profile_owner *x = a, *y = b;

	if (x->epoch != y->epoch)
		return x->epoch < y->epoch ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

static int profile_owners_add(struct search *search, int64_t pid)
{
	struct profile_owners *owners = search->owners;

	if (array_reserve(&owners->list, &owners->capacity, owners->count + 1,
			  sizeof(*owners->list)) < 0)
		return -ENOMEM;
	owners->list[owners->count++] = (struct profile_owner){search->epoch, pid};
	return 0;
}

static bool is_of_unit(const char *pattern, const char *unit)
{
	return pattern == NULL || fnmatch(pattern, unit, 0) == 0;
}

/* Match a pattern, or the beginning of the id, as container tools print it. */
static bool is_of_container(const char *pattern, const char *container)
{
	if (pattern == NULL || fnmatch(pattern, container, 0) == 0)
		return true;
	return pattern[0] != '\0' && strncmp(container, pattern, strlen(pattern)) == 0;
}

static int take_label(void *context, const struct profile_label *label)
{
	struct search *search = context;
	const struct profile_filter *filter = search->owners->filter;

	if (!is_of_unit(filter->unit, label->unit) ||
	    !is_of_container(filter->container, label->container))
		return 0;
	return profile_owners_add(search, PROFILE_PID_OF_LABEL(label->number));
}

static bool is_listed(const struct profile_owner *list, size_t count, int64_t epoch, int64_t pid)
{
	const struct profile_owner key = {epoch, pid};

	return count > 0 &&
	       bsearch(&key, list, count, sizeof(*list), profile_owners_compare) != NULL;
}

static int take_process(void *context, const struct profile_process *process)
{
	struct search *search = context;

	if (process->label == 0 || !is_listed(search->owners->list + search->first, search->labels,
					      search->epoch, PROFILE_PID_OF_LABEL(process->label)))
		return 0;
	return profile_owners_add(search, process->pid);
}

static int search_epoch(struct search *search, struct profile_reader *reader, struct error *err)
{
	struct profile_owners *owners = search->owners;
	int r;

	search->first = owners->count;
	r = profile_reader_labels(reader, search->epoch, take_label, search, err);
	search->labels = owners->count - search->first;
	if (r == 0 && search->labels > 0) {
		qsort(owners->list + search->first, search->labels, sizeof(*owners->list),
		      profile_owners_compare);
		r = profile_reader_processes(reader, search->epoch, take_process, search, err);
	}
	return r;
}

int profile_owners_find(struct profile_owners *owners, struct profile_reader *reader,
			const struct profile_filter *filter, const struct epoch_set *epochs,
			struct error *err)
{
	struct search search = {.owners = owners};
	int r = 0;
	size_t i;

	owners->filter = filter;
	if (filter->unit == NULL && filter->container == NULL)
		return 0;
	for (i = 0; i < epochs->count && r == 0; i++) {
		search.epoch = epochs->ids[i];
		r = search_epoch(&search, reader, err);
	}
	if (r == -ENOMEM)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r == 0 && owners->count > 0)
		qsort(owners->list, owners->count, sizeof(*owners->list), profile_owners_compare);
	return r;
}

void profile_owners_deinit(struct profile_owners *owners)
{
	free(owners->list);
	*owners = (struct profile_owners){.list = NULL};
}

bool profile_owners_has(const struct profile_owners *owners, int64_t epoch, int64_t pid)
{
	const struct profile_filter *filter = owners->filter;

	if (filter->has_pid && filter->pid != PROFILE_PID_ALL && filter->pid != pid)
		return false;
	if (filter->unit == NULL && filter->container == NULL)
		return true;
	return is_listed(owners->list, owners->count, epoch, pid);
}
