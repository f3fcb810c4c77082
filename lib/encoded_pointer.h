/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Encoded pointers of unwinding information (DWARF's exception header encodings, LSB Core 10.5): a
 * format and a base to which the value is relative.
 */
#ifndef DCPI_ENCODED_POINTER_H
#define DCPI_ENCODED_POINTER_H

#include "lib/bounded_reader.h"

#define ENCODED_POINTER_FORMAT 0x0f
#define ENCODED_POINTER_BASE 0x70

/** encoded_pointer_bytes() - return the size of a pointer; 0: of variable size, or invalid. */
size_t encoded_pointer_bytes(uint8_t encoding, size_t word_bytes);

/**
 * encoded_pointer_read() - read a value of fixed size, without adding the base
 * @bytes: result of encoded_pointer_bytes()
 */
uint64_t encoded_pointer_read(struct bounded_reader *reader, uint8_t encoding, size_t bytes);

/**
 * encoded_pointer_resolve() - read a value and add its base
 * @place: address of its first byte
 * @ret:   out; 0 if the pointer is null
 *
 * Return: 0; -ENOTSUP if its size is variable, or it is indirect, or neither absolute nor
 * PC-relative.
 */
int encoded_pointer_resolve(uint64_t *ret, struct bounded_reader *reader, uint8_t encoding,
			    size_t word_bytes, uint64_t place);

#endif
