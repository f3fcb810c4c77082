/* SPDX-License-Identifier: GPL-2.0-only */
/* Jitdumps for tests of their readers: an independent writer of the format. */
#ifndef DCPI_TESTS_JIT_FILES_H
#define DCPI_TESTS_JIT_FILES_H

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#define JIT_FILES_MACHINE EM_X86_64
#else
#define JIT_FILES_MACHINE EM_AARCH64
#endif

static inline void jit_files_u32(FILE *file, uint32_t value)
{
	fwrite(&value, sizeof(value), 1, file);
}

static inline void jit_files_u64(FILE *file, uint64_t value)
{
	fwrite(&value, sizeof(value), 1, file);
}

static inline void jit_files_header(FILE *file, uint32_t machine, uint64_t flags)
{
	jit_files_u32(file, 0x4a695444);
	jit_files_u32(file, 1);
	jit_files_u32(file, 40);
	jit_files_u32(file, machine);
	jit_files_u32(file, 0);
	jit_files_u32(file, 1234);
	jit_files_u64(file, 0);
	jit_files_u64(file, flags);
}

static inline void jit_files_load(FILE *file, uint64_t time, uint64_t address, const char *name,
				  const void *code, uint64_t bytes)
{
	jit_files_u32(file, 0);
	jit_files_u32(file, (uint32_t)(56 + strlen(name) + 1 + bytes));
	jit_files_u64(file, time);
	jit_files_u32(file, 1234);
	jit_files_u32(file, 1234);
	jit_files_u64(file, address);
	jit_files_u64(file, address);
	jit_files_u64(file, bytes);
	jit_files_u64(file, 0);
	fwrite(name, strlen(name) + 1, 1, file);
	fwrite(code, bytes, 1, file);
}

static inline void jit_files_move(FILE *file, uint64_t time, uint64_t from, uint64_t to,
				  uint64_t bytes)
{
	jit_files_u32(file, 1);
	jit_files_u32(file, 64);
	jit_files_u64(file, time);
	jit_files_u32(file, 1234);
	jit_files_u32(file, 1234);
	jit_files_u64(file, to);
	jit_files_u64(file, from);
	jit_files_u64(file, to);
	jit_files_u64(file, bytes);
	jit_files_u64(file, 0);
}

#endif
