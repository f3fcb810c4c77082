// SPDX-License-Identifier: GPL-2.0-only
/*
 * The arm64 interpreter compared with QEMU, on random instructions and registers, some of them
 * hidden from the interpreter, and on a real program. All values that it claims to know afterwards
 * must be those computed by QEMU.
 */
#include "tests/lib/unit.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fixtures/arm64_stub.h"

#define CODE 0x10000000ULL
#define TRIAL_CODE (CODE + 0x8000)
#define DATA 0x20000000ULL

enum {
	ROUNDS = 4000,
	INSNS_MAX = 5,
	REGION_BYTES = 0x10000,
	CELLS = 0x8000,
	CELLS_BYTES = 512,
	STOPS = 1000,
	GAP_MAX = 100,
	UDF = 0
};

struct trial {
	struct arm64_stub stub;
	uint64_t seed;
	bool forgetful;
	uint8_t cells[CELLS_BYTES];
	uint32_t code[16];
};

static uint32_t draw(struct trial *trial, uint32_t below)
{
	return (uint32_t)(unit_random(&trial->seed) >> 20) % below;
}

/* Write a program that consists of two empty regions. */
static bool program_write(const char *path)
{
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = EM_AARCH64,
		.e_version = EV_CURRENT,
		.e_entry = CODE,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
	};
	Elf64_Phdr segment[2] = {
		{.p_type = PT_LOAD, .p_flags = PF_R | PF_W | PF_X, .p_vaddr = CODE},
		{.p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = DATA},
	};
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	bool done;
	int i;

	for (i = 0; i < 2; i++) {
		segment[i].p_offset = REGION_BYTES * (1 + (uint64_t)i);
		segment[i].p_filesz = segment[i].p_memsz = REGION_BYTES;
		segment[i].p_align = REGION_BYTES;
	}
	done = fd >= 0 && ftruncate(fd, 3L * REGION_BYTES) == 0 &&
	       write(fd, &header, sizeof(header)) == sizeof(header) &&
	       write(fd, segment, sizeof(segment)) == sizeof(segment);

	if (fd >= 0)
		close(fd);
	return done;
}

static bool program_start(struct arm64_stub *stub)
{
	char path[] = "/tmp/dcpi-arm64-XXXXXX";
	char *const argv[] = {path, NULL};
	int fd = mkstemp(path);
	bool done;

	if (fd < 0)
		return false;
	close(fd);
	unlink(path);
	done = program_write(path) && arm64_stub_open(stub, argv);
	unlink(path);
	return done;
}

/* Groups of encodings: fixed bits, and their values. */
static const struct {
	uint32_t mask, bits;
} groups[] = {
	{0x1c000000, 0x10000000},			    /* data processing, immediate */
	{0x1c000000, 0x10000000}, {0x1f000000, 0x0a000000}, /* registers */
	{0x1f000000, 0x0b000000}, {0x1fe00000, 0x1a000000}, {0x3fe00400, 0x3a400000},
	{0x3fe00800, 0x1a800000}, {0x7fe0c000, 0x1ac00000}, {0x7ffec000, 0x5ac00000},
	{0x7f000000, 0x1b000000}, {0x7c000000, 0x14000000}, /* branches */
	{0x7e000000, 0x34000000}, {0x7e000000, 0x36000000}, {0xff000010, 0x54000000},
	{0xff9ffc1f, 0xd61f0000}, {0xfffff01f, 0xd503201f}, {0x3e000000, 0x28000000}, /* pairs */
	{0x3a000000, 0x28000000}, {0x3f000000, 0x39000000}, /* one register */
	{0x3b000000, 0x39000000}, {0x3f200000, 0x38000000}, {0x3b200000, 0x38000000},
	{0x3b200c00, 0x38200800}, {0x3f200c00, 0x38200000}, /* atomic */
	{0x3f000000, 0x08000000},			    /* exclusive */
	{0x3f807c00, 0x08807c00}, {0x3b000000, 0x18000000}, /* literals */
	{0x3f200c00, 0x19000000}, {0xbe000000, 0x0c000000}, /* structures */
	{0x5f20fc00, 0x1e200000}, /* SIMD with general registers or flags */
	{0xff203c1f, 0x1e202000}, {0x9fe08400, 0x0e000400}, {0x0e000000, 0x0e000000},
};

/*
 * Signature checks are excluded, because they would fail, which no real program allows. yield and
 * wfe are excluded, because QEMU also steps over the following instruction.
 */
static uint32_t hint(uint32_t insn)
{
	return insn >> 5 & 0x78 ? insn & ~0x80U : insn | 0xe0;
}

static uint32_t draw_insn(struct trial *trial)
{
	uint32_t i = draw(trial, sizeof(groups) / sizeof(groups[0]));
	uint32_t insn = (uint32_t)unit_random(&trial->seed);

	insn = (insn & ~groups[i].mask) | groups[i].bits;
	/* Prefer small offsets and few registers. */
	if ((groups[i].bits & 0x0a000000) == 0x08000000 && draw(trial, 2))
		insn &= ~0x003c0000U;
	if ((groups[i].bits & 0x3b000000) == 0x39000000)
		insn &= ~0x00380000U;
	if (draw(trial, 2))
		insn &= ~(0x00180318U & ~groups[i].mask);
	if ((insn & 0xfffff01f) == 0xd503201f)
		insn = hint(insn);
	return insn;
}

static uint64_t random_value(struct trial *trial)
{
	uint64_t value = unit_random(&trial->seed);

	switch (draw(trial, 7)) {
	case 0:
		return value;
	case 1:
		return value & 0xff;
	case 2:
		return -(value & 3);
	case 3:
		return 1ULL << (value & 63);
	case 4:
		return (DATA + CELLS + 16 * (value & 15)) | (value & 0xff00000000000000ULL);
	default:
		return DATA + CELLS + 16 * (value & 15);
	}
}

/*
 * The stub refuses to write where code has run, so the program writes the data itself, from x0 ..
 * x7 to the address in x30.
 */
static bool put_writer(struct trial *trial)
{
	static const uint32_t writer[] = {0xa90007c0, 0xa9010fc2, 0xa90217c4, 0xa9031fc6};

	return arm64_stub_write(&trial->stub, CODE, writer, sizeof(writer));
}

static bool put_code(struct trial *trial, struct arm64_registers *regs)
{
	int i;

	memcpy(regs->x, trial->code, sizeof(trial->code));
	regs->x[30] = TRIAL_CODE;
	regs->pc = CODE;
	regs->cpsr = 0;
	if (!arm64_stub_set(&trial->stub, regs))
		return false;
	for (i = 0; i < 4; i++) {
		if (arm64_stub_step(&trial->stub) != 0)
			return false;
	}
	return true;
}

/* Check that a trial has not stored into the writer or its own code. */
static bool code_is_whole(struct trial *trial)
{
	uint32_t there[16];

	return arm64_stub_read(&trial->stub, TRIAL_CODE, there, sizeof(there)) &&
	       memcmp(there, trial->code, sizeof(there)) == 0;
}

static bool restart(struct trial *trial)
{
	if (trial->stub.pid > 0)
		arm64_stub_close(&trial->stub);
	return program_start(&trial->stub) && put_writer(trial);
}

static bool set_up(struct trial *trial, struct arm64_registers *regs, struct interpret_state *state)
{
	uint32_t i, count = 1 + draw(trial, INSNS_MAX);

	memset(trial->code, UDF, sizeof(trial->code));
	for (i = 0; i < count; i++)
		trial->code[i] = draw_insn(trial);
	for (i = 0; i < CELLS_BYTES; i++)
		trial->cells[i] = (uint8_t)unit_random(&trial->seed);
	if (!put_code(trial, regs) && !(restart(trial) && put_code(trial, regs)))
		return false;
	for (i = 0; i < 31; i++)
		regs->x[i] = random_value(trial);
	regs->sp = DATA + CELLS + 16ULL * draw(trial, 16);
	regs->pc = TRIAL_CODE;
	regs->cpsr = draw(trial, 16) << 28;
	arm64_state_set(state, regs);
	for (i = draw(trial, 12); i > 4; i--) {
		uint32_t reg = draw(trial, 32);

		state->known &= ~(1U << reg);
		state->reg[reg] = random_value(trial);
	}
	if (draw(trial, 3) == 0) {
		state->flags_known = unit_random(&trial->seed);
		state->flags ^= ~state->flags_known & 0xf0000000;
	}
	trial->forgetful = draw(trial, 4) == 0;
	return arm64_stub_write(&trial->stub, DATA + CELLS - 128, trial->cells,
				sizeof(trial->cells)) &&
	       arm64_stub_set(&trial->stub, regs);
}

static bool trial_read(void *context, u64 address, void *to, size_t bytes)
{
	struct trial *trial = context;

	if (bytes <= 8 && trial->forgetful && draw(trial, 2))
		return false;
	return arm64_stub_read(&trial->stub, address, to, bytes);
}

struct tally {
	uint32_t insns, edges, faults, undefined, refused;
};

static void fail_with(const struct trial *trial, const struct arm64_registers *regs,
		      const struct interpret_state *state, uint32_t steps, int what)
{
	char code[9 * 8 + 1];
	size_t i;

	for (i = 0; i < 8; i++)
		snprintf(code + 9 * i, 10, "%08x ", trial->code[i]);
	fail_msg("after %u steps %d differs: interpreted %#llx, QEMU %#llx; flags %#llx (known "
		 "%#llx), QEMU %#x; pc %#llx, QEMU %#llx; x0 %#llx; code: %s",
		 steps, what, what < 32 ? (unsigned long long)state->reg[what] : 0,
		 what < 32 ? (unsigned long long)(what == 31 ? regs->sp : regs->x[what]) : 0,
		 (unsigned long long)state->flags, (unsigned long long)state->flags_known,
		 regs->cpsr, (unsigned long long)state->pc, (unsigned long long)regs->pc,
		 (unsigned long long)regs->x[0], code);
}

static void try_code(struct trial *trial, struct tally *tally, struct arm64_registers *regs)
{
	struct interpret_state state;
	struct interpret_edge edge;
	enum interpret_end end;
	uint32_t steps, i;
	int raised, what;

	assert_true(set_up(trial, regs, &state));
	end = interpret_arm64(&state, trial_read, trial, &edge);
	tally->refused += end != INTERPRET_EDGE && edge.steps == 1;
	tally->edges += end == INTERPRET_EDGE;
	steps = end == INTERPRET_EDGE || end == INTERPRET_TOO_LONG ? edge.steps : edge.steps - 1;
	for (i = 0; i < steps; i++) {
		raised = arm64_stub_step(&trial->stub);
		assert_true(raised >= 0);
		tally->faults += raised != 0;
		tally->undefined += raised == SIGILL;
		if (raised == SIGILL && getenv("SHOW_UNDEFINED") != NULL) {
			assert_true(arm64_stub_get(&trial->stub, regs));
			print_message("undefined: %08x\n",
				      trial->code[(regs->pc - TRIAL_CODE) / 4 % 16]);
		}
		if (raised != 0)
			break; /* the program's further behavior is not compared */
		tally->insns++;
	}
	assert_true(arm64_stub_get(&trial->stub, regs));
	if (i < steps)
		return;
	what = arm64_state_differs(&state, regs);
	if (what >= 0 && code_is_whole(trial))
		fail_with(trial, regs, &state, edge.steps, what);
}

static void test_agrees_with_qemu(void **state)
{
	static struct trial trial = {.seed = 64};
	struct arm64_registers regs;
	struct tally tally = {0};
	const char *seed = getenv("SEED");
	int round;

	(void)state;
	if (seed != NULL)
		trial.seed = strtoull(seed, NULL, 0);
	if (!restart(&trial)) {
		print_message("no qemu-aarch64 here\n");
		skip();
	}
	for (round = 0; round < ROUNDS; round++)
		try_code(&trial, &tally, &regs);
	arm64_stub_close(&trial.stub);
	print_message("%u instructions, %u edges, %u faults, %u of them undefined, %u refused\n",
		      tally.insns, tally.edges, tally.faults, tally.undefined, tally.refused);
	assert_true(tally.insns > ROUNDS / 4);
	assert_true(tally.edges > ROUNDS / 50);
}

/* A real program, one step at a time, with random distances between tests. */
struct run {
	struct arm64_stub stub;
	uint64_t seed;
	int visits, edges, wrong;
	int ends[INTERPRET_NR];
};

static bool program_step(struct run *run, uint32_t steps)
{
	while (steps-- > 0) {
		if (arm64_stub_step(&run->stub) != 0)
			return false;
	}
	return true;
}

static bool program_visit(struct run *run)
{
	struct interpret_state state;
	struct interpret_edge edge;
	struct arm64_registers regs;
	enum interpret_end end;

	if (!arm64_stub_get(&run->stub, &regs))
		return false;
	arm64_state_set(&state, &regs);
	end = interpret_arm64(&state, arm64_stub_read, &run->stub, &edge);
	run->visits++;
	run->ends[end]++;
	run->edges += end == INTERPRET_EDGE;
	if (end != INTERPRET_EDGE && end != INTERPRET_TOO_LONG)
		edge.steps--;
	if (!program_step(run, edge.steps) || !arm64_stub_get(&run->stub, &regs))
		return false;
	if (arm64_state_differs(&state, &regs) >= 0) {
		run->wrong++;
		print_error("at %#llx: %d differs\n", (unsigned long long)state.pc,
			    arm64_state_differs(&state, &regs));
	}
	return true;
}

static bool program_build(char *path)
{
	char command[256];
	int fd = mkstemp(path);

	if (fd < 0)
		return false;
	close(fd);
	snprintf(command, sizeof(command),
		 "aarch64-linux-gnu-gcc -O2 -static -o %s tests/fixtures/programs/mixed.c "
		 "2>/dev/null",
		 path);
	return system(command) == 0;
}

static void test_finds_executed_branches(void **state)
{
	static struct run run = {.seed = 9};
	char path[] = "/tmp/dcpi-mixed-XXXXXX";
	char *const argv[] = {path, NULL};
	bool built = program_build(path), started = built && arm64_stub_open(&run.stub, argv);
	int i;

	(void)state;
	unlink(path);
	if (!started) {
		print_message("no cross compiler, or no qemu-aarch64\n");
		skip();
	}
	for (i = 0; i < STOPS; i++) {
		if (!program_step(&run, (uint32_t)(unit_random(&run.seed) >> 20) % GAP_MAX) ||
		    !program_visit(&run))
			break;
	}
	arm64_stub_close(&run.stub);
	print_message("%d samples, %.1f%% edges, %d wrong; unreadable %d, unknown %d, unsupported "
		      "%d, too long %d\n",
		      run.visits, 100.0 * run.edges / run.visits, run.wrong,
		      run.ends[INTERPRET_UNREADABLE], run.ends[INTERPRET_UNKNOWN],
		      run.ends[INTERPRET_UNSUPPORTED], run.ends[INTERPRET_TOO_LONG]);
	assert_int_equal(i, STOPS);
	assert_int_equal(run.wrong, 0);
	assert_true(run.edges * 10 >= run.visits * 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agrees_with_qemu),
		cmocka_unit_test(test_finds_executed_branches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
