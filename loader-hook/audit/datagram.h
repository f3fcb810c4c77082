/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A datagram to the daemon while it is composed. No memory is allocated, and a descriptor is open
 * only while a datagram is sent: programs close descriptors that they do not know, and rely on the
 * numbers of the ones they open.
 */
#ifndef DCPI_DATAGRAM_H
#define DCPI_DATAGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loader-hook/audit/audit_message.h"

/**
 * struct datagram - zero-initialised: empty
 * @message:  head and records
 * @used:     bytes of @message in use, 0: empty
 * @sequence: number of the next datagram
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

/** datagram_set_socket() - copy the path of the socket; one that is too long is ignored */
void datagram_set_socket(struct datagram *datagram, const char *path);

/**
 * datagram_record() - append a record
 * @path: path of the record; may be NULL
 *
 * Sends the datagram first if the record does not fit. Return: the record, with type, size and path
 * set and the rest zero; NULL if the path is too long.
 */
struct audit_record *datagram_record(struct datagram *datagram, enum audit_record_type type,
				     const char *path);

/** datagram_flag() - add to the flags of the datagram */
void datagram_flag(struct datagram *datagram, enum audit_message_flag flag);

/** datagram_send() - send the datagram unless it is empty; drop it if it cannot be sent at once */
void datagram_send(struct datagram *datagram);

#endif
