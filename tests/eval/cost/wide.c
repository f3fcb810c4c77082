// SPDX-License-Identifier: GPL-2.0-only
/*
 * A loop of 1 MiB of straight-line code (arm64). Almost no two samples fall on the same
 * instruction, so that every sample misses a small sample store.
 *
 *	wide ROUNDS		262,144 instructions each
 */
#include <stdlib.h>

void straight(void);

__asm__(".text\n"
	".globl straight\n"
	"straight:\n"
	"	.rept 262144\n"
	"	add x9, x9, #1\n"
	"	.endr\n"
	"	ret\n");

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;

	while (rounds-- > 0)
		straight();
	return 0;
}
