// SPDX-License-Identifier: GPL-2.0-only
#include "tests/perfdata_writer.h"

#include <stdlib.h>
#include <string.h>

#define HEADER_BYTES 104
#define FINISHED_ROUND 68
#define SAMPLE_TYPE                                                                                \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_CPU |  \
	 PERF_SAMPLE_PERIOD)

static void put(struct perfdata_writer *writer, const void *data, size_t bytes)
{
	if (writer->used + bytes > writer->capacity) {
		writer->capacity = 2 * (writer->used + bytes);
		writer->bytes = realloc(writer->bytes, writer->capacity);
		if (writer->bytes == NULL)
			abort();
	}
	memcpy(writer->bytes + writer->used, data, bytes);
	writer->used += bytes;
}

static void put_u64(struct perfdata_writer *writer, uint64_t value)
{
	put(writer, &value, sizeof(value));
}

static void put_attr(struct perfdata_writer *writer, unsigned int i, int is_dummy, size_t ids_at)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = is_dummy ? PERF_COUNT_SW_DUMMY
			  : i == 0 ? PERF_COUNT_SW_CPU_CLOCK
				   : PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1000,
		.sample_type = SAMPLE_TYPE,
		.read_format = PERF_FORMAT_ID | 1U << 4,
		.sample_id_all = 1,
	};

	put(writer, &attr, sizeof(attr));
	put_u64(writer, ids_at + i * sizeof(uint64_t));
	put_u64(writer, sizeof(uint64_t));
}

void perfdata_writer_begin(struct perfdata_writer *writer, unsigned int count, int dummy)
{
	const uint64_t entry = sizeof(struct perf_event_attr) + 16;
	size_t ids_at = HEADER_BYTES + count * entry;
	const uint64_t head[13] = {
		0x32454c4946524550ULL,
		HEADER_BYTES,
		entry,
		HEADER_BYTES,
		count * entry,
		ids_at + count * sizeof(uint64_t),
		0,
	};

	put(writer, head, sizeof(head));
	for (unsigned int i = 0; i < count; i++)
		put_attr(writer, i, dummy && i + 1 == count, ids_at);
	for (unsigned int i = 0; i < count; i++)
		put_u64(writer, i + 1);
	writer->data_at = writer->used;
}

void perfdata_writer_record(struct perfdata_writer *writer, uint32_t type, uint16_t misc,
			    const void *body, size_t bytes, uint64_t time_ns, uint64_t id)
{
	const uint64_t trailer[4] = {0, time_ns, id, 0};
	struct perf_event_header header = {
		.type = type,
		.misc = misc,
		.size = (uint16_t)(sizeof(header) + bytes + (id != 0 ? sizeof(trailer) : 0)),
	};

	put(writer, &header, sizeof(header));
	put(writer, body, bytes);
	if (id != 0)
		put(writer, trailer, sizeof(trailer));
}

void perfdata_writer_sample(struct perfdata_writer *writer, uint16_t misc, uint64_t id,
			    uint32_t pid, uint64_t time_ns, uint64_t ip, uint64_t period)
{
	const uint64_t body[6] = {ip, (uint64_t)pid << 32 | pid, time_ns, id, 0, period};

	perfdata_writer_record(writer, PERF_RECORD_SAMPLE, misc, body, sizeof(body), 0, 0);
}

void perfdata_writer_map(struct perfdata_writer *writer, uint32_t pid, uint64_t time_ns,
			 uint64_t start, uint64_t length, uint64_t offset, uint8_t image)
{
	struct {
		uint32_t pid, tid;
		uint64_t start, length, offset;
		uint8_t build_id_bytes, reserved[3], build_id[20];
		uint32_t protection, flags;
		char path[16];
	} body = {pid, pid, start, length, offset, .build_id_bytes = 20, .path = "/image"};

	memset(body.build_id, image, sizeof(body.build_id));
	body.path[6] = (char)('A' + image % 26);
	perfdata_writer_record(writer, PERF_RECORD_MMAP2,
			       PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID, &body,
			       sizeof(body), time_ns, 1);
}

void perfdata_writer_task(struct perfdata_writer *writer, uint32_t type, uint32_t pid,
			  uint32_t parent, uint64_t time_ns)
{
	const struct {
		uint32_t pid, parent, tid, parent_tid;
		uint64_t time_ns;
	} body = {pid, parent, pid, parent, time_ns};

	perfdata_writer_record(writer, type, 0, &body, sizeof(body), time_ns, 1);
}

void perfdata_writer_exec(struct perfdata_writer *writer, uint32_t pid, uint64_t time_ns)
{
	const struct {
		uint32_t pid, tid;
		char name[16];
	} body = {pid, pid, "program"};

	perfdata_writer_record(writer, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, &body,
			       sizeof(body), time_ns, 1);
}

void perfdata_writer_round(struct perfdata_writer *writer)
{
	perfdata_writer_record(writer, FINISHED_ROUND, 0, "", 0, 0, 0);
}

void perfdata_writer_end(struct perfdata_writer *writer)
{
	uint64_t bytes = writer->used - writer->data_at;

	memcpy(writer->bytes + 48, &bytes, sizeof(bytes));
}

void perfdata_writer_free(struct perfdata_writer *writer)
{
	free(writer->bytes);
	*writer = (struct perfdata_writer){0};
}
