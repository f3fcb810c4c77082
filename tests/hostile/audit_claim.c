// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process that lies to the audit socket: it claims that another file is mapped at the address of
 * its own code, computes, and ends.
 *
 *	audit_claim SOCKET PATH BUILD-ID MILLISECONDS
 */
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "loader-hook/audit/audit_message.h"

#define SEGMENT_BYTES 0x1000000UL

static _Alignas(8) unsigned char datagram[AUDIT_MESSAGE_BYTES];
static size_t bytes = sizeof(struct audit_message);

static struct audit_record *add_record(enum audit_record_type type, const char *path)
{
	struct audit_record *record = (void *)(datagram + bytes);
	size_t path_bytes = strlen(path) + 1;

	record->type = (uint8_t)type;
	record->path_bytes = (uint32_t)path_bytes;
	record->bytes = (uint16_t)((sizeof(*record) + path_bytes + 7) / 8 * 8);
	memcpy(record->path, path, path_bytes);
	bytes += record->bytes;
	return record;
}

static void take_build_id(struct audit_record *record, const char *digits)
{
	unsigned int byte;

	while (sscanf(digits, "%2x", &byte) == 1) {
		record->build_id[record->build_id_bytes++] = (uint8_t)byte;
		digits += 2;
	}
}

static void compute(uint64_t milliseconds)
{
	volatile uint64_t x = 0;
	clock_t end = clock() + (clock_t)milliseconds * (CLOCKS_PER_SEC / 1000);

	while (clock() < end) {
		for (int i = 0; i < 1000000; i++)
			x = x * 3 + 1;
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct audit_message *head = (void *)datagram;
	uintptr_t text = (uintptr_t)compute & ~(uintptr_t)0xfff;
	struct audit_record *record;
	char program[4096] = "";
	int fd;

	if (argc != 5 || readlink("/proc/self/exe", program, sizeof(program) - 1) < 0)
		return 2;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", argv[1]);
	add_record(AUDIT_RECORD_PROGRAM, program);
	record = add_record(AUDIT_RECORD_MAP, argv[2]);
	record->start = text;
	record->length = SEGMENT_BYTES;
	take_build_id(record, argv[3]);
	*head = (struct audit_message){.magic = AUDIT_MESSAGE_MAGIC,
				       .flags = AUDIT_MESSAGE_BEGINS,
				       .bytes = (uint32_t)bytes};
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || sendto(fd, datagram, bytes, 0, (struct sockaddr *)&address,
			     sizeof(address)) != (ssize_t)bytes) {
		perror(argv[1]);
		return 2;
	}
	compute(strtoul(argv[4], NULL, 0));
	return 0;
}
