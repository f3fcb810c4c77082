/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of an owner tally under construction, and the samples that its rows exclude. Internal.
 */
#ifndef DCPI_OWNER_EXCLUDED_H
#define DCPI_OWNER_EXCLUDED_H

#include "lib/u64_map.h"
#include "tools/report/procedure_classes.h"
#include "tools/tally/owner_tally.h"

/* A row and the key by which it is found; it owns the texts of its row. */
struct owner {
	struct owner_row row;
	char *key;
};

/* Names of an epoch's label or process. */
struct name {
	char *unit;
	char *container;
};

/* A row counts the samples of images with MATCH_YES. */
enum match {
	MATCH_UNKNOWN,
	MATCH_YES,
	MATCH_NO,	/* the pattern does not match its path */
	MATCH_EXCLUDED, /* the image is the profiler's */
};

/*
 * @owners:   by key, a tree of tsearch(3); @rows: the same, in order
 * @labels:   by epoch and number: index in @names plus 1
 * @rest:     samples without a label or a process
 * @epochs:   by number: the row of an epoch or its host
 * @matches:  by image: enum match; @images: those with MATCH_YES
 * @excluded: by class and event, like @totals: samples in no row
 */
struct owner_tally {
	struct owner_tally_config config;
	struct profile_reader *reader;
	struct error *err;
	void *owners;
	const struct owner_row **rows;
	size_t row_count;
	size_t row_capacity;
	struct tally_count *totals;
	struct tally_count *excluded[PROFILER_CLASSES];
	struct procedure_classes classes; /* of the current image */
	enum profiler_probes probes;
	struct owner *rest;
	struct name *names;
	size_t name_count;
	size_t name_capacity;
	struct u64_map labels;
	struct u64_map matches;
	int64_t *images;
	size_t image_count;
	size_t image_capacity;
	struct u64_map epochs;
	int64_t epoch;
	bool known;
};

/* Return true if the owner is stored with the samples, not with epochs or processes. */
static inline bool owner_tally_has_labels(enum owner_by by)
{
	return by == OWNER_BY_UNIT || by == OWNER_BY_CONTAINER;
}

/** owner_tally_no_memory() - set the error. Return: -ENOMEM */
int owner_tally_no_memory(struct owner_tally *tally);

/** owner_tally_event() - return the index of an event, or -1 */
long owner_tally_event(const struct owner_tally *tally, const char *name);

/**
 * owner_tally_find() - find the row of a profile
 * @ret: out; NULL: none
 *
 * Return: 0 or an error.
 */
int owner_tally_find(struct owner_tally *tally, const struct profile *profile, struct owner **ret);

/**
 * owner_excluded_count() - move samples of excluded procedures from the rows of their images to
 * @tally->excluded
 *
 * Return: 0, -ENOMEM, or the reader's error.
 */
int owner_excluded_count(struct owner_tally *tally);

#endif
