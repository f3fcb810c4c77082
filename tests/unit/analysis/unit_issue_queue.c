// SPDX-License-Identifier: GPL-2.0-only
/*
 * The issue queue on random straight-line code, checked with all pairs of instructions and all
 * assignments to pipes: no instruction may issue too early. Also random graphs, for the invariants
 * of any schedule.
 */
#include "tests/lib/unit.h"

#include <elf.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analysis/graph/cfg_create.h"
#include "analysis/machine/issue_queue.h"
#include "analysis/machine/machine_model.h"

#define STREAM 60
#define ROUNDS unit_rounds(4000)

static const struct insn_decoder *decoder_of(const struct machine_model *model)
{
	static const uint16_t machines[] = {EM_X86_64, EM_AARCH64, EM_ALPHA};

	for (size_t i = 0; i < 3; i++) {
		const struct insn_decoder *decoder = insn_decoder_find(machines[i]);

		if (decoder != NULL && decoder->isa == model->isa)
			return decoder;
	}
	return NULL;
}

/* Make words like those of compilers: few registers, so that there are dependences. */
static uint32_t random_word(uint64_t *random, enum insn_isa isa)
{
	uint32_t word = (uint32_t)unit_random(random);

	if (isa == INSN_ISA_ALPHA)
		word &= 0xfc000000 | 3U << 21 | 3U << 16 | 0x1fe3;
	else
		word &= ~(0x1cU | 0x1cU << 5 | 0x1cU << 16);
	return word;
}

struct stream {
	struct insn insns[STREAM];
	uint8_t classes[STREAM];
	int32_t cycles[STREAM]; /* cycle of issue */
	struct issue_event events[STREAM];
	size_t count;
};

static void make_stream(struct stream *stream, const struct machine_model *model, uint64_t *random)
{
	const struct insn_decoder *decoder = decoder_of(model);
	uint64_t address = 0x10000 + (unit_random(random) % 4) * 4;

	stream->count = 0;
	while (stream->count < STREAM) {
		uint32_t word = random_word(random, model->isa);
		struct insn *insn = &stream->insns[stream->count];

		if (decoder->decode(insn, (const uint8_t *)&word, 4, address) == 0 ||
		    insn->class == INSN_SYSTEM || insn->class == INSN_BARRIER ||
		    (insn->flow != INSN_FLOW_NEXT && insn->flow != INSN_FLOW_BRANCH))
			continue;
		stream->classes[stream->count] = machine_issue_class(model->issue, insn);
		stream->count++;
		address += 4;
	}
}

static void run_stream(struct stream *stream, const struct machine_issue *issue)
{
	struct issue_queue queue;
	int32_t cycle = 0;

	issue_queue_init(&queue, issue);
	for (uint32_t i = 0; i < stream->count; i++) {
		issue_queue_add(&queue, &stream->insns[i], stream->classes[i], i,
				&stream->events[i]);
		cycle += (int32_t)stream->events[i].cycles;
		stream->cycles[i] = cycle;
	}
}

/* Find the operands that use a register, by a simple search. */
static unsigned int operands_of(const struct insn *insn, unsigned int reg)
{
	unsigned int operands = 0;

	for (unsigned int i = 0; i < INSN_SOURCES; i++)
		if (insn->sources[i] == reg)
			operands |= ISSUE_OPERAND(i);
	if (insn->memory.base == reg || insn->memory.index == reg)
		operands |= ISSUE_OPERAND_ADDRESS;
	if (operands == 0)
		operands = reg >= INSN_REG_FLAGS && reg < INSN_REG_FP ? ISSUE_OPERAND_FLAGS
								      : ISSUE_OPERAND_OTHER;
	return operands;
}

static uint8_t writer_class(const struct stream *s, const struct machine_issue *issue, size_t i,
			    unsigned int reg)
{
	const struct insn *insn = &s->insns[i];

	return insn->memory.pushes && insn->memory.base == reg && insn->destination != reg
		       ? issue->writeback_class
		       : s->classes[i];
}

static void check_operands(const struct stream *s, const struct machine_issue *issue, size_t i)
{
	for (unsigned int reg = 0; reg < INSN_REGS; reg++) {
		unsigned int operands = operands_of(&s->insns[i], reg);
		size_t writer = i;
		uint8_t by;

		while (writer > 0 && !insn_regs_has(&s->insns[writer - 1].writes, reg))
			writer--;
		if (writer-- == 0)
			continue;
		by = writer_class(s, issue, writer, reg);
		for (unsigned int bit = 1;
		     insn_regs_has(&s->insns[i].reads, reg) && bit <= operands; bit <<= 1) {
			unsigned int bypass, latency = issue->classes[by].latency;

			if ((operands & bit) == 0)
				continue;
			bypass = machine_issue_bypass(issue, by, s->classes[i], bit);
			latency = bypass < latency ? latency - bypass : 0;
			assert_true(s->cycles[i] >= s->cycles[writer] + (int32_t)latency);
		}
		if (insn_regs_has(&s->insns[i].writes, reg))
			assert_true(s->cycles[i] +
					    issue->classes[writer_class(s, issue, i, reg)].latency >
				    s->cycles[writer] + issue->classes[by].latency);
	}
}

/* Return true if instructions can share a cycle: try all assignments to pipes. */
static bool can_assign(const struct machine_issue *issue, const uint8_t *classes, size_t count,
		       unsigned int taken)
{
	const struct issue_class *c;

	if (count == 0)
		return true;
	c = &issue->classes[classes[0]];
	if (c->pipes == 0)
		return can_assign(issue, classes + 1, count - 1, taken);
	for (unsigned int pipes = 1; pipes < 256; pipes++)
		if ((pipes & ~(unsigned int)c->pipes) == 0 && (pipes & taken) == 0 &&
		    (unsigned int)__builtin_popcount(pipes) == issue_class_needs(c) &&
		    can_assign(issue, classes + 1, count - 1, taken | pipes))
			return true;
	return false;
}

static void check_company(const struct stream *s, const struct machine_issue *issue, size_t first)
{
	size_t count = 1;

	while (first + count < s->count && s->cycles[first + count] == s->cycles[first])
		count++;
	assert_true(count <= issue->width);
	assert_true(can_assign(issue, s->classes + first, count, 0));
	for (size_t i = 0; i < count; i++) {
		assert_true(count == 1 ||
			    (issue->classes[s->classes[first + i]].flags & ISSUE_ALONE) == 0);
		if (issue->group_bytes != 0)
			assert_int_equal(s->insns[first + i].address / issue->group_bytes,
					 s->insns[first].address / issue->group_bytes);
	}
}

static void check_gaps(const struct stream *s, const struct machine_issue *issue, size_t i)
{
	for (size_t j = 0; j < i; j++)
		for (uint8_t g = 0; g < issue->gap_count; g++) {
			const struct issue_gap *gap = &issue->gaps[g];

			if ((gap->first >> s->classes[j] & 1) != 0 &&
			    (gap->second >> s->classes[i] & 1) != 0)
				assert_true(s->cycles[i] != s->cycles[j] + gap->cycles);
		}
}

static void check_units(const struct stream *s, const struct machine_issue *issue, size_t i)
{
	const struct issue_class *c = &issue->classes[s->classes[i]];

	for (size_t j = 0; j < i; j++) {
		const struct issue_class *before = &issue->classes[s->classes[j]];

		if (c->unit != ISSUE_UNIT_NONE && before->unit == c->unit)
			assert_true(s->cycles[i] >= s->cycles[j] + before->unit_cycles);
		if (before->hold_cycles > 0 && s->cycles[i] > s->cycles[j] &&
		    s->cycles[i] < s->cycles[j] + before->hold_cycles)
			assert_true(c->pipes == 0 ||
				    (unsigned int)__builtin_popcount(
					    c->pipes & ~(unsigned int)before->pipes) >=
					    issue_class_needs(c));
	}
}

/*
 * Check that an instruction does not issue before its fetch: one block of code per cycle, starting
 * at the first instruction.
 */
static void check_fetch(const struct stream *s, const struct machine_issue *issue, size_t i)
{
	if (issue->fetch_bytes == 0)
		return;
	assert_true(s->cycles[i] >=
		    s->cycles[0] + (int32_t)(s->insns[i].address / issue->fetch_bytes -
					     s->insns[0].address / issue->fetch_bytes));
}

static void check_event(const struct issue_event *event, size_t index)
{
	double lost = 0;

	assert_true(event->cycles <= 200);
	assert_true(event->depends_on == UINT32_MAX || event->depends_on < index);
	for (uint32_t i = 0; i < event->stall_count; i++) {
		assert_true(event->stalls[i].cycles > 0);
		assert_true(event->stalls[i].from == UINT32_MAX || event->stalls[i].from < index);
		lost += event->stalls[i].cycles;
	}
	assert_true(lost <= event->cycles);
}

static void test_nothing_issues_too_early(void **state)
{
	uint64_t random = 3;
	struct stream stream;

	(void)state;
	for (size_t m = 0; machine_model_list()[m] != NULL; m++) {
		const struct machine_model *model = machine_model_list()[m];

		for (int round = 0; model->in_order && decoder_of(model) != NULL && round < ROUNDS;
		     round++) {
			make_stream(&stream, model, &random);
			run_stream(&stream, model->issue);
			for (size_t i = 0; i < stream.count; i++) {
				check_operands(&stream, model->issue, i);
				check_gaps(&stream, model->issue, i);
				check_units(&stream, model->issue, i);
				check_event(&stream.events[i], i);
				check_fetch(&stream, model->issue, i);
				if (i == 0 || stream.cycles[i] != stream.cycles[i - 1])
					check_company(&stream, model->issue, i);
			}
		}
	}
}

static void random_code(uint8_t *code, size_t bytes, enum insn_isa isa, uint64_t *random)
{
	for (size_t i = 0; i < bytes; i += 4) {
		uint32_t word = isa == INSN_ISA_X86_64 ? (uint32_t)unit_random(random)
						       : random_word(random, isa);

		memcpy(code + i, &word, 4);
	}
}

static void check_insn(const struct cfg *cfg, const struct schedule *schedule, uint32_t i)
{
	const struct schedule_insn *insn = &schedule->insns[i];
	const struct cfg_block *block = &cfg->blocks[cfg->block_of[i]];
	double lost = 0;

	assert_true(isfinite(insn->min_cycles) && insn->min_cycles >= 0);
	assert_true(insn->stall_count <= SCHEDULE_STALLS_MAX);
	assert_true(insn->depends_on == UINT32_MAX ||
		    (insn->depends_on < i && insn->depends_on >= block->first));
	for (uint8_t s = 0; s < insn->stall_count; s++) {
		assert_true(insn->stalls[s].cycles >= 0 && insn->stalls[s].kind < STALL_KINDS);
		assert_true(insn->stalls[s].from == UINT32_MAX ||
			    insn->stalls[s].from < cfg->insn_count);
		lost += insn->stalls[s].cycles;
	}
	assert_true(lost <= insn->min_cycles + 1e-9);
}

static bool is_loop(const struct cfg *cfg, uint32_t b)
{
	const struct cfg_block *block = &cfg->blocks[b];

	for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
		if (cfg->edges[e].to == b)
			return true;
	}
	return false;
}

static void check_schedule(const struct machine_model *model, const struct cfg *cfg,
			   const struct schedule *schedule)
{
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];
		double sum = 0;

		for (uint32_t i = block->first; i < block->first + block->count; i++) {
			check_insn(cfg, schedule, i);
			sum += schedule->insns[i].min_cycles;
		}
		assert_true(fabs(sum - schedule->block_cycles[b]) < 1e-6);
		assert_true(schedule->block_least[b] <= schedule->block_cycles[b]);
		/* Only the dependences between iterations make a difference. */
		if (!model->in_order) {
			assert_true(is_loop(cfg, b) || fabs(schedule->block_least[b] - sum) < 1e-6);
			continue;
		}
		/* The first instruction may issue together with code before the block. */
		assert_true(schedule->block_least[b] >=
			    (double)block->count / model->issue_width - 1);
		/* A single execution takes whole cycles, unlike the mean of all. */
		assert_true(schedule->block_least[b] == round(schedule->block_least[b]));
	}
}

static void test_schedules_of_random_code_are_valid(void **state)
{
	uint64_t random = 5;
	uint8_t code[400];
	size_t made = 0;

	(void)state;
	for (size_t m = 0; machine_model_list()[m] != NULL; m++) {
		const struct machine_model *model = machine_model_list()[m];

		for (int round = 0; decoder_of(model) != NULL && round < ROUNDS; round++) {
			struct schedule schedule;
			struct cfg *cfg;

			random_code(code, sizeof(code), model->isa, &random);
			if (cfg_create_from_code(&cfg, decoder_of(model), code, sizeof(code),
						 0x10000, NULL) < 0)
				continue;
			assert_int_equal(schedule_create(&schedule, model, cfg, NULL), 0);
			check_schedule(model, cfg, &schedule);
			schedule_deinit(&schedule);
			assert_int_equal(schedule_create_alone(&schedule, model, cfg), 0);
			check_schedule(model, cfg, &schedule);
			schedule_deinit(&schedule);
			cfg_destroy(cfg);
			made++;
		}
	}
	assert_true(made > (size_t)ROUNDS);
}

static const char *x86_model(const char *cpu)
{
	return machine_model_default(INSN_ISA_X86_64, cpu)->name;
}

static void test_models_are_found(void **state)
{
	(void)state;
	for (size_t m = 0; machine_model_list()[m] != NULL; m++) {
		const struct machine_model *model = machine_model_list()[m];

		assert_ptr_equal(machine_model_find(model->name), model);
		assert_true(model->in_order ? model->issue != NULL : model->bound != NULL);
	}
	assert_null(machine_model_find("6502"));
	assert_string_equal(machine_model_default(INSN_ISA_X86_64, "AMD EPYC 7763")->name,
			    "x86-64");
	assert_string_equal(machine_model_default(INSN_ISA_X86_64, NULL)->name, "x86-64");
	assert_string_equal(x86_model("AMD EPYC, family 25 model 1"), "zen3");
	assert_string_equal(x86_model("AMD EPYC, family 23 model 49"), "zen2");
	assert_string_equal(x86_model("AMD EPYC 9755, family 26 model 2"), "zen5");
	assert_string_equal(x86_model("Intel(R) Xeon(R) Processor, family 6 model 207"),
			    "golden-cove");
	assert_string_equal(x86_model("Intel(R) Xeon(R) Processor, family 6 model 106"),
			    "ice-lake");
	assert_string_equal(x86_model("Intel(R) Xeon(R) Processor, family 6 model 85"), "skylake");
	/* Unknown models, or strings that cannot be parsed. */
	assert_string_equal(x86_model("Intel(R) Atom(TM), family 6 model 92"), "x86-64");
	assert_string_equal(x86_model("Some CPU, family 25"), "x86-64");
	assert_string_equal(x86_model("Some CPU, family 99999999999 model 1"), "x86-64");
	assert_string_equal(x86_model(", family 6 model 85, family x"), "x86-64");
	assert_string_equal(x86_model(""), "x86-64");
	assert_string_equal(machine_model_default(INSN_ISA_ARM64, NULL)->name, "cortex-a53");
	assert_string_equal(machine_model_default(INSN_ISA_ARM64, "ARM Cortex-A55")->name,
			    "cortex-a55");
	/* In the format of Linux on arm64. */
	assert_string_equal(
		machine_model_default(INSN_ISA_ARM64, "implementer 0x41 part 0xd05")->name,
		"cortex-a55");
	assert_string_equal(
		machine_model_default(INSN_ISA_ARM64, "implementer 0x41 part 0xd03")->name,
		"cortex-a53");
	assert_string_equal(machine_model_default(INSN_ISA_ALPHA, "EV56")->name, "alpha21164");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_issues_too_early),
		cmocka_unit_test(test_schedules_of_random_code_are_valid),
		cmocka_unit_test(test_models_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
