// SPDX-License-Identifier: GPL-2.0-only
/* dcpi.ko: initialization and cleanup, in order. */
#include <linux/module.h>

#include "chardev.h"
#include "image_watch.h"
#include "sampler.h"

static int __init dcpi_init(void)
{
	int err;

	err = sampler_init();
	if (err)
		return err;
	err = image_watch_init();
	if (err)
		goto err_sampler;
	err = chardev_init();
	if (err)
		goto err_watch;
	return 0;

err_watch:
	image_watch_exit();
err_sampler:
	sampler_exit();
	return err;
}

/*
 * The devices hold a module reference while they are open, so nothing is sampled or watched here.
 */
static void __exit dcpi_exit(void)
{
	chardev_exit();
	image_watch_exit();
	sampler_exit();
}

module_init(dcpi_init);
module_exit(dcpi_exit);

MODULE_DESCRIPTION("Continuous profiler: counts samples by process, program counter and event");
MODULE_AUTHOR("The DCPI for Linux developers");
MODULE_LICENSE("GPL");
MODULE_VERSION(DCPI_VERSION);
