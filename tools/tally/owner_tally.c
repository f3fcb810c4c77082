// SPDX-License-Identifier: GPL-2.0-only
#include "tools/tally/owner_tally.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/report/event_scale.h"
#include "tools/report/image_label.h"
#include "tools/tally/owner_excluded.h"

static const struct owner_row nobody = {
	.unit = "", .container = "", .command = "", .pid = -1, .host = "", .label = ""};

static bool is_of_process(enum owner_by by)
{
	return by == OWNER_BY_PROCESS || by == OWNER_BY_COMMAND;
}

static bool is_of_epoch(enum owner_by by)
{
	return by == OWNER_BY_HOST || by == OWNER_BY_EPOCH;
}

CLEANUP_DEFINE(owner_tally, struct owner_tally *, owner_tally_destroy)

int owner_tally_no_memory(struct owner_tally *tally)
{
	return error_set(tally->err, ENOMEM, ERROR_NO_MEMORY);
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp(((const struct owner *)a)->key, ((const struct owner *)b)->key);
}

static void free_owner(void *p)
{
	struct owner *owner = p;

	free((char *)(uintptr_t)owner->row.unit);
	free((char *)(uintptr_t)owner->row.container);
	free((char *)(uintptr_t)owner->row.command);
	free((char *)(uintptr_t)owner->row.host);
	free((char *)(uintptr_t)owner->row.label);
	free(owner->row.counts);
	free(owner->key);
	free(owner);
}

static struct owner *make_owner(const struct owner_tally *tally, const struct owner_row *row,
				const char *key)
{
	struct owner *owner = calloc(1, sizeof(*owner));

	if (owner == NULL)
		return NULL;
	owner->row = (struct owner_row){
		.unit = strdup(row->unit),
		.container = strdup(row->container),
		.command = strdup(row->command),
		.pid = row->pid,
		.host = strdup(row->host),
		.label = strdup(row->label),
		.epoch = row->epoch,
		.start_ns = row->start_ns,
		.counts = calloc(tally->config.event_count + 1, sizeof(*row->counts)),
	};
	owner->key = strdup(key);
	if (owner->row.unit != NULL && owner->row.container != NULL && owner->row.command != NULL &&
	    owner->row.host != NULL && owner->row.label != NULL && owner->row.counts != NULL &&
	    owner->key != NULL)
		return owner;
	free_owner(owner);
	return NULL;
}

/* Return the row that @row describes, created if missing; NULL: out of memory. */
static struct owner *owner_of(struct owner_tally *tally, const struct owner_row *row)
{
	_cleanup_free_ char *key = NULL;
	struct owner *owner, probe, *const *found;

	if (asprintf(&key, "%lld\n%lld\n%s\n%s\n%s\n%s", (long long)row->pid, (long long)row->epoch,
		     row->host, row->unit, row->container, row->command) < 0) {
		key = NULL;
		return NULL;
	}
	probe.key = key;
	found = tfind(&probe, &tally->owners, compare_keys);
	if (found != NULL)
		return *found;
	if (array_reserve(&tally->rows, &tally->row_capacity, tally->row_count + 1,
			  sizeof(*tally->rows)) < 0)
		return NULL;
	owner = make_owner(tally, row, key);
	if (owner == NULL)
		return NULL;
	if (tsearch(owner, &tally->owners, compare_keys) == NULL) {
		free_owner(owner);
		return NULL;
	}
	tally->rows[tally->row_count++] = &owner->row;
	return owner;
}

/* Names of an epoch's labels. */

static uint64_t label_key(int64_t epoch, uint32_t label)
{
	return (uint64_t)epoch << 32 ^ label;
}

static int take_label(void *context, const struct profile_label *label)
{
	struct owner_tally *tally = context;
	struct name name = {.unit = strdup(label->unit), .container = strdup(label->container)};
	uint64_t *slot;

	tally->known |= owner_tally_has_labels(tally->config.by);
	slot = u64_map_insert(&tally->labels, label_key(tally->epoch, label->number));
	if (slot == NULL || name.unit == NULL || name.container == NULL ||
	    array_reserve(&tally->names, &tally->name_capacity, tally->name_count + 1,
			  sizeof(name)) < 0) {
		free(name.unit);
		free(name.container);
		return owner_tally_no_memory(tally);
	}
	tally->names[tally->name_count++] = name;
	*slot = tally->name_count;
	return 0;
}

static const struct name *owner_tally_name_of(const struct owner_tally *tally, int64_t epoch,
					      uint32_t label)
{
	static char none[] = "";
	static const struct name unnamed = {.unit = none, .container = none};
	const uint64_t *slot = u64_map_find(&tally->labels, label_key(epoch, label));

	return slot != NULL && *slot > 0 ? &tally->names[*slot - 1] : &unnamed;
}

/* Counting. */

long owner_tally_event(const struct owner_tally *tally, const char *name)
{
	for (size_t i = 0; i < tally->config.event_count; i++) {
		if (strcmp(tally->config.events[i], name) == 0)
			return (long)i;
	}
	return -1;
}

static enum match match_image(const struct owner_tally *tally, const struct profile_image *image)
{
	if (!tally->config.include.profiler &&
	    profiler_class_of(image, NULL, PROFILER_PROBES_NONE) == PROFILER_WHOLE)
		return MATCH_EXCLUDED;
	if (tally->config.image != NULL && !image_label_matches(image, tally->config.image))
		return MATCH_NO;
	return MATCH_YES;
}

/* Return: enum match, or an error. */
static int image_matches(struct owner_tally *tally, int64_t id)
{
	uint64_t *slot = u64_map_insert(&tally->matches, (uint64_t)id);
	struct profile_image image;
	int r;

	if (slot == NULL)
		return owner_tally_no_memory(tally);
	if (*slot == MATCH_UNKNOWN) {
		r = profile_reader_image(tally->reader, id, &image, tally->err);
		if (r < 0)
			return r;
		*slot = match_image(tally, &image);
		if (*slot == MATCH_YES) {
			if (array_reserve(&tally->images, &tally->image_capacity,
					  tally->image_count + 1, sizeof(*tally->images)) < 0)
				return owner_tally_no_memory(tally);
			tally->images[tally->image_count++] = id;
		}
	}
	return (int)*slot;
}

static int take_share(void *context, const struct profile_share *share)
{
	struct owner_tally *tally = context;
	double factor = event_scale_factor(tally->config.scale, share->epoch, share->event);
	const struct name *name = owner_tally_name_of(tally, share->epoch, share->label);
	struct owner_row row = nobody;
	long event = owner_tally_event(tally, share->event_name);
	struct tally_count *rest;
	struct owner *owner;
	int r = event >= 0 ? image_matches(tally, share->image) : MATCH_NO;

	if (r != MATCH_YES)
		return r < 0 ? r : 0;
	if (tally->config.by == OWNER_BY_UNIT)
		row.unit = name->unit;
	else
		row.container = name->container;
	owner = owner_of(tally, &row);
	if (owner == NULL)
		return owner_tally_no_memory(tally);
	rest = &tally->rest->row.counts[event];
	if (share->samples > rest->samples)
		return error_set(tally->err, EBADMSG,
				 "database is damaged: units have more samples than images");
	rest->samples -= share->samples;
	rest->extra -= (double)share->samples * (factor - 1);
	if (rest->samples == 0 || rest->extra < 0)
		rest->extra = 0; /* remove the rounding error */
	tally_count_add(&owner->row.counts[event], share->samples, factor);
	return 0;
}

static bool pid_wanted(const struct profile_filter *filter, int64_t pid)
{
	return !filter->has_pid || filter->pid == PROFILE_PID_ALL || filter->pid == pid;
}

/*
 * A process is identified by its number and name, because its number may be reused in a later
 * epoch.
 */
static int process_of(struct owner_tally *tally, const struct profile *profile, struct owner **ret)
{
	struct owner_row row = nobody;
	char command[64];
	int r;

	row.pid = tally->config.by == OWNER_BY_COMMAND ? 0 : profile->pid;
	r = profile_reader_command(tally->reader, profile->epoch, profile->pid, command,
				   sizeof(command), tally->err);
	if (r < 0)
		return r;
	row.command = command;
	tally->known = true;
	*ret = owner_of(tally, &row);
	return *ret != NULL ? 0 : owner_tally_no_memory(tally);
}

/* The rows of epochs exist before their profiles are read. */
static int owner_of_epoch(const struct owner_tally *tally, int64_t epoch, struct owner **ret)
{
	const uint64_t *owner = u64_map_find(&tally->epochs, (uint64_t)epoch);

	if (owner == NULL)
		return error_set(tally->err, EBADMSG,
				 "database is damaged: samples refer to an unknown epoch");
	*ret = (struct owner *)(uintptr_t)*owner;
	return 0;
}

int owner_tally_find(struct owner_tally *tally, const struct profile *profile, struct owner **ret)
{
	*ret = tally->rest;
	if (!owner_tally_has_labels(tally->config.by) && !profile->chosen)
		*ret = NULL;
	else if (is_of_process(tally->config.by) && profile->pid >= 0)
		return process_of(tally, profile, ret);
	else if (is_of_epoch(tally->config.by))
		return owner_of_epoch(tally, profile->epoch, ret);
	return 0;
}

static int owner_tally_take_profile(void *context, const struct profile *profile)
{
	struct owner_tally *tally = context;
	double factor = event_scale_factor(tally->config.scale, profile->epoch, profile->event);
	long event = owner_tally_event(tally, profile->event_name);
	struct owner *owner;
	uint64_t sum;
	int r;

	if (event < 0)
		return 0;
	if (__builtin_add_overflow(tally->totals[event].samples, profile->total, &sum))
		return error_set(tally->err, EBADMSG, ERROR_DATABASE_COUNTS);
	tally_count_add(&tally->totals[event], profile->total, factor);
	r = image_matches(tally, profile->image);
	if (r >= 0 && profile->pid == PROFILE_PID_PROFILER && !tally->config.include.profiler)
		r = MATCH_EXCLUDED;
	if (r == MATCH_EXCLUDED)
		tally_count_add(&tally->excluded[PROFILER_WHOLE][event], profile->total, factor);
	if (r != MATCH_YES)
		return r < 0 ? r : 0;
	r = owner_tally_find(tally, profile, &owner);
	if (r == 0 && owner != NULL)
		tally_count_add(&owner->row.counts[event], profile->total, factor);
	return r;
}

/*
 * Set the unit of a process that has a row; if several epochs have the process, the last one
 * applies.
 */
static int take_process(void *context, const struct profile_process *process)
{
	struct owner_tally *tally = context;
	const struct name *name = owner_tally_name_of(tally, tally->epoch, process->label);
	struct owner_row row = nobody;
	struct owner *owner;
	char *unit, *container;

	if (process->label == 0 || !pid_wanted(&tally->config.filter, process->pid))
		return 0;
	row.command = process->command;
	row.pid = process->pid;
	owner = owner_of(tally, &row);
	unit = strdup(name->unit);
	container = strdup(name->container);
	if (owner == NULL || unit == NULL || container == NULL) {
		free(unit);
		free(container);
		return owner_tally_no_memory(tally);
	}
	free((char *)(uintptr_t)owner->row.unit);
	free((char *)(uintptr_t)owner->row.container);
	owner->row.unit = unit;
	owner->row.container = container;
	return 0;
}

/* Add the row of an epoch or its host. */
static int owner_tally_add_epoch(struct owner_tally *tally, const struct profile_epoch *epoch)
{
	uint64_t *slot = u64_map_insert(&tally->epochs, (uint64_t)epoch->id);
	struct owner_row row = nobody;

	row.host = epoch->host;
	if (tally->config.by == OWNER_BY_EPOCH) {
		row.label = epoch->label;
		row.epoch = epoch->id;
		row.start_ns = epoch->start_ns;
	}
	if (slot == NULL)
		return owner_tally_no_memory(tally);
	*slot = (uintptr_t)owner_of(tally, &row);
	tally->known = true;
	return *slot != 0 ? 0 : owner_tally_no_memory(tally);
}

static int take_epoch(void *context, const struct profile_epoch *epoch)
{
	struct owner_tally *tally = context;
	int r;

	tally->epoch = epoch->id;
	if (is_of_epoch(tally->config.by))
		return owner_tally_add_epoch(tally, epoch);
	r = profile_reader_labels(tally->reader, epoch->id, take_label, tally, tally->err);
	if (r == 0 && tally->config.by == OWNER_BY_PROCESS)
		r = profile_reader_processes(tally->reader, epoch->id, take_process, tally,
					     tally->err);
	return r;
}

static int owner_tally_compare_rows(const void *a, const void *b, void *context)
{
	const struct owner_row *x = *(const struct owner_row *const *)a;
	const struct owner_row *y = *(const struct owner_row *const *)b;
	const struct owner_tally *tally = context;
	int r;

	if (tally->config.by == OWNER_BY_EPOCH && x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	for (size_t i = 0; i < tally->config.event_count; i++) {
		uint64_t m = tally_count_scaled(&x->counts[i]);
		uint64_t n = tally_count_scaled(&y->counts[i]);

		if (m != n)
			return m < n ? 1 : -1;
	}
	r = strcmp(x->unit, y->unit);
	if (r == 0)
		r = strcmp(x->container, y->container);
	if (r == 0)
		r = strcmp(x->command, y->command);
	if (r == 0)
		r = strcmp(x->host, y->host);
	if (r == 0)
		r = (x->epoch > y->epoch) - (x->epoch < y->epoch);
	return r != 0 ? r : (x->pid > y->pid) - (x->pid < y->pid);
}

/* Keep the rows with samples, and sort them. */
static void owner_tally_settle(struct owner_tally *tally)
{
	size_t kept = 0;

	for (size_t i = 0; i < tally->row_count; i++) {
		uint64_t any = 0;

		for (size_t event = 0; event < tally->config.event_count; event++)
			any |= tally->rows[i]->counts[event].samples;
		if (any != 0)
			tally->rows[kept++] = tally->rows[i];
	}
	tally->row_count = kept;
	if (kept > 0)
		qsort_r(tally->rows, kept, sizeof(*tally->rows), owner_tally_compare_rows, tally);
}

static int count_all(struct owner_tally *tally)
{
	struct profile_filter filter = tally->config.filter;
	int r;

	filter.event = NULL;
	filter.others_too = true;
	tally->rest = owner_of(tally, &nobody);
	tally->totals = calloc(tally->config.event_count + 1, sizeof(*tally->totals));
	for (int class = 0; tally->totals != NULL && class < PROFILER_CLASSES; class ++) {
		tally->excluded[class] =
			calloc(tally->config.event_count + 1, sizeof(*tally->totals));
		if (tally->excluded[class] == NULL)
			return owner_tally_no_memory(tally);
	}
	if (tally->rest == NULL || tally->totals == NULL)
		return owner_tally_no_memory(tally);
	r = profiler_probes_load(&tally->probes, tally->reader, &filter, tally->err);
	if (r == 0)
		r = profile_reader_epochs(tally->reader, &filter, take_epoch, tally, tally->err);
	if (r == 0)
		r = profile_reader_totals(tally->reader, &filter, owner_tally_take_profile, tally,
					  tally->err);
	if (r == 0 && owner_tally_has_labels(tally->config.by))
		r = profile_reader_shares(tally->reader, &filter, take_share, tally, tally->err);
	if (r == 0)
		r = owner_excluded_count(tally);
	if (r == 0)
		owner_tally_settle(tally);
	return r;
}

int owner_tally_create(struct owner_tally **ret, struct profile_reader *reader,
		       const struct owner_tally_config *config, struct error *err)
{
	_cleanup_(cleanup_owner_tally) struct owner_tally *tally = calloc(1, sizeof(*tally));
	int r;

	if (tally == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	tally->config = *config;
	tally->reader = reader;
	tally->err = err;
	r = count_all(tally);
	if (r < 0)
		return r;
	*ret = take_ptr(tally);
	return 0;
}

void owner_tally_destroy(struct owner_tally *tally)
{
	if (tally == NULL)
		return;
	tdestroy(tally->owners, free_owner);
	while (tally->name_count > 0) {
		tally->name_count--;
		free(tally->names[tally->name_count].unit);
		free(tally->names[tally->name_count].container);
	}
	u64_map_deinit(&tally->labels);
	u64_map_deinit(&tally->matches);
	u64_map_deinit(&tally->epochs);
	free(tally->names);
	free(tally->rows);
	free(tally->totals);
	free(tally->images);
	for (int class = 0; class < PROFILER_CLASSES; class ++)
		free(tally->excluded[class]);
	free(tally);
}

bool owner_tally_known(const struct owner_tally *tally)
{
	return tally->known;
}

size_t owner_tally_row_count(const struct owner_tally *tally)
{
	return tally->row_count;
}

const struct owner_row *owner_tally_row(const struct owner_tally *tally, size_t index)
{
	return tally->rows[index];
}

const struct tally_count *owner_tally_total(const struct owner_tally *tally, size_t event)
{
	return &tally->totals[event];
}

const struct tally_count *owner_tally_excluded(const struct owner_tally *tally,
					       enum profiler_class class, size_t event)
{
	return &tally->excluded[class][event];
}
