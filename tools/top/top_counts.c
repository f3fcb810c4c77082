// SPDX-License-Identifier: GPL-2.0-only
#include "tools/top/top_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/procedure_names.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/u64_map.h"
#include "tools/base/text.h"
#include "tools/report/image_symbols.h"
#include "tools/report/server_prefetch.h"

struct count {
	uint64_t now;
	uint64_t last; /* at the previous refresh */
	uint64_t base; /* at the beginning of the totals */
};

struct procedure {
	size_t index;
	struct procedure_names names;
	uint64_t address;
	bool has_address;
	struct count *counts; /* by event */
};

/* @of_profiler: only the samples of the profiler's processes, which other entries exclude */
struct image {
	int64_t id;
	bool of_profiler;
	struct profile_image image; /* this structure owns the path */
	uint64_t samples;	    /* of all events; a change shows that the image must be read */
	struct count *counts;	    /* by event */
	/* Valid after its procedures were read: */
	struct image_symbols *symbols;
	struct procedure *procedures;
	size_t procedure_count;
	size_t procedure_capacity;
	struct u64_map by_index; /* index in image_symbols plus 1 */
	uint64_t counted;	 /* @samples when the procedures were counted */
	uint64_t refresh;	 /* number of the last refresh that counted them */
	int64_t base_ns;
	bool has_interval;
};

struct top_counts {
	struct top_config config;
	struct profile_reader *reader; /* while the database is open */
	struct profile_epoch epoch;
	char *host;
	char *source;
	char **events;
	size_t event_count;
	size_t event_capacity;
	struct count *totals; /* by event */
	struct image *images;
	size_t image_count;
	size_t image_capacity;
	struct u64_map by_id; /* 2 * number + of_profiler: index in @images plus 1 */
	struct image *counting;
	uint64_t refreshes;
	int64_t interval_ns;
	int64_t base_ns;
	uint64_t lost;
	enum profiler_probes probes;
};

int top_counts_create(struct top_counts **ret, const struct top_config *config, struct error *err)
{
	struct top_counts *counts = calloc(1, sizeof(*counts));

	if (counts == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	counts->config = *config;
	*ret = counts;
	return 0;
}

static void image_deinit(struct image *image)
{
	for (size_t i = 0; i < image->procedure_count; i++) {
		procedure_names_deinit(&image->procedures[i].names);
		free(image->procedures[i].counts);
	}
	free(image->procedures);
	free(image->counts);
	free((char *)(uintptr_t)image->image.path);
	u64_map_deinit(&image->by_index);
	image_symbols_close(image->symbols);
}

/* Free the data of an epoch. */
static void top_counts_forget(struct top_counts *counts)
{
	for (size_t i = 0; i < counts->image_count; i++)
		image_deinit(&counts->images[i]);
	for (size_t i = 0; i < counts->event_count; i++)
		free(counts->events[i]);
	u64_map_deinit(&counts->by_id);
	free(counts->totals);
	free(counts->host);
	free(counts->source);
	counts->host = counts->source = NULL;
	counts->totals = NULL;
	counts->image_count = counts->event_count = 0;
	counts->interval_ns = 0;
	counts->refreshes = 0;
}

void top_counts_destroy(struct top_counts *counts)
{
	if (counts == NULL)
		return;
	top_counts_forget(counts);
	free(counts->images);
	free(counts->events);
	profile_reader_close(counts->reader);
	free(counts);
}

struct latest {
	struct profile_epoch epoch;
	char *host;
	char *source;
	bool any;
};

/* Epochs come in order of start, so the last one is the current one. */
static int take_epoch(void *context, const struct profile_epoch *epoch)
{
	struct latest *latest = context;

	free(latest->host);
	free(latest->source);
	*latest = (struct latest){.epoch = *epoch, .any = true};
	latest->host = text_clean(epoch->host);
	latest->source = text_clean(epoch->source);
	return latest->host != NULL && latest->source != NULL ? 0 : -ENOMEM;
}

static int take_event(void *context, const struct profile_event *event)
{
	struct top_counts *counts = context;

	/* Events are numbered within the epoch: 0, 1, ... */
	if (event->number != counts->event_count ||
	    array_reserve(&counts->events, &counts->event_capacity, counts->event_count + 1,
			  sizeof(*counts->events)) < 0)
		return event->number != counts->event_count ? -EBADMSG : -ENOMEM;
	counts->events[counts->event_count] = text_clean(event->name);
	return counts->events[counts->event_count++] != NULL ? 0 : -ENOMEM;
}

static int take_counter(void *context, const struct profile_counter *counter)
{
	struct top_counts *counts = context;

	/* Pending samples are not lost. */
	if (strcmp(counter->group, "loss") == 0 && strcmp(counter->name, "pending") != 0)
		counts->lost += counter->count;
	return 0;
}

static int begin_epoch(struct top_counts *counts, struct error *err)
{
	int r;

	top_counts_forget(counts);
	counts->base_ns = 0;
	r = profile_reader_events(counts->reader, counts->epoch.id, take_event, counts, err);
	if (r < 0)
		return r;
	counts->totals = calloc(counts->event_count + 1, sizeof(*counts->totals));
	return counts->totals != NULL ? 0 : -ENOMEM;
}

/* Return: 1: samples were merged since the last refresh; 0: none; or an error. */
static int find_epoch(struct top_counts *counts, struct error *err)
{
	struct profile_filter filter = {.host = counts->config.host};
	struct latest latest = {0};
	int64_t last_ns = counts->epoch.end_ns;
	bool same;
	int r = profile_reader_epochs(counts->reader, &filter, take_epoch, &latest, err);

	if (r == 0 && !latest.any)
		r = error_set(err, ENOENT, "no epoch yet");
	if (r < 0) {
		free(latest.host);
		free(latest.source);
		return r;
	}
	same = counts->refreshes > 0 && latest.epoch.id == counts->epoch.id;
	if (same && latest.epoch.end_ns == last_ns &&
	    latest.epoch.interrupts == counts->epoch.interrupts) {
		free(latest.host);
		free(latest.source);
		return 0;
	}
	counts->epoch = latest.epoch;
	if (!same)
		r = begin_epoch(counts, err);
	free(counts->host);
	free(counts->source);
	counts->epoch.host = counts->host = latest.host;
	counts->epoch.source = counts->source = latest.source;
	counts->epoch.cpu_model = counts->epoch.kernel = NULL;
	if (same)
		counts->interval_ns = counts->epoch.end_ns - last_ns;
	return r == 0 ? 1 : r;
}

static int add_image(struct top_counts *counts, int64_t id, bool of_profiler)
{
	struct image *image;

	if (array_reserve(&counts->images, &counts->image_capacity, counts->image_count + 1,
			  sizeof(*image)) < 0)
		return -ENOMEM;
	image = &counts->images[counts->image_count];
	*image = (struct image){.id = id, .of_profiler = of_profiler};
	image->counts = calloc(counts->event_count + 1, sizeof(*image->counts));
	if (image->counts == NULL)
		return -ENOMEM;
	counts->image_count++;
	return 0;
}

static struct image *top_counts_image_of(struct top_counts *counts, const struct profile *profile)
{
	bool of_profiler = profile->pid == PROFILE_PID_PROFILER;
	uint64_t *place =
		u64_map_insert(&counts->by_id, 2 * (uint64_t)profile->image + of_profiler);

	if (place == NULL || (*place == 0 && add_image(counts, profile->image, of_profiler) < 0))
		return NULL;
	if (*place == 0)
		*place = counts->image_count;
	return &counts->images[*place - 1];
}

static int take_total(void *context, const struct profile *profile)
{
	struct top_counts *counts = context;
	struct image *image = top_counts_image_of(counts, profile);

	if (image == NULL)
		return -ENOMEM;
	if (profile->event >= counts->event_count)
		return -EBADMSG;
	image->samples += profile->total;
	image->counts[profile->event].now += profile->total;
	counts->totals[profile->event].now += profile->total;
	return 0;
}

static void top_counts_step(struct count *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		list[i].last = list[i].now;
		list[i].now = 0;
	}
}

/* Read an image's path, once. */
static int top_counts_describe(struct top_counts *counts, struct image *image, struct error *err)
{
	struct profile_image found;
	int r;

	if (image->image.path != NULL)
		return 0;
	r = profile_reader_image(counts->reader, image->id, &found, err);
	if (r < 0)
		return r == -ENOENT ? -EBADMSG : r;
	image->image = found;
	image->image.path = strdup(found.kind == PROFILE_IMAGE_UNKNOWN ? "unknown" : found.path);
	return image->image.path != NULL ? 0 : -ENOMEM;
}

static int count_images(struct top_counts *counts, struct error *err)
{
	struct profile_filter filter = {.epochs = &counts->epoch.id, .epoch_count = 1};
	int r;

	top_counts_step(counts->totals, counts->event_count);
	for (size_t i = 0; i < counts->image_count; i++) {
		top_counts_step(counts->images[i].counts, counts->event_count);
		counts->images[i].samples = 0;
	}
	r = profile_reader_totals(counts->reader, &filter, take_total, counts, err);
	for (size_t i = 0; i < counts->image_count && r == 0; i++)
		r = top_counts_describe(counts, &counts->images[i], err);
	counts->lost = 0;
	if (r == 0)
		r = profile_reader_counters(counts->reader, &counts->epoch, take_counter, counts,
					    err);
	return r == 0 ? profiler_probes_load(&counts->probes, counts->reader, &filter, err) : r;
}

static int top_counts_add_procedure(struct top_counts *counts, struct image *image, size_t index)
{
	struct procedure *procedure;
	uint64_t offset;

	if (array_reserve(&image->procedures, &image->procedure_capacity,
			  image->procedure_count + 1, sizeof(*procedure)) < 0)
		return -ENOMEM;
	procedure = &image->procedures[image->procedure_count];
	*procedure = (struct procedure){.index = index};
	procedure->counts = calloc(counts->event_count + 1, sizeof(*procedure->counts));
	procedure->has_address =
		image_symbols_start(image->symbols, index, &offset, &procedure->address);
	if (procedure->counts == NULL ||
	    image_symbols_names(image->symbols, index, counts->config.demangle, &procedure->names) <
		    0) {
		free(procedure->counts);
		return -ENOMEM;
	}
	image->procedure_count++;
	return 0;
}

static struct procedure *procedure_of(struct top_counts *counts, struct image *image,
				      uint64_t offset)
{
	size_t index = image_symbols_find(image->symbols, offset);
	uint64_t *place = u64_map_insert(&image->by_index, index);

	if (place == NULL || (*place == 0 && top_counts_add_procedure(counts, image, index) < 0))
		return NULL;
	if (*place == 0)
		*place = image->procedure_count;
	return &image->procedures[*place - 1];
}

static int top_counts_take_profile(void *context, const struct profile *profile)
{
	struct top_counts *counts = context;

	if (profile->event >= counts->event_count)
		return -EBADMSG;
	for (size_t i = 0; i < profile->count; i++) {
		struct procedure *procedure =
			procedure_of(counts, counts->counting, profile->samples[i].offset);

		if (procedure == NULL)
			return -ENOMEM;
		procedure->counts[profile->event].now += profile->samples[i].count;
	}
	return 0;
}

/* Set the base of the procedures' counts: 0 if the image's base is 0. */
static void begin_image(const struct top_counts *counts, struct image *image)
{
	bool is_new = counts->interval_ns > 0;

	for (size_t i = 0; i < counts->event_count; i++)
		is_new = is_new && image->counts[i].last == 0;
	image->has_interval = is_new;
	image->base_ns = counts->epoch.end_ns;
	for (size_t i = 0; i < image->procedure_count; i++) {
		for (size_t k = 0; k < counts->event_count; k++) {
			struct count *count = &image->procedures[i].counts[k];

			count->base = image->counts[k].base == 0 ? 0 : count->now;
		}
	}
}

/* Read the samples of an image, unless they are unchanged. */
static int count_procedures(struct top_counts *counts, struct image *image, struct error *err)
{
	struct profile_filter filter = {
		.epochs = &counts->epoch.id,
		.epoch_count = 1,
		.image = image->id,
		.profiler = image->of_profiler ? PROFILE_PROFILER_ONLY : PROFILE_PROFILER_NOT,
	};
	bool first = image->symbols == NULL;
	int r = 0;

	image->has_interval = !first && image->refresh + 1 == counts->refreshes;
	image->refresh = counts->refreshes;
	if (first)
		r = image_symbols_open(&image->symbols, counts->reader, image->id, &image->image,
				       &counts->config.debug, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < image->procedure_count; i++) {
		for (size_t k = 0; k < counts->event_count; k++)
			image->procedures[i].counts[k].last = image->procedures[i].counts[k].now;
	}
	if (!first && image->counted == image->samples)
		return 0;
	for (size_t i = 0; i < image->procedure_count; i++) {
		for (size_t k = 0; k < counts->event_count; k++)
			image->procedures[i].counts[k].now = 0;
	}
	image->counted = image->samples;
	counts->counting = image;
	r = profile_reader_profiles(counts->reader, &filter, top_counts_take_profile, counts, err);
	if (first && r == 0)
		begin_image(counts, image);
	return r;
}

/* Images with procedures of the profiler are always counted, because shares exclude these. */
static bool needs_procedures(const struct top_counts *counts, const struct image *image,
			     int64_t wanted)
{
	return image->samples > 0 && (wanted == TOP_ALL_IMAGES || image->id == wanted ||
				      (!image->of_profiler && profiler_class_needs_procedures(
								      &image->image, counts->probes,
								      &counts->config.include)));
}

/* Request the files of all images whose procedures are read for the first time, in one batch. */
static int prefetch_files(const struct top_counts *counts, int64_t wanted)
{
	_cleanup_(server_prefetch_deinit) struct server_prefetch prefetch = {0};

	for (size_t i = 0; i < counts->image_count; i++) {
		const struct image *image = &counts->images[i];

		if (image->symbols == NULL && needs_procedures(counts, image, wanted) &&
		    server_prefetch_add(&prefetch, &image->image, image->samples,
					&counts->config.debug) < 0)
			return -ENOMEM;
	}
	return server_prefetch_run(&prefetch);
}

static int count_all(struct top_counts *counts, enum top_level level, int64_t image,
		     struct error *err)
{
	int64_t wanted = level == TOP_BY_PROCEDURE ? image : TOP_NO_IMAGE;
	int changed = find_epoch(counts, err), r = 0;

	if (changed < 0)
		return changed;
	if (changed > 0) {
		counts->refreshes++;
		r = count_images(counts, err);
	}
	if (r == 0)
		r = prefetch_files(counts, wanted);
	for (size_t i = 0; i < counts->image_count && r == 0; i++) {
		struct image *place = &counts->images[i];

		/* If no samples were merged, only images that were not read before are read. */
		if (needs_procedures(counts, place, wanted) &&
		    (changed > 0 || place->symbols == NULL))
			r = count_procedures(counts, place, err);
	}
	if (r == 0 && counts->base_ns == 0)
		top_counts_begin(counts);
	return r;
}

int top_counts_refresh(struct top_counts *counts, enum top_level level, int64_t image,
		       struct error *err)
{
	int r;

	if (err != NULL)
		err->message[0] = '\0';
	/*
	 * The database is opened for each refresh, because an open snapshot makes the daemon's log
	 * grow.
	 */
	r = profile_reader_open(&counts->reader, counts->config.database, err);
	if (r == 0)
		r = profile_reader_snapshot(counts->reader, err);
	if (r == 0)
		r = count_all(counts, level, image, err);
	profile_reader_close(counts->reader);
	counts->reader = NULL;
	if (r < 0 && err != NULL && err->message[0] == '\0')
		error_set(err, -r, r == -ENOMEM ? ERROR_NO_MEMORY : "database is damaged");
	if (r < 0)
		counts->refreshes = 0; /* some of the data may be new */
	return r;
}

const struct profile_epoch *top_counts_epoch(const struct top_counts *counts)
{
	return &counts->epoch;
}

uint64_t top_counts_lost(const struct top_counts *counts, uint64_t *interrupts)
{
	*interrupts = counts->epoch.interrupts;
	return counts->lost;
}

const char *const *top_counts_events(const struct top_counts *counts, size_t *count)
{
	*count = counts->event_count;
	return (const char *const *)counts->events;
}

static void set_base(struct count *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		list[i].base = list[i].now;
}

void top_counts_begin(struct top_counts *counts)
{
	counts->base_ns = counts->epoch.end_ns;
	set_base(counts->totals, counts->event_count);
	for (size_t i = 0; i < counts->image_count; i++) {
		struct image *image = &counts->images[i];

		set_base(image->counts, counts->event_count);
		for (size_t k = 0; k < image->procedure_count; k++)
			set_base(image->procedures[k].counts, counts->event_count);
		image->base_ns = counts->base_ns;
	}
}

/* Counts may shrink if samples expire; the growth is then 0. */
static uint64_t grown(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* Set the fields that depend on the class; @note: text before its mark. */
static void classify_row(const struct top_counts *counts, const struct image *image,
			 struct top_row *row, const char *note)
{
	if (image->of_profiler)
		row->class = PROFILER_WHOLE;
	else if (row->class == PROFILER_NONE)
		row->class = profiler_class_of(row->file, row->procedure, counts->probes);
	snprintf(row->note, sizeof(row->note), "%s%s", note, profiler_class_mark(row->class));
	row->excluded = profiler_class_excluded(row->class, &counts->config.include);
}

/* Set the counts of a row, and add it unless they are 0. */
static int top_counts_add_row(struct top_rows *rows, const struct count *count, bool of_epoch,
			      struct top_row row)
{
	row.interval = row.has_interval ? grown(count->now, count->last) : 0;
	row.total = of_epoch ? count->now : grown(count->now, count->base);
	if (row.interval == 0 && row.total == 0)
		return 0;
	row.rate =
		rows->interval_ns > 0 ? (double)row.interval * 1e9 / (double)rows->interval_ns : 0;
	if (array_reserve(&rows->list, &rows->capacity, rows->count + 1, sizeof(row)) < 0)
		return -ENOMEM;
	rows->list[rows->count++] = row;
	return 0;
}

static double top_share(uint64_t samples, uint64_t all)
{
	return all > 0 ? 100 * (double)samples / (double)all : 0;
}

/* Remove rows that were only counted for their sum, and set shares. */
static void share_rows(struct top_rows *rows, int64_t image)
{
	size_t kept = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct top_row *row = &rows->list[i];
		bool idle = row->class == PROFILER_IDLE;

		if (!row->excluded)
			continue;
		*(idle ? &rows->idle_interval : &rows->own_interval) += row->interval;
		*(idle ? &rows->idle_total : &rows->own_total) += row->total;
	}
	for (size_t i = 0; i < rows->count; i++) {
		struct top_row row = rows->list[i];

		if (image != TOP_ALL_IMAGES && row.image != image)
			continue;
		if (!row.excluded) {
			row.interval_share = top_share(
				row.interval,
				grown(rows->interval, rows->own_interval + rows->idle_interval));
			row.total_share = top_share(
				row.total, grown(rows->total, rows->own_total + rows->idle_total));
		}
		rows->list[kept++] = row;
	}
	rows->count = kept;
}

/* Move a procedure's counts from one sum to another. */
static void count_move(struct count *to, struct count *from, const struct count *procedure)
{
	to->now += procedure->now;
	to->last += procedure->last;
	to->base += procedure->base;
	from->now = grown(from->now, procedure->now);
	from->last = grown(from->last, procedure->last);
	from->base = grown(from->base, procedure->base);
}

static int add_image_row(const struct top_counts *counts, const struct image *image, size_t event,
			 bool of_epoch, struct top_rows *rows)
{
	struct count by_class[PROFILER_CLASSES] = {[PROFILER_NONE] = image->counts[event]};
	int r = 0;

	for (size_t i = 0; !image->of_profiler && i < image->procedure_count; i++) {
		enum profiler_class class = profiler_class_of(
			&image->image, image->procedures[i].names.name, counts->probes);

		if (profiler_class_excluded(class, &counts->config.include))
			count_move(&by_class[class], &by_class[PROFILER_NONE],
				   &image->procedures[i].counts[event]);
	}
	for (int class = 0; r == 0 && class < PROFILER_CLASSES; class ++) {
		struct top_row row = {
			.image = image->id,
			.kind = image->image.kind,
			.file = &image->image,
			.path = image->image.path,
			.has_interval = counts->interval_ns > 0,
			.class = (enum profiler_class) class,
		};

		classify_row(counts, image, &row, "");
		r = top_counts_add_row(rows, &by_class[class], of_epoch, row);
	}
	return r;
}

static int add_procedure_rows(const struct top_counts *counts, const struct image *image,
			      size_t event, bool of_epoch, struct top_rows *rows)
{
	int r = 0;

	if (!of_epoch && image->base_ns > rows->since_ns)
		rows->since_ns = image->base_ns;
	for (size_t i = 0; i < image->procedure_count && r == 0; i++) {
		const struct procedure *procedure = &image->procedures[i];
		struct top_row row = {
			.image = image->id,
			.kind = image->image.kind,
			.procedure = procedure->names.name,
			.names = &procedure->names,
			.file = &image->image,
			.path = image->image.path,
			.address = procedure->address,
			.has_address = procedure->has_address,
			.has_interval = image->has_interval && counts->interval_ns > 0,
		};

		classify_row(counts, image, &row, procedure->names.note);
		r = top_counts_add_row(rows, &procedure->counts[event], of_epoch, row);
	}
	return r;
}

int top_counts_rows(struct top_counts *counts, enum top_level level, int64_t image, size_t event,
		    bool of_epoch, struct top_rows *rows)
{
	const struct count *all;
	int r = 0;

	rows->count = 0;
	rows->interval = rows->total = rows->own_interval = rows->own_total = 0;
	rows->idle_interval = rows->idle_total = 0;
	rows->interval_ns = counts->interval_ns;
	rows->since_ns = of_epoch ? counts->epoch.start_ns : counts->base_ns;
	if (event >= counts->event_count)
		return 0;
	all = &counts->totals[event];
	rows->interval = counts->interval_ns > 0 ? grown(all->now, all->last) : 0;
	rows->total = of_epoch ? all->now : grown(all->now, all->base);
	for (size_t i = 0; i < counts->image_count && r == 0; i++) {
		const struct image *place = &counts->images[i];

		if (level == TOP_BY_PROCEDURE && needs_procedures(counts, place, image))
			r = add_procedure_rows(counts, place, event, of_epoch, rows);
		else
			r = add_image_row(counts, place, event, of_epoch, rows);
	}
	share_rows(rows, image);
	return r;
}
