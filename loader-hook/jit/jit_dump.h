/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reader of jitdump files (jit-PID.dump), in which JIT compilers record code together with names
 * and times. See the kernel's tools/perf/Documentation/jitdump-specification.txt.
 *
 * The file grows while it is read. No content is trusted: records are checked against each other
 * and against the file's size. The reader locates code but does not read it.
 */
#ifndef DCPI_JIT_DUMP_H
#define DCPI_JIT_DUMP_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ELF machine number of the dumps that can be read. */
#if defined(__x86_64__)
#define JIT_DUMP_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define JIT_DUMP_MACHINE EM_AARCH64
#else
#define JIT_DUMP_MACHINE EM_NONE
#endif

/** enum jit_dump_kind - kind of a record */
enum jit_dump_kind {
	JIT_DUMP_LOAD,	/* new code */
	JIT_DUMP_MOVE,	/* code was moved to another address */
	JIT_DUMP_OTHER, /* source lines, unwinding data, malformed records */
};

/**
 * struct jit_dump_record - a record
 * @time_ns:    CLOCK_MONOTONIC; 0 if the file uses another clock
 * @start:      address of the code after the event; below 2^63
 * @bytes:      its length, > 0; does not reach 2^63
 * @from:       MOVE: the address before
 * @name_at:    LOAD: offset of the name in the file
 * @name_bytes: LOAD: length of the name, may be 0
 * @code_at:    LOAD: offset of the code in the file
 */
struct jit_dump_record {
	enum jit_dump_kind kind;
	uint64_t time_ns;
	uint64_t start;
	uint64_t bytes;
	uint64_t from;
	uint64_t name_at;
	uint64_t name_bytes;
	uint64_t code_at;
};

/** struct jit_dump - how far a file was read; zero-initialised: nothing was read */
struct jit_dump {
	uint64_t position;
	bool no_times;
};

/**
 * jit_dump_next() - read the next record
 * @fd:    a regular file
 * @until: CLOCK_MONOTONIC, ns: later records are not returned by this call; UINT64_MAX: no limit
 *
 * Return: 1; 0: no complete record is left, or only later ones; -EBADMSG: the rest of the file is
 * unusable; -ENOEXEC: no jitdump of this machine; or the error of pread(2).
 */
int jit_dump_next(struct jit_dump *dump, int fd, uint64_t until, struct jit_dump_record *record);

/* Longer names are truncated. */
#define JIT_DUMP_NAME_BYTES_MAX 512

/**
 * typedef jit_dump_fn - visits a record
 * @record: JIT_DUMP_LOAD or JIT_DUMP_MOVE; name_bytes is at most JIT_DUMP_NAME_BYTES_MAX
 * @name:   LOAD: the name, not terminated, valid during the call
 */
typedef void (*jit_dump_fn)(void *context, const struct jit_dump_record *record, const char *name);

/** jit_dump_record_is_valid() - return true if a record that is visited is possible */
bool jit_dump_record_is_valid(const struct jit_dump_record *record);

/**
 * jit_dump_scan() - visit the next records, except those with malformed contents or without a name
 * @fd, @until: as jit_dump_next()
 * @records:    in: maximum number; out: number of records read, of any kind
 *
 * Return: that of the last jit_dump_next(); 1 if @records were read.
 */
int jit_dump_scan(struct jit_dump *dump, int fd, uint64_t until, size_t *records, jit_dump_fn visit,
		  void *context);

/**
 * jit_dump_may_have() - return true if a file may have more records than were read
 *
 * Looks only at the size of the file.
 */
bool jit_dump_may_have(const struct jit_dump *dump, int fd);

#endif
