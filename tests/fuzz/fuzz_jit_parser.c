// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz the reader of messages from the process that parses perf maps and jitdumps. The input is a
 * sequence of messages, each preceded by its length, flags and result. The first byte chooses the
 * request.
 */
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/jit/jit_parser.h"
#include "lib/broker.h"
#include "tests/fuzz/fuzz.h"

#define POSITION 100
#define BYTES 200000
#define RECORDS 100
#define UNTIL 1000
#define MESSAGES_MAX 8

/* The process is a socket. */
int sandbox_process_start(struct sandbox_process *ret, const struct sandbox_process_task *task)
{
	(void)task;
	*ret = (struct sandbox_process){.socket = -1};
	return -1;
}

uint64_t sandbox_process_cpu_ns(const struct sandbox_process *process)
{
	(void)process;
	return 0;
}

int sandbox_process_end(struct sandbox_process *process)
{
	close(process->socket);
	return 0;
}

static void line_check(void *context, const struct jit_map_line *line)
{
	uint64_t *end = context;

	require(jit_map_line_is_valid(line));
	require(line->name_at >= *end && line->name_at + line->name_bytes <= POSITION + BYTES);
	*end = line->name_at + line->name_bytes;
}

static void record_check(void *context, const struct jit_dump_record *record, const char *name)
{
	uint64_t sum = 0;

	require(record->kind == JIT_DUMP_LOAD || record->kind == JIT_DUMP_MOVE);
	require(record->start >> 63 == 0 && record->bytes > 0 && record->time_ns <= UNTIL);
	require(record->name_bytes <= JIT_DUMP_NAME_BYTES_MAX);
	for (uint64_t i = 0; i < record->name_bytes; i++)
		sum += (unsigned char)name[i];
	require(sum <= 255 * record->name_bytes);
	require(++*(uint64_t *)context <= RECORDS);
}

static void map_ask(struct jit_parser *parser)
{
	const struct jit_map_request request = {.position = POSITION, .bytes_max = BYTES};
	struct jit_map_reply reply;
	uint64_t end = POSITION;

	if (jit_parser_map(parser, &request, STDIN_FILENO, line_check, &end, &reply) == 0)
		require(reply.position >= POSITION && reply.position <= POSITION + BYTES &&
			reply.sum_count <= JIT_MAP_SUMS_MAX);
}

static void dump_ask(struct jit_parser *parser)
{
	struct jit_dump dump = {.position = POSITION};
	size_t records = RECORDS;
	uint64_t seen = 0;

	jit_parser_dump(parser, &dump, STDIN_FILENO, UNTIL, &records, record_check, &seen);
	require(dump.position >= POSITION && records <= RECORDS);
}

/* Return: the bytes used; 0: no message is left. */
static size_t message_send(int socket, enum broker_operation operation, const uint8_t *data,
			   size_t bytes)
{
	struct broker_packet packet;
	size_t length;

	if (bytes < 4)
		return 0;
	broker_packet_init(&packet, operation);
	length = data[0] | (size_t)data[1] << 8;
	packet.message.flags = data[2];
	packet.message.result = (int8_t)data[3];
	if (length > bytes - 4)
		length = bytes - 4;
	if (length > BROKER_DATA_MAX)
		length = BROKER_DATA_MAX;
	memcpy(packet.message.data, data + 4, length);
	packet.message.bytes = (uint32_t)length;
	require(broker_send(socket, &packet) == 0);
	return 4 + length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct jit_parser parser = {.process.pid = 1};
	bool map;
	size_t used = 1;
	int ends[2];

	if (bytes < 1)
		return 0;
	map = data[0] & 1;
	require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
	for (int i = 0; i < MESSAGES_MAX && used > 0; i++) {
		data += used;
		bytes -= used;
		used = message_send(ends[1], map ? BROKER_JIT_MAP : BROKER_JIT_DUMP, data, bytes);
	}
	shutdown(ends[1], SHUT_WR);
	parser.process.socket = ends[0];
	if (map)
		map_ask(&parser);
	else
		dump_ask(&parser);
	jit_parser_end(&parser);
	close(ends[1]);
	return 0;
}
