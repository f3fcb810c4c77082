/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Formats of complete profiles: each slice and event is a profile, and the losses of a slice are
 * one. Requests have as many profiles as fit.
 */
#ifndef DCPI_PROFILE_FORMAT_H
#define DCPI_PROFILE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ship/samples.h"

/* Receivers refuse larger profiles. */
#define PROFILE_FORMAT_SAMPLES_MAX 16000
/* The most that a sample adds to a request: five strings of STRING_TABLE_BYTES_MAX. */
#define PROFILE_FORMAT_GROWTH_MAX (48 * 1024)

/**
 * struct format_profile - a profile, or a part of one that does not fit into a request
 * @slice: its time
 * @event: name NULL: the samples are losses
 * @first: number of its first sample in the slice and event; 0: this is the first part
 */
struct format_profile {
	struct profile_slice slice;
	struct profile_event event;
	uint64_t first;
};

/**
 * struct profile_format - functions of a format
 *
 * A request is made by begin; for each profile open, sample or loss, close; then end. Errors are
 * kept until end.
 *
 * @single: a request has one profile
 * @bytes:  size of the request, if it ended now
 * @loss:   a loss with a name, as a sample
 * @close:  @count: number of samples since open
 * @end:    complete the request: @target, @body and @bytes of @request. The memory is valid until
 *          the next call of begin
 */
struct profile_format {
	bool single;
	int (*create)(void **data);
	void (*destroy)(void *data);
	void (*begin)(void *data, const struct batch_builder *batch, struct samples *samples);
	size_t (*bytes)(const void *data);
	void (*open)(void *data, const struct format_profile *profile);
	void (*sample)(void *data, const struct named_sample *sample);
	void (*loss)(void *data, const char *name, uint64_t count);
	void (*close)(void *data, const struct format_profile *profile, uint64_t count);
	int (*end)(void *data, struct ship_request *request);
};

extern const struct profile_format format_otlp;
extern const struct profile_format format_pprof;

/** profile_batch_create() - make the data of a protocol that sends a format */
int profile_batch_create(void **data, const struct profile_format *format, struct error *err);

/** profile_batch_destroy() - free it */
void profile_batch_destroy(void *data);

/* The functions of struct protocol that make a batch. */
int profile_batch_begin(struct batch_builder *batch);
int profile_batch_slice(struct batch_builder *batch, const struct profile_epoch *part,
			const struct profile_slice *slice);
int profile_batch_lost(struct batch_builder *batch, const struct profile_slice *slice,
		       const char *name);
int profile_batch_rest(struct batch_builder *batch);
int profile_batch_end(struct batch_builder *batch);

/* Room for the name of code whose procedure is unknown. */
#define PROFILE_FORMAT_NAME_BYTES 320

/**
 * profile_format_name() - return the name of a sample's procedure
 * @text: room for PROFILE_FORMAT_NAME_BYTES bytes
 *
 * Return: the procedure, if it is known; otherwise IMAGE!0xOFFSET, or with "unnamed = 0" "".
 */
const char *profile_format_name(const struct batch_builder *batch, const struct samples *samples,
				const struct named_sample *sample, char *text);

/** profile_format_type() - return the type and unit of an event, in the words of pprof */
const char *profile_format_type(const struct profile_event *event, const char **unit);

/** profile_format_period() - return the mean number of units of an event between two samples */
uint64_t profile_format_period(const struct profile_event *event);

#endif
