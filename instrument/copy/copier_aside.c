// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/copy/copier.h"

/* Return: true if control continues after the code; false if the check jumps to its destination. */
static bool emit_site(struct copier *copier, struct aside *aside)
{
	uint32_t block = aside->crossing - copier_turn_of_site(copier, 0);
	struct turn turn = {.crossing = aside->crossing,
			    .live = aside->point.live,
			    .red_zone = true,
			    .landing = true,
			    .counts = copier_turn_on_site(copier, block)};
	uint32_t label;

	if (!copier_point_wants(copier, &aside->point)) {
		copier_turn_place(copier, aside->crossing, aside->back);
		copier_turn_emit_to(copier, &turn, aside->back);
		return false;
	}
	if (copier->source->variant != COPY_ONLY)
		copier_turn_emit(copier, &turn);
	label = machine_code_label(copier->code);
	machine_code_place(copier->code, label);
	copier_turn_place(copier, aside->crossing, label);
	copier_point_emit(copier, &aside->point, aside->point.live);
	return true;
}

static void emit_one(struct copier *copier, struct aside *aside)
{
	switch (aside->kind) {
	case ASIDE_ENTER:
		runtime_code_enter(copier->code, &aside->loan);
		break;
	case ASIDE_SITE:
		if (!emit_site(copier, aside))
			return;
		break;
	case ASIDE_POINT:
	case ASIDE_ARRIVE:
		copier_point_emit(copier, &aside->point, aside->point.live);
		break;
	case ASIDE_CROSS:
		copier_turn_cross(copier, aside);
		return;
	}
	if (aside->back != COUNT_NONE)
		machine_code_branch(copier->code, MACHINE_JUMP, aside->back);
	else
		copier_insn_leave(copier, MACHINE_JUMP, aside->edge->target);
}

/* Return true if the code is rarely executed. */
static bool is_rare(const struct aside *aside)
{
	switch (aside->kind) {
	case ASIDE_ENTER:
	case ASIDE_CROSS:
	case ASIDE_ARRIVE:
		return true;
	case ASIDE_POINT:
	case ASIDE_SITE:
		return false;
	}
	return false;
}

/* Emitting one entry may add others. */
void copier_aside_emit(struct copier *copier, bool rare)
{
	for (size_t i = 0; !copier->code->failed && i < copier->aside_count; i++) {
		struct aside aside = copier->asides[i];

		if (is_rare(&aside) != rare)
			continue;
		machine_code_place(copier->code, aside.label);
		machine_code_frame(copier->code, aside.frame);
		emit_one(copier, &aside);
	}
}
