// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_select.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "analysis/image/near_symbols.h"
#include "lib/near_names.h"
#include "lib/partition_point.h"
#include "tools/base/text.h"
#include "tools/annotate/procedure_lookup.h"
#include "tools/annotate/calc_names.h"
#include "tools/report/cli.h"
#include "tools/report/image_label.h"
#include "tools/stacks/stack_faults.h"
#include "tools/report/code_elf.h"
#include "tools/report/passed_over.h"

#define CANDIDATES_SHOWN 4

/* A parsed operand. */
struct wanted {
	char *pattern; /* NULL: any image */
	char *name;
	uint64_t address;
	bool is_address;
};

/* A matching procedure with samples. */
struct candidate {
	const struct calc_image *image;
	uint64_t address;
	double samples;
};

/* An image that could not be examined, and the reason. */
struct passed_image {
	const struct calc_image *image;
	double samples;
	struct error why;
};

/* @all: receives every image that could not be examined, or NULL */
struct search {
	const struct calc_select *select;
	struct passed_over *all;
	struct wanted wanted;
	struct candidate *candidates;
	size_t count;
	size_t capacity;
	struct calc_choice best;
	struct near_names near; /* similar names in images that were examined */
	bool unsampled;		/* a matching procedure without samples was found */
	size_t examined;	/* number of images */
	int passed_result;
	struct passed_image passed; /* the hottest that could not be examined */
	struct passed_image named;  /* the hottest of these that has a procedure of the name */
};

static void search_deinit(struct search *search)
{
	free(search->wanted.pattern);
	free(search->wanted.name);
	free(search->candidates);
	near_names_deinit(&search->near);
	calc_choice_deinit(&search->best);
}

void calc_choice_deinit(struct calc_choice *choice)
{
	calc_profile_deinit(&choice->profile);
	calc_counts_deinit(&choice->counts);
	image_code_close(choice->code);
	*choice = (struct calc_choice){0};
}

/* Return why the database may have no code of an image that is in no file. */
static const char *codeless_reason(enum profile_image_kind kind)
{
	switch (kind) {
	case PROFILE_IMAGE_KERNEL:
		return "is the kernel, whose code is not in the database";
	case PROFILE_IMAGE_MODULE:
	case PROFILE_IMAGE_VDSO:
		return "is code of the kernel, which is not in the database";
	case PROFILE_IMAGE_JIT:
		return "is generated at run time, and no jitdump recorded its code";
	default:
		return "is unknown and has no code";
	}
}

static bool is_file(const struct calc_image *image)
{
	return image->image.kind == PROFILE_IMAGE_FILE;
}

/* Offsets in the file that code_elf_make() makes differ from those in the image. */
static bool offsets_are_addresses(const struct calc_image *image)
{
	return !is_file(image) && image->image.kind != PROFILE_IMAGE_VDSO;
}

uint64_t calc_choice_offset(const struct calc_choice *choice)
{
	const struct procedure *procedure =
		procedure_table_get(image_code_procedures(choice->code), choice->procedure);

	return offsets_are_addresses(choice->image) ? procedure->address : procedure->offset;
}

static int refuse(const struct calc_image *image, const char *reason, struct error *err)
{
	_cleanup_free_ char *name = text_clean(image->image.path);

	return error_set(err, ENOTSUP, "'%s' %s", name != NULL && *name != '\0' ? name : "?",
			 reason);
}

/* Open code that is in no file: the database has it, and it becomes an unnamed file. */
static int stored_code_open(struct image_code **ret, const struct calc_select *select,
			    const struct calc_image *image, struct error *err)
{
	struct profile_image file = {.kind = PROFILE_IMAGE_FILE};
	_cleanup_close_ int fd = -1;
	char path[32];
	int r;

	if (select->files)
		return refuse(image, "is not a file", err);
	r = code_elf_make(&fd, select->reader, image->id, image->image.kind, err);
	if (r == -ENOTSUP)
		return refuse(image, codeless_reason(image->image.kind), err);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	file.path = path;
	return image_code_open(ret, &file, &select->debug, err);
}

int calc_select_code(struct image_code **ret, const struct calc_select *select,
		     const struct calc_image *image, struct error *err)
{
	if (!is_file(image))
		return stored_code_open(ret, select, image, err);
	if (select->names)
		return image_code_open_names(ret, &image->image, &select->debug, err);
	return image_code_open(ret, &image->image, &select->debug, err);
}

int calc_select_load(struct calc_choice *choice, const struct calc_select *select,
		     const struct profile_ranges *ranges, struct error *err)
{
	const struct calc_image *image = choice->image;
	struct calc_profile_wanted wanted = {
		.reader = select->reader,
		.filter = select->filter,
		.image = image->id,
		.all = (double)select->images->time,
		.ranges = ranges,
		.events = select->events,
		.edges = select->edges,
		.kernel = image->image.kind == PROFILE_IMAGE_KERNEL ||
			  image->image.kind == PROFILE_IMAGE_MODULE,
		.code = choice->code,
		.faults = select->faults,
		.calls = select->calls,
		.counted = select->counted,
		.offsets_are_addresses = offsets_are_addresses(image),
	};
	int r = calc_profile_load(&choice->profile, &wanted, err);

	if (r == 0 && select->counts && is_file(image) && image_code_decoder(choice->code) != NULL)
		r = calc_counts_load(&choice->counts, select->reader, image->id, choice->code, err);
	choice->profile.samples.exact = choice->counts.exact;
	return r;
}

int calc_select_open(struct calc_choice *ret, const struct calc_select *select,
		     const struct calc_image *image, struct error *err)
{
	_cleanup_(calc_choice_deinit) struct calc_choice choice = {.image = image};
	int r = calc_select_code(&choice.code, select, image, err);

	if (r == 0)
		r = calc_select_load(&choice, select, NULL, err);
	if (r == 0) {
		*ret = choice;
		choice = (struct calc_choice){0};
	}
	return r;
}

/*
 * Return the samples of time of a procedure with all its parts, between which other procedures may
 * lie.
 */
static double samples_of(const struct calc_choice *choice, size_t procedure)
{
	const struct image_event_samples *time = &choice->profile.samples.time;
	struct image_range parts[PROCEDURE_PARTS_MAX];
	size_t parent, count = image_code_parts(choice->code, procedure, parts, &parent);
	double sum = 0;

	for (size_t part = 0; part < count; part++) {
		size_t low = partition_point(0, time->count, i,
					     time->counts[i].address < parts[part].start);

		for (; low < time->count && time->counts[low].address < parts[part].end; low++) {
			if (procedure_lookup_at(choice->code, time->counts[low].address) ==
			    (long)procedure)
				sum += time->counts[low].count;
		}
	}
	return sum;
}

int calc_select_address(struct calc_choice *choice, uint64_t address)
{
	long procedure = procedure_lookup_at(choice->code, address);

	if (procedure < 0)
		return -ENOENT;
	choice->procedure = (size_t)procedure;
	choice->samples = samples_of(choice, choice->procedure);
	return 0;
}

/* Add a procedure to the candidates, and choose it if it is the hottest. */
static int consider(struct search *search, struct calc_choice *choice, size_t procedure)
{
	struct candidate candidate = {
		.image = choice->image,
		.address = procedure_table_get(image_code_procedures(choice->code), procedure)
				   ->address,
		.samples = samples_of(choice, procedure),
	};

	if (candidate.samples == 0) {
		search->unsampled = true;
		return 0;
	}
	if (array_reserve(&search->candidates, &search->capacity, search->count + 1,
			  sizeof(candidate)) < 0)
		return -ENOMEM;
	search->candidates[search->count++] = candidate;
	if (candidate.samples > choice->samples) {
		choice->samples = candidate.samples;
		choice->procedure = procedure;
	}
	return 0;
}

/*
 * Note an image that could not be examined. Unusable files take precedence over code in no file,
 * because the user can fix them.
 */
static int skip_failed_file(struct search *search, const struct calc_image *image, double samples,
			    int result, const struct error *why)
{
	if (search->all != NULL && passed_over_add(search->all, why, samples) < 0)
		return -ENOMEM;
	if (search->passed.image != NULL &&
	    (search->passed_result != -ENOTSUP || result == -ENOTSUP))
		return 0;
	search->passed = (struct passed_image){.image = image, .samples = samples, .why = *why};
	search->passed_result = result;
	return 0;
}

/* Code known only by its section is not a procedure, even if it is the hottest. */
static int skip_section(struct search *search, const struct calc_choice *choice, double samples)
{
	_cleanup_free_ char *path = text_clean(choice->image->image.path);
	struct error why;

	error_set(&why, ENOTSUP, "no procedures are known in '%s'",
		  path != NULL ? path : "an image");
	return skip_failed_file(search, choice->image, samples, -ENOTSUP, &why);
}

/*
 * The time in which a CPU waits for work is not the hottest procedure, nor is the profiler's,
 * unless the user asks for its image.
 */
static bool is_no_work(const struct search *search, const struct calc_choice *choice,
		       const struct procedure *procedure)
{
	enum profiler_class class =
		profiler_class_of(&choice->image->image, procedure->name, search->select->probes);

	return class == PROFILER_IDLE ||
	       (class == PROFILER_WHOLE && search->select->pattern == NULL);
}

/* The kernel's time for the page faults of a procedure belongs to it. */
static void heat_add_faults(double *heat, const struct calc_choice *choice)
{
	const struct image_samples *samples = &choice->profile.samples;

	for (size_t i = 0; i < samples->fault_count; i++) {
		long procedure = procedure_lookup_at(choice->code, samples->faults[i].address);

		if (procedure >= 0 && heat[procedure] > 0)
			heat[procedure] += samples->faults[i].samples;
	}
}

/* Choose the hottest procedure of an image. */
static int by_heat(struct search *search, struct calc_choice *choice)
{
	const struct procedure_table *table = image_code_procedures(choice->code);
	const struct image_event_samples *time = &choice->profile.samples.time;
	_cleanup_free_ double *heat = calloc(procedure_table_count(table) + 1, sizeof(*heat));
	double hottest_section = 0;
	size_t best = 0;

	if (heat == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < time->count; i++) {
		long procedure = procedure_lookup_at(choice->code, time->counts[i].address);

		if (procedure >= 0)
			heat[procedure] += time->counts[i].count;
	}
	heat_add_faults(heat, choice);
	for (size_t i = 0; i < procedure_table_count(table); i++) {
		if (heat[i] > 0 && is_no_work(search, choice, procedure_table_get(table, i)))
			heat[i] = 0;
		if (procedure_table_get(table, i)->source != PROCEDURE_SECTION) {
			best = heat[i] > heat[best] ? i : best;
			continue;
		}
		hottest_section = heat[i] > hottest_section ? heat[i] : hottest_section;
		heat[i] = 0;
	}
	if (hottest_section > heat[best] && skip_section(search, choice, hottest_section) < 0)
		return -ENOMEM;
	if (heat[best] == 0 || heat[best] <= search->best.samples)
		return 0;
	choice->procedure = best;
	choice->samples = heat[best];
	return 0;
}

/* Offer all names of procedures as suggestions, if no procedure matches. */
static void suggest_names(struct search *search, const struct image_code *code)
{
	const struct procedure_table *table = image_code_procedures(code);

	for (size_t i = 0; i < procedure_table_count(table) && search->count == 0; i++) {
		const struct procedure *procedure = procedure_table_get(table, i);

		near_symbols_add(&search->near, procedure->name);
		for (size_t j = 0; j < procedure->alias_count; j++)
			near_symbols_add(&search->near, procedure_table_alias(table, i, j));
	}
}

/*
 * Suggest names that the database stores for an image without code. Return: true if one of them is
 * the wanted name.
 */
static bool suggest_symbols(struct search *search, const struct calc_image *image)
{
	struct profile_symbols kept = {0};
	struct error err;
	bool found = false;

	if (profile_reader_symbols(search->select->reader, image->id, &kept, &err) < 0)
		return false;
	for (size_t i = 0; i < kept.count; i++) {
		near_symbols_add(&search->near, kept.symbols[i].name);
		found |= strcmp(kept.symbols[i].name, search->wanted.name) == 0;
	}
	profile_symbols_deinit(&kept);
	return found;
}

/* Suggest names in a file whose code cannot be decoded. Return: as suggest_symbols() */
static bool suggest_file(struct search *search, const struct calc_image *image)
{
	_cleanup_(procedure_lookup_deinit) struct procedure_lookup meant = {0};
	struct image_code *code = NULL;
	struct error err;

	if (!is_file(image) ||
	    image_code_open_names(&code, &image->image, &search->select->debug, &err) < 0)
		return false;
	if (procedure_lookup_by_name(&meant, code, search->wanted.name) == 0 && meant.count == 0)
		suggest_names(search, code);
	image_code_close(code);
	return meant.count > 0;
}

/* An image could not be examined: record whether it has a procedure of the wanted name. */
static void look_for_name(struct search *search, const struct calc_image *image,
			  const struct error *why)
{
	const struct wanted *wanted = &search->wanted;

	if (wanted->name == NULL || wanted->is_address || search->named.image != NULL)
		return;
	if (suggest_symbols(search, image) || suggest_file(search, image))
		search->named = (struct passed_image){
			.image = image, .samples = image->samples, .why = *why};
}

/* Choose the hottest of the matching procedures; only samples of matching ones are read. */
static int choose_matching(struct search *search, struct calc_choice *choice, struct error *err)
{
	_cleanup_(procedure_lookup_deinit) struct procedure_lookup matches = {0};
	const struct wanted *wanted = &search->wanted;
	int r;

	if (wanted->is_address)
		r = procedure_lookup_by_address(&matches, choice->code, wanted->address);
	else
		r = procedure_lookup_by_name(&matches, choice->code, wanted->name);
	if (r == 0 && matches.count == 0 && !wanted->is_address)
		suggest_names(search, choice->code);
	if (r < 0 || matches.count == 0)
		return r;
	r = procedure_lookup_ranges(&matches, choice->code, offsets_are_addresses(choice->image));
	if (r == 0)
		r = calc_select_load(choice, search->select, &matches.ranges, err);
	for (size_t i = 0; i < matches.count && r == 0; i++)
		r = consider(search, choice, matches.procedures[i]);
	return r;
}

static int choose_hottest(struct search *search, struct calc_choice *choice, struct error *err)
{
	int r = calc_select_load(choice, search->select, NULL, err);

	return r == 0 ? by_heat(search, choice) : r;
}

/* Examine one image; the best choice so far stays open. */
static int calc_select_examine(struct search *search, const struct calc_image *image,
			       int (*choose)(struct search *search, struct calc_choice *choice,
					     struct error *err),
			       struct error *err)
{
	_cleanup_(calc_choice_deinit) struct calc_choice choice = {.image = image};
	struct error why = {0};
	int r = calc_select_code(&choice.code, search->select, image, &why);

	if (r == 0)
		r = choose(search, &choice, &why);
	if (r == -ENOMEM)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r == -EBADMSG) {
		*err = why;
		return r;
	}
	if (r != 0)
		look_for_name(search, image, &why);
	if (r != 0 && skip_failed_file(search, image, image->samples, r, &why) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r != 0)
		return 0;
	search->examined++;
	if (choice.samples > search->best.samples) {
		calc_choice_deinit(&search->best);
		search->best = choice;
		choice = (struct calc_choice){0};
	}
	return 0;
}

static bool is_selected(const struct search *search, const struct calc_image *image)
{
	const char *pattern = search->wanted.pattern;

	if (pattern != NULL && !calc_image_matches(image, pattern))
		return false;
	return search->select->pattern == NULL ||
	       calc_image_matches(image, search->select->pattern);
}

static int parse(struct wanted *wanted, const char *operand, struct error *err)
{
	const char *colon = calc_name_colon(operand);
	const char *name = colon != NULL ? colon + 1 : operand;
	char *end;

	if (*name == '\0' || colon == operand) {
		error_set(err, EINVAL, "'%s' is not a valid procedure", operand);
		return -EINVAL;
	}
	if (colon != NULL)
		wanted->pattern = strndup(operand, (size_t)(colon - operand));
	wanted->name = strdup(name);
	if (wanted->name == NULL || (colon != NULL && wanted->pattern == NULL)) {
		error_set(err, ENOMEM, ERROR_NO_MEMORY);
		return -ENOMEM;
	}
	if (strncasecmp(name, "0x", 2) != 0)
		return 0;
	errno = 0;
	wanted->address = strtoull(name, &end, 16);
	wanted->is_address = true;
	if (*end != '\0' || end == name + 2 || errno != 0)
		return error_set(err, EINVAL, "'%s' is not a valid address", name);
	return 0;
}

static int hottest_first(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return (x->samples < y->samples) - (x->samples > y->samples);
}

/*
 * Return a pattern that selects an image: more than the path, if others have the same path.
 * malloc'd, or NULL.
 */
static char *image_name(const struct search *search, const struct calc_image *image)
{
	const struct calc_images *images = search->select->images;

	for (size_t i = 0; i < images->count; i++) {
		if (images->list[i].id != image->id &&
		    strcmp(images->list[i].image.path, image->image.path) == 0)
			return image_label_make(&image->image);
	}
	return strdup(image->image.path);
}

/* Make the message "/bin/a:0x1000 (12 samples), ...". */
static int report_ambiguous(const struct search *search, struct error *err)
{
	char list[384] = "";
	size_t length = 0;

	qsort(search->candidates, search->count, sizeof(*search->candidates), hottest_first);
	for (size_t i = 0; i < search->count && i < CANDIDATES_SHOWN; i++) {
		const struct candidate *candidate = &search->candidates[i];
		_cleanup_free_ char *name = image_name(search, candidate->image);
		int n = snprintf(list + length, sizeof(list) - length,
				 "%s%s:0x%" PRIx64 " (%.0f samples)", i > 0 ? ", " : "",
				 name != NULL ? name : "?", candidate->address, candidate->samples);

		if (n < 0 || (size_t)n >= sizeof(list) - length) {
			list[length] = '\0';
			break;
		}
		length += (size_t)n;
	}
	return error_set(err, EINVAL, "'%s' is ambiguous: %zu procedures match: %s%s",
			 search->wanted.name, search->count, list,
			 search->count > CANDIDATES_SHOWN ? ", ..." : "");
}

/*
 * The procedure may be in an image that could not be examined. Return: an error other than -ENOENT.
 */
static int report_none_examined(const struct search *search, struct error *err)
{
	const struct passed_image *passed = &search->passed;
	struct error lead;

	error_set(&lead, ENODATA, "no samples in '%s' in readable images", search->wanted.name);
	if (search->examined == 0)
		*err = passed->why;
	else
		passed_over_message(err, lead.message, &passed->why, passed->samples,
				    (double)search->select->images->time);
	return search->passed_result == -ENOENT ? -ENODATA : search->passed_result;
}

/* The image that has the procedure could not be examined. */
static int named_seen(const struct search *search, struct error *err)
{
	struct error lead;

	error_set(&lead, ENODATA, "'%s' cannot be analysed", search->wanted.name);
	passed_over_message(err, lead.message, &search->named.why, search->named.samples,
			    (double)search->select->images->time);
	return -ENODATA;
}

/* Report why nothing was found. */
static int report_no_match(const struct search *search, bool any_image, struct error *err)
{
	const char *name = search->wanted.name;
	bool passed = search->passed_result < 0;
	char near[512];

	if (!any_image && search->wanted.pattern != NULL)
		return cli_image_missing(search->select->reader, "samples", search->wanted.pattern,
					 err);
	if (!any_image && search->select->pattern != NULL)
		return cli_image_missing(search->select->reader, "samples", search->select->pattern,
					 err);
	if (search->named.image != NULL && search->examined > 0)
		return named_seen(search, err);
	if (passed &&
	    (search->examined == 0 || (name != NULL && search->passed_result != -ENOTSUP)))
		return report_none_examined(search, err);
	if (search->unsampled)
		return error_set(err, ENOENT, "no samples in '%s'", name);
	if (name == NULL)
		return error_set(err, ENOENT, "no samples in procedures");
	near_names_text(&search->near, near, sizeof(near));
	return error_set(err, EINVAL, "no procedure '%s' in images with samples%s", name, near);
}

static void move_best(struct calc_choice *ret, struct search *search)
{
	*ret = search->best;
	search->best = (struct calc_choice){0};
}

int calc_select_named(struct calc_choice *ret, const struct calc_select *select,
		      const char *operand, struct error *err)
{
	_cleanup_(search_deinit) struct search search = {.select = select};
	bool any = false;
	int r = parse(&search.wanted, operand, err);

	near_names_init(&search.near, search.wanted.name != NULL ? search.wanted.name : "");
	for (size_t i = 0; i < select->images->count && r == 0; i++) {
		const struct calc_image *image = &select->images->list[i];

		if (!is_selected(&search, image))
			continue;
		any = true;
		r = calc_select_examine(&search, image, choose_matching, err);
	}
	if (r < 0)
		return r;
	if (search.count > 1)
		return report_ambiguous(&search, err);
	if (search.count == 0)
		return report_no_match(&search, any, err);
	move_best(ret, &search);
	return 0;
}

/* Return an upper bound of the heat of an image's procedures. */
static double image_heat(const struct calc_select *select, const struct calc_image *image)
{
	size_t count = 0;
	const struct stack_fault *faults =
		select->faults != NULL ? stack_faults_image(select->faults, image->id, &count)
				       : NULL;
	double heat = image->samples;

	for (size_t i = 0; i < count; i++)
		heat += faults[i].samples;
	return heat;
}

int calc_select_hottest(struct calc_choice *ret, const struct calc_select *select,
			struct passed_over *passed, struct error *err)
{
	_cleanup_(search_deinit) struct search search = {.select = select, .all = passed};
	bool any = false;
	int r = 0;

	/* An image that has no more samples than the best procedure cannot have a better one. */
	for (size_t i = 0; i < select->images->count && r == 0; i++) {
		const struct calc_image *image = &select->images->list[i];

		if (!is_selected(&search, image))
			continue;
		if (image_heat(select, image) <= search.best.samples)
			continue;
		any = true;
		r = calc_select_examine(&search, image, choose_hottest, err);
	}
	if (r < 0)
		return r;
	if (search.best.samples == 0)
		return report_no_match(&search, any, err);
	passed_over_drop(passed, search.best.samples);
	move_best(ret, &search);
	return 0;
}
