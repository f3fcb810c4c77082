// SPDX-License-Identifier: GPL-2.0-only
#include "lib/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEADER_BYTES offsetof(struct broker_message, data)

static struct {
	pthread_mutex_t lock; /* held from a request to its reply */
	int socket;
} broker = {.lock = PTHREAD_MUTEX_INITIALIZER, .socket = -1};

static _Thread_local char refusal[256];

void broker_packet_init(struct broker_packet *packet, enum broker_operation operation)
{
	memset(&packet->message, 0, HEADER_BYTES);
	packet->message.operation = operation;
	for (size_t i = 0; i < BROKER_DESCRIPTORS_MAX; i++)
		packet->fds[i] = -1;
}

void broker_packet_close(struct broker_packet *packet)
{
	for (size_t i = 0; i < BROKER_DESCRIPTORS_MAX; i++) {
		if (packet->fds[i] >= 0)
			close(packet->fds[i]);
		packet->fds[i] = -1;
	}
}

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(BROKER_DESCRIPTORS_MAX * sizeof(int))];
};

int broker_send(int socket, const struct broker_packet *packet)
{
	union control control = {0};
	struct iovec data = {.iov_base = (void *)(uintptr_t)&packet->message,
			     .iov_len = HEADER_BYTES + packet->message.bytes};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
	size_t count = 0;
	ssize_t n;

	while (count < BROKER_DESCRIPTORS_MAX && packet->fds[count] >= 0)
		count++;
	if (count > 0) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(&control.header), packet->fds, count * sizeof(int));
	}
	do {
		n = sendmsg(socket, &message, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

/* More descriptors than fit are closed by the kernel, which then sets MSG_CTRUNC. */
static void take_descriptors(struct broker_packet *packet, struct msghdr *message)
{
	const struct cmsghdr *header = CMSG_FIRSTHDR(message);

	for (size_t i = 0; i < BROKER_DESCRIPTORS_MAX; i++)
		packet->fds[i] = -1;
	if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len > CMSG_LEN(0) && header->cmsg_len <= CMSG_LEN(sizeof(packet->fds)))
		memcpy(packet->fds, CMSG_DATA(header), header->cmsg_len - CMSG_LEN(0));
}

int broker_receive(int socket, struct broker_packet *packet)
{
	union control control = {0};
	struct iovec data = {.iov_base = &packet->message, .iov_len = sizeof(packet->message)};
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	ssize_t n;

	do {
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? 0 : -errno;
	if (n == 0)
		return 0;
	take_descriptors(packet, &message);
	if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0 && (size_t)n >= HEADER_BYTES &&
	    (size_t)n == HEADER_BYTES + packet->message.bytes)
		return 1;
	broker_packet_close(packet);
	return -EPROTO;
}

const char *broker_packet_text(const struct broker_packet *packet)
{
	const struct broker_message *message = &packet->message;

	if (message->bytes == 0 || message->bytes > BROKER_DATA_MAX ||
	    strnlen(message->data, message->bytes) != message->bytes - 1)
		return NULL;
	return message->data;
}

int broker_packet_set_text(struct broker_packet *packet, const char *text)
{
	size_t bytes = strlen(text) + 1;

	if (bytes > BROKER_DATA_MAX)
		return -ENAMETOOLONG;
	memcpy(packet->message.data, text, bytes);
	packet->message.bytes = (uint32_t)bytes;
	return 0;
}

void broker_attach(int socket)
{
	broker.socket = socket;
}

int broker_socket(void)
{
	return broker.socket;
}

int broker_ask(struct broker_packet *packet)
{
	int r;

	pthread_mutex_lock(&broker.lock);
	r = broker_send(broker.socket, packet);
	if (r == 0)
		r = broker_receive(broker.socket, packet);
	pthread_mutex_unlock(&broker.lock);
	if (r <= 0)
		return -EPIPE;
	return packet->message.result;
}

/* Return: the reply's result; the reply is in @packet. */
static int request_path(struct broker_packet *packet, enum broker_operation operation,
			enum broker_kind kind, const char *path, int flags, mode_t mode)
{
	int r;

	broker_packet_init(packet, operation);
	packet->message.kind = kind;
	packet->message.flags = flags;
	packet->message.mode = mode;
	r = broker_packet_set_text(packet, path);
	return r < 0 ? r : broker_ask(packet);
}

int broker_open(enum broker_kind kind, const char *path, int flags, mode_t mode)
{
	struct broker_packet packet;
	const char *reason;
	int fd, r;

	if (broker.socket < 0) {
		fd = open(path, flags | O_CLOEXEC, mode);
		return fd < 0 ? -errno : fd;
	}
	if (sscanf(path, "/proc/self/fd/%d", &fd) == 1) {
		fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		return fd < 0 ? -errno : fd;
	}
	r = request_path(&packet, BROKER_OPEN, kind, path, flags, mode);
	if (r == -ENOTRECOVERABLE) {
		reason = broker_packet_text(&packet);
		snprintf(refusal, sizeof(refusal), "%s", reason != NULL ? reason : "");
	}
	if (r < 0)
		return r;
	return packet.fds[0] >= 0 ? packet.fds[0] : -EPROTO;
}

const char *broker_refusal(void)
{
	return refusal;
}

int broker_stat(const char *path, struct stat *ret)
{
	struct broker_packet packet;
	int r;

	if (broker.socket < 0)
		return stat(path, ret) < 0 ? -errno : 0;
	r = request_path(&packet, BROKER_STAT, BROKER_IMAGE, path, 0, 0);
	if (r < 0)
		return r;
	if (packet.message.bytes != sizeof(*ret))
		return -EPROTO;
	memcpy(ret, packet.message.data, sizeof(*ret));
	return 0;
}

int broker_access(const char *path, int mode)
{
	struct broker_packet packet;

	if (broker.socket < 0)
		return access(path, mode) < 0 ? -errno : 0;
	return request_path(&packet, BROKER_ACCESS, BROKER_DATABASE, path, mode, 0);
}

int broker_unlink(enum broker_kind kind, const char *path)
{
	struct broker_packet packet;

	if (broker.socket < 0)
		return unlink(path) < 0 ? -errno : 0;
	return request_path(&packet, BROKER_UNLINK, kind, path, 0, 0);
}

char *broker_realpath(const char *path)
{
	struct broker_packet packet;
	const char *text;
	int r;

	if (broker.socket < 0)
		return realpath(path, NULL);
	r = request_path(&packet, BROKER_REALPATH, BROKER_DATABASE, path, 0, 0);
	text = r == 0 ? broker_packet_text(&packet) : NULL;
	if (text == NULL) {
		errno = r < 0 ? -r : EPROTO;
		return NULL;
	}
	return strdup(text);
}
