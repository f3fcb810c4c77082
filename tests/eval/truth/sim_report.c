// SPDX-License-Identifier: GPL-2.0-only
#include "tests/eval/truth/sim_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const cause_names[SIM_CAUSES] = {
	"issue",  "slot", "ra",	    "rb",	    "rc",   "unit", "fetch", "icache", "itb",
	"dcache", "dtb",  "branch", "write_buffer", "sync", "imul", "fdiv",  "other",
};

static const char *const event_names[SIM_EVENTS] = {"imiss", "dmiss", "branchmp", "dtbmiss",
						    "itbmiss"};

static int insn_order(const void *a, const void *b)
{
	const struct sim_insn *x = *(struct sim_insn *const *)a, *y = *(struct sim_insn *const *)b;

	if (x->place.image != y->place.image)
		return strcmp(guest_image_path(x->place.image), guest_image_path(y->place.image));
	return x->place.offset < y->place.offset ? -1 : x->place.offset > y->place.offset;
}

static void names_write(FILE *file, const char *what, const char *const *names, size_t count)
{
	size_t i;

	fputs(what, file);
	for (i = 0; i < count; i++)
		fprintf(file, " %s", names[i]);
	putc('\n', file);
}

static void head_write(FILE *file, const struct sim_report *report)
{
	const struct sim_pipeline *p = report->pipeline;
	size_t i;

	fprintf(file, "sim %s %s %s\n", report->target, p->machine.name,
		report->racy ? "racy" : "exact");
	fprintf(file, "cpu %s\n", p->machine.cpu_model);
	for (i = 0; i < report->setting_count; i++)
		fprintf(file, "set %s %s\n", report->settings[i].name, report->settings[i].value);
	fprintf(file, "totals %" PRIu64 " %" PRIu64 "\n", p->instructions, p->now);
	names_write(file, "causes", cause_names, SIM_CAUSES);
	names_write(file, "events", event_names, SIM_EVENTS);
	for (i = 0; i < p->samplers->count; i++) {
		const struct sim_sampler *s = &p->samplers->list[i];

		fprintf(file, "sampler %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			s->period_min, s->period_max, s->seed, s->samples);
	}
}

static void samples_write(FILE *file, char what, const uint32_t *samples, size_t count)
{
	size_t i;

	putc(what, file);
	for (i = 0; i < count; i++)
		fprintf(file, " %" PRIu32, samples[i]);
	putc('\n', file);
}

static void insn_write(FILE *file, const struct sim_report *report, const struct sim_insn *insn,
		       uint64_t address)
{
	size_t samplers = report->pipeline->samplers->count, i;

	fprintf(file, "i %" PRIx64 " %" PRIx64 " %" PRIu64, insn->place.offset, address,
		insn->executed);
	for (i = 0; i < SIM_CAUSES; i++)
		fprintf(file, " %" PRIu64, insn->cycles[i]);
	for (i = 0; i < SIM_EVENTS; i++)
		fprintf(file, " %" PRIu64, insn->events[i]);
	putc('\n', file);
	if (insn->samples) {
		samples_write(file, 's', insn->samples, samplers);
		samples_write(file, 'k', insn->skidded, samplers);
	}
}

int sim_report_write(FILE *file, const struct sim_report *report)
{
	struct guest_file image = {0};
	size_t i;

	head_write(file, report);
	qsort(report->insns, report->count, sizeof(struct sim_insn *), insn_order);
	for (i = 0; i < report->count; i++) {
		const struct sim_insn *insn = report->insns[i];

		if (i == 0 || insn->place.image != report->insns[i - 1]->place.image) {
			guest_file_close(&image);
			image = guest_file_open(insn->place.image);
			fprintf(file, "image %s\n", guest_image_path(insn->place.image));
		}
		if (insn->executed > 0)
			insn_write(file, report, insn,
				   guest_file_address(&image, insn->place.offset));
	}
	guest_file_close(&image);
	return ferror(file) ? -EIO : 0;
}
