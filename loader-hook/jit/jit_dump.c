// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/jit/jit_dump.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x4a695444U /* "JiTD"; read as another number in a dump of the other byte order */
#define FLAG_ARCH_TIMESTAMP 1U

/* The file format, in the machine's byte order. */
struct file_header {
	uint32_t magic;
	uint32_t version;
	uint32_t total_size;
	uint32_t elf_mach;
	uint32_t pad1;
	uint32_t pid;
	uint64_t timestamp;
	uint64_t flags;
};

enum record_id {
	CODE_LOAD = 0,
	CODE_MOVE = 1,
};

struct record_prefix {
	uint32_t id;
	uint32_t total_size;
	uint64_t timestamp;
};

struct code_load {
	struct record_prefix prefix;
	uint32_t pid;
	uint32_t tid;
	uint64_t vma;
	uint64_t code_addr;
	uint64_t code_size;
	uint64_t code_index;
};

struct code_move {
	struct record_prefix prefix;
	uint32_t pid;
	uint32_t tid;
	uint64_t vma;
	uint64_t old_code_addr;
	uint64_t new_code_addr;
	uint64_t code_size;
	uint64_t code_index;
};

/* Return: number of bytes read, or the error of pread(2). */
static ssize_t read_at(int fd, void *buffer, size_t bytes, uint64_t at)
{
	ssize_t n;

	if (at > INT64_MAX)
		return 0;
	do
		n = pread(fd, buffer, bytes, (off_t)at);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Return: 1; 0: the header is not completely written yet; or an error. */
static int jit_dump_read_header(struct jit_dump *dump, int fd)
{
	struct file_header header;
	ssize_t n = read_at(fd, &header, sizeof(header), 0);

	if (n < (ssize_t)sizeof(header))
		return n < 0 ? (int)n : 0;
	if (header.magic != MAGIC || header.version != 1 || header.elf_mach != JIT_DUMP_MACHINE ||
	    header.total_size < sizeof(header))
		return -ENOEXEC;
	dump->no_times = (header.flags & FLAG_ARCH_TIMESTAMP) != 0;
	dump->position = header.total_size;
	return 1;
}

static bool is_range(uint64_t start, uint64_t bytes)
{
	return start >> 63 == 0 && bytes > 0 && bytes <= (1ULL << 63) - start;
}

/* The name with its NUL and the code fill the rest of the record exactly. */
static void take_load(struct jit_dump_record *record, const struct code_load *load, uint64_t at)
{
	uint64_t rest = load->prefix.total_size - sizeof(*load);

	if (load->code_size >= rest || !is_range(load->code_addr, load->code_size))
		return;
	record->kind = JIT_DUMP_LOAD;
	record->start = load->code_addr;
	record->bytes = load->code_size;
	record->name_at = at + sizeof(*load);
	record->name_bytes = rest - load->code_size - 1;
	record->code_at = at + load->prefix.total_size - load->code_size;
}

static void take_move(struct jit_dump_record *record, const struct code_move *move)
{
	if (!is_range(move->new_code_addr, move->code_size))
		return;
	record->kind = JIT_DUMP_MOVE;
	record->start = move->new_code_addr;
	record->bytes = move->code_size;
	record->from = move->old_code_addr;
}

/* Parse a record whose first @bytes bytes are in @data. A malformed one remains JIT_DUMP_OTHER. */
static void take_record(struct jit_dump_record *record, const void *data, size_t bytes, uint64_t at)
{
	struct record_prefix prefix;
	struct code_load load;
	struct code_move move;

	memcpy(&prefix, data, sizeof(prefix));
	if (prefix.id == CODE_LOAD && bytes >= sizeof(load)) {
		memcpy(&load, data, sizeof(load));
		take_load(record, &load, at);
	} else if (prefix.id == CODE_MOVE && bytes >= sizeof(move)) {
		memcpy(&move, data, sizeof(move));
		take_move(record, &move);
	}
}

/* Return: 1 if the file has all bytes up to @end; 0 if not; or the error of fstat(2). */
static int is_written(int fd, uint64_t end)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return -errno;
	return end <= (uint64_t)status.st_size;
}

int jit_dump_next(struct jit_dump *dump, int fd, uint64_t until, struct jit_dump_record *record)
{
	uint8_t data[sizeof(struct code_move)];
	struct record_prefix prefix;
	ssize_t n;
	int r = dump->position == 0 ? jit_dump_read_header(dump, fd) : 1;

	if (r != 1)
		return r;
	n = read_at(fd, data, sizeof(data), dump->position);
	if (n < (ssize_t)sizeof(prefix))
		return n < 0 ? (int)n : 0;
	memcpy(&prefix, data, sizeof(prefix));
	if (prefix.total_size < sizeof(prefix))
		return -EBADMSG;
	r = is_written(fd, dump->position + prefix.total_size);
	if (r != 1 || (!dump->no_times && prefix.timestamp > until))
		return r == 1 ? 0 : r;
	*record = (struct jit_dump_record){
		.kind = JIT_DUMP_OTHER,
		.time_ns = dump->no_times ? 0 : prefix.timestamp,
	};
	if ((size_t)n > prefix.total_size)
		n = (ssize_t)prefix.total_size;
	take_record(record, data, (size_t)n, dump->position);
	dump->position += prefix.total_size;
	return 1;
}

bool jit_dump_record_is_valid(const struct jit_dump_record *record)
{
	if (!is_range(record->start, record->bytes))
		return false;
	if (record->kind == JIT_DUMP_MOVE)
		return true;
	return record->kind == JIT_DUMP_LOAD && record->code_at > 0 &&
	       record->code_at <= INT64_MAX && record->name_bytes > 0 &&
	       record->name_bytes <= JIT_DUMP_NAME_BYTES_MAX;
}

/* Visit a record, if its name can be read. */
static void record_visit(struct jit_dump_record *record, int fd, jit_dump_fn visit, void *context)
{
	char name[JIT_DUMP_NAME_BYTES_MAX];

	if (record->name_bytes > sizeof(name))
		record->name_bytes = sizeof(name);
	if (!jit_dump_record_is_valid(record))
		return;
	if (record->kind == JIT_DUMP_LOAD &&
	    read_at(fd, name, record->name_bytes, record->name_at) != (ssize_t)record->name_bytes)
		return;
	visit(context, record, name);
}

int jit_dump_scan(struct jit_dump *dump, int fd, uint64_t until, size_t *records, jit_dump_fn visit,
		  void *context)
{
	size_t max = *records;
	int r = 1;

	for (*records = 0; *records < max && r == 1; ++*records) {
		struct jit_dump_record record;

		r = jit_dump_next(dump, fd, until, &record);
		if (r == 1)
			record_visit(&record, fd, visit, context);
	}
	return r;
}

bool jit_dump_may_have(const struct jit_dump *dump, int fd)
{
	uint64_t needed = dump->position == 0 ? sizeof(struct file_header)
					      : dump->position + sizeof(struct record_prefix);

	/* An error is found by reading. */
	return is_written(fd, needed) != 0;
}
