/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading a jitdump (jit-PID.dump), the form in which JIT compilers hand over
 * code together with names and times. See the kernel's
 * tools/perf/Documentation/jitdump-specification.txt.
 *
 * The file grows while it is read. Nothing in it is trusted: records are
 * checked against each other and against the file's size, and code is not read
 * here, only found.
 */
#ifndef DCPI_JIT_DUMP_H
#define DCPI_JIT_DUMP_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The machine whose files are read. */
#if defined(__x86_64__)
#define JIT_DUMP_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define JIT_DUMP_MACHINE EM_AARCH64
#else
#define JIT_DUMP_MACHINE EM_NONE
#endif

/** enum jit_dump_kind - what a record tells */
enum jit_dump_kind {
	JIT_DUMP_LOAD,	/* new code */
	JIT_DUMP_MOVE,	/* code is at another address now */
	JIT_DUMP_OTHER, /* source lines, unwinding, what makes no sense */
};

/**
 * struct jit_dump_record - a record
 * @time_ns:    CLOCK_MONOTONIC; 0 if the file counts some other time
 * @start:      address of the code, as it is from now on; below 2^63
 * @bytes:      its length, > 0; does not reach 2^63
 * @from:       MOVE: where it was
 * @name_at:    LOAD: where its name is in the file
 * @name_bytes: LOAD: length of the name, may be 0
 * @code_at:    LOAD: where its code is in the file
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

/** struct jit_dump - how far a file was read; zero-initialised: nothing of it. */
struct jit_dump {
	uint64_t position;
	bool no_times;
};

/**
 * jit_dump_next() - the next record
 * @fd:    a regular file
 * @until: records later than this are left for later; UINT64_MAX: none is
 *
 * Return: 1; 0 no whole record is left, or only later ones; -EBADMSG the file's
 * records end here for good; -ENOEXEC it is no jitdump of this
 * machine; or the error of pread(2).
 */
int jit_dump_next(struct jit_dump *dump, int fd, uint64_t until, struct jit_dump_record *record);

#endif
