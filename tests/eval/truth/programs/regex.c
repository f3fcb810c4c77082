// SPDX-License-Identifier: GPL-2.0-only
/* Regular expressions by backtracking (Kernighan and Pike's, with classes), applied to lines. */
#include "tests/eval/truth/programs/program.h"

#define LINES 3000
#define WIDTH 64

static char lines[LINES][WIDTH];

static const char *const patterns[] = {"^a.*b.*c$", "ab*c.d", "x.*y.*z", "[abc][xyz]*q", "^.a.b"};

static int match_here(const char *re, const char *text);

static size_t item_length(const char *re)
{
	size_t n = 1;

	if (*re != '[')
		return 1;
	while (re[n] && re[n] != ']')
		n++;
	return n + 1;
}

__attribute__((noipa)) static int item_matches(const char *re, char c)
{
	if (c == '\0')
		return 0;
	if (*re == '.')
		return 1;
	if (*re != '[')
		return *re == c;
	for (re++; *re && *re != ']'; re++) {
		if (*re == c)
			return 1;
	}
	return 0;
}

static int match_star(const char *item, const char *re, const char *text)
{
	do {
		if (match_here(re, text))
			return 1;
	} while (item_matches(item, *text++));
	return 0;
}

static int match_here(const char *re, const char *text)
{
	size_t item;

	if (*re == '\0')
		return 1;
	if (re[0] == '$' && re[1] == '\0')
		return *text == '\0';
	item = item_length(re);
	if (re[item] == '*')
		return match_star(re, re + item + 1, text);
	return item_matches(re, *text) ? match_here(re + item, text + 1) : 0;
}

__attribute__((noipa)) static int match(const char *re, const char *text)
{
	if (*re == '^')
		return match_here(re + 1, text);
	do {
		if (match_here(re, text))
			return 1;
	} while (*text++);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int rounds = program_rounds(argc, argv, 2);
	uint64_t seed = 5, sum = 0;

	for (int i = 0; i < LINES; i++) {
		for (int k = 0; k < WIDTH - 1; k++)
			lines[i][k] = "abcdxyzqaabb"[program_random(&seed) % 12];
	}
	while (rounds-- > 0) {
		for (int i = 0; i < LINES; i++) {
			for (size_t p = 0; p < sizeof(patterns) / sizeof(*patterns); p++)
				sum = sum * 3 + (uint64_t)match(patterns[p], lines[i]);
		}
	}
	return program_end(sum);
}
