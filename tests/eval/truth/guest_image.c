// SPDX-License-Identifier: GPL-2.0-only
#include "tests/eval/truth/guest_image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANONYMOUS "[anonymous]"

struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint32_t image;
};

static char **images;
static uint32_t image_total;
static struct mapping *mappings;
static size_t mapping_total;
static atomic_bool mappings_stale = true;

static void die(const char *what)
{
	fprintf(stderr, "plugin: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void *checked(void *memory)
{
	if (!memory)
		die("memory");
	return memory;
}

static uint32_t image_number(const char *path)
{
	uint32_t i;

	for (i = 0; i < image_total; i++) {
		if (strcmp(images[i], path) == 0)
			return i;
	}
	images = checked(realloc(images, (image_total + 1) * sizeof(*images)));
	images[image_total] = checked(strdup(path));
	return image_total++;
}

/* Use the host's mappings: a guest's mapping of a file is also a mapping of this process. */
static void mappings_read(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	char *line = NULL;
	size_t room = 0;

	if (!file)
		die("/proc/self/maps");
	mapping_total = 0;
	while (getline(&line, &room, file) >= 0) {
		struct mapping m;
		int path = 0;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &m.start,
			   &m.end, &m.offset, &path) != 3 ||
		    line[path] != '/')
			continue;
		line[strcspn(line, "\n")] = '\0';
		m.image = image_number(line + path);
		mappings = checked(realloc(mappings, (mapping_total + 1) * sizeof(*mappings)));
		mappings[mapping_total++] = m;
	}
	free(line);
	fclose(file);
}

static const struct mapping *mapping_find(uint64_t host)
{
	size_t i;

	if (atomic_exchange(&mappings_stale, false))
		mappings_read();
	for (i = 0; i < mapping_total; i++) {
		if (host >= mappings[i].start && host < mappings[i].end)
			return &mappings[i];
	}
	return NULL;
}

struct guest_place guest_image_place(const void *host, uint64_t guest)
{
	uint64_t at = (uint64_t)(uintptr_t)host;
	const struct mapping *m = mapping_find(at);

	if (!m)
		return (struct guest_place){image_number(ANONYMOUS), guest};
	return (struct guest_place){m->image, at - m->start + m->offset};
}

/* Any system call may have changed the mappings. */
static void syscall_returned(qemu_plugin_id_t id, unsigned int vcpu, int64_t number, int64_t result)
{
	(void)id;
	(void)vcpu;
	(void)number;
	(void)result;
	atomic_store(&mappings_stale, true);
}

void guest_image_watch(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_syscall_ret_cb(id, syscall_returned);
}

const char *guest_image_path(uint32_t image)
{
	return images[image];
}

char *const *guest_image_paths(void)
{
	return images;
}

struct guest_file guest_file_open(uint32_t image)
{
	int fd = open(images[image], O_RDONLY | O_CLOEXEC);
	struct guest_file file = {0};
	void *elf = MAP_FAILED;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0)
		elf = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (elf != MAP_FAILED)
		file = (struct guest_file){elf, (size_t)st.st_size};
	if (fd >= 0)
		close(fd);
	return file;
}

void guest_file_close(struct guest_file *file)
{
	if (file->elf)
		munmap((void *)(uintptr_t)file->elf, file->bytes);
	*file = (struct guest_file){0};
}

/* Read the @i-th program header. Return: false if there is none, or no such file. */
static bool segment(const struct guest_file *file, size_t i, Elf64_Phdr *ret)
{
	const Elf64_Ehdr *h64 = (const void *)file->elf;
	const Elf32_Ehdr *h32 = (const void *)file->elf;
	Elf32_Phdr narrow;
	uint64_t at;
	bool wide;

	if (file->bytes < sizeof(*h64) || memcmp(file->elf, ELFMAG, SELFMAG) != 0)
		return false;
	wide = file->elf[EI_CLASS] == ELFCLASS64;
	at = wide ? h64->e_phoff + i * sizeof(Elf64_Phdr) : h32->e_phoff + i * sizeof(Elf32_Phdr);
	if (i >= (wide ? h64->e_phnum : h32->e_phnum) || at > file->bytes ||
	    file->bytes - at < sizeof(*ret))
		return false;
	if (wide) {
		memcpy(ret, file->elf + at, sizeof(*ret));
		return true;
	}
	memcpy(&narrow, file->elf + at, sizeof(narrow));
	*ret = (Elf64_Phdr){
		.p_type = narrow.p_type,
		.p_offset = narrow.p_offset,
		.p_filesz = narrow.p_filesz,
		.p_memsz = narrow.p_memsz,
		.p_vaddr = narrow.p_vaddr,
	};
	return true;
}

uint64_t guest_file_address(const struct guest_file *file, uint64_t offset)
{
	Elf64_Phdr p;

	for (size_t i = 0; segment(file, i, &p); i++) {
		if (p.p_type == PT_LOAD && offset >= p.p_offset && offset - p.p_offset < p.p_filesz)
			return offset - p.p_offset + p.p_vaddr;
	}
	return offset;
}

uint64_t guest_file_end(const struct guest_file *file)
{
	uint64_t end = 0;
	Elf64_Phdr p;

	for (size_t i = 0; segment(file, i, &p); i++) {
		if (p.p_type == PT_LOAD && p.p_vaddr + p.p_memsz > end)
			end = p.p_vaddr + p.p_memsz;
	}
	return end;
}
