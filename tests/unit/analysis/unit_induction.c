// SPDX-License-Identifier: GPL-2.0-only
/* Induction variables of loops, in machine code of x86-64. */
#include "tests/lib/unit.h"

#include <string.h>

#include "analysis/graph/cfg_create.h"
#include "analysis/graph/induction.h"

#define BASE UINT64_C(0x401000)
#define RAX 0
#define RCX 1
#define RDX 2
#define RBX 3
#define RSP 4
#define RSI 6

/* Find what registers depend on at the header of the innermost loop. Return: how many do. */
static int find(struct induction ret[INDUCTION_REGISTERS], const char *code, size_t bytes)
{
	struct induction_map *map;
	struct cfg *cfg = NULL;
	struct loop_nest nest;
	int found = 0;

	memset(ret, 0, INDUCTION_REGISTERS * sizeof(*ret));
	assert_int_equal(cfg_create_from_code(&cfg, &insn_x86_decoder, (const uint8_t *)code, bytes,
					      BASE, NULL),
			 0);
	assert_int_equal(loop_nest_create(&nest, cfg), 0);
	assert_true(nest.count > 0);
	assert_int_equal(induction_map_create(&map, cfg, &nest, nest.count - 1), 0);
	if (map != NULL)
		induction_map_at(ret, map, cfg->blocks[induction_map_block(map)].first);
	for (int i = 0; i < INDUCTION_REGISTERS; i++)
		found += ret[i].step != 0;
	induction_map_destroy(map);
	loop_nest_deinit(&nest);
	cfg_destroy(cfg);
	return found;
}

#define FIND(ret, code) find(ret, code, sizeof(code) - 1)

static void test_finds_counters_and_pointers(void **state)
{
	struct induction found[INDUCTION_REGISTERS];

	(void)state;
	assert_int_equal(FIND(found, "\x48\x83\xc0\x08" /* 1: add $8,%rax */
				     "\x48\x03\x18"	/* add (%rax),%rbx */
				     "\xff\xc9"		/* dec %ecx */
				     "\x75\xf5"		/* jne 1b */
				     "\xc3"),
			 2);
	assert_int_equal(found[RAX].step, 8);
	assert_int_equal(found[RAX].bytes, 8);
	assert_int_equal(found[RCX].step, -1);
	assert_int_equal(found[RCX].bytes, 4);
	assert_int_equal(found[RBX].step, 0);
}

/* Two steps in one iteration, the second one by way of another register. */
static void test_adds_up_steps(void **state)
{
	struct induction found[INDUCTION_REGISTERS];

	(void)state;
	assert_int_equal(FIND(found, "\x48\xff\xc0"	/* 1: inc %rax */
				     "\x48\x8d\x50\x02" /* lea 2(%rax),%rdx */
				     "\x48\x89\xd0"	/* mov %rdx,%rax */
				     "\x48\x39\xf0"	/* cmp %rsi,%rax */
				     "\x75\xf1"		/* jne 1b */
				     "\xc3"),
			 1);
	assert_int_equal(found[RAX].step, 3);
}

/* The step depends on the way through the iteration. */
static void test_rejects_conditional_step(void **state)
{
	struct induction found[INDUCTION_REGISTERS];

	(void)state;
	assert_int_equal(FIND(found, "\x48\xff\xc0" /* 1: inc %rax */
				     "\xa8\x04"	    /* test $4,%al */
				     "\x74\x03"	    /* je 2f */
				     "\x48\xff\xc3" /* inc %rbx */
				     "\x48\x39\xf0" /* 2: cmp %rsi,%rax */
				     "\x75\xf1"	    /* jne 1b */
				     "\xc3"),
			 1);
	assert_int_equal(found[RAX].step, 1);
	assert_int_equal(found[RBX].step, 0);
}

/* A pointer of a list is loaded, a conditional move may not happen, a product is no sum. */
static void test_rejects_other_changes(void **state)
{
	struct induction found[INDUCTION_REGISTERS];

	(void)state;
	assert_int_equal(FIND(found, "\x48\x8b\x00"	/* 1: mov (%rax),%rax */
				     "\x48\x0f\x44\xca" /* cmove %rdx,%rcx */
				     "\x48\x6b\xdb\x03" /* imul $3,%rbx */
				     "\x48\x85\xc0"	/* test %rax,%rax */
				     "\x75\xf0"		/* jne 1b */
				     "\xc3"),
			 0);
	assert_int_equal(found[RAX].step, 0);
}

static void test_outer_loop(void **state)
{
	static const char code[] = "\x31\xc0"	  /* 1: xor %eax,%eax */
				   "\x48\xff\xc0" /* 2: inc %rax */
				   "\x48\x39\xf0" /* cmp %rsi,%rax */
				   "\x75\xf8"	  /* jne 2b */
				   "\x48\xff\xcb" /* dec %rbx */
				   "\x75\xf1"	  /* jne 1b */
				   "\xc3";
	struct induction found[INDUCTION_REGISTERS];
	struct induction_map *map;
	struct cfg *cfg = NULL;
	struct loop_nest nest;

	(void)state;
	assert_int_equal(cfg_create_from_code(&cfg, &insn_x86_decoder, (const uint8_t *)code,
					      sizeof(code) - 1, BASE, NULL),
			 0);
	assert_int_equal(loop_nest_create(&nest, cfg), 0);
	assert_int_equal(nest.count, 2);
	assert_int_equal(induction_map_create(&map, cfg, &nest, 0), 0);
	induction_map_at(found, map, 0);
	assert_int_equal(found[RBX].step, -1);
	assert_int_equal(found[RAX].step, 0);
	/* Also in the inner loop. */
	induction_map_at(found, map, 2);
	assert_int_equal(found[RBX].step, -1);
	assert_int_equal(found[RAX].step, 0);
	induction_map_destroy(map);
	assert_int_equal(induction_map_create(&map, cfg, &nest, 1), 0);
	induction_map_at(found, map, 2);
	assert_int_equal(found[RAX].step, 1);
	induction_map_destroy(map);
	loop_nest_deinit(&nest);
	cfg_destroy(cfg);
}

/* As without optimization: the counter is in memory, and registers have it for a while. */
static void test_counters_in_memory(void **state)
{
	static const char code[] = "\x48\x8b\x45\xf0"	  /* 1: mov -16(%rbp),%rax */
				   "\x48\x01\x45\xe8"	  /* add %rax,-24(%rbp) */
				   "\x48\x83\x45\xf0\x02" /* addq $2,-16(%rbp) */
				   "\x48\x8b\x45\xf0"	  /* mov -16(%rbp),%rax */
				   "\x48\x3b\x45\xe0"	  /* cmp -32(%rbp),%rax */
				   "\x72\xe9"		  /* jb 1b */
				   "\xc3";
	struct induction first[INDUCTION_REGISTERS], last[INDUCTION_REGISTERS];
	struct induction_map *map;
	struct cfg *cfg = NULL;
	struct loop_nest nest;

	(void)state;
	assert_int_equal(cfg_create_from_code(&cfg, &insn_x86_decoder, (const uint8_t *)code,
					      sizeof(code) - 1, BASE, NULL),
			 0);
	assert_int_equal(loop_nest_create(&nest, cfg), 0);
	assert_int_equal(induction_map_create(&map, cfg, &nest, 0), 0);
	assert_non_null(map);
	induction_map_at(first, map, 1);
	induction_map_at(last, map, 5);
	assert_int_equal(first[RAX].step, 2);
	assert_int_equal(last[RAX].step, 2);
	assert_int_equal(first[RAX].variable, last[RAX].variable);
	assert_int_equal(first[RAX].bytes, 8);
	/* Before the load, the register depends on the previous iteration. */
	induction_map_at(first, map, 0);
	assert_int_equal(first[RAX].step, 0);
	induction_map_destroy(map);
	loop_nest_deinit(&nest);
	cfg_destroy(cfg);
}

/* Each iteration spills the counter, whose register then has other values. */
static void test_words_have_spilled_counters(void **state)
{
	static const char code[] = "\x48\x89\x4c\x24\xf8" /* 1: mov %rcx,-8(%rsp) */
				   "\x48\x89\x5c\x24\xf0" /* mov %rbx,-16(%rsp) */
				   "\x48\x8b\x0b"	  /* mov (%rbx),%rcx */
				   "\x48\x89\xcb"	  /* mov %rcx,%rbx */
				   "\x48\x8b\x4c\x24\xf8" /* mov -8(%rsp),%rcx */
				   "\x48\x83\xc1\x03"	  /* add $3,%rcx */
				   "\x48\x39\xf1"	  /* cmp %rsi,%rcx */
				   "\x75\xe2"		  /* jne 1b */
				   "\xc3";
	struct induction word;
	struct induction_map *map;
	struct cfg *cfg = NULL;
	struct loop_nest nest;

	(void)state;
	assert_int_equal(cfg_create_from_code(&cfg, &insn_x86_decoder, (const uint8_t *)code,
					      sizeof(code) - 1, BASE, NULL),
			 0);
	assert_int_equal(loop_nest_create(&nest, cfg), 0);
	assert_int_equal(induction_map_create(&map, cfg, &nest, 0), 0);
	assert_non_null(map);
	word = induction_map_word(map, RSP, -8);
	assert_int_equal(word.step, 3);
	assert_int_equal(word.variable, RCX);
	/* A pointer that follows a list is no counter, spilled or not. */
	assert_int_equal(induction_map_word(map, RSP, -16).step, 0);
	induction_map_destroy(map);
	loop_nest_deinit(&nest);
	cfg_destroy(cfg);
}

/* A call changes the registers of results. Compilers may use other registers across a call. */
static void test_calls_clobber_results(void **state)
{
	struct induction found[INDUCTION_REGISTERS];

	(void)state;
	assert_int_equal(FIND(found, "\x48\xff\xc1"	    /* 1: inc %rcx */
				     "\x48\xff\xc0"	    /* inc %rax */
				     "\xe8\x00\x10\x00\x00" /* call elsewhere */
				     "\x48\x39\xf1"	    /* cmp %rsi,%rcx */
				     "\x75\xf0"		    /* jne 1b */
				     "\xc3"),
			 1);
	assert_int_equal(found[RCX].step, 1);
}

/* The step is a register that the loop does not change, or only a conditional move. */
static void test_register_steps(void **state)
{
	struct induction found[INDUCTION_REGISTERS];

	(void)state;
	assert_int_equal(FIND(found, "\x48\x01\xf8"	/* 1: add %rdi,%rax */
				     "\x48\x29\xd1"	/* sub %rdx,%rcx */
				     "\x48\x39\xd1"	/* cmp %rdx,%rcx */
				     "\x48\x0f\x42\xd1" /* cmovb %rcx,%rdx */
				     "\x75\xf1"		/* jne 1b */
				     "\xc3"),
			 2);
	assert_int_equal(found[RAX].step, 1);
	assert_true(found[RAX].multiple);
	assert_int_equal(found[RCX].step, -1);
	assert_true(found[RCX].multiple);
	/* Sums of registers that change are no induction variables. */
	assert_int_equal(FIND(found, "\x48\x01\xc8" /* 1: add %rcx,%rax */
				     "\x48\xff\xc1" /* inc %rcx */
				     "\x48\x39\xd1" /* cmp %rdx,%rcx */
				     "\x75\xf5"	    /* jne 1b */
				     "\xc3"),
			 1);
	assert_int_equal(found[RCX].step, 1);
	assert_false(found[RCX].multiple);
}

/* Return: the step of a register in the outermost loop, 0: it is no counter. @block: out */
static int64_t counter_step(uint32_t *block, const char *code, size_t bytes, uint8_t reg)
{
	struct induction found[INDUCTION_REGISTERS] = {{.step = 0}};
	struct induction_map *map;
	struct cfg *cfg = NULL;
	struct loop_nest nest;

	assert_int_equal(cfg_create_from_code(&cfg, &insn_x86_decoder, (const uint8_t *)code, bytes,
					      BASE, NULL),
			 0);
	assert_int_equal(loop_nest_create(&nest, cfg), 0);
	assert_int_equal(induction_map_create_counter(&map, cfg, &nest, 0, reg), 0);
	if (map != NULL) {
		*block = induction_map_block(map);
		induction_map_at(found, map, 0);
	}
	induction_map_destroy(map);
	loop_nest_deinit(&nest);
	cfg_destroy(cfg);
	return found[reg].step;
}

/* A counter in a branch, and a pointer of an inner loop that continues in the next iteration. */
static void test_counts_blocks(void **state)
{
	static const char code[] = "\xa8\x04"	      /* 1: test $4,%al */
				   "\x74\x03"	      /* je 2f */
				   "\x48\xff\xc3"     /* inc %rbx */
				   "\x31\xd2"	      /* 2: xor %edx,%edx */
				   "\x48\x83\xc6\x08" /* 3: add $8,%rsi */
				   "\xff\xc2"	      /* inc %edx */
				   "\x83\xfa\x09"     /* cmp $9,%edx */
				   "\x75\xf5"	      /* jne 3b */
				   "\x48\xff\xc9"     /* dec %rcx */
				   "\x75\xe7"	      /* jne 1b */
				   "\xc3";
	uint32_t block = 0;

	(void)state;
	assert_int_equal(counter_step(&block, code, sizeof(code) - 1, RBX), 1);
	assert_int_equal(block, 1);
	assert_int_equal(counter_step(&block, code, sizeof(code) - 1, RSI), 8);
	assert_int_equal(block, 3);
	assert_int_equal(counter_step(&block, code, sizeof(code) - 1, RCX), -1);
	assert_int_equal(block, 4);
	/* Reset in each iteration, or never changed. */
	assert_int_equal(counter_step(&block, code, sizeof(code) - 1, RDX), 0);
	assert_int_equal(counter_step(&block, code, sizeof(code) - 1, RAX), 0);
}

/* A loop with two entries. Each iteration executes one of them. */
static void test_several_entries(void **state)
{
	struct induction found[INDUCTION_REGISTERS];

	(void)state;
	assert_int_equal(FIND(found, "\x85\xff"		/* test %edi,%edi */
				     "\x74\x05"		/* je 2f */
				     "\x83\xc0\x02"	/* 1: add $2,%eax */
				     "\xeb\x03"		/* jmp 3f */
				     "\x83\xe8\x05"	/* 2: sub $5,%eax */
				     "\x48\x83\xc1\x01" /* 3: add $1,%rcx */
				     "\x39\xf0"		/* cmp %esi,%eax */
				     "\x7c\xf0"		/* jl 1b */
				     "\x39\xd0"		/* cmp %edx,%eax */
				     "\x7c\xf1"		/* jl 2b */
				     "\xc3"),
			 1);
	assert_int_equal(found[RCX].step, 1);
	assert_int_equal(found[RAX].step, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_counters_and_pointers),
		cmocka_unit_test(test_adds_up_steps),
		cmocka_unit_test(test_rejects_conditional_step),
		cmocka_unit_test(test_rejects_other_changes),
		cmocka_unit_test(test_outer_loop),
		cmocka_unit_test(test_counters_in_memory),
		cmocka_unit_test(test_words_have_spilled_counters),
		cmocka_unit_test(test_calls_clobber_results),
		cmocka_unit_test(test_several_entries),
		cmocka_unit_test(test_register_steps),
		cmocka_unit_test(test_counts_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
