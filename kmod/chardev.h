/* SPDX-License-Identifier: GPL-2.0-only */
/* /dev/dcpi: checks what user space says, and passes it to the sampler. */
#ifndef DCPI_CHARDEV_H
#define DCPI_CHARDEV_H

/** chardev_init() - make the device appear. Return: 0 or a negative errno. */
int chardev_init(void);
void chardev_exit(void);

#endif
