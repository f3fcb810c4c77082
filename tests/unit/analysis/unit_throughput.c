// SPDX-License-Identifier: GPL-2.0-only
/* Bounds of out-of-order machines: small loops with known cycles, and invariants of any block. */
#include "tests/lib/unit.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analysis/graph/cfg_create.h"
#include "analysis/machine/machine_model.h"
#include "analysis/machine/schedule.h"
#include "analysis/machine/throughput.h"

#define INSNS_MAX 64

struct loop {
	const char *what;
	const char *code;
	size_t bytes;
	double front;
	double ports;
	double dependences;
};

#define CODE(bytes) bytes, sizeof(bytes) - 1

static const struct loop loops[] = {
	{"one add, fused compare and branch: add rax,1; cmp rax,rdx; jne",
	 CODE("\x48\x83\xc0\x01\x48\x39\xd0\x75\xf7"), 0.5, 0.5, 1},
	{"a chain of multiplies: imul rax,rax; dec rcx; jne",
	 CODE("\x48\x0f\xaf\xc0\x48\xff\xc9\x75\xf7"), 0.5, 1, 3},
	{"multiplies that don't depend: imul rax,rbx,3; imul rdx,rbx,5; jmp",
	 CODE("\x48\x6b\xc3\x03\x48\x6b\xd3\x05\xeb\xf6"), 0.75, 2, 1},
	{"a pointer chase: mov rax,[rax]; test rax,rax; jne",
	 CODE("\x48\x8b\x00\x48\x85\xc0\x75\xf8"), 0.5, 0.5, 5},
	{"a counter in memory: add dword [rbp-4],1; jmp", CODE("\x83\x45\xfc\x01\xeb\xfa"), 0.75, 1,
	 6},
	{"a counter whose address moves: add dword [rbp-4],1; add rbp,8; jmp",
	 CODE("\x83\x45\xfc\x01\x48\x83\xc5\x08\xeb\xf6"), 1, 1, 1},
	{"results that are known to be zero: xor eax,eax; add eax,edx; jmp",
	 CODE("\x31\xc0\x01\xd0\xeb\xfa"), 0.75, 0.5, 1},
	{"moves between registers take no time: mov rcx,rax; mov rax,rcx; inc rax; jmp",
	 CODE("\x48\x89\xc1\x48\x89\xc8\x48\xff\xc0\xeb\xf5"), 1, 0.5, 1},
	{"a chain of FP adds: addsd xmm0,xmm1; jmp", CODE("\xf2\x0f\x58\xc1\xeb\xfa"), 0.5, 2.0 / 3,
	 4},
	{"stores one a cycle: mov [rdi],eax; mov [rdi+4],eax; jmp",
	 CODE("\x89\x07\x89\x47\x04\xeb\xf9"), 0.75, 2, 1},
	{"push and pop move the stack pointer for nothing: push rax; pop rax; jmp",
	 CODE("\x50\x58\xeb\xfc"), 0.75, 1, 1},
};

/* Loops of other processors, with cycles measured on an Emerald Rapids for "golden-cove". */
static const struct {
	const char *model;
	struct loop loop;
} others[] = {
	{"golden-cove",
	 {"three loads a cycle: 6 x mov eax,[rsp]; jmp",
	  CODE("\x8b\x04\x24\x8b\x04\x24\x8b\x04\x24\x8b\x04\x24\x8b\x04\x24\x8b\x04\x24\xeb\xec"),
	  7.0 / 6, 2, 1}},
	{"golden-cove",
	 {"two stores: 4 x mov [rdi],eax; jmp", CODE("\x89\x07\x89\x07\x89\x07\x89\x07\xeb\xf6"),
	  5.0 / 6, 2, 1}},
	{"golden-cove",
	 {"a sum of products: movsd xmm1,[rsi]; mulsd xmm1,[rdi]; addsd xmm0,xmm1; jmp",
	  CODE("\xf2\x0f\x10\x0e\xf2\x0f\x59\x0f\xf2\x0f\x58\xc1\xeb\xf2"), 4.0 / 6, 0.75, 2}},
	{"golden-cove",
	 {"divisions that don't depend: mov eax,9; xor edx,edx; div ecx; jmp",
	  CODE("\xb8\x09\x00\x00\x00\x31\xd2\xf7\xf1\xeb\xf5"), 7.0 / 6, 6, 1}},
	{"golden-cove",
	 {"a counter in memory: add dword [rbp-4],1; jmp", CODE("\x83\x45\xfc\x01\xeb\xfa"), 0.5,
	  0.5, 1}},
	{"ice-lake",
	 {"moves between registers execute: mov rcx,rax; mov rax,rcx; jmp",
	  CODE("\x48\x89\xc1\x48\x89\xc8\xeb\xf8"), 0.6, 0.75, 2}},
	{"zen3",
	 {"a pointer chase: mov rax,[rax]; test rax,rax; jne",
	  CODE("\x48\x8b\x00\x48\x85\xc0\x75\xf8"), 2.0 / 6, 1.0 / 3, 4}},
	{"zen5",
	 {"eight at a time: 7 x add rax,1 and so on; jmp",
	  CODE("\x48\x83\xc0\x01\x48\x83\xc1\x01\x48\x83\xc2\x01\x48\x83\xc3\x01\x48\x83\xc6\x01"
	       "\x48\x83\xc7\x01\x49\x83\xc0\x01\xeb\xe2"),
	  1, 8.0 / 6, 1}},
	{"skylake",
	 {"what is not derived of it is as of any: imul rax,rax; dec rcx; jne",
	  CODE("\x48\x0f\xaf\xc0\x48\xff\xc9\x75\xf7"), 0.5, 1, 3}},
};

static const struct machine_model *x86(void)
{
	return machine_model_default(INSN_ISA_X86_64, NULL);
}

static size_t decode(struct insn insns[INSNS_MAX], const uint8_t *code, size_t bytes)
{
	size_t count = 0, at = 0;

	while (at < bytes && count < INSNS_MAX) {
		size_t length =
			insn_x86_decoder.decode(&insns[count], code + at, bytes - at, 0x1000 + at);

		if (length == 0)
			break;
		at += length;
		count++;
	}
	return count;
}

static void assert_loop(const struct machine_model *model, const struct loop *loop)
{
	struct insn insns[INSNS_MAX];
	size_t count = decode(insns, (const uint8_t *)loop->code, loop->bytes);
	struct throughput t = throughput_of_block(model->bound, insns, count, true);

	if (t.front != loop->front || t.ports != loop->ports ||
	    fabs(t.dependences - loop->dependences) > 1e-9)
		fail_msg("%s, %s: %g %g %g, not %g %g %g", model->name, loop->what, t.front,
			 t.ports, t.dependences, loop->front, loop->ports, loop->dependences);
	/* Not a loop: no value is carried. */
	t = throughput_of_block(model->bound, insns, count, false);
	assert_true(t.front == loop->front && t.ports == loop->ports && t.dependences == 0);
}

static void test_known_loops(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++)
		assert_loop(x86(), &loops[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_loop(machine_model_find(others[i].model), &others[i].loop);
}

/* Every class of instruction has a cost on every machine, and so have loads and stores. */
static void test_each_class_has_a_cost(void **state)
{
	const struct machine_model *const *list = machine_model_list();

	(void)state;
	for (; *list != NULL; list++) {
		const struct machine_bound *bound = (*list)->bound;

		if (bound == NULL)
			continue;
		assert_true(bound->width > 0);
		for (unsigned int which = 0; which < BOUND_COSTS; which++) {
			const struct machine_bound *from = bound;

			while (from != NULL && from->costs[which].busy == 0)
				from = from->base;
			assert_non_null(from);
		}
	}
}

/* Additional instructions never make a block faster. */
static void test_bounds_grow(void **state)
{
	uint64_t random = 9;
	struct insn insns[INSNS_MAX];
	uint8_t code[200];

	(void)state;
	for (int round = 0; round < 5000; round++) {
		struct throughput last = {0};
		size_t count;

		for (size_t i = 0; i < sizeof(code); i++)
			code[i] = (uint8_t)unit_random(&random);
		count = decode(insns, code, sizeof(code));
		for (size_t n = 1; n <= count; n++) {
			struct throughput t = throughput_of_block(x86()->bound, insns, n, false);

			assert_true(t.front >= last.front && t.ports >= last.ports);
			assert_true(isfinite(t.front) && isfinite(t.ports));
			last = t;
		}
		last = throughput_of_block(x86()->bound, insns, count, true);
		assert_true(isfinite(last.dependences) && last.dependences >= 1);
	}
}

static void schedule_loop(struct schedule *schedule, struct cfg **cfg, const struct loop *loop)
{
	assert_int_equal(cfg_create_from_code(cfg, &insn_x86_decoder, (const uint8_t *)loop->code,
					      loop->bytes, 0x1000, NULL),
			 0);
	assert_int_equal((*cfg)->block_count, 1);
	assert_int_equal(schedule_create(schedule, x86(), *cfg, NULL), 0);
}

/*
 * Cycles of a loop in dcpicalc: shares of the front end and ports, none for the fused branch. The
 * instruction after the multiply gets the additional latency of its result.
 */
static void test_waits_appear_on_next_instruction(void **state)
{
	struct schedule schedule;
	struct cfg *cfg;
	const struct schedule_insn *insns;

	(void)state;
	schedule_loop(&schedule, &cfg, &loops[1]);
	insns = schedule.insns;
	assert_true(schedule.block_cycles[0] == 3);
	assert_true(insns[0].min_cycles == 0.5 && insns[0].stall_count == 0);
	assert_true(insns[1].min_cycles == 2.5 && insns[1].stall_count == 1);
	assert_true(insns[1].stalls[0].kind == STALL_LATENCY);
	assert_true(insns[1].stalls[0].cycles == 2 && insns[1].stalls[0].from == 0);
	assert_true(insns[2].min_cycles == 0 && insns[2].issues_with_previous);
	schedule_deinit(&schedule);
	cfg_destroy(cfg);
}

/*
 * An instruction that delays others may only use values of the chain. In add rdx,[rdi+8]; mov
 * rdi,[rdi]; dec rsi; jne the add issues last, and the time appears at the instruction after it.
 * The cause is the load it waits for, which the next load waits for, too.
 */
static void test_names_instruction_of_chain(void **state)
{
	static const struct loop loop = {
		"a sum along a list",
		CODE("\x48\x03\x57\x08\x48\x8b\x3f\x48\xff\xce\x75\xf4"),
		0.75,
		1,
		5,
	};
	struct schedule schedule;
	struct cfg *cfg;

	(void)state;
	schedule_loop(&schedule, &cfg, &loop);
	assert_true(fabs(schedule.block_cycles[0] - 5) < 1e-9);
	assert_int_equal(schedule.insns[1].stall_count, 1);
	assert_int_equal(schedule.insns[1].stalls[0].from, 1);
	schedule_deinit(&schedule);
	cfg_destroy(cfg);
}

/* For every chain, all cycles are attributed, and most cycles without another use are waits. */
static void test_cycles_add_up(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
		const struct loop *loop = &loops[i];
		double busy = fmax(fmax(loop->front, loop->ports), 1), sum = 0, waits = 0;
		double most = fmax(loop->dependences - busy, 0);
		struct schedule schedule;
		struct cfg *cfg;

		schedule_loop(&schedule, &cfg, loop);
		for (uint32_t k = 0; k < cfg->insn_count; k++) {
			const struct schedule_insn *insn = &schedule.insns[k];

			sum += insn->min_cycles;
			assert_true(insn->stall_count <= 1);
			if (insn->stall_count == 0)
				continue;
			waits += insn->stalls[0].cycles;
			assert_true(insn->stalls[0].cycles > 0 && !insn->issues_with_previous);
			assert_true(insn->stalls[0].from < cfg->insn_count);
		}
		if (fabs(sum - fmax(busy, loop->dependences)) > 1e-9 || waits > most + 1e-9 ||
		    (most > 1 && waits < most / 2))
			fail_msg("%s: %g cycles, %g of them waits", loop->what, sum, waits);
		schedule_deinit(&schedule);
		cfg_destroy(cfg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_loops),
		cmocka_unit_test(test_bounds_grow),
		cmocka_unit_test(test_waits_appear_on_next_instruction),
		cmocka_unit_test(test_names_instruction_of_chain),
		cmocka_unit_test(test_cycles_add_up),
		cmocka_unit_test(test_each_class_has_a_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
