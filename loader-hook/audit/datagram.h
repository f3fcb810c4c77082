/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A datagram to the daemon, in the making. Nothing is allocated, and no descriptor is
 * open but while one is sent: programs close descriptors that they do not know, and
 * count on the numbers of those that they open.
 */
#ifndef DCPI_DATAGRAM_H
#define DCPI_DATAGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loader-hook/audit/audit_message.h"

/**
 * struct datagram - zeroed: nothing is in it
 * @message:  head and records
 * @used:     bytes of it, 0: nothing
 * @sequence: of the next one
 * @socket:   path of the daemon's socket
 */
struct datagram {
	union {
		struct audit_message head;
		uint8_t bytes[AUDIT_MESSAGE_BYTES];
	} message;
	size_t used;
	uint32_t sequence;
	char socket[108];
};

/** datagram_set_socket() - copies the path; one that is too long is none */
void datagram_set_socket(struct datagram *datagram, const char *path);

/**
 * datagram_record() - room for another record
 * @path: of its path; may be NULL
 *
 * What is full is sent. Return: the record, with type, size and path; the rest is zero.
 * NULL if the path is too long.
 */
struct audit_record *datagram_record(struct datagram *datagram, enum audit_record_type type,
				     const char *path);

/** datagram_flag() - add to the flags of the one in the making */
void datagram_flag(struct datagram *datagram, enum audit_message_flag flag);

/** datagram_send() - if there is anything. What cannot be sent at once is forgotten. */
void datagram_send(struct datagram *datagram);

#endif
