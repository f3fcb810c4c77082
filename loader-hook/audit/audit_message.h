/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages of the LD_AUDIT library (audit.c) to the daemon: datagrams, each a struct audit_message
 * followed by records. The process controls all of the contents, so they must be checked. The
 * kernel attests the sender (SCM_CREDENTIALS).
 */
#ifndef DCPI_AUDIT_MESSAGE_H
#define DCPI_AUDIT_MESSAGE_H

#include <stdint.h>

#include "loader-hook/image_event.h"

/* The daemon's socket, and the environment variable that names another one. */
#define AUDIT_SOCKET "/run/dcpi/images.sock"
#define AUDIT_SOCKET_VARIABLE "DCPI_AUDIT_SOCKET"

/* Maximum size of a datagram; one with any single path fits. */
#define AUDIT_MESSAGE_BYTES 8192

/* Must be changed together with the layout. */
#define AUDIT_MESSAGE_MAGIC 0x31445541 /* "AUD1" */

/* Bits of audit_message.flags. */
enum audit_message_flag {
	AUDIT_MESSAGE_BEGINS = 1,     /* first datagram of a program; its first record is PROGRAM */
	AUDIT_MESSAGE_INCOMPLETE = 2, /* some object is not reported: read /proc */
};

/**
 * struct audit_message - head of a datagram
 * @magic:    AUDIT_MESSAGE_MAGIC
 * @sequence: number of the datagram since the start of its program, beginning at 0; datagrams that
 *            could not be sent count, too. A forked child continues its parent's numbers
 * @age_ns:   BEGINS: time since the start of the program, at least
 * @flags:    enum audit_message_flag
 * @bytes:    size of the datagram, including this head
 */
struct audit_message {
	uint32_t magic;
	uint32_t sequence;
	uint64_t age_ns;
	uint32_t flags;
	uint32_t bytes;
};

enum audit_record_type {
	AUDIT_RECORD_PROGRAM, /* @path: the executable, as the kernel names it, or "" */
	AUDIT_RECORD_COMMAND, /* @path: the process's name */
	AUDIT_RECORD_MAP,     /* an executable segment was mapped */
	AUDIT_RECORD_UNMAP,   /* an object was unmapped */
	AUDIT_RECORD_TYPES,
};

/**
 * struct audit_record - one event
 * @bytes:          size of this record with its path and padding, a multiple of eight
 * @type:           enum audit_record_type
 * @build_id_bytes: MAP: bytes of @build_id in use, not 0
 * @path_bytes:     size of @path including its NUL; UNMAP: 0
 * @start, @length: MAP, UNMAP: addresses
 * @file_offset:    MAP: offset in the file of @start
 * @path:           MAP: as the loader names it, "[vdso]" for the vDSO
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
