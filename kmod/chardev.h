/* SPDX-License-Identifier: GPL-2.0-only */
/* /dev/dcpi: checks the arguments from user space and passes them to the sampler. */
#ifndef DCPI_CHARDEV_H
#define DCPI_CHARDEV_H

/** chardev_init() - register the device. Return: 0 or a negative errno. */
int chardev_init(void);
void chardev_exit(void);

#endif
