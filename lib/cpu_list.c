// SPDX-License-Identifier: GPL-2.0-only
#include "lib/cpu_list.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

static bool number_parse(const char **text, uint32_t *ret)
{
	uint32_t value = 0;

	if (!isdigit((unsigned char)**text))
		return false;
	for (; isdigit((unsigned char)**text); (*text)++) {
		value = value * 10 + (uint32_t)(**text - '0');
		if (value >= CPU_LIST_MAX)
			return false;
	}
	*ret = value;
	return true;
}

int cpu_list_parse(struct cpu_list *ret, const char *text)
{
	struct cpu_list list = {.bits = {0}};
	uint32_t first, last;

	while (*text != '\0' && *text != '\n') {
		if (!number_parse(&text, &first))
			return -EINVAL;
		last = first;
		if (*text == '-') {
			text++;
			if (!number_parse(&text, &last) || last < first)
				return -EINVAL;
		}
		for (; first <= last; first++)
			list.bits[first / 64] |= 1ULL << first % 64;
		if (*text == ',')
			text++;
		else if (*text != '\0' && *text != '\n')
			return -EINVAL;
	}
	*ret = list;
	return 0;
}

uint32_t cpu_list_end(const struct cpu_list *list)
{
	int i;

	for (i = CPU_LIST_MAX / 64 - 1; i >= 0; i--) {
		if (list->bits[i] != 0)
			return (uint32_t)(i + 1) * 64 - (uint32_t)__builtin_clzll(list->bits[i]);
	}
	return 0;
}

uint32_t cpu_list_count(const struct cpu_list *list)
{
	uint32_t count = 0;
	size_t i;

	for (i = 0; i < CPU_LIST_MAX / 64; i++)
		count += (uint32_t)__builtin_popcountll(list->bits[i]);
	return count;
}

int cpu_list_read(struct cpu_list *ret, int fd)
{
	char text[4096];
	ssize_t bytes = pread(fd, text, sizeof(text) - 1, 0);

	if (bytes <= 0)
		return -EIO;
	text[bytes] = '\0';
	return cpu_list_parse(ret, text);
}
