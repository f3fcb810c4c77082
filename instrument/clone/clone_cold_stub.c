// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/clone.h"

#include "lib/array.h"

struct cold_stub *clone_add_cold_stub(struct clone *clone, struct cold_stub cold_stub)
{
	if (array_reserve(&clone->cold_stubs, &clone->cold_stub_capacity,
			  clone->cold_stub_count + 1, sizeof(*clone->cold_stubs)) < 0) {
		clone->code->failed = true;
		return NULL;
	}
	cold_stub.label = machine_code_label(clone->code);
	cold_stub.frame = clone->code->frame;
	clone->cold_stubs[clone->cold_stub_count] = cold_stub;
	return &clone->cold_stubs[clone->cold_stub_count++];
}

/* Return: true if control continues after the code; false if the check jumps to its destination. */
static bool emit_site(struct clone *clone, struct cold_stub *cold_stub)
{
	uint32_t block = cold_stub->crossing - clone_switch_of_site(clone, 0);
	struct clone_check check = {.crossing = cold_stub->crossing,
				    .live = cold_stub->point.live,
				    .red_zone = true,
				    .landing = true,
				    .counts = clone_switch_on_site(clone, block)};
	uint32_t label;

	if (!clone_point_has_code(clone, &cold_stub->point)) {
		clone_switch_place(clone, cold_stub->crossing, cold_stub->back);
		clone_switch_emit_to(clone, &check, cold_stub->back);
		return false;
	}
	if (clone->source->variant != CLONE_ONLY)
		clone_switch_emit(clone, &check);
	label = machine_code_label(clone->code);
	machine_code_bind_label(clone->code, label);
	clone_switch_place(clone, cold_stub->crossing, label);
	clone_point_emit(clone, &cold_stub->point, cold_stub->point.live);
	return true;
}

static void emit_one(struct clone *clone, struct cold_stub *cold_stub)
{
	switch (cold_stub->kind) {
	case COLD_STUB_ENTER:
		runtime_code_enter(clone->code, &cold_stub->scratch);
		break;
	case COLD_STUB_SITE:
		if (!emit_site(clone, cold_stub))
			return;
		break;
	case COLD_STUB_POINT:
	case COLD_STUB_ARRIVE:
		clone_point_emit(clone, &cold_stub->point, cold_stub->point.live);
		break;
	case COLD_STUB_CROSS:
		clone_switch_cross(clone, cold_stub);
		return;
	}
	if (cold_stub->back != COUNT_NONE)
		machine_code_branch(clone->code, MACHINE_JUMP, cold_stub->back);
	else
		clone_insn_leave(clone, MACHINE_JUMP, cold_stub->edge->target);
}

/* Return true if the code is rarely executed. */
static bool is_rare(const struct cold_stub *cold_stub)
{
	switch (cold_stub->kind) {
	case COLD_STUB_ENTER:
	case COLD_STUB_CROSS:
	case COLD_STUB_ARRIVE:
		return true;
	case COLD_STUB_POINT:
	case COLD_STUB_SITE:
		return false;
	}
	return false;
}

/* Emitting one entry may add others. */
void clone_cold_stub_emit(struct clone *clone, bool rare)
{
	for (size_t i = 0; !clone->code->failed && i < clone->cold_stub_count; i++) {
		struct cold_stub cold_stub = clone->cold_stubs[i];

		if (is_rare(&cold_stub) != rare)
			continue;
		machine_code_bind_label(clone->code, cold_stub.label);
		machine_code_frame(clone->code, cold_stub.frame);
		emit_one(clone, &cold_stub);
	}
}
