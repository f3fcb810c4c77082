// SPDX-License-Identifier: GPL-2.0-only
/* Matching: backtracking patterns, a substring search with shifts, wildcards, a DFA. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT 30000

static char text[TEXT + 1];
static uint32_t seed = 11;

static void text_make(void)
{
	for (int i = 0; i < TEXT; i++) {
		seed = seed * 1664525U + 1013904223U;
		text[i] = (seed >> 28) == 0 ? '\n' : (char)('a' + (seed >> 20) % 17);
	}
	text[TEXT] = '\0';
}

static int match_here(const char *re, const char *s);

static int match_star(int c, const char *re, const char *s)
{
	do {
		if (match_here(re, s))
			return 1;
	} while (*s != '\0' && (*s++ == c || c == '.'));
	return 0;
}

/* c, ., c*, $ */
static int match_here(const char *re, const char *s)
{
	if (re[0] == '\0')
		return 1;
	if (re[1] == '*')
		return match_star(re[0], re + 2, s);
	if (re[0] == '$' && re[1] == '\0')
		return *s == '\0' || *s == '\n';
	if (*s != '\0' && *s != '\n' && (re[0] == '.' || re[0] == *s))
		return match_here(re + 1, s + 1);
	return 0;
}

static int count_matches(const char *re)
{
	int n = 0;

	for (const char *s = text; *s != '\0'; s++)
		n += match_here(re, s);
	return n;
}

static int horspool(const char *needle)
{
	size_t n = strlen(needle), at = 0;
	size_t shift[256];
	int found = 0;

	for (int i = 0; i < 256; i++)
		shift[i] = n;
	for (size_t i = 0; i + 1 < n; i++)
		shift[(uint8_t)needle[i]] = n - 1 - i;
	while (at + n <= TEXT) {
		size_t k = n;

		while (k > 0 && text[at + k - 1] == needle[k - 1])
			k--;
		if (k == 0)
			found++;
		at += shift[(uint8_t)text[at + n - 1]];
	}
	return found;
}

static int wild(const char *p, const char *s)
{
	for (; *p != '\0'; p++, s++) {
		if (*p == '*') {
			while (p[1] == '*')
				p++;
			for (; *s != '\0' && *s != '\n'; s++) {
				if (wild(p + 1, s))
					return 1;
			}
			return wild(p + 1, s);
		}
		if (*s == '\0' || *s == '\n' || (*p != '?' && *p != *s))
			return 0;
	}
	return *s == '\0' || *s == '\n';
}

/* Match lines with an a, later a b or c, later a d. */
static int automaton(void)
{
	int state = 0, found = 0;

	for (const char *s = text; *s != '\0'; s++) {
		switch (*s) {
		case 'a':
			state = state == 0 ? 1 : state;
			break;
		case 'b':
		case 'c':
			state = state == 1 ? 2 : state;
			break;
		case 'd':
			state = state == 2 ? 3 : state;
			break;
		case '\n':
			found += state == 3;
			state = 0;
			break;
		default:
			break;
		}
	}
	return found;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	long sum = 0;

	for (int r = 0; r < rounds; r++) {
		text_make();
		sum += count_matches("ab*c.d") + count_matches("a.*bcd$");
		sum += horspool("abcab") + horspool("hello") + automaton();
		for (const char *s = text; s; s = strchr(s, '\n') ? strchr(s, '\n') + 1 : NULL)
			sum += wild("*a?c*d*", s);
	}
	printf("%ld\n", sum);
	return 0;
}
