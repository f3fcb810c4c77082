// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/machine/machine_issue.h"

static bool matches(const struct issue_match *match, const struct insn *insn)
{
	unsigned int bytes;

	if (match->insn_class != insn->class || (insn->opcode & match->mask) != match->value ||
	    (insn->flags & match->flags) != match->flags)
		return false;
	bytes = insn->memory.bytes != 0 ? insn->memory.bytes : insn->operand_bytes;
	return match->bytes_max == 0 || (bytes >= match->bytes_min && bytes <= match->bytes_max);
}

uint8_t machine_issue_class(const struct machine_issue *issue, const struct insn *insn)
{
	for (uint8_t i = 0; i < issue->match_count; i++)
		if (matches(&issue->matches[i], insn))
			return issue->matches[i].issue_class;
	return (uint8_t)(issue->class_count - 1);
}

unsigned int machine_issue_bypass(const struct machine_issue *issue, uint8_t producer,
				  uint8_t consumer, unsigned int operand)
{
	for (uint8_t i = 0; i < issue->bypass_count; i++) {
		const struct issue_bypass *bypass = &issue->bypasses[i];

		if ((bypass->producers >> producer & 1) != 0 &&
		    (bypass->consumers >> consumer & 1) != 0 && (bypass->operands & operand) != 0)
			return bypass->cycles;
	}
	return 0;
}

unsigned int machine_issue_late(const struct machine_issue *issue, uint8_t producer,
				uint8_t consumer)
{
	for (uint8_t i = 0; i < issue->late_count; i++)
		if ((issue->lates[i].producers >> producer & 1) != 0 &&
		    (issue->lates[i].consumers >> consumer & 1) != 0)
			return issue->lates[i].cycles;
	return 0;
}
