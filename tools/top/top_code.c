// SPDX-License-Identifier: GPL-2.0-only
#include "tools/top/top_code.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/base/text.h"
#include "tools/annotate/calc_blocks.h"
#include "tools/annotate/calc_source.h"
#include "tools/annotate/calc_finding.h"
#include "tools/annotate/calc_summary_text.h"

/* struct session - a database that is open while one procedure is analysed */
struct session {
	const struct top_config *config;
	struct profile_reader *reader;
	struct profile_filter filter;
	struct calc_source source;
	struct calc_choice choice;
	struct top_code code;
	const struct top_code *before;
};

static void session_deinit(struct session *session)
{
	top_code_deinit(&session->code);
	calc_choice_deinit(&session->choice);
	calc_source_deinit(&session->source);
	profile_reader_close(session->reader);
}

void top_code_deinit(struct top_code *code)
{
	free(code->lines);
	free(code->explanation);
	free(code->name);
	*code = (struct top_code){0};
}

static void make_causes(struct top_line *line, const struct procedure_analysis *analysis,
			uint32_t insn)
{
	enum culprit_cause causes[CALC_BUBBLE_CAUSES];
	unsigned int count =
		calc_bubbles_causes(causes, &analysis->schedule.insns[insn],
				    &analysis->culprits.insns[insn], analysis->culprits.list);
	uint32_t culprits[CALC_CELLS_CULPRITS];
	size_t shown = calc_cells_culprits(analysis, insn, culprits), length = 0;

	for (unsigned int i = 0; i < count; i++)
		line->causes[i] = culprit_letter(causes[i]);
	for (size_t i = 0; i < shown && count > 0 && length < TOP_CULPRITS_BYTES; i++)
		length += (size_t)snprintf(line->culprits + length, TOP_CULPRITS_BYTES - length,
					   "%s0x%" PRIx64, i > 0 ? "," : "",
					   analysis->cfg->insns[culprits[i]].address);
}

/* Compute the samples of an instruction since the previous reading. */
static void top_code_compare(struct session *session, struct top_line *line, size_t index)
{
	const struct top_code *before = session->before;

	if (index >= before->count || before->lines[index].address != line->address)
		return;
	line->has_interval = true;
	line->interval = line->samples - before->lines[index].samples;
}

static void make_line(struct session *session, const struct calc_procedure *procedure,
		      uint32_t insn)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	uint32_t block = analysis->cfg->block_of[insn];
	bool first = analysis->cfg->blocks[block].first == insn;
	struct top_line *line = &session->code.lines[session->code.count];
	struct calc_cells_executions cells;

	*line = (struct top_line){
		.address = analysis->cfg->insns[insn].address,
		.samples = analysis->profile.samples[insn],
	};
	if (session->code.samples > 0)
		line->share = 100 * line->samples / session->code.samples;
	calc_procedure_text(procedure, insn, line->text);
	if (first && calc_cells_executions(procedure, &analysis->frequency.blocks[block], &cells))
		memcpy(line->ran, cells.value, sizeof(line->ran));
	calc_cells_cpi(procedure, insn, calc_procedure_block(procedure, block).samples > 0, false,
		       line->cpi);
	make_causes(line, analysis, insn);
	top_code_compare(session, line, session->code.count);
	session->code.count++;
}

static int top_code_explain(struct session *session, const struct calc_procedure *procedure)
{
	size_t bytes;
	FILE *stream = open_memstream(&session->code.explanation, &bytes);

	if (stream == NULL)
		return -ENOMEM;
	calc_summary_text_print(stream, procedure);
	if (fclose(stream) != 0)
		return -ENOMEM;
	/* Join the lines; the text is wrapped again to the screen's width. */
	for (char *end = session->code.explanation; (end = strchr(end, '\n')) != NULL;)
		*end = ' ';
	return 0;
}

static int top_code_take_procedure(void *context, const struct procedure_analysis *analysis)
{
	struct session *session = context;
	const struct cfg *cfg = analysis->cfg;
	struct calc_procedure procedure = {.code = session->choice.code, .analysis = analysis};
	_cleanup_(procedure_names_deinit) struct procedure_names names = {0};
	const struct calc_finding worst = calc_finding_stall(analysis);
	size_t worst_line = SIZE_MAX;

	if (calc_procedure_names(&names, session->choice.code, analysis->index,
				 session->config->demangle) < 0)
		return -ENOMEM;
	session->code.name = take_ptr(names.name);
	session->code.lines = calloc(cfg->insn_count + 1, sizeof(*session->code.lines));
	session->code.samples = calc_procedure_samples(&procedure);
	session->code.model = analysis->model->name;
	if (session->code.lines == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < cfg->block_count; i++) {
		const struct cfg_block *block = &cfg->blocks[i];
		double samples = calc_procedure_block(&procedure, i).samples;

		if (calc_blocks_is_padding(block, samples))
			continue;
		for (uint32_t k = block->first; k < block->first + block->count; k++) {
			if (worst.kind == CALC_FINDING_DYNAMIC && k == worst.insn)
				worst_line = session->code.count;
			make_line(session, &procedure, k);
		}
	}
	session->code.worst = worst_line == SIZE_MAX ? session->code.count : worst_line;
	return top_code_explain(session, &procedure);
}

static const struct calc_image *find_image(const struct calc_images *images, int64_t id)
{
	for (size_t i = 0; i < images->count; i++) {
		if (images->list[i].id == id)
			return &images->list[i];
	}
	return NULL;
}

static int top_code_choose(struct session *session, int64_t id, uint64_t address, struct error *err)
{
	const struct calc_image *image = find_image(&session->source.images, id);
	int r;

	if (image == NULL)
		return error_set(err, ENOENT, "the image has no samples of time");
	r = calc_select_open(&session->choice, &session->source.select, image, err);
	if (r == 0 && calc_select_address(&session->choice, address) < 0)
		r = error_set(err, ENOENT, "no procedure is at 0x%" PRIx64, address);
	return r;
}

static int read_samples(struct session *session, struct error *err)
{
	int r = profile_reader_open(&session->reader, session->config->database, err);

	if (r == 0)
		r = profile_reader_snapshot(session->reader, err);
	if (r == 0)
		r = calc_source_load(&session->source, session->reader, &session->filter, NULL,
				     NULL, &session->config->debug, err);
	return r;
}

int top_code_read(struct top_code *code, const struct top_config *config, int64_t epoch,
		  int64_t image, uint64_t address, struct error *err)
{
	_cleanup_(session_deinit) struct session session = {
		.config = config,
		.filter = {.epochs = &epoch, .epoch_count = 1},
		.before = code,
	};
	struct image_analysis_options options;
	int r = read_samples(&session, err);

	if (r == 0)
		r = top_code_choose(&session, image, address, err);
	if (r == 0)
		r = calc_source_options(&session.source, &session.choice, NULL, &options, err);
	if (r == 0)
		r = image_analysis_run(session.choice.code, &session.choice.profile.samples,
				       &options, top_code_take_procedure, &session, NULL, err);
	if (r < 0)
		return r == -ENOMEM ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : r;
	top_code_deinit(code);
	*code = session.code;
	session.code = (struct top_code){0};
	return 0;
}
