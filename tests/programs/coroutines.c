// SPDX-License-Identifier: GPL-2.0-only
/* Coroutines with separate stacks: each calls to some depth, and switches in the deepest call. */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define COROUTINES 20
#define STACK_BYTES 65536
#define ROUNDS 10

static ucontext_t scheduler, contexts[COROUTINES];
static long total;

__attribute__((noinline)) static long descend(int depth, int number)
{
	if (depth == 0) {
		swapcontext(&contexts[number], &scheduler);
		return number;
	}
	return descend(depth - 1, number) + 1;
}

static void work(int number)
{
	for (int i = 0; i < ROUNDS; i++)
		total += descend(i, number);
}

int main(void)
{
	for (int i = 0; i < COROUTINES; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = malloc(STACK_BYTES);
		contexts[i].uc_stack.ss_size = STACK_BYTES;
		contexts[i].uc_link = &scheduler;
		makecontext(&contexts[i], (void (*)(void))work, 1, i);
	}
	for (int round = 0; round <= ROUNDS; round++)
		for (int i = 0; i < COROUTINES; i++)
			swapcontext(&scheduler, &contexts[i]);
	printf("%ld\n", total);
	return 0;
}
