/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process in a sandbox (lib/sandbox.h) asks another process, its broker, to open files.
 *
 * In a process without a broker the same functions are the system calls, so that callers need not
 * know whether they are in a sandbox. The broker decides about each request:
 * tools/report/file_broker.h.
 *
 * A request and its reply are one message each over a SOCK_SEQPACKET socket, with descriptors.
 * Both sides check the messages that they receive.
 */
#ifndef DCPI_BROKER_H
#define DCPI_BROKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define BROKER_DATA_MAX 16384

/**
 * enum broker_kind - the purpose of a file, by which the broker decides
 * @BROKER_IMAGE:    an ELF file: program, library, debug file
 * @BROKER_SOURCE:   text of a program
 * @BROKER_INDEX:    an index of symbols in the user's cache
 * @BROKER_DATABASE: a profile database, or a file that SQLite keeps next to it
 * @BROKER_OUTPUT:   the argument of --output
 * @BROKER_OPERAND:  another file on the command line
 */
enum broker_kind {
	BROKER_IMAGE,
	BROKER_SOURCE,
	BROKER_INDEX,
	BROKER_DATABASE,
	BROKER_OUTPUT,
	BROKER_OPERAND,
};

/**
 * enum broker_operation - requests; those not listed here are named after their system call
 * @BROKER_FAILED:      parsing of a file failed (parse_guard.h); there is no reply
 * @BROKER_STORE_INDEX: the data is the name of the index; its contents are a descriptor
 * @BROKER_FETCH:       the data is an array of struct debug_server_request
 * @BROKER_FIND:        the data is one struct debug_server_request
 * @BROKER_DRAW:        the data is a format; graph, picture and messages are descriptors
 * @BROKER_CONNECT:     connect to the daemon
 * @BROKER_HELLO:       the process has started; the result is that of sandbox_enter()
 * @BROKER_BUILD_ID:    of the daemon: read a build-id (daemon/image/build_id_process.h)
 * @BROKER_UNWIND:      of the daemon: build an unwind table (daemon/collect/unwind_builder.h)
 * @BROKER_NAMES:       of the daemon: read symbols (daemon/collect/image_names.h)
 * @BROKER_JIT_MAP:     of the daemon: read a part of a perf map (daemon/jit/jit_parser.h)
 * @BROKER_JIT_DUMP:    of the daemon: read records of a jitdump
 */
enum broker_operation {
	BROKER_OPEN,
	BROKER_STAT,
	BROKER_ACCESS,
	BROKER_REALPATH,
	BROKER_UNLINK,
	BROKER_FAILED,
	BROKER_STORE_INDEX,
	BROKER_FETCH,
	BROKER_FIND,
	BROKER_DRAW,
	BROKER_CONNECT,
	BROKER_HELLO,
	BROKER_BUILD_ID,
	BROKER_UNWIND,
	BROKER_NAMES,
	BROKER_JIT_MAP,
	BROKER_JIT_DUMP,
};

/** struct broker_message - @bytes of @data are valid; a path ends with a 0 byte */
struct broker_message {
	uint32_t operation;
	uint32_t kind;
	int32_t flags;
	uint32_t mode;
	int32_t result;
	uint32_t bytes;
	char data[BROKER_DATA_MAX];
};

#define BROKER_DESCRIPTORS_MAX 3

/** struct broker_packet - a message and its descriptors; unused ones are -1 */
struct broker_packet {
	struct broker_message message;
	int fds[BROKER_DESCRIPTORS_MAX];
};

void broker_packet_init(struct broker_packet *packet, enum broker_operation operation);

/** broker_packet_close() - close the descriptors that were not taken. */
void broker_packet_close(struct broker_packet *packet);

/** broker_send() - send a message. Return: 0 or -errno. Async-signal-safe. */
int broker_send(int socket, const struct broker_packet *packet);

/**
 * broker_receive() - receive a message
 * @packet: out; the caller owns its descriptors
 *
 * Return: 1; 0: the other side is gone; -EPROTO: not a valid message; or -errno.
 */
int broker_receive(int socket, struct broker_packet *packet);

/** broker_packet_text() - return the data as a string; NULL if it is not a string. */
const char *broker_packet_text(const struct broker_packet *packet);

/** broker_packet_set_text() - store a string as the data. Return: 0 or -ENAMETOOLONG. */
int broker_packet_set_text(struct broker_packet *packet, const char *text);

/** broker_attach() - send all further requests to the broker at this socket; -1: no broker */
void broker_attach(int socket);

/** broker_socket() - return the socket, or -1. */
int broker_socket(void);

/**
 * broker_ask() - send a request and receive its reply
 * @packet: in: the request, whose descriptors the caller keeps; out: the reply
 *
 * Return: the reply's result; -EPIPE: the broker is gone.
 * Context: any thread.
 */
int broker_ask(struct broker_packet *packet);

/*
 * As the system calls, except that they return -errno. Descriptors are close-on-exec. The path
 * "/proc/self/fd/N" denotes a descriptor of this process, also in a sandbox.
 */
int broker_open(enum broker_kind kind, const char *path, int flags, mode_t mode);
int broker_stat(const char *path, struct stat *ret);
int broker_access(const char *path, int mode);
int broker_unlink(enum broker_kind kind, const char *path);

/** broker_realpath() - as realpath(3). Return: malloc'd, or NULL with errno set. */
char *broker_realpath(const char *path);

/** broker_refusal() - explain why the last broker_open() of this thread gave -ENOTRECOVERABLE. */
const char *broker_refusal(void);

#endif
