// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/elf/elf_image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/file_read.h"

/* Segments that are added: code, data, thread-local data, an index of frames. */
#define ADDED_MAX 4
#define FILE_BYTES_MAX (UINT64_C(1) << 31)
#define SEGMENTS_MAX 128
/* Room for all there may be: addresses behind must not move as segments are added. */
#define HEADERS_BYTES ((SEGMENTS_MAX + ADDED_MAX) * sizeof(Elf64_Phdr))

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
		return error_set_errno(err, "cannot open %s", path);
	if (!S_ISREG(status.st_mode) || status.st_size < (off_t)sizeof(Elf64_Ehdr))
		return error_set(err, ENOEXEC, "%s is no ELF file", path);
	if ((uint64_t)status.st_size > FILE_BYTES_MAX)
		return error_set(err, ENOTSUP, "%s has more than 2 GiB", path);
	image->bytes = (size_t)status.st_size;
	image->mode = status.st_mode & 0777;
	image->file = malloc(image->bytes);
	if (image->file == NULL)
		return error_set(err, ENOMEM, "no memory for %s", path);
	r = file_read_exactly(fd, image->file, image->bytes, 0);
	return r < 0 ? error_set(err, -r, "cannot read %s", path) : 0;
}

bool elf_image_has(const struct elf_image *image, uint64_t offset, uint64_t bytes)
{
	return offset <= image->bytes && bytes <= image->bytes - offset;
}

static int check_header(const struct elf_image *image, const char *path, struct error *err)
{
	const Elf64_Ehdr *header = header_of(image);

	if (header == NULL || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return error_set(err, ENOEXEC, "%s is no ELF file", path);
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
	    header->e_machine != EM_X86_64)
		return error_set(err, ENOTSUP, "%s is not for x86-64", path);
	if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
		return error_set(err, ENOTSUP, "%s is no executable", path);
	if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum == 0 ||
	    header->e_phnum > SEGMENTS_MAX ||
	    !elf_image_has(image, header->e_phoff, header->e_phnum * sizeof(Elf64_Phdr)))
		return error_set(err, ENOEXEC, "%s has damaged program headers", path);
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

static int read_segments(struct elf_image *image, const char *path, struct error *err)
{
	const Elf64_Ehdr *header = header_of(image);
	uint64_t previous = 0;
	bool loads = false;

	image->segments = calloc(header->e_phnum + ADDED_MAX, sizeof(*image->segments));
	if (image->segments == NULL)
		return error_set(err, ENOMEM, "no memory for %s", path);
	memcpy(image->segments, image->file + header->e_phoff,
	       header->e_phnum * sizeof(*image->segments));
	image->segment_count = header->e_phnum;
	for (size_t i = 0; i < image->segment_count; i++) {
		const Elf64_Phdr *segment = &image->segments[i];

		if (check_segment(image, segment) < 0 ||
		    (segment->p_type == PT_LOAD && segment->p_vaddr < previous))
			return error_set(err, ENOEXEC, "%s has a damaged segment", path);
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
		return error_set(err, ENOEXEC, "%s has nothing to load", path);
	/*
	 * Behind everything in the file too: kernels before 5.18 find the program headers in
	 * memory as if the first segment went on to them.
	 */
	image->end = elf_image_round_up(previous, ELF_IMAGE_PAGE);
	if (image->end < image->bias + elf_image_round_up(image->bytes, ELF_IMAGE_PAGE))
		image->end = image->bias + elf_image_round_up(image->bytes, ELF_IMAGE_PAGE);
	if (image->end - image->bias > FILE_BYTES_MAX)
		return error_set(err, ENOTSUP, "%s takes more than 2 GiB of memory", path);
	return 0;
}

/* Shared objects look like programs that may be loaded anywhere; libc.so.6 can even be run. */
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

/* Go's runtime moves stacks and collects garbage by tables of return addresses. */
static bool knows_its_code(const struct elf_image *image)
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
		/* With a prefix in programs that may be loaded anywhere. */
		if (length >= sizeof(table) - 1 &&
		    memcmp(name + length - (sizeof(table) - 1), table, sizeof(table) - 1) == 0)
			return true;
	}
	return false;
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
		r = read_segments(&image, path, err);
	}
	if (r == 0 && !is_executable(&image)) {
		size_t count, name_bytes;
		const uint8_t *names;

		image.shared = true;
		image.dynamic = true;
		/* Others may come in wherever there is a name, which only those tell. */
		if (elf_image_sections(&image, &count, &names, &name_bytes) == NULL)
			r = error_set(err, ENOTSUP, "%s is a shared object without section headers",
				      path);
	}
	if (r == 0 && knows_its_code(&image))
		r = error_set(err, ENOTSUP,
			      "%s is a Go program: its runtime looks its code's addresses up",
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

/* The description of the build-id's note, in the file. */
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

/* Behind the template for thread-local data, which may need any alignment. */
static uint64_t headers_address(const struct elf_image *image)
{
	return image->end + elf_image_round_up(image->template_bytes, ELF_IMAGE_ALIGN);
}

uint64_t elf_image_code_address(const struct elf_image *image)
{
	return elf_image_round_up(headers_address(image) + HEADERS_BYTES, ELF_IMAGE_ALIGN);
}

uint64_t elf_image_data_address(const struct elf_image *image, size_t code_bytes)
{
	return elf_image_round_up(elf_image_code_address(image) + code_bytes, ELF_IMAGE_PAGE);
}

/* Where the segments that are added are in the file. */
static uint64_t offset_of(const struct elf_image *image, uint64_t address)
{
	return address - image->bias;
}

/* Program headers of the new file. Segments to load must be in order of address. */
static size_t make_segments(const struct elf_image *image,
			    const struct elf_image_addition *addition, Elf64_Phdr *out)
{
	uint64_t code = image->end, data = elf_image_data_address(image, addition->code_bytes);
	uint64_t code_bytes = elf_image_code_address(image) + addition->code_bytes - code;
	size_t last = 0, count = 0;

	for (size_t i = 0; i < image->segment_count; i++) {
		if (image->segments[i].p_type == PT_LOAD)
			last = i;
	}
	for (size_t i = 0; i < image->segment_count; i++) {
		Elf64_Phdr *segment = &out[count++];

		*segment = image->segments[i];
		if (segment->p_type == PT_TLS && image->template != NULL) {
			segment->p_vaddr = segment->p_paddr = code;
			segment->p_offset = offset_of(image, code);
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
					    .p_filesz = addition->data_bytes,
					    .p_memsz = addition->data_bytes + addition->zero_bytes,
					    .p_align = ELF_IMAGE_PAGE};
	}
	return count;
}

/* The new file, as it is written: a part after the other. */
struct output {
	uint8_t *bytes;
	size_t count;
};

static void put(struct output *output, uint64_t offset, const void *bytes, size_t count)
{
	if (count > 0)
		memcpy(output->bytes + offset, bytes, count);
}

#define TEXT_NAME ".dcpix.text"
#define NAMES_NAME ".shstrtab"
#define SECTIONS_ADDED 4 /* none, code, note, names */

/* Section headers, names and note, at @offset. Return: the end. */
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

	put(output, note, addition->note, addition->note_bytes);
	put(output, strings, names, name_bytes);
	put(output, added, TEXT_NAME, sizeof(TEXT_NAME));
	put(output, added + sizeof(TEXT_NAME), NAMES_NAME, sizeof(NAMES_NAME));
	put(output, added + sizeof(TEXT_NAME) + sizeof(NAMES_NAME), addition->note_name,
	    strlen(addition->note_name) + 1);
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

static int make_output(struct output *output, const struct elf_image *image,
		       const struct elf_image_addition *addition)
{
	uint64_t data = elf_image_data_address(image, addition->code_bytes);
	uint64_t sections = offset_of(image, data) + addition->data_bytes;
	size_t count, name_bytes;
	const uint8_t *names;
	Elf64_Ehdr *header;

	elf_image_sections(image, &count, &names, &name_bytes);
	output->bytes = calloc(1, sections + addition->note_bytes + name_bytes +
					  strlen(addition->note_name) + 256 +
					  (count + SECTIONS_ADDED) * sizeof(Elf64_Shdr));
	if (output->bytes == NULL)
		return -ENOMEM;
	put(output, 0, image->file, image->bytes);
	header = (Elf64_Ehdr *)(void *)output->bytes;
	put(output, offset_of(image, image->end), image->template, image->template_bytes);
	header->e_phoff = offset_of(image, headers_address(image));
	header->e_phnum = (uint16_t)make_segments(
		image, addition, (Elf64_Phdr *)(void *)(output->bytes + header->e_phoff));
	put(output, offset_of(image, elf_image_code_address(image)), addition->code,
	    addition->code_bytes);
	put(output, offset_of(image, data), addition->data, addition->data_bytes);
	output->count = put_sections(output, image, addition, elf_image_round_up(sections, 8));
	return 0;
}

static int write_all(int fd, const struct output *output)
{
	size_t at = 0;

	while (at < output->count) {
		ssize_t n = write(fd, output->bytes + at, output->count - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += (size_t)n;
	}
	return 0;
}

/* Under another name first: the old file may be the one that is being replaced, and run. */
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
	r = write_all(fd, output);
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

int elf_image_write(const struct elf_image *image, const struct elf_image_addition *addition,
		    const char *path, struct error *err)
{
	struct output output = {0};
	int r = make_output(&output, image, addition);

	if (r < 0)
		return error_set(err, -r, "no memory for %s", path);
	r = replace(&output, image->mode, path, err);
	free(output.bytes);
	return r;
}
