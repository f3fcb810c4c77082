// SPDX-License-Identifier: GPL-2.0-only
#include "tests/insn_objdump.h"

#include "tests/unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/elf_text.h"

/* A line of objdump: "  ADDRESS:\tBYTES \tMNEMONIC OPERANDS". */
struct line {
	uint64_t address;
	size_t bytes;
	char mnemonic[32];
	char operands[96];
};

static bool is_prefix(const char *word, const char *const *prefixes)
{
	for (; *prefixes != NULL; prefixes++) {
		if (strcmp(word, *prefixes) == 0)
			return true;
	}
	return false;
}

/* Bytes are printed one by one (x86) or as a word (arm64). */
static size_t count_bytes(const char *hex, const char *end)
{
	size_t digits = 0;

	for (; hex < end; hex++)
		digits += *hex != ' ';
	return digits / 2;
}

static bool line_parse(struct line *line, const char *text, const char *const *prefixes)
{
	char *tab, *second;
	int used = 0;

	line->address = strtoull(text, &tab, 16);
	if (tab == text || tab[0] != ':' || tab[1] != '\t')
		return false;
	second = strchr(tab + 2, '\t');
	if (second == NULL)
		return false;
	line->bytes = count_bytes(tab + 2, second);
	text = second + 1;
	do {
		text += used;
		line->operands[0] = '\0';
		if (sscanf(text, "%31s%n", line->mnemonic, &used) != 1)
			return false;
	} while (is_prefix(line->mnemonic, prefixes));
	(void)sscanf(text + used, " %95[^<\n]", line->operands);
	return true;
}

static void line_compare(const struct line *line, const struct elf_text *text,
			 const struct insn_decoder *decoder, enum insn_flow flow)
{
	const uint8_t *code = text->code + (line->address - text->address);
	struct insn insn;
	size_t length = decoder->decode(&insn, code, line->bytes, line->address);

	if (length != line->bytes)
		fail_msg("%lx: %s: %zu bytes, not %zu", (unsigned long)line->address,
			 line->mnemonic, length, line->bytes);
	if (insn.flow != flow)
		fail_msg("%lx: %s %s: flow is %u, not %u", (unsigned long)line->address,
			 line->mnemonic, line->operands, insn.flow, flow);
	if (insn.target != 0) {
		/* the last operand */
		const char *last = strrchr(line->operands, ',');
		uint64_t target = strtoull(last != NULL ? last + 1 : line->operands, NULL, 16);

		if (target != insn.target)
			fail_msg("%lx: %s: to %lx, not %lx", (unsigned long)line->address,
				 line->mnemonic, (unsigned long)insn.target, (unsigned long)target);
	}
}

void insn_objdump_compare(const char *objdump, const char *path, const struct insn_decoder *decoder,
			  const char *const *prefixes,
			  enum insn_flow (*flow_of)(const char *mnemonic, const char *operands),
			  unsigned int most)
{
	unsigned int compared = 0;
	char command[512], text_line[512];
	struct elf_text text;
	struct line line;
	FILE *pipe;

	if (!elf_text_open(&text, path))
		skip();
	snprintf(command, sizeof(command), "%s -d -w -z -j .text %s 2>/dev/null", objdump, path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	while (compared < most && fgets(text_line, sizeof(text_line), pipe) != NULL) {
		if (!line_parse(&line, text_line, prefixes) ||
		    line.address - text.address >= text.bytes || line.mnemonic[0] == '.' ||
		    line.mnemonic[0] == '(')
			continue;
		line_compare(&line, &text, decoder, flow_of(line.mnemonic, line.operands));
		compared++;
	}
	pclose(pipe);
	elf_text_close(&text);
	if (compared == 0)
		skip();
	assert_true(compared > 10000);
}
