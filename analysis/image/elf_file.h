/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An ELF file open for reading.
 *
 * Files are read and never mapped, so that a file that shrinks causes an error and not a signal.
 * Only requested sections are read. Nothing in the file is trusted: libelf checks headers against
 * the file's size; the users of the data check the rest.
 */
#ifndef DCPI_ELF_FILE_H
#define DCPI_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gelf.h>

struct error;

/**
 * struct elf_file - closed if zero-initialised
 * @elf:     libelf's handle
 * @fd:      the file that libelf reads from, or -1
 * @bytes:   size of the file
 * @memory:  memory passed to elf_file_from_memory(), else NULL
 * @subject: for a file opened by path: its name for lib/parse_guard.h
 */
struct elf_file {
	Elf *elf;
	int fd;
	uint64_t bytes;
	void *memory;
	const char *subject;
};

/**
 * elf_file_open() - open a file
 * @ret: out; closed by elf_file_close()
 *
 * Return: 0; -ENOEXEC if it is not a regular file, or not ELF; -ENOTRECOVERABLE if an earlier
 * attempt of this report to parse it failed; else the error of open(2).
 */
int elf_file_open(struct elf_file *ret, const char *path, struct error *err);

/**
 * elf_file_from_fd() - use an open file
 * @fd: ownership is transferred, also on failure
 *
 * Return: 0, or -ENOEXEC.
 */
int elf_file_from_fd(struct elf_file *ret, int fd, uint64_t bytes);

/**
 * elf_file_from_memory() - open an ELF file in memory
 * @memory: malloc'd; ownership is transferred, also on failure
 *
 * Return: 0, or -ENOEXEC.
 */
int elf_file_from_memory(struct elf_file *ret, void *memory, size_t bytes);

/** elf_file_close() - free all resources. A closed one is fine. */
void elf_file_close(struct elf_file *file);

/** elf_file_has_sections() - return true if there are section headers. */
bool elf_file_has_sections(const struct elf_file *file);

/**
 * elf_file_section() - find a section by name
 * @header: out
 *
 * Return: the section, or NULL if it does not exist.
 */
Elf_Scn *elf_file_section(const struct elf_file *file, const char *name, GElf_Shdr *header);

/**
 * elf_file_contents() - return the bytes of a section, as in the file
 * @address: out: address in memory
 *
 * Return: owned by libelf, valid while the file is open; NULL if there are no bytes.
 */
Elf_Data *elf_file_contents(const struct elf_file *file, const char *name, uint64_t *address);

/** elf_file_section_name() - return a section's name; "" if it has no readable name. */
const char *elf_file_section_name(const struct elf_file *file, const GElf_Shdr *header);

/**
 * elf_file_build_id() - find the NT_GNU_BUILD_ID note
 * @id: out: the bytes, valid while the file is open
 *
 * Return: its length, 0 if there is none.
 */
size_t elf_file_build_id(const struct elf_file *file, const uint8_t **id);

#endif
