// SPDX-License-Identifier: GPL-2.0-only
/*
 * Code that acquires scratch registers at a point and overwrites them preserves live registers, the
 * red zone and the stack pointer. The code is executed with each set of live registers.
 */
#include "tests/lib/unit.h"

#include <string.h>
#include <sys/mman.h>

#include "instrument/codegen/liveness.h"
#include "instrument/codegen/point.h"

#define ROUNDS 3000
#define CODE_BYTES 4096
#define STACK_WORDS 64
/* The arithmetic flags and the direction flag. */
#define FLAGS 0xcd5
#define OVERFLOW 0x800
#define CARRY 0x001

/* The 16 registers, with a separate stack, and the flags. */
struct machine {
	uint64_t registers[16];
	uint64_t flags;
};

/* Load all registers from @machine, run @code, and store the registers. */
void run(struct machine *machine, const void *code);

__asm__("	.text\n"
	"run:\n"
	"	push %rbx\n	push %rbp\n	push %r12\n	push %r13\n	push %r14\n	"
	"push %r15\n"
	"	push %rdi\n"
	"	mov %rsi, own_code(%rip)\n"
	"	mov %rdi, own_machine(%rip)\n"
	"	mov %rsp, own_stack(%rip)\n"
	"	push 128(%rdi)\n	popfq\n"
	"	mov 0(%rdi), %rax\n	mov 8(%rdi), %rcx\n	mov 16(%rdi), %rdx\n"
	"	mov 24(%rdi), %rbx\n	mov 32(%rdi), %rsp\n	mov 40(%rdi), %rbp\n"
	"	mov 48(%rdi), %rsi\n	mov 64(%rdi), %r8\n	mov 72(%rdi), %r9\n"
	"	mov 80(%rdi), %r10\n	mov 88(%rdi), %r11\n	mov 96(%rdi), %r12\n"
	"	mov 104(%rdi), %r13\n	mov 112(%rdi), %r14\n	mov 120(%rdi), %r15\n"
	"	mov 56(%rdi), %rdi\n"
	"	jmp *own_code(%rip)\n"
	"	.globl come_back\n"
	"come_back:\n"
	"	mov %rdi, own_rdi(%rip)\n"
	"	mov own_machine(%rip), %rdi\n"
	"	mov %rax, 0(%rdi)\n	mov %rcx, 8(%rdi)\n	mov %rdx, 16(%rdi)\n"
	"	mov %rbx, 24(%rdi)\n	mov %rsp, 32(%rdi)\n	mov %rbp, 40(%rdi)\n"
	"	mov %rsi, 48(%rdi)\n	mov %r8, 64(%rdi)\n	mov %r9, 72(%rdi)\n"
	"	mov %r10, 80(%rdi)\n	mov %r11, 88(%rdi)\n	mov %r12, 96(%rdi)\n"
	"	mov %r13, 104(%rdi)\n	mov %r14, 112(%rdi)\n	mov %r15, 120(%rdi)\n"
	"	mov own_rdi(%rip), %rax\n	mov %rax, 56(%rdi)\n"
	"	mov own_stack(%rip), %rsp\n"
	"	pushfq\n	pop 128(%rdi)\n"
	"	cld\n"
	"	pop %rdi\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbp\n	"
	"pop %rbx\n"
	"	ret\n"
	"	.local own_code, own_machine, own_stack, own_rdi\n"
	"	.comm own_code, 8\n	.comm own_machine, 8\n"
	"	.comm own_stack, 8\n	.comm own_rdi, 8\n");

extern const uint8_t come_back[];

/* mov $0x5a5a5a5a, reg */
static void spoil(struct machine_code *code, unsigned int reg)
{
	uint8_t mov[] = {(uint8_t)(reg >= 8 ? 0x49 : 0x48),
			 0xc7,
			 (uint8_t)(0xc0 | (reg & 7)),
			 0x5a,
			 0x5a,
			 0x5a,
			 0x5a};

	machine_code_bytes(code, mov, sizeof(mov));
}

static void make(struct machine_code *code, const struct point *point, uint32_t named,
		 unsigned int count, bool flags)
{
	/* xor that sets other flags than usual, and a jump through memory: no register is free */
	static const uint8_t change[] = {0x48, 0x81, 0x04, 0x24, 0, 0, 0, 0x80};
	uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	const void *target = come_back;
	struct scratch_regs scratch;

	scratch_acquire(code, point, named, count, flags, &scratch);
	assert_int_equal(scratch.count, count);
	for (unsigned int i = 0; i < count; i++) {
		assert_false(named >> scratch.registers[i] & 1);
		spoil(code, scratch.registers[i]);
		for (unsigned int k = 0; k < i; k++)
			assert_int_not_equal(scratch.registers[i], scratch.registers[k]);
	}
	for (unsigned int reg = 0; reg < 16; reg++) {
		if (named >> reg & 1)
			spoil(code, reg);
	}
	if (flags) { /* push $-1; add $0x80000000, (%rsp); lea 8(%rsp), %rsp */
		static const uint8_t push[] = {0x6a, 0xff}, drop[] = {0x48, 0x8d, 0x64, 0x24, 8};

		if (point->red_zone && scratch.depth < 128) {
			static const uint8_t down[] = {0x48, 0x8d, 0x64, 0x24, 0x80};
			static const uint8_t up[] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0};

			machine_code_bytes(code, down, sizeof(down));
			machine_code_bytes(code, push, sizeof(push));
			machine_code_bytes(code, change, sizeof(change));
			machine_code_bytes(code, drop, sizeof(drop));
			machine_code_bytes(code, up, sizeof(up));
		} else {
			machine_code_bytes(code, push, sizeof(push));
			machine_code_bytes(code, change, sizeof(change));
			machine_code_bytes(code, drop, sizeof(drop));
		}
	}
	scratch_release(code, &scratch);
	memcpy(jump + 6, &target, sizeof(target));
	machine_code_bytes(code, jump, sizeof(jump));
	assert_int_equal(machine_code_layout(code), 0);
}

static uint64_t no_others(void *context, uint32_t other)
{
	(void)context;
	(void)other;
	return 0;
}

static void check(const struct machine *before, const struct machine *after,
		  const struct point *point)
{
	for (unsigned int reg = 0; reg < 16; reg++) {
		if (!(point->free >> reg & 1))
			assert_true(before->registers[reg] == after->registers[reg]);
	}
	if ((point->live & LIVENESS_FLAGS) == LIVENESS_FLAGS)
		assert_int_equal(before->flags & FLAGS, after->flags & FLAGS);
}

static void test_scratch_registers(void **state)
{
	uint8_t *page = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t seed = 1, stack[STACK_WORDS], kept[STACK_WORDS];

	(void)state;
	assert_true(page != MAP_FAILED);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t any = unit_random(&seed);
		uint32_t named = (uint32_t)(any >> 20 & any >> 32 & 0xffff) & ~(1U << MACHINE_RSP);
		struct point point = {
			.live = any & 1 ? LIVENESS_FLAGS : 0,
			.free = (uint32_t)(any >> 4 & any >> 8 & 0xffff) & ~(1U << MACHINE_RSP),
			.red_zone = any >> 1 & 1,
		};
		unsigned int count = (unsigned int)(unit_random(&seed) % 5);
		struct machine before, after;
		struct machine_code code = {0};
		size_t top = STACK_WORDS - 8;

		if (__builtin_popcount(named) + count > 12)
			continue;
		for (size_t i = 0; i < STACK_WORDS; i++)
			stack[i] = kept[i] = unit_random(&seed);
		for (unsigned int reg = 0; reg < 16; reg++)
			before.registers[reg] = unit_random(&seed);
		before.registers[MACHINE_RSP] = (uint64_t)&stack[top];
		before.flags = unit_random(&seed) & (FLAGS & ~0x400);
		make(&code, &point, named, count, any >> 2 & 1);
		assert_true(code.parts[MACHINE_HOT].bytes <= CODE_BYTES);
		assert_int_equal(machine_code_write(&code, page, (uint64_t)page, no_others, NULL),
				 0);
		after = before;
		run(&after, page);
		check(&before, &after, &point);
		for (size_t i = point.red_zone ? top - 16 : top; i < STACK_WORDS; i++)
			assert_true(stack[i] == kept[i]);
		machine_code_deinit(&code);
	}
	munmap(page, CODE_BYTES);
}

/* Free registers are used directly: no register is saved on the stack. */
static void test_free_registers_need_no_code(void **state)
{
	struct point point = {.free = 1U << MACHINE_RCX | 1U << MACHINE_RDX, .red_zone = true};
	struct machine_code code = {0};
	struct scratch_regs scratch;

	(void)state;
	scratch_acquire(&code, &point, 1U << MACHINE_RDX, 1, true, &scratch);
	assert_int_equal(scratch.registers[0], MACHINE_RCX);
	assert_int_equal(scratch.depth, 0);
	scratch_release(&code, &scratch);
	assert_int_equal(machine_code_layout(&code), 0);
	assert_int_equal(code.parts[MACHINE_HOT].bytes, 0);
	machine_code_deinit(&code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scratch_registers),
		cmocka_unit_test(test_free_registers_need_no_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
