// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image/kallsyms.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

/*
 * The kernel returns at most a page per read; the default buffer of 1 KiB takes twice the CPU time.
 */
#define BUFFER_BYTES 16384

/* Parse "ffffffff81000000 T _text" or "ffffffffc0201000 t f\t[module]" in place. */
static bool parse_line(char *line, struct kallsyms_symbol *symbol)
{
	char *position, *tab;

	line[strcspn(line, "\n")] = '\0';
	errno = 0;
	symbol->address = strtoull(line, &position, 16);
	if (errno != 0 || position == line || position[0] != ' ' || position[1] == '\0' ||
	    position[2] != ' ' || position[3] == '\0')
		return false;
	symbol->type = position[1];
	symbol->name = position + 3;
	symbol->module = "";
	tab = strchr(position + 3, '\t');
	if (tab != NULL) {
		size_t bytes = strlen(tab);

		if (tab == symbol->name || bytes < 3 || tab[1] != '[' || tab[bytes - 1] != ']')
			return false;
		tab[bytes - 1] = '\0';
		*tab = '\0';
		symbol->module = tab + 2;
	}
	return true;
}

int kallsyms_walk(const char *path, kallsyms_fn visit, void *context, struct error *err)
{
	_cleanup_file_ FILE *file = fopen(path, "re");
	_cleanup_free_ char *line = NULL;
	struct kallsyms_symbol symbol;
	size_t capacity = 0;

	if (file == NULL)
		return error_set_errno(err, ERROR_OPEN, path);
	/* If this fails, the file is read in small pieces. */
	setvbuf(file, NULL, _IOFBF, BUFFER_BYTES);
	while (getline(&line, &capacity, file) >= 0) {
		if (parse_line(line, &symbol))
			visit(context, &symbol);
	}
	return ferror(file) ? error_set(err, EIO, ERROR_READ, path) : 0;
}

bool kallsyms_is_text(const struct kallsyms_symbol *symbol)
{
	/* Weak functions are W; weak objects would be V. */
	return strchr("TtWw", symbol->type) != NULL;
}
