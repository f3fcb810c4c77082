/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The samples of an epoch with names: image, procedure, process and unit. For destinations that
 * receive complete profiles instead of tables.
 *
 * Names that the configuration does not permit to send are "".
 */
#ifndef DCPI_SAMPLES_H
#define DCPI_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "db/profile.h"
#include "db/profile_read.h"
#include "lib/u64_map.h"
#include "ship/protocol.h"

/**
 * struct sample_image - an image
 * @kind_name: "file", "kernel", ...
 * @build_id:  hexadecimal digits; "" if it has none
 * @number:    in the database; 0: not used by the current batch
 * @symbols:   procedures that the database has
 */
struct sample_image {
	enum profile_image_kind kind;
	const char *kind_name;
	char *path;
	char build_id[2 * PROFILE_IDENTITY_BYTES_MAX + 1];
	uint8_t uuid[16];
	int64_t number;
	struct profile_symbols symbols;
};

/** struct sample_owner - process or unit; @pid: PROFILE_PID_ALL: not a process */
struct sample_owner {
	int64_t pid;
	const char *command;
	const char *unit;
	const char *container;
};

/**
 * struct named_sample - samples at an instruction
 * @image:     index in struct samples
 * @procedure: "" if unknown
 * @owner_key: as @pid of struct profile
 */
struct named_sample {
	size_t image;
	uint64_t offset;
	const char *procedure;
	int64_t owner_key;
	uint64_t count;
};

/** Called for each sample. */
typedef int (*named_sample_fn)(void *context, const struct named_sample *sample);

struct sample_label {
	char *unit;
	char *container;
};

struct sample_process {
	char *command;
	uint32_t label;
};

/**
 * struct samples - images, units and processes of a batch; zero-initialised is empty
 *
 * Images with symbols are kept from one batch to the next: a kernel has tens of thousands.
 */
struct samples {
	struct sample_image **images;
	size_t image_count, image_capacity;
	struct u64_map by_number; /* index in @images + 1 */
	struct sample_label *labels;
	size_t label_count, label_capacity;
	struct u64_map by_label; /* index in @labels + 1 */
	struct sample_process *processes;
	size_t process_count, process_capacity;
	struct u64_map by_pid; /* index in @processes + 1 */
};

void samples_deinit(struct samples *samples);

/** samples_begin() - begin a batch: read the names of processes and units of its epoch */
int samples_begin(struct samples *samples, struct batch_builder *batch);

/**
 * samples_read() - iterate over the samples of an event in a slice
 * @total: out: their sum
 *
 * Return: 0; -EBADMSG: the slice is damaged; or the result of @visit.
 */
int samples_read(struct samples *samples, struct batch_builder *batch,
		 const struct profile_epoch *part, const struct profile_event *event,
		 named_sample_fn visit, void *context, uint64_t *total);

/** samples_owner() - find the names of an owner. They are valid until the next batch. */
struct sample_owner samples_owner(const struct samples *samples, int64_t owner_key);

#endif
