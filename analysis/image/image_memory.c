// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/image_memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/file_window.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/partition_point.h"

#define POINTER_BYTES 8

struct segment {
	uint64_t address;
	uint64_t bytes; /* in the file */
	bool executable;
	bool written;
	struct file_window window;
};

/* struct constant_range - memory of a writable segment that is constant after loading */
struct constant_range {
	uint64_t start;
	uint64_t end;
};

/* struct relocation - a pointer that the loader sets */
struct relocation {
	uint64_t address;
	uint64_t addend;
	const char *name; /* NULL: none */
	bool relative;	  /* relative to the image */
};

struct image_memory {
	const struct elf_file *file;
	GElf_Half machine;
	struct segment *segments;
	size_t segment_count;
	struct constant_range *constants;
	size_t constant_count;
	size_t constant_capacity;
	pthread_mutex_t lock; /* protects windows and the members below */
	bool relocations_read;
	struct relocation *relocations; /* by address */
	size_t relocation_count;
	size_t relocation_capacity;
	uint64_t *pointers; /* targets of relative relocations, ascending */
	size_t pointer_count;
};

CLEANUP_DEFINE(image_memory, struct image_memory *, image_memory_close)

static int add_constant(struct image_memory *memory, uint64_t start, uint64_t bytes)
{
	if (bytes > UINT64_MAX - start)
		return 0;
	if (array_reserve(&memory->constants, &memory->constant_capacity,
			  memory->constant_count + 1, sizeof(*memory->constants)) < 0)
		return -ENOMEM;
	memory->constants[memory->constant_count++] =
		(struct constant_range){.start = start, .end = start + bytes};
	return 0;
}

static int add_segment(struct image_memory *memory, size_t *capacity, const GElf_Phdr *header)
{
	struct segment *segment;

	if (header->p_filesz == 0 || header->p_filesz > UINT64_MAX - header->p_vaddr ||
	    header->p_offset > memory->file->bytes ||
	    header->p_filesz > memory->file->bytes - header->p_offset)
		return 0;
	if (array_reserve(&memory->segments, capacity, memory->segment_count + 1,
			  sizeof(*memory->segments)) < 0)
		return -ENOMEM;
	segment = &memory->segments[memory->segment_count++];
	segment->address = header->p_vaddr;
	segment->bytes = header->p_filesz;
	segment->executable = (header->p_flags & PF_X) != 0;
	segment->written = (header->p_flags & PF_W) != 0;
	file_window_init(&segment->window, memory->file->fd, header->p_offset, header->p_filesz);
	return 0;
}

static int image_memory_read_segments(struct image_memory *memory)
{
	size_t capacity = 0, count;
	GElf_Phdr header;
	int r = 0;

	if (elf_getphdrnum(memory->file->elf, &count) != 0)
		return -ENOEXEC;
	for (size_t i = 0; r == 0 && i < count; i++) {
		if (gelf_getphdr(memory->file->elf, (int)i, &header) == NULL)
			return -ENOEXEC;
		if (header.p_type == PT_LOAD)
			r = add_segment(memory, &capacity, &header);
		else if (header.p_type == PT_GNU_RELRO)
			r = add_constant(memory, header.p_vaddr, header.p_memsz);
	}
	return r;
}

/* The linker's tables are constant even without PT_GNU_RELRO. */
static int read_constant_sections(struct image_memory *memory)
{
	static const char *const names[] = {".data.rel.ro", ".got"};
	GElf_Shdr header;
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(names) / sizeof(*names); i++) {
		if (elf_file_section(memory->file, names[i], &header) != NULL)
			r = add_constant(memory, header.sh_addr, header.sh_size);
	}
	return r;
}

int image_memory_open(struct image_memory **ret, const struct elf_file *file)
{
	_cleanup_(cleanup_image_memory) struct image_memory *memory = calloc(1, sizeof(*memory));
	GElf_Ehdr header;
	int r;

	if (memory == NULL)
		return -ENOMEM;
	memory->file = file;
	pthread_mutex_init(&memory->lock, NULL);
	if (gelf_getehdr(file->elf, &header) == NULL || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOEXEC;
	memory->machine = header.e_machine;
	r = image_memory_read_segments(memory);
	if (r == 0)
		r = read_constant_sections(memory);
	if (r < 0)
		return r;
	*ret = take_ptr(memory);
	return 0;
}

void image_memory_close(struct image_memory *memory)
{
	if (memory == NULL)
		return;
	for (size_t i = 0; i < memory->segment_count; i++)
		file_window_deinit(&memory->segments[i].window);
	free(memory->segments);
	free(memory->constants);
	free(memory->relocations);
	free(memory->pointers);
	pthread_mutex_destroy(&memory->lock);
	free(memory);
}

/* --- contents of the file --------------------------------------------------- */

static struct segment *segment_at(const struct image_memory *memory, uint64_t address,
				  uint64_t bytes)
{
	for (size_t i = 0; i < memory->segment_count; i++) {
		struct segment *segment = &memory->segments[i];

		if (address >= segment->address && address - segment->address < segment->bytes &&
		    bytes <= segment->bytes - (address - segment->address))
			return segment;
	}
	return NULL;
}

/* Called with the lock held. */
static int read_initial(struct image_memory *memory, uint64_t address, uint64_t *pointer)
{
	struct segment *segment = segment_at(memory, address, sizeof(*pointer));
	const uint8_t *data = NULL;

	if (segment != NULL)
		data = file_window_get(&segment->window, address - segment->address,
				       sizeof(*pointer));
	if (data == NULL)
		return -ENOENT;
	memcpy(pointer, data, sizeof(*pointer));
	return 0;
}

/* --- relocations -------------------------------------------------------- */

static bool is_relative(GElf_Half machine, uint64_t type)
{
	switch (machine) {
	case EM_X86_64:
		return type == R_X86_64_RELATIVE;
	case EM_AARCH64:
		return type == R_AARCH64_RELATIVE;
	case EM_ALPHA:
		return type == R_ALPHA_RELATIVE;
	}
	return false;
}

static const char *symbol_name(const struct image_memory *memory, Elf_Data *symbols, size_t strings,
			       const GElf_Rela *rela)
{
	GElf_Sym symbol;

	if (symbols == NULL || GELF_R_SYM(rela->r_info) == 0 || rela->r_addend != 0 ||
	    gelf_getsym(symbols, (int)GELF_R_SYM(rela->r_info), &symbol) == NULL)
		return NULL;
	return elf_strptr(memory->file->elf, strings, symbol.st_name);
}

static int read_section(struct image_memory *memory, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Scn *symbol_section = elf_getscn(memory->file->elf, header->sh_link);
	Elf_Data *data = elf_getdata(section, NULL), *symbols = NULL;
	size_t count = data != NULL ? data->d_size / sizeof(Elf64_Rela) : 0;
	GElf_Shdr symbol_header = {0};

	if (symbol_section != NULL && gelf_getshdr(symbol_section, &symbol_header) != NULL &&
	    symbol_header.sh_type == SHT_DYNSYM)
		symbols = elf_getdata(symbol_section, NULL);
	/* Several sections of a hostile file may share the same bytes. */
	if (memory->relocation_count + count > memory->file->bytes / sizeof(Elf64_Rela))
		return 0;
	if (array_reserve(&memory->relocations, &memory->relocation_capacity,
			  memory->relocation_count + count, sizeof(*memory->relocations)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct relocation *relocation = &memory->relocations[memory->relocation_count];
		GElf_Rela rela;

		if (gelf_getrela(data, (int)i, &rela) == NULL)
			break;
		relocation->address = rela.r_offset;
		relocation->addend = (uint64_t)rela.r_addend;
		relocation->relative = is_relative(memory->machine, GELF_R_TYPE(rela.r_info));
		relocation->name = relocation->relative ? NULL
							: symbol_name(memory, symbols,
								      symbol_header.sh_link, &rela);
		memory->relocation_count++;
	}
	return 0;
}

static int add_relative(struct image_memory *memory, uint64_t address)
{
	struct relocation *relocation;
	uint64_t addend;

	if (read_initial(memory, address, &addend) < 0)
		return 0;
	if (array_reserve(&memory->relocations, &memory->relocation_capacity,
			  memory->relocation_count + 1, sizeof(*memory->relocations)) < 0)
		return -ENOMEM;
	relocation = &memory->relocations[memory->relocation_count++];
	*relocation = (struct relocation){.address = address, .addend = addend, .relative = true};
	return 0;
}

/*
 * Read packed relative relocations, whose addends are in the relocated words. A word is an address,
 * or (if odd) a bitmap of the 63 words after the previous ones.
 */
static int read_packed(struct image_memory *memory, Elf_Scn *section)
{
	Elf_Data *data = elf_rawdata(section, NULL);
	size_t count = data != NULL ? data->d_size / sizeof(uint64_t) : 0;
	uint64_t next = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		uint64_t word;

		memcpy(&word, (const uint8_t *)data->d_buf + i * sizeof(word), sizeof(word));
		if ((word & 1) == 0) {
			r = add_relative(memory, word);
			next = word + sizeof(word);
			continue;
		}
		for (unsigned int bit = 1; r == 0 && bit < 64; bit++) {
			if (word >> bit & 1)
				r = add_relative(memory, next + (bit - 1) * sizeof(word));
		}
		next += 63 * sizeof(word);
		/* Sections of a hostile file may repeat the same addresses. */
		if (memory->relocation_count > memory->file->bytes / sizeof(word))
			break;
	}
	return r;
}

static int relocation_compare(const void *a, const void *b)
{
	const struct relocation *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static int pointer_compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int list_pointers(struct image_memory *memory)
{
	memory->pointers = malloc((memory->relocation_count + 1) * sizeof(*memory->pointers));
	if (memory->pointers == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < memory->relocation_count; i++) {
		if (memory->relocations[i].relative)
			memory->pointers[memory->pointer_count++] = memory->relocations[i].addend;
	}
	qsort(memory->pointers, memory->pointer_count, sizeof(*memory->pointers), pointer_compare);
	return 0;
}

static void forget_relocations(struct image_memory *memory)
{
	free(memory->relocations);
	memory->relocations = NULL;
	memory->relocation_count = 0;
	memory->relocation_capacity = 0;
}

/* Called with the lock held. Return: true if the relocations are known. */
static bool read_relocations(struct image_memory *memory)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	bool sorted = true;

	if (memory->relocations_read)
		return true;
	while ((section = elf_nextscn(memory->file->elf, section)) != NULL) {
		int r = 0;

		if (gelf_getshdr(section, &header) == NULL || !(header.sh_flags & SHF_ALLOC))
			continue;
		if (header.sh_type == SHT_RELA)
			r = read_section(memory, section, &header);
		else if (header.sh_type == SHT_RELR)
			r = read_packed(memory, section);
		if (r < 0) {
			forget_relocations(memory);
			return false;
		}
	}
	for (size_t i = 1; sorted && i < memory->relocation_count; i++)
		sorted = memory->relocations[i - 1].address <= memory->relocations[i].address;
	if (!sorted)
		qsort(memory->relocations, memory->relocation_count, sizeof(*memory->relocations),
		      relocation_compare);
	if (list_pointers(memory) < 0) {
		forget_relocations(memory);
		return false;
	}
	memory->relocations_read = true;
	return true;
}

/* Return the first relocation at or after an address. */
static size_t relocation_from(const struct image_memory *memory, uint64_t address)
{
	return partition_point(0, memory->relocation_count, i,
			       memory->relocations[i].address < address);
}

/* --- reading ------------------------------------------------------------ */

const uint8_t *image_memory_code(struct image_memory *memory, uint64_t address, uint64_t bytes)
{
	struct segment *segment = segment_at(memory, address, bytes);
	const uint8_t *code;

	if (segment == NULL || !segment->executable)
		return NULL;
	pthread_mutex_lock(&memory->lock);
	code = file_window_get(&segment->window, address - segment->address, bytes);
	pthread_mutex_unlock(&memory->lock);
	return code;
}

static bool is_constant(const struct image_memory *memory, const struct segment *segment,
			uint64_t address, uint64_t bytes)
{
	if (!segment->written)
		return true;
	for (size_t i = 0; i < memory->constant_count; i++) {
		if (address >= memory->constants[i].start && address < memory->constants[i].end &&
		    bytes <= memory->constants[i].end - address)
			return true;
	}
	return false;
}

/* Apply the loader's relocations to @buffer. Return: false if one is unknown. */
static bool relocate(const struct image_memory *memory, uint64_t address, uint8_t *buffer,
		     size_t bytes)
{
	uint64_t from = address < POINTER_BYTES ? 0 : address - POINTER_BYTES + 1;

	for (size_t i = relocation_from(memory, from); i < memory->relocation_count; i++) {
		const struct relocation *relocation = &memory->relocations[i];

		if (relocation->address >= address && relocation->address - address >= bytes)
			break;
		if (!relocation->relative || relocation->address < address ||
		    bytes - (relocation->address - address) < POINTER_BYTES)
			return false;
		/* Alpha's loader adds to the existing value; the addend is then not relevant. */
		if (relocation->addend != 0)
			memcpy(buffer + (relocation->address - address), &relocation->addend,
			       POINTER_BYTES);
	}
	return true;
}

static int read_locked(struct image_memory *memory, struct segment *segment, uint64_t address,
		       void *buffer, size_t bytes)
{
	const uint8_t *data = file_window_get(&segment->window, address - segment->address, bytes);

	if (data == NULL)
		return -ENOENT;
	if (!segment->written) {
		memcpy(buffer, data, bytes);
		return 0;
	}
	if (!read_relocations(memory))
		return -ENOENT;
	memcpy(buffer, data, bytes);
	return relocate(memory, address, buffer, bytes) ? 0 : -ENOENT;
}

int image_memory_read(struct image_memory *memory, uint64_t address, void *buffer, size_t bytes)
{
	struct segment *segment = segment_at(memory, address, bytes);
	int r;

	if (segment == NULL || !is_constant(memory, segment, address, bytes))
		return -ENOENT;
	pthread_mutex_lock(&memory->lock);
	r = read_locked(memory, segment, address, buffer, bytes);
	pthread_mutex_unlock(&memory->lock);
	return r;
}

/* Before binding, slots for lazy binding contain addresses in the image. */
int image_memory_initial(struct image_memory *memory, uint64_t address, uint64_t *pointer)
{
	int r;

	pthread_mutex_lock(&memory->lock);
	r = read_initial(memory, address, pointer);
	pthread_mutex_unlock(&memory->lock);
	return r;
}

const char *image_memory_slot_name(struct image_memory *memory, uint64_t address)
{
	const char *name = NULL;
	size_t at;

	pthread_mutex_lock(&memory->lock);
	if (read_relocations(memory)) {
		at = relocation_from(memory, address);
		if (at < memory->relocation_count && memory->relocations[at].address == address)
			name = memory->relocations[at].name;
	}
	pthread_mutex_unlock(&memory->lock);
	return name;
}

void image_memory_pointers(struct image_memory *memory, uint64_t start, uint64_t end,
			   void (*visit)(void *context, uint64_t target), void *context)
{
	size_t low;
	bool known;

	pthread_mutex_lock(&memory->lock);
	known = read_relocations(memory);
	pthread_mutex_unlock(&memory->lock);
	if (!known)
		return;
	low = partition_point(0, memory->pointer_count, i, memory->pointers[i] < start);
	for (; low < memory->pointer_count && memory->pointers[low] < end; low++)
		visit(context, memory->pointers[low]);
}
