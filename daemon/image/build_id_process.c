// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image/build_id_process.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "lib/broker.h"

#define NICE 5
/* Notes of a file are limited to 64 KiB. */
#define PROCESS_BYTES ((uint64_t)16 << 20)
#define PROCESS_FILES 16

static void process_serve(int socket, const int *files, const void *context)
{
	struct broker_packet request, reply;
	struct build_id build_id;

	(void)files;
	(void)context;
	while (broker_receive(socket, &request) == 1) {
		broker_packet_init(&reply, BROKER_BUILD_ID);
		build_id.bytes = 0;
		reply.message.result = build_id_from_file(&build_id, request.fds[0]);
		reply.message.bytes = reply.message.result == 0 ? (uint32_t)build_id.bytes : 0;
		memcpy(reply.message.data, build_id.data, reply.message.bytes);
		broker_packet_close(&request);
		if (broker_send(socket, &reply) < 0)
			return;
	}
}

static int build_id_process_start(struct build_id_process *process)
{
	static const struct sandbox_process_task task = {
		.name = "dcpid-elf",
		.run = process_serve,
		.memory_bytes = PROCESS_BYTES,
		.descriptors = PROCESS_FILES,
		.nice = NICE,
	};

	return sandbox_process_start(&process->process, &task);
}

/* Send a request; the process may have ended since the last one. @before_ns: out: its CPU time */
static int request_send(struct build_id_process *process, int fd, uint64_t *before_ns)
{
	struct broker_packet request;
	int r = -EPIPE;

	broker_packet_init(&request, BROKER_BUILD_ID);
	request.fds[0] = fd;
	for (int i = 0; i < 2 && r < 0; i++) {
		r = process->process.socket < 0 ? build_id_process_start(process) : 0;
		if (r < 0)
			return r;
		*before_ns = sandbox_process_cpu_ns(&process->process);
		r = broker_send(process->process.socket, &request);
		if (r < 0)
			build_id_process_end(process);
	}
	return r;
}

/* Return: 0, or -EIO if the process has not answered. */
static int reply_receive(struct build_id_process *process, struct broker_packet *reply)
{
	struct pollfd socket = {.fd = process->process.socket, .events = POLLIN};
	int r;

	do {
		r = poll(&socket, 1, BUILD_ID_PROCESS_SECONDS * 1000);
	} while (r < 0 && errno == EINTR);
	return r > 0 && broker_receive(socket.fd, reply) == 1 ? 0 : -EIO;
}

int build_id_process_read(struct build_id_process *process, struct build_id *ret, int fd,
			  uint64_t *cpu_ns)
{
	struct broker_packet reply;
	uint64_t before_ns;
	int r;

	*cpu_ns = 0;
	r = request_send(process, fd, &before_ns);
	if (r < 0)
		return r;
	r = reply_receive(process, &reply);
	*cpu_ns = sandbox_process_cpu_ns(&process->process) - before_ns;
	if (r < 0) {
		build_id_process_end(process);
		return r;
	}
	broker_packet_close(&reply);
	if (reply.message.result < 0)
		return reply.message.result;
	if (reply.message.bytes == 0 || reply.message.bytes > sizeof(ret->data))
		return -EIO;
	ret->bytes = reply.message.bytes;
	memcpy(ret->data, reply.message.data, ret->bytes);
	return 0;
}

void build_id_process_end(struct build_id_process *process)
{
	sandbox_process_end(&process->process);
}
