/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All machine models, each in its own file. For machine_model.c.
 */
#ifndef DCPI_MACHINE_MODELS_H
#define DCPI_MACHINE_MODELS_H

#include "analysis/machine/machine_model.h"

extern const struct machine_model machine_model_alpha21164;
extern const struct machine_model machine_model_cortex_a53;
extern const struct machine_model machine_model_cortex_a55;
extern const struct machine_model machine_model_x86;
extern const struct machine_model machine_model_skylake;
extern const struct machine_model machine_model_ice_lake;
extern const struct machine_model machine_model_golden_cove;
extern const struct machine_model machine_model_zen2;
extern const struct machine_model machine_model_zen3;
extern const struct machine_model machine_model_zen5;

#endif
