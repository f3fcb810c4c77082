// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/insn/insn.h"

static const struct insn_decoder *const decoders[] = {
	&insn_x86_decoder,
	&insn_arm64_decoder,
	&insn_alpha_decoder,
};

const struct insn_decoder *insn_decoder_find(uint16_t machine)
{
	size_t i;

	for (i = 0; i < sizeof(decoders) / sizeof(decoders[0]); i++) {
		if (decoders[i]->machine == machine)
			return decoders[i];
	}
	return NULL;
}
