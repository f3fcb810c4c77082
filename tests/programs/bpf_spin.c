// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run a BPF program, "dcpi_spin", repeatedly: for MS milliseconds and at least RUNS times, since a
 * machine on a busy host may get little time.
 *
 *	bpf_spin MS [RUNS]
 *
 * Exit status 77: the kernel does not permit it.
 */
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define INSNS 4000

static struct bpf_insn program[INSNS + 2];

static int call(enum bpf_cmd command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int load(void)
{
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insn_cnt = INSNS + 2,
		.insns = (uint64_t)(uintptr_t)program,
		.license = (uint64_t)(uintptr_t) "GPL",
		.prog_name = "dcpi_spin",
	};
	int i;

	program[0] = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 3};
	for (i = 1; i <= INSNS; i++)
		program[i] = (struct bpf_insn){
			.code = BPF_ALU64 | (i % 2 ? BPF_MUL : BPF_ADD) | BPF_K, .imm = 12345};
	program[i] = (struct bpf_insn){.code = BPF_JMP | BPF_EXIT};
	return call(BPF_PROG_LOAD, &attr);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	uint64_t end = now_ms() + (argc > 1 ? strtoul(argv[1], NULL, 10) : 1000);
	uint64_t runs = argc > 2 ? strtoul(argv[2], NULL, 10) : 0, run;
	uint8_t packet[64] = {0};
	int fd = load();

	if (fd < 0) {
		perror("bpf_spin");
		return 77;
	}
	for (run = 0; now_ms() < end || run < runs; run++) {
		union bpf_attr attr = {.test = {
					       .prog_fd = (uint32_t)fd,
					       .data_in = (uint64_t)(uintptr_t)packet,
					       .data_size_in = sizeof(packet),
					       .repeat = 10000,
				       }};

		if (call(BPF_PROG_TEST_RUN, &attr) < 0) {
			perror("bpf_spin");
			return 77;
		}
	}
	return 0;
}
