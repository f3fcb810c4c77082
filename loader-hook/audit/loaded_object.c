// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/audit/loaded_object.h"

#include <elf.h>

#include "lib/system_call.h"
#include "loader-hook/build_id.h"

/* Real objects have a dozen program headers and less than a kilobyte of notes. */
#define SEGMENTS_MAX 64
#define NOTES_BYTES_MAX 16384
/* The smallest page size of any machine. */
#define PAGE_BYTES 4096
#define SIGNALS_BYTES 8

/*
 * Return true if the kernel can read the word at @address. The call reads the signal set before it
 * rejects the invalid operation, so it has no effect.
 */
static bool is_word_readable(uintptr_t address)
{
	const long no_such_thing = -1, fault = -14;

	return system_call4(SYS_rt_sigprocmask, no_such_thing, (long)address, 0, SIGNALS_BYTES) !=
	       fault;
}

static bool is_readable(uintptr_t address, size_t bytes)
{
	uintptr_t last = address + bytes - 1;

	if (bytes == 0 || last < address)
		return false;
	for (; address <= last; address = (address | (PAGE_BYTES - 1)) + 1) {
		if (!is_word_readable(address & ~(uintptr_t)(SIGNALS_BYTES - 1)))
			return false;
	}
	return true;
}

bool loaded_object_at_segments(struct loaded_object *object, uintptr_t segments, size_t count,
			       uintptr_t bias)
{
	if (segments % __alignof__(ElfW(Phdr)) != 0 || count > SEGMENTS_MAX ||
	    !is_readable(segments, count * sizeof(ElfW(Phdr))))
		return false;
	object->bias = bias;
	object->segments = (const void *)segments;
	object->count = count;
	return true;
}

bool loaded_object_at_header(struct loaded_object *object, uintptr_t header, uintptr_t bias)
{
	const ElfW(Ehdr) *elf = (const void *)header;

	if (header == 0 || header % __alignof__(ElfW(Ehdr)) != 0 ||
	    !is_readable(header, sizeof(*elf)) ||
	    __builtin_memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 ||
	    elf->e_phentsize != sizeof(ElfW(Phdr)))
		return false;
	return loaded_object_at_segments(object, header + elf->e_phoff, elf->e_phnum, bias);
}

bool loaded_object_build_id(const struct loaded_object *object, struct build_id *ret)
{
	size_t i;

	for (i = 0; i < object->count; i++) {
		const ElfW(Phdr) *segment = &object->segments[i];
		uintptr_t notes = object->bias + segment->p_vaddr;

		if (segment->p_type != PT_NOTE || segment->p_memsz > NOTES_BYTES_MAX ||
		    !is_readable(notes, segment->p_memsz))
			continue;
		if (build_id_from_notes(ret, (const void *)notes, segment->p_memsz,
					segment->p_align) == 0)
			return true;
	}
	return false;
}

const ElfW(Phdr) * loaded_object_text(const struct loaded_object *object, size_t *i)
{
	while (*i < object->count) {
		const ElfW(Phdr) *segment = &object->segments[(*i)++];

		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) && segment->p_memsz > 0)
			return segment;
	}
	return NULL;
}
