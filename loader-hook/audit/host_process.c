// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/audit/host_process.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/prctl.h>
#include <time.h>

#include "loader-hook/audit/audit_message.h"
#include "lib/system_call.h"

#define CHUNK_BYTES 2048

/* Exported by the loader: address where the kernel put argc, argv and the environment. */
extern void *__libc_stack_end;

/* Return: the value of an environment entry if it is that of @name; else NULL. */
static const char *host_process_value_of(const char *variable, const char *name)
{
	while (*name != '\0' && *variable == *name) {
		variable++;
		name++;
	}
	return *name == '\0' && *variable == '=' ? variable + 1 : NULL;
}

/* Return: false also for several paths, because it is unknown which one is this library. */
static bool is_one_path(const char *paths)
{
	if (paths[0] != '/')
		return false;
	while (*paths != '\0' && *paths != ':')
		paths++;
	return *paths == '\0';
}

static void variable_take(struct host_process *host, const char *variable)
{
	const char *value = host_process_value_of(variable, AUDIT_SOCKET_VARIABLE);

	if (value != NULL)
		host->socket = value;
	value = host_process_value_of(variable, "LD_AUDIT");
	if (value != NULL)
		host->audit = is_one_path(value) ? value : NULL;
}

static void auxiliary_take(struct host_process *host, const ElfW(auxv_t) * entry)
{
	switch (entry->a_type) {
	case AT_PHDR:
		host->segments = entry->a_un.a_val;
		break;
	case AT_PHNUM:
		host->segment_count = entry->a_un.a_val;
		break;
	case AT_BASE:
		host->interpreter = entry->a_un.a_val;
		break;
	case AT_PAGESZ:
		host->page_bytes = entry->a_un.a_val;
		break;
	case AT_SYSINFO_EHDR:
		host->vdso = entry->a_un.a_val;
		break;
	case AT_SECURE:
		host->secure = entry->a_un.a_val != 0;
		break;
	default:
		break;
	}
}

bool host_process_read(struct host_process *host)
{
	const ElfW(auxv_t) * entry;
	char *const *variable;
	const long *arguments;

	if (__libc_stack_end == NULL)
		return false;
	arguments = __libc_stack_end;
	variable = (char *const *)(const void *)(arguments + 1 + arguments[0] + 1);
	for (; *variable != NULL; variable++)
		variable_take(host, *variable);
	for (entry = (const void *)(variable + 1); entry->a_type != AT_NULL; entry++)
		auxiliary_take(host, entry);
	return true;
}

size_t host_process_program(char *path, size_t bytes)
{
	long n = system_call4(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)path,
			      (long)bytes - 1);

	if (n <= 0)
		return 0;
	path[n] = '\0';
	return (size_t)n;
}

void host_process_command(char command[16])
{
	command[0] = '\0';
	system_call4(SYS_prctl, PR_GET_NAME, (long)command, 0, 0);
	command[15] = '\0';
}

/*
 * State of a search in a text that arrives in pieces, for the character after a key at the
 * beginning of a line.
 *
 * @matched: number of characters of the key that the current line has matched
 */
struct line_key {
	const char *key;
	size_t bytes;
	size_t matched;
	bool skipping;
};

/* Return: the character, NUL if it has not arrived yet. */
static char line_key_find(struct line_key *find, const char *text, size_t bytes)
{
	const char *end = text + bytes;

	while (text < end) {
		if (find->skipping) {
			while (text < end && *text != '\n')
				text++;
			find->skipping = text == end;
			find->matched = 0;
			text++;
		} else if (find->matched == find->bytes) {
			return *text;
		} else {
			/* NOLINTNEXTLINE(clang-analyzer-core.*): the kernel wrote it */
			find->skipping = *text != find->key[find->matched++];
			text += !find->skipping;
		}
	}
	return '\0';
}

bool host_process_is_filtered(void)
{
	struct line_key find = {.key = "Seccomp:\t", .bytes = 9};
	long fd = system_call4(SYS_openat, AT_FDCWD, (long)"/proc/thread-self/status",
			       O_RDONLY | O_CLOEXEC, 0);
	char chunk[CHUNK_BYTES], mode = '\0';
	long n;

	if (fd < 0)
		return true;
	while (mode == '\0' && (n = system_call4(SYS_read, fd, (long)chunk, sizeof(chunk), 0)) > 0)
		mode = line_key_find(&find, chunk, (size_t)n);
	system_call4(SYS_close, fd, 0, 0, 0);
	/* A kernel without seccomp does not write this line. */
	return mode != '0' && mode != '\0';
}

bool host_process_has_file(const char *path)
{
	long fd = system_call4(SYS_openat, AT_FDCWD, (long)path, O_PATH | O_CLOEXEC, 0);

	if (fd >= 0)
		system_call4(SYS_close, fd, 0, 0, 0);
	return fd >= 0;
}

uint64_t host_process_now_ns(void)
{
	struct timespec now = {0};

	system_call4(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
