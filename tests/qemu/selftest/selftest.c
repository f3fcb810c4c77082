// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the sample store against its reference model inside the kernel, since the kernel's build
 * compiles the store separately. Loading fails if an invariant does not hold.
 */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "tests/fixtures/store_model.h"

static unsigned int rounds = 100;
module_param(rounds, uint, 0444);
MODULE_PARM_DESC(rounds, "rounds of 100000 operations");

static int __init selftest_init(void)
{
	struct store_model *model = vzalloc(sizeof(*model));
	unsigned int round;
	int err = 0;

	if (!model)
		return -ENOMEM;
	model->seed = 1;
	for (round = 0; round < rounds && !err; round++) {
		if (!store_model_run(model, 100000)) {
			pr_err("dcpi_selftest: round %u: not true: %s\n", round, model->failure);
			err = -EINVAL;
		}
		cond_resched();
	}
	if (!err)
		pr_info("dcpi_selftest: %u operations, all invariants hold\n", round * 100000);
	vfree(model);
	return err;
}

static void __exit selftest_exit(void)
{
}

module_init(selftest_init);
module_exit(selftest_exit);
MODULE_DESCRIPTION("Self-test of the DCPI sample store");
MODULE_LICENSE("GPL");
