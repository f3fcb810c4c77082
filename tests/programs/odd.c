// SPDX-License-Identifier: GPL-2.0-only
/* Print the results of odd_code.S. With an argument, packed code is unpacked first. */
#include <stdio.h>

long outer(long n);
long inner(long n);
long constant(long n);
long behind(long n);
long place(long n);
long pieces(long n);
long middle(long n);
long locked(long n);
long counted(long n);
long unpacked(long n);
void tiny(void);

extern unsigned char packed_start[] __asm__("__start_packed");
extern unsigned char packed_end[] __asm__("__stop_packed");

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		for (unsigned char *byte = packed_start; byte < packed_end; byte++)
			*byte = (unsigned char)~*byte;
	}
	for (long n = 0; n < 9; n++) {
		tiny();
		printf("%ld %ld %#lx %#lx %ld %ld %#lx %ld %ld %ld\n", outer(n), inner(n),
		       constant(n), behind(n), place(n), pieces(n), middle(n), counted(n),
		       unpacked(n), locked(n));
	}
	return 0;
}
