// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_names.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/demangle.h"
#include "lib/cleanup.h"

static bool in_identifier(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/*
 * Return the length of "operator()", "operator<<" and similar at @p, whose brackets do not enclose
 * anything; else 0.
 */
static size_t operator_bytes(const char *name, const char *p)
{
	static const char word[] = "operator";
	size_t length = sizeof(word) - 1;

	if (strncmp(p, word, length) != 0 || (p > name && in_identifier(p[-1])) ||
	    in_identifier(p[length]))
		return 0;
	if (strncmp(p + length, "()", 2) == 0 || strncmp(p + length, "[]", 2) == 0)
		return length + 2;
	length += strspn(p + length, "<>=-");
	/* The rest of "operator< <int>" is an argument list. */
	return length;
}

/*
 * Return the position after the group that the bracket at @p, one of "<([{", opens, or the end of
 * the name if the group is not closed.
 */
static const char *skip_group(const char *name, const char *p)
{
	bool angle = *p == '<';
	size_t depth = 0, inner = 0; /* of these brackets; of "(" inside "<" */
	const char *pair = strchr("()<>[]{}", *p);
	char open = pair[0], close = pair[1];

	for (; *p != '\0'; p++) {
		size_t sign = operator_bytes(name, p);

		if (sign > 0)
			p += sign - 1;
		else if (angle && strncmp(p, "->", 2) == 0)
			p++; /* as in Rust's "fn(u8) -> u8" */
		else if (angle && *p == '(')
			inner++;
		else if (angle && *p == ')' && inner > 0)
			inner--;
		else if (inner == 0 && *p == open)
			depth++;
		else if (inner == 0 && *p == close && --depth == 0)
			return p + 1;
	}
	return p;
}

/*
 * Return the start of the parameters: the last parentheses that are not inside others and not
 * followed by "::", as in "(anonymous namespace)::f" and "f(int)::local". Without parameters,
 * return the end.
 */
static const char *find_parameters(const char *name)
{
	const char *found = NULL, *p = name;

	while (*p != '\0') {
		size_t sign = operator_bytes(name, p);

		if (sign > 0) {
			p += sign;
		} else if (strchr("<([{", *p) != NULL) {
			const char *end = skip_group(name, p);

			if (*p == '(')
				found = p;
			p = end;
		} else {
			if (p[0] == ':' && p[1] == ':')
				found = NULL;
			p++;
		}
	}
	return found != NULL ? found : p;
}

/* Skip the return type, which the demangler prints only for instances of templates. */
static const char *skip_returned(const char *name)
{
	const char *end = find_parameters(name), *start = name, *p = name;

	if (*end == '\0' || end == name || end[-1] != '>')
		return name;
	while (p < end) {
		size_t sign = operator_bytes(name, p);

		if (sign > 0)
			break;
		if (strchr("<([{", *p) != NULL) {
			p = skip_group(name, p);
			continue;
		}
		if (*p++ == ' ')
			start = p;
	}
	return start;
}

/*
 * Return true at the end of a name, or before the note of a compiler-made variant: "f(int) [clone
 * .cold]".
 */
static bool is_end(const char *p)
{
	return *p == '\0' || strncmp(p, " [clone ", 8) == 0;
}

/*
 * Return true if the name at @p is the name that a user gave. The user may omit template arguments,
 * ABI tags, parameters, and the note of a compiler-made variant.
 */
static bool is_name_of(const char *readable, const char *p, const char *wanted)
{
	const char *parameters = find_parameters(readable);

	for (;;) {
		size_t sign = operator_bytes(readable, p);

		if (sign > 0) {
			if (strncmp(p, wanted, sign) != 0)
				return false;
			p += sign;
			wanted += sign;
		} else if (p[0] == ' ' && p[1] == '<' && *wanted != ' ') {
			p++;
		} else if (strncmp(p, "::<", 3) == 0 && strncmp(wanted, "::<", 3) != 0) {
			p += 2; /* Rust's notation of generic functions' arguments */
		} else if ((*p == '<' || *p == '[') && *wanted != *p) {
			p = skip_group(readable, p);
		} else if (*wanted == '\0') {
			return is_end(p) || (p == parameters && strchr(p, '@') == NULL);
		} else if (*p++ != *wanted++) {
			return false;
		}
	}
}

/*
 * Rust's newer mangling scheme has "<a::T<u8>>::f" for methods of no trait; the source, and the
 * older scheme, have "a::T<u8>::f". Return: the latter form, malloc'd, or NULL for other names.
 */
static char *without_type_brackets(const char *readable)
{
	const char *end, *p = readable + 1;
	char *result;

	if (readable[0] != '<' || !in_identifier(readable[1]))
		return NULL;
	end = skip_group(readable, readable);
	if (*end == '\0')
		return NULL;
	while (p < end && *p != ' ')
		p = *p == '<' ? skip_group(readable, p) : p + 1;
	if (p < end) /* " as a::Trait" */
		return NULL;
	return asprintf(&result, "%.*s%s", (int)(end - readable) - 2, readable + 1, end) < 0
		       ? NULL
		       : result;
}

static bool demangled_is(const char *name, const char *wanted)
{
	_cleanup_free_ char *readable = demangle(name), *plain = NULL;

	if (readable == NULL)
		return false;
	if (is_name_of(readable, readable, wanted) ||
	    is_name_of(readable, skip_returned(readable), wanted))
		return true;
	plain = without_type_brackets(readable);
	return plain != NULL && is_name_of(plain, plain, wanted);
}

/*
 * Return true if the compiler derived the procedure from the wanted one: name.constprop.0,
 * name.isra.0, ...
 */
static bool is_made_of(const char *name, const char *wanted)
{
	size_t length = strlen(wanted);

	return strncmp(name, wanted, length) == 0 && name[length] == '.';
}

/*
 * Return true for words that mangled names abbreviate (Sa, Ss, So, ...), and for OCaml's names with
 * operator characters.
 */
static bool is_abbreviated(const char *word)
{
	static const char *const words[] = {"allocator", "string", "istream", "ostream",
					    "iostream"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return strncmp(word, "basic_", 6) == 0 || strchr(word, '$') != NULL;
}

/*
 * Find a word that the mangled name contains unchanged: the last identifier before the parameters.
 * Earlier ones may be abbreviated if they are types or qualifiers; operators have no such word.
 */
static void find_word(const char *text, char word[64])
{
	const char *end = find_parameters(text), *start, *p = text;
	const char *arguments = end;

	word[0] = '\0';
	if (strstr(text, "operator") != NULL)
		return;
	while (p < end) {
		bool angle = *p == '<';
		const char *from = p;

		p = strchr("<([{", *p) != NULL ? skip_group(text, p) : p + 1;
		if (angle && p == end)
			arguments = from;
	}
	for (start = arguments; start > text && in_identifier(start[-1]);)
		start--;
	if (start == arguments || (size_t)(arguments - start) >= 64)
		return;
	memcpy(word, start, (size_t)(arguments - start));
	word[arguments - start] = '\0';
	if (is_abbreviated(word))
		word[0] = '\0';
}

const char *calc_name_colon(const char *operand)
{
	const char *p = operand;

	while (*p != '\0') {
		size_t sign = operator_bytes(operand, p);

		if (sign > 0) {
			p += sign;
		} else if (strchr("<([{", *p) != NULL) {
			const char *end = skip_group(operand, p);

			/* A path may contain a bracket that is never closed. */
			p = *end == '\0' && strchr(">)]}", end[-1]) == NULL ? p + 1 : end;
		} else if (p[0] != ':') {
			p++;
		} else if (p[1] != ':') {
			return p;
		} else {
			p += 2;
		}
	}
	return NULL;
}

struct calc_name calc_name_make(const char *text)
{
	struct calc_name name = {.text = text};

	find_word(text, name.word);
	return name;
}

bool calc_name_means(const struct calc_name *wanted, const char *name)
{
	return is_made_of(name, wanted->text) ||
	       (demangle_is_mangled(name) && strstr(name, wanted->word) != NULL &&
		demangled_is(name, wanted->text));
}
