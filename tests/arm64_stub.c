// SPDX-License-Identifier: GPL-2.0-only
#include "tests/arm64_stub.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FLAGS_NZCV 0xf0000000U

enum {
	CONNECT_TRIES = 1000,
	CONNECT_WAIT_NS = 20 * 1000 * 1000
};

static bool send_all(struct arm64_stub *stub, const char *data, size_t bytes)
{
	ssize_t done;

	for (; bytes > 0; data += done, bytes -= (size_t)done) {
		done = send(stub->fd, data, bytes, MSG_NOSIGNAL);
		if (done <= 0)
			return false;
	}
	return true;
}

static int char_next(struct arm64_stub *stub)
{
	ssize_t got;

	if (stub->in_at == stub->in_end) {
		got = recv(stub->fd, stub->in, sizeof(stub->in), 0);
		if (got <= 0)
			return -1;
		stub->in_at = 0;
		stub->in_end = (size_t)got;
	}
	return (unsigned char)stub->in[stub->in_at++];
}

/* Store the next packet as a string in stub->packet; skip characters outside packets. */
static bool packet_receive(struct arm64_stub *stub)
{
	size_t length = 0;
	int c;

	do {
		c = char_next(stub);
	} while (c >= 0 && c != '$');
	while ((c = char_next(stub)) >= 0 && c != '#') {
		if (length + 1 < sizeof(stub->packet))
			stub->packet[length++] = (char)c;
	}
	stub->packet[length] = '\0';
	if (c < 0 || char_next(stub) < 0 || char_next(stub) < 0)
		return false;
	return send_all(stub, "+", 1);
}

static bool request(struct arm64_stub *stub, const char *text)
{
	char end[4];
	unsigned char sum = 0;
	size_t i, length = strlen(text);

	for (i = 0; i < length; i++)
		sum += (unsigned char)text[i];
	snprintf(end, sizeof(end), "#%02x", sum);
	return send_all(stub, "$", 1) && send_all(stub, text, length) && send_all(stub, end, 3) &&
	       packet_receive(stub);
}

static void hex_put(char *to, const void *from, size_t bytes)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *data = from;
	size_t i;

	for (i = 0; i < bytes; i++) {
		to[2 * i] = digits[data[i] >> 4];
		to[2 * i + 1] = digits[data[i] & 15];
	}
	to[2 * bytes] = '\0';
}

static bool hex_get(void *to, const char *from, size_t bytes)
{
	uint8_t *data = to;
	char pair[3] = "";
	char *end;
	size_t i;

	if (strlen(from) < 2 * bytes)
		return false;
	for (i = 0; i < bytes; i++) {
		memcpy(pair, from + 2 * i, 2);
		data[i] = (uint8_t)strtoul(pair, &end, 16);
		if (end != pair + 2)
			return false;
	}
	return true;
}

static void run_qemu(char *path, char *const *argv)
{
	char qemu[] = "qemu-aarch64", option[] = "-g";
	char *command[16] = {qemu, option, path};
	int null = open("/dev/null", O_RDWR), i;

	for (i = 0; i < 12 && argv[i] != NULL; i++)
		command[3 + i] = argv[i];
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	execvp(qemu, command);
	_exit(127);
}

static bool connect_to(struct arm64_stub *stub, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timespec wait = {.tv_nsec = CONNECT_WAIT_NS};
	int i, status;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	for (i = 0; i < CONNECT_TRIES; i++) {
		if (connect(stub->fd, (const void *)&address, sizeof(address)) == 0)
			return true;
		if (waitpid(stub->pid, &status, WNOHANG) == stub->pid) {
			stub->pid = 0;
			return false;
		}
		nanosleep(&wait, NULL);
	}
	return false;
}

bool arm64_stub_open(struct arm64_stub *stub, char *const *argv)
{
	char directory[] = "/tmp/dcpi-stub-XXXXXX", path[64];
	bool done;

	memset(stub, 0, sizeof(*stub));
	if (mkdtemp(directory) == NULL)
		return false;
	snprintf(path, sizeof(path), "%s/gdb", directory);
	stub->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	stub->pid = fork();
	if (stub->pid == 0)
		run_qemu(path, argv);
	done = stub->pid > 0 && connect_to(stub, path) && request(stub, "?");
	unlink(path);
	rmdir(directory);
	if (!done)
		arm64_stub_close(stub);
	return done;
}

void arm64_stub_close(struct arm64_stub *stub)
{
	close(stub->fd);
	if (stub->pid > 0) {
		kill(stub->pid, SIGKILL);
		waitpid(stub->pid, NULL, 0);
	}
}

bool arm64_stub_get(struct arm64_stub *stub, struct arm64_registers *regs)
{
	return request(stub, "g") && hex_get(regs, stub->packet, sizeof(*regs));
}

bool arm64_stub_set(struct arm64_stub *stub, const struct arm64_registers *regs)
{
	char text[2 * sizeof(*regs) + 2] = "G";

	hex_put(text + 1, regs, sizeof(*regs));
	return request(stub, text) && strcmp(stub->packet, "OK") == 0;
}

bool arm64_stub_write(struct arm64_stub *stub, uint64_t address, const void *from, size_t bytes)
{
	char text[2048 + 64];
	int length = snprintf(text, sizeof(text), "M%llx,%zx:", (unsigned long long)address, bytes);

	if (bytes > 1024)
		return false;
	stub->lines = 0;
	hex_put(text + length, from, bytes);
	return request(stub, text) && strcmp(stub->packet, "OK") == 0;
}

/* Txx or Sxx: stopped by signal xx; W or X: the process ended. */
int arm64_stub_step(struct arm64_stub *stub)
{
	uint8_t raised;

	stub->lines = 0;
	if (!request(stub, "s") || (stub->packet[0] != 'T' && stub->packet[0] != 'S'))
		return -1;
	if (!hex_get(&raised, stub->packet + 1, 1))
		return -1;
	return raised == SIGTRAP ? 0 : raised;
}

static struct arm64_stub_line *line_at(struct arm64_stub *stub, uint64_t address)
{
	struct arm64_stub_line *line;
	char text[64];
	unsigned int i;

	for (i = 0; i < stub->lines; i++) {
		if (stub->line[i].address == address)
			return &stub->line[i];
	}
	line = &stub->line[stub->lines < ARM64_STUB_LINES ? stub->lines++ : address / 64 % 16];
	snprintf(text, sizeof(text), "m%llx,%x", (unsigned long long)address,
		 ARM64_STUB_LINE_BYTES);
	line->address = address;
	line->there =
		request(stub, text) && hex_get(line->bytes, stub->packet, ARM64_STUB_LINE_BYTES);
	return line;
}

bool arm64_stub_read(void *context, u64 address, void *to, size_t bytes)
{
	uint8_t *out = to;

	while (bytes > 0) {
		uint64_t offset = address % ARM64_STUB_LINE_BYTES;
		size_t part = ARM64_STUB_LINE_BYTES - offset;
		const struct arm64_stub_line *line = line_at(context, address - offset);

		if (part > bytes)
			part = bytes;
		if (!line->there)
			return false;
		memcpy(out, line->bytes + offset, part);
		out += part;
		address += part;
		bytes -= part;
	}
	return true;
}

void arm64_state_set(struct interpret_state *state, const struct arm64_registers *regs)
{
	state->pc = regs->pc;
	memcpy(state->reg, regs->x, sizeof(regs->x));
	state->reg[31] = regs->sp;
	state->known = ~0U;
	state->flags = regs->cpsr;
	state->flags_known = ~0ULL;
}

int arm64_state_differs(const struct interpret_state *state, const struct arm64_registers *regs)
{
	int i;

	if (state->pc != regs->pc)
		return 33;
	if ((state->flags ^ regs->cpsr) & state->flags_known & FLAGS_NZCV)
		return 32;
	for (i = 0; i < 31; i++) {
		if (state->known >> i & 1 && state->reg[i] != regs->x[i])
			return i;
	}
	return state->known >> 31 && state->reg[31] != regs->sp ? 31 : -1;
}
