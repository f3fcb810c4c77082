// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/machine/machine_model.h"

#include <string.h>

#include "analysis/machine/machine_models.h"
#include "lib/host.h"

/* The first model of each architecture is the default. */
static const struct machine_model *const models[] = {
	&machine_model_x86,
	&machine_model_skylake,
	&machine_model_ice_lake,
	&machine_model_golden_cove,
	&machine_model_zen2,
	&machine_model_zen3,
	&machine_model_zen5,
	&machine_model_cortex_a53,
	&machine_model_cortex_a55,
	&machine_model_alpha21164,
	NULL,
};

const struct machine_model *machine_model_find(const char *name)
{
	for (size_t i = 0; models[i] != NULL; i++)
		if (strcmp(models[i]->name, name) == 0)
			return models[i];
	return NULL;
}

static bool is_listed(const struct machine_model *model, const char *cpu_model)
{
	unsigned int family, number;

	if (model->cpus == NULL || !host_cpu_numbers(cpu_model, &family, &number))
		return false;
	for (const struct machine_cpu *cpu = model->cpus; cpu->family != 0; cpu++)
		if (cpu->family == family &&
		    (cpu->model == MACHINE_CPU_ANY || cpu->model == number))
			return true;
	return false;
}

static bool is_of(const struct machine_model *model, const char *cpu_model)
{
	return strcasestr(cpu_model, model->name) != NULL || is_listed(model, cpu_model) ||
	       (model->cpu != NULL && strcasestr(cpu_model, model->cpu) != NULL);
}

const struct machine_model *machine_model_default(enum insn_isa isa, const char *cpu_model)
{
	const struct machine_model *first = NULL;

	for (size_t i = 0; models[i] != NULL; i++) {
		if (models[i]->isa != isa)
			continue;
		if (cpu_model != NULL && is_of(models[i], cpu_model))
			return models[i];
		if (first == NULL)
			first = models[i];
	}
	return first;
}

const struct machine_model *const *machine_model_list(void)
{
	return models;
}
