/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rewrite an x86-64 ELF executable or shared object. All existing contents stay where they are, in
 * the file and in memory; bytes of them may be changed. Two segments are added after them: one of
 * code and constants, one of data. Section headers are rewritten at the end of the file and include
 * a section of the mode's data that the program does not use.
 *
 * The contents of the file are not trusted.
 */
#ifndef DCPI_INSTRUMENT_ELF_IMAGE_H
#define DCPI_INSTRUMENT_ELF_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

#define ELF_IMAGE_PAGE 4096
/* Maximum number of program headers in a file. */
#define ELF_IMAGE_SEGMENTS_MAX 128
/* Number of added segments that are loaded: code, data, note, program headers. */
#define ELF_IMAGE_LOADS 4
/* Maximum number of other segments that are added: thread-local data, index of unwind information.
 */
#define ELF_IMAGE_ADDED_MAX 2
/* Alignment of added code and data. */
#define ELF_IMAGE_ALIGN 64

static inline uint64_t elf_image_round_up(uint64_t value, uint64_t to)
{
	return (value + to - 1) / to * to;
}

/**
 * struct elf_image - zero-initialised is empty
 * @file:     contents of the file
 * @segments: copies of the program headers, with room for the added ones
 * @dynamic:  the file has an interpreter, or is a shared object
 * @shared:   the file is a shared object
 * @pie:      the file may be loaded at any address
 * @tls:      index of PT_TLS in @segments, or -1
 * @template: the widened initial image of thread-local data: @template_added new bytes, then the
 *            bytes from the address @template_old
 * @bias:     address minus file offset, for the first segment and for added ones
 * @end:      start of the added segments, a multiple of a page
 * @mode:     permissions of the file
 */
struct elf_image {
	uint8_t *file;
	size_t bytes;
	Elf64_Phdr *segments;
	size_t segment_count;
	bool dynamic;
	bool shared;
	bool pie;
	int tls;
	uint8_t *template;
	size_t template_bytes;
	size_t template_added;
	uint64_t template_old;
	uint64_t bias;
	uint64_t end;
	mode_t mode;
};

/**
 * elf_image_open() - read a file
 * @ret: out; freed by elf_image_close()
 *
 * Return: 0; -ENOEXEC if it is not an x86-64 ELF file with a program, or damaged; -ENOTSUP if it
 * cannot be rewritten (the message gives the reason); errors of open(2); -ENOMEM.
 */
int elf_image_open(struct elf_image *ret, const char *path, struct error *err);

/** elf_image_close() - free an image, which may be zero-initialised. */
void elf_image_close(struct elf_image *image);

/**
 * elf_image_at() - return the bytes at an address, which may be changed
 *
 * Return: NULL unless one segment maps all @bytes bytes at @address from the file.
 */
uint8_t *elf_image_at(const struct elf_image *image, uint64_t address, size_t bytes);

/** elf_image_has() - return true if the file has @bytes bytes at @offset. */
bool elf_image_has(const struct elf_image *image, uint64_t offset, uint64_t bytes);

/**
 * elf_image_sections() - return the section headers, if they are valid
 * @names: out: string table for sh_name, @name_bytes long
 *
 * Return: @count headers in the contents of the file; NULL, with @count 0, without headers.
 */
const Elf64_Shdr *elf_image_sections(const struct elf_image *image, size_t *count,
				     const uint8_t **names, size_t *name_bytes);

/** elf_image_is_code() - return true if an address is in an executable segment. */
bool elf_image_is_code(const struct elf_image *image, uint64_t address);

/** elf_image_is_writable() - return true if an address is in a writable segment. */
bool elf_image_is_writable(const struct elf_image *image, uint64_t address);

/** elf_image_entry() - return the program's entry point; elf_image_set_entry() changes it. */
uint64_t elf_image_entry(const struct elf_image *image);
void elf_image_set_entry(struct elf_image *image, uint64_t address);

/**
 * elf_image_rename() - change the build-id, if there is one, so that the rewritten file cannot be
 * taken for the original one
 * @seed: identifies the rewriting: equal seeds give equal build-ids
 */
void elf_image_rename(struct elf_image *image, uint64_t seed);

/**
 * elf_image_set_unwind_index() - set the address of the index of unwind information
 *
 * Static programs have no index and register their frames. They get an index, which unwinders
 * search for code that was not registered.
 */
void elf_image_set_unwind_index(struct elf_image *image, uint64_t address, uint64_t bytes);

/**
 * elf_image_widen_tls() - give each thread 8 more bytes, initially zero
 * @offset: out: their offset from the thread pointer (negative); for a shared object, from the
 *          start of its thread-local variables
 *
 * Offsets of all other thread-local variables stay the same.
 *
 * Return: 0, -ENOTSUP or -ENOMEM.
 */
int elf_image_widen_tls(struct elf_image *image, int64_t *offset, struct error *err);

/** struct elf_image_dynamic - the part of an image's dynamic section that the rewriter needs. */
struct elf_image_dynamic {
	const char *name; /* DT_SONAME, or NULL */
	const uint8_t *relocations;
	size_t relocation_bytes;
};

/**
 * elf_image_dynamic() - read the dynamic section of a shared object
 *
 * Pointers in @ret refer to the contents of the file. Return: 0; -ENOTSUP if there is no dynamic
 * section, or an unusual one.
 */
int elf_image_dynamic(const struct elf_image *image, struct elf_image_dynamic *ret,
		      struct error *err);

/**
 * elf_image_visit_relocations() - visit all unpacked relocations in the contents of the file
 * @visit: gets the file offset of a contiguous table of relocations, and their number
 *
 * Return: 0; -ENOTSUP if the format of the relocations is unusual.
 */
int elf_image_visit_relocations(const struct elf_image *image,
				void (*visit)(void *context, uint64_t offset, size_t count),
				void *context, struct error *err);

/**
 * elf_image_packs_relocations() - return true if packed relative relocations (DT_RELR) apply to the
 * @bytes bytes at @address, or cannot be read
 */
bool elf_image_packs_relocations(const struct elf_image *image, uint64_t address, uint64_t bytes);

/** elf_image_set_relocations() - set the address of the relocations. Return: 0; -ENOTSUP if the
 * dynamic section has no room for the entries. */
int elf_image_set_relocations(struct elf_image *image, uint64_t address, size_t bytes,
			      struct error *err);

/** struct elf_image_addition - parts that are added to an image. */
struct elf_image_addition {
	const uint8_t *code; /* loaded readable and executable */
	size_t code_bytes;
	const uint8_t *data; /* loaded readable and writable */
	size_t data_bytes;
	uint64_t zero_bytes;   /* after @data, in memory only */
	const char *note_name; /* name of a section that the program does not use */
	const uint8_t *note;
	size_t note_bytes;
};

/** elf_image_code_address() - return the address of the added code. */
uint64_t elf_image_code_address(const struct elf_image *image);

/** elf_image_data_address() - return the address of the added data, after @code_bytes of code. */
uint64_t elf_image_data_address(const struct elf_image *image, size_t code_bytes);

/**
 * elf_image_write() - write the new file atomically, with the permissions of the original
 * @path: may be the path of the original file
 *
 * Return: 0, or an error of open(2), write(2), rename(2); -ENOMEM.
 */
int elf_image_write(const struct elf_image *image, const struct elf_image_addition *addition,
		    const char *path, struct error *err);

#endif
