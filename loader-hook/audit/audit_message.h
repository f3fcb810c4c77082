/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the LD_AUDIT library (audit.c) tells the daemon: datagrams, each a struct
 * audit_message followed by records. All of it is as the process wants it, and must
 * be checked; whose it is says the kernel (SCM_CREDENTIALS).
 */
#ifndef DCPI_AUDIT_MESSAGE_H
#define DCPI_AUDIT_MESSAGE_H

#include <stdint.h>

#include "loader-hook/image_event.h"

/* Where the daemon listens, and what names another place. */
#define AUDIT_SOCKET "/run/dcpi/images.sock"
#define AUDIT_SOCKET_VARIABLE "DCPI_AUDIT_SOCKET"

/* Of a datagram; it holds any path. */
#define AUDIT_MESSAGE_BYTES 8192

/* Another layout has another number. */
#define AUDIT_MESSAGE_MAGIC 0x31445541 /* "AUD1" */

/* In audit_message.flags. */
enum audit_message_flag {
	AUDIT_MESSAGE_BEGINS = 1,     /* the first of a program; its first record is PROGRAM */
	AUDIT_MESSAGE_INCOMPLETE = 2, /* some object could not be told: /proc knows */
};

/**
 * struct audit_message - head of a datagram
 * @magic:    AUDIT_MESSAGE_MAGIC
 * @sequence: number of the datagram in the life of its program, from 0 on, counting
 *            those that could not be sent; a child goes on with its parent's
 * @age_ns:   BEGINS: how long ago the program began, at least
 * @flags:    enum audit_message_flag
 * @bytes:    of the datagram, this included
 */
struct audit_message {
	uint32_t magic;
	uint32_t sequence;
	uint64_t age_ns;
	uint32_t flags;
	uint32_t bytes;
};

enum audit_record_type {
	AUDIT_RECORD_PROGRAM, /* @path: what is executed, as the kernel calls it, or "" */
	AUDIT_RECORD_COMMAND, /* @path: the process' name */
	AUDIT_RECORD_MAP,     /* an executable segment was mapped */
	AUDIT_RECORD_UNMAP,   /* an object has gone */
	AUDIT_RECORD_TYPES,
};

/**
 * struct audit_record - one event
 * @bytes:       of this record with its path and padding, a multiple of eight
 * @type:        enum audit_record_type
 * @build_id_bytes: MAP: used of @build_id, not 0
 * @path_bytes:  of @path with the NUL that ends it; UNMAP: 0
 * @start, @length: MAP, UNMAP: addresses
 * @file_offset: MAP: offset in the file of @start
 * @path:        MAP: as the loader calls it, "[vdso]" for the vDSO
 */
struct audit_record {
	uint16_t bytes;
	uint8_t type;
	uint8_t build_id_bytes;
	uint32_t path_bytes;
	uint64_t start;
	uint64_t length;
	uint64_t file_offset;
	uint8_t build_id[IMAGE_BUILD_ID_BYTES_MAX];
	char path[];
};

#endif
