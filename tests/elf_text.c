// SPDX-License-Identifier: GPL-2.0-only
#include "tests/elf_text.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool map_file(struct elf_text *text, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return false;
	text->map = MAP_FAILED;
	if (fstat(fd, &st) == 0 && st.st_size > (off_t)sizeof(Elf64_Ehdr)) {
		text->map_bytes = (size_t)st.st_size;
		text->map = mmap(NULL, text->map_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	close(fd);
	return text->map != MAP_FAILED;
}

bool elf_text_open(struct elf_text *text, const char *path)
{
	const Elf64_Shdr *section;
	const Elf64_Ehdr *header;
	const char *names;
	int i;

	if (!map_file(text, path))
		return false;
	header = text->map;
	section = (const void *)((const char *)text->map + header->e_shoff);
	names = (const char *)text->map + section[header->e_shstrndx].sh_offset;
	for (i = 0; i < header->e_shnum; i++) {
		if (strcmp(names + section[i].sh_name, ".text") != 0)
			continue;
		text->code = (const uint8_t *)text->map + section[i].sh_offset;
		text->bytes = section[i].sh_size;
		text->address = section[i].sh_addr;
		text->machine = header->e_machine;
		return true;
	}
	elf_text_close(text);
	return false;
}

void elf_text_close(struct elf_text *text)
{
	munmap(text->map, text->map_bytes);
}
