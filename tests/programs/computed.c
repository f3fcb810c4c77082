// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jumps through tables of labels that are pointers in data: in writable data, copied to
 * another place, built at run time, stored as differences, passed by a caller, or indexed by
 * bytes.
 */
#include <stdio.h>

static void *saved[4];
static void **lent;

__attribute__((noipa)) static long run(const char *next, long v, int init)
{
	static void *labels[] = {&&add, &&flip, &&triple, &&end};

	for (int i = 0; i < 4 && init; i++)
		saved[i] = labels[i];
	if (init)
		return 0;
	goto *labels[(int)*next++];
add:
	v += 3;
	goto *saved[(int)*next++];
flip:
	v ^= 0x55;
	goto *labels[(int)*next++];
triple:
	v *= 3;
	goto *saved[(int)*next++];
end:
	return v;
}

__attribute__((noipa)) static long made(int which, long v)
{
	void *labels[3];

	labels[0] = &&one;
	labels[1] = &&two;
	labels[2] = &&end;
	goto *labels[which];
one:
	v += 1;
	goto *labels[1];
two:
	v += 2;
	goto *labels[2];
end:
	return v * 7;
}

__attribute__((noipa)) static long distances(int which, long v)
{
	static const int labels[] = {&&one - &&one, &&two - &&one, &&end - &&one};

	goto *(&&one + labels[which]);
one:
	v += 1;
	which = 1;
	goto *(&&one + labels[which]);
two:
	v += 2;
	which = 2;
	goto *(&&one + labels[which]);
end:
	return v * 7;
}

__attribute__((noipa)) static long borrow(const char *next, long v)
{
	static void *labels[] = {&&set, &&add, &&flip, &&end};

	if (next == NULL) {
		lent = labels;
		return 1;
	}
	goto *lent[(int)*next++];
set:
	v = 1;
	goto *lent[(int)*next++];
add:
	v += 5;
	goto *lent[(int)*next++];
flip:
	v ^= 9;
	goto *lent[(int)*next++];
end:
	return v;
}

/* The table has an entry for every value of a byte, and no other check bounds the index. */
__attribute__((noipa)) static long bytes(const unsigned char *next, long v)
{
	static const void *const labels[256] = {
		[0] = &&end, [1 ... 99] = &&add, [100 ... 254] = &&flip, [255] = &&triple};

	goto *labels[*next++];
add:
	v += next[-1];
	goto *labels[*next++];
flip:
	v ^= 9;
	goto *labels[*next++];
triple:
	v *= 3;
	goto *labels[*next++];
end:
	return v;
}

/* The same, and the interpreted code changes the table. */
__attribute__((noipa)) static long changed(const unsigned char *next, long v)
{
	static void *labels[256] = {[0] = &&end, [1 ... 254] = &&add, [255] = &&change};

	goto *labels[*next++];
add:
	v += next[-1];
	goto *labels[*next++];
flip:
	v ^= 9;
	goto *labels[*next++];
change:
	labels[*next++] = &&flip;
	goto *labels[*next++];
end:
	return v;
}

int main(int argc, char **argv)
{
	static const unsigned char numbers[] = {7, 150, 255, 254, 99, 255, 1, 0};
	static const unsigned char orders[] = {7, 3, 255, 7, 7, 3, 0};
	static const char program[] = {0, 1, 2, 0, 0, 1, 2, 3};

	(void)argv;
	run(NULL, 0, 1);
	borrow(NULL, 0);
	printf("%ld %ld %ld %ld %ld %ld %ld %ld\n", run(program, argc, 0), made(0, 5), made(1, 5),
	       distances(0, 5), distances(1, 5), borrow(program, 4), bytes(numbers, 5),
	       changed(orders, 5));
	return 0;
}
