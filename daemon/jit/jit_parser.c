// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/jit/jit_parser.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "lib/broker.h"
#include "lib/clock.h"

/* Two buffers of a map, and messages. */
#define PROCESS_BYTES ((uint64_t)16 << 20)
#define PROCESS_FILES 16

#define NAME_BYTES_MAX JIT_NAME_BYTES_MAX

_Static_assert(NAME_BYTES_MAX >= JIT_DUMP_NAME_BYTES_MAX, "all names fit");
_Static_assert(sizeof(struct jit_parser_item) + NAME_BYTES_MAX <= BROKER_DATA_MAX,
	       "an item fits a message");
_Static_assert(sizeof(struct jit_map_reply) <= BROKER_DATA_MAX, "a reply is one message");

struct dump_request {
	struct jit_dump dump;
	uint64_t until;
	uint64_t records;
};

struct dump_reply {
	uint64_t position;
	uint64_t records;
	uint64_t no_times;
};

/* The process. */

/* @failed: the other side is gone */
struct sender {
	int socket;
	bool failed;
	struct broker_packet packet;
};

static void packet_send(struct sender *sender)
{
	sender->failed |= broker_send(sender->socket, &sender->packet) < 0;
	sender->packet.message.bytes = 0;
}

static void item_send(struct sender *sender, const struct jit_parser_item *item, const char *name)
{
	struct broker_message *message = &sender->packet.message;

	if (message->bytes + sizeof(*item) + item->name_bytes > sizeof(message->data))
		packet_send(sender);
	memcpy(message->data + message->bytes, item, sizeof(*item));
	memcpy(message->data + message->bytes + sizeof(*item), name, item->name_bytes);
	message->bytes += (uint32_t)(sizeof(*item) + item->name_bytes);
}

static void line_send(void *context, const struct jit_map_line *line)
{
	const struct jit_parser_item item = {.start = line->start,
					     .bytes = line->bytes,
					     .at = line->name_at,
					     .name_bytes = (uint32_t)line->name_bytes};

	item_send(context, &item, line->name);
}

static void record_send(void *context, const struct jit_dump_record *record, const char *name)
{
	const struct jit_parser_item item = {
		.start = record->start,
		.bytes = record->bytes,
		.at = record->code_at,
		.from = record->from,
		.time_ns = record->time_ns,
		.kind = record->kind,
		.name_bytes = record->kind == JIT_DUMP_LOAD ? (uint32_t)record->name_bytes : 0};

	item_send(context, &item, name);
}

static void result_send(struct sender *sender, int result, const void *reply, size_t bytes)
{
	struct broker_message *message = &sender->packet.message;

	if (message->bytes > 0)
		packet_send(sender);
	message->flags = JIT_PARSER_RESULT;
	message->result = result;
	message->bytes = (uint32_t)bytes;
	memcpy(message->data, reply, bytes);
	packet_send(sender);
}

static void map_answer(struct sender *sender, const struct broker_packet *packet)
{
	struct jit_map_request request;
	struct jit_map_reply reply;
	int r;

	memcpy(&request, packet->message.data, sizeof(request));
	r = jit_map_scan(&request, packet->fds[0], line_send, sender, &reply);
	result_send(sender, r, &reply, sizeof(reply));
}

static void dump_answer(struct sender *sender, const struct broker_packet *packet)
{
	struct dump_request request;
	struct dump_reply reply;
	size_t records;
	int r;

	memcpy(&request, packet->message.data, sizeof(request));
	records = request.records;
	r = jit_dump_scan(&request.dump, packet->fds[0], request.until, &records, record_send,
			  sender);
	reply = (struct dump_reply){.position = request.dump.position,
				    .records = records,
				    .no_times = request.dump.no_times};
	result_send(sender, r, &reply, sizeof(reply));
}

static void parser_process_serve(int socket, const int *files, const void *context)
{
	struct sender sender = {.socket = socket};
	struct broker_packet request;

	(void)files;
	(void)context;
	while (!sender.failed && broker_receive(socket, &request) == 1) {
		broker_packet_init(&sender.packet, request.message.operation);
		sender.packet.message.flags = JIT_PARSER_ITEMS;
		if (request.message.operation == BROKER_JIT_MAP)
			map_answer(&sender, &request);
		else
			dump_answer(&sender, &request);
		broker_packet_close(&request);
	}
}

/* The daemon. */

/*
 * A request in progress.
 *
 * @take:    check an item and pass it on; returns false: it is not possible
 * @wait_ns: time left for waiting
 */
struct exchange {
	bool (*take)(struct exchange *exchange, const struct jit_parser_item *item,
		     const char *name);
	int64_t wait_ns;
};

struct map_exchange {
	struct exchange exchange;
	const struct jit_map_request *request;
	uint64_t at;
	jit_map_fn visit;
	void *context;
};

struct dump_exchange {
	struct exchange exchange;
	uint64_t until;
	size_t left;
	jit_dump_fn visit;
	void *context;
};

/* Lines are in the order of the file, so their number is limited by its bytes. */
static bool parser_line_take(struct exchange *exchange, const struct jit_parser_item *item,
			     const char *name)
{
	struct map_exchange *map = (struct map_exchange *)exchange;
	const struct jit_map_line line = {.start = item->start,
					  .bytes = item->bytes,
					  .name = name,
					  .name_bytes = item->name_bytes,
					  .name_at = item->at};
	uint64_t end = map->request->position + map->request->bytes_max;

	if (line.name_at < map->at || line.name_at > end || end - line.name_at < line.name_bytes ||
	    !jit_map_line_is_valid(&line))
		return false;
	map->at = line.name_at + line.name_bytes;
	map->visit(map->context, &line);
	return true;
}

static bool parser_record_take(struct exchange *exchange, const struct jit_parser_item *item,
			       const char *name)
{
	struct dump_exchange *dump = (struct dump_exchange *)exchange;
	const struct jit_dump_record record = {.kind = (enum jit_dump_kind)item->kind,
					       .time_ns = item->time_ns,
					       .start = item->start,
					       .bytes = item->bytes,
					       .from = item->from,
					       .name_bytes = item->name_bytes,
					       .code_at = item->at};

	if (dump->left == 0 || record.time_ns > dump->until || !jit_dump_record_is_valid(&record))
		return false;
	dump->left--;
	dump->visit(dump->context, &record, name);
	return true;
}

/* Return: false if a message is not possible. */
static bool items_take(struct exchange *exchange, const struct broker_message *message)
{
	struct jit_parser_item item;
	uint32_t at = 0;

	while (at < message->bytes) {
		if (message->bytes - at < sizeof(item))
			return false;
		memcpy(&item, message->data + at, sizeof(item));
		at += (uint32_t)sizeof(item);
		if (item.name_bytes > NAME_BYTES_MAX || item.name_bytes > message->bytes - at ||
		    !exchange->take(exchange, &item, message->data + at))
			return false;
		at += item.name_bytes;
	}
	return at > 0;
}

static int parser_start(struct jit_parser *parser)
{
	static const struct sandbox_process_task task = {
		.name = "dcpid-jit",
		.run = parser_process_serve,
		.memory_bytes = PROCESS_BYTES,
		.descriptors = PROCESS_FILES,
	};
	int r = sandbox_process_start(&parser->process, &task);

	if (r < 0) {
		parser->process = (struct sandbox_process){.pid = 0};
		return r;
	}
	parser->open |= parser->process.open;
	return 0;
}

void jit_parser_end(struct jit_parser *parser)
{
	if (parser->process.pid > 0)
		sandbox_process_end(&parser->process);
	parser->process = (struct sandbox_process){.pid = 0};
}

/* Send a request; the process may have ended since the last one. @before_ns: out: its CPU time */
static int parser_request_send(struct jit_parser *parser, const struct broker_packet *request,
			       uint64_t *before_ns)
{
	int r = -EPIPE;

	for (int i = 0; i < 2 && r < 0; i++) {
		r = parser->process.pid == 0 ? parser_start(parser) : 0;
		if (r < 0)
			return r;
		*before_ns = sandbox_process_cpu_ns(&parser->process);
		r = broker_send(parser->process.socket, request);
		if (r < 0)
			jit_parser_end(parser);
	}
	return r;
}

/* Return: false if the process has not sent a valid message in time. */
static bool message_receive(const struct jit_parser *parser, struct exchange *exchange,
			    struct broker_packet *packet)
{
	struct pollfd socket = {.fd = parser->process.socket, .events = POLLIN};
	uint64_t began_ns = clock_monotonic_ns();
	int r;

	do {
		r = poll(&socket, 1, (int)(exchange->wait_ns / (int64_t)NS_PER_MS) + 1);
	} while (r < 0 && errno == EINTR);
	exchange->wait_ns -= (int64_t)(clock_monotonic_ns() - began_ns);
	if (exchange->wait_ns < 0)
		exchange->wait_ns = 0;
	if (r <= 0 || broker_receive(socket.fd, packet) != 1)
		return false;
	broker_packet_close(packet);
	return true;
}

/* Return: true: the last message is in @packet; false: the answer is not valid. */
static bool answer_receive(const struct jit_parser *parser, struct exchange *exchange,
			   uint32_t operation, size_t bytes, struct broker_packet *packet)
{
	for (;;) {
		const struct broker_message *message = &packet->message;

		if (!message_receive(parser, exchange, packet) || message->operation != operation)
			return false;
		if (message->flags == JIT_PARSER_RESULT)
			return message->bytes == bytes && message->result <= 1;
		if (message->flags != JIT_PARSER_ITEMS || !items_take(exchange, message))
			return false;
	}
}

/* An answer that is not valid is the last one of a process. */
static int answer_refuse(struct jit_parser *parser)
{
	jit_parser_end(parser);
	parser->failed++;
	return -EIO;
}

/*
 * Send a request and receive the answer.
 *
 * @packet: in: the request; out: the last message of the answer
 * @bytes:  of the data of the last message
 *
 * Return: 0; -EIO: there is no valid answer; -errno: the process could not be started.
 */
static int parser_ask(struct jit_parser *parser, struct broker_packet *packet,
		      struct exchange *exchange, size_t bytes)
{
	uint32_t operation = packet->message.operation;
	uint64_t before_ns;
	bool valid;
	int r = parser_request_send(parser, packet, &before_ns);

	if (r < 0) {
		parser->failed++;
		return r;
	}
	exchange->wait_ns = JIT_PARSER_MS * NS_PER_MS;
	valid = answer_receive(parser, exchange, operation, bytes, packet);
	parser->cpu_ns += sandbox_process_cpu_ns(&parser->process) - before_ns;
	return valid ? 0 : answer_refuse(parser);
}

static void request_init(struct broker_packet *packet, enum broker_operation operation, int fd,
			 const void *request, size_t bytes)
{
	broker_packet_init(packet, operation);
	packet->fds[0] = fd;
	packet->message.bytes = (uint32_t)bytes;
	memcpy(packet->message.data, request, bytes);
}

int jit_parser_map(void *context, const struct jit_map_request *request, int fd, jit_map_fn visit,
		   void *visit_context, struct jit_map_reply *reply)
{
	struct map_exchange map = {.exchange.take = parser_line_take,
				   .request = request,
				   .at = request->position,
				   .visit = visit,
				   .context = visit_context};
	struct jit_parser *parser = context;
	struct broker_packet packet;
	int r;

	request_init(&packet, BROKER_JIT_MAP, fd, request, sizeof(*request));
	r = parser_ask(parser, &packet, &map.exchange, sizeof(*reply));
	if (r < 0 || packet.message.result != 0)
		return r < 0 ? r : packet.message.result;
	memcpy(reply, packet.message.data, sizeof(*reply));
	return jit_map_reply_is_valid(reply, request) ? 0 : answer_refuse(parser);
}

/* All records are read, unless no more are left. */
static bool dump_reply_is_valid(const struct dump_reply *reply, const struct dump_request *request,
				int result)
{
	return reply->position >= request->dump.position && reply->position <= INT64_MAX &&
	       reply->no_times <= 1 &&
	       (result == 1 ? reply->records == request->records
			    : reply->records <= request->records);
}

int jit_parser_dump(struct jit_parser *parser, struct jit_dump *dump, int fd, uint64_t until,
		    size_t *records, jit_dump_fn visit, void *context)
{
	const struct dump_request request = {
		.dump = *dump,
		.until = until,
		.records = *records < JIT_PARSER_RECORDS_MAX ? *records : JIT_PARSER_RECORDS_MAX};
	struct dump_exchange exchange = {.exchange.take = parser_record_take,
					 .until = until,
					 .left = request.records,
					 .visit = visit,
					 .context = context};
	struct broker_packet packet;
	struct dump_reply reply;
	int r;

	request_init(&packet, BROKER_JIT_DUMP, fd, &request, sizeof(request));
	r = parser_ask(parser, &packet, &exchange.exchange, sizeof(reply));
	if (r < 0)
		return r;
	memcpy(&reply, packet.message.data, sizeof(reply));
	if (!dump_reply_is_valid(&reply, &request, packet.message.result))
		return answer_refuse(parser);
	*records = reply.records;
	dump->position = reply.position;
	dump->no_times = reply.no_times != 0;
	return packet.message.result;
}
