// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/perf/side_band_record.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "lib/bounded_reader.h"

/* Numbers in records have the machine's byte order, so bounded_reader_u32() cannot be used. */
#define TAKE(reader, target)                                                                       \
	do {                                                                                       \
		const void *bytes_ = bounded_reader_bytes(reader, sizeof(target));                 \
		if (bytes_ != NULL)                                                                \
			memcpy(&(target), bytes_, sizeof(target));                                 \
	} while (0)

/*
 * Size of the address, length, type and flags before the name; the name is padded to eight bytes.
 */
#define KSYMBOL_NAME_AT 16

size_t side_band_record_excess(const struct perf_event_header *header, size_t trailer_bytes)
{
	size_t name_at = sizeof(*header) + KSYMBOL_NAME_AT, room, name, filled;

	if (header->type != PERF_RECORD_KSYMBOL || header->size < name_at + trailer_bytes)
		return 0;
	room = header->size - name_at - trailer_bytes;
	name = strnlen((const char *)header + name_at, room);
	filled = (name / 8 + 1) * 8;
	return name < room && filled < room ? room - filled : 0;
}

uint64_t side_band_record_time(const struct perf_event_header *header)
{
	uint64_t time = 0;
	size_t at;

	if (header->size >= sizeof(*header) + sizeof(time)) {
		at = header->size - sizeof(time) - side_band_record_excess(header, sizeof(time));
		memcpy(&time, (const uint8_t *)header + at, sizeof(time));
	}
	return time;
}

bool side_band_record_mapper(const struct perf_event_header *header, uint32_t *pid)
{
	if ((header->type != PERF_RECORD_MMAP && header->type != PERF_RECORD_MMAP2) ||
	    header->size < sizeof(*header) + sizeof(*pid))
		return false;
	memcpy(pid, header + 1, sizeof(*pid));
	return true;
}

/* Return the string that fills the rest of a record; NULL if it is not terminated there. */
static const char *take_string(struct bounded_reader *reader)
{
	size_t bytes = bounded_reader_left(reader);
	const char *string = bounded_reader_bytes(reader, bytes);

	return string != NULL && memchr(string, '\0', bytes) != NULL ? string : NULL;
}

/* Parse the file of an mmap2 record: a build-id, or device, inode and the inode's generation. */
static void parse_file(struct image_event *event, const uint8_t file[24], bool has_build_id)
{
	uint32_t device_major, device_minor;
	uint64_t generation;

	if (has_build_id) {
		event->build_id_bytes = file[0] <= sizeof(event->build_id) ? file[0] : 0;
		memcpy(event->build_id, file + 4, event->build_id_bytes);
		return;
	}
	memcpy(&device_major, file, sizeof(device_major));
	memcpy(&device_minor, file + 4, sizeof(device_minor));
	event->device = makedev(device_major, device_minor);
	memcpy(&event->inode, file + 8, sizeof(event->inode));
	memcpy(&generation, file + 16, sizeof(generation));
	/*
	 * 0 on file systems without generations, and in records that perf synthesises from /proc.
	 */
	if (event->inode != 0 && generation != 0)
		event->version = IMAGE_EVENT_VERSION(generation);
}

static enum side_band_kind mapping_kind(uint16_t misc)
{
	return (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL ? SIDE_BAND_KERNEL
										 : SIDE_BAND_EVENT;
}

static void parse_mmap2(struct side_band_record *ret, struct bounded_reader *reader, uint16_t misc)
{
	struct image_event *event = &ret->event;
	uint8_t file[24] = {0};
	uint32_t protection, flags;

	TAKE(reader, event->pid);
	TAKE(reader, ret->tid);
	TAKE(reader, event->start);
	TAKE(reader, event->bytes);
	TAKE(reader, event->file_offset);
	TAKE(reader, file);
	TAKE(reader, protection);
	TAKE(reader, flags);
	event->path = take_string(reader);
	if (event->path == NULL)
		return;
	parse_file(event, file, (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) != 0);
	event->type = IMAGE_EVENT_MAP;
	ret->kind = mapping_kind(misc);
}

/*
 * Written by old kernels, and by perf for processes that already run; does not identify the file.
 */
static void parse_mmap(struct side_band_record *ret, struct bounded_reader *reader, uint16_t misc)
{
	struct image_event *event = &ret->event;

	TAKE(reader, event->pid);
	TAKE(reader, ret->tid);
	TAKE(reader, event->start);
	TAKE(reader, event->bytes);
	TAKE(reader, event->file_offset);
	event->path = take_string(reader);
	if (event->path == NULL)
		return;
	event->type = IMAGE_EVENT_MAP;
	ret->kind = mapping_kind(misc);
}

/* Threads have separate names; the name of a process is that of its leader. */
static void parse_comm(struct side_band_record *ret, struct bounded_reader *reader, uint16_t misc)
{
	bool exec = (misc & PERF_RECORD_MISC_COMM_EXEC) != 0;

	TAKE(reader, ret->event.pid);
	TAKE(reader, ret->tid);
	ret->event.path = take_string(reader);
	if (ret->event.path == NULL || (!exec && ret->event.pid != ret->tid))
		return;
	ret->event.type = exec ? IMAGE_EVENT_EXEC : IMAGE_EVENT_RENAME;
	ret->kind = SIDE_BAND_EVENT;
}

/* Fork and exit records have the same layout: pid, ppid, tid, ptid, time. */
static void parse_task(struct side_band_record *ret, struct bounded_reader *reader, bool fork)
{
	TAKE(reader, ret->event.pid);
	TAKE(reader, ret->event.parent);
	TAKE(reader, ret->tid);
	if (bounded_reader_failed(reader))
		return;
	ret->event.type = fork ? IMAGE_EVENT_FORK : IMAGE_EVENT_EXIT;
	if (!fork)
		ret->kind = SIDE_BAND_EXIT;
	else if (ret->event.pid == ret->event.parent)
		ret->kind = SIDE_BAND_CLONE;
	else
		ret->kind = SIDE_BAND_EVENT;
}

/* Removals are ignored: removed code stays known until other code replaces it. */
static void parse_ksymbol(struct side_band_record *ret, struct bounded_reader *reader)
{
	struct image_event *event = &ret->event;
	uint32_t bytes = 0;
	uint16_t type, flags = 0;

	TAKE(reader, event->start);
	TAKE(reader, bytes);
	TAKE(reader, type);
	TAKE(reader, flags);
	event->path = take_string(reader);
	if (event->path == NULL || (flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER) != 0)
		return;
	event->bytes = bytes;
	event->type = IMAGE_EVENT_KERNEL_CODE;
	ret->kind = SIDE_BAND_EVENT;
}

static void parse_lost(struct side_band_record *ret, struct bounded_reader *reader)
{
	uint64_t id;

	TAKE(reader, id);
	TAKE(reader, ret->lost);
	if (!bounded_reader_failed(reader))
		ret->kind = SIDE_BAND_LOST;
}

void side_band_record_parse(struct side_band_record *ret, const struct perf_event_header *header)
{
	uint64_t time_ns = side_band_record_time(header);

	memset(ret, 0, sizeof(*ret));
	ret->kind = SIDE_BAND_OTHER;
	if (time_ns != 0)
		side_band_record_take(ret, header, sizeof(time_ns), time_ns);
}

void side_band_record_take(struct side_band_record *ret, const struct perf_event_header *header,
			   size_t trailer_bytes, uint64_t time_ns)
{
	struct bounded_reader reader;

	memset(ret, 0, sizeof(*ret));
	ret->kind = SIDE_BAND_OTHER;
	ret->event.time_ns = time_ns;
	bounded_reader_init(&reader, header + 1, header->size - sizeof(*header) - trailer_bytes);
	switch (header->type) {
	case PERF_RECORD_MMAP:
		parse_mmap(ret, &reader, header->misc);
		break;
	case PERF_RECORD_MMAP2:
		parse_mmap2(ret, &reader, header->misc);
		break;
	case PERF_RECORD_COMM:
		parse_comm(ret, &reader, header->misc);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		parse_task(ret, &reader, header->type == PERF_RECORD_FORK);
		break;
	case PERF_RECORD_KSYMBOL:
		parse_ksymbol(ret, &reader);
		return;
	case PERF_RECORD_LOST:
		parse_lost(ret, &reader);
		break;
	default:
		break;
	}
	/* The idle task, and tasks that this PID namespace does not show. */
	if (ret->kind != SIDE_BAND_LOST && ret->kind != SIDE_BAND_KERNEL &&
	    (ret->event.pid == 0 || ret->event.pid == UINT32_MAX))
		ret->kind = SIDE_BAND_OTHER;
}
