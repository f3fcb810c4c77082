// SPDX-License-Identifier: GPL-2.0-only
/* Trip counts of loops that compilers rarely generate; for common ones see cli_trip_counts.sh. */
#include "tests/lib/unit.h"

#include "analysis/graph/cfg_create.h"
#include "analysis/graph/noreturn_blocks.h"
#include "analysis/graph/trip_count.h"

#define BASE UINT64_C(0x401000)

/* Find the trip counts of code. */
static void trips_of(struct trip_counts *ret, const char *code, size_t bytes)
{
	struct cfg *cfg = NULL;
	bool noreturn[16];

	assert_int_equal(cfg_create_from_code(&cfg, &insn_x86_decoder, (const uint8_t *)code, bytes,
					      BASE, NULL),
			 0);
	assert_in_range(cfg->block_count, 1, 15);
	assert_int_equal(noreturn_blocks_find(noreturn, cfg), 0);
	assert_int_equal(trip_counts_find(ret, cfg, noreturn), 0);
	cfg_destroy(cfg);
}

/* Return: the trip count of the only loop with a known one, or 0 if there is none. */
static double turns_of(const char *code, size_t bytes)
{
	struct trip_counts trips;
	double executions;

	trips_of(&trips, code, bytes);
	assert_in_range(trips.count, 0, 1);
	assert_int_equal(trips.ratio_count, 0);
	executions = trips.count > 0 ? trips.list[0].trips : 0;
	trip_counts_deinit(&trips);
	return executions;
}

/* Return: the iterations of the loop in block 1 that several branches leave; 0: not known */
static double ratio_of(const char *code, size_t bytes)
{
	struct trip_counts trips;
	double iterations = 0;

	trips_of(&trips, code, bytes);
	assert_int_equal(trips.count, 0);
	assert_in_range(trips.ratio_count, 0, 1);
	if (trips.ratio_count > 0) {
		assert_int_equal(trips.ratios[0].header, 1);
		assert_int_equal(trips.ratios[0].before, 0);
		iterations = trips.ratios[0].trips;
	}
	trip_counts_deinit(&trips);
	return iterations;
}

#define TURNS_OF(code) turns_of(code, sizeof(code) - 1)

/* 37 is compared with 3, 6 .. 39. */
static void test_constant_on_left(void **state)
{
	(void)state;
	assert_true(TURNS_OF("\x31\xc0"		    /* xor %eax,%eax */
			     "\xba\x25\x00\x00\x00" /* mov $37,%edx */
			     "\x83\xc0\x03"	    /* add $3,%eax */
			     "\x39\xc2"		    /* cmp %eax,%edx */
			     "\x77\xf9"		    /* ja back to the add */
			     "\xc3") == 13);
}

/* ah has the register number of al. */
static void test_second_byte_is_not_first(void **state)
{
	(void)state;
	assert_true(TURNS_OF("\x31\xc0"	    /* xor %eax,%eax */
			     "\x83\xc0\x40" /* add $64,%eax */
			     "\x80\xfc\x05" /* cmp $5,%ah */
			     "\x75\xf8"	    /* jne back to the add */
			     "\xc3") == 0);
	assert_true(TURNS_OF("\x31\xc0"	    /* xor %eax,%eax */
			     "\x83\xc0\x01" /* add $1,%eax */
			     "\x3c\x05"	    /* cmp $5,%al */
			     "\x75\xf9"	    /* jne back to the add */
			     "\xc3") == 5);
}

/* Stack slots are found after a push and a pop, because the stack pointer is tracked. */
static void test_stack_slots_after_pushes(void **state)
{
	(void)state;
	assert_true(TURNS_OF("\x48\x83\xec\x18"			/* sub $24,%rsp */
			     "\xc7\x44\x24\x08\x09\x00\x00\x00" /* movl $9,8(%rsp) */
			     "\x53"				/* push %rbx */
			     "\x5b"				/* pop %rbx */
			     "\xff\x4c\x24\x08"			/* decl 8(%rsp) */
			     "\x75\xf8"				/* jne back to the push */
			     "\x48\x83\xc4\x18"			/* add $24,%rsp */
			     "\xc3") == 9);
}

/* A call with the address of an object may change its members, but not the slots below it. */
static void test_calls_change_objects_they_get(void **state)
{
	(void)state;
	assert_true(TURNS_OF("\x48\x83\xec\x28"			/* sub $40,%rsp */
			     "\xc7\x44\x24\x08\x09\x00\x00\x00" /* movl $9,8(%rsp) */
			     "\x48\x89\xe7"			/* mov %rsp,%rdi */
			     "\xe8\x00\x01\x00\x00"		/* call another procedure */
			     "\xff\x4c\x24\x08"			/* decl 8(%rsp) */
			     "\x75\xf2"				/* jne back to the mov */
			     "\x48\x83\xc4\x28"			/* add $40,%rsp */
			     "\xc3") == 0);
	assert_true(TURNS_OF("\x48\x83\xec\x28"			/* sub $40,%rsp */
			     "\xc7\x44\x24\x08\x09\x00\x00\x00" /* movl $9,8(%rsp) */
			     "\x48\x8d\x7c\x24\x10"		/* lea 16(%rsp),%rdi */
			     "\xe8\x00\x01\x00\x00"		/* call another procedure */
			     "\xff\x4c\x24\x08"			/* decl 8(%rsp) */
			     "\x75\xf0"				/* jne back to the lea */
			     "\x48\x83\xc4\x28"			/* add $40,%rsp */
			     "\xc3") == 9);
}

/* The loop ends in straight code that moves registers for the next iteration. */
static void test_finds_branch_before_latch(void **state)
{
	(void)state;
	assert_true(TURNS_OF("\x48\x8d\x4f\x10" /* lea 16(%rdi),%rcx */
			     "\x48\x8d\x47\x01" /* 1: lea 1(%rdi),%rax */
			     "\x84\xd2"		/* test %dl,%dl */
			     "\x78\x03"		/* js 2f */
			     "\x48\x01\xfa"	/* add %rdi,%rdx */
			     "\x48\x39\xc8"	/* 2: cmp %rcx,%rax */
			     "\x74\x05"		/* je 3f */
			     "\x48\x89\xc7"	/* mov %rax,%rdi */
			     "\xeb\xeb"		/* jmp 1b */
			     "\xc3") == 16);	/* 3: ret */
	/* Some iterations do not execute the branch. */
	assert_true(TURNS_OF("\x48\x8d\x4f\x10" /* lea 16(%rdi),%rcx */
			     "\x48\x8d\x47\x01" /* 1: lea 1(%rdi),%rax */
			     "\x84\xd2"		/* test %dl,%dl */
			     "\x78\x05"		/* js 2f */
			     "\x48\x39\xc8"	/* cmp %rcx,%rax */
			     "\x74\x05"		/* je 3f */
			     "\x48\x89\xc7"	/* 2: mov %rax,%rdi */
			     "\xeb\xee"		/* jmp 1b */
			     "\xc3") == 0);	/* 3: ret */
}

/* In the outer loop, the end of the inner one does not change the distance of its pointers. */
static void test_pointers_in_outer_loop(void **state)
{
	(void)state;
	assert_true(TURNS_OF("\x48\x8d\x74\x24\xc0" /* lea -64(%rsp),%rsi */
			     "\x48\x8d\x54\x24\xf0" /* lea -16(%rsp),%rdx */
			     "\x48\x89\xf0"	    /* 1: mov %rsi,%rax */
			     "\x48\x83\xc0\x08"	    /* 2: add $8,%rax */
			     "\x48\x39\xc2"	    /* cmp %rax,%rdx */
			     "\x75\xf7"		    /* jne 2b */
			     "\xff\xc9"		    /* dec %ecx */
			     "\x75\xf0"		    /* jne 1b */
			     "\xc3") == 6);
}

/* A loop whose end was copied. */
#define TWO_ENDS(second)                                                                           \
	"\x31\xc0"		     /* xor %eax,%eax */                                           \
	"\x85\xd2"		     /* 1: test %edx,%edx */                                       \
	"\x78\x09"		     /* js 2f */                                                   \
	"\x83\xc0\x01"		     /* add $1,%eax */                                             \
	"\x83\xf8\x07"		     /* cmp $7,%eax */                                             \
	"\x75\xf4"		     /* jne 1b */                                                  \
	"\xc3"			     /* ret */                                                     \
	"\xf7\xda"		     /* 2: neg %edx */                                             \
	"\x83\xc0\x01"		     /* add $1,%eax */                                             \
	"\x83\xf8" second "\x74\x02" /* cmp, je 3f */                                              \
	"\xeb\xe7"		     /* jmp 1b */                                                  \
	"\xc3"			     /* 3: ret */

static void test_copies_of_end(void **state)
{
	static const char same[] = TWO_ENDS("\x07"), different[] = TWO_ENDS("\x08");

	(void)state;
	assert_true(ratio_of(same, sizeof(same) - 1) == 7);
	assert_true(ratio_of(different, sizeof(different) - 1) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_constant_on_left),
		cmocka_unit_test(test_second_byte_is_not_first),
		cmocka_unit_test(test_stack_slots_after_pushes),
		cmocka_unit_test(test_pointers_in_outer_loop),
		cmocka_unit_test(test_copies_of_end),
		cmocka_unit_test(test_calls_change_objects_they_get),
		cmocka_unit_test(test_finds_branch_before_latch),
	};

	return cmocka_run_group_tests_name("trip_count", tests, NULL, NULL);
}
