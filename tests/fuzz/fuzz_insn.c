// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz the decoders of all architectures with any bytes: each decoded instruction satisfies the
 * invariants.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/fixtures/insn_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void code_check(const uint8_t *code, size_t bytes, const struct insn_decoder *decoder)
{
	size_t at = 0;

	while (at < bytes) {
		const char *wrong = insn_check_bytes(code + at, bytes - at, at, decoder);
		struct insn insn;

		if (wrong != NULL) {
			fprintf(stderr, "%s at %zu: %s\n", decoder->name, at, wrong);
			abort();
		}
		if (decoder->decode(&insn, code + at, bytes - at, at) != 0)
			at += insn.bytes;
		else
			at += decoder->alignment;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const struct insn_decoder *const decoders[] = {
		&insn_x86_decoder, &insn_arm64_decoder, &insn_alpha_decoder};

	if (bytes < 1 || bytes > 256)
		return 0;
	code_check(data + 1, bytes - 1, decoders[data[0] % 3]);
	return 0;
}
