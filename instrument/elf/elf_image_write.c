// SPDX-License-Identifier: GPL-2.0-only
/* Add parts to an image and write the new file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "instrument/elf/elf_image.h"
#include "lib/cleanup.h"
#include "lib/error.h"

/* Room for the maximum number of headers: addresses after them must not change as segments are
 * added. */
#define HEADERS_BYTES ((ELF_IMAGE_SEGMENTS_MAX + ELF_IMAGE_ADDED_MAX) * sizeof(Elf64_Phdr))

/* Program headers precede the added code. */
static uint64_t headers_address(const struct elf_image *image)
{
	return image->end;
}

uint64_t elf_image_code_address(const struct elf_image *image)
{
	return elf_image_round_up(headers_address(image) + HEADERS_BYTES, ELF_IMAGE_ALIGN);
}

/*
 * The template of thread-local data precedes the added data: it may need any alignment, and
 * contains pointers that the loader relocates.
 */
static uint64_t template_address(const struct elf_image *image, size_t code_bytes)
{
	return elf_image_round_up(elf_image_code_address(image) + code_bytes, ELF_IMAGE_PAGE);
}

uint64_t elf_image_data_address(const struct elf_image *image, size_t code_bytes)
{
	return template_address(image, code_bytes) +
	       elf_image_round_up(image->template_bytes, ELF_IMAGE_PAGE);
}

/* Return the file offset of an address in an added segment. */
static uint64_t offset_of(const struct elf_image *image, uint64_t address)
{
	return address - image->bias;
}

/* Make the program headers of the new file. PT_LOAD segments must be in order of address. */
static size_t make_segments(const struct elf_image *image,
			    const struct elf_image_addition *addition, Elf64_Phdr *out)
{
	uint64_t code = image->end, data = template_address(image, addition->code_bytes);
	uint64_t code_bytes = elf_image_code_address(image) + addition->code_bytes - code;
	uint64_t data_bytes =
		elf_image_data_address(image, addition->code_bytes) - data + addition->data_bytes;
	size_t last = 0, count = 0;

	for (size_t i = 0; i < image->segment_count; i++) {
		if (image->segments[i].p_type == PT_LOAD)
			last = i;
	}
	for (size_t i = 0; i < image->segment_count; i++) {
		Elf64_Phdr *segment = &out[count++];

		*segment = image->segments[i];
		if (segment->p_type == PT_TLS && image->template != NULL) {
			segment->p_vaddr = segment->p_paddr = data;
			segment->p_offset = offset_of(image, data);
		} else if (segment->p_type == PT_PHDR) {
			segment->p_vaddr = segment->p_paddr = headers_address(image);
			segment->p_offset = offset_of(image, segment->p_vaddr);
			segment->p_filesz = segment->p_memsz =
				(image->segment_count + 2) * sizeof(Elf64_Phdr);
		}
		if (i != last)
			continue;
		out[count++] = (Elf64_Phdr){.p_type = PT_LOAD,
					    .p_flags = PF_R | PF_X,
					    .p_offset = offset_of(image, code),
					    .p_vaddr = code,
					    .p_paddr = code,
					    .p_filesz = code_bytes,
					    .p_memsz = code_bytes,
					    .p_align = ELF_IMAGE_PAGE};
		out[count++] = (Elf64_Phdr){.p_type = PT_LOAD,
					    .p_flags = PF_R | PF_W,
					    .p_offset = offset_of(image, data),
					    .p_vaddr = data,
					    .p_paddr = data,
					    .p_filesz = data_bytes,
					    .p_memsz = data_bytes + addition->zero_bytes,
					    .p_align = ELF_IMAGE_PAGE};
	}
	return count;
}

/*
 * The new file, written in two parts. The hole between the end of the old file and the added parts
 * is as large as the program's zero-initialised data.
 */
struct output {
	uint8_t *bytes;
	size_t count;
	size_t hole; /* its offset */
	size_t hole_bytes;
};

static void elf_image_write_put(const struct output *output, uint64_t offset, const void *bytes,
				size_t count)
{
	if (count > 0)
		memcpy(output->bytes + offset, bytes, count);
}

#define TEXT_NAME ".dcpix.text"
#define NAMES_NAME ".shstrtab"
#define SECTIONS_ADDED 4 /* null, code, note, names */

/* Write section headers, names and note at @offset. Return: offset of the end. */
static uint64_t put_sections(struct output *output, const struct elf_image *image,
			     const struct elf_image_addition *addition, uint64_t offset)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)output->bytes;
	size_t count, name_bytes;
	const uint8_t *names;
	const Elf64_Shdr *old = elf_image_sections(image, &count, &names, &name_bytes);
	uint64_t note = offset, strings = note + addition->note_bytes;
	uint64_t added = strings + name_bytes;
	uint64_t end =
		added + sizeof(TEXT_NAME) + sizeof(NAMES_NAME) + strlen(addition->note_name) + 1;
	Elf64_Shdr *sections = (Elf64_Shdr *)(void *)(output->bytes + elf_image_round_up(end, 8));

	elf_image_write_put(output, note, addition->note, addition->note_bytes);
	elf_image_write_put(output, strings, names, name_bytes);
	elf_image_write_put(output, added, TEXT_NAME, sizeof(TEXT_NAME));
	elf_image_write_put(output, added + sizeof(TEXT_NAME), NAMES_NAME, sizeof(NAMES_NAME));
	elf_image_write_put(output, added + sizeof(TEXT_NAME) + sizeof(NAMES_NAME),
			    addition->note_name, strlen(addition->note_name) + 1);
	if (count > 0)
		memcpy(sections, old, count * sizeof(*sections));
	else
		sections[count++] = (Elf64_Shdr){0};
	sections[count++] =
		(Elf64_Shdr){.sh_name = (uint32_t)name_bytes,
			     .sh_type = SHT_PROGBITS,
			     .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			     .sh_addr = elf_image_code_address(image),
			     .sh_offset = offset_of(image, elf_image_code_address(image)),
			     .sh_size = addition->code_bytes,
			     .sh_addralign = ELF_IMAGE_ALIGN};
	sections[count++] = (Elf64_Shdr){
		.sh_name = (uint32_t)(name_bytes + sizeof(TEXT_NAME) + sizeof(NAMES_NAME)),
		.sh_type = SHT_PROGBITS,
		.sh_offset = note,
		.sh_size = addition->note_bytes,
		.sh_addralign = 1};
	sections[count] = (Elf64_Shdr){.sh_name = (uint32_t)(name_bytes + sizeof(TEXT_NAME)),
				       .sh_type = SHT_STRTAB,
				       .sh_offset = strings,
				       .sh_size = end - strings,
				       .sh_addralign = 1};
	header->e_shoff = elf_image_round_up(end, 8);
	header->e_shentsize = sizeof(Elf64_Shdr);
	header->e_shstrndx = (uint16_t)count;
	header->e_shnum = (uint16_t)(count + 1);
	return header->e_shoff + (count + 1) * sizeof(*sections);
}

struct move {
	const struct elf_image *image;
	uint8_t *file;
	uint64_t to;
};

/* Redirect relocations of the thread-local template to its new address. */
static void move_relocations(void *context, uint64_t offset, size_t count)
{
	const struct move *move = context;
	const struct elf_image *image = move->image;
	uint8_t *at = move->file + offset;

	for (size_t i = 0; i < count; i++, at += sizeof(Elf64_Rela)) {
		Elf64_Rela relocation;

		memcpy(&relocation, at, sizeof(relocation));
		if (relocation.r_offset - image->template_old >=
		    image->template_bytes - image->template_added)
			continue;
		relocation.r_offset += move->to + image->template_added - image->template_old;
		memcpy(at, &relocation, sizeof(relocation));
	}
}

static int put_template(const struct output *output, const struct elf_image *image,
			uint64_t address)
{
	struct move move = {.image = image, .file = output->bytes, .to = address};
	struct error err;

	if (image->template == NULL)
		return 0;
	elf_image_write_put(output, offset_of(image, address), image->template,
			    image->template_bytes);
	return elf_image_visit_relocations(image, move_relocations, &move, &err);
}

static int make_output(struct output *output, const struct elf_image *image,
		       const struct elf_image_addition *addition)
{
	uint64_t data = elf_image_data_address(image, addition->code_bytes);
	uint64_t sections = offset_of(image, data) + addition->data_bytes;
	size_t count, name_bytes;
	const uint8_t *names;
	Elf64_Ehdr *header;
	int r;

	elf_image_sections(image, &count, &names, &name_bytes);
	output->bytes = calloc(1, sections + addition->note_bytes + name_bytes +
					  strlen(addition->note_name) + 256 +
					  (count + SECTIONS_ADDED) * sizeof(Elf64_Shdr));
	if (output->bytes == NULL)
		return -ENOMEM;
	elf_image_write_put(output, 0, image->file, image->bytes);
	output->hole = image->bytes;
	if (offset_of(image, headers_address(image)) > image->bytes)
		output->hole_bytes = offset_of(image, headers_address(image)) - image->bytes;
	header = (Elf64_Ehdr *)(void *)output->bytes;
	header->e_phoff = offset_of(image, headers_address(image));
	header->e_phnum = (uint16_t)make_segments(
		image, addition, (Elf64_Phdr *)(void *)(output->bytes + header->e_phoff));
	elf_image_write_put(output, offset_of(image, elf_image_code_address(image)), addition->code,
			    addition->code_bytes);
	elf_image_write_put(output, offset_of(image, data), addition->data, addition->data_bytes);
	r = put_template(output, image, template_address(image, addition->code_bytes));
	output->count = put_sections(output, image, addition, elf_image_round_up(sections, 8));
	return r;
}

static int write_part(int fd, const struct output *output, size_t at, size_t end)
{
	while (at < end) {
		ssize_t n = write(fd, output->bytes + at, end - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += (size_t)n;
	}
	return 0;
}

static int write_all(int fd, const struct output *output)
{
	return write_part(fd, output, 0, output->count);
}

/* Write to a new file, without allocating blocks for the hole. */
static int write_sparse(int fd, const struct output *output)
{
	int r = write_part(fd, output, 0, output->hole);

	if (r == 0 && lseek(fd, (off_t)output->hole_bytes, SEEK_CUR) < 0)
		r = -errno;
	return r == 0 ? write_part(fd, output, output->hole + output->hole_bytes, output->count)
		      : r;
}

/* Write under a temporary name first: @path may be the original file, which may be running. */
static int replace(const struct output *output, mode_t mode, const char *path, struct error *err)
{
	_cleanup_free_ char *scratch = NULL;
	int fd, r;

	if (asprintf(&scratch, "%s.XXXXXX", path) < 0) {
		scratch = NULL;
		return error_set(err, ENOMEM, "no memory for a name");
	}
	fd = mkostemp(scratch, O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, "cannot write %s", path);
	r = write_sparse(fd, output);
	if (r == 0 && fchmod(fd, mode) < 0)
		r = -errno;
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r == 0 && rename(scratch, path) < 0)
		r = -errno;
	if (r < 0) {
		unlink(scratch);
		return error_set(err, -r, "cannot write %s: %s", path, strerror(-r));
	}
	return 0;
}

/* Write to an existing device or pipe, which must not be replaced. */
static int write_into(const struct output *output, const char *path, struct error *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return error_set_errno(err, "cannot write %s", path);
	r = write_all(fd, output);
	if (close(fd) < 0 && r == 0)
		r = -errno;
	return r < 0 ? error_set(err, -r, "cannot write %s: %s", path, strerror(-r)) : 0;
}

static bool is_replaced(const char *path)
{
	struct stat status;

	return lstat(path, &status) < 0 || S_ISREG(status.st_mode) || S_ISLNK(status.st_mode) ||
	       S_ISDIR(status.st_mode);
}

int elf_image_write(const struct elf_image *image, const struct elf_image_addition *addition,
		    const char *path, struct error *err)
{
	struct output output = {0};
	int r = make_output(&output, image, addition);

	if (r < 0) {
		free(output.bytes);
		return error_set(err, -r, r == -ENOMEM ? "no memory for %s" : "%s is damaged",
				 path);
	}
	if (is_replaced(path))
		r = replace(&output, image->mode, path, err);
	else
		r = write_into(&output, path, err);
	free(output.bytes);
	return r;
}
