/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An ELF object in this process' memory, by its program headers. Nothing is read
 * that the kernel does not say is readable, whatever the headers say.
 */
#ifndef DCPI_LOADED_OBJECT_H
#define DCPI_LOADED_OBJECT_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct build_id;

/**
 * struct loaded_object - where it is
 * @bias:     address less the file's virtual address
 * @segments: program headers in memory, @count of them
 */
struct loaded_object {
	uintptr_t bias;
	const ElfW(Phdr) * segments;
	size_t count;
};

/**
 * loaded_object_at_header() - by its ELF header
 * @header: where it must be
 * @bias:   of the object
 *
 * Return: whether there is one with readable program headers.
 */
bool loaded_object_at_header(struct loaded_object *object, uintptr_t header, uintptr_t bias);

/** loaded_object_at_segments() - by program headers that somebody told of. Return: as above. */
bool loaded_object_at_segments(struct loaded_object *object, uintptr_t segments, size_t count,
			       uintptr_t bias);

/** loaded_object_build_id() - Return: whether it has one. */
bool loaded_object_build_id(const struct loaded_object *object, struct build_id *ret);

/**
 * loaded_object_text() - the next executable segment
 * @i: in and out; 0 to begin with
 *
 * Return: NULL after the last one.
 */
const ElfW(Phdr) * loaded_object_text(const struct loaded_object *object, size_t *i);

#endif
