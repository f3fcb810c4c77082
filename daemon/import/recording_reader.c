// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/import/recording_reader.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/import/import_survey.h"
#include "daemon/import/perfdata_file.h"
#include "daemon/import/perfdata_record.h"
#include "daemon/import/perfdata_stack.h"
#include "daemon/import/record_queue.h"
#include "daemon/import/recording_message.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "loader-hook/perf/side_band_record.h"

#define QUEUE_BYTES ((size_t)256 << 20)
#define BUFFER_BYTES ((size_t)256 << 10)
#define WORD sizeof(uint64_t)

/*
 * @now_ns:  time of the latest change that was written
 * @used:    bytes of @buffer that have not been written
 * @failure: of writing; 0: none
 */
struct recording_reader {
	struct perfdata_file *file;
	const struct perfdata_header *header;
	struct import_survey survey;
	struct record_queue *queue;
	uint64_t now_ns;
	int output;
	int failure;
	size_t used;
	uint8_t buffer[BUFFER_BYTES];
};

static void buffer_flush(struct recording_reader *reader)
{
	size_t written = 0;

	while (written < reader->used && reader->failure == 0) {
		ssize_t n = write(reader->output, reader->buffer + written, reader->used - written);

		if (n > 0)
			written += (size_t)n;
		else if (n == 0 || errno != EINTR)
			reader->failure = n == 0 ? EIO : errno;
	}
	reader->used = 0;
}

static void buffer_append(struct recording_reader *reader, const void *data, size_t bytes)
{
	if (bytes > 0)
		memcpy(reader->buffer + reader->used, data, bytes);
	reader->used += bytes;
}

/* Begin a message with a body of @bytes. All of it is then appended. */
static void message_begin(struct recording_reader *reader, enum recording_message_kind kind,
			  size_t bytes)
{
	const struct recording_head head = {.kind = kind, .bytes = (uint32_t)bytes};

	if (reader->used + sizeof(head) + bytes + WORD > BUFFER_BYTES)
		buffer_flush(reader);
	buffer_append(reader, &head, sizeof(head));
}

static void message_end(struct recording_reader *reader)
{
	static const uint8_t padding[WORD];

	buffer_append(reader, padding, -reader->used % WORD);
}

/* Write a message of a structure and some bytes that follow it. */
static void message_write(struct recording_reader *reader, enum recording_message_kind kind,
			  const void *body, size_t bytes, const void *tail, size_t tail_bytes)
{
	message_begin(reader, kind, bytes + tail_bytes);
	buffer_append(reader, body, bytes);
	buffer_append(reader, tail, tail_bytes);
	message_end(reader);
}

static void summary_write(struct recording_reader *reader)
{
	const struct perfdata_header *header = reader->header;
	const struct import_survey *survey = &reader->survey;
	struct recording_summary summary = {
		.cpus = header->cpus,
		.lives_incomplete = survey->lives.incomplete,
		.first_ns = survey->first_ns,
		.last_ns = survey->last_ns,
		.samples = survey->samples,
		.guest = survey->guest,
		.unknown_event = survey->unknown_event,
		.lost_samples = survey->lost_samples,
		.lost_images = survey->lost_images,
		.lost_records = survey->lost_records,
		.throttled = survey->throttled,
	};

	memcpy(summary.host, header->host, sizeof(summary.host));
	memcpy(summary.release, header->release, sizeof(summary.release));
	memcpy(summary.arch, header->arch, sizeof(summary.arch));
	memcpy(summary.cpu, header->cpu, sizeof(summary.cpu));
	memcpy(summary.cpu_id, header->cpu_id, sizeof(summary.cpu_id));
	memcpy(summary.command, header->command, sizeof(summary.command));
	message_write(reader, RECORDING_SUMMARY, &summary, sizeof(summary), NULL, 0);
}

static void event_write(struct recording_reader *reader, const struct perfdata_event *event,
			const struct import_event *seen)
{
	struct recording_event message = {
		.number = seen->number,
		.flags = (event->frequency ? RECORDING_FREQUENCY : 0) |
			 (event->chain_no_user ? RECORDING_CHAIN_NO_USER : 0) |
			 (event->counts_lost ? RECORDING_COUNTS_LOST : 0) |
			 (event->has_trailer ? RECORDING_HAS_TRAILER : 0),
		.type = event->type,
		.chain_max = event->chain_max,
		.config = event->config,
		.period = event->period,
		.sample_type = event->sample_type,
		.read_format = event->read_format,
		.branch_type = event->branch_type,
		.user_registers = event->user_registers,
		.samples = seen->samples,
		.periods = seen->periods,
	};

	memcpy(message.name, event->name, sizeof(message.name));
	memcpy(message.plain_name, seen->name, sizeof(message.plain_name));
	message_write(reader, RECORDING_EVENT, &message, sizeof(message), NULL, 0);
}

static void image_write(struct recording_reader *reader, const struct perfdata_image *image)
{
	struct recording_image message = {.build_id_bytes = (uint32_t)image->build_id.bytes};
	size_t bytes = strlen(image->path) + 1;

	/* No mapping has such a path. */
	if (bytes > RECORDING_BODY_MAX - sizeof(message))
		return;
	memcpy(message.build_id, image->build_id.data, image->build_id.bytes);
	message_write(reader, RECORDING_IMAGE, &message, sizeof(message), image->path, bytes);
}

static void marks_write(struct recording_reader *reader)
{
	const struct import_lives *lives = &reader->survey.lives;
	size_t most = RECORDING_BODY_MAX / sizeof(*lives->marks);

	for (size_t i = 0; i < lives->count; i += most) {
		size_t count = lives->count - i < most ? lives->count - i : most;

		message_write(reader, RECORDING_MARKS, lives->marks + i,
			      count * sizeof(*lives->marks), NULL, 0);
	}
}

/* Write the results of the first pass. */
static void results_write(struct recording_reader *reader)
{
	const struct perfdata_header *header = reader->header;

	summary_write(reader);
	for (size_t i = 0; i < header->events.count; i++)
		event_write(reader, &header->events.event[i], &reader->survey.events[i]);
	for (size_t i = 0; i < header->image_count; i++)
		image_write(reader, &header->images[i]);
	marks_write(reader);
	message_write(reader, RECORDING_READY, NULL, 0, NULL, 0);
	buffer_flush(reader);
}

static void sample_write(struct recording_reader *reader, const struct perfdata_sample *sample,
			 enum recording_stack_state state, const struct perfdata_stack *stack)
{
	const struct recording_sample message = {
		.ip = sample->ip,
		.time_ns = sample->time_ns,
		.period = sample->period,
		.abi = stack->abi,
		.stack_room = stack->stack_room,
		.event = (uint32_t)sample->event,
		.pid = sample->pid,
		.stack_state = state,
		.chain = (uint32_t)stack->chain.count,
		.branches = (uint32_t)stack->branches.count,
		.registers = (uint32_t)stack->registers.count,
		.stack_bytes = (uint32_t)stack->stack_bytes,
	};
	size_t chain = stack->chain.count * WORD, branches = stack->branches.count * WORD,
	       registers = stack->registers.count * WORD;

	message_begin(reader, RECORDING_SAMPLE,
		      sizeof(message) + chain + branches + registers + stack->stack_bytes);
	buffer_append(reader, &message, sizeof(message));
	buffer_append(reader, stack->chain.bytes, chain);
	buffer_append(reader, stack->branches.bytes, branches);
	buffer_append(reader, stack->registers.bytes, registers);
	buffer_append(reader, stack->stack, stack->stack_bytes);
	message_end(reader);
}

static enum recording_stack_state stack_of(const struct recording_reader *reader,
					   const struct perfdata_sample *sample,
					   const struct perf_event_header *record,
					   struct perfdata_stack *stack)
{
	const struct perfdata_event *event = &reader->header->events.event[sample->event];

	bool stacks = import_event_has_stacks(event, &reader->survey.events[sample->event]);

	*stack = (struct perfdata_stack){.stack = NULL};
	if (!stacks && !perfdata_branches_recorded(event))
		return RECORDING_STACK_NONE;
	if (perfdata_stack_parse(stack, event, record, sample->rest) < 0)
		return RECORDING_STACK_DAMAGED;
	if (!stacks)
		*stack = (struct perfdata_stack){.branches = stack->branches};
	return RECORDING_STACK_COMPLETE;
}

static int reader_take_sample(struct recording_reader *reader,
			      const struct perf_event_header *record, struct error *err)
{
	struct perfdata_sample sample;
	struct perfdata_stack stack;
	enum recording_stack_state state;
	int r = perfdata_sample_parse(&sample, &reader->header->events, record);

	if (r == -EBADMSG)
		return error_set(err, EBADMSG, "the file has changed");
	if (r < 0 || import_is_guest(&sample))
		return 0; /* counted by the survey */
	state = stack_of(reader, &sample, record, &stack);
	sample_write(reader, &sample, state, &stack);
	return 0;
}

static void change_write(struct recording_reader *reader, const struct side_band_record *record,
			 uint16_t misc)
{
	const struct image_event *event = &record->event;
	struct recording_change message = {
		.time_ns = event->time_ns,
		.start = event->start,
		.bytes = event->bytes,
		.file_offset = event->file_offset,
		.device = event->device,
		.inode = event->inode,
		.version = event->version,
		.kind = record->kind,
		.type = event->type,
		.misc = misc,
		.pid = event->pid,
		.parent = event->parent,
		.tid = record->tid,
		.has_path = event->path != NULL,
		.build_id_bytes = (uint32_t)event->build_id_bytes,
	};

	memcpy(message.build_id, event->build_id, event->build_id_bytes);
	message_write(reader, RECORDING_CHANGE, &message, sizeof(message), event->path,
		      event->path != NULL ? strlen(event->path) + 1 : 0);
}

/* Records come in chronological order. */
static int take_record(void *context, const struct perf_event_header *record, struct error *err)
{
	struct recording_reader *reader = context;
	struct perfdata_trailer trailer;
	struct side_band_record taken;

	if (reader->failure != 0)
		return error_set(err, reader->failure, "the other process has ended");
	if (record->type == PERF_RECORD_SAMPLE)
		return reader_take_sample(reader, record, err);
	if (perfdata_trailer_parse(&trailer, &reader->header->events, record) < 0)
		return error_set(err, EBADMSG, "the file has changed");
	if (trailer.time_ns > reader->now_ns)
		reader->now_ns = trailer.time_ns;
	side_band_record_take(&taken, record, trailer.bytes, trailer.time_ns);
	if (taken.kind != SIDE_BAND_LOST && taken.kind != SIDE_BAND_OTHER)
		change_write(reader, &taken, record->misc);
	return 0;
}

static uint64_t record_time(const struct recording_reader *reader,
			    const struct perf_event_header *record)
{
	struct perfdata_trailer trailer;
	struct perfdata_sample sample;

	if (record->type == PERF_RECORD_SAMPLE)
		return perfdata_sample_parse(&sample, &reader->header->events, record) < 0
			       ? 0
			       : sample.time_ns;
	return perfdata_trailer_parse(&trailer, &reader->header->events, record) < 0
		       ? 0
		       : trailer.time_ns;
}

/* Return true for records on which matching depends. */
static bool is_matched(const struct perf_event_header *record)
{
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_KSYMBOL:
		return true;
	default:
		return false;
	}
}

static int round_finish(struct recording_reader *reader, struct error *err)
{
	const struct recording_expiry message = {.time_ns = reader->now_ns};

	message_write(reader, RECORDING_EXPIRE, &message, sizeof(message), NULL, 0);
	/* The records of another file may be older: all of them are sorted together. */
	return perfdata_file_in_parts(reader->file) ? 0 : record_queue_round(reader->queue, err);
}

/* The second pass. */
static int records_write(struct recording_reader *reader, struct error *err)
{
	const struct perf_event_header *record;
	int r;

	perfdata_file_rewind(reader->file);
	while ((r = perfdata_file_next(reader->file, &record, err)) > 0) {
		uint64_t time_ns;

		if (record->type == PERFDATA_RECORD_FINISHED_ROUND) {
			r = round_finish(reader, err);
		} else if (is_matched(record)) {
			/*
			 * Records without a time were synthesized by perf: they describe the state
			 * before it began.
			 */
			time_ns = record_time(reader, record);
			r = time_ns == 0 ? take_record(reader, record, err)
					 : record_queue_add(reader->queue, time_ns, record, err);
		}
		if (r < 0)
			return r;
	}
	return r < 0 ? r : record_queue_finish(reader->queue, err);
}

static int file_read(struct recording_reader *reader, const struct perfdata_input *input,
		     struct error *err)
{
	int r = perfdata_file_open(&reader->file, input, err);

	if (r < 0)
		return r;
	reader->header = perfdata_file_header(reader->file);
	r = import_survey_make(&reader->survey, reader->file, err);
	if (r < 0)
		return r;
	results_write(reader);
	if (reader->survey.samples > 0)
		r = record_queue_create(&reader->queue, QUEUE_BYTES, take_record, reader, err);
	if (reader->survey.samples == 0 || r < 0)
		return r;
	return records_write(reader, err);
}

static void end_write(struct recording_reader *reader, int r, const struct error *err)
{
	struct recording_end end = {.late = 0};
	struct recording_failure failure = {.errnum = -r};

	if (r < 0) {
		memcpy(failure.message, err->message, sizeof(failure.message));
		message_write(reader, RECORDING_FAILED, &failure, sizeof(failure), NULL, 0);
	} else {
		if (reader->queue != NULL)
			end.late = record_queue_late(reader->queue);
		end.cut_off = perfdata_file_cut_off(reader->file);
		message_write(reader, RECORDING_END, &end, sizeof(end), NULL, 0);
	}
	buffer_flush(reader);
}

void recording_reader_run(const struct perfdata_input *input, int output)
{
	struct recording_reader *reader = calloc(1, sizeof(*reader));
	struct error err = {.errnum = 0};
	int r;

	if (reader == NULL)
		return;
	reader->output = output;
	r = file_read(reader, input, &err);
	end_write(reader, r, &err);
	record_queue_destroy(reader->queue);
	import_survey_deinit(&reader->survey);
	perfdata_file_close(reader->file);
	free(reader);
}
