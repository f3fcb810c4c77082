/* SPDX-License-Identifier: GPL-2.0-only */
/* Run an arm64 program in qemu-aarch64 through its gdb stub, as a reference for the interpreter. */
#ifndef DCPI_TESTS_ARM64_STUB_H
#define DCPI_TESTS_ARM64_STUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kmod/core/interpret.h"

/** struct arm64_registers - registers in the layout of the gdb stub */
struct arm64_registers {
	uint64_t x[31];
	uint64_t sp;
	uint64_t pc;
	uint32_t cpsr;
} __attribute__((packed));

/* Memory read between two steps is cached in lines. */
#define ARM64_STUB_LINES 16
#define ARM64_STUB_LINE_BYTES 64

struct arm64_stub_line {
	uint64_t address;
	bool there;
	uint8_t bytes[ARM64_STUB_LINE_BYTES];
};

/** struct arm64_stub - fields are private */
struct arm64_stub {
	pid_t pid;
	int fd;
	unsigned int lines;
	struct arm64_stub_line line[ARM64_STUB_LINES];
	size_t in_at, in_end;
	char in[4096];
	char packet[4096];
};

/**
 * arm64_stub_open() - start a program and stop it at its first instruction
 * @argv: arguments of the program, its path first; its output is discarded
 *
 * Return: true; false if there is no qemu-aarch64 or it does not start.
 */
bool arm64_stub_open(struct arm64_stub *stub, char *const *argv);
void arm64_stub_close(struct arm64_stub *stub);

/** The functions below return false only when the program has ended. */
bool arm64_stub_get(struct arm64_stub *stub, struct arm64_registers *regs);
bool arm64_stub_set(struct arm64_stub *stub, const struct arm64_registers *regs);

/** arm64_stub_write() - write at most 1 KiB */
bool arm64_stub_write(struct arm64_stub *stub, uint64_t address, const void *from, size_t bytes);

/**
 * arm64_stub_step() - execute one instruction
 *
 * Return: 0; the signal the instruction raised; -1 if the program has ended.
 */
int arm64_stub_step(struct arm64_stub *stub);

/** arm64_stub_read() - an interpret_read_fn; its context is the stub */
bool arm64_stub_read(void *stub, u64 address, void *to, size_t bytes);

/** arm64_state_set() - set @state to @regs, with every register known */
void arm64_state_set(struct interpret_state *state, const struct arm64_registers *regs);

/**
 * arm64_state_differs() - find a known value in @state that differs from @regs
 *
 * Return: the number of the register, 32 for the flags, 33 for the pc, -1 if nothing differs.
 */
int arm64_state_differs(const struct interpret_state *state, const struct arm64_registers *regs);

#endif
