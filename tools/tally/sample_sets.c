// SPDX-License-Identifier: GPL-2.0-only
#include "tools/tally/sample_sets.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/broker.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/image_store.h"
#include "lib/near_names.h"
#include "tools/base/text.h"
#include "tools/report/event_choice.h"
#include "tools/report/event_role.h"
#include "tools/report/server_prefetch.h"

#define NO_SET SIZE_MAX

/*
 * struct sample_epoch - a selected epoch
 * @event:  number of the event, valid if @period > 0
 * @period: its mean period
 */
struct sample_epoch {
	size_t source;
	size_t set;
	int64_t id;
	double seconds;
	char *host;
	char *label;
	uint32_t event;
	double period;
	char *unit;
	uint64_t samples;
};

static const char *const by_names[SAMPLE_SETS_BY_NR] = {
	[SAMPLE_SETS_BY_EPOCH] = "epoch",
	[SAMPLE_SETS_BY_DATABASE] = "db",
	[SAMPLE_SETS_BY_HOST] = "host",
	[SAMPLE_SETS_BY_LABEL] = "label",
};

const char *sample_sets_by_name(enum sample_sets_by by)
{
	return by_names[by];
}

static int no_memory(struct error *err)
{
	return error_set(err, ENOMEM, ERROR_NO_MEMORY);
}

/* Return: the number of a database, which is opened unless it is already open; or an error. */
static long source_open(struct sample_sets *sets, const char *path, struct error *err)
{
	size_t capacity = sets->source_count;
	struct sample_source *source;
	int r;

	for (size_t i = 0; i < sets->source_count; i++) {
		if (strcmp(sets->sources[i].path, path) == 0)
			return (long)i;
	}
	if (array_reserve(&sets->sources, &capacity, sets->source_count + 1, sizeof(*source)) < 0)
		return no_memory(err);
	source = &sets->sources[sets->source_count++];
	*source = (struct sample_source){.path = path, .image_store = image_store_directory(path)};
	r = cli_open_path(&source->reader, path, err);
	return r < 0 ? r : (long)sets->source_count - 1;
}

/* State of a walk over the epochs of a database. */
struct walk {
	struct sample_sets *sets;
	size_t source;
	const struct epoch_list *list; /* of an operand; NULL: all */
	int64_t last;
	size_t set; /* of an operand, or NO_SET */
	bool twice;
};

static int find_last(void *context, const struct profile_epoch *epoch)
{
	((struct walk *)context)->last = epoch->id;
	return 0;
}

static int sample_sets_add_epoch(void *context, const struct profile_epoch *epoch)
{
	struct walk *walk = context;
	struct sample_sets *sets = walk->sets;
	struct sample_epoch *added;

	if (walk->list != NULL &&
	    !epoch_list_selects(walk->list, epoch->id, epoch->id == walk->last))
		return 0;
	for (size_t i = 0; i < sets->epoch_count && walk->set != NO_SET; i++) {
		walk->twice |=
			sets->epochs[i].source == walk->source && sets->epochs[i].id == epoch->id;
	}
	if (array_reserve(&sets->epochs, &sets->epoch_capacity, sets->epoch_count + 1,
			  sizeof(*added)) < 0)
		return -ENOMEM;
	added = &sets->epochs[sets->epoch_count++];
	*added = (struct sample_epoch){
		.source = walk->source,
		.set = walk->set,
		.id = epoch->id,
		.seconds = (double)(epoch->end_ns - epoch->start_ns) / 1e9,
		.host = text_clean(epoch->host),
		.label = text_clean(epoch->label),
	};
	return added->host != NULL && added->label != NULL ? 0 : -ENOMEM;
}

static int add_epochs(struct sample_sets *sets, struct cli *cli, const char *path, size_t set,
		      const struct epoch_list *list, struct error *err)
{
	struct walk walk = {.sets = sets, .set = set, .list = list};
	long source = source_open(sets, path, err);
	struct profile_reader *reader;
	int r;

	if (source < 0)
		return (int)source;
	walk.source = (size_t)source;
	reader = sets->sources[source].reader;
	cli->filter.epochs = NULL;
	cli->filter.epoch_count = 0;
	r = cli_select_epochs(cli, reader, err);
	if (r == 0)
		r = profile_reader_epochs(reader, &cli->filter, find_last, &walk, err);
	if (r == 0)
		r = profile_reader_epochs(reader, &cli->filter, sample_sets_add_epoch, &walk, err);
	if (r == -ENOMEM)
		return no_memory(err);
	if (r == 0 && walk.twice)
		return error_set(err, EINVAL, "an epoch of set %zu is also in another set",
				 set + 1);
	return r;
}

static int add_set(struct sample_sets *sets, const char *name, size_t source, struct error *err)
{
	size_t capacity = sets->count;

	if (array_reserve(&sets->list, &capacity, sets->count + 1, sizeof(*sets->list)) < 0)
		return no_memory(err);
	sets->list[sets->count] = (struct sample_set){.name = text_clean(name), .source = source};
	return sets->list[sets->count++].name != NULL ? 0 : no_memory(err);
}

/*
 * Parse EPOCHS, DATABASE or DATABASE@EPOCHS. @path: out: malloc'd, or NULL for the default
 * database.
 */
static int parse_operand(const char *operand, char **path, struct epoch_list *list,
			 struct error *err)
{
	const char *at = strrchr(operand, '@');

	if (broker_access(operand, F_OK) != 0) {
		if (epoch_list_parse(list, operand, err) == 0)
			return 0;
		epoch_list_deinit(list);
		if (at != NULL && epoch_list_parse(list, at + 1, err) == 0) {
			*path = strndup(operand, (size_t)(at - operand));
			return *path != NULL ? 0 : no_memory(err);
		}
		epoch_list_deinit(list);
		return error_set(err, EINVAL, "'%s' is neither a database nor a list of epochs",
				 operand);
	}
	*path = strdup(operand);
	return *path != NULL ? 0 : no_memory(err);
}

/* Return: -EINVAL if the operand names epochs that do not exist, -ENOENT otherwise. */
static int no_epoch(const struct sample_sets *sets, const struct cli *cli, const char *operand,
		    const struct epoch_list *list, struct error *err)
{
	const struct sample_source *source = &sets->sources[sets->source_count - 1];
	struct cli named = {.epochs = *list, .filter = cli->filter};
	struct error why;
	int r = cli_no_epoch(&named, source->reader, &why);

	return error_set(err, -r, ERROR_NO_EPOCH " '%s'%s", operand,
			 why.message + strlen(ERROR_NO_EPOCH));
}

static int add_operand(struct sample_sets *sets, struct cli *cli, size_t number, struct error *err)
{
	const char *operand = cli->operands[number];
	struct epoch_list list = {0};
	size_t before = sets->epoch_count;
	int r = parse_operand(operand, &sets->operand_paths[number], &list, err);
	const char *path = sets->operand_paths[number];

	if (r == 0)
		r = add_epochs(sets, cli, path != NULL ? path : cli->database, number,
			       epoch_list_empty(&list) ? NULL : &list, err);
	if (r == 0 && sets->epoch_count == before)
		r = no_epoch(sets, cli, operand, &list, err);
	epoch_list_deinit(&list);
	return r == 0 ? add_set(sets, operand, sets->epochs[before].source, err) : r;
}

static int sample_sets_gather(struct sample_sets *sets, struct cli *cli, struct error *err)
{
	int r = 0;

	if (sets->by == SAMPLE_SETS_BY_NR && cli->operand_count > 0) {
		sets->operand_paths = calloc(cli->operand_count, sizeof(*sets->operand_paths));
		if (sets->operand_paths == NULL)
			return no_memory(err);
		sets->operand_count = cli->operand_count;
	}
	for (size_t i = 0; sets->by == SAMPLE_SETS_BY_NR && i < cli->operand_count && r == 0; i++)
		r = add_operand(sets, cli, i, err);
	for (size_t i = 0; sets->by != SAMPLE_SETS_BY_NR && i < cli->database_count && r == 0; i++)
		r = add_epochs(sets, cli, cli->databases[i], NO_SET, NULL, err);
	if (r == 0 && sets->epoch_count == 0 && sets->source_count > 0)
		return cli_no_epoch(cli, sets->sources[0].reader, err);
	return r;
}

/* The event to compare by: among all epochs, the event that measures time best. */
struct time_choice {
	char *name;
	enum event_time time;
};

static int choose_event(void *context, const struct profile_event *event)
{
	struct time_choice *choice = context;
	enum event_time time = event_role_time(event);

	if (choice->name != NULL && time >= choice->time)
		return 0;
	free(choice->name);
	choice->time = time;
	choice->name = strdup(event->name);
	return choice->name != NULL ? 0 : -ENOMEM;
}

struct event_search {
	const char *name;
	struct sample_epoch *epoch;
};

static int find_event(void *context, const struct profile_event *event)
{
	const struct event_search *search = context;
	struct sample_epoch *epoch = search->epoch;

	if (strcmp(event->name, search->name) != 0)
		return 0;
	epoch->event = event->number;
	epoch->period = ((double)event->period_min + (double)event->period_max) / 2;
	free(epoch->unit);
	epoch->unit = text_clean(event->unit);
	return epoch->unit != NULL ? 0 : -ENOMEM;
}

static struct profile_reader *reader_of(const struct sample_sets *sets,
					const struct sample_epoch *epoch)
{
	return sets->sources[epoch->source].reader;
}

/* Return: -EINVAL if no epoch has the event that the command line names. */
static int check_event(const struct sample_sets *sets, struct error *err)
{
	_cleanup_(event_names_deinit) struct event_names names = {0};
	int r = 0;

	for (size_t i = 0; i < sets->epoch_count; i++) {
		if (sets->epochs[i].period > 0)
			return 0;
	}
	for (size_t i = 0; i < sets->epoch_count && r == 0; i++)
		r = profile_reader_events(reader_of(sets, &sets->epochs[i]), sets->epochs[i].id,
					  event_names_add, &names, err);
	if (r == -ENOMEM)
		return no_memory(err);
	return r < 0 ? r : near_names_unknown(err, "event", sets->event, names.list, names.count);
}

static int find_events(struct sample_sets *sets, const struct cli *cli, struct error *err)
{
	struct time_choice choice = {0};
	int r = 0;

	if (cli->event_count > 0) {
		sets->event = strdup(cli->events[0]);
	} else {
		for (size_t i = 0; i < sets->epoch_count && r == 0; i++)
			r = profile_reader_events(reader_of(sets, &sets->epochs[i]),
						  sets->epochs[i].id, choose_event, &choice, err);
		sets->event = choice.name;
	}
	if (r == 0 && sets->event == NULL && cli->event_count == 0)
		return error_set(err, ENOENT, "no samples");
	sets->event_text = sets->event != NULL ? text_clean(sets->event) : NULL;
	for (size_t i = 0; sets->event_text != NULL && i < sets->epoch_count && r == 0; i++) {
		struct event_search search = {sets->event, &sets->epochs[i]};

		r = profile_reader_events(reader_of(sets, &sets->epochs[i]), sets->epochs[i].id,
					  find_event, &search, err);
	}
	if (r == -ENOMEM || sets->event_text == NULL)
		return no_memory(err);
	return r == 0 && cli->event_count > 0 ? check_event(sets, err) : r;
}

/* State while the samples of a database's epochs are summed; @epochs: by number: index in @sets. */
struct sum {
	struct sample_sets *sets;
	struct u64_map epochs;
};

static void sum_deinit(struct sum *sum)
{
	u64_map_deinit(&sum->epochs);
}

static int add_samples(void *context, const struct profile *profile)
{
	const struct sum *sum = context;
	const uint64_t *index = u64_map_find(&sum->epochs, (uint64_t)profile->epoch);
	struct sample_epoch *epoch;

	if (index == NULL)
		return 0;
	epoch = &sum->sets->epochs[*index];
	return __builtin_add_overflow(epoch->samples, profile->total, &epoch->samples) ? -EBADMSG
										       : 0;
}

static int sum_source(struct sample_sets *sets, size_t source, const struct cli *cli,
		      struct error *err)
{
	_cleanup_(sum_deinit) struct sum sum = {.sets = sets};
	struct profile_filter filter = cli->filter;
	int r;

	for (size_t i = 0; i < sets->epoch_count; i++) {
		uint64_t *index;

		if (sets->epochs[i].source != source)
			continue;
		index = u64_map_insert(&sum.epochs, (uint64_t)sets->epochs[i].id);
		if (index == NULL)
			return no_memory(err);
		*index = i;
	}
	filter.epochs = NULL;
	filter.epoch_count = 0;
	filter.event = sets->event;
	r = profile_reader_totals(sets->sources[source].reader, &filter, add_samples, &sum, err);
	if (r == -EBADMSG && err->message[0] == '\0')
		return error_set(err, EBADMSG, ERROR_DATABASE_COUNTS);
	return r;
}

static void epoch_deinit(struct sample_epoch *epoch)
{
	free(epoch->host);
	free(epoch->label);
	free(epoch->unit);
}

/* Keep only the epochs with samples of the event. */
static int leave_out(struct sample_sets *sets, const struct cli *cli, struct error *err)
{
	size_t kept = 0;
	int r = 0;

	for (size_t i = 0; i < sets->source_count && r == 0; i++)
		r = sum_source(sets, i, cli, err);
	for (size_t i = 0; i < sets->epoch_count; i++) {
		if (sets->epochs[i].samples > 0 && sets->epochs[i].period > 0)
			sets->epochs[kept++] = sets->epochs[i];
		else
			epoch_deinit(&sets->epochs[i]);
	}
	sets->left_out = sets->epoch_count - kept;
	sets->epoch_count = kept;
	if (r == 0 && kept == 0)
		return error_set(err, ENOENT, "no samples of %s", sets->event);
	return r;
}

/* Return the name of an epoch's set, by which sets are found. Return: malloc'd or NULL. */
static char *sample_sets_name_of(const struct sample_sets *sets, const struct sample_epoch *epoch)
{
	const char *path = sets->sources[epoch->source].path;
	char *name = NULL;

	switch (sets->by) {
	case SAMPLE_SETS_BY_HOST:
		return strdup(epoch->host);
	case SAMPLE_SETS_BY_LABEL:
		return strdup(epoch->label);
	case SAMPLE_SETS_BY_DATABASE:
		return strdup(path);
	default:
		break;
	}
	if (asprintf(&name, "%s%s%" PRId64, sets->source_count > 1 ? path : "",
		     sets->source_count > 1 ? "@" : "", epoch->id) < 0)
		return NULL;
	return name;
}

static int find_set(struct sample_sets *sets, struct sample_epoch *epoch, struct error *err)
{
	_cleanup_free_ char *name = sample_sets_name_of(sets, epoch), *clean = NULL;

	if (name != NULL)
		clean = text_clean(name);
	if (clean == NULL)
		return no_memory(err);
	for (size_t i = 0; i < sets->count; i++) {
		if (strcmp(sets->list[i].name, clean) == 0) {
			epoch->set = i;
			return 0;
		}
	}
	epoch->set = sets->count;
	return add_set(sets, clean, epoch->source, err);
}

static int check_set(const struct sample_sets *sets, size_t set, struct error *err)
{
	if (sets->list[set].epochs == 0)
		return error_set(err, ENOENT, "no samples of %s in '%s'", sets->event,
				 sets->list[set].name);
	return 0;
}

static int group(struct sample_sets *sets, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < sets->epoch_count && r == 0; i++) {
		struct sample_epoch *epoch = &sets->epochs[i];
		struct sample_source *source = &sets->sources[epoch->source];
		uint64_t *place;

		if (sets->by != SAMPLE_SETS_BY_NR)
			r = find_set(sets, epoch, err);
		if (r < 0)
			return r;
		sets->list[epoch->set].epochs++;
		sets->list[epoch->set].seconds += epoch->seconds;
		place = u64_map_insert(&source->sets, (uint64_t)epoch->id);
		if (place == NULL)
			return no_memory(err);
		*place = epoch->set;
	}
	for (size_t i = 0; i < sets->count && r == 0; i++)
		r = check_set(sets, i, err);
	return r;
}

static double shortest_period(const struct sample_sets *sets)
{
	double shortest = sets->epochs[0].period;

	for (size_t i = 1; i < sets->epoch_count; i++) {
		if (sets->epochs[i].period < shortest)
			shortest = sets->epochs[i].period;
	}
	return shortest;
}

static int scale_epoch(struct sample_sets *sets, const struct sample_epoch *epoch, double shortest,
		       struct error *err)
{
	struct sample_source *source = &sets->sources[epoch->source];
	const struct sample_epoch *first = &sets->epochs[0];
	int r;

	if (strcmp(epoch->unit, first->unit) != 0)
		return error_set(err, EINVAL,
				 "periods of event '%s' have different units: %s and %s",
				 sets->event, first->unit, epoch->unit);
	sets->scaled_period |= epoch->period != shortest;
	r = event_scale_load(&source->scale, source->reader, epoch->id, err);
	if (r == 0 && event_scale_period(&source->scale, epoch->id, epoch->event,
					 epoch->period / shortest) < 0)
		r = no_memory(err);
	return r;
}

/* Prepare the filter and the scale of a database for the epochs that are left. */
static int prepare_source(struct sample_sets *sets, size_t number, const struct cli *cli,
			  struct error *err)
{
	struct sample_source *source = &sets->sources[number];
	double shortest = shortest_period(sets);
	int r = 0;

	source->filter = cli->filter;
	source->debug = cli->debug;
	source->debug.images = source->image_store;
	cli_trust(&source->debug, source->path);
	source->epochs = calloc(sets->epoch_count + 1, sizeof(*source->epochs));
	if (source->epochs == NULL)
		return no_memory(err);
	for (size_t i = 0; i < sets->epoch_count && r == 0; i++) {
		if (sets->epochs[i].source != number)
			continue;
		source->epochs[source->epoch_count++] = sets->epochs[i].id;
		r = scale_epoch(sets, &sets->epochs[i], shortest, err);
	}
	source->filter.epochs = source->epochs;
	source->filter.epoch_count = source->epoch_count;
	if (r == 0 && source->epoch_count > 0)
		r = report_header_load(&sets->header, source->reader, &source->filter, err);
	return r;
}

/* Request the files that only servers may have, for all databases together. */
static int prefetch_files(const struct sample_sets *sets, const struct cli *cli, struct error *err)
{
	_cleanup_(server_prefetch_deinit) struct server_prefetch prefetch = {0};
	int r = 0;

	for (size_t i = 0; i < sets->source_count && r == 0; i++) {
		const struct sample_source *source = &sets->sources[i];
		struct profile_filter filter = source->filter;

		filter.event = sets->event;
		if (source->epoch_count > 0)
			r = server_prefetch_add_all(&prefetch, source->reader, &filter, cli->image,
						    &source->debug, err);
	}
	if (r == 0 && server_prefetch_run(&prefetch) < 0)
		return no_memory(err);
	return r;
}

int sample_sets_load(struct sample_sets *sets, struct cli *cli, enum sample_sets_by by,
		     struct error *err)
{
	int r;

	if (cli->operand_count > 0 && by != SAMPLE_SETS_BY_DEFAULT)
		return error_set(err, EINVAL, ERROR_EXCLUSIVE("--by", "sets as operands"));
	if (cli->event_count > 1)
		return error_set(err, EINVAL, "only one event can be compared: use one --event");
	sets->by = by;
	if (by == SAMPLE_SETS_BY_DEFAULT && cli->operand_count > 0)
		sets->by = SAMPLE_SETS_BY_NR;
	else if (by == SAMPLE_SETS_BY_DEFAULT)
		sets->by = cli->database_count > 1 ? SAMPLE_SETS_BY_DATABASE : SAMPLE_SETS_BY_EPOCH;
	err->message[0] = '\0';
	r = sample_sets_gather(sets, cli, err);
	if (r == 0)
		r = find_events(sets, cli, err);
	if (r == 0)
		r = leave_out(sets, cli, err);
	if (r == 0)
		r = group(sets, err);
	for (size_t i = 0; i < sets->source_count && r == 0; i++)
		r = prepare_source(sets, i, cli, err);
	if (r == 0)
		r = prefetch_files(sets, cli, err);
	sets->header.scaled = true;
	return r;
}

void sample_sets_deinit(struct sample_sets *sets)
{
	for (size_t i = 0; i < sets->source_count; i++) {
		struct sample_source *source = &sets->sources[i];

		profile_reader_close(source->reader);
		free(source->epochs);
		free(source->image_store);
		u64_map_deinit(&source->sets);
		event_scale_deinit(&source->scale);
	}
	for (size_t i = 0; i < sets->count; i++)
		free(sets->list[i].name);
	for (size_t i = 0; i < sets->epoch_count; i++)
		epoch_deinit(&sets->epochs[i]);
	for (size_t i = 0; i < sets->operand_count; i++)
		free(sets->operand_paths[i]);
	free(sets->operand_paths);
	free(sets->epochs);
	free(sets->list);
	free(sets->sources);
	free(sets->event);
	free(sets->event_text);
	report_header_deinit(&sets->header);
	*sets = (struct sample_sets){0};
}

struct profile_filter sample_sets_filter(const struct sample_sets *sets, size_t set,
					 int64_t *epochs)
{
	struct profile_filter filter = sets->sources[sets->list[set].source].filter;
	size_t count = 0;

	for (size_t i = 0; i < sets->epoch_count; i++) {
		if (sets->epochs[i].set == set && sets->epochs[i].source == sets->list[set].source)
			epochs[count++] = sets->epochs[i].id;
	}
	filter.epochs = epochs;
	filter.epoch_count = count;
	return filter;
}
