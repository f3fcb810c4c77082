// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz the control socket with any bytes, in pieces of any size, and the parsers of text from users
 * and sysfs: CPU lists, image patterns, points in time. The first byte chooses.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/archive/per_process.h"
#include "daemon/control.h"
#include "lib/cpu_list.h"
#include "lib/error.h"
#include "tests/fuzz/fuzz.h"
#include "tools/base/time_spec.h"

#define NOW_NS INT64_C(1700000000000000000)

/* The reply contains any text of the peer and must still consist of whole lines. */
static void handle(void *context, const char *verb, const char *argument,
		   struct control_reply *reply)
{
	size_t *requests = context;

	(*requests)++;
	require(strlen(verb) + strlen(argument) < CONTROL_REQUEST_BYTES);
	require(strchr(verb, ' ') == NULL && strchr(verb, '\n') == NULL);
	require(strchr(argument, '\n') == NULL);
	control_reply_value(reply, "verb", "%s", verb);
	if (argument[0] == 'e')
		control_reply_error(reply, "%s", argument);
}

static int peer_connect(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	require(fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0);
	return fd;
}

static void peer_read(int fd)
{
	char reply[4096];

	while (recv(fd, reply, sizeof(reply), 0) > 0)
		continue;
}

static void try_requests(const uint8_t *data, size_t bytes)
{
	static char path[64];
	static struct control *control;
	static size_t requests;
	struct error err;
	int fd, turn;

	if (control == NULL) {
		snprintf(path, sizeof(path), "/tmp/fuzz_control.%d", (int)getpid());
		require(control_open(&control, path, NULL, handle, &requests, &err) == 0);
	}
	fd = peer_connect(path);
	control_dispatch(control);
	while (bytes > 0) {
		size_t piece = (size_t)(data[0] % 64) + 1;

		piece = piece < bytes ? piece : bytes;
		if (send(fd, data, piece, MSG_NOSIGNAL) < 0)
			break; /* the peer was disconnected, or the socket is full */
		data += piece;
		bytes -= piece;
		control_dispatch(control);
		if (data[-1] % 2 == 0)
			peer_read(fd);
	}
	close(fd);
	/* Dispatch each line that is left, then the end of the connection. */
	for (turn = 0; turn <= CONTROL_REQUEST_BYTES && control_peers(control) > 0; turn++)
		control_dispatch(control);
	require(control_peers(control) == 0);
}

static void try_cpus(const char *text)
{
	struct cpu_list list;
	uint32_t cpu, count = 0;

	if (cpu_list_parse(&list, text) < 0)
		return;
	for (cpu = 0; cpu < cpu_list_end(&list); cpu++)
		count += cpu_list_has(&list, cpu);
	require(count == cpu_list_count(&list));
	require(cpu == 0 || cpu_list_has(&list, cpu - 1));
}

static void try_time(const char *text)
{
	char utc[TIME_SPEC_BYTES];
	int64_t time_ns, again_ns;
	struct error err;

	if (time_spec_parse(text, NOW_NS, &time_ns, &err) < 0)
		return;
	require(time_ns > 0);
	time_spec_utc(utc, time_ns);
	if (utc[0] != '\0' && time_spec_parse(utc, NOW_NS, &again_ns, &err) == 0)
		require(again_ns / 1000000000 == time_ns / 1000000000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text;

	if (bytes < 1)
		return 0;
	text = malloc(bytes);
	require(text != NULL);
	memcpy(text, data + 1, bytes - 1);
	text[bytes - 1] = '\0';
	switch (data[0] % 4) {
	case 0:
		try_requests(data + 1, bytes - 1);
		break;
	case 1:
		try_cpus(text);
		break;
	case 2:
		per_process_match(text, "/usr/lib/x86_64-linux-gnu/libc.so.6");
		break;
	default:
		try_time(text);
	}
	free(text);
	return 0;
}
