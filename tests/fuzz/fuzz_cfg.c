// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz cfg_create() with any bytes as code of each architecture, and as an image. A graph may be
 * refused, but every graph that is made satisfies its invariants. The first byte chooses the input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/graph/cfg_create.h"
#include "analysis/graph/cfg_facts.h"
#include "analysis/image/image_code.h"
#include "tests/fixtures/cfg_check.h"

#define PROCEDURES_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void count_trips(const struct cfg *cfg)
{
	struct cfg_facts facts;

	if (cfg_facts_find(&facts, cfg) < 0)
		abort();
	for (uint32_t i = 0; i < facts.trips.count; i++) {
		const struct trip_count *trip = &facts.trips.list[i];

		if (!(trip->trips >= 1) || trip->leave == trip->stay ||
		    cfg->edges[trip->leave].from != trip->block ||
		    cfg->edges[trip->stay].from != trip->block) {
			fprintf(stderr, "fuzz_cfg: a loop of %g trips\n", trip->trips);
			abort();
		}
	}
	for (uint32_t i = 0; i < facts.trips.ratio_count; i++) {
		const struct trip_ratio *ratio = &facts.trips.ratios[i];

		if (!(ratio->trips >= 1) || ratio->header >= cfg->block_count ||
		    ratio->before >= cfg->block_count || ratio->header == ratio->before) {
			fprintf(stderr, "fuzz_cfg: a loop of %g iterations\n", ratio->trips);
			abort();
		}
	}
	cfg_facts_deinit(&facts);
}

static void check(struct cfg *cfg)
{
	const char *wrong = cfg_check(cfg);

	if (wrong != NULL) {
		fprintf(stderr, "fuzz_cfg: %s\n", wrong);
		abort();
	}
	count_trips(cfg);
	cfg_destroy(cfg);
}

static void try_code(const struct insn_decoder *decoder, const uint8_t *code, size_t bytes)
{
	struct cfg *cfg = NULL;

	if (cfg_create_from_code(&cfg, decoder, code, bytes, 0x10000, NULL) == 0)
		check(cfg);
}

/* Also pass sampled addresses and branches that are impossible. */
static void try_image(struct image_code *code)
{
	size_t count = procedure_table_count(image_code_procedures(code));

	for (size_t i = 0; i < count && i < PROCEDURES_MAX; i++) {
		const struct procedure *procedure =
			procedure_table_get(image_code_procedures(code), i);
		const uint64_t sampled[] = {procedure->address + 5, procedure->address + 16};
		const uint64_t branches[][2] = {{procedure->address, procedure->address + 9},
						{procedure->address + 4, procedure->address}};
		const struct cfg_evidence evidence = {sampled, 2, branches, 2};
		struct cfg *cfg = NULL;
		const char *file;
		unsigned int line;

		if (cfg_create(&cfg, code, i, i % 2 ? &evidence : NULL, NULL) == 0)
			check(cfg);
		image_code_line(code, procedure->address, &file, &line);
	}
}

static void try_file(const uint8_t *data, size_t bytes)
{
	static const struct debug_file_options options = {.directory = "/nonexistent"};
	struct image_code *code = NULL;
	char path[64];
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE, .path = path};
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, bytes) == (ssize_t)bytes &&
	    image_code_open(&code, &image, &options, NULL) == 0)
		try_image(code);
	image_code_close(code);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const struct insn_decoder *const decoders[] = {
		&insn_x86_decoder, &insn_arm64_decoder, &insn_alpha_decoder};

	if (bytes == 0)
		return 0;
	if (data[0] == 0x7f) /* "\177ELF" */
		try_file(data, bytes);
	else
		try_code(decoders[data[0] % 3], data + 1, bytes - 1);
	return 0;
}
