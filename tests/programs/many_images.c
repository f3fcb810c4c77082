// SPDX-License-Identifier: GPL-2.0-only
/*
 * many_images FIRST COUNT: maps COUNT images, one after the other, of which each has a
 * build-id of its own: its number, from FIRST on.
 */
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

/* As little of a shared object as has a build-id. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr program;
	Elf64_Nhdr note;
	char name[4];
	uint32_t id[5];
};

static void map_one(const struct image *image)
{
	int fd = memfd_create("image", MFD_CLOEXEC);
	void *page;

	if (fd < 0 || write(fd, image, sizeof(*image)) != sizeof(*image)) {
		perror("many_images: memfd");
		exit(1);
	}
	page = mmap(NULL, sizeof(*image), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (page == MAP_FAILED) {
		perror("many_images: mmap");
		exit(1);
	}
	munmap(page, sizeof(*image));
	close(fd);
}

int main(int argc, char **argv)
{
	struct image image = {
		.header =
			{
				.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					    ELFDATA2LSB, EV_CURRENT},
				.e_type = ET_DYN,
				.e_machine = MACHINE,
				.e_version = EV_CURRENT,
				.e_phoff = offsetof(struct image, program),
				.e_ehsize = sizeof(Elf64_Ehdr),
				.e_phentsize = sizeof(Elf64_Phdr),
				.e_phnum = 1,
			},
		.program =
			{
				.p_type = PT_NOTE,
				.p_offset = offsetof(struct image, note),
				.p_filesz = sizeof(image) - offsetof(struct image, note),
				.p_memsz = sizeof(image) - offsetof(struct image, note),
				.p_align = 4,
			},
		.note = {.n_namesz = 4, .n_descsz = sizeof(image.id), .n_type = NT_GNU_BUILD_ID},
		.name = "GNU",
	};
	uint32_t first, count;

	if (argc != 3) {
		fprintf(stderr, "usage: many_images FIRST COUNT\n");
		return 2;
	}
	first = (uint32_t)strtoul(argv[1], NULL, 10);
	count = (uint32_t)strtoul(argv[2], NULL, 10);
	for (image.id[0] = first; image.id[0] < first + count; image.id[0]++)
		map_one(&image);
	return 0;
}
