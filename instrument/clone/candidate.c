// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/candidate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/graph/cfg_create.h"
#include "instrument/clone/gs_use.h"
#include "instrument/clone/unsupported_runtime.h"
#include "instrument/clone/stack_switch.h"
#include "instrument/elf/elf_image.h"
#include "lib/array.h"
#include "lib/error.h"
#include "lib/partition_point.h"

/* An address of code that is referenced in the image. */
struct reference {
	uint64_t address;
	bool branch;   /* target of a branch, certainly code */
	bool of_start; /* referenced only by the program's first procedure */
};

struct references {
	struct reference *all;
	size_t count;
	size_t capacity;
	bool of_start; /* for references added next */
	bool failed;
};

void candidate_keep(struct candidate *candidate, const char *why)
{
	candidate->kept = true;
	snprintf(candidate->why, sizeof(candidate->why), "%s", why);
}

static void add_reference(struct references *references, uint64_t address, bool branch)
{
	if (references->failed ||
	    array_reserve(&references->all, &references->capacity, references->count + 1,
			  sizeof(*references->all)) < 0) {
		references->failed = true;
		return;
	}
	references->all[references->count++] = (struct reference){
		.address = address, .branch = branch, .of_start = references->of_start};
}

static void visit_pointer(void *context, uint64_t target)
{
	add_reference(context, target, false);
}

/* Add the references of an instruction: targets, PC-relative addresses, constants. */
static void add_of_insn(const struct candidates *candidates, struct references *references,
			const struct cfg *cfg, const struct insn *insn)
{
	if (insn->target != 0) {
		if (insn->flow == INSN_FLOW_CALL || cfg_find_insn(cfg, insn->target) < 0)
			add_reference(references, insn->target, true);
		return;
	}
	if (insn->memory.pc_relative &&
	    elf_image_is_code(candidates->image, (uint64_t)insn->memory.displacement))
		add_reference(references, (uint64_t)insn->memory.displacement, false);
	if (!candidates->image->pie && insn->immediate > 0 &&
	    elf_image_is_code(candidates->image, (uint64_t)insn->immediate))
		add_reference(references, (uint64_t)insn->immediate, false);
}

/* Other images may call every name that the dynamic loader knows. */
static void add_names(const struct candidates *candidates, struct references *references)
{
	size_t count, name_bytes;
	const uint8_t *names;
	const Elf64_Shdr *sections =
		elf_image_sections(candidates->image, &count, &names, &name_bytes);

	for (size_t i = 0; i < count; i++) {
		const Elf64_Shdr *section = &sections[i];

		if (section->sh_type != SHT_DYNSYM ||
		    !elf_image_has(candidates->image, section->sh_offset, section->sh_size))
			continue;
		for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= section->sh_size;
		     at += sizeof(Elf64_Sym)) {
			Elf64_Sym symbol;

			memcpy(&symbol, candidates->image->file + section->sh_offset + at,
			       sizeof(symbol));
			if (symbol.st_shndx != SHN_UNDEF &&
			    ELF64_ST_TYPE(symbol.st_info) != STT_TLS &&
			    elf_image_is_code(candidates->image, symbol.st_value))
				add_reference(references, symbol.st_value, false);
		}
	}
}

static void add_all(const struct candidates *candidates, struct references *references)
{
	uint64_t entry = elf_image_entry(candidates->image);

	add_reference(references, entry, true);
	references->of_start = false;
	if (candidates->image->shared)
		add_names(candidates, references);
	for (size_t c = 0; c < candidates->count; c++) {
		const struct candidate *candidate = &candidates->all[c];
		const struct cfg *cfg = candidate->cfg;

		references->of_start = candidate->procedure->address == entry;
		image_code_pointers(candidates->code, candidate->procedure->address,
				    candidate->procedure->address + candidate->procedure->bytes,
				    visit_pointer, references);
		for (uint32_t i = 0; cfg != NULL && i < cfg->insn_count; i++)
			add_of_insn(candidates, references, cfg, &cfg->insns[i]);
	}
}

static int by_address(const void *a, const void *b)
{
	const struct reference *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* Return the index of the first reference at or after an address. */
static size_t find_reference(const struct references *references, uint64_t address)
{
	return partition_point(0, references->count, i, references->all[i].address < address);
}

static bool is_switch_target(const struct cfg *cfg, uint32_t insn)
{
	uint32_t number = cfg->block_of[insn];
	const struct cfg_block *block = &cfg->blocks[number];

	if (block->first != insn)
		return false;
	for (uint32_t i = block->in; i < block->in + block->in_count; i++) {
		if (cfg->edges[cfg->in_edges[i]].kind == CFG_EDGE_SWITCH)
			return true;
	}
	return false;
}

/*
 * Return true if control may arrive where a clone does not expect it. Instructions and references
 * are both sorted by address. Each part of the procedure needs a search of its own, since most of
 * the program may lie between two parts.
 */
static bool is_jumped_into(struct candidate *candidate, const struct references *references)
{
	const struct cfg *cfg = candidate->cfg;
	uint64_t end = 0;
	size_t first = 0;

	for (uint32_t i = 0; i < cfg->insn_count; i++) {
		const struct insn *insn = &cfg->insns[i];

		if (insn->address != end)
			first = find_reference(references, insn->address);
		end = insn->address + insn->bytes;
		while (first < references->count && references->all[first].address < insn->address)
			first++;
		for (size_t r = first; r < references->count && references->all[r].address < end;
		     r++) {
			const struct reference *reference = &references->all[r];

			if (reference->address == candidate->procedure->address)
				continue;
			candidate->cases_known = true;
			if (reference->address == insn->address
				    ? !is_switch_target(cfg, i)
				    : reference->branch &&
					      cfg_find_insn(cfg, reference->address) < 0)
				return true;
		}
	}
	return false;
}

/* Return true if the address is known to more than direct calls. */
static bool is_taken(const struct candidate *candidate, const struct references *references)
{
	uint64_t address = candidate->procedure->address;

	for (size_t r = find_reference(references, address);
	     r < references->count && references->all[r].address == address; r++) {
		if (!references->all[r].branch && !references->all[r].of_start)
			return true;
	}
	return false;
}

/* Return true for the code of a section that is entered only at its start. */
static bool is_one_procedure(const struct candidates *candidates, const struct candidate *candidate)
{
	static const char *const names[] = {"[.plt]", "[.init]", "[.fini]"};
	const struct cfg *cfg = candidate->cfg;
	size_t count, name_bytes, entries = 0;
	const uint8_t *text;
	const Elf64_Shdr *sections =
		elf_image_sections(candidates->image, &count, &text, &name_bytes);
	bool known = false, begins = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		known |= strcmp(candidate->procedure->name, names[i]) == 0;
	for (size_t i = 0; i < count; i++)
		begins |= sections[i].sh_addr == candidate->procedure->address;
	for (uint32_t e = 0; e < cfg->edge_count; e++)
		entries += cfg->edges[e].kind == CFG_EDGE_ENTRY;
	return candidates->stubs && known && begins && entries == 1;
}

static void examine_candidate(const struct candidates *candidates, struct candidate *candidate)
{
	const struct cfg *cfg = candidate->cfg;

	if (candidate->procedure->source == PROCEDURE_SECTION &&
	    !is_one_procedure(candidates, candidate))
		candidate_keep(candidate, "unknown procedure bounds");
	else if (elf_image_is_writable(candidates->image, candidate->procedure->address))
		candidate_keep(candidate, "code that may be modified");
	else if (cfg->missing || cfg->unresolved_jumps > 0)
		candidate_keep(candidate, "a jump with unknown targets");
	else if (cfg->bad_bytes > cfg->twice)
		candidate_keep(candidate, "bytes that cannot be decoded");
	else if (unsupported_runtime_is_fixed(candidates->image, candidate->procedure->address))
		candidate_keep(candidate, "addresses that a runtime compares");
}

static int add_candidate(struct candidates *candidates, size_t index)
{
	const struct procedure *procedure =
		procedure_table_get(image_code_procedures(candidates->code), index);
	struct candidate *candidate = &candidates->all[candidates->count];
	struct error why;
	int r;

	candidates->of[index] = -1;
	if (procedure->source == PROCEDURE_PLT && !candidates->stubs)
		return 0;
	*candidate = (struct candidate){.index = index, .procedure = procedure};
	r = cfg_create(&candidate->cfg, candidates->code, index, NULL, &why);
	if (r == -ENOMEM)
		return r;
	if (r == -ENOENT) /* a part of another procedure */
		return 0;
	if (r < 0) {
		candidate->cfg = NULL;
		candidate_keep(candidate, "no code");
	} else {
		examine_candidate(candidates, candidate);
		if (candidate->procedure->source != PROCEDURE_SECTION &&
		    candidate->cfg->bad_bytes == 0 &&
		    gs_use_find(candidates->image, candidates->code, candidate->cfg))
			return -ENOTSUP;
		candidates->switches_stacks |= stack_switch_find(candidates->code, candidate->cfg);
		for (uint32_t i = 0; i < candidate->cfg->insn_count; i++)
			candidate->bytes += candidate->cfg->insns[i].bytes;
	}
	candidates->of[index] = (long)candidates->count++;
	return 0;
}

/* If flags are live across calls in one procedure, all procedures are analysed again. */
int candidates_find_liveness(struct candidates *candidates)
{
	int r = 0;

	for (int round = 0; round < 2; round++) {
		for (size_t c = 0; r == 0 && c < candidates->count; c++) {
			struct candidate *candidate = &candidates->all[c];
			bool again = round == 1 && candidates->across;

			if (candidate->kept || (round == 1 && !again))
				continue;
			liveness_deinit(&candidate->liveness);
			r = liveness_find(&candidate->liveness, candidate->cfg,
					  candidate->calls.at != NULL ? &candidate->calls : NULL,
					  again);
			if (r == 0 && round == 0)
				candidates->across |= liveness_crosses(&candidate->liveness);
		}
	}
	return r;
}

int candidates_find(struct candidates *ret, struct image_code *code, const struct elf_image *image)
{
	size_t count = procedure_table_count(image_code_procedures(code));
	struct references references = {0};
	int r = 0;

	*ret = (struct candidates){
		.stubs = ret->stubs,
		.all = calloc(count + 1, sizeof(*ret->all)),
		.of = calloc(count + 1, sizeof(*ret->of)),
		.code = code,
		.image = image,
	};
	if (ret->all == NULL || ret->of == NULL)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < count; i++)
		r = add_candidate(ret, i);
	if (r == 0)
		add_all(ret, &references);
	if (references.failed)
		r = -ENOMEM;
	if (r == 0 && references.count > 0)
		qsort(references.all, references.count, sizeof(*references.all), by_address);
	for (size_t c = 0; r == 0 && c < ret->count; c++) {
		ret->all[c].taken = is_taken(&ret->all[c], &references);
		if (!ret->all[c].kept && is_jumped_into(&ret->all[c], &references))
			candidate_keep(&ret->all[c], "jumps into it from other procedures");
	}
	free(references.all);
	return r;
}

/* Return the index of the first frame of the code at an address. The frame may begin before it. */
static size_t first_frame(const struct unwind_frames *frames, uint64_t address)
{
	size_t first = unwind_frames_first(frames, address);

	if (first > 0 && address - frames->all[first - 1].start < frames->all[first - 1].bytes)
		first--;
	return first;
}

/* Visit the frames of the procedure's code, by address. */
static void visit_frames(const struct candidate *candidate, const struct unwind_frames *frames,
			 void (*visit)(void *context, const struct unwind_frame *frame),
			 void *context)
{
	const struct cfg *cfg = candidate->cfg;
	uint32_t first = 0;

	for (uint32_t i = 0; i < cfg->insn_count; i++) {
		uint64_t end = cfg->insns[i].address + cfg->insns[i].bytes;

		if (i + 1 < cfg->insn_count && cfg->insns[i + 1].address <= end)
			continue;
		for (size_t f = first_frame(frames, cfg->insns[first].address);
		     f < frames->count && frames->all[f].start < end; f++)
			visit(context, &frames->all[f]);
		first = i + 1;
	}
}

static int candidate_by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

struct cut_finder {
	struct candidate *candidate;
	const struct unwind_frames *frames;
	bool failed;
};

static void add_cut(void *context, uint64_t address)
{
	struct cut_finder *finder = context;
	struct candidate *candidate = finder->candidate;

	if (array_reserve(&candidate->cuts, &candidate->cut_capacity, candidate->cut_count + 1,
			  sizeof(*candidate->cuts)) < 0) {
		finder->failed = true;
		return;
	}
	candidate->cuts[candidate->cut_count++] = address;
}

static void add_frame(void *context, const struct unwind_frame *frame)
{
	struct cut_finder *finder = context;

	if (unwind_frame_cuts(finder->frames, frame, add_cut, finder) < 0)
		candidate_keep(finder->candidate, "an unsupported frame");
}

int candidates_find_frames(struct candidates *candidates, const struct unwind_frames *frames)
{
	for (size_t c = 0; c < candidates->count; c++) {
		struct cut_finder finder = {.candidate = &candidates->all[c], .frames = frames};

		if (!candidates->all[c].kept)
			visit_frames(&candidates->all[c], frames, add_frame, &finder);
		if (finder.candidate->cut_count > 0)
			qsort(finder.candidate->cuts, finder.candidate->cut_count,
			      sizeof(*finder.candidate->cuts), candidate_by_value);
		if (finder.failed)
			return -ENOMEM;
	}
	return 0;
}

void candidate_drop_clones(struct candidate *candidate)
{
	count_graph_deinit(&candidate->graph);
	procedure_clone_deinit(&candidate->clone);
	procedure_clone_deinit(&candidate->recording);
	old_code_deinit(&candidate->old);
}

void candidates_deinit(struct candidates *candidates)
{
	for (size_t c = 0; c < candidates->count; c++) {
		struct candidate *candidate = &candidates->all[c];

		candidate_drop_clones(candidate);
		liveness_deinit(&candidate->liveness);
		free(candidate->calls.at);
		free(candidate->cuts);
		cfg_destroy(candidate->cfg);
	}
	free(candidates->all);
	free(candidates->of);
	*candidates = (struct candidates){0};
}

long candidates_of(const struct candidates *candidates, uint64_t address)
{
	long index = image_code_find(candidates->code, address);

	return index < 0 ? -1 : candidates->of[index];
}

long candidates_at(const struct candidates *candidates, uint64_t address)
{
	long candidate = candidates_of(candidates, address);

	return candidate >= 0 && candidates->all[candidate].procedure->address == address
		       ? candidate
		       : -1;
}
