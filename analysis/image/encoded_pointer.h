/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pointers as unwinding information has them (DWARF's exception header encodings, LSB Core
 * 10.5): a format and what they are relative to.
 */
#ifndef DCPI_ENCODED_POINTER_H
#define DCPI_ENCODED_POINTER_H

#include "lib/bounded_reader.h"

#define ENCODED_POINTER_FORMAT 0x0f
#define ENCODED_POINTER_BASE 0x70

/** encoded_pointer_bytes() - bytes that one takes; 0: not of fixed size, or not valid. */
size_t encoded_pointer_bytes(uint8_t encoding, size_t word_bytes);

/**
 * encoded_pointer_read() - the value of one of fixed size, relative to what it is
 * @bytes: as encoded_pointer_bytes() says
 */
uint64_t encoded_pointer_read(struct bounded_reader *reader, uint8_t encoding, size_t bytes);

/**
 * encoded_pointer_resolve() - read one, and add what it is relative to
 * @place: address of its first byte
 * @ret:   out; 0 if the pointer is null
 *
 * Return: 0; -ENOTSUP it is neither absolute nor relative to its place, of variable size,
 * or in memory.
 */
int encoded_pointer_resolve(uint64_t *ret, struct bounded_reader *reader, uint8_t encoding,
			    size_t word_bytes, uint64_t place);

#endif
