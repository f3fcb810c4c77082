// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/insn/a64_text.h"

#include <stdio.h>

struct name {
	uint32_t mask;
	uint32_t value;
	const char *text; /* operands: D X-register 0-4, N X-register or sp 5-9, and so on */
};

static const struct name names[] = {
	{0xffffffff, 0xd50320ff, "xpaclri"},	   {0xffffffff, 0xd503211f, "pacia1716"},
	{0xffffffff, 0xd503215f, "pacib1716"},	   {0xffffffff, 0xd503219f, "autia1716"},
	{0xffffffff, 0xd50321df, "autib1716"},	   {0xffffffff, 0xd503221f, "esb"},
	{0xffffffff, 0xd503229f, "csdb"},	   {0xffffffff, 0xd503231f, "paciaz"},
	{0xffffffff, 0xd503233f, "paciasp"},	   {0xffffffff, 0xd503235f, "pacibz"},
	{0xffffffff, 0xd503237f, "pacibsp"},	   {0xffffffff, 0xd503239f, "autiaz"},
	{0xffffffff, 0xd50323bf, "autiasp"},	   {0xffffffff, 0xd50323df, "autibz"},
	{0xffffffff, 0xd50323ff, "autibsp"},	   {0xffffffff, 0xd503241f, "bti"},
	{0xffffffff, 0xd503245f, "bti c"},	   {0xffffffff, 0xd503249f, "bti j"},
	{0xffffffff, 0xd50324df, "bti jc"},	   {0xffffffff, 0xd50330ff, "sb"},
	{0xffffffff, 0xd65f0bff, "retaa"},	   {0xffffffff, 0xd65f0fff, "retab"},
	{0xffffffff, 0xd69f0bff, "eretaa"},	   {0xffffffff, 0xd69f0fff, "eretab"},
	{0xfffffc1f, 0xd61f081f, "braaz N"},	   {0xfffffc1f, 0xd61f0c1f, "brabz N"},
	{0xfffffc1f, 0xd63f081f, "blraaz N"},	   {0xfffffc1f, 0xd63f0c1f, "blrabz N"},
	{0xfffffc00, 0xd71f0800, "braa N, d"},	   {0xfffffc00, 0xd71f0c00, "brab N, d"},
	{0xfffffc00, 0xd73f0800, "blraa N, d"},	   {0xfffffc00, 0xd73f0c00, "blrab N, d"},
	{0xfffffc00, 0xdac10000, "pacia D, n"},	   {0xfffffc00, 0xdac10400, "pacib D, n"},
	{0xfffffc00, 0xdac10800, "pacda D, n"},	   {0xfffffc00, 0xdac10c00, "pacdb D, n"},
	{0xfffffc00, 0xdac11000, "autia D, n"},	   {0xfffffc00, 0xdac11400, "autib D, n"},
	{0xfffffc00, 0xdac11800, "autda D, n"},	   {0xfffffc00, 0xdac11c00, "autdb D, n"},
	{0xffffffe0, 0xdac123e0, "paciza D"},	   {0xffffffe0, 0xdac127e0, "pacizb D"},
	{0xffffffe0, 0xdac12be0, "pacdza D"},	   {0xffffffe0, 0xdac12fe0, "pacdzb D"},
	{0xffffffe0, 0xdac133e0, "autiza D"},	   {0xffffffe0, 0xdac137e0, "autizb D"},
	{0xffffffe0, 0xdac13be0, "autdza D"},	   {0xffffffe0, 0xdac13fe0, "autdzb D"},
	{0xffffffe0, 0xdac143e0, "xpaci D"},	   {0xffffffe0, 0xdac147e0, "xpacd D"},
	{0xffe0fc00, 0x9ac03000, "pacga D, N, m"},
};

/* @kind: 'x', 'w'; 's': the stack pointer for 31 */
static const char *register_name(char name[8], char kind, uint32_t number)
{
	if (number != 31)
		snprintf(name, 8, "%c%u", kind == 's' ? 'x' : kind, number & 31);
	else
		snprintf(name, 8, "%s", kind == 's' ? "sp" : kind == 'x' ? "xzr" : "wzr");
	return name;
}

static void a64_text_expand(char text[INSN_TEXT_BYTES], const char *format, uint32_t word)
{
	static const char fields[] = "DdNnMm";
	static const unsigned int lows[] = {0, 0, 5, 5, 16, 16};
	size_t at = 0;
	char name[8];

	for (; *format != '\0' && at + sizeof(name) < INSN_TEXT_BYTES; format++) {
		size_t field = 0;

		/* Operands follow a space; mnemonics contain the same letters. */
		while (fields[field] != '\0' &&
		       (fields[field] != *format || at == 0 || text[at - 1] != ' '))
			field++;
		if (fields[field] == '\0' || (format[1] != ',' && format[1] != '\0')) {
			text[at++] = *format;
			continue;
		}
		at += (size_t)snprintf(text + at, INSN_TEXT_BYTES - at, "%s",
				       register_name(name, *format < 'a' ? 'x' : 's',
						     a64_bits(word, lows[field], 5)));
	}
	text[at] = '\0';
}

static const char *size_suffix(uint32_t word)
{
	static const char *const suffixes[] = {"b", "h", "", ""};

	return suffixes[a64_bits(word, 30, 2)];
}

static const char *order_suffix(bool acquire, bool release)
{
	if (acquire)
		return release ? "al" : "a";
	return release ? "l" : "";
}

/* ldadd and similar, swp, ldapr */
static bool atomic_text(char text[INSN_TEXT_BYTES], uint32_t word)
{
	static const char *const operations[] = {"add",	 "clr",	 "eor",	 "set",
						 "smax", "smin", "umax", "umin"};
	const char *operation = operations[a64_bits(word, 12, 3)];
	char kind = word >> 30 == 3 ? 'x' : 'w', s[8], t[8], n[8];
	bool acquire = a64_bits(word, 23, 1) != 0, release = a64_bits(word, 22, 1) != 0,
	     swap = a64_bits(word, 15, 1) != 0, store = !swap && !acquire && (word & 31) == 31;

	register_name(s, kind, a64_bits(word, 16, 5));
	register_name(t, kind, a64_bits(word, 0, 5));
	register_name(n, 's', a64_bits(word, 5, 5));
	if (swap && a64_bits(word, 12, 3) == 4)
		snprintf(text, INSN_TEXT_BYTES, "ldapr%s %s, [%s]", size_suffix(word), t, n);
	else if (swap)
		snprintf(text, INSN_TEXT_BYTES, "swp%s%s %s, %s, [%s]",
			 order_suffix(acquire, release), size_suffix(word), s, t, n);
	else if (store)
		snprintf(text, INSN_TEXT_BYTES, "st%s%s%s %s, [%s]", operation,
			 order_suffix(false, release), size_suffix(word), s, n);
	else
		snprintf(text, INSN_TEXT_BYTES, "ld%s%s%s %s, %s, [%s]", operation,
			 order_suffix(acquire, release), size_suffix(word), s, t, n);
	return true;
}

static bool compare_and_swap_text(char text[INSN_TEXT_BYTES], uint32_t word, bool paired)
{
	char kind = word >> 30 == (paired ? 1 : 3) ? 'x' : 'w', s[8], t[8], n[8], s2[8], t2[8];
	const char *order = order_suffix(a64_bits(word, 22, 1) != 0, a64_bits(word, 15, 1) != 0);

	register_name(s, kind, a64_bits(word, 16, 5));
	register_name(t, kind, a64_bits(word, 0, 5));
	register_name(n, 's', a64_bits(word, 5, 5));
	register_name(s2, kind, a64_bits(word, 16, 5) + 1);
	register_name(t2, kind, a64_bits(word, 0, 5) + 1);
	if (paired)
		snprintf(text, INSN_TEXT_BYTES, "casp%s %s, %s, %s, %s, [%s]", order, s, s2, t, t2,
			 n);
	else
		snprintf(text, INSN_TEXT_BYTES, "cas%s%s %s, %s, [%s]", order, size_suffix(word), s,
			 t, n);
	return true;
}

bool a64_text(char text[INSN_TEXT_BYTES], uint32_t word)
{
	size_t i;

	if ((word & 0x3f200c00) == 0x38200000)
		return atomic_text(text, word);
	if ((word & 0x3fa07c00) == 0x08a07c00)
		return compare_and_swap_text(text, word, false);
	if ((word & 0xbfa07c00) == 0x08207c00)
		return compare_and_swap_text(text, word, true);
	for (i = 0; i < A64_COUNT(names); i++) {
		if ((word & names[i].mask) == names[i].value) {
			a64_text_expand(text, names[i].text, word);
			return true;
		}
	}
	return false;
}
