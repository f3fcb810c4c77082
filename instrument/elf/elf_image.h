/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An x86-64 ELF executable or shared object that is being rewritten: what was there stays where it
 * is, in the file and in memory; bytes of it may be changed, and two segments are added behind it,
 * one of code and constants and one of data. Section headers are rewritten at the end of the file,
 * with a section of our own that is not loaded.
 *
 * Nothing in the file is trusted.
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
/* The most program headers that are understood; and of segments that are added: code, data,
 * thread-local data, an index of frames. */
#define ELF_IMAGE_SEGMENTS_MAX 128
#define ELF_IMAGE_ADDED_MAX 4
/* Of what is added. */
#define ELF_IMAGE_ALIGN 64

static inline uint64_t elf_image_round_up(uint64_t value, uint64_t to)
{
	return (value + to - 1) / to * to;
}

/**
 * struct elf_image - zero-initialised is empty
 * @file:     its bytes
 * @segments: program headers, copies; room for those that are added
 * @dynamic:  it has an interpreter, or is a shared object
 * @shared:   a shared object
 * @pie:      it may be loaded anywhere
 * @tls:      index of PT_TLS in @segments, or -1
 * @template: what thread-local data begin as, once they were widened: by @template_added bytes,
 *            before those at @template_old
 * @bias:     address less offset in the file, of the first segment and those added
 * @end:      where those that are added begin, a multiple of a page
 * @mode:     of the file
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
 * Return: 0; -ENOEXEC no x86-64 ELF file with a program, or damaged; -ENOTSUP one that cannot be
 * rewritten (the message says why); errors of open(2); -ENOMEM.
 */
int elf_image_open(struct elf_image *ret, const char *path, struct error *err);

/** elf_image_close() - free. Zero-initialised is fine. */
void elf_image_close(struct elf_image *image);

/**
 * elf_image_at() - the bytes of an address, to be changed
 *
 * Return: NULL unless the file gives all @bytes bytes at @address to one segment.
 */
uint8_t *elf_image_at(const struct elf_image *image, uint64_t address, size_t bytes);

/** elf_image_has() - whether the file has @bytes bytes at @offset. */
bool elf_image_has(const struct elf_image *image, uint64_t offset, uint64_t bytes);

/**
 * elf_image_sections() - section headers, if they can be trusted
 * @names: out: bytes that sh_name is an offset in, @name_bytes of them
 *
 * Return: @count of them in the file's bytes; NULL: none, then @count is 0.
 */
const Elf64_Shdr *elf_image_sections(const struct elf_image *image, size_t *count,
				     const uint8_t **names, size_t *name_bytes);

/** elf_image_is_code() - whether an address is in an executable segment. */
bool elf_image_is_code(const struct elf_image *image, uint64_t address);

/** elf_image_is_writable() - whether the program may change what is at an address. */
bool elf_image_is_writable(const struct elf_image *image, uint64_t address);

/** elf_image_entry() - where the program begins; elf_image_set_entry() changes it. */
uint64_t elf_image_entry(const struct elf_image *image);
void elf_image_set_entry(struct elf_image *image, uint64_t address);

/**
 * elf_image_rename() - change the build-id, if it has one, so that nobody takes the
 * rewritten file for the one it was made of
 *
 * @seed: what is done to it: the same seed gives the same build-id
 */
void elf_image_rename(struct elf_image *image, uint64_t seed);

/**
 * elf_image_set_unwind_index() - say where the index of unwinding information is now
 *
 * Static programs have none and register their frames: they get one, which is looked at
 * for what was not registered.
 */
void elf_image_set_unwind_index(struct elf_image *image, uint64_t address, uint64_t bytes);

/**
 * elf_image_widen_tls() - give each thread 8 bytes more, which begin as zeros
 * @offset: out: where they are, relative to the thread pointer (negative); of shared objects,
 *          behind the beginning of their own variables
 *
 * Offsets of all other thread-local variables stay as they are.
 *
 * Return: 0, -ENOTSUP or -ENOMEM.
 */
int elf_image_widen_tls(struct elf_image *image, int64_t *offset, struct error *err);

/** struct elf_image_dynamic - what the loader does for an image, as the rewriter needs it. */
struct elf_image_dynamic {
	const char *name; /* its own, or NULL */
	const uint8_t *relocations;
	size_t relocation_bytes;
};

/**
 * elf_image_dynamic() - of a shared object
 *
 * Pointers are into the file's bytes. Return: 0; -ENOTSUP it has none, or unusual ones.
 */
int elf_image_dynamic(const struct elf_image *image, struct elf_image_dynamic *ret,
		      struct error *err);

/**
 * elf_image_visit_relocations() - all that the loader does, in the file's bytes
 * @visit: where in the file a relocation is, and how often: as many bytes follow each other
 *
 * Return: 0; -ENOTSUP where they are of an unusual shape.
 */
int elf_image_visit_relocations(const struct elf_image *image,
				void (*visit)(void *context, uint64_t offset, size_t count),
				void *context, struct error *err);

/**
 * elf_image_packs_relocations() - whether relative ones that are packed (DT_RELR) change
 * @bytes bytes at @address, or cannot be read
 */
bool elf_image_packs_relocations(const struct elf_image *image, uint64_t address, uint64_t bytes);

/** elf_image_set_relocations() - where they are now. Return: 0; -ENOTSUP no room to say so. */
int elf_image_set_relocations(struct elf_image *image, uint64_t address, size_t bytes,
			      struct error *err);

/** struct elf_image_addition - what is put behind an image. */
struct elf_image_addition {
	const uint8_t *code; /* read and executed */
	size_t code_bytes;
	const uint8_t *data; /* read and written */
	size_t data_bytes;
	uint64_t zero_bytes;   /* behind @data, in memory only */
	const char *note_name; /* a section, not loaded */
	const uint8_t *note;
	size_t note_bytes;
};

/** elf_image_code_address() - where the code that is added is going to be. */
uint64_t elf_image_code_address(const struct elf_image *image);

/** elf_image_data_address() - where data are going to be behind @code_bytes of code. */
uint64_t elf_image_data_address(const struct elf_image *image, size_t code_bytes);

/**
 * elf_image_write() - write the new file, mode as of the old one, whole or not at all
 * @path: may be that of the old file
 *
 * Return: 0, or an error of open(2), write(2), rename(2); -ENOMEM.
 */
int elf_image_write(const struct elf_image *image, const struct elf_image_addition *addition,
		    const char *path, struct error *err);

#endif
