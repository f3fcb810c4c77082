// SPDX-License-Identifier: GPL-2.0-only
/*
 * many_images FOLDER FIRST COUNT [hold]: create COUNT images in FOLDER, and then map them one after
 * the other. The build-id of each is its number, from FIRST on. The files stay. With "hold" the
 * images stay mapped until the end of the standard input.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

#define HOLD_MAX 16000

/* The smallest shared object with a build-id. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr program;
	Elf64_Nhdr note;
	char name[4];
	uint32_t id[5];
};

static void require(int condition, const char *action)
{
	if (condition)
		return;
	fprintf(stderr, "many_images: ");
	perror(action);
	exit(1);
}

static int image_open(const char *folder, uint32_t number, int flags)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%u", folder, number);
	fd = open(path, flags | O_CLOEXEC, 0600);
	require(fd >= 0, path);
	return fd;
}

static void image_create(const char *folder, const struct image *image)
{
	int fd = image_open(folder, image->id[0], O_WRONLY | O_CREAT | O_EXCL);

	require(write(fd, image, sizeof(*image)) == sizeof(*image), "write");
	close(fd);
}

static void image_map(const char *folder, uint32_t number, bool hold)
{
	int fd = image_open(folder, number, O_RDONLY);
	void *page = mmap(NULL, sizeof(struct image), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	require(page != MAP_FAILED, "mmap");
	if (!hold)
		munmap(page, sizeof(struct image));
	close(fd);
}

/* A process cannot have more mappings than the kernel allows, so several processes hold them. */
static void images_hold(const char *folder, uint32_t first, uint32_t count)
{
	int end[2];
	char byte;

	require(pipe(end) == 0, "pipe");
	for (uint32_t begin = 0; begin < count; begin += HOLD_MAX) {
		pid_t pid = fork();

		require(pid >= 0, "fork");
		if (pid > 0)
			continue;
		close(end[1]);
		for (uint32_t i = begin; i < begin + HOLD_MAX && i < count; i++)
			image_map(folder, first + i, true);
		_exit(read(end[0], &byte, 1) != 0);
	}
	while (read(STDIN_FILENO, &byte, 1) > 0)
		continue;
	close(end[1]);
	while (wait(NULL) > 0)
		continue;
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
	/* The kernel dates a change by its last tick: so recent a file could still change. */
	const struct timespec tick = {.tv_nsec = 50000000};
	uint32_t first, count;

	if (argc != 4 && argc != 5) {
		fprintf(stderr, "usage: many_images FOLDER FIRST COUNT [hold]\n");
		return 2;
	}
	first = (uint32_t)strtoul(argv[2], NULL, 10);
	count = (uint32_t)strtoul(argv[3], NULL, 10);
	for (image.id[0] = first; image.id[0] < first + count; image.id[0]++)
		image_create(argv[1], &image);
	nanosleep(&tick, NULL);
	if (argc == 5)
		images_hold(argv[1], first, count);
	else
		for (uint32_t number = first; number < first + count; number++)
			image_map(argv[1], number, false);
	return 0;
}
