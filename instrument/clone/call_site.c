// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/call_site.h"

#include <Zydis/Zydis.h>
#include <string.h>

/* Known by the names of libc's functions, from which the child returns as well. */
bool call_site_forks(struct image_code *code, const struct insn *call)
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

/* Return true if the address belongs to a procedure that is known. */
static bool is_known(const struct image_code *code, uint64_t address)
{
	long index = image_code_find(code, address);

	return index >= 0 &&
	       procedure_table_get(image_code_procedures(code), (size_t)index)->source !=
		       PROCEDURE_SECTION;
}

/*
 * Compilers leave gaps between procedures that are never executed. If the next procedure is not
 * known, nops and int3 up to the alignment of procedures are a gap.
 */
size_t call_site_padding(const struct image_code *code, const struct elf_image *image,
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
