// SPDX-License-Identifier: GPL-2.0-only
#include "branch.h"

#include <linux/kconfig.h>
#include <linux/ptrace.h>

#include "core/interpret.h"
#include "core/sample_store.h"
#include "interrupted.h"

bool branch_supported(void)
{
	return IS_ENABLED(CONFIG_X86_64) || IS_ENABLED(CONFIG_ARM64);
}

static enum interpret_end interpret(struct interpret_state *state, struct interrupted *interrupted,
				    struct interpret_edge *edge)
{
#if defined(CONFIG_X86_64)
	return interpret_x86_64(state, interrupted_read, interrupted, edge);
#elif defined(CONFIG_ARM64)
	return interpret_arm64(state, interrupted_read, interrupted, edge);
#else
	return INTERPRET_UNSUPPORTED;
#endif
}

unsigned int branch_count(struct sample_store *store, struct pt_regs *regs, u64 process)
{
	struct interrupted interrupted;
	struct interpret_state state;
	struct interpret_edge edge;

	if (!interrupted_init(&interrupted, regs) || !interrupted_registers(regs, &state))
		return 0;
	if (interpret(&state, &interrupted, &edge) != INTERPRET_EDGE)
		return 0;
	return sample_store_count_edge(store, edge.from, edge.to,
				       process | dcpi_tag(0, 0, DCPI_EVENT_BRANCH)) &
	       SAMPLE_WAKE;
}
