// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/insn/a64_vector_tables.h"

#include "analysis/insn/a64_vector_rows.h"

/* Rows of a group; X2: signed and unsigned (or other variants by bit 29) in one row. */
#define SAME(u, opcode, operands, class, sizes)                                                    \
	{                                                                                          \
		0xbf20fc00, 0x0e200400 | (u) << 29 | (opcode) << 11, operands, class, A64_SIZES,   \
			sizes                                                                      \
	}
#define SAME2(opcode, operands, class, sizes)                                                      \
	{                                                                                          \
		0x9f20fc00, 0x0e200400 | (opcode) << 11, operands, class, A64_SIZES, sizes         \
	}
#define SAME_FP(u, a, opcode, operands, class, sizes)                                              \
	{                                                                                          \
		0xbfa0fc00, 0x0e200400 | (u) << 29 | (a) << 23 | (opcode) << 11, operands, class,  \
			A64_SIZES, sizes                                                           \
	}

static const struct a64_pattern three_same[] = {
	SAME2(0x10, V_NM, INSN_VECTOR_ALU, SIZE_NOT_1D),	     /* add, sub */
	SAME(0, 0x03, V_NM, INSN_VECTOR_ALU, SIZE_ANY),		     /* and bic orr orn */
	{0xbfe0fc00, 0x2e201c00, V_NM, INSN_VECTOR_ALU, A64_ANY, 0}, /* eor */
	SAME(1, 0x03, V_NMD, INSN_VECTOR_ALU, SIZE_ANY),	     /* bsl bit bif */
	SAME2(0x06, V_NM, INSN_VECTOR_ALU, SIZE_NOT_1D),	     /* cmgt, cmhi */
	SAME2(0x07, V_NM, INSN_VECTOR_ALU, SIZE_NOT_1D),	     /* cmge, cmhs */
	SAME2(0x11, V_NM, INSN_VECTOR_ALU, SIZE_NOT_1D),	     /* cmtst, cmeq */
	SAME2(0x0c, V_NM, INSN_VECTOR_ALU, SIZE_BHS),		     /* smax, umax */
	SAME2(0x0d, V_NM, INSN_VECTOR_ALU, SIZE_BHS),		     /* smin, umin */
	SAME2(0x08, V_NM, INSN_VECTOR_ALU, SIZE_NOT_1D),	     /* sshl */
	SAME2(0x09, V_NM, INSN_VECTOR_ALU, SIZE_NOT_1D),	     /* sqshl */
	SAME2(0x0a, V_NM, INSN_VECTOR_ALU, SIZE_NOT_1D),	     /* srshl */
	SAME2(0x0b, V_NM, INSN_VECTOR_ALU, SIZE_NOT_1D),	     /* sqrshl */
	SAME2(0x00, V_NM, INSN_VECTOR_ALU, SIZE_BHS),		     /* shadd */
	SAME2(0x01, V_NM, INSN_VECTOR_ALU, SIZE_NOT_1D),	     /* sqadd */
	SAME2(0x02, V_NM, INSN_VECTOR_ALU, SIZE_BHS),		     /* srhadd */
	SAME2(0x04, V_NM, INSN_VECTOR_ALU, SIZE_BHS),		     /* shsub */
	SAME2(0x05, V_NM, INSN_VECTOR_ALU, SIZE_NOT_1D),	     /* sqsub */
	SAME2(0x0e, V_NM, INSN_VECTOR_ALU, SIZE_BHS),		     /* sabd */
	SAME2(0x0f, V_NMD, INSN_VECTOR_ALU, SIZE_BHS),		     /* saba */
	SAME2(0x12, V_NMD, INSN_VECTOR_MULTIPLY, SIZE_BHS),	     /* mla, mls */
	SAME(0, 0x13, V_NM, INSN_VECTOR_MULTIPLY, SIZE_BHS),	     /* mul */
	SAME(1, 0x13, V_NM, INSN_VECTOR_MULTIPLY, SIZE_B),	     /* pmul */
	SAME2(0x14, V_NM, INSN_VECTOR_ALU, SIZE_BHS),		     /* smaxp */
	SAME2(0x15, V_NM, INSN_VECTOR_ALU, SIZE_BHS),		     /* sminp */
	SAME2(0x16, V_NM, INSN_VECTOR_MULTIPLY, SIZE_HS),	     /* sqdmulh, sqrdmulh */
	SAME(0, 0x17, V_NM, INSN_VECTOR_ALU, SIZE_NOT_1D),	     /* addp */
	SAME_FP(0, 0, 0x1a, V_NM, INSN_FP_ADD, SIZE_FP),	     /* fadd */
	SAME_FP(0, 1, 0x1a, V_NM, INSN_FP_ADD, SIZE_FP),	     /* fsub */
	SAME_FP(1, 0, 0x1b, V_NM, INSN_FP_MULTIPLY, SIZE_FP),	     /* fmul */
	SAME_FP(0, 0, 0x19, V_NMD, INSN_FP_FMA, SIZE_FP),	     /* fmla */
	SAME_FP(0, 1, 0x19, V_NMD, INSN_FP_FMA, SIZE_FP),	     /* fmls */
	SAME_FP(1, 0, 0x1f, V_NM, INSN_FP_DIVIDE, SIZE_FP),	     /* fdiv */
	SAME2(0x18, V_NM, INSN_FP_ADD, SIZE_FP),		     /* fmaxnm .. fminnmp */
	SAME_FP(0, 0, 0x1e, V_NM, INSN_FP_ADD, SIZE_FP),	     /* fmax */
	SAME_FP(0, 1, 0x1e, V_NM, INSN_FP_ADD, SIZE_FP),	     /* fmin */
	SAME_FP(1, 0, 0x1e, V_NM, INSN_FP_ADD, SIZE_FP),	     /* fmaxp */
	SAME_FP(1, 1, 0x1e, V_NM, INSN_FP_ADD, SIZE_FP),	     /* fminp */
	SAME_FP(1, 0, 0x1a, V_NM, INSN_FP_ADD, SIZE_FP),	     /* faddp */
	SAME_FP(1, 1, 0x1a, V_NM, INSN_FP_ADD, SIZE_FP),	     /* fabd */
	SAME_FP(0, 0, 0x1c, V_NM, INSN_FP_ADD, SIZE_FP),	     /* fcmeq */
	SAME_FP(1, 0, 0x1c, V_NM, INSN_FP_ADD, SIZE_FP),	     /* fcmge */
	SAME_FP(1, 1, 0x1c, V_NM, INSN_FP_ADD, SIZE_FP),	     /* fcmgt */
	SAME_FP(1, 0, 0x1d, V_NM, INSN_FP_ADD, SIZE_FP),	     /* facge */
	SAME_FP(1, 1, 0x1d, V_NM, INSN_FP_ADD, SIZE_FP),	     /* facgt */
	SAME_FP(0, 0, 0x1b, V_NM, INSN_FP_MULTIPLY, SIZE_FP),	     /* fmulx */
	SAME_FP(0, 0, 0x1f, V_NM, INSN_FP_MULTIPLY, SIZE_FP),	     /* frecps */
	SAME_FP(0, 1, 0x1f, V_NM, INSN_FP_MULTIPLY, SIZE_FP),	     /* frsqrts */
	SAME_FP(0, 0, 0x1d, V_NMD, INSN_FP_FMA, SIZE_FP_SINGLE),     /* fmlal */
	SAME_FP(0, 1, 0x1d, V_NMD, INSN_FP_FMA, SIZE_FP_SINGLE),     /* fmlsl */
	SAME_FP(1, 0, 0x19, V_NMD, INSN_FP_FMA, SIZE_FP_SINGLE),     /* fmlal2 */
	SAME_FP(1, 1, 0x19, V_NMD, INSN_FP_FMA, SIZE_FP_SINGLE),     /* fmlsl2 */
};

#define HALF(u, a, opcode, operands, class)                                                        \
	{                                                                                          \
		0xbfe0fc00, 0x0e400400 | (u) << 29 | (a) << 23 | (opcode) << 11, operands, class,  \
			A64_ANY, 0                                                                 \
	}

static const struct a64_pattern three_same_half[] = {
	{0x9f60fc00, 0x0e400400, V_NM, INSN_FP_ADD, A64_ANY, 0}, /* fmaxnm .. fminnmp */
	HALF(0, 0, 1, V_NMD, INSN_FP_FMA),			 /* fmla */
	HALF(0, 1, 1, V_NMD, INSN_FP_FMA),			 /* fmls */
	{0x9f60fc00, 0x0e401400, V_NM, INSN_FP_ADD, A64_ANY, 0}, /* fadd fsub faddp fabd */
	HALF(0, 0, 3, V_NM, INSN_FP_MULTIPLY),			 /* fmulx */
	HALF(1, 0, 3, V_NM, INSN_FP_MULTIPLY),			 /* fmul */
	HALF(0, 0, 4, V_NM, INSN_FP_ADD),			 /* fcmeq */
	HALF(1, 0, 4, V_NM, INSN_FP_ADD),			 /* fcmge */
	HALF(1, 1, 4, V_NM, INSN_FP_ADD),			 /* fcmgt */
	HALF(1, 0, 5, V_NM, INSN_FP_ADD),			 /* facge */
	HALF(1, 1, 5, V_NM, INSN_FP_ADD),			 /* facgt */
	{0x9f60fc00, 0x0e403400, V_NM, INSN_FP_ADD, A64_ANY, 0}, /* fmax .. fminp */
	HALF(0, 0, 7, V_NM, INSN_FP_MULTIPLY),			 /* frecps */
	HALF(0, 1, 7, V_NM, INSN_FP_MULTIPLY),			 /* frsqrts */
	HALF(1, 0, 7, V_NM, INSN_FP_DIVIDE),			 /* fdiv */
};

#define EXTRA(u, opcode, operands, class, sizes)                                                   \
	{                                                                                          \
		0xbf20fc00, 0x0e008400 | (u) << 29 | (opcode) << 11, operands, class, A64_SIZES,   \
			sizes                                                                      \
	}

static const struct a64_pattern three_same_extra[] = {
	EXTRA(0, 2, V_NMD, INSN_VECTOR_MULTIPLY, SIZE_S),	       /* sdot */
	EXTRA(1, 2, V_NMD, INSN_VECTOR_MULTIPLY, SIZE_S),	       /* udot */
	EXTRA(0, 3, V_NMD, INSN_VECTOR_MULTIPLY, SIZE_S),	       /* usdot */
	EXTRA(0, 4, V_NMD, INSN_VECTOR_MULTIPLY, SIZE_S &SIZE_Q_ONLY), /* smmla */
	EXTRA(1, 4, V_NMD, INSN_VECTOR_MULTIPLY, SIZE_S &SIZE_Q_ONLY), /* ummla */
	EXTRA(0, 5, V_NMD, INSN_VECTOR_MULTIPLY, SIZE_S &SIZE_Q_ONLY), /* usmmla */
	EXTRA(1, 0, V_NMD, INSN_VECTOR_MULTIPLY, SIZE_HS),	       /* sqrdmlah */
	EXTRA(1, 1, V_NMD, INSN_VECTOR_MULTIPLY, SIZE_HS),	       /* sqrdmlsh */
	{0xbf20e400, 0x2e00c400, V_NMD, INSN_FP_FMA, A64_SIZES, 0xbc}, /* fcmla */
	{0xbf20ec00, 0x2e00e400, V_NM, INSN_FP_ADD, A64_SIZES, 0xbc},  /* fcadd */
	EXTRA(1, 13, V_NMD, INSN_FP_FMA, SIZE_H &SIZE_Q_ONLY),	       /* bfmmla */
	EXTRA(1, 15, V_NMD, INSN_FP_FMA, SIZE_H | SIZE_D),	       /* bfdot, bfmlal */
};

#define MISC(u, opcode, operands, class, sizes)                                                    \
	{                                                                                          \
		0xbf3ffc00, 0x0e200800 | (u) << 29 | (opcode) << 12, operands, class, A64_SIZES,   \
			sizes                                                                      \
	}
#define MISC2(opcode, operands, class, sizes)                                                      \
	{                                                                                          \
		0x9f3ffc00, 0x0e200800 | (opcode) << 12, operands, class, A64_SIZES, sizes         \
	}
#define MISC_FP(u, a, opcode, operands, class, sizes)                                              \
	{                                                                                          \
		0xbfbffc00, 0x0e200800 | (u) << 29 | (a) << 23 | (opcode) << 12, operands, class,  \
			A64_SIZES, sizes                                                           \
	}
#define MISC_FP2(a, opcode, class)                                                                 \
	{                                                                                          \
		0x9fbffc00, 0x0e200800 | (a) << 23 | (opcode) << 12, V_N, class, A64_SIZES,        \
			SIZE_FP                                                                    \
	}

static const struct a64_pattern two_misc[] = {
	MISC(0, 0x00, V_N, INSN_VECTOR_SHUFFLE, SIZE_BHS),		   /* rev64 */
	MISC(1, 0x00, V_N, INSN_VECTOR_SHUFFLE, SIZE_BH),		   /* rev32 */
	MISC(0, 0x01, V_N, INSN_VECTOR_SHUFFLE, SIZE_B),		   /* rev16 */
	MISC2(0x02, V_N, INSN_VECTOR_ALU, SIZE_BHS),			   /* saddlp */
	MISC2(0x03, V_ND, INSN_VECTOR_ALU, SIZE_NOT_1D),		   /* suqadd */
	MISC2(0x04, V_N, INSN_VECTOR_ALU, SIZE_BHS),			   /* cls, clz */
	MISC(0, 0x05, V_N, INSN_VECTOR_ALU, SIZE_B),			   /* cnt */
	MISC(1, 0x05, V_N, INSN_VECTOR_ALU, SIZE_BH),			   /* not, rbit */
	MISC2(0x06, V_ND, INSN_VECTOR_ALU, SIZE_BHS),			   /* sadalp */
	MISC2(0x07, V_N, INSN_VECTOR_ALU, SIZE_NOT_1D),			   /* sqabs, sqneg */
	MISC2(0x08, V_N, INSN_VECTOR_ALU, SIZE_NOT_1D),			   /* cmgt, cmge 0 */
	MISC2(0x09, V_N, INSN_VECTOR_ALU, SIZE_NOT_1D),			   /* cmeq, cmle 0 */
	MISC(0, 0x0a, V_N, INSN_VECTOR_ALU, SIZE_NOT_1D),		   /* cmlt 0 */
	MISC2(0x0b, V_N, INSN_VECTOR_ALU, SIZE_NOT_1D),			   /* abs, neg */
	MISC(0, 0x12, V_N | A64_NARROW, INSN_VECTOR_SHUFFLE, SIZE_BHS),	   /* xtn */
	MISC(1, 0x12, V_N | A64_NARROW, INSN_VECTOR_ALU, SIZE_BHS),	   /* sqxtun */
	MISC2(0x14, V_N | A64_NARROW, INSN_VECTOR_ALU, SIZE_BHS),	   /* sqxtn */
	MISC(1, 0x13, V_N, INSN_VECTOR_ALU, SIZE_BHS),			   /* shll */
	MISC_FP(0, 0, 0x16, V_N | A64_NARROW, INSN_FP_CONVERT, 0x0f),	   /* fcvtn */
	MISC_FP(1, 0, 0x16, V_N | A64_NARROW, INSN_FP_CONVERT, SIZE_H),	   /* fcvtxn */
	MISC_FP(0, 1, 0x16, V_N | A64_NARROW, INSN_FP_CONVERT, SIZE_S),	   /* bfcvtn */
	MISC_FP(0, 0, 0x17, V_N, INSN_FP_CONVERT, 0x0f),		   /* fcvtl */
	MISC_FP2(0, 0x18, INSN_FP_ADD),					   /* frintn, frinta */
	MISC_FP2(0, 0x19, INSN_FP_ADD),					   /* frintm, frintx */
	MISC_FP(0, 1, 0x18, V_N, INSN_FP_ADD, SIZE_FP),			   /* frintp */
	MISC_FP2(1, 0x19, INSN_FP_ADD),					   /* frintz, frinti */
	MISC_FP2(0, 0x1e, INSN_FP_ADD),					   /* frint32 */
	MISC_FP2(0, 0x1f, INSN_FP_ADD),					   /* frint64 */
	MISC_FP2(0, 0x1a, INSN_FP_CONVERT),				   /* fcvtn */
	MISC_FP2(0, 0x1b, INSN_FP_CONVERT),				   /* fcvtm */
	MISC_FP2(0, 0x1c, INSN_FP_CONVERT),				   /* fcvta */
	MISC_FP2(0, 0x1d, INSN_FP_CONVERT),				   /* scvtf, ucvtf */
	MISC_FP2(1, 0x1a, INSN_FP_CONVERT),				   /* fcvtp */
	MISC_FP2(1, 0x1b, INSN_FP_CONVERT),				   /* fcvtz */
	MISC_FP2(1, 0x0c, INSN_FP_ADD),					   /* fcmgt, fcmge 0 */
	MISC_FP2(1, 0x0d, INSN_FP_ADD),					   /* fcmeq, fcmle 0 */
	MISC_FP(0, 1, 0x0e, V_N, INSN_FP_ADD, SIZE_FP),			   /* fcmlt 0 */
	MISC_FP2(1, 0x0f, INSN_FP_MOVE),				   /* fabs, fneg */
	{0x9fbffc00, 0x0ea1c800, V_N, INSN_VECTOR_ALU, A64_SIZES, SIZE_S}, /* urecpe */
	MISC_FP2(1, 0x1d, INSN_FP_MULTIPLY),				   /* frecpe, frsqrte */
	MISC_FP(1, 1, 0x1f, V_N, INSN_FP_SQRT, SIZE_FP),		   /* fsqrt */
};

#define MISC_HALF(u, a, opcode, class)                                                             \
	{                                                                                          \
		0xbffffc00, 0x0e780800 | (u) << 29 | (a) << 23 | (opcode) << 12, V_N, class,       \
			A64_ANY, 0                                                                 \
	}
#define MISC_HALF2(a, opcode, class)                                                               \
	{                                                                                          \
		0x9ffffc00, 0x0e780800 | (a) << 23 | (opcode) << 12, V_N, class, A64_ANY, 0        \
	}

static const struct a64_pattern two_misc_half[] = {
	MISC_HALF2(0, 0x18, INSN_FP_ADD),      /* frintn, frinta */
	MISC_HALF2(0, 0x19, INSN_FP_ADD),      /* frintm, frintx */
	MISC_HALF(0, 1, 0x18, INSN_FP_ADD),    /* frintp */
	MISC_HALF2(1, 0x19, INSN_FP_ADD),      /* frintz, frinti */
	MISC_HALF2(0, 0x1a, INSN_FP_CONVERT),  /* fcvtn */
	MISC_HALF2(0, 0x1b, INSN_FP_CONVERT),  /* fcvtm */
	MISC_HALF2(0, 0x1c, INSN_FP_CONVERT),  /* fcvta */
	MISC_HALF2(0, 0x1d, INSN_FP_CONVERT),  /* scvtf, ucvtf */
	MISC_HALF2(1, 0x1a, INSN_FP_CONVERT),  /* fcvtp */
	MISC_HALF2(1, 0x1b, INSN_FP_CONVERT),  /* fcvtz */
	MISC_HALF2(1, 0x0c, INSN_FP_ADD),      /* fcmgt, fcmge 0 */
	MISC_HALF2(1, 0x0d, INSN_FP_ADD),      /* fcmeq, fcmle 0 */
	MISC_HALF(0, 1, 0x0e, INSN_FP_ADD),    /* fcmlt 0 */
	MISC_HALF2(1, 0x0f, INSN_FP_MOVE),     /* fabs, fneg */
	MISC_HALF2(1, 0x1d, INSN_FP_MULTIPLY), /* frecpe, frsqrte */
	MISC_HALF(1, 1, 0x1f, INSN_FP_SQRT),   /* fsqrt */
};

#define ACROSS2(opcode)                                                                            \
	{                                                                                          \
		0x9f3ffc00, 0x0e300800 | (opcode) << 12, V_N, INSN_VECTOR_ALU, A64_SIZES, 0x2f     \
	}

static const struct a64_pattern across_lanes[] = {
	ACROSS2(0x03),							       /* saddlv */
	ACROSS2(0x0a),							       /* smaxv */
	ACROSS2(0x1a),							       /* sminv */
	{0xbf3ffc00, 0x0e31b800, V_N, INSN_VECTOR_ALU, A64_SIZES, 0x2f},       /* addv */
	{0xbf3ffc00, 0x0e30c800, V_N, INSN_FP_ADD, A64_SIZES, SIZE_FP_SINGLE}, /* fmaxnmv, half */
	{0xbf3ffc00, 0x0e30f800, V_N, INSN_FP_ADD, A64_SIZES, SIZE_FP_SINGLE}, /* fmaxv, half */
	{0xbf3ffc00, 0x2e30c800, V_N, INSN_FP_ADD, A64_SIZES, 0x22},	       /* fmaxnmv */
	{0xbf3ffc00, 0x2e30f800, V_N, INSN_FP_ADD, A64_SIZES, 0x22},	       /* fmaxv */
};

#define LONG(u, opcode, operands, class, sizes)                                                    \
	{                                                                                          \
		0xbf20fc00, 0x0e200000 | (u) << 29 | (opcode) << 12, operands, class, A64_SIZES,   \
			sizes                                                                      \
	}
#define LONG2(opcode, operands, class)                                                             \
	{                                                                                          \
		0x9f20fc00, 0x0e200000 | (opcode) << 12, operands, class, A64_SIZES, SIZE_BHS      \
	}

static const struct a64_pattern three_different[] = {
	LONG2(0x0, V_NM, INSN_VECTOR_ALU),			   /* saddl */
	LONG2(0x1, V_NM, INSN_VECTOR_ALU),			   /* saddw */
	LONG2(0x2, V_NM, INSN_VECTOR_ALU),			   /* ssubl */
	LONG2(0x3, V_NM, INSN_VECTOR_ALU),			   /* ssubw */
	LONG2(0x4, V_NM | A64_NARROW, INSN_VECTOR_ALU),		   /* addhn */
	LONG2(0x5, V_NMD, INSN_VECTOR_ALU),			   /* sabal */
	LONG2(0x6, V_NM | A64_NARROW, INSN_VECTOR_ALU),		   /* subhn */
	LONG2(0x7, V_NM, INSN_VECTOR_ALU),			   /* sabdl */
	LONG2(0x8, V_NMD, INSN_VECTOR_MULTIPLY),		   /* smlal */
	LONG(0, 0x9, V_NMD, INSN_VECTOR_MULTIPLY, SIZE_HS),	   /* sqdmlal */
	LONG2(0xa, V_NMD, INSN_VECTOR_MULTIPLY),		   /* smlsl */
	LONG(0, 0xb, V_NMD, INSN_VECTOR_MULTIPLY, SIZE_HS),	   /* sqdmlsl */
	LONG2(0xc, V_NM, INSN_VECTOR_MULTIPLY),			   /* smull */
	LONG(0, 0xd, V_NM, INSN_VECTOR_MULTIPLY, SIZE_HS),	   /* sqdmull */
	LONG(0, 0xe, V_NM, INSN_VECTOR_MULTIPLY, SIZE_B | SIZE_D), /* pmull */
};

static const struct a64_pattern copies[] = {
	{0xbfe0fc00, 0x0e000400, V_N, INSN_VECTOR_SHUFFLE, A64_ANY, 0},			 /* dup */
	{0xbfe0fc00, 0x0e000c00, A64_N | A64_WV, INSN_FP_TRANSFER, A64_ANY, 0},		 /* dup */
	{0xbfe0fc00, 0x0e002c00, A64_VN | A64_WD, INSN_FP_TRANSFER, A64_ANY, 0},	 /* smov */
	{0xbfe0fc00, 0x0e003c00, A64_VN | A64_WD, INSN_FP_TRANSFER, A64_ANY, 0},	 /* umov */
	{0xffe0fc00, 0x4e001c00, A64_N | A64_VD | A64_WV, INSN_FP_TRANSFER, A64_ANY, 0}, /* ins */
	{0xffe08400, 0x6e000400, V_ND, INSN_VECTOR_SHUFFLE, A64_ANY, 0},		 /* ins */
};

static const struct a64_pattern shuffles[] = {
	{0xbf20bc00, 0x0e001800, V_NM, INSN_VECTOR_SHUFFLE, A64_SIZES, SIZE_NOT_1D}, /* uzp */
	{0xbf20bc00, 0x0e002800, V_NM, INSN_VECTOR_SHUFFLE, A64_SIZES, SIZE_NOT_1D}, /* trn */
	{0xbf20bc00, 0x0e003800, V_NM, INSN_VECTOR_SHUFFLE, A64_SIZES, SIZE_NOT_1D}, /* zip */
	{0xbfe09c00, 0x0e000000, V_NM, INSN_VECTOR_SHUFFLE, A64_ANY, 0},	     /* tbl */
	{0xbfe09c00, 0x0e001000, V_NMD, INSN_VECTOR_SHUFFLE, A64_ANY, 0},	     /* tbx */
	{0xbfe08400, 0x2e000000, V_NM, INSN_VECTOR_SHUFFLE, A64_ANY, 0},	     /* ext */
};

static const struct a64_pattern by_element[] = {
	BY_FP(SIGNED, 0x9, V_NM, INSN_FP_MULTIPLY),			    /* fmul */
	BY_FP(SIGNED, 0x1, V_NMD, INSN_FP_FMA),				    /* fmla */
	BY_FP(SIGNED, 0x5, V_NMD, INSN_FP_FMA),				    /* fmls */
	BY_FP(SIGNED, UNSIGNED(0x9), V_NM, INSN_FP_MULTIPLY),		    /* fmulx */
	BY_INT(SIGNED, 0x8, V_NM, INSN_VECTOR_MULTIPLY),		    /* mul */
	BY_INT(SIGNED, UNSIGNED(0x0), V_NMD, INSN_VECTOR_MULTIPLY),	    /* mla */
	BY_INT(SIGNED, UNSIGNED(0x4), V_NMD, INSN_VECTOR_MULTIPLY),	    /* mls */
	BY_INT(EITHER, 0x2, V_NMD, INSN_VECTOR_MULTIPLY),		    /* smlal */
	BY_INT(EITHER, 0x6, V_NMD, INSN_VECTOR_MULTIPLY),		    /* smlsl */
	BY_INT(EITHER, 0xa, V_NM, INSN_VECTOR_MULTIPLY),		    /* smull */
	BY_INT(SIGNED, 0x3, V_NMD, INSN_VECTOR_MULTIPLY),		    /* sqdmlal */
	BY_INT(SIGNED, 0x7, V_NMD, INSN_VECTOR_MULTIPLY),		    /* sqdmlsl */
	BY_INT(SIGNED, 0xb, V_NM, INSN_VECTOR_MULTIPLY),		    /* sqdmull */
	BY_INT(SIGNED, 0xc, V_NM, INSN_VECTOR_MULTIPLY),		    /* sqdmulh */
	BY_INT(SIGNED, 0xd, V_NM, INSN_VECTOR_MULTIPLY),		    /* sqrdmulh */
	BY_INT(SIGNED, UNSIGNED(0xd), V_NMD, INSN_VECTOR_MULTIPLY),	    /* sqrdmlah */
	BY_INT(SIGNED, UNSIGNED(0xf), V_NMD, INSN_VECTOR_MULTIPLY),	    /* sqrdmlsh */
	{0x9fc0f400, 0x0f80e000, V_NMD, INSN_VECTOR_MULTIPLY, A64_ANY, 0},  /* sdot, udot */
	{0xbfc0f400, 0x0f00f000, V_NMD, INSN_VECTOR_MULTIPLY, A64_ANY, 0},  /* sudot */
	{0xbfc0f400, 0x0f80f000, V_NMD, INSN_VECTOR_MULTIPLY, A64_ANY, 0},  /* usdot */
	{0xbfc0f400, 0x0f40f000, V_NMD, INSN_FP_FMA, A64_ANY, 0},	    /* bfdot */
	{0xbfc0f400, 0x0fc0f000, V_NMD | A64_VM4, INSN_FP_FMA, A64_ANY, 0}, /* bfmlal */
	{0xbfc0b400, 0x0f800000, V_NMD | A64_VM4, INSN_FP_FMA, A64_ANY, 0}, /* fmlal, fmlsl */
	{0xbfc0b400, 0x2f808000, V_NMD | A64_VM4, INSN_FP_FMA, A64_ANY, 0}, /* fmlal2, fmlsl2 */
	/* fcmla: of pairs of halves, of words */
	{0xffc09400, 0x6f401000, V_NMD, INSN_FP_FMA, A64_ANY, 0},
	{0xffc09c00, 0x2f401000, V_NMD, INSN_FP_FMA, A64_ANY, 0},
	{0xffe09400, 0x6f801000, V_NMD, INSN_FP_FMA, A64_ANY, 0},
};

#define SHIFT(u, opcode, operands, class, check)                                                   \
	{                                                                                          \
		0xbf80fc00, 0x0f000400 | (u) << 29 | (opcode) << 11, operands, class, check, 0     \
	}
#define SHIFT2(opcode, operands, class, check)                                                     \
	{                                                                                          \
		0x9f80fc00, 0x0f000400 | (opcode) << 11, operands, class, check, 0                 \
	}

static const struct a64_pattern shifts[] = {
	SHIFT2(0x00, V_N, INSN_VECTOR_ALU, A64_SHIFT_ALL),		 /* sshr */
	SHIFT(0, 0x0a, V_N, INSN_VECTOR_ALU, A64_SHIFT_ALL),		 /* shl */
	SHIFT2(0x14, V_N, INSN_VECTOR_ALU, A64_SHIFT_HALF),		 /* sshll, sxtl */
	SHIFT2(0x10, V_N | A64_NARROW, INSN_VECTOR_ALU, A64_SHIFT_HALF), /* shrn, sqshrun */
	SHIFT2(0x11, V_N | A64_NARROW, INSN_VECTOR_ALU, A64_SHIFT_HALF), /* rshrn, sqrshrun */
	SHIFT2(0x12, V_N | A64_NARROW, INSN_VECTOR_ALU, A64_SHIFT_HALF), /* sqshrn */
	SHIFT2(0x13, V_N | A64_NARROW, INSN_VECTOR_ALU, A64_SHIFT_HALF), /* sqrshrn */
	SHIFT2(0x02, V_ND, INSN_VECTOR_ALU, A64_SHIFT_ALL),		 /* ssra */
	SHIFT2(0x04, V_N, INSN_VECTOR_ALU, A64_SHIFT_ALL),		 /* srshr */
	SHIFT2(0x06, V_ND, INSN_VECTOR_ALU, A64_SHIFT_ALL),		 /* srsra */
	SHIFT(1, 0x08, V_ND, INSN_VECTOR_ALU, A64_SHIFT_ALL),		 /* sri */
	SHIFT(1, 0x0a, V_ND, INSN_VECTOR_ALU, A64_SHIFT_ALL),		 /* sli */
	SHIFT(1, 0x0c, V_N, INSN_VECTOR_ALU, A64_SHIFT_ALL),		 /* sqshlu */
	SHIFT2(0x0e, V_N, INSN_VECTOR_ALU, A64_SHIFT_ALL),		 /* sqshl */
	SHIFT2(0x1c, V_N, INSN_FP_CONVERT, A64_SHIFT_FP),		 /* scvtf */
	SHIFT2(0x1f, V_N, INSN_FP_CONVERT, A64_SHIFT_FP),		 /* fcvtzs */
};

static const struct a64_pattern aes[] = {
	{0xffffec00, 0x4e284800, V_ND, INSN_CRYPTO, A64_ANY, 0}, /* aese, aesd */
	{0xffffec00, 0x4e286800, V_N, INSN_CRYPTO, A64_ANY, 0},	 /* aesmc, aesimc */
};

static const struct a64_pattern crypto[] = {
	{0xffe08000, 0xce000000, V_NM | A64_VA, INSN_VECTOR_ALU, A64_ANY, 0}, /* eor3 */
	{0xffe08000, 0xce200000, V_NM | A64_VA, INSN_VECTOR_ALU, A64_ANY, 0}, /* bcax */
	{0xffe08000, 0xce400000, V_NM | A64_VA, INSN_CRYPTO, A64_ANY, 0},     /* sm3ss1 */
	{0xffe0c000, 0xce408000, V_NMD, INSN_CRYPTO, A64_ANY, 0},	      /* sm3tt */
	{0xffe00000, 0xce800000, V_NM, INSN_VECTOR_ALU, A64_ANY, 0},	      /* xar */
	{0xffe0f800, 0xce608000, V_NMD, INSN_CRYPTO, A64_ANY, 0},	      /* sha512h, h2 */
	{0xffe0fc00, 0xce608800, V_NMD, INSN_CRYPTO, A64_ANY, 0},	      /* sha512su1 */
	{0xffe0fc00, 0xce608c00, V_NM, INSN_CRYPTO, A64_ANY, 0},	      /* rax1 */
	{0xffe0f800, 0xce60c000, V_NMD, INSN_CRYPTO, A64_ANY, 0},	      /* sm3partw1, 2 */
	{0xffe0fc00, 0xce60c800, V_NM, INSN_CRYPTO, A64_ANY, 0},	      /* sm4ekey */
	{0xfffff800, 0xcec08000, V_ND, INSN_CRYPTO, A64_ANY, 0},	      /* sha512su0, sm4e */
};

static const struct a64_group groups[] = {
	GROUP(0x9f200400, 0x0e200400, three_same),
	GROUP(0x9f3e0c00, 0x0e200800, two_misc),
	GROUP(0x9fe08400, 0x0e000400, copies),
	GROUP(0x9f800400, 0x0f000400, shifts),
	GROUP(0x9f000400, 0x0f000000, by_element),
	GROUP(0x9f200c00, 0x0e200000, three_different),
	GROUP(0xbf208c00, 0x0e000800, shuffles),
	GROUP(0x9fe08c00, 0x0e000000, shuffles),
	GROUP(0xbfe08400, 0x2e000000, shuffles),
	GROUP(0xff3e0c00, 0x4e280800, aes),
	GROUP(0x9f3e0c00, 0x0e300800, across_lanes),
	GROUP(0x9f7e0c00, 0x0e780800, two_misc_half),
	GROUP(0x9f60c400, 0x0e400400, three_same_half),
	GROUP(0x9f208400, 0x0e008400, three_same_extra),
	GROUP(0xff000000, 0xce000000, crypto),
};

const struct a64_pattern *a64_vector_match(uint32_t word)
{
	return a64_group_match(groups, A64_COUNT(groups), word);
}
