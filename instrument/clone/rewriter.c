// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/rewriter.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "instrument/codegen/runtime_blob.h"
#include "instrument/clone/reg_summary.h"
#include "instrument/clone/clone_frames.h"
#include "instrument/clone/unsupported_runtime.h"
#include "instrument/clone/rewriter_internal.h"
#include "instrument/clone/rewriter_report.h"
#include "instrument/clone/shared_code.h"
#include "instrument/clone/call_site.h"
#include "instrument/clone/burst_switch_entries.h"
#include "lib/error.h"
#include "lib/error_text.h"

#define CODE_ALIGN 64

/* --- the runtime ---------------------------------------------------------- */

static int prepare_runtime(struct rewriter *rewriter, struct error *err)
{
	static const uint32_t unknown = PROFILE_LAYOUT_UNKNOWN;
	int64_t slot;
	int r = 0;

	if (rewriter->image.shared)
		r = elf_image_dynamic(&rewriter->image, &rewriter->shared.dynamic, err);
	if (r == 0)
		r = elf_image_widen_tls(&rewriter->image, &slot, err);
	if (r < 0)
		return r;
	if (slot < INT32_MIN)
		return error_set(err, ENOTSUP, "its thread-local data are too large");
	if (!rewriter->image.shared)
		memcpy(rewriter->image.template, &unknown, sizeof(unknown));
	rewriter->shared.slot = slot;
	rewriter->runtime = (struct runtime_code){
		.slot = slot,
		.ready = PROFILE_LAYOUT_THREAD_READY,
		.process_ready = PROFILE_LAYOUT_PROCESS_READY,
		.shared = rewriter->image.shared,
	};
	return 0;
}

/* To be called when the mode has set the number of checks. */
static int make_stubs(struct rewriter *rewriter, struct error *err)
{
	static const int32_t below_zero = -1;
	bool bursts = rewriter->mode->bursts;

	_Static_assert(PROFILE_LAYOUT_SLOT_CHECKS + PROFILE_LAYOUT_COUNTERS * sizeof(below_zero) <=
			       ELF_IMAGE_ALIGN,
		       "the executable has no space for its checks");
	for (uint32_t c = 0; bursts && c < PROFILE_LAYOUT_COUNTERS; c++)
		memcpy(rewriter->image.template + PROFILE_LAYOUT_SLOT_CHECKS +
			       c * sizeof(below_zero),
		       &below_zero, sizeof(below_zero));
	if (stubs_make(&rewriter->stubs, elf_image_code_address(&rewriter->image),
		       elf_image_entry(&rewriter->image), &rewriter->runtime,
		       bursts ? &rewriter->recorded.bursts : NULL) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return 0;
}

/* --- cloning -------------------------------------------------------------- */

static const uint8_t *bytes_of(void *context, uint64_t address, size_t count)
{
	const struct rewriter *rewriter = context;

	return elf_image_at(&rewriter->image, address, count);
}

static long find_candidate(void *context, uint64_t address)
{
	const struct rewriter *rewriter = context;

	return candidates_at(&rewriter->candidates, address);
}

static int entry_of(void *context, const struct cfg_table *table, uint32_t index, uint64_t *target)
{
	const struct rewriter *rewriter = context;

	return cfg_table_target(table, rewriter->code, index, target);
}

static bool may_fork(void *context, const struct insn *call)
{
	const struct rewriter *rewriter = context;

	return call_site_forks(rewriter->code, call);
}

static size_t padding_at(void *context, uint64_t address)
{
	const struct rewriter *rewriter = context;

	return call_site_padding(rewriter->code, &rewriter->image, address);
}

/* Clone a procedure as planned by the mode. Return: as for procedure_clone_make(). */
static int clone_planned(struct rewriter *rewriter, struct candidate *candidate,
			 const struct mode_plan *plan, struct error *why)
{
	struct clone_source source = {
		.cfg = candidate->cfg,
		.graph = &candidate->graph,
		.liveness = &candidate->liveness,
		.runtime = &rewriter->runtime,
		.mode = rewriter->mode,
		.plan = plan,
		.bytes = bytes_of,
		.find = find_candidate,
		.entry_of = entry_of,
		.fixed = !rewriter->image.pie,
		.forks = may_fork,
		.context = rewriter,
		.bursts = rewriter->recorded.bursts,
		.checked = rewriter->checked,
		.number = (uint32_t)plan->procedure->candidate,
		.entry = candidate->procedure->address,
		.cases_known = candidate->cases_known,
		.cuts = candidate->cuts,
		.cut_count = candidate->cut_count,
	};
	int r;

	if (rewriter->mode->bursts) {
		source.variant = CLONE_INSTRUMENTED;
		r = procedure_clone_make(&candidate->recording, &source, why);
		if (r < 0)
			return r;
		source.variant = CLONE_CHECKING;
	}
	r = procedure_clone_make(&candidate->clone, &source, why);
	if (r < 0)
		return r;
	r = old_code_plan(&candidate->old, candidate->cfg, &candidate->graph, &candidate->clone,
			  padding_at, rewriter);
	return r == -ENOSPC ? error_set(why, ENOTSUP, "too short for a jump") : r;
}

/* @trial: only find out if the procedure can be cloned; allocate nothing for it. */
static int clone_candidate(struct rewriter *rewriter, struct candidate *candidate, bool trial,
			   struct error *err)
{
	struct mode_procedure procedure = {
		.name = candidate->procedure->name,
		.address = candidate->procedure->address,
		.candidate = (size_t)(candidate - rewriter->candidates.all),
		.cfg = candidate->cfg,
		.graph = &candidate->graph,
		.liveness = &candidate->liveness,
	};
	struct mode_plan plan = {
		.image = &rewriter->recorded,
		.procedure = &procedure,
		.first_word = rewriter->recorded.words,
	};
	struct error why;
	int r = count_graph_create(&candidate->graph, candidate->cfg, NULL, NULL);

	if (r < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	r = rewriter->mode->plan(&plan, &why);
	if (r == 0)
		r = clone_planned(rewriter, candidate, &plan, &why);
	if (r == 0 && !trial) {
		rewriter->recorded.words += plan.words;
		r = rewriter->mode->commit(&rewriter->recorded, &plan);
	}
	rewriter->mode->drop(&plan);
	if (r == -ENOMEM)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r < 0)
		candidate_keep(candidate, why.message);
	return 0;
}

static int try_all(struct rewriter *rewriter, struct error *err)
{
	int r = 0;

	for (size_t c = 0; r == 0 && c < rewriter->candidates.count; c++) {
		if (!rewriter->candidates.all[c].kept)
			r = clone_candidate(rewriter, &rewriter->candidates.all[c], true, err);
	}
	shared_code_keep(&rewriter->candidates);
	for (size_t c = 0; c < rewriter->candidates.count; c++)
		candidate_drop_clones(&rewriter->candidates.all[c]);
	return r;
}

/*
 * Place the checks that end all recursions, among the procedures that are cloned. A trial
 * with arbitrary checks finds these procedures.
 */
static int place_checks(struct rewriter *rewriter, struct error *err)
{
	enum burst_switch_entries entries = rewriter->recorded.bursts.placement.entries;
	int r;

	if (!rewriter->mode->bursts)
		return 0;
	rewriter->checked = calloc(rewriter->candidates.count + 1, sizeof(*rewriter->checked));
	if (rewriter->checked == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	r = try_all(rewriter, err);
	if (r < 0)
		return r;
	r = burst_switch_entries_of_image(rewriter->checked, &rewriter->recursion, entries);
	return r < 0 ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : 0;
}

static struct burst_switch_placement placement_of(const struct rewriter *rewriter)
{
	const struct burst_switch_placement *wanted = rewriter->options->of_mode.placement;

	return wanted != NULL ? *wanted : BURST_SWITCH_PLACEMENT_DEFAULT;
}

/* Define the layout of a thread's memory, which the code depends on. */
static int begin_mode(struct rewriter *rewriter, struct error *err)
{
	struct mode_image *recorded = &rewriter->recorded;
	struct profile_layout_state *state = &rewriter->state;
	int r = 0;

	if (rewriter->image.shared && !rewriter->mode->shared)
		return error_set(err, ENOTSUP,
				 "it is a shared object: mode '%s' supports only executables",
				 rewriter->mode->name);
	recorded->recursion = &rewriter->recursion;
	recorded->bursts.placement = placement_of(rewriter);
	if (rewriter->mode->recursion || rewriter->mode->bursts)
		r = recursion_find(&rewriter->recursion, &rewriter->candidates);
	if (r < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	r = rewriter->mode->begin(recorded, err);
	if (r < 0)
		return r;
	state->mode = rewriter->mode->number;
	state->range = rewriter->image.shared ? shared_object_range(recorded->number)
					      : PROFILE_LAYOUT_RANGE;
	state->head_bytes = elf_image_round_up(recorded->private_bytes, ELF_IMAGE_PAGE);
	state->area_bytes = elf_image_round_up(recorded->area_bytes, CODE_ALIGN);
	if (state->head_bytes + state->area_bytes > INT32_MAX / 2)
		return error_set(err, ENOTSUP, "the mode needs too much memory");
	recorded->area_at = (uint32_t)(state->range + state->head_bytes);
	recorded->bursts.at = recorded->area_at;
	if (rewriter->mode->bursts)
		state->bursts = (struct profile_layout_switch){
			.checks = (int32_t)(recorded->bursts.first != 0 ? recorded->bursts.first
									: recorded->bursts.checks),
			.burst = 1,
		};
	recorded->words_at = recorded->area_at + (uint32_t)state->area_bytes;
	return 0;
}

/* Place one part of all recording clones, or of all other clones, from an offset on. Return: offset
 * of its end. */
static uint64_t place_part(struct candidates *candidates, enum machine_part part, bool records,
			   uint64_t offset)
{
	for (size_t c = 0; c < candidates->count; c++) {
		struct candidate *candidate = &candidates->all[c];
		uint64_t *begin = records ? &candidate->recording_offset : &candidate->offset;
		struct machine_code *code =
			records ? &candidate->recording.code : &candidate->clone.code;

		if (candidate->kept)
			continue;
		if (part == MACHINE_HOT) {
			*begin = offset;
			machine_code_begin(code, offset);
		} else {
			machine_code_place_cold(code, offset - *begin);
		}
		offset = elf_image_round_up(offset + code->parts[part].bytes, CLONE_ALIGN);
	}
	return offset;
}

/*
 * The most frequently executed code comes first. Recording clones run rarely and are several times
 * as long as checking clones. If they were placed in between, checking clones would occupy several
 * times the pages and cache sets; the same holds for cold parts.
 */
static uint64_t place_clones(struct rewriter *rewriter, uint64_t offset)
{
	struct candidates *candidates = &rewriter->candidates;

	offset = place_part(candidates, MACHINE_HOT, false, offset);
	offset = place_part(candidates, MACHINE_COLD, false, offset);
	offset = place_part(candidates, MACHINE_HOT, true, offset);
	return place_part(candidates, MACHINE_COLD, true, offset);
}

static int clone_all(struct rewriter *rewriter, struct error *err)
{
	const struct mode_image *recorded = &rewriter->recorded;
	uint64_t offset = elf_image_round_up(runtime_blob_bytes(), CODE_ALIGN), block_bytes;
	size_t cloned = 0;
	int r = 0;

	rewriter->stubs_offset = offset;
	offset = elf_image_round_up(offset + rewriter->stubs.code.parts[MACHINE_HOT].bytes,
				    CODE_ALIGN);
	if (rewriter->image.shared)
		offset = shared_object_code(&rewriter->shared, &rewriter->image, offset);
	for (size_t c = 0; r == 0 && c < rewriter->candidates.count; c++) {
		struct candidate *candidate = &rewriter->candidates.all[c];

		if (candidate->kept)
			continue;
		r = clone_candidate(rewriter, candidate, false, err);
		cloned += r == 0 && !candidate->kept;
	}
	rewriter->code_bytes = place_clones(rewriter, offset);
	block_bytes = rewriter->state.area_bytes + (recorded->words + 1) * sizeof(uint64_t) +
		      recorded->slack_bytes;
	rewriter->state.counters = recorded->words;
	rewriter->state.block_bytes = elf_image_round_up(block_bytes, ELF_IMAGE_PAGE);
	if (r == 0 && cloned == 0)
		return error_set(err, ENOTSUP, "none of its procedures can be rewritten");
	if (r == 0 &&
	    block_bytes + rewriter->state.head_bytes >
		    (rewriter->image.shared ? SHARED_OBJECT_RANGE_BYTES
					    : PROFILE_LAYOUT_SHARED_RANGES - PROFILE_LAYOUT_RANGE))
		return error_set(err, ENOTSUP, "it needs too many counters");
	return r;
}

/* After all other added code. */
static int place_shared(struct rewriter *rewriter, struct error *err)
{
	uint64_t end;

	if (!rewriter->image.shared)
		return 0;
	end = shared_object_place(&rewriter->shared, &rewriter->candidates, rewriter->code_bytes);
	if (end == 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	rewriter->code_bytes = end;
	return 0;
}

/* --- unwinding ------------------------------------------------------------ */

/* After the code. */
static int write_frames(struct rewriter *rewriter, struct error *err)
{
	struct clone_frames info = {
		.writer = &rewriter->unwind,
		.frames = &rewriter->frames,
		.candidates = &rewriter->candidates,
		.stubs = &rewriter->stubs,
		.code = elf_image_code_address(&rewriter->image),
		.stubs_offset = rewriter->stubs_offset,
	};
	uint64_t index;
	size_t index_bytes;
	int r;

	if (rewriter->frames.count == 0)
		return 0;
	rewriter->unwind_offset = elf_image_round_up(rewriter->code_bytes, CODE_ALIGN);
	r = unwind_writer_init(&rewriter->unwind, &rewriter->frames,
			       elf_image_code_address(&rewriter->image) + rewriter->unwind_offset);
	if (r == 0)
		r = clone_frames_write(&info);
	if (r == 0)
		r = unwind_writer_end(&rewriter->unwind, &index, &index_bytes);
	if (r < 0)
		return error_set(err, -r, "cannot describe the new code's frames");
	elf_image_set_unwind_index(&rewriter->image, index, index_bytes);
	rewriter->code_bytes = rewriter->unwind_offset + rewriter->unwind.bytes;
	return 0;
}

/* --- all of it ------------------------------------------------------------ */

static uint64_t mix_text(uint64_t seed, const char *text)
{
	return text != NULL ? XXH3_64bits_withSeed(text, strlen(text), seed) : seed;
}

/*
 * Return the number that identifies the rewriting in a profile: a hash of the original file, the
 * mode, and all options that affect the meaning of counters.
 */
static uint64_t number_of(const struct rewriter *rewriter)
{
	const struct mode_options *options = &rewriter->options->of_mode;
	struct burst_switch_placement placement = placement_of(rewriter);
	uint32_t numbers[] = {
		options->checks, options->burst, placement.entries, (uint32_t)placement.unchecked,
		options->all,	 options->room,	 options->whole,    options->sites};
	uint64_t seed = XXH3_64bits_withSeed(numbers, sizeof(numbers), rewriter->mode->number);

	seed = mix_text(seed, rewriter->mode->name);
	seed = mix_text(seed, options->metric);
	seed = mix_text(seed, rewriter->options->debug);
	return XXH3_64bits_withSeed(rewriter->image.file, rewriter->image.bytes, seed) | 1;
}

static int read_frames(struct rewriter *rewriter, struct error *err)
{
	int r = unwind_frames_read(&rewriter->frames, image_code_file(rewriter->code));

	if (r == 0)
		r = candidates_find_frames(&rewriter->candidates, &rewriter->frames);
	return r < 0 ? error_set(err, -r, ERROR_NO_MEMORY) : 0;
}

static int rewrite(struct rewriter *rewriter, const char *path, struct error *err)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE, .path = path};
	struct debug_file_options debug = {.directory = rewriter->options->debug};
	const char *why;
	int r = elf_image_open(&rewriter->image, path, err);

	if (r == 0)
		r = image_code_open(&rewriter->code, &image, &debug, err);
	if (r < 0)
		return r;
	why = unsupported_runtime_find(image_code_file(rewriter->code));
	if (why != NULL)
		return error_set(err, ENOTSUP, "'%s' cannot be rewritten: %s", path, why);
	rewriter->recorded.number = number_of(rewriter);
	rewriter->path = realpath(path, NULL);
	if (rewriter->path == NULL)
		return error_set_errno(err, ERROR_FIND, path);
	rewriter->recorded.path = rewriter->path;
	rewriter->recorded.build_id = image_code_build_id(rewriter->code);
	rewriter->candidates.stubs = rewriter->mode->stubs;
	r = candidates_find(&rewriter->candidates, rewriter->code, &rewriter->image);
	if (r == -ENOTSUP)
		return error_set(err, ENOTSUP,
				 "'%s' cannot be rewritten: it uses %%gs, where rewritten programs "
				 "have their counters",
				 path);
	if (r < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r == 0 && (reg_summary_find(&rewriter->candidates) < 0 ||
		       candidates_find_liveness(&rewriter->candidates) < 0))
		r = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r == 0)
		r = read_frames(rewriter, err);
	if (r == 0)
		r = prepare_runtime(rewriter, err);
	if (r == 0)
		r = begin_mode(rewriter, err);
	if (r == 0)
		r = make_stubs(rewriter, err);
	if (r == 0)
		r = place_checks(rewriter, err);
	if (r == 0)
		r = clone_all(rewriter, err);
	if (r == 0)
		shared_code_keep(&rewriter->candidates);
	if (r == 0)
		r = write_frames(rewriter, err);
	if (r == 0)
		r = place_shared(rewriter, err);
	if (r == 0)
		r = rewriter_write(rewriter, err);
	if (r < 0)
		return r;
	rewriter_report_fill(rewriter->report, &rewriter->candidates);
	if (rewriter->options->left != NULL)
		rewriter_report_left(&rewriter->candidates, rewriter->options->left,
				     rewriter->options->context);
	rewriter->report->new_bytes = rewriter->code_bytes;
	rewriter->report->counters = rewriter->recorded.words - rewriter->recorded.free_words;
	return 0;
}

int rewriter_run(const char *path, const struct rewriter_options *options,
		 struct rewriter_report *report, struct error *err)
{
	struct rewriter rewriter = {
		.options = options,
		.mode = mode_refine(options->mode, &options->of_mode),
		.report = report,
	};
	int r;

	rewriter.recorded.options = &options->of_mode;
	rewriter.recorded.runtime = &rewriter.runtime;
	r = rewrite(&rewriter, path, err);
	rewriter.mode->end(&rewriter.recorded);
	recursion_deinit(&rewriter.recursion);
	free(rewriter.checked);
	candidates_deinit(&rewriter.candidates);
	shared_object_deinit(&rewriter.shared);
	unwind_writer_deinit(&rewriter.unwind);
	unwind_frames_deinit(&rewriter.frames);
	stubs_deinit(&rewriter.stubs);
	free(rewriter.out);
	free(rewriter.path);
	image_code_close(rewriter.code);
	elf_image_close(&rewriter.image);
	return r;
}
