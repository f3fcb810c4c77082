/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Issue classes that all in-order machines of the arm64 architecture have.
 */
#ifndef DCPI_MACHINE_ARM64_H
#define DCPI_MACHINE_ARM64_H

#include "analysis/machine/machine_issue.h"

/** enum machine_arm64_class - classes of all arm64 models; determines the order of their tables. */
enum machine_arm64_class {
	ALU,
	ALU_SHIFTED, /* second operand is shifted or extended */
	SELECT,
	MUL,
	DIV,
	LD,
	LD_PAIR, /* more than eight bytes */
	LD_QUAD, /* more than sixteen */
	LD_FP,
	ST,
	ST_PAIR,
	ST_QUAD,
	BRANCH,
	FADD,
	FMUL,
	FMA,
	FDIVS,
	FDIVD,
	FSQRTS,
	FSQRTD,
	FMOVE,
	TRANSFER,
	VECTOR,
	VECTOR_Q, /* 16 bytes */
	VMUL,
	VMUL_Q,
	ATOMIC,
	BARRIER,
	SYSTEM_REG, /* reads and writes system registers */
	SYSTEM,	    /* system calls */
	NOP,
	OTHER,
	CLASSES,
};

_Static_assert(CLASSES <= ISSUE_CLASSES_MAX, "classes are bits of a word");

#define MACHINE_ARM64_MATCHES 42

extern const struct issue_match machine_arm64_matches[MACHINE_ARM64_MATCHES];

#endif
