// SPDX-License-Identifier: GPL-2.0-only
#include "tools/opt/bolt_candidate.h"

#include "analysis/image/elf_file.h"

const char *bolt_candidate_reason(const struct elf_file *file)
{
	GElf_Shdr section;
	GElf_Ehdr header;

	if (gelf_getehdr(file->elf, &header) == NULL || !elf_file_has_sections(file))
		return "it has no section headers";
	if (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64)
		return "BOLT does not support its architecture";
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
		return "it is neither a program nor a shared library";
	if (elf_file_section(file, ".note.bolt_info", &section) != NULL)
		return "BOLT has already rewritten it";
	if (elf_file_section(file, ".symtab", &section) == NULL || section.sh_size == 0)
		return "it is stripped (link it with -Wl,--emit-relocs and do not strip it)";
	if (elf_file_section(file, ".rela.text", &section) == NULL || section.sh_size == 0)
		return "it has no relocations (link it with -Wl,--emit-relocs)";
	return NULL;
}
