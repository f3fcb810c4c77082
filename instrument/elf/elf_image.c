// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/elf/elf_image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/file_read.h"

#define FILE_BYTES_MAX (UINT64_C(1) << 31)

static Elf64_Ehdr *header_of(const struct elf_image *image)
{
	return (Elf64_Ehdr *)(void *)image->file;
}

static int read_file(struct elf_image *image, const char *path, struct error *err)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	int r;

	if (fd < 0 || fstat(fd, &status) < 0)
		return error_set_errno(err, ERROR_OPEN, path);
	if (!S_ISREG(status.st_mode) || status.st_size < (off_t)sizeof(Elf64_Ehdr))
		return error_set(err, ENOEXEC, ERROR_NOT_ELF, path);
	if ((uint64_t)status.st_size > FILE_BYTES_MAX)
		return error_set(err, ENOTSUP, "'%s' has more than 2 GiB", path);
	image->bytes = (size_t)status.st_size;
	image->mode = status.st_mode & 0777;
	image->file = malloc(image->bytes);
	if (image->file == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	r = file_read_exactly(fd, image->file, image->bytes, 0);
	return r < 0 ? error_set(err, -r, ERROR_READ, path) : 0;
}

bool elf_image_has(const struct elf_image *image, uint64_t offset, uint64_t bytes)
{
	return offset <= image->bytes && bytes <= image->bytes - offset;
}

static int check_header(const struct elf_image *image, const char *path, struct error *err)
{
	const Elf64_Ehdr *header = header_of(image);

	if (header == NULL || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return error_set(err, ENOEXEC, ERROR_NOT_ELF, path);
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
	    header->e_machine != EM_X86_64)
		return error_set(err, ENOTSUP, "'%s' is not for x86-64", path);
	if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
		return error_set(err, ENOTSUP, "'%s' is not an executable", path);
	if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum == 0 ||
	    header->e_phnum > ELF_IMAGE_SEGMENTS_MAX ||
	    !elf_image_has(image, header->e_phoff, header->e_phnum * sizeof(Elf64_Phdr)))
		return error_set(err, ENOEXEC, "'%s' is damaged: program headers", path);
	return 0;
}

static int check_segment(const struct elf_image *image, const Elf64_Phdr *segment)
{
	if (segment->p_type != PT_LOAD)
		return 0;
	if (!elf_image_has(image, segment->p_offset, segment->p_filesz) ||
	    segment->p_filesz > segment->p_memsz || segment->p_vaddr > UINT64_MAX / 4 ||
	    segment->p_memsz > UINT64_MAX / 4 ||
	    segment->p_vaddr % ELF_IMAGE_PAGE != segment->p_offset % ELF_IMAGE_PAGE)
		return -ENOEXEC;
	return 0;
}

static int elf_image_read_segments(struct elf_image *image, const char *path, struct error *err)
{
	const Elf64_Ehdr *header = header_of(image);
	uint64_t previous = 0;
	bool loads = false;

	image->segments = calloc(header->e_phnum + ELF_IMAGE_ADDED_MAX, sizeof(*image->segments));
	if (image->segments == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	memcpy(image->segments, image->file + header->e_phoff,
	       header->e_phnum * sizeof(*image->segments));
	image->segment_count = header->e_phnum;
	for (size_t i = 0; i < image->segment_count; i++) {
		const Elf64_Phdr *segment = &image->segments[i];

		if (check_segment(image, segment) < 0 ||
		    (segment->p_type == PT_LOAD && segment->p_vaddr < previous))
			return error_set(err, ENOEXEC, "'%s' is damaged: a segment", path);
		if (segment->p_type == PT_LOAD) {
			if (!loads)
				image->bias = segment->p_vaddr - segment->p_offset;
			previous = segment->p_vaddr + segment->p_memsz;
			loads = true;
		}
		if (segment->p_type == PT_TLS)
			image->tls = (int)i;
		image->dynamic |= segment->p_type == PT_INTERP;
	}
	if (!loads)
		return error_set(err, ENOEXEC, "'%s' is damaged: no segment to load", path);
	/*
	 * The added segments also follow the end of the file: kernels before 5.18 compute the
	 * address of the program headers as if the first segment extended to them.
	 */
	image->end = elf_image_round_up(previous, ELF_IMAGE_PAGE);
	if (image->end < image->bias + elf_image_round_up(image->bytes, ELF_IMAGE_PAGE))
		image->end = image->bias + elf_image_round_up(image->bytes, ELF_IMAGE_PAGE);
	if (image->end - image->bias > FILE_BYTES_MAX)
		return error_set(err, ENOTSUP, "'%s' needs more than 2 GiB of memory", path);
	return 0;
}

/* Shared objects have the same type as position-independent executables; libc.so.6 can even be
 * run. */
static bool is_executable(const struct elf_image *image)
{
	bool marked = false, named = false;

	for (size_t i = 0; i < image->segment_count; i++) {
		const Elf64_Phdr *segment = &image->segments[i];
		uint64_t at;

		if (segment->p_type != PT_DYNAMIC ||
		    !elf_image_has(image, segment->p_offset, segment->p_filesz))
			continue;
		for (at = 0; at + sizeof(Elf64_Dyn) <= segment->p_filesz; at += sizeof(Elf64_Dyn)) {
			Elf64_Dyn entry;

			memcpy(&entry, image->file + segment->p_offset + at, sizeof(entry));
			named |= entry.d_tag == DT_SONAME;
			marked |= entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE) != 0;
		}
	}
	return !image->pie || marked || (image->dynamic && !named);
}

/* Go's runtime looks up return addresses in tables to move stacks and to collect garbage. */
static bool is_go_program(const struct elf_image *image)
{
	static const char table[] = ".gopclntab";
	size_t count, name_bytes;
	const uint8_t *names;
	const Elf64_Shdr *sections = elf_image_sections(image, &count, &names, &name_bytes);

	for (size_t i = 0; i < count; i++) {
		const char *name = (const char *)names + sections[i].sh_name;
		size_t length;

		if (sections[i].sh_name >= name_bytes)
			continue;
		length = strnlen(name, name_bytes - sections[i].sh_name);
		/* The name has a prefix in position-independent programs. */
		if (length >= sizeof(table) - 1 &&
		    memcmp(name + length - (sizeof(table) - 1), table, sizeof(table) - 1) == 0)
			return true;
	}
	return false;
}

static uint64_t later(uint64_t end, uint64_t offset, uint64_t bytes)
{
	return bytes > 0 && offset + bytes > end ? offset + bytes : end;
}

/*
 * Return true if there are bytes after everything that the headers describe: archives and data that
 * are appended to programs, which look for them at the end of their file.
 */
static bool has_payload(const struct elf_image *image)
{
	const Elf64_Ehdr *header = header_of(image);
	size_t count, name_bytes;
	const uint8_t *names;
	const Elf64_Shdr *sections = elf_image_sections(image, &count, &names, &name_bytes);
	uint64_t end =
		later(sizeof(*header), header->e_phoff, header->e_phnum * sizeof(Elf64_Phdr));

	for (size_t i = 0; i < image->segment_count; i++) {
		const Elf64_Phdr *segment = &image->segments[i];

		if (elf_image_has(image, segment->p_offset, segment->p_filesz))
			end = later(end, segment->p_offset, segment->p_filesz);
	}
	for (size_t i = 0; i < count; i++) {
		if (sections[i].sh_type != SHT_NOBITS &&
		    elf_image_has(image, sections[i].sh_offset, sections[i].sh_size))
			end = later(end, sections[i].sh_offset, sections[i].sh_size);
	}
	end = later(end, header->e_shoff, count * sizeof(*sections));
	while (end < image->bytes && image->file[end] == 0)
		end++;
	return end < image->bytes;
}

/*
 * Symbols and thread-local variables must be moved with the code. Only section headers name the
 * tables that contain all of them.
 */
static bool has_sections(const struct elf_image *image)
{
	size_t count, name_bytes;
	const uint8_t *names;

	return elf_image_sections(image, &count, &names, &name_bytes) != NULL;
}

int elf_image_open(struct elf_image *ret, const char *path, struct error *err)
{
	struct elf_image image = {.tls = -1};
	int r;

	r = read_file(&image, path, err);
	if (r == 0)
		r = check_header(&image, path, err);
	if (r == 0) {
		image.pie = header_of(&image)->e_type == ET_DYN;
		r = elf_image_read_segments(&image, path, err);
	}
	if (r == 0 && !is_executable(&image)) {
		image.shared = true;
		image.dynamic = true;
	}
	if (r == 0 && !has_sections(&image))
		r = error_set(err, ENOTSUP, "'%s' has no section headers", path);
	if (r == 0 && is_go_program(&image))
		r = error_set(err, ENOTSUP,
			      "'%s' is a Go program, whose runtime looks up addresses of code",
			      path);
	if (r == 0 && has_payload(&image))
		r = error_set(err, ENOTSUP,
			      "'%s' has data after its sections, which the program may expect at "
			      "the end of the file",
			      path);
	if (r < 0)
		elf_image_close(&image);
	else
		*ret = image;
	return r;
}

void elf_image_close(struct elf_image *image)
{
	free(image->file);
	free(image->segments);
	free(image->template);
	*image = (struct elf_image){.tls = -1};
}

static const Elf64_Phdr *segment_at(const struct elf_image *image, uint64_t address, uint64_t bytes)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const Elf64_Phdr *segment = &image->segments[i];

		if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
		    address - segment->p_vaddr <= segment->p_filesz &&
		    bytes <= segment->p_filesz - (address - segment->p_vaddr))
			return segment;
	}
	return NULL;
}

uint8_t *elf_image_at(const struct elf_image *image, uint64_t address, size_t bytes)
{
	const Elf64_Phdr *segment = segment_at(image, address, bytes);

	return segment != NULL ? image->file + segment->p_offset + (address - segment->p_vaddr)
			       : NULL;
}

bool elf_image_is_code(const struct elf_image *image, uint64_t address)
{
	const Elf64_Phdr *segment = segment_at(image, address, 1);

	return segment != NULL && (segment->p_flags & PF_X) != 0;
}

bool elf_image_is_writable(const struct elf_image *image, uint64_t address)
{
	const Elf64_Phdr *segment = segment_at(image, address, 1);

	return segment != NULL && (segment->p_flags & PF_W) != 0;
}

uint64_t elf_image_entry(const struct elf_image *image)
{
	return header_of(image)->e_entry;
}

void elf_image_set_entry(struct elf_image *image, uint64_t address)
{
	header_of(image)->e_entry = address;
}

void elf_image_set_unwind_index(struct elf_image *image, uint64_t address, uint64_t bytes)
{
	size_t i = 0;

	while (i < image->segment_count && image->segments[i].p_type != PT_GNU_EH_FRAME)
		i++;
	if (i == image->segment_count)
		image->segment_count++;
	image->segments[i] = (Elf64_Phdr){.p_type = PT_GNU_EH_FRAME,
					  .p_flags = PF_R,
					  .p_vaddr = address,
					  .p_paddr = address,
					  .p_offset = address - image->bias,
					  .p_filesz = bytes,
					  .p_memsz = bytes,
					  .p_align = 4};
}

/* Return the descriptor of the build-id note, in the contents of the file. */
static uint8_t *find_build_id(const struct elf_image *image, size_t *bytes)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const Elf64_Phdr *segment = &image->segments[i];
		uint64_t at = segment->p_offset, end = at + segment->p_filesz;

		if (segment->p_type != PT_NOTE ||
		    !elf_image_has(image, segment->p_offset, segment->p_filesz))
			continue;
		while (end - at >= sizeof(Elf64_Nhdr)) {
			Elf64_Nhdr note;
			uint64_t name, description;

			memcpy(&note, image->file + at, sizeof(note));
			name = at + sizeof(note);
			description = name + elf_image_round_up(note.n_namesz, 4);
			at = description + elf_image_round_up(note.n_descsz, 4);
			if (at > end)
				break;
			*bytes = note.n_descsz;
			if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
			    memcmp(image->file + name, "GNU", 4) == 0)
				return image->file + description;
		}
	}
	return NULL;
}

void elf_image_rename(struct elf_image *image, uint64_t seed)
{
	size_t bytes;
	uint8_t *id = find_build_id(image, &bytes);
	XXH128_hash_t hash;

	if (id == NULL)
		return;
	hash = XXH3_128bits_withSeed(id, bytes, seed);
	for (size_t i = 0; i < bytes; i++)
		id[i] ^= ((const uint8_t *)&hash)[i % sizeof(hash)];
}

const Elf64_Shdr *elf_image_sections(const struct elf_image *image, size_t *count,
				     const uint8_t **names, size_t *name_bytes)
{
	const Elf64_Ehdr *header = header_of(image);
	const Elf64_Shdr *sections, *strings;

	*count = 0;
	*name_bytes = 0;
	*names = NULL;
	if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shnum == 0 ||
	    header->e_shoff % 8 != 0 || header->e_shstrndx >= header->e_shnum ||
	    !elf_image_has(image, header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr)))
		return NULL;
	sections = (const Elf64_Shdr *)(const void *)(image->file + header->e_shoff);
	strings = &sections[header->e_shstrndx];
	if (!elf_image_has(image, strings->sh_offset, strings->sh_size))
		return NULL;
	*count = header->e_shnum;
	*names = image->file + strings->sh_offset;
	*name_bytes = strings->sh_size;
	return sections;
}
