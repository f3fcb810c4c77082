// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/insn/a64_scalar_tables.h"

#include "analysis/insn/a64_vector_rows.h"

/* Scalars in vector registers have bits 28 and 30 set. */
#define S_SAME2(opcode, operands, class, sizes)                                                    \
	{                                                                                          \
		0xdf20fc00, 0x5e200400 | (opcode) << 11, operands, class, A64_SIZES, sizes         \
	}
#define S_SAME_FP(u, a, opcode, class)                                                             \
	{                                                                                          \
		0xffa0fc00, 0x5e200400 | (u) << 29 | (a) << 23 | (opcode) << 11, V_NM, class,      \
			A64_ANY, 0                                                                 \
	}

static const struct a64_pattern scalar_three_same[] = {
	S_SAME2(0x10, V_NM, INSN_VECTOR_ALU, SIZE_D),	    /* add, sub */
	S_SAME2(0x01, V_NM, INSN_VECTOR_ALU, SIZE_ANY),	    /* sqadd */
	S_SAME2(0x05, V_NM, INSN_VECTOR_ALU, SIZE_ANY),	    /* sqsub */
	S_SAME2(0x06, V_NM, INSN_VECTOR_ALU, SIZE_D),	    /* cmgt */
	S_SAME2(0x07, V_NM, INSN_VECTOR_ALU, SIZE_D),	    /* cmge */
	S_SAME2(0x08, V_NM, INSN_VECTOR_ALU, SIZE_D),	    /* sshl */
	S_SAME2(0x09, V_NM, INSN_VECTOR_ALU, SIZE_ANY),	    /* sqshl */
	S_SAME2(0x0a, V_NM, INSN_VECTOR_ALU, SIZE_D),	    /* srshl */
	S_SAME2(0x0b, V_NM, INSN_VECTOR_ALU, SIZE_ANY),	    /* sqrshl */
	S_SAME2(0x11, V_NM, INSN_VECTOR_ALU, SIZE_D),	    /* cmtst, cmeq */
	S_SAME2(0x16, V_NM, INSN_VECTOR_MULTIPLY, SIZE_HS), /* sqdmulh */
	S_SAME_FP(0, 0, 0x1b, INSN_FP_MULTIPLY),	    /* fmulx */
	S_SAME_FP(0, 0, 0x1c, INSN_FP_ADD),		    /* fcmeq */
	S_SAME_FP(1, 0, 0x1c, INSN_FP_ADD),		    /* fcmge */
	S_SAME_FP(1, 1, 0x1c, INSN_FP_ADD),		    /* fcmgt */
	S_SAME_FP(1, 0, 0x1d, INSN_FP_ADD),		    /* facge */
	S_SAME_FP(1, 1, 0x1d, INSN_FP_ADD),		    /* facgt */
	S_SAME_FP(1, 1, 0x1a, INSN_FP_ADD),		    /* fabd */
	S_SAME_FP(0, 0, 0x1f, INSN_FP_MULTIPLY),	    /* frecps */
	S_SAME_FP(0, 1, 0x1f, INSN_FP_MULTIPLY),	    /* frsqrts */
};

#define S_HALF(u, a, opcode, class)                                                                \
	{                                                                                          \
		0xffe0fc00, 0x5e400400 | (u) << 29 | (a) << 23 | (opcode) << 11, V_NM, class,      \
			A64_ANY, 0                                                                 \
	}

static const struct a64_pattern scalar_three_same_half[] = {
	S_HALF(0, 0, 3, INSN_FP_MULTIPLY), /* fmulx */
	S_HALF(0, 0, 4, INSN_FP_ADD),	   /* fcmeq */
	S_HALF(1, 0, 4, INSN_FP_ADD),	   /* fcmge */
	S_HALF(1, 1, 4, INSN_FP_ADD),	   /* fcmgt */
	S_HALF(1, 0, 5, INSN_FP_ADD),	   /* facge */
	S_HALF(1, 1, 5, INSN_FP_ADD),	   /* facgt */
	S_HALF(1, 1, 2, INSN_FP_ADD),	   /* fabd */
	S_HALF(0, 0, 7, INSN_FP_MULTIPLY), /* frecps */
	S_HALF(0, 1, 7, INSN_FP_MULTIPLY), /* frsqrts */
};

static const struct a64_pattern scalar_three_same_extra[] = {
	{0xff20f400, 0x7e008400, V_NMD, INSN_VECTOR_MULTIPLY, A64_SIZES, SIZE_HS}, /* sqrdmlah */
};

#define S_MISC(u, opcode, operands, class, sizes)                                                  \
	{                                                                                          \
		0xff3ffc00, 0x5e200800 | (u) << 29 | (opcode) << 12, operands, class, A64_SIZES,   \
			sizes                                                                      \
	}
#define S_MISC2(opcode, operands, class, sizes)                                                    \
	{                                                                                          \
		0xdf3ffc00, 0x5e200800 | (opcode) << 12, operands, class, A64_SIZES, sizes         \
	}
#define S_MISC_FP(u, a, opcode, class)                                                             \
	{                                                                                          \
		0xffbffc00, 0x5e200800 | (u) << 29 | (a) << 23 | (opcode) << 12, V_N, class,       \
			A64_ANY, 0                                                                 \
	}
#define S_MISC_FP2(a, opcode, class)                                                               \
	{                                                                                          \
		0xdfbffc00, 0x5e200800 | (a) << 23 | (opcode) << 12, V_N, class, A64_ANY, 0        \
	}

static const struct a64_pattern scalar_two_misc[] = {
	S_MISC2(0x03, V_ND, INSN_VECTOR_ALU, SIZE_ANY),	 /* suqadd */
	S_MISC2(0x07, V_N, INSN_VECTOR_ALU, SIZE_ANY),	 /* sqabs */
	S_MISC2(0x08, V_N, INSN_VECTOR_ALU, SIZE_D),	 /* cmgt, cmge 0 */
	S_MISC2(0x09, V_N, INSN_VECTOR_ALU, SIZE_D),	 /* cmeq, cmle 0 */
	S_MISC(0, 0x0a, V_N, INSN_VECTOR_ALU, SIZE_D),	 /* cmlt 0 */
	S_MISC2(0x0b, V_N, INSN_VECTOR_ALU, SIZE_D),	 /* abs, neg */
	S_MISC(1, 0x12, V_N, INSN_VECTOR_ALU, SIZE_BHS), /* sqxtun */
	S_MISC2(0x14, V_N, INSN_VECTOR_ALU, SIZE_BHS),	 /* sqxtn */
	S_MISC(1, 0x16, V_N, INSN_FP_CONVERT, SIZE_H),	 /* fcvtxn */
	S_MISC_FP2(0, 0x1a, INSN_FP_CONVERT),		 /* fcvtn */
	S_MISC_FP2(0, 0x1b, INSN_FP_CONVERT),		 /* fcvtm */
	S_MISC_FP2(0, 0x1c, INSN_FP_CONVERT),		 /* fcvta */
	S_MISC_FP2(0, 0x1d, INSN_FP_CONVERT),		 /* scvtf, ucvtf */
	S_MISC_FP2(1, 0x1a, INSN_FP_CONVERT),		 /* fcvtp */
	S_MISC_FP2(1, 0x1b, INSN_FP_CONVERT),		 /* fcvtz */
	S_MISC_FP2(1, 0x0c, INSN_FP_ADD),		 /* fcmgt, fcmge 0 */
	S_MISC_FP2(1, 0x0d, INSN_FP_ADD),		 /* fcmeq, fcmle 0 */
	S_MISC_FP(0, 1, 0x0e, INSN_FP_ADD),		 /* fcmlt 0 */
	S_MISC_FP2(1, 0x1d, INSN_FP_MULTIPLY),		 /* frecpe, frsqrte */
	S_MISC_FP(0, 1, 0x1f, INSN_FP_MULTIPLY),	 /* frecpx */
};

#define S_MISC_HALF(u, a, opcode, class)                                                           \
	{                                                                                          \
		0xfffffc00, 0x5e780800 | (u) << 29 | (a) << 23 | (opcode) << 12, V_N, class,       \
			A64_ANY, 0                                                                 \
	}
#define S_MISC_HALF2(a, opcode, class)                                                             \
	{                                                                                          \
		0xdffffc00, 0x5e780800 | (a) << 23 | (opcode) << 12, V_N, class, A64_ANY, 0        \
	}

static const struct a64_pattern scalar_two_misc_half[] = {
	S_MISC_HALF2(0, 0x1a, INSN_FP_CONVERT),	   /* fcvtn */
	S_MISC_HALF2(0, 0x1b, INSN_FP_CONVERT),	   /* fcvtm */
	S_MISC_HALF2(0, 0x1c, INSN_FP_CONVERT),	   /* fcvta */
	S_MISC_HALF2(0, 0x1d, INSN_FP_CONVERT),	   /* scvtf, ucvtf */
	S_MISC_HALF2(1, 0x1a, INSN_FP_CONVERT),	   /* fcvtp */
	S_MISC_HALF2(1, 0x1b, INSN_FP_CONVERT),	   /* fcvtz */
	S_MISC_HALF2(1, 0x0c, INSN_FP_ADD),	   /* fcmgt, fcmge 0 */
	S_MISC_HALF2(1, 0x0d, INSN_FP_ADD),	   /* fcmeq, fcmle 0 */
	S_MISC_HALF(0, 1, 0x0e, INSN_FP_ADD),	   /* fcmlt 0 */
	S_MISC_HALF2(1, 0x1d, INSN_FP_MULTIPLY),   /* frecpe, frsqrte */
	S_MISC_HALF(0, 1, 0x1f, INSN_FP_MULTIPLY), /* frecpx */
};

static const struct a64_pattern scalar_pairs[] = {
	{0xfffffc00, 0x5ef1b800, V_N, INSN_VECTOR_ALU, A64_ANY, 0}, /* addp */
	{0xff3ffc00, 0x7e30c800, V_N, INSN_FP_ADD, A64_ANY, 0},	    /* fmaxnmp, fminnmp */
	{0xffbffc00, 0x7e30d800, V_N, INSN_FP_ADD, A64_ANY, 0},	    /* faddp */
	{0xff3ffc00, 0x7e30f800, V_N, INSN_FP_ADD, A64_ANY, 0},	    /* fmaxp, fminp */
	{0xff7ffc00, 0x5e30c800, V_N, INSN_FP_ADD, A64_ANY, 0},	    /* the same, of halves */
	{0xfffffc00, 0x5e30d800, V_N, INSN_FP_ADD, A64_ANY, 0},
	{0xff7ffc00, 0x5e30f800, V_N, INSN_FP_ADD, A64_ANY, 0},
};

static const struct a64_pattern scalar_three_different[] = {
	{0xff20fc00, 0x5e209000, V_NMD, INSN_VECTOR_MULTIPLY, A64_SIZES, SIZE_HS}, /* sqdmlal */
	{0xff20fc00, 0x5e20b000, V_NMD, INSN_VECTOR_MULTIPLY, A64_SIZES, SIZE_HS}, /* sqdmlsl */
	{0xff20fc00, 0x5e20d000, V_NM, INSN_VECTOR_MULTIPLY, A64_SIZES, SIZE_HS},  /* sqdmull */
};

static const struct a64_pattern scalar_copies[] = {
	{0xffe0fc00, 0x5e000400, V_N, INSN_VECTOR_SHUFFLE, A64_ANY, 0}, /* dup */
};

#define SCALAR(opcode) ((opcode) | 0x50000)
#define EXACT 0xf0000000

static const struct a64_pattern scalar_by_element[] = {
	BY_FP(EXACT, SCALAR(0x9), V_NM, INSN_FP_MULTIPLY),		   /* fmul */
	BY_FP(EXACT, SCALAR(0x1), V_NMD, INSN_FP_FMA),			   /* fmla */
	BY_FP(EXACT, SCALAR(0x5), V_NMD, INSN_FP_FMA),			   /* fmls */
	BY_FP(EXACT, SCALAR(UNSIGNED(0x9)), V_NM, INSN_FP_MULTIPLY),	   /* fmulx */
	BY_INT(EXACT, SCALAR(0x3), V_NMD, INSN_VECTOR_MULTIPLY),	   /* sqdmlal */
	BY_INT(EXACT, SCALAR(0x7), V_NMD, INSN_VECTOR_MULTIPLY),	   /* sqdmlsl */
	BY_INT(EXACT, SCALAR(0xb), V_NM, INSN_VECTOR_MULTIPLY),		   /* sqdmull */
	BY_INT(EXACT, SCALAR(0xc), V_NM, INSN_VECTOR_MULTIPLY),		   /* sqdmulh */
	BY_INT(EXACT, SCALAR(0xd), V_NM, INSN_VECTOR_MULTIPLY),		   /* sqrdmulh */
	BY_INT(EXACT, SCALAR(UNSIGNED(0xd)), V_NMD, INSN_VECTOR_MULTIPLY), /* sqrdmlah */
	BY_INT(EXACT, SCALAR(UNSIGNED(0xf)), V_NMD, INSN_VECTOR_MULTIPLY), /* sqrdmlsh */
};

#define S_SHIFT(u, opcode, operands, class, check)                                                 \
	{                                                                                          \
		0xff80fc00, 0x5f000400 | (u) << 29 | (opcode) << 11, operands, class, check, 0     \
	}
#define S_SHIFT2(opcode, operands, class, check)                                                   \
	{                                                                                          \
		0xdf80fc00, 0x5f000400 | (opcode) << 11, operands, class, check, 0                 \
	}

static const struct a64_pattern scalar_shifts[] = {
	S_SHIFT2(0x00, V_N, INSN_VECTOR_ALU, A64_SHIFT_64),	/* sshr */
	S_SHIFT(0, 0x0a, V_N, INSN_VECTOR_ALU, A64_SHIFT_64),	/* shl */
	S_SHIFT2(0x02, V_ND, INSN_VECTOR_ALU, A64_SHIFT_64),	/* ssra */
	S_SHIFT2(0x04, V_N, INSN_VECTOR_ALU, A64_SHIFT_64),	/* srshr */
	S_SHIFT2(0x06, V_ND, INSN_VECTOR_ALU, A64_SHIFT_64),	/* srsra */
	S_SHIFT(1, 0x08, V_ND, INSN_VECTOR_ALU, A64_SHIFT_64),	/* sri */
	S_SHIFT(1, 0x0a, V_ND, INSN_VECTOR_ALU, A64_SHIFT_64),	/* sli */
	S_SHIFT(1, 0x0c, V_N, INSN_VECTOR_ALU, A64_SHIFT_ANY),	/* sqshlu */
	S_SHIFT2(0x0e, V_N, INSN_VECTOR_ALU, A64_SHIFT_ANY),	/* sqshl */
	S_SHIFT(1, 0x10, V_N, INSN_VECTOR_ALU, A64_SHIFT_HALF), /* sqshrun */
	S_SHIFT(1, 0x11, V_N, INSN_VECTOR_ALU, A64_SHIFT_HALF), /* sqrshrun */
	S_SHIFT2(0x12, V_N, INSN_VECTOR_ALU, A64_SHIFT_HALF),	/* sqshrn */
	S_SHIFT2(0x13, V_N, INSN_VECTOR_ALU, A64_SHIFT_HALF),	/* sqrshrn */
	S_SHIFT2(0x1c, V_N, INSN_FP_CONVERT, A64_SHIFT_FP),	/* scvtf */
	S_SHIFT2(0x1f, V_N, INSN_FP_CONVERT, A64_SHIFT_FP),	/* fcvtzs */
};

static const struct a64_pattern sha_three[] = {
	{0xffe0cc00, 0x5e000000, V_NMD, INSN_CRYPTO, A64_ANY, 0}, /* sha1c .. sha1su0 */
	{0xffe0ec00, 0x5e004000, V_NMD, INSN_CRYPTO, A64_ANY, 0}, /* sha256h */
	{0xffe0fc00, 0x5e006000, V_NMD, INSN_CRYPTO, A64_ANY, 0}, /* sha256su1 */
};

static const struct a64_pattern sha_two[] = {
	{0xfffffc00, 0x5e280800, V_N, INSN_CRYPTO, A64_ANY, 0},	 /* sha1h */
	{0xfffffc00, 0x5e281800, V_ND, INSN_CRYPTO, A64_ANY, 0}, /* sha1su1 */
	{0xfffffc00, 0x5e282800, V_ND, INSN_CRYPTO, A64_ANY, 0}, /* sha256su0 */
};

static const struct a64_pattern scalar_fp[] = {
	{0xff20fc00, 0x1e200800, V_NM, INSN_FP_MULTIPLY, A64_FP_TYPE, 0},     /* fmul */
	{0xff20fc00, 0x1e208800, V_NM, INSN_FP_MULTIPLY, A64_FP_TYPE, 0},     /* fnmul */
	{0xff20fc00, 0x1e201800, V_NM, INSN_FP_DIVIDE, A64_FP_TYPE, 0},	      /* fdiv */
	{0xff20ec00, 0x1e202800, V_NM, INSN_FP_ADD, A64_FP_TYPE, 0},	      /* fadd, fsub */
	{0xff20cc00, 0x1e204800, V_NM, INSN_FP_ADD, A64_FP_TYPE, 0},	      /* fmax .. fminnm */
	{0xff000000, 0x1f000000, V_NM | A64_VA, INSN_FP_FMA, A64_FP_TYPE, 0}, /* fmadd .. */
	{0xff20fc0f, 0x1e202000, A64_VN | A64_VM | A64_FW, INSN_FP_ADD, A64_FP_TYPE, 0}, /* fcmp */
	{0xff20fc0f, 0x1e202008, A64_VN | A64_FW, INSN_FP_ADD, A64_FP_TYPE, 0}, /* fcmp 0 */
	{0xff200c00, 0x1e200400, A64_VN | A64_VM | A64_FR | A64_FW, INSN_FP_ADD, A64_FP_TYPE,
	 0},								       /* fccmp */
	{0xff200c00, 0x1e200c00, V_NM | A64_FR, INSN_FP_MOVE, A64_FP_TYPE, 0}, /* fcsel */
	{0xff201fe0, 0x1e201000, A64_WV, INSN_FP_MOVE, A64_FP_TYPE, 0},	       /* fmov */
	{0xff3ffc00, 0x1e204000, V_N, INSN_FP_MOVE, A64_FP_TYPE, 0},	       /* fmov */
	{0xff3ffc00, 0x1e20c000, V_N, INSN_FP_MOVE, A64_FP_TYPE, 0},	       /* fabs */
	{0xff3ffc00, 0x1e214000, V_N, INSN_FP_MOVE, A64_FP_TYPE, 0},	       /* fneg */
	{0xff3ffc00, 0x1e21c000, V_N, INSN_FP_SQRT, A64_FP_TYPE, 0},	       /* fsqrt */
	{0xff3e7c00, 0x1e244000, V_N, INSN_FP_ADD, A64_FP_TYPE, 0}, /* frintn .. frintz */
	{0xff3ffc00, 0x1e264000, V_N, INSN_FP_ADD, A64_FP_TYPE, 0}, /* frinta */
	{0xff3f7c00, 0x1e274000, V_N, INSN_FP_ADD, A64_FP_TYPE, 0}, /* frintx, frinti */
	{0xffbe7c00, 0x1e284000, V_N, INSN_FP_ADD, A64_ANY, 0},	    /* frint32z .. frint64x */
};

static const struct a64_group groups[] = {
	GROUP(0xdf200400, 0x5e200400, scalar_three_same),
	GROUP(0xdf3e0c00, 0x5e200800, scalar_two_misc),
	GROUP(0xdf800400, 0x5f000400, scalar_shifts),
	GROUP(0xdf000400, 0x5f000000, scalar_by_element),
	GROUP(0xdf3e0c00, 0x5e300800, scalar_pairs),
	GROUP(0xdf200c00, 0x5e200000, scalar_three_different),
	GROUP(0xffe08400, 0x5e000400, scalar_copies),
	GROUP(0xdf7e0c00, 0x5e780800, scalar_two_misc_half),
	GROUP(0xdf60c400, 0x5e400400, scalar_three_same_half),
	GROUP(0xdf208400, 0x5e008400, scalar_three_same_extra),
	GROUP(0xff3e0c00, 0x5e280800, sha_two),
	GROUP(0xffe08c00, 0x5e000000, sha_three),
};

const struct a64_pattern *a64_scalar_match(uint32_t word)
{
	return a64_group_match(groups, A64_COUNT(groups), word);
}

const struct a64_pattern *a64_scalar_fp_match(uint32_t word)
{
	return a64_match(scalar_fp, A64_COUNT(scalar_fp), word);
}
