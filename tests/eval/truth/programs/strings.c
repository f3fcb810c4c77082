// SPDX-License-Identifier: GPL-2.0-only
/* String functions, as in a libc without assembly. */
#include "tests/eval/truth/programs/program.h"

#define TEXT 60000

static char text[TEXT + 1], other[TEXT + 1];

__attribute__((noipa)) static size_t length(const char *s)
{
	const char *p = s;

	while (*p)
		p++;
	return (size_t)(p - s);
}

__attribute__((noipa)) static const char *find(const char *in, const char *what, size_t n)
{
	for (; *in; in++) {
		size_t i = 0;

		while (i < n && in[i] == what[i])
			i++;
		if (i == n)
			return in;
	}
	return NULL;
}

__attribute__((noipa)) static void upper(char *to, const char *from)
{
	do {
		char c = *from;

		*to++ = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
	} while (*from++);
}

__attribute__((noipa)) static void reverse(char *s, size_t n)
{
	for (size_t i = 0, j = n; i + 1 < j; i++) {
		char c = s[i];

		s[i] = s[--j];
		s[j] = c;
	}
}

__attribute__((noipa)) static uint64_t numbers(const char *s)
{
	uint64_t sum = 0, value = 0;

	for (; *s; s++) {
		if (*s >= '0' && *s <= '9') {
			value = value * 10 + (uint64_t)(*s - '0');
		} else {
			sum += value;
			value = 0;
		}
	}
	return sum + value;
}

int main(int argc, char **argv)
{
	unsigned int rounds = program_rounds(argc, argv, 20);
	uint64_t seed = 31, sum = 0;

	for (int i = 0; i < TEXT; i++)
		text[i] = "etaoin shrdlu 0123456789"[program_random(&seed) % 24];
	while (rounds-- > 0) {
		const char *at = text;

		while ((at = find(at, "ta0", 3))) {
			sum += (uint64_t)(at - text);
			at++;
		}
		upper(other, text);
		reverse(text, length(text));
		sum = sum * 31 + numbers(other) + length(other);
	}
	return program_end(sum);
}
