/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the copies of stacks that BPF programs write to a ring buffer (bpf/stack_copy.h). */
#ifndef DCPI_STACK_COPY_READ_H
#define DCPI_STACK_COPY_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source_stack;
struct stack_copy_record;

/**
 * stack_copy_read() - check a copy, and make a stack of it
 * @ret:   out: points to the copy
 * @bytes: length of the copy
 *
 * Return: false: the copy is malformed.
 */
bool stack_copy_read(struct source_stack *ret, const struct stack_copy_record *copy, size_t bytes);

/** stack_copy_ring_bytes() - return the size of a ring buffer for some seconds of stacks */
uint32_t stack_copy_ring_bytes(uint32_t cpus);

#endif
