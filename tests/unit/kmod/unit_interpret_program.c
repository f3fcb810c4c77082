// SPDX-License-Identifier: GPL-2.0-only
/*
 * The x86-64 interpreter on real programs, stopped at random: they must take the predicted edge,
 * with the predicted register values.
 */
#include "tests/lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "tests/fixtures/x86_program.h"
#include "tests/fixtures/x86_tracee.h"

enum {
	STOPS = 600
};

struct tally {
	int visits, edges, steps, wrong, lost;
	int ends[INTERPRET_NR];
};

static bool steps_through(pid_t pid, struct user_regs_struct *regs, uint32_t steps)
{
	while (steps-- > 0) {
		if (!x86_program_step(pid, regs))
			return false;
	}
	return true;
}

static bool visit(void *context, pid_t pid, const struct user_regs_struct *stopped)
{
	struct tally *tally = context;
	struct user_regs_struct regs = *stopped;
	struct interpret_state state;
	struct interpret_edge edge;
	enum interpret_end end;
	int what;

	x86_state_set(&state, &regs);
	end = interpret_x86_64(&state, x86_program_read, &pid, &edge);
	tally->visits++;
	tally->ends[end]++;
	tally->edges += end == INTERPRET_EDGE;
	tally->steps += (int)edge.steps;
	if (end != INTERPRET_EDGE && end != INTERPRET_TOO_LONG)
		edge.steps--;
	if (!steps_through(pid, &regs, edge.steps)) {
		tally->lost++; /* a signal, or the program's end */
		return false;
	}
	what = x86_state_differs(&state, &regs);
	if (what >= 0) {
		tally->wrong++;
		print_error("from %#llx after %u steps: %d differs\n", stopped->rip, edge.steps,
			    what);
	}
	return true;
}

static void test_finds_executed_branches(void **state)
{
	const struct x86_program *program;
	struct tally all = {0};

	(void)state;
	for (program = x86_programs; program->name != NULL; program++) {
		struct tally tally = {0};

		if (x86_program_run(program, STOPS, visit, &tally) <= 0) {
			print_message("%s: not here\n", program->name);
			continue;
		}
		print_message(
			"%-8s %5d samples, %5.1f%% edges, %4.1f steps, %d wrong; unreadable %d, "
			"unknown %d, unsupported %d, too long %d\n",
			program->name, tally.visits, 100.0 * tally.edges / tally.visits,
			1.0 * tally.steps / tally.visits, tally.wrong,
			tally.ends[INTERPRET_UNREADABLE], tally.ends[INTERPRET_UNKNOWN],
			tally.ends[INTERPRET_UNSUPPORTED], tally.ends[INTERPRET_TOO_LONG]);
		all.visits += tally.visits;
		all.edges += tally.edges;
		all.wrong += tally.wrong;
	}
	if (all.visits == 0) {
		print_message("nothing can be traced here\n");
		skip();
	}
	assert_int_equal(all.wrong, 0);
	assert_true(all.edges * 10 >= all.visits * 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_executed_branches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
