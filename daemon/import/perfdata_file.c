// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/import/perfdata_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/import/perfdata_input.h"
#include "daemon/import/perfdata_record.h"
#include "daemon/import/perfdata_swap.h"
#include "daemon/import/perfdata_unpack.h"
#include "lib/bounded_reader.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/file_read.h"

#define MAGIC 0x32454c4946524550ULL /* "PERFILE2" */
#define MAGIC_SWAPPED 0x50455246494c4532ULL
#define HEADER_BYTES 104
#define PIPE_HEADER_BYTES 16
#define SECTION_BYTES 16
/* More than any perf writes: names of tens of thousands of images. */
#define FEATURE_BYTES_MAX (64U << 20)
#define ATTR_BYTES_MAX 4096
#define IDS_BYTES_MAX (16U << 20)
#define WINDOW_BYTES (1U << 18)
#define RECORD_BYTES_MAX (1U << 16)

struct section {
	uint64_t offset;
	uint64_t bytes;
};

/*
 * @part:     number of the file of a directory, 0 ..
 * @position: of the next record in the file; @end: of all records of @part
 * @window:   bytes of the file from @window_at on
 * @swapped:  the file has the other byte order; contents are converted after each read
 * @record:   the record returned last
 */
struct perfdata_file {
	int fd;
	bool is_pipe;
	bool cut_off;
	bool swapped;
	uint64_t file_bytes;
	struct section data;
	const struct perfdata_input *input;
	size_t part;
	uint64_t position;
	uint64_t end;
	struct perfdata_header header;
	struct perfdata_unpack *unpack;
	uint64_t window_at;
	size_t window_bytes;
	uint8_t *window;
	_Alignas(8) uint8_t record[RECORD_BYTES_MAX];
};

static bool perfdata_file_is_inside(const struct perfdata_file *file, const struct section *section)
{
	return section->offset <= file->file_bytes &&
	       section->bytes <= file->file_bytes - section->offset;
}

static int read_at(struct perfdata_file *file, void *buffer, size_t bytes, uint64_t offset,
		   struct error *err)
{
	int r = file_read_exactly(file->fd, buffer, bytes, offset);

	return r < 0 ? error_set(err, -r, "cannot read it: %s", strerror(-r)) : 0;
}

/* Return the allocated contents of a section; NULL on failure, with the error in *@r. */
static void *section_read(struct perfdata_file *file, const struct section *section, size_t max,
			  int *r, struct error *err)
{
	_cleanup_free_ void *data = NULL;

	if (!perfdata_file_is_inside(file, section) || section->bytes > max) {
		*r = error_set(err, EBADMSG, "a section is outside of the file or too long");
		return NULL;
	}
	data = malloc(section->bytes + 1);
	*r = data == NULL ? error_set(err, ENOMEM, ERROR_NO_MEMORY)
			  : read_at(file, data, section->bytes, section->offset, err);
	return *r == 0 ? take_ptr(data) : NULL;
}

static struct section take_section(struct bounded_reader *reader)
{
	struct section section;

	section.offset = bounded_reader_u64(reader);
	section.bytes = bounded_reader_u64(reader);
	return section;
}

/* Read an attr and its ids. */
static int attr_read(struct perfdata_file *file, const struct section *section, struct error *err)
{
	_cleanup_free_ uint8_t *entry = NULL;
	_cleanup_free_ void *ids = NULL;
	size_t attr_bytes = section->bytes - SECTION_BYTES;
	struct bounded_reader reader;
	struct section where;
	int r;

	entry = section_read(file, section, ATTR_BYTES_MAX, &r, err);
	if (entry == NULL)
		return r;
	if (file->swapped) {
		perfdata_swap_attr(entry, attr_bytes);
		perfdata_swap_words(entry + attr_bytes, SECTION_BYTES);
	}
	bounded_reader_init(&reader, entry + attr_bytes, SECTION_BYTES);
	where = take_section(&reader);
	ids = section_read(file, &where, IDS_BYTES_MAX, &r, err);
	if (ids == NULL)
		return r;
	if (file->swapped)
		perfdata_swap_words(ids, where.bytes);
	return perfdata_events_add(&file->header.events, entry, attr_bytes, ids, where.bytes, err);
}

static int attrs_read(struct perfdata_file *file, const struct section *attrs, uint64_t entry_bytes,
		      struct error *err)
{
	int r = 0;

	if (entry_bytes <= SECTION_BYTES || entry_bytes > ATTR_BYTES_MAX ||
	    attrs->bytes % entry_bytes != 0 || attrs->bytes == 0 ||
	    !perfdata_file_is_inside(file, attrs))
		return error_set(err, EBADMSG, "its list of events is malformed");
	for (uint64_t at = 0; r == 0 && at < attrs->bytes; at += entry_bytes) {
		const struct section entry = {attrs->offset + at, entry_bytes};

		r = attr_read(file, &entry, err);
	}
	return r;
}

/* Features follow the records; @bits: the ones that exist. A truncated file has none. */
static int features_read(struct perfdata_file *file, const uint8_t bits[PERFDATA_FEATURES / 8],
			 struct error *err)
{
	uint64_t at = file->data.offset + file->data.bytes;

	for (unsigned int i = 0; i < PERFDATA_FEATURES; i++) {
		uint8_t entry[SECTION_BYTES];
		struct bounded_reader reader;
		_cleanup_free_ void *data = NULL;
		struct section section;
		int r;

		if ((bits[i / 8] >> i % 8 & 1) == 0)
			continue;
		r = read_at(file, entry, sizeof(entry), at, err);
		if (r < 0)
			return r;
		at += SECTION_BYTES;
		if (file->swapped)
			perfdata_swap_words(entry, sizeof(entry));
		bounded_reader_init(&reader, entry, sizeof(entry));
		section = take_section(&reader);
		if (i > PERFDATA_EVENTS)
			break;
		data = section_read(file, &section, FEATURE_BYTES_MAX, &r, err);
		if (data != NULL && file->swapped)
			perfdata_swap_feature(i, data, section.bytes);
		if (data != NULL)
			r = perfdata_header_feature(&file->header, i, data, section.bytes, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * Convert the file's header. Its bitmap of features consists of words of the recording machine: of
 * 32 bits if the feature that all recordings have is not found with 64 bits.
 */
static void head_swap(uint8_t head[HEADER_BYTES])
{
	uint8_t *bits = head + HEADER_BYTES - PERFDATA_FEATURES / 8;

	perfdata_swap_words(head, HEADER_BYTES);
	if ((bits[0] >> PERFDATA_HOSTNAME & 1) != 0)
		return;
	for (size_t i = 0; i < PERFDATA_FEATURES / 8; i += 8) {
		uint8_t half[4];

		memcpy(half, bits + i, 4);
		memcpy(bits + i, bits + i + 4, 4);
		memcpy(bits + i + 4, half, 4);
	}
}

/* If perf did not finish the file, the rest of the file is taken as records. */
static int sections_read(struct perfdata_file *file, struct error *err)
{
	uint8_t head[HEADER_BYTES];
	struct bounded_reader reader;
	struct section attrs;
	uint64_t entry_bytes;
	int r = read_at(file, head, sizeof(head), 0, err);

	if (r < 0)
		return r;
	if (file->swapped)
		head_swap(head);
	bounded_reader_init(&reader, head, sizeof(head));
	bounded_reader_bytes(&reader, 16);
	entry_bytes = bounded_reader_u64(&reader);
	attrs = take_section(&reader);
	file->data = take_section(&reader);
	take_section(&reader); /* event types of old versions */
	if (file->data.offset < HEADER_BYTES || file->data.offset > file->file_bytes)
		return error_set(err, EBADMSG, "its header is malformed");
	r = attrs_read(file, &attrs, entry_bytes, err);
	if (r < 0)
		return r;
	if (file->data.bytes == 0 || !perfdata_file_is_inside(file, &file->data)) {
		file->cut_off = true;
		file->data.bytes = file->file_bytes - file->data.offset;
		return 0;
	}
	return features_read(file, bounded_reader_bytes(&reader, PERFDATA_FEATURES / 8), err);
}

static int container_read(struct perfdata_file *file, struct error *err)
{
	uint8_t head[PIPE_HEADER_BYTES];
	struct bounded_reader reader;
	uint64_t magic, bytes;

	if (file->file_bytes < sizeof(head))
		return error_set(err, EMEDIUMTYPE, "not a perf.data file");
	if (read_at(file, head, sizeof(head), 0, err) < 0)
		return -EIO;
	bounded_reader_init(&reader, head, sizeof(head));
	magic = bounded_reader_u64(&reader);
	bytes = bounded_reader_u64(&reader);
	if (magic == MAGIC_SWAPPED) {
		file->swapped = true;
		bytes = __builtin_bswap64(bytes);
	} else if (magic != MAGIC)
		return error_set(err, EMEDIUMTYPE, "not a perf.data file");
	if (bytes == PIPE_HEADER_BYTES) {
		file->is_pipe = true;
		file->data.offset = bytes;
		file->data.bytes = file->file_bytes - bytes;
		return 0;
	}
	if (bytes != HEADER_BYTES || file->file_bytes < HEADER_BYTES)
		return error_set(err, EBADMSG, "its header is malformed");
	return sections_read(file, err);
}

int perfdata_file_open(struct perfdata_file **ret, const struct perfdata_input *input,
		       struct error *err)
{
	struct perfdata_file *file = calloc(1, sizeof(*file));
	struct stat status;
	int r = -ENOMEM;

	if (file != NULL) {
		file->fd = -1;
		file->window = malloc(WINDOW_BYTES);
	}
	if (file == NULL || file->window == NULL)
		error_set(err, ENOMEM, ERROR_NO_MEMORY);
	else
		r = file->fd = fcntl(input->fd, F_DUPFD_CLOEXEC, 0);
	if (file != NULL && file->window != NULL && (r < 0 || fstat(file->fd, &status) < 0))
		r = error_set_errno(err, "cannot open it");
	if (r >= 0) {
		file->input = input;
		file->file_bytes = input->count > 0 ? input->ends[0] : (uint64_t)status.st_size;
		r = container_read(file, err);
	}
	if (r < 0) {
		perfdata_file_close(file);
		return r;
	}
	perfdata_header_settle(&file->header);
	perfdata_file_rewind(file);
	*ret = file;
	return 0;
}

void perfdata_file_close(struct perfdata_file *file)
{
	if (file == NULL)
		return;
	if (file->fd >= 0)
		close(file->fd);
	perfdata_header_deinit(&file->header);
	perfdata_unpack_destroy(file->unpack);
	free(file->window);
	free(file);
}

struct perfdata_header *perfdata_file_header(struct perfdata_file *file)
{
	return &file->header;
}

bool perfdata_file_cut_off(const struct perfdata_file *file)
{
	return file->cut_off;
}

bool perfdata_file_in_parts(const struct perfdata_file *file)
{
	return file->input->count > 1;
}

/* Begin to read records at an offset. Each file of a directory is compressed separately. */
static void part_begin(struct perfdata_file *file, size_t part, uint64_t start, uint64_t end)
{
	file->part = part;
	file->position = start;
	file->end = end;
	file->window_bytes = 0;
	perfdata_unpack_destroy(file->unpack);
	file->unpack = NULL;
}

void perfdata_file_rewind(struct perfdata_file *file)
{
	part_begin(file, 0, file->data.offset, file->data.offset + file->data.bytes);
}

/* Continue with the next file of a directory. Return: false: there is none. */
static bool part_next(struct perfdata_file *file)
{
	const struct perfdata_input *input = file->input;

	if (file->part + 1 >= input->count)
		return false;
	part_begin(file, file->part + 1, input->ends[file->part], input->ends[file->part + 1]);
	return true;
}

/* Return @bytes at the position, in memory. @bytes: at most RECORD_BYTES_MAX, within the file */
static const uint8_t *window_get(struct perfdata_file *file, size_t bytes, struct error *err)
{
	uint64_t left = file->end - file->position;
	size_t wanted = left < WINDOW_BYTES ? (size_t)left : WINDOW_BYTES;

	if (file->position >= file->window_at &&
	    file->position + bytes <= file->window_at + file->window_bytes)
		return file->window + (file->position - file->window_at);
	file->window_bytes = 0;
	if (read_at(file, file->window, wanted, file->position, err) < 0)
		return NULL;
	file->window_at = file->position;
	file->window_bytes = wanted;
	return file->window;
}

/* Read the next record of the file itself into @record. Return: as perfdata_file_next() */
static int raw_next(struct perfdata_file *file, struct error *err)
{
	struct perf_event_header head;
	const uint8_t *at;

	if (file->end - file->position < sizeof(head)) {
		file->cut_off |= file->end != file->position;
		return 0;
	}
	at = window_get(file, sizeof(head), err);
	if (at == NULL)
		return -EIO;
	memcpy(&head, at, sizeof(head));
	if (file->swapped)
		perfdata_swap_head(&head);
	if (head.size < sizeof(head))
		return error_set(err, EBADMSG, "the record at byte %llu is malformed",
				 (unsigned long long)file->position);
	if (head.size > file->end - file->position) {
		file->cut_off = true;
		return 0;
	}
	at = window_get(file, head.size, err);
	if (at == NULL)
		return -EIO;
	memcpy(file->record, at, head.size);
	memcpy(file->record, &head, sizeof(head));
	file->position += head.size;
	return 1;
}

/* Skip the data that follow a record. */
static int skip(struct perfdata_file *file, const struct perf_event_header *head, struct error *err)
{
	struct bounded_reader reader;
	uint64_t bytes = 0;

	bounded_reader_init(&reader, head + 1, head->size - sizeof(*head));
	if (head->type == PERFDATA_RECORD_AUXTRACE)
		bytes = bounded_reader_u64(&reader);
	else if (head->type == PERFDATA_RECORD_TRACING_DATA && file->is_pipe)
		bytes = ((uint64_t)bounded_reader_u32(&reader) + 7) & ~7ULL;
	if (bounded_reader_failed(&reader))
		return error_set(err, EBADMSG, "a record is truncated");
	if (bytes > file->end - file->position) {
		file->cut_off = true;
		bytes = file->end - file->position;
	}
	file->position += bytes;
	return 0;
}

static bool is_packed(const struct perf_event_header *head)
{
	return head->type == PERFDATA_RECORD_COMPRESSED ||
	       head->type == PERFDATA_RECORD_COMPRESSED2;
}

/* In records of newer versions the size comes first, since they are padded. */
static int unpack(struct perfdata_file *file, const struct perf_event_header *head,
		  struct error *err)
{
	size_t bytes = head->size - sizeof(*head);
	struct bounded_reader reader;

	bounded_reader_init(&reader, head + 1, bytes);
	if (head->type == PERFDATA_RECORD_COMPRESSED2) {
		uint64_t declared = bounded_reader_u64(&reader);

		bytes = bounded_reader_left(&reader);
		if (bounded_reader_failed(&reader) || declared > bytes)
			return error_set(err, EBADMSG, "a compressed record is malformed");
		bytes = (size_t)declared;
	}
	if (file->unpack == NULL) {
		int r = perfdata_unpack_create(&file->unpack, err);

		if (r < 0)
			return r;
	}
	return perfdata_unpack_add(file->unpack, reader.position, bytes, err);
}

int perfdata_file_next(struct perfdata_file *file, const struct perf_event_header **record,
		       struct error *err)
{
	struct perf_event_header *head = (struct perf_event_header *)file->record;
	int r;

	for (;;) {
		bool inner = file->unpack != NULL;

		r = inner ? perfdata_unpack_next(file->unpack, file->record, file->swapped, err)
			  : 0;
		if (r == 0) {
			inner = false;
			r = raw_next(file, err);
		}
		if (r == 0 && part_next(file))
			continue;
		if (r <= 0)
			return r;
		if (file->swapped)
			perfdata_swap_record(head, &file->header.events);
		if (inner && is_packed(head))
			return error_set(err, EBADMSG, "a compressed record within another");
		if (!is_packed(head))
			break;
		r = unpack(file, head, err);
		if (r < 0)
			return r;
	}
	r = skip(file, head, err);
	*record = head;
	return r < 0 ? r : 1;
}
