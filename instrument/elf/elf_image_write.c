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
#include "lib/error_text.h"

uint64_t elf_image_code_address(const struct elf_image *image)
{
	return image->end;
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

static uint64_t zero_address(const struct elf_image *image,
			     const struct elf_image_addition *addition)
{
	return elf_image_data_address(image, addition->code_bytes) + addition->data_bytes;
}

static uint64_t note_address(const struct elf_image *image,
			     const struct elf_image_addition *addition)
{
	return elf_image_round_up(zero_address(image, addition) + addition->zero_bytes,
				  ELF_IMAGE_PAGE);
}

/*
 * strip(1) of binutils places a segment with program headers directly after the previous segment
 * of the file. This is right only if that segment ends at the end of a page, as the note's does,
 * and if the headers are alone in their segment.
 */
static uint64_t headers_address(const struct elf_image *image,
				const struct elf_image_addition *addition)
{
	return elf_image_round_up(note_address(image, addition) + addition->note_bytes,
				  ELF_IMAGE_PAGE);
}

/* Return the file offset of an address in an added segment. */
static uint64_t offset_of(const struct elf_image *image, uint64_t address)
{
	return address - image->bias;
}

static Elf64_Phdr make_load(const struct elf_image *image, uint32_t flags, uint64_t address,
			    uint64_t bytes, uint64_t zero_bytes)
{
	return (Elf64_Phdr){.p_type = PT_LOAD,
			    .p_flags = flags,
			    .p_offset = offset_of(image, address),
			    .p_vaddr = address,
			    .p_paddr = address,
			    .p_filesz = bytes,
			    .p_memsz = bytes + zero_bytes,
			    .p_align = ELF_IMAGE_PAGE};
}

/* Make the added segments, in order of address. */
static void make_loads(const struct elf_image *image, const struct elf_image_addition *addition,
		       Elf64_Phdr out[ELF_IMAGE_LOADS])
{
	uint64_t data = template_address(image, addition->code_bytes);
	uint64_t note = note_address(image, addition);
	uint64_t headers = headers_address(image, addition);

	out[0] = make_load(image, PF_R | PF_X, elf_image_code_address(image), addition->code_bytes,
			   0);
	out[1] = make_load(image, PF_R | PF_W, data, zero_address(image, addition) - data,
			   addition->zero_bytes);
	out[2] = make_load(image, PF_R, note, headers - note, 0);
	out[3] = make_load(image, PF_R, headers,
			   (image->segment_count + ELF_IMAGE_LOADS) * sizeof(Elf64_Phdr), 0);
}

/* Make the program headers of the new file. PT_LOAD segments must be in order of address. */
static size_t make_segments(const struct elf_image *image,
			    const struct elf_image_addition *addition, Elf64_Phdr *out)
{
	uint64_t data = template_address(image, addition->code_bytes);
	uint64_t headers = headers_address(image, addition);
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
			*segment = make_load(
				image, PF_R, headers,
				(image->segment_count + ELF_IMAGE_LOADS) * sizeof(Elf64_Phdr), 0);
			/* The alignment is for llvm-strip, which places the segment by it. */
			segment->p_type = PT_PHDR;
		}
		if (i != last)
			continue;
		make_loads(image, addition, &out[count]);
		count += ELF_IMAGE_LOADS;
	}
	return count;
}

#define SPARSE_BYTES 65536

struct output {
	uint8_t *bytes;
	size_t count;
};

static void elf_image_write_put(const struct output *output, uint64_t offset, const void *bytes,
				size_t count)
{
	if (count > 0)
		memcpy(output->bytes + offset, bytes, count);
}

/* --- sections ------------------------------------------------------------- */

#define NAMES_NAME ".shstrtab"
#define SECTIONS_ADDED 10 /* null, those of list_sections(), names */
#define NAMES_BYTES 256

struct added_section {
	const char *name;
	uint64_t address;
	uint64_t bytes;
	uint64_t flags;
	uint32_t type;
	uint32_t align;
};

static const Elf64_Phdr *segment_of(const struct elf_image *image, uint32_t type)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		if (image->segments[i].p_type == type)
			return &image->segments[i];
	}
	return NULL;
}

/* Thread-local variables that are in no old section. */
static struct added_section added_variables(const struct elf_image *image,
					    const struct elf_image_addition *addition)
{
	const Elf64_Phdr *tls = segment_of(image, PT_TLS);
	struct added_section section = {.name = ".dcpix.tdata",
					.address = template_address(image, addition->code_bytes),
					.bytes = image->template_bytes,
					.flags = SHF_ALLOC | SHF_WRITE | SHF_TLS,
					.type = SHT_PROGBITS,
					.align = tls != NULL ? (uint32_t)tls->p_align : 1};

	if (tls != NULL && image->template == NULL) {
		section.name = ".dcpix.tbss";
		section.address = tls->p_vaddr + tls->p_memsz - sizeof(uint64_t);
		section.bytes = sizeof(uint64_t);
		section.type = SHT_NOBITS;
		section.align = sizeof(uint64_t);
	}
	return section;
}

/*
 * Programs that copy files by their sections, such as strip(1), copy nothing else: sections
 * describe all bytes of the added segments except the program headers, and those of PT_TLS and
 * PT_GNU_EH_FRAME exactly.
 */
static size_t list_sections(const struct elf_image *image,
			    const struct elf_image_addition *addition, struct added_section *out)
{
	uint64_t code = elf_image_code_address(image), code_end = code + addition->code_bytes;
	uint64_t data = elf_image_data_address(image, addition->code_bytes);
	uint64_t note = note_address(image, addition), note_end = note + addition->note_bytes;
	const Elf64_Phdr *unwind = segment_of(image, PT_GNU_EH_FRAME);
	uint64_t index = unwind != NULL && unwind->p_vaddr >= code ? unwind->p_vaddr : code_end;
	const struct added_section all[] = {
		{".dcpix.text", code, index - code, SHF_ALLOC | SHF_EXECINSTR, SHT_PROGBITS,
		 ELF_IMAGE_ALIGN},
		{".dcpix.eh_frame_hdr", index, code_end - index, SHF_ALLOC, SHT_PROGBITS, 4},
		added_variables(image, addition),
		{".dcpix.data", data, addition->data_bytes, SHF_ALLOC | SHF_WRITE, SHT_PROGBITS,
		 ELF_IMAGE_ALIGN},
		{".dcpix.bss", data + addition->data_bytes, addition->zero_bytes,
		 SHF_ALLOC | SHF_WRITE, SHT_NOBITS, 1},
		{addition->note_name, note, addition->note_bytes, SHF_ALLOC, SHT_PROGBITS, 1},
		{".dcpix.pad", note_end, headers_address(image, addition) - note_end, SHF_ALLOC,
		 SHT_PROGBITS, 1},
	};
	size_t count = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (all[i].bytes > 0)
			out[count++] = all[i];
	}
	return count;
}

/* Old sections of thread-local data are in the template now. */
static void move_variables(const struct elf_image *image, uint64_t template, Elf64_Shdr *sections,
			   size_t count)
{
	for (size_t i = 0; image->template != NULL && i < count; i++) {
		if ((sections[i].sh_flags & SHF_TLS) == 0)
			continue;
		if (sections[i].sh_type == SHT_NOBITS) {
			sections[i].sh_addr +=
				template + image->template_added - image->template_old;
			sections[i].sh_offset = offset_of(image, template) + image->template_bytes;
		} else {
			sections[i].sh_flags &= ~(uint64_t)SHF_TLS;
		}
	}
}

static uint64_t put_name(const struct output *output, uint64_t at, const char *name)
{
	elf_image_write_put(output, at, name, strlen(name) + 1);
	return at + strlen(name) + 1;
}

/* Write section headers and names at @offset. Return: offset of the end. */
static uint64_t put_sections(struct output *output, const struct elf_image *image,
			     const struct elf_image_addition *addition, uint64_t offset)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)output->bytes;
	struct added_section added[SECTIONS_ADDED];
	size_t count, name_bytes, added_count = list_sections(image, addition, added);
	const uint8_t *names;
	const Elf64_Shdr *old = elf_image_sections(image, &count, &names, &name_bytes);
	uint64_t end = offset + name_bytes;
	Elf64_Shdr *sections =
		(Elf64_Shdr *)(void *)(output->bytes + elf_image_round_up(end + NAMES_BYTES, 8));

	elf_image_write_put(output, offset, names, name_bytes);
	elf_image_write_put(output, (uint64_t)((uint8_t *)sections - output->bytes), old,
			    count * sizeof(*sections));
	move_variables(image, template_address(image, addition->code_bytes), sections, count);
	count = count > 0 ? count : 1;
	for (size_t i = 0; i < added_count; i++) {
		sections[count++] = (Elf64_Shdr){.sh_name = (uint32_t)(end - offset),
						 .sh_type = added[i].type,
						 .sh_flags = added[i].flags,
						 .sh_addr = added[i].address,
						 .sh_offset = offset_of(image, added[i].address),
						 .sh_size = added[i].bytes,
						 .sh_addralign = added[i].align};
		end = put_name(output, end, added[i].name);
	}
	sections[count] = (Elf64_Shdr){.sh_name = (uint32_t)(end - offset),
				       .sh_type = SHT_STRTAB,
				       .sh_offset = offset,
				       .sh_addralign = 1};
	sections[count].sh_size = put_name(output, end, NAMES_NAME) - offset;
	header->e_shoff = (uint64_t)((uint8_t *)sections - output->bytes);
	header->e_shentsize = sizeof(Elf64_Shdr);
	header->e_shstrndx = (uint16_t)count;
	header->e_shnum = (uint16_t)(count + 1);
	return header->e_shoff + (count + 1) * sizeof(*sections);
}

/* --- the file ------------------------------------------------------------- */

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
	uint64_t headers = offset_of(image, headers_address(image, addition));
	uint64_t sections = headers + (image->segment_count + ELF_IMAGE_LOADS) * sizeof(Elf64_Phdr);
	size_t count, name_bytes;
	const uint8_t *names;
	Elf64_Ehdr *header;
	int r;

	elf_image_sections(image, &count, &names, &name_bytes);
	output->bytes = calloc(1, sections + name_bytes + NAMES_BYTES + 2 * sizeof(uint64_t) +
					  (count + SECTIONS_ADDED) * sizeof(Elf64_Shdr));
	if (output->bytes == NULL)
		return -ENOMEM;
	elf_image_write_put(output, 0, image->file, image->bytes);
	header = (Elf64_Ehdr *)(void *)output->bytes;
	header->e_phoff = headers;
	header->e_phnum = (uint16_t)make_segments(image, addition,
						  (Elf64_Phdr *)(void *)(output->bytes + headers));
	elf_image_write_put(output, offset_of(image, elf_image_code_address(image)), addition->code,
			    addition->code_bytes);
	elf_image_write_put(output, offset_of(image, data), addition->data, addition->data_bytes);
	elf_image_write_put(output, offset_of(image, note_address(image, addition)), addition->note,
			    addition->note_bytes);
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

static bool is_zero(const uint8_t *bytes, size_t count)
{
	return count > 0 && bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0;
}

/* Write to a new file, without allocating blocks for zeros. The last bytes are not zero. */
static int write_sparse(int fd, const struct output *output)
{
	size_t at = 0;
	int r = 0;

	while (r == 0 && at < output->count) {
		size_t end = at + SPARSE_BYTES < output->count ? at + SPARSE_BYTES : output->count;

		if (end < output->count && is_zero(output->bytes + at, end - at))
			r = lseek(fd, (off_t)end, SEEK_SET) < 0 ? -errno : 0;
		else
			r = write_part(fd, output, at, end);
		at = end;
	}
	return r;
}

/* Write under a temporary name first: @path may be the original file, which may be running. */
static int replace(const struct output *output, mode_t mode, const char *path, struct error *err)
{
	_cleanup_free_ char *scratch = NULL;
	int fd, r;

	if (asprintf(&scratch, "%s.XXXXXX", path) < 0) {
		scratch = NULL;
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	fd = mkostemp(scratch, O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, ERROR_WRITE, path);
	r = write_sparse(fd, output);
	if (r == 0 && fchmod(fd, mode) < 0)
		r = -errno;
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r == 0 && rename(scratch, path) < 0)
		r = -errno;
	if (r < 0) {
		unlink(scratch);
		return error_set(err, -r, ERROR_WRITE ": %s", path, strerror(-r));
	}
	return 0;
}

/* Write to an existing device or pipe, which must not be replaced. */
static int write_into(const struct output *output, const char *path, struct error *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return error_set_errno(err, ERROR_WRITE, path);
	r = write_all(fd, output);
	if (close(fd) < 0 && r == 0)
		r = -errno;
	return r < 0 ? error_set(err, -r, ERROR_WRITE ": %s", path, strerror(-r)) : 0;
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
		return r == -ENOMEM ? error_set(err, ENOMEM, ERROR_NO_MEMORY)
				    : error_set(err, -r, ERROR_DAMAGED, path);
	}
	if (is_replaced(path))
		r = replace(&output, image->mode, path, err);
	else
		r = write_into(&output, path, err);
	free(output.bytes);
	return r;
}
