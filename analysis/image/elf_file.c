// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/elf_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/broker.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/parse_guard.h"

/* Opening must neither block (FIFO) nor have side effects (tape drive). */
static int open_regular(const char *path, uint64_t *bytes, struct error *err)
{
	_cleanup_close_ int fd =
		broker_open(BROKER_IMAGE, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	struct stat status;

	if (fd == -ENOTRECOVERABLE)
		return error_set(err, -fd, ERROR_READ ": %s", path, broker_refusal());
	if (fd == -ENOEXEC)
		return error_set(err, ENOEXEC, ERROR_NOT_ELF, path);
	if (fd == -EMEDIUMTYPE)
		return error_set(err, ENOEXEC, "'%s' is not a regular file", path);
	if (fd < 0)
		return error_set(err, -fd, ERROR_OPEN ": %s", path, strerror(-fd));
	if (fstat(fd, &status) < 0)
		return error_set_errno(err, ERROR_OPEN, path);
	if (!S_ISREG(status.st_mode))
		return error_set(err, ENOEXEC, "'%s' is not a regular file", path);
	*bytes = (uint64_t)status.st_size;
	return take_fd(fd);
}

int elf_file_from_fd(struct elf_file *ret, int fd, uint64_t bytes)
{
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf == NULL || elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		close(fd);
		return -ENOEXEC;
	}
	*ret = (struct elf_file){.elf = elf, .fd = fd, .bytes = bytes};
	return 0;
}

int elf_file_open(struct elf_file *ret, const char *path, struct error *err)
{
	const char *subject, *previous;
	uint64_t bytes = 0;
	int fd, r;

	fd = open_regular(path, &bytes, err);
	if (fd < 0)
		return fd;
	subject = parse_guard_name(path);
	previous = parse_guard_begin(subject);
	r = elf_file_from_fd(ret, fd, bytes);
	parse_guard_end(previous, r);
	if (r < 0)
		return error_set(err, -r, ERROR_NOT_ELF, path);
	ret->subject = subject;
	return 0;
}

int elf_file_from_memory(struct elf_file *ret, void *memory, size_t bytes)
{
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_memory(memory, bytes);
	if (elf == NULL || elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		free(memory);
		return -ENOEXEC;
	}
	*ret = (struct elf_file){.elf = elf, .fd = -1, .bytes = bytes, .memory = memory};
	return 0;
}

void elf_file_close(struct elf_file *file)
{
	if (file->elf == NULL)
		return;
	elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	free(file->memory);
	*file = (struct elf_file){0};
}

bool elf_file_has_sections(const struct elf_file *file)
{
	size_t count;

	return elf_getshdrnum(file->elf, &count) == 0 && count > 1;
}

const char *elf_file_section_name(const struct elf_file *file, const GElf_Shdr *header)
{
	const char *name;
	size_t strings;

	if (elf_getshdrstrndx(file->elf, &strings) != 0)
		return "";
	name = elf_strptr(file->elf, strings, header->sh_name);
	return name != NULL ? name : "";
}

Elf_Scn *elf_file_section(const struct elf_file *file, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(file->elf, section)) != NULL) {
		if (gelf_getshdr(section, header) != NULL &&
		    strcmp(elf_file_section_name(file, header), name) == 0)
			return section;
	}
	return NULL;
}

Elf_Data *elf_file_contents(const struct elf_file *file, const char *name, uint64_t *address)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_section(file, name, &header);
	Elf_Data *data = NULL;

	if (section != NULL && header.sh_type != SHT_NOBITS)
		data = elf_rawdata(section, NULL);
	if (data == NULL || data->d_buf == NULL)
		return NULL;
	*address = header.sh_addr;
	return data;
}

/* Return the length of the build-id among notes; 0 if there is none. */
static size_t find_build_id(Elf_Data *notes, const uint8_t **id)
{
	size_t offset = 0, name, description;
	GElf_Nhdr note;

	while ((offset = gelf_getnote(notes, offset, &note, &name, &description)) > 0) {
		const char *bytes = notes->d_buf;

		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof(ELF_NOTE_GNU) ||
		    memcmp(bytes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) != 0)
			continue;
		*id = (const uint8_t *)bytes + description;
		return note.n_descsz;
	}
	return 0;
}

/* As the kernel and the loader do it. */
static size_t build_id_in_segments(Elf *elf, const uint8_t **id)
{
	size_t count, bytes = 0;
	GElf_Phdr segment;

	if (elf_getphdrnum(elf, &count) < 0)
		return 0;
	for (size_t i = 0; i < count && i < INT_MAX && bytes == 0; i++) {
		Elf_Data *notes;

		if (gelf_getphdr(elf, (int)i, &segment) == NULL || segment.p_type != PT_NOTE)
			continue;
		notes = elf_getdata_rawchunk(elf, (int64_t)segment.p_offset, segment.p_filesz,
					     segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		if (notes != NULL)
			bytes = find_build_id(notes, id);
	}
	return bytes;
}

/* dwelf_elf_gnu_build_id() finds no note in a section without the padding of its end. */
size_t elf_file_build_id(const struct elf_file *file, const uint8_t **id)
{
	const void *bits = NULL;
	ssize_t bytes = dwelf_elf_gnu_build_id(file->elf, &bits);

	if (bytes <= 0)
		return build_id_in_segments(file->elf, id);
	*id = bits;
	return (size_t)bytes;
}
