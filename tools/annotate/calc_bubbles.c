// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_bubbles.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Up to this many half-cycles are drawn with one line each. */
#define LINES_MAX 4
/* Number of lines for a longer stall. */
#define LINES_LONG 3

/* Half a cycle, which the line of a dual-issued instruction itself represents. */
#define OWN_LINE 0.5

#define LETTERS_MAX CALC_BUBBLE_CAUSES

/* Order of letters in a line, as in Figure 2. */
static const enum culprit_cause order[] = {
	CULPRIT_BRANCH,	 CULPRIT_DCACHE,	CULPRIT_WRITE_BUFFER,	 CULPRIT_DTB,
	CULPRIT_ICACHE,	 CULPRIT_ITB,		CULPRIT_SYNCHRONIZATION, CULPRIT_IMUL,
	CULPRIT_FDIV,	 CULPRIT_STORE_FORWARD, CULPRIT_SHARING,	 CULPRIT_PAGE_FAULT,
	CULPRIT_LATENCY, CULPRIT_OTHER,		CULPRIT_INTERRUPTS,	 CULPRIT_UNEXPLAINED,
};

static const char *const causes[CULPRIT_CAUSES + 1] = {
	[CULPRIT_ICACHE] = "I-cache miss",
	[CULPRIT_ITB] = "ITB miss",
	[CULPRIT_DCACHE] = "D-cache miss",
	[CULPRIT_DTB] = "DTB miss",
	[CULPRIT_WRITE_BUFFER] = "write-buffer overflow",
	[CULPRIT_SYNCHRONIZATION] = "synchronization",
	[CULPRIT_BRANCH] = "branch mispredict",
	[CULPRIT_IMUL] = "integer multiplier busy",
	[CULPRIT_FDIV] = "FP divider busy",
	[CULPRIT_INTERRUPTS] = "interrupts disabled",
	[CULPRIT_STORE_FORWARD] = "failed store forwarding",
	[CULPRIT_SHARING] = "line shared with another thread",
	[CULPRIT_PAGE_FAULT] = "page fault",
	[CULPRIT_LATENCY] = "latency of operands",
	[CULPRIT_OTHER] = "out-of-order window full",
	[CULPRIT_UNEXPLAINED] = "not explained",
};

static const char *const stalls[STALL_KINDS] = {
	[STALL_SLOTTING] = "slotting hazard",
	[STALL_RA_DEPENDENCY] = "Ra dependency",
	[STALL_RB_DEPENDENCY] = "Rb dependency",
	[STALL_RC_DEPENDENCY] = "Rc dependency",
	[STALL_FU_DEPENDENCY] = "unit busy",
	[STALL_LATENCY] = "latency of the previous instruction",
};

const char *calc_bubbles_cause(enum culprit_cause cause)
{
	return causes[cause];
}

const char *calc_bubbles_relation(enum culprit_cause cause)
{
	return cause == CULPRIT_INTERRUPTS ? "up to" : "of";
}

const char *calc_bubbles_stall(enum stall_kind kind)
{
	return stalls[kind];
}

/* A group of lines: its letters, and the meanings to be explained next to them. */
struct group {
	char letters[LETTERS_MAX + 1];
	unsigned int letter_count;
	const char *meanings[LETTERS_MAX];
	char explained[LETTERS_MAX];
	unsigned int meaning_count;
	unsigned int lines;
	double cycles; /* > 0: printed in the middle line */
};

static void group_add(struct group *group, char letter, const char *meaning, uint32_t *shown,
		      unsigned int bit)
{
	if (memchr(group->letters, letter, group->letter_count) != NULL)
		return;
	group->letters[group->letter_count++] = letter;
	if ((*shown >> bit & 1) != 0)
		return;
	*shown |= 1U << bit;
	group->explained[group->meaning_count] = letter;
	group->meanings[group->meaning_count++] = meaning;
}

static void set_lines(struct group *group, double stall, double cycles)
{
	double halves = nearbyint(2 * stall);

	group->lines = halves > LINES_MAX ? LINES_LONG : (unsigned int)halves;
	if (halves > LINES_MAX)
		group->cycles = cycles;
}

/*
 * Write "(d = D-cache miss)" for one line. Each line explains one new letter, and the last line all
 * that remain.
 */
static void calc_bubbles_explain(char text[CALC_BUBBLE_BYTES], const struct group *group,
				 unsigned int *next, bool last)
{
	const char *separator = "(";
	size_t length = 0;

	text[0] = '\0';
	while (*next < group->meaning_count && length < CALC_BUBBLE_BYTES) {
		length += (size_t)snprintf(text + length, CALC_BUBBLE_BYTES - length, "%s%c = %s",
					   separator, group->explained[*next],
					   group->meanings[*next]);
		separator = ", ";
		++*next;
		if (!last)
			break;
	}
	if (length > 0 && length < CALC_BUBBLE_BYTES)
		snprintf(text + length, CALC_BUBBLE_BYTES - length, ")");
}

static void calc_bubbles_draw(struct calc_bubbles *ret, const struct group *group)
{
	unsigned int next = 0;

	for (unsigned int i = 0; i < group->lines && ret->count < CALC_BUBBLES_MAX; i++) {
		char *line = ret->lines[ret->count++], note[CALC_BUBBLE_BYTES] = "";

		if (group->cycles > 0 && i == 1)
			snprintf(note, sizeof(note), " ... %.1fcy", group->cycles);
		else
			calc_bubbles_explain(note, group, &next, i + 1 == group->lines);
		if (note[0] == '\0')
			snprintf(line, CALC_BUBBLE_BYTES, "%s", group->letters);
		else
			snprintf(line, CALC_BUBBLE_BYTES, "%-5s %.*s", group->letters,
				 (int)(CALC_BUBBLE_BYTES - LETTERS_MAX - 2), note);
	}
}

/* Lines of a static stall. Letters are explained only where they are drawn. */
static void make_static(struct calc_bubbles *ret, struct calc_legend *legend,
			const struct static_stall *stall)
{
	struct group group = {.letters = ""};

	set_lines(&group, stall->cycles, stall->cycles);
	if (group.lines == 0)
		return;
	group_add(&group, stall_kind_letter(stall->kind), stalls[stall->kind], &legend->stalls,
		  stall->kind);
	calc_bubbles_draw(ret, &group);
}

static void add_cause(struct group *group, struct calc_legend *legend, enum culprit_cause cause)
{
	group_add(group, culprit_letter(cause), causes[cause], &legend->causes, cause);
}

/* The dynamic stall, without the half-cycle that the instruction's own line represents. */
static double dynamic_stall(const struct schedule_insn *schedule, const struct instruction_cpi *cpi)
{
	double own = schedule->issues_with_previous ? OWN_LINE : 0;

	if (isnan(cpi->cpi) || !cpi->significant)
		return 0;
	return fmax(cpi->dynamic_cycles - own, 0);
}

unsigned int calc_bubbles_causes(enum culprit_cause ret[CALC_BUBBLE_CAUSES],
				 const struct schedule_insn *schedule,
				 const struct instruction_cpi *cpi, const struct culprit *culprits)
{
	unsigned int count = 0;

	if (nearbyint(2 * dynamic_stall(schedule, cpi)) < 1)
		return 0;
	for (unsigned int i = 0; i < sizeof(order) / sizeof(*order); i++) {
		for (uint32_t k = cpi->first; k < cpi->first + cpi->count; k++) {
			if (culprits[k].cause == order[i])
				ret[count++] = order[i];
		}
	}
	if (cpi->count == 0)
		ret[count++] = CULPRIT_UNEXPLAINED;
	return count;
}

static void make_dynamic(struct calc_bubbles *ret, struct calc_legend *legend,
			 const struct schedule_insn *schedule, const struct instruction_cpi *cpi,
			 const struct culprit *culprits)
{
	enum culprit_cause list[CALC_BUBBLE_CAUSES];
	unsigned int count = calc_bubbles_causes(list, schedule, cpi, culprits);
	struct group group = {.letters = ""};

	set_lines(&group, dynamic_stall(schedule, cpi), cpi->cpi);
	for (unsigned int i = 0; i < count; i++)
		add_cause(&group, legend, list[i]);
	calc_bubbles_draw(ret, &group);
}

void calc_bubbles_make(struct calc_bubbles *ret, struct calc_legend *legend,
		       const struct schedule_insn *schedule, const struct instruction_cpi *cpi,
		       const struct culprit *culprits)
{
	ret->count = 0;
	if (isnan(cpi->cpi))
		return;
	for (unsigned int i = 0; i < schedule->stall_count; i++)
		make_static(ret, legend, &schedule->stalls[i]);
	make_dynamic(ret, legend, schedule, cpi, culprits);
}
