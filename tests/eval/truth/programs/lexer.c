// SPDX-License-Identifier: GPL-2.0-only
/* Split generated C into tokens: a state machine in one switch. */
#include "tests/eval/truth/programs/program.h"

#define BYTES 250000

enum state {
	BETWEEN,
	NAME,
	DIGITS,
	HEX,
	TEXT,
	ESCAPE,
	SLASH,
	LINE,
	BLOCK,
	STAR,
	OPERATOR
};

static char source[BYTES + 128];
static uint32_t tokens[OPERATOR + 1];

static void source_make(uint64_t seed)
{
	static const char *const pieces[] = {
		"int x",     "return ", "0x7f ",  "1234 ", "\"a \\\" b\" ", "/* note **/ ",
		"// rest\n", "if (",	") {\n",  "}\n",   " += ",	    "->",
		"while (",   "name_",	"a / b ", ";\n",   "<<= ",
	};
	size_t at = 0;

	while (at < BYTES) {
		const char *p = pieces[program_random(&seed) % (sizeof(pieces) / sizeof(*pieces))];

		while (*p)
			source[at++] = *p++;
	}
	source[at] = '\0';
}

static int letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int digit(char c)
{
	return c >= '0' && c <= '9';
}

static enum state begin(char c)
{
	switch (c) {
	case ' ':
	case '\n':
	case '\t':
		return BETWEEN;
	case '"':
		return TEXT;
	case '/':
		return SLASH;
	default:
		return letter(c) ? NAME : digit(c) ? DIGITS : OPERATOR;
	}
}

__attribute__((noipa)) static enum state next(enum state state, char c)
{
	switch (state) {
	case NAME:
		return letter(c) || digit(c) ? NAME : begin(c);
	case DIGITS:
		return c == 'x' ? HEX : digit(c) ? DIGITS : begin(c);
	case HEX:
		return digit(c) || (c >= 'a' && c <= 'f') ? HEX : begin(c);
	case TEXT:
		return c == '"' ? BETWEEN : c == '\\' ? ESCAPE : TEXT;
	case ESCAPE:
		return TEXT;
	case SLASH:
		return c == '/' ? LINE : c == '*' ? BLOCK : begin(c);
	case LINE:
		return c == '\n' ? BETWEEN : LINE;
	case BLOCK:
		return c == '*' ? STAR : BLOCK;
	case STAR:
		return c == '/' ? BETWEEN : c == '*' ? STAR : BLOCK;
	case OPERATOR:
	case BETWEEN:
		return begin(c);
	}
	return BETWEEN;
}

__attribute__((noipa)) static void scan(const char *at)
{
	enum state state = BETWEEN;

	for (; *at; at++) {
		enum state now = next(state, *at);

		if (now != state)
			tokens[now]++;
		state = now;
	}
}

int main(int argc, char **argv)
{
	unsigned int rounds = program_rounds(argc, argv, 8);
	uint64_t sum = 0;

	for (unsigned int i = 0; i < rounds; i++) {
		source_make(i % 2);
		scan(source);
	}
	for (int i = 0; i <= OPERATOR; i++)
		sum = sum * 31 + tokens[i];
	return program_end(sum);
}
