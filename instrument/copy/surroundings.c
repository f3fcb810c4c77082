// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/copy/surroundings.h"

#include <Zydis/Zydis.h>
#include <string.h>

/* By the names of what libc has: the child comes back from there as well. */
bool surroundings_forks(struct image_code *code, const struct insn *call)
{
	static const char *const names[] = {"fork",    "vfork",	 "_Fork", "__fork", "__libc_fork",
					    "forkpty", "daemon", "clone", "__clone"};
	long index = call->target != 0 ? image_code_find(code, call->target) : -1;
	const struct procedure *callee;
	size_t bytes;

	if (index < 0)
		return false;
	callee = procedure_table_get(image_code_procedures(code), (size_t)index);
	bytes = strcspn(callee->name, "@");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i]) == bytes && memcmp(names[i], callee->name, bytes) == 0)
			return true;
	}
	return false;
}

/* Whether it is of a procedure that somebody knows of. */
static bool is_known(const struct image_code *code, uint64_t address)
{
	long index = image_code_find(code, address);

	return index >= 0 &&
	       procedure_table_get(image_code_procedures(code), (size_t)index)->source !=
		       PROCEDURE_SECTION;
}

/*
 * Behind a procedure compilers leave gaps up to the next one, which nobody runs. Where nobody
 * knows what comes next, that is a gap if all is up to where procedures are aligned.
 */
size_t surroundings_padding(const struct image_code *code, const struct elf_image *image,
			    uint64_t address)
{
	const struct insn_decoder *decoder = image_code_decoder(code);
	size_t bytes = 0;

	while ((address + bytes) % 16 != 0 && !is_known(code, address + bytes)) {
		const uint8_t *gap = elf_image_at(image, address + bytes, 16);
		struct insn insn;
		size_t length;

		if (gap == NULL)
			return 0;
		length = decoder->decode(&insn, gap, 16, address + bytes);
		if (length == 0 || (insn.opcode != ZYDIS_MNEMONIC_NOP && gap[0] != 0xcc))
			return 0;
		bytes += length;
	}
	return bytes;
}
