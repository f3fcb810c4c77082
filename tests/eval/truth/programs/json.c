// SPDX-License-Identifier: GPL-2.0-only
/* Write a JSON document, and parse it into a tree. */
#include <string.h>

#include "tests/eval/truth/programs/program.h"

#define ROOM 300000

enum kind {
	NUMBER,
	STRING,
	ARRAY,
	OBJECT,
	LITERAL
};

struct value {
	enum kind kind;
	uint32_t length;
	int64_t number;
	struct value *child;
	struct value *next;
};

static char document[ROOM];
static struct value pool[60000];
static size_t used;

static char *write_value(char *at, uint64_t *seed, int depth)
{
	uint32_t kind = program_random(seed) % (depth > 0 ? 6 : 3), n = program_random(seed) % 7;

	if (kind == 0)
		return at + sprintf(at, "%d", (int)(program_random(seed) % 100000) - 50000);
	if (kind == 1)
		return at + sprintf(at, "\"text %u\\n\"", program_random(seed) % 1000);
	if (kind == 2)
		return at + sprintf(at, "%s", n & 1 ? "true" : "null");
	*at++ = kind & 1 ? '[' : '{';
	for (uint32_t i = 0; i < n + 2; i++) {
		if (i > 0)
			at = strcpy(at, ", ") + 2;
		if ((kind & 1) == 0)
			at += sprintf(at, "\"key%u\": ", i);
		at = write_value(at, seed, depth - 1);
	}
	*at++ = kind & 1 ? ']' : '}';
	return at;
}

static const char *parse(const char *at, struct value **ret);

__attribute__((noipa)) static const char *blanks(const char *at)
{
	while (*at == ' ' || *at == '\n' || *at == '\t')
		at++;
	return at;
}

__attribute__((noipa)) static const char *parse_string(const char *at, struct value *v)
{
	const char *start = ++at;

	while (*at != '"' && *at) {
		if (*at == '\\')
			at++;
		at++;
	}
	v->kind = STRING;
	v->length = (uint32_t)(at - start);
	return at + 1;
}

__attribute__((noipa)) static const char *parse_number(const char *at, struct value *v)
{
	int negative = *at == '-';

	v->kind = NUMBER;
	for (at += negative; *at >= '0' && *at <= '9'; at++)
		v->number = v->number * 10 + (*at - '0');
	if (negative)
		v->number = -v->number;
	return at;
}

static const char *parse_many(const char *at, struct value *v, char end)
{
	struct value **tail = &v->child, key;

	v->kind = end == ']' ? ARRAY : OBJECT;
	for (at = blanks(at + 1); *at && *at != end; at = blanks(at)) {
		if (v->kind == OBJECT) {
			at = blanks(parse_string(at, &key));
			at = blanks(at + 1);
		}
		at = blanks(parse(at, tail));
		tail = &(*tail)->next;
		v->length++;
		if (*at == ',')
			at++;
	}
	return at + 1;
}

static const char *parse(const char *at, struct value **ret)
{
	struct value *v = &pool[used++ % (sizeof(pool) / sizeof(*pool))];

	memset(v, 0, sizeof(*v));
	*ret = v;
	switch (*at) {
	case '{':
		return parse_many(at, v, '}');
	case '[':
		return parse_many(at, v, ']');
	case '"':
		return parse_string(at, v);
	case 't':
	case 'n':
		v->kind = LITERAL;
		return at + 4;
	default:
		return parse_number(at, v);
	}
}

static uint64_t sum_of(const struct value *v)
{
	uint64_t sum = 0;

	for (; v; v = v->next)
		sum = sum * 31 + v->kind + v->length + (uint64_t)v->number + sum_of(v->child);
	return sum;
}

int main(int argc, char **argv)
{
	unsigned int rounds = program_rounds(argc, argv, 40);
	uint64_t seed = 37, sum = 0;
	char *at = document;

	*at++ = '[';
	while (at < document + ROOM / 3) {
		at = write_value(at, &seed, 4);
		*at++ = ',';
	}
	strcpy(at, "0]");
	while (rounds-- > 0) {
		struct value *root;

		used = 0;
		parse(document, &root);
		sum = sum * 31 + sum_of(root) + used;
	}
	return program_end(sum);
}
