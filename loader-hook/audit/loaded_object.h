/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An ELF object in this process's memory, described by its program headers. Memory is read only if
 * the kernel confirms that it is readable, regardless of the headers' contents.
 */
#ifndef DCPI_LOADED_OBJECT_H
#define DCPI_LOADED_OBJECT_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct build_id;

/**
 * struct loaded_object - location of an object
 * @bias:     address minus the file's virtual address
 * @segments: program headers in memory
 * @count:    number of @segments
 */
struct loaded_object {
	uintptr_t bias;
	const ElfW(Phdr) * segments;
	size_t count;
};

/**
 * loaded_object_at_header() - find an object by its ELF header
 * @header: address of the header
 * @bias:   of the object
 *
 * Return: true if the header is valid and the program headers are readable.
 */
bool loaded_object_at_header(struct loaded_object *object, uintptr_t header, uintptr_t bias);

/**
 * loaded_object_at_segments() - find an object by the address of its program headers
 *
 * Return: true if they are readable.
 */
bool loaded_object_at_segments(struct loaded_object *object, uintptr_t segments, size_t count,
			       uintptr_t bias);

/** loaded_object_build_id() - return true if the object has a build-id */
bool loaded_object_build_id(const struct loaded_object *object, struct build_id *ret);

/**
 * loaded_object_text() - return the next executable segment
 * @i: in and out: position of the search; initially 0
 *
 * Return: NULL after the last one.
 */
const ElfW(Phdr) * loaded_object_text(const struct loaded_object *object, size_t *i);

#endif
