/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Marks: addresses of instructions whose executions are known.
 *
 * MARK() in a loop's body emits no instruction. It adds the address of the next one to the section
 * "kernel_marks", once for each copy that the compiler makes of the body. So the executions of the
 * body are the sum over its marks, whether the compiler unrolled the loop, inlined it, or neither.
 */
#ifndef KERNEL_MARKS_H
#define KERNEL_MARKS_H

#define MARK_MAIN 0
#define MARK_OUTER 1

/**
 * MARK() - mark a place in the body of a loop
 * @kernel: number of the kernel
 * @loop:   MARK_MAIN: the kernel's main loop; MARK_OUTER: the loop around it
 *
 * A row of the section: address relative to the row, number, loop, 0. With COUNT_MARKS, executions
 * are counted instead.
 */
static unsigned long mark_executions[2];
#ifdef COUNT_MARKS
#define MARKS_COUNT 1
#define MARK(kernel, loop) (mark_executions[loop]++)
#else
#define MARKS_COUNT 0
#define MARK(kernel, loop)                                                                         \
	__asm__ volatile("1:\n\t.pushsection kernel_marks, \"a\", @progbits\n\t"                   \
			 ".long 1b - ., %c0, %c1, 0\n\t.popsection"                                \
			 :                                                                         \
			 : "i"(kernel), "i"(loop))
#endif

#endif
