// SPDX-License-Identifier: GPL-2.0-only
/* dcpi.ko: what is set up and torn down, in which order. */
#include <linux/module.h>

#include "chardev.h"
#include "sampler.h"

static int __init dcpi_init(void)
{
	int err;

	err = sampler_init();
	if (err)
		return err;
	err = chardev_init();
	if (err)
		goto err_sampler;
	return 0;

err_sampler:
	sampler_exit();
	return err;
}

/* The device holds the module while it is open, so nothing is sampled here. */
static void __exit dcpi_exit(void)
{
	chardev_exit();
	sampler_exit();
}

module_init(dcpi_init);
module_exit(dcpi_exit);

MODULE_DESCRIPTION("Continuous profiler: counts samples by process, program counter and event");
MODULE_AUTHOR("The DCPI for Linux developers");
MODULE_LICENSE("GPL");
MODULE_VERSION(DCPI_VERSION);
