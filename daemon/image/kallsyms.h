/* SPDX-License-Identifier: GPL-2.0-only */
/* Reader of /proc/kallsyms. */
#ifndef DCPI_KALLSYMS_H
#define DCPI_KALLSYMS_H

#include <stdbool.h>
#include <stdint.h>

struct error;

/**
 * struct kallsyms_symbol - a symbol; strings are valid during the call
 * @address: 0 if the kernel hides it (kptr_restrict)
 * @type:    as in nm(1)
 * @module:  module, or another owner of memory ("bpf", "__builtin__ftrace");
 *           "" for the kernel's own
 */
struct kallsyms_symbol {
	uint64_t address;
	char type;
	const char *name;
	const char *module;
};

typedef void (*kallsyms_fn)(void *context, const struct kallsyms_symbol *symbol);

/**
 * kallsyms_walk() - visit all symbols; takes some 50 ms
 *
 * Return: 0, or the error of opening or reading @path.
 */
int kallsyms_walk(const char *path, kallsyms_fn visit, void *context, struct error *err);

/** kallsyms_is_text() - return true if a symbol is code. */
bool kallsyms_is_text(const struct kallsyms_symbol *symbol);

#endif
