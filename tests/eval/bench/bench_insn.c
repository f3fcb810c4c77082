// SPDX-License-Identifier: GPL-2.0-only
/* Measure the speed of the instruction decoder: bench_insn [FILE...] */
#include "analysis/insn/insn.h"
#include "tests/eval/bench/bench.h"
#include "tests/fixtures/elf_text.h"

static size_t decode_all(const struct insn_decoder *decoder, const struct elf_text *text)
{
	size_t at = 0, insns = 0;
	struct insn insn;

	while (at < text->bytes) {
		size_t length = decoder->decode(&insn, text->code + at, text->bytes - at,
						text->address + at);

		insns += length != 0;
		at += length != 0 ? length : decoder->alignment;
	}
	return insns;
}

/* Report the best of five runs: the first run also reads the file from disk. */
static void bench(const char *path)
{
	const struct insn_decoder *decoder;
	struct elf_text text;
	double best = 1e18;
	size_t insns = 0;

	if (!elf_text_open(&text, path))
		return;
	decoder = insn_decoder_find(text.machine);
	for (int round = 0; decoder != NULL && round < 5; round++) {
		double start = bench_now_ns();

		insns = decode_all(decoder, &text);
		if (bench_now_ns() - start < best)
			best = bench_now_ns() - start;
	}
	if (decoder != NULL) {
		bench_report("decode_rate", decoder->name, path, (double)text.bytes / best * 1e3,
			     "MB/s");
		bench_report("decode_insn", decoder->name, path, best / (double)insns, "ns");
	}
	elf_text_close(&text);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		for (int i = 1; i < argc; i++)
			bench(argv[i]);
		return 0;
	}
	bench("/usr/lib/x86_64-linux-gnu/libc.so.6");
	bench("/usr/lib/x86_64-linux-gnu/libsqlite3.so.0");
	bench("/usr/aarch64-linux-gnu/lib/libc.so.6");
	return 0;
}
