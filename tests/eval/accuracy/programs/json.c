// SPDX-License-Identifier: GPL-2.0-only
/* A recursive-descent parser with allocation, a printer, and a search tree of the keys. */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT 40000

struct value {
	struct value *child, *next;
	char *name;
	double number;
	int type;
};

struct key {
	struct key *left, *right;
	int uses;
	char name[24];
};

static char text[TEXT + 64];
static uint32_t seed = 21;
static struct key *keys;

static uint32_t draw(void)
{
	seed = seed * 1664525U + 1013904223U;
	return seed >> 10;
}

static char *write_value(char *at, int depth)
{
	uint32_t kind = depth > 5 ? draw() % 2 : draw() % 4;

	if (at - text > TEXT - 500)
		kind = 0;
	if (kind == 0)
		return at + sprintf(at, "%d", (int)(draw() % 100000) - 3000);
	if (kind == 1)
		return at + sprintf(at, "\"text %u\\n\"", draw() % 300);
	*at++ = kind == 2 ? '[' : '{';
	for (uint32_t i = 0, n = 2 + draw() % 6; i < n && at - text < TEXT - 400; i++) {
		if (i > 0)
			at = stpcpy(at, ", ");
		if (kind == 3)
			at += sprintf(at, "\"key%u\": ", draw() % 200);
		at = write_value(at, depth + 1);
	}
	*at++ = kind == 2 ? ']' : '}';
	*at = '\0';
	return at;
}

static const char *skip(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

static const char *parse_string(const char *s, char **ret)
{
	const char *end = s + 1;
	char *out;

	while (*end && *end != '"')
		end += *end == '\\' ? 2 : 1;
	out = *ret = malloc((size_t)(end - s));
	for (s++; s < end; s++)
		*out++ = *s == '\\' ? (*++s == 'n' ? '\n' : *s) : *s;
	*out = '\0';
	return end + 1;
}

static const char *parse(const char *s, struct value **ret)
{
	struct value *v = *ret = calloc(1, sizeof(*v)), **last = &v->child;

	s = skip(s);
	v->type = *s;
	if (*s == '"')
		return parse_string(s, &v->name);
	if (*s != '[' && *s != '{') {
		char *end;

		v->number = strtod(s, &end);
		return end > s ? end : s + 1;
	}
	s = skip(s + 1);
	while (*s && *s != ']' && *s != '}') {
		char *name = NULL;

		if (v->type == '{') {
			s = skip(parse_string(s, &name));
			s += *s == ':';
		}
		s = skip(parse(s, last));
		if (name) {
			free((*last)->name);
			(*last)->name = name;
		}
		last = &(*last)->next;
		s = skip(*s == ',' ? s + 1 : s);
	}
	return s + 1;
}

static void count_key(const char *name)
{
	struct key **at = &keys;

	while (*at) {
		int order = strcmp(name, (*at)->name);

		if (order == 0) {
			(*at)->uses++;
			return;
		}
		at = order < 0 ? &(*at)->left : &(*at)->right;
	}
	*at = calloc(1, sizeof(**at));
	snprintf((*at)->name, sizeof((*at)->name), "%s", name);
}

static double visit(const struct value *v, int depth)
{
	double sum = v->number * depth;

	for (const struct value *c = v->child; c; c = c->next) {
		if (c->name)
			count_key(c->name);
		sum += visit(c, depth + 1);
	}
	return sum;
}

static void release(struct value *v)
{
	while (v) {
		struct value *next = v->next;

		release(v->child);
		free(v->name);
		free(v);
		v = next;
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	double sum = 0;

	for (int r = 0; r < rounds; r++) {
		char *at = stpcpy(text, "[");
		struct value *v;

		while (at - text < TEXT - 1000)
			at = stpcpy(write_value(at, 0), ",\n");
		strcpy(at, "0]");
		for (int k = 0; k < 4; k++) {
			parse(text, &v);
			sum += visit(v, 1);
			release(v);
		}
	}
	printf("%.1f\n", sum);
	return 0;
}
