// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/import/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/sandbox_process.h"
#include "daemon/import/perfdata_input.h"
#include "daemon/import/recording_message.h"
#include "daemon/import/recording_reader.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/printable.h"
#include "lib/sandbox.h"

/* Descriptors of the process: a file, a pipe, a socket, and the standard streams. */
#define PROCESS_FILES 16
/* Limit of CPU time: this, and a second for each MiB of the file, which may be compressed. */
#define PARSE_SECONDS 60
#define PIPE_BYTES (1 << 20)
#define BUFFER_BYTES ((size_t)256 << 10)
#define WORD sizeof(uint64_t)
/* The largest number of an error in Linux. */
#define ERRNO_MAX 4095
/* Larger counts would overflow when they are added. */
#define COUNT_MAX ((uint64_t)INT64_MAX / 4)

_Static_assert(BUFFER_BYTES >= sizeof(struct recording_head) + RECORDING_BODY_MAX + WORD,
	       "a message fits");

/*
 * @paths_bytes: of all images
 * @taken, @used: range of @buffer that has not been processed, aligned to eight bytes
 * @ended:       a message of kind RECORDING_END was received
 */
struct recording {
	struct sandbox_process process;
	int input;
	int64_t modified_ns;
	struct perfdata_header header;
	struct import_survey survey;
	size_t paths_bytes;
	bool ended;
	struct recording_end end;
	size_t taken;
	size_t used;
	_Alignas(8) uint8_t buffer[BUFFER_BYTES];
};

CLEANUP_DEFINE(recording, struct recording *, recording_close)

/* A message in the buffer; @bytes of @body are valid. */
struct message {
	uint32_t kind;
	const uint8_t *body;
	size_t bytes;
};

static void process_read(int socket, const int *files, const void *context)
{
	struct perfdata_input input = *(const struct perfdata_input *)context;

	(void)socket;
	input.fd = files[0];
	recording_reader_run(&input, files[1]);
}

static int process_start(struct recording *recording, const struct perfdata_input *input,
			 uint64_t bytes, struct error *err)
{
	struct sandbox_process_task task = {
		.name = "dcpiimport-read",
		.run = process_read,
		.context = input,
		.memory_bytes = sandbox_limits_default().memory_bytes,
		.descriptors = PROCESS_FILES,
		.cpu_seconds = PARSE_SECONDS + (unsigned int)(bytes >> 20),
		.file_count = 2,
	};
	int ends[2], r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set_errno(err, "cannot make a pipe");
	/* A smaller pipe costs more context switches. */
	if (fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES) < 0)
		errno = 0;
	recording->input = ends[0];
	task.files[0] = input->fd;
	task.files[1] = ends[1];
	r = sandbox_process_start(&recording->process, &task);
	close(ends[1]);
	return r < 0 ? error_set(err, -r, ERROR_PROCESS ": %s", strerror(-r)) : 0;
}

/* Describe why the process ended without a message. */
static int process_failure(struct recording *recording, struct error *err)
{
	int status = sandbox_process_wait(&recording->process);

	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
		return error_set(err, EIO, ERROR_PARSE_TIME);
	if (WIFSIGNALED(status))
		return error_set(err, EIO, ERROR_PARSE_CRASHED, WTERMSIG(status));
	return error_set(err, EIO, "parsing ended early");
}

static int malformed(struct error *err)
{
	return error_set(err, EBADMSG, "the process that parses it has sent an invalid message");
}

/* Read until @bytes are in the buffer. Return: 0; -errno: the process has ended. */
static int buffer_fill(struct recording *recording, size_t bytes, struct error *err)
{
	if (recording->taken + bytes > BUFFER_BYTES) {
		recording->used -= recording->taken;
		memmove(recording->buffer, recording->buffer + recording->taken, recording->used);
		recording->taken = 0;
	}
	while (recording->used - recording->taken < bytes) {
		ssize_t n = read(recording->input, recording->buffer + recording->used,
				 BUFFER_BYTES - recording->used);

		if (n == 0)
			return process_failure(recording, err);
		if (n < 0 && errno != EINTR)
			return error_set_errno(err, "cannot read from a process");
		recording->used += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int take_failure(const struct message *message, struct error *err)
{
	struct recording_failure failure;

	if (message->bytes != sizeof(failure))
		return malformed(err);
	memcpy(&failure, message->body, sizeof(failure));
	failure.message[sizeof(failure.message) - 1] = '\0';
	printable_make(failure.message);
	if (failure.errnum <= 0 || failure.errnum > ERRNO_MAX)
		return malformed(err);
	return error_set(err, failure.errnum, "%s", failure.message);
}

static int message_next(struct recording *recording, struct message *ret, struct error *err)
{
	struct recording_head head;
	int r = buffer_fill(recording, sizeof(head), err);

	if (r < 0)
		return r;
	memcpy(&head, recording->buffer + recording->taken, sizeof(head));
	if (head.bytes > RECORDING_BODY_MAX)
		return malformed(err);
	recording->taken += sizeof(head);
	r = buffer_fill(recording, (head.bytes + WORD - 1) / WORD * WORD, err);
	if (r < 0)
		return r;
	*ret = (struct message){head.kind, recording->buffer + recording->taken, head.bytes};
	recording->taken += (head.bytes + WORD - 1) / WORD * WORD;
	return ret->kind == RECORDING_FAILED ? take_failure(ret, err) : 0;
}

/* Copy a string, which may not be terminated. @room: of both */
static void text_take(char *to, const char *from, size_t room)
{
	memcpy(to, from, room);
	to[room - 1] = '\0';
	printable_make(to);
}

/* Return the string at the end of a message; NULL: there is none. */
static const char *tail_text(const struct message *message, size_t at)
{
	const char *text = (const char *)message->body + at;

	if (message->bytes <= at || memchr(text, '\0', message->bytes - at) == NULL)
		return NULL;
	return text;
}

static int take_summary(struct recording *recording, const struct message *message)
{
	struct perfdata_header *header = &recording->header;
	struct import_survey *survey = &recording->survey;
	struct recording_summary summary;

	if (message->bytes != sizeof(summary))
		return -EBADMSG;
	memcpy(&summary, message->body, sizeof(summary));
	text_take(header->host, summary.host, sizeof(header->host));
	text_take(header->release, summary.release, sizeof(header->release));
	text_take(header->arch, summary.arch, sizeof(header->arch));
	text_take(header->cpu, summary.cpu, sizeof(header->cpu));
	text_take(header->cpu_id, summary.cpu_id, sizeof(header->cpu_id));
	text_take(header->command, summary.command, sizeof(header->command));
	header->cpus = summary.cpus;
	survey->lives.incomplete = summary.lives_incomplete != 0;
	survey->first_ns = summary.first_ns;
	survey->last_ns = summary.last_ns;
	survey->samples = summary.samples;
	survey->guest = summary.guest;
	survey->unknown_event = summary.unknown_event;
	survey->lost_samples = summary.lost_samples;
	survey->lost_images = summary.lost_images;
	survey->lost_records = summary.lost_records;
	survey->throttled = summary.throttled;
	return survey->samples <= COUNT_MAX && survey->guest <= COUNT_MAX &&
			       survey->unknown_event <= COUNT_MAX &&
			       survey->lost_samples <= COUNT_MAX &&
			       survey->lost_records <= COUNT_MAX &&
			       survey->first_ns <= survey->last_ns
		       ? 0
		       : -EBADMSG;
}

static int recording_take_event(struct recording *recording, const struct message *message)
{
	struct perfdata_events *events = &recording->header.events;
	struct import_event *seen;
	struct perfdata_event *event;
	struct recording_event in;

	if (message->bytes != sizeof(in) || events->count == PERFDATA_EVENTS_MAX)
		return -EBADMSG;
	memcpy(&in, message->body, sizeof(in));
	if (in.number < -1 || in.number >= PERFDATA_EVENTS_MAX)
		return -EBADMSG;
	if (array_reserve(&events->event, &events->capacity, events->count + 1, sizeof(*event)) < 0)
		return -ENOMEM;
	seen = &recording->survey.events[events->count];
	event = &events->event[events->count++];
	*event = (struct perfdata_event){
		.type = in.type,
		.config = in.config,
		.frequency = (in.flags & RECORDING_FREQUENCY) != 0,
		.period = in.period,
		.sample_type = in.sample_type,
		.read_format = in.read_format,
		.branch_type = in.branch_type,
		.user_registers = in.user_registers,
		.chain_max = in.chain_max,
		.chain_no_user = (in.flags & RECORDING_CHAIN_NO_USER) != 0,
		.counts_lost = (in.flags & RECORDING_COUNTS_LOST) != 0,
		.has_trailer = (in.flags & RECORDING_HAS_TRAILER) != 0,
	};
	text_take(event->name, in.name, sizeof(event->name));
	perfdata_event_describe(event);
	*seen = (struct import_event){
		.number = in.number, .samples = in.samples, .periods = in.periods};
	text_take(seen->name, in.plain_name, sizeof(seen->name));
	return 0;
}

static int recording_take_image(struct recording *recording, const struct message *message)
{
	struct perfdata_header *header = &recording->header;
	const char *path = tail_text(message, sizeof(struct recording_image));
	struct perfdata_image image;
	struct recording_image in;

	if (path == NULL || header->image_count == PERFDATA_IMAGES_MAX)
		return -EBADMSG;
	memcpy(&in, message->body, sizeof(in));
	recording->paths_bytes += strlen(path) + 1;
	if (in.build_id_bytes > sizeof(image.build_id.data) ||
	    recording->paths_bytes > RECORDING_PATHS_BYTES_MAX)
		return -EBADMSG;
	image.build_id.bytes = in.build_id_bytes;
	memcpy(image.build_id.data, in.build_id, sizeof(in.build_id));
	if (array_reserve(&header->images, &header->image_capacity, header->image_count + 1,
			  sizeof(image)) < 0 ||
	    (image.path = strdup(path)) == NULL)
		return -ENOMEM;
	header->images[header->image_count++] = image;
	return 0;
}

static int take_marks(struct recording *recording, const struct message *message)
{
	struct import_mark mark;

	if (message->bytes % sizeof(mark) != 0)
		return -EBADMSG;
	for (size_t at = 0; at < message->bytes; at += sizeof(mark)) {
		memcpy(&mark, message->body + at, sizeof(mark));
		import_lives_add(&recording->survey.lives, &mark);
	}
	return 0;
}

/* Take the messages up to RECORDING_READY. */
static int results_take(struct recording *recording, struct error *err)
{
	for (;;) {
		struct message message;
		int r = message_next(recording, &message, err);

		if (r < 0)
			return r;
		switch (message.kind) {
		case RECORDING_SUMMARY:
			r = take_summary(recording, &message);
			break;
		case RECORDING_EVENT:
			r = recording_take_event(recording, &message);
			break;
		case RECORDING_IMAGE:
			r = recording_take_image(recording, &message);
			break;
		case RECORDING_MARKS:
			r = take_marks(recording, &message);
			break;
		case RECORDING_READY:
			import_lives_settle(&recording->survey.lives);
			perfdata_header_settle(&recording->header);
			return 0;
		default:
			r = -EBADMSG;
		}
		if (r < 0)
			return r == -ENOMEM ? error_set(err, ENOMEM, ERROR_NO_MEMORY)
					    : malformed(err);
	}
}

static struct recording *recording_create(struct error *err)
{
	struct recording *recording = calloc(1, sizeof(*recording));

	if (recording == NULL)
		error_set(err, ENOMEM, ERROR_NO_MEMORY);
	else
		recording->input = recording->process.socket = -1;
	return recording;
}

int recording_open(struct recording **ret, const char *path, struct error *err)
{
	_cleanup_(cleanup_recording) struct recording *recording = NULL;
	_cleanup_(perfdata_input_close) struct perfdata_input input = {.fd = -1};
	struct stat status;
	int r = perfdata_input_open(&input, path, err);

	if (r < 0)
		return r;
	if (fstat(input.fd, &status) < 0)
		return error_set_errno(err, "cannot open it");
	recording = recording_create(err);
	if (recording == NULL)
		return -ENOMEM;
	recording->modified_ns =
		status.st_mtim.tv_sec * (int64_t)NS_PER_SECOND + status.st_mtim.tv_nsec;
	r = process_start(recording, &input, (uint64_t)status.st_size, err);
	if (r == 0)
		r = results_take(recording, err);
	if (r == 0)
		*ret = take_ptr(recording);
	return r;
}

int recording_receive(struct recording **ret, int input, struct error *err)
{
	_cleanup_(cleanup_recording) struct recording *recording = recording_create(err);
	int r;

	if (recording == NULL)
		return -ENOMEM;
	recording->input = fcntl(input, F_DUPFD_CLOEXEC, 0);
	r = results_take(recording, err);
	if (r == 0)
		*ret = take_ptr(recording);
	return r;
}

void recording_close(struct recording *recording)
{
	if (recording == NULL)
		return;
	sandbox_process_end(&recording->process);
	if (recording->input >= 0)
		close(recording->input);
	perfdata_header_deinit(&recording->header);
	import_survey_deinit(&recording->survey);
	free(recording);
}

const struct perfdata_header *recording_header(const struct recording *recording)
{
	return &recording->header;
}

const struct import_survey *recording_survey(const struct recording *recording)
{
	return &recording->survey;
}

int64_t recording_modified_ns(const struct recording *recording)
{
	return recording->modified_ns;
}

bool recording_unfiltered(const struct recording *recording)
{
	return recording->process.open;
}

static struct perfdata_words words_take(const uint8_t **at, uint32_t count)
{
	const struct perfdata_words words = {*at, count};

	*at += count * WORD;
	return words;
}

/* Return true for the combinations that perfdata_stack_parse() makes. */
static bool is_stack(const struct perfdata_event *event, const struct recording_sample *in)
{
	unsigned int registers = in->abi != PERF_SAMPLE_REGS_ABI_NONE
					 ? (unsigned int)__builtin_popcountll(event->user_registers)
					 : 0;

	return in->registers == registers && in->branches % PERFDATA_BRANCH_WORDS == 0 &&
	       in->stack_bytes <= in->stack_room;
}

static int recording_take_sample(const struct recording *recording, const struct message *message,
				 struct recorded *ret)
{
	struct recording_sample in;
	const uint8_t *at = message->body + sizeof(in);
	const struct perfdata_event *event;
	const struct import_event *seen;

	if (message->bytes < sizeof(in))
		return -EBADMSG;
	memcpy(&in, message->body, sizeof(in));
	if (in.event >= recording->header.events.count ||
	    recording->survey.events[in.event].number < 0 ||
	    in.stack_state > RECORDING_STACK_COMPLETE ||
	    !is_stack(&recording->header.events.event[in.event], &in) ||
	    ((uint64_t)in.chain + in.branches + in.registers) * WORD + in.stack_bytes !=
		    message->bytes - sizeof(in))
		return -EBADMSG;
	ret->kind = RECORDED_SAMPLE;
	ret->time_ns = in.time_ns;
	ret->sample = (struct perfdata_sample){
		.event = in.event,
		.pid = in.pid,
		.ip = in.ip,
		.time_ns = in.time_ns,
		.period = in.period,
	};
	event = &recording->header.events.event[in.event];
	seen = &recording->survey.events[in.event];
	ret->has_stack = import_event_has_stacks(event, seen);
	ret->has_branches = perfdata_branches_recorded(event);
	ret->stack_damaged = in.stack_state == RECORDING_STACK_DAMAGED;
	ret->stack.chain = words_take(&at, in.chain);
	ret->stack.branches = words_take(&at, in.branches);
	ret->stack.registers = words_take(&at, in.registers);
	ret->stack.abi = in.abi;
	ret->stack.stack = at;
	ret->stack.stack_bytes = in.stack_bytes;
	ret->stack.stack_room = in.stack_room;
	return 0;
}

/* Return true for the combinations that side_band_record_take() makes. */
static bool is_change(const struct recording_change *in)
{
	switch (in->kind) {
	case SIDE_BAND_KERNEL:
		return in->type == IMAGE_EVENT_MAP && in->has_path;
	case SIDE_BAND_CLONE:
		return in->type == IMAGE_EVENT_FORK;
	case SIDE_BAND_EXIT:
		return in->type == IMAGE_EVENT_EXIT;
	case SIDE_BAND_EVENT:
		return in->type == IMAGE_EVENT_FORK ||
		       (in->has_path &&
			(in->type == IMAGE_EVENT_MAP || in->type == IMAGE_EVENT_EXEC ||
			 in->type == IMAGE_EVENT_RENAME || in->type == IMAGE_EVENT_KERNEL_CODE));
	default:
		return false;
	}
}

static int take_change(const struct message *message, struct recorded *ret)
{
	struct recording_change in;
	struct image_event *event = &ret->change.event;

	if (message->bytes < sizeof(in))
		return -EBADMSG;
	memcpy(&in, message->body, sizeof(in));
	if (!is_change(&in) || in.build_id_bytes > sizeof(in.build_id) ||
	    (in.has_path && tail_text(message, sizeof(in)) == NULL))
		return -EBADMSG;
	ret->kind = RECORDED_CHANGE;
	ret->time_ns = in.time_ns;
	ret->misc = (uint16_t)in.misc;
	ret->change.kind = (enum side_band_kind)in.kind;
	ret->change.tid = in.tid;
	*event = (struct image_event){
		.type = (enum image_event_type)in.type,
		.pid = in.pid,
		.parent = in.parent,
		.time_ns = in.time_ns,
		.start = in.start,
		.bytes = in.bytes,
		.file_offset = in.file_offset,
		.device = in.device,
		.inode = in.inode,
		.version = in.version,
		.build_id_bytes = in.build_id_bytes,
		.path = in.has_path ? tail_text(message, sizeof(in)) : NULL,
	};
	memcpy(event->build_id, in.build_id, sizeof(in.build_id));
	return 0;
}

static int take_expiry(const struct message *message, struct recorded *ret)
{
	struct recording_expiry in;

	if (message->bytes != sizeof(in))
		return -EBADMSG;
	memcpy(&in, message->body, sizeof(in));
	ret->kind = RECORDED_EXPIRY;
	ret->time_ns = in.time_ns;
	return 0;
}

static int take_end(struct recording *recording, const struct message *message)
{
	if (message->bytes != sizeof(recording->end))
		return -EBADMSG;
	memcpy(&recording->end, message->body, sizeof(recording->end));
	recording->ended = true;
	return 0;
}

int recording_next(struct recording *recording, struct recorded *ret, struct error *err)
{
	struct message message;
	int r;

	if (recording->ended)
		return 0;
	r = message_next(recording, &message, err);
	if (r < 0)
		return r;
	*ret = (struct recorded){.time_ns = 0};
	switch (message.kind) {
	case RECORDING_SAMPLE:
		r = recording_take_sample(recording, &message, ret);
		break;
	case RECORDING_CHANGE:
		r = take_change(&message, ret);
		break;
	case RECORDING_EXPIRE:
		r = take_expiry(&message, ret);
		break;
	case RECORDING_END:
		return take_end(recording, &message) < 0 ? malformed(err) : 0;
	default:
		r = -EBADMSG;
	}
	return r < 0 ? malformed(err) : 1;
}

uint64_t recording_late(const struct recording *recording)
{
	return recording->end.late;
}

bool recording_cut_off(const struct recording *recording)
{
	return recording->end.cut_off != 0;
}
