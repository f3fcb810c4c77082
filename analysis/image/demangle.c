// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

#define OPTIONS (DMGL_PARAMS | DMGL_ANSI)

/* The demangler's use of stack grows with the name. */
#define MANGLED_BYTES_MAX 8192

/*
 * Mangled names may refer to their parts repeatedly: a few hundred bytes can expand to gigabytes.
 */
#define READABLE_BYTES_MAX 32768

struct readable {
	jmp_buf too_long;
	size_t bytes;
	char text[READABLE_BYTES_MAX];
};

/*
 * Return the procedure in gfortran's "__module_MOD_procedure", or NULL if it is not such a name.
 * Only "_MOD_" and suffixes from the compiler contain upper-case letters.
 */
static const char *fortran_procedure(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
	static const char mark[] = "MOD_";
	const char *end;

	if (strncmp(name, "__", 2) != 0 || name[2] == '\0' || strchr(letters, name[2]) == NULL)
		return NULL;
	end = name + 2 + strspn(name + 2, "abcdefghijklmnopqrstuvwxyz0123456789_.$");
	if (end[-1] != '_' || strncmp(end, mark, sizeof(mark) - 1) != 0)
		return NULL;
	end += sizeof(mark) - 1;
	return *end != '.' && *end != '\0' ? end : NULL;
}

/* "camlModule__name_123"; names of the runtime begin with "caml_". */
static bool is_ocaml(const char *name)
{
	return strncmp(name, "caml", 4) == 0 && name[4] >= 'A' && name[4] <= 'Z';
}

/*
 * Return the type arguments of an instance of a Go function, with brackets: "main.(*T[int]).Fill".
 * Return: NULL if it is not such a name.
 */
static const char *go_arguments(const char *name)
{
	const char *open = strchr(name, '['), *dot = strchr(name, '.');
	const char *close = open != NULL ? strrchr(open, ']') : NULL;

	if (close == NULL || dot == NULL || dot > open || open[-1] == '.' ||
	    (!isalnum((unsigned char)open[-1]) && open[-1] != '_' &&
	     !((unsigned char)open[-1] & 0x80)))
		return NULL;
	if ((size_t)(open - name) != strcspn(name, " [") || strchr(").-", close[1]) == NULL)
		return NULL;
	return open;
}

/* Return the suffix of Go functions with the calling convention of assembler code, or NULL. */
static const char *go_suffix(const char *name)
{
	static const char suffix[] = ".abi0";
	size_t bytes = strlen(name), end = sizeof(suffix) - 1;

	return bytes > end && strcmp(name + bytes - end, suffix) == 0 ? name + bytes - end : NULL;
}

bool demangle_is_mangled(const char *name)
{
	return strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0 || is_ocaml(name) ||
	       fortran_procedure(name) != NULL || go_arguments(name) != NULL ||
	       go_suffix(name) != NULL;
}

static void demangle_append(const char *part, size_t bytes, void *to)
{
	struct readable *readable = to;

	/*
	 * The only way to stop a demangler; its own memory is at most the letters of one
	 * identifier.
	 */
	if (bytes >= sizeof(readable->text) - readable->bytes)
		longjmp(readable->too_long, 1);
	if (bytes > 0) /* @part may be NULL */
		memcpy(readable->text + readable->bytes, part, bytes);
	readable->bytes += bytes;
	readable->text[readable->bytes] = '\0';
}

/* "module::procedure", as in DWARF and gdb; the suffix of gcc's clones is shown as for C++. */
static void append_fortran(struct readable *readable, const char *mangled, const char *procedure)
{
	size_t bytes = strcspn(procedure, ".");

	demangle_append(mangled + 2, (size_t)(procedure - mangled) - sizeof("___MOD_") + 1,
			readable);
	demangle_append("::", 2, readable);
	demangle_append(procedure, bytes, readable);
	if (procedure[bytes] == '\0')
		return;
	demangle_append(" [clone ", 8, readable);
	demangle_append(procedure + bytes, strlen(procedure + bytes), readable);
	demangle_append("]", 1, readable);
}

/* Decode a character of an operator: "$2b"; letters and digits are never encoded. */
static bool take_sign(const char *mangled, char *ret)
{
	unsigned int sign;

	if (!isxdigit((unsigned char)mangled[1]) || !isxdigit((unsigned char)mangled[2]) ||
	    sscanf(mangled, "$%2x", &sign) != 1 || sign >= 0x7f || !ispunct((int)sign))
		return false;
	*ret = (char)sign;
	return true;
}

/* "Module.name_123", as in perf: the number distinguishes functions of the same name. */
static void append_ocaml(struct readable *readable, const char *mangled)
{
	char sign;

	for (const char *p = mangled + 4; *p != '\0';) {
		if (strncmp(p, "__", 2) == 0) {
			demangle_append(".", 1, readable);
			p += 2;
		} else if (*p == '$' && take_sign(p, &sign)) {
			demangle_append(&sign, 1, readable);
			p += 3;
		} else {
			demangle_append(p++, 1, readable);
		}
	}
}

/* The name in the table of Go's runtime, so that stripped programs have the same names. */
static void append_go(struct readable *readable, const char *mangled)
{
	const char *arguments = go_arguments(mangled), *suffix = go_suffix(mangled);
	const char *end = suffix != NULL ? suffix : mangled + strlen(mangled), *rest = mangled;

	if (arguments != NULL) {
		demangle_append(mangled, (size_t)(arguments - mangled), readable);
		demangle_append("[...]", 5, readable);
		rest = strrchr(arguments, ']') + 1;
	}
	demangle_append(rest, (size_t)(end - rest), readable);
}

static bool make_readable(struct readable *readable, const char *mangled)
{
	const char *procedure = fortran_procedure(mangled);

	if (setjmp(readable->too_long) != 0)
		return false;
	readable->bytes = 0;
	if (procedure != NULL) {
		append_fortran(readable, mangled, procedure);
		return true;
	}
	if (is_ocaml(mangled)) {
		append_ocaml(readable, mangled);
		return true;
	}
	if (go_arguments(mangled) != NULL || go_suffix(mangled) != NULL) {
		append_go(readable, mangled);
		return true;
	}
	/* Rust first, because names of Rust's older scheme are also valid C++ names. */
	if (rust_demangle_callback(mangled, OPTIONS, demangle_append, readable))
		return true;
	readable->bytes = 0;
	return cplus_demangle_v3_callback(mangled, OPTIONS, demangle_append, readable) != 0;
}

char *demangle(const char *name)
{
	const char *suffix = strchr(name, '@');
	size_t bytes = suffix != NULL ? (size_t)(suffix - name) : strlen(name);
	_cleanup_free_ char *mangled = NULL;
	struct readable readable;
	char *result = NULL;

	if (!demangle_is_mangled(name) || bytes > MANGLED_BYTES_MAX)
		return NULL;
	mangled = strndup(name, bytes);
	if (mangled == NULL || !make_readable(&readable, mangled))
		return NULL;
	if (asprintf(&result, "%s%s", readable.text, suffix != NULL ? suffix : "") < 0)
		return NULL;
	return result;
}
