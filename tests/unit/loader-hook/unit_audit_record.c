// SPDX-License-Identifier: GPL-2.0-only
/* Records written by the LD_AUDIT library and read by the daemon. */
#include "tests/lib/unit.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loader-hook/audit/datagram.h"
#include "loader-hook/audit/host_process.h"
#include "loader-hook/audit/loaded_object.h"
#include "loader-hook/audit_record.h"
#include "loader-hook/build_id.h"

#define RECORDS_MAX 24

/* A record that was put into a datagram. */
struct written {
	enum audit_record_type type;
	char path[300];
	uint64_t start, length, offset;
	uint8_t build_id[IMAGE_BUILD_ID_BYTES_MAX];
	size_t build_id_bytes;
};

static void random_path(uint64_t *random, char path[300])
{
	size_t bytes = 1 + unit_random(random) % 298, i;

	for (i = 0; i < bytes; i++)
		path[i] = (char)(1 + unit_random(random) % 255);
	path[0] = '/';
	path[bytes] = '\0';
}

static void random_record(uint64_t *random, struct datagram *datagram, struct written *written)
{
	struct audit_record *record;
	size_t i;

	memset(written, 0, sizeof(*written));
	written->type = AUDIT_RECORD_COMMAND + unit_random(random) % 3;
	if (written->type != AUDIT_RECORD_UNMAP)
		random_path(random, written->path);
	record = datagram_record(datagram, written->type,
				 written->type != AUDIT_RECORD_UNMAP ? written->path : NULL);
	assert_non_null(record);
	if (written->type == AUDIT_RECORD_COMMAND)
		return;
	written->start = record->start = unit_random(random) >> 2;
	written->length = record->length = 1 + (unit_random(random) >> 2);
	if (written->type == AUDIT_RECORD_UNMAP)
		return;
	written->offset = record->file_offset = unit_random(random);
	written->build_id_bytes = 1 + unit_random(random) % IMAGE_BUILD_ID_BYTES_MAX;
	record->build_id_bytes = (uint8_t)written->build_id_bytes;
	for (i = 0; i < written->build_id_bytes; i++)
		written->build_id[i] = record->build_id[i] = (uint8_t)unit_random(random);
}

static void assert_same(const struct image_event *event, const struct written *written)
{
	static const enum image_event_type types[] = {
		[AUDIT_RECORD_COMMAND] = IMAGE_EVENT_RENAME,
		[AUDIT_RECORD_MAP] = IMAGE_EVENT_MAP,
		[AUDIT_RECORD_UNMAP] = IMAGE_EVENT_UNMAP,
	};

	assert_int_equal(event->type, types[written->type]);
	if (written->type != AUDIT_RECORD_UNMAP)
		assert_string_equal(event->path, written->path);
	assert_int_equal(event->start, written->start);
	assert_int_equal(event->bytes, written->length);
	assert_int_equal(event->file_offset, written->offset);
	assert_int_equal(event->build_id_bytes, written->build_id_bytes);
	assert_memory_equal(event->build_id, written->build_id, sizeof(event->build_id));
	/* Fields that only the kernel can know are not accepted from a process. */
	assert_int_equal(event->pid, 0);
	assert_int_equal(event->inode, 0);
	assert_int_equal(event->version, 0);
	assert_false(event->has_generation);
	assert_false(event->scanned);
}

/* Fill a datagram with @count random records, which must fit. */
static void datagram_fill(uint64_t *random, struct datagram *datagram, struct written *written,
			  size_t count, bool begins)
{
	size_t i;

	memset(datagram, 0, sizeof(*datagram));
	if (begins) {
		datagram_record(datagram, AUDIT_RECORD_PROGRAM, "/usr/bin/program");
		datagram_flag(datagram, AUDIT_MESSAGE_BEGINS);
	}
	for (i = 0; i < count; i++)
		random_record(random, datagram, &written[i]);
	assert_int_equal(datagram->sequence, 0);
	datagram->message.head.bytes = (uint32_t)datagram->used;
}

static void test_round_trip(void **state)
{
	static struct datagram datagram;
	struct written written[RECORDS_MAX];
	struct audit_reader reader;
	struct image_event event;
	uint64_t random = 1;
	int round;
	size_t i;

	(void)state;
	for (round = 0; round < 2000; round++) {
		size_t count = 1 + unit_random(&random) % (RECORDS_MAX - 1);
		bool begins = unit_random(&random) % 2;

		if (count > 20)
			count = 20;
		datagram_fill(&random, &datagram, written, count, begins);
		assert_true(audit_reader_init(&reader, datagram.message.bytes, datagram.used));
		assert_int_equal(reader.program != NULL, begins);
		if (begins)
			assert_string_equal(reader.program, "/usr/bin/program");
		for (i = 0; i < count; i++) {
			assert_int_equal(audit_reader_next(&reader, &event), 1);
			assert_same(&event, &written[i]);
		}
		assert_int_equal(audit_reader_next(&reader, &event), 0);
	}
}

/* Read to the end, or to the first invalid record; the sanitizers detect reads beyond the end. */
static size_t events_read(const void *data, size_t bytes)
{
	struct audit_reader reader;
	struct image_event event;
	size_t count = 0;
	int rc;

	if (!audit_reader_init(&reader, data, bytes))
		return 0;
	while ((rc = audit_reader_next(&reader, &event)) == 1 || rc == -ENOENT) {
		count++;
		if (event.type != IMAGE_EVENT_RENAME)
			assert_true(event.bytes > 0 && event.start + event.bytes <= 1ULL << 63);
	}
	assert_true(rc == 0 || rc == -EINVAL);
	return count;
}

static void test_refuses_damage(void **state)
{
	static struct datagram datagram;
	struct written written[RECORDS_MAX];
	uint64_t random = 2;
	int round, change;

	(void)state;
	for (round = 0; round < 20000; round++) {
		uint8_t *copy;
		size_t bytes;

		datagram_fill(&random, &datagram, written, 4, round % 2);
		bytes = round % 4 < 2 ? datagram.used : unit_random(&random) % datagram.used;
		if (round % 8 < 4)
			datagram.message.head.bytes = (uint32_t)bytes;
		copy = malloc(bytes > 0 ? bytes : 1);
		assert_non_null(copy);
		memcpy(copy, datagram.message.bytes, bytes);
		for (change = 0; change < round % 5 && bytes > 24; change++)
			copy[24 + unit_random(&random) % (bytes - 24)] =
				(uint8_t)unit_random(&random);
		assert_true(events_read(copy, bytes) <= 5 + RECORDS_MAX);
		free(copy);
	}
}

static void test_path_unreachable_by_name(void **state)
{
	static struct datagram datagram;
	struct audit_record *record;
	struct audit_reader reader;
	struct image_event event;
	size_t i;
	static const struct {
		const char *path;
		uint64_t start, length;
		uint8_t build_id_bytes;
		int rc;
	} cases[] = {
		{"/lib/a.so", 0x1000, 0x1000, 20, 1},
		{"[vdso]", 0x1000, 0x1000, 0, 1},
		{"./a.so", 0x1000, 0x1000, 20, -ENOENT},
		{"/lib/a.so", 0x1000, 0x1000, 0, -ENOENT},
		{"/lib/a.so", 0x1000, 0x1000, 21, -EINVAL},
		{"/lib/a.so", 0x1000, 0, 20, -EINVAL},
		{"/lib/a.so", 1ULL << 63, 0x1000, 20, -EINVAL},
		{"/lib/a.so", (1ULL << 63) - 0x1000, 0x1001, 20, -EINVAL},
		{"/lib/a.so", (1ULL << 63) - 0x1000, 0x1000, 20, 1},
		{"/lib/a.so", 0x1000, UINT64_MAX, 20, -EINVAL},
	};

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		memset(&datagram, 0, sizeof(datagram));
		record = datagram_record(&datagram, AUDIT_RECORD_MAP, cases[i].path);
		record->start = cases[i].start;
		record->length = cases[i].length;
		record->build_id_bytes = cases[i].build_id_bytes;
		datagram.message.head.bytes = (uint32_t)datagram.used;
		assert_true(audit_reader_init(&reader, datagram.message.bytes, datagram.used));
		assert_int_equal(audit_reader_next(&reader, &event), cases[i].rc);
	}
}

/* The first object is the program. */
static int take_bias(struct dl_phdr_info *info, size_t bytes, void *context)
{
	(void)bytes;
	*(uintptr_t *)context = info->dlpi_addr;
	return 1;
}

/* The library finds the test's own program and its build-id. */
static void test_finds_own_program(void **state)
{
	struct host_process host = {0};
	struct loaded_object object;
	struct build_id in_memory, in_file;
	char path[4096];
	uintptr_t bias = 0;
	size_t i = 0;
	bool found = false;
	const ElfW(Phdr) * segment;
	int fd;

	(void)state;
	assert_true(host_process_read(&host));
	assert_int_equal(host.page_bytes, sysconf(_SC_PAGESIZE));
	assert_int_equal(host.segments, getauxval(AT_PHDR));
	assert_true(host_process_program(path, sizeof(path)) > 0);
	fd = open("/proc/self/exe", O_RDONLY);
	assert_int_equal(build_id_from_file(&in_file, fd), 0);
	close(fd);
	dl_iterate_phdr(take_bias, &bias);
	assert_true(loaded_object_at_segments(&object, host.segments, host.segment_count, bias));
	assert_true(loaded_object_build_id(&object, &in_memory));
	assert_int_equal(in_memory.bytes, in_file.bytes);
	assert_memory_equal(in_memory.data, in_file.data, in_file.bytes);
	while ((segment = loaded_object_text(&object, &i)) != NULL)
		found |= (uintptr_t)test_finds_own_program - object.bias - segment->p_vaddr <
			 segment->p_memsz;
	assert_true(found);
}

/* Headers that point to unmapped memory give no result, but do not raise a signal. */
static void test_survives_unreadable_memory(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
	uint8_t *memory =
		mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ElfW(Ehdr) *header = (void *)(memory + page - sizeof(*header));
	struct loaded_object object;
	struct build_id build_id;
	uint64_t random = 3;
	int round;

	(void)state;
	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
	memcpy(header->e_ident, ELFMAG, SELFMAG);
	header->e_phentsize = sizeof(ElfW(Phdr));
	header->e_phnum = 1;
	header->e_phoff = sizeof(*header);
	assert_false(loaded_object_at_header(&object, (uintptr_t)header, (uintptr_t)header));
	assert_false(loaded_object_at_header(&object, (uintptr_t)memory + page, 0));
	assert_false(loaded_object_at_header(&object, 0, 0));
	assert_false(loaded_object_at_header(&object, (uintptr_t)header + 1, 0));
	for (round = 0; round < 20000; round++) {
		ElfW(Phdr) *segments = (void *)memory;

		for (i = 0; i < 8 * sizeof(*segments); i++)
			memory[i] = (uint8_t)unit_random(&random);
		for (i = 0; i < 8; i++) {
			segments[i].p_type = PT_NOTE;
			segments[i].p_memsz = unit_random(&random) % (2 * page);
			if (round % 2)
				segments[i].p_vaddr = unit_random(&random) % (3 * page);
		}
		assert_true(loaded_object_at_segments(&object, (uintptr_t)memory, 8,
						      (uintptr_t)memory));
		loaded_object_build_id(&object, &build_id);
	}
	munmap(memory, 3 * page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_refuses_damage),
		cmocka_unit_test(test_path_unreachable_by_name),
		cmocka_unit_test(test_finds_own_program),
		cmocka_unit_test(test_survives_unreadable_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
