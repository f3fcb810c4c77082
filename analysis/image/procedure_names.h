/* SPDX-License-Identifier: GPL-2.0-only */
/* The names of a procedure in reports. */
#ifndef DCPI_PROCEDURE_NAMES_H
#define DCPI_PROCEDURE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct procedure_table;

/**
 * struct procedure_names - freed by procedure_names_deinit()
 * @name:    with the version, where there is one: "api@V1", "Zed::drain(long)"
 * @note:    text that a row shows after the name, may be empty: " (a.c)" if other procedures of the
 *           image have the same name, and " (+1 alias)"
 * @aliases: other names of the same code, each once and none equal to @name
 * @list:    @aliases as one text: "a; b"
 */
struct procedure_names {
	char *name;
	char *note;
	char **aliases;
	size_t alias_count;
	char *list;
};

/**
 * procedure_names_make() - name a procedure
 * @readable: use demangled names
 *
 * Return: 0 or -ENOMEM, with @ret empty.
 */
int procedure_names_make(struct procedure_names *ret, const struct procedure_table *table,
			 size_t index, bool readable);

void procedure_names_deinit(struct procedure_names *names);

#endif
