/* SPDX-License-Identifier: GPL-2.0-only */
/* The code of a program or library, for tests that need a large amount of code. */
#ifndef DCPI_TESTS_ELF_TEXT_H
#define DCPI_TESTS_ELF_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** struct elf_text - section .text of a 64-bit ELF file */
struct elf_text {
	const uint8_t *code;
	size_t bytes;
	uint64_t address;
	uint16_t machine;
	void *map;
	size_t map_bytes;
};

/** elf_text_open() - Return: false if the file does not exist or is not supported */
bool elf_text_open(struct elf_text *text, const char *path);
void elf_text_close(struct elf_text *text);

#endif
