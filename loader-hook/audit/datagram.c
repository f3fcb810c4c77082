// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/audit/datagram.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "lib/system_call.h"

#define PATH_BYTES 4096
/* Standard input, output and error have lower numbers. */
#define DESCRIPTOR_MIN 3

/* Return: the size of @path including the NUL; @most + 1 if it is longer. */
static size_t path_bytes(const char *path, size_t most)
{
	size_t n = 0;

	while (n < most && path[n] != '\0')
		n++;
	return n + 1;
}

void datagram_set_socket(struct datagram *datagram, const char *path)
{
	size_t bytes = path_bytes(path, sizeof(datagram->socket));

	if (bytes > sizeof(datagram->socket))
		bytes = 0;
	datagram->socket[0] = '\0';
	__builtin_memcpy(datagram->socket, path, bytes);
}

static void datagram_begin(struct datagram *datagram)
{
	if (datagram->used != 0)
		return;
	datagram->message.head = (struct audit_message){
		.magic = AUDIT_MESSAGE_MAGIC,
		.sequence = datagram->sequence,
	};
	datagram->used = sizeof(datagram->message.head);
}

struct audit_record *datagram_record(struct datagram *datagram, enum audit_record_type type,
				     const char *path)
{
	size_t text = path != NULL ? path_bytes(path, PATH_BYTES) : 0;
	size_t bytes = (sizeof(struct audit_record) + text + 7) & ~(size_t)7;
	struct audit_record *record;

	if (text > PATH_BYTES)
		return NULL;
	if (datagram->used + bytes > sizeof(datagram->message))
		datagram_send(datagram);
	datagram_begin(datagram);
	record = (void *)(datagram->message.bytes + datagram->used);
	__builtin_memset(record, 0, bytes);
	record->bytes = (uint16_t)bytes;
	record->type = (uint8_t)type;
	record->path_bytes = (uint32_t)text;
	if (text > 0)
		__builtin_memcpy(record->path, path, text);
	datagram->used += bytes;
	return record;
}

void datagram_flag(struct datagram *datagram, enum audit_message_flag flag)
{
	datagram_begin(datagram);
	datagram->message.head.flags |= (uint32_t)flag;
}

/*
 * Open a socket whose number is none of the standard streams, to which programs write without a
 * check.
 */
static long socket_open(void)
{
	long fd =
		system_call4(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, 0);
	long high;

	if (fd < 0 || fd >= DESCRIPTOR_MIN)
		return fd;
	high = system_call4(SYS_fcntl, fd, F_DUPFD_CLOEXEC, DESCRIPTOR_MIN, 0);
	system_call4(SYS_close, fd, 0, 0, 0);
	return high;
}

void datagram_send(struct datagram *datagram)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	long fd;

	if (datagram->used == 0)
		return;
	datagram->message.head.bytes = (uint32_t)datagram->used;
	__builtin_memcpy(address.sun_path, datagram->socket, sizeof(address.sun_path));
	fd = socket_open();
	if (fd >= 0) {
		system_call6(SYS_sendto, fd, (long)datagram->message.bytes, (long)datagram->used,
			     MSG_DONTWAIT | MSG_NOSIGNAL, (long)&address, sizeof(address));
		system_call4(SYS_close, fd, 0, 0, 0);
	}
	datagram->used = 0;
	datagram->sequence++;
}
