// SPDX-License-Identifier: GPL-2.0-only
/* The part of build_id.h that needs no C library; the LD_AUDIT library contains it, too. */
#include "loader-hook/build_id.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

int build_id_from_notes(struct build_id *ret, const void *notes, size_t bytes, size_t alignment)
{
	const uint8_t *position = notes;
	uint64_t mask = alignment == 8 ? 7 : 3;
	Elf64_Nhdr note; /* the layout is the same for ELFCLASS32 */

	while (bytes >= sizeof(note)) {
		uint64_t description, end;

		memcpy(&note, position, sizeof(note));
		description = (sizeof(note) + (uint64_t)note.n_namesz + mask) & ~mask;
		end = description + note.n_descsz;
		if (end > bytes)
			return -ENOENT;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    memcmp(position + sizeof(note), ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0 &&
		    note.n_descsz > 0) {
			ret->bytes = note.n_descsz < sizeof(ret->data) ? note.n_descsz
								       : sizeof(ret->data);
			memset(ret->data, 0, sizeof(ret->data));
			memcpy(ret->data, position + description, ret->bytes);
			return 0;
		}
		end = (end + mask) & ~mask;
		if (end > bytes)
			return -ENOENT;
		position += end;
		bytes -= end;
	}
	return -ENOENT;
}
