// SPDX-License-Identifier: GPL-2.0-only
#include "tests/insn_examples.h"

#include "tests/unit.h"

#include <stdio.h>
#include <string.h>

#include "tests/insn_check.h"

#define ADDRESS 0x1000

static size_t bytes_parse(uint8_t code[INSN_BYTES_MAX], const char *hex)
{
	size_t count = 0;
	unsigned int byte;

	while (count < INSN_BYTES_MAX && sscanf(hex + 2 * count, "%2x", &byte) == 1)
		code[count++] = (uint8_t)byte;
	return count;
}

void insn_examples_run(const char *path, const struct insn_decoder *decoder)
{
	char line[INSN_DESCRIPTION_BYTES + 64], description[INSN_DESCRIPTION_BYTES];
	unsigned int wrong = 0, examples = 0;
	uint8_t code[INSN_BYTES_MAX];
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	while (fgets(line, sizeof(line), file) != NULL) {
		char *expected = strstr(line, " = ");

		if (line[0] == '#' || expected == NULL)
			continue;
		expected[strcspn(expected, "\n")] = '\0';
		*expected = '\0';
		expected += strlen(" = ");
		insn_describe(description, code, bytes_parse(code, line), ADDRESS, decoder);
		examples++;
		if (strcmp(description, expected) == 0)
			continue;
		print_message("%s\n  is:     %s\n  not:    %s\n", line, description, expected);
		wrong++;
	}
	fclose(file);
	assert_true(examples > 100);
	assert_int_equal(wrong, 0);
}
