// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/control_proxy.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/control_client.h"
#include "lib/error.h"

static bool send_all(int fd, const char *data, size_t bytes)
{
	while (bytes > 0) {
		ssize_t sent = send(fd, data, bytes, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		data += sent;
		bytes -= (size_t)sent;
	}
	return true;
}

/* Pass on requests. A request is a line, which the report sends in one or two pieces. */
static bool pass_requests(char *line, size_t size, size_t *length, int report, int daemon)
{
	ssize_t got = recv(report, line + *length, size - *length, 0);
	const char *end;

	if (got <= 0)
		return false;
	*length += (size_t)got;
	while ((end = memchr(line, '\n', *length)) != NULL) {
		size_t bytes = (size_t)(end + 1 - line);

		if ((bytes != 7 || memcmp(line, "status\n", 7) != 0) &&
		    (bytes != 6 || memcmp(line, "flush\n", 6) != 0))
			return false;
		if (!send_all(daemon, line, bytes))
			return false;
		*length -= bytes;
		memmove(line, end + 1, *length);
	}
	return *length < size;
}

static bool pass_reply(int daemon, int report)
{
	char buffer[4096];
	ssize_t got = recv(daemon, buffer, sizeof(buffer), 0);

	return got > 0 && send_all(report, buffer, (size_t)got);
}

static void pass_on(int report, int daemon)
{
	struct pollfd files[2] = {{.fd = report, .events = POLLIN},
				  {.fd = daemon, .events = POLLIN}};
	char line[16];
	size_t length = 0;

	for (;;) {
		if (poll(files, 2, -1) < 0 && errno != EINTR)
			return;
		if (files[0].revents != 0 &&
		    !pass_requests(line, sizeof(line), &length, report, daemon))
			return;
		if (files[1].revents != 0 && !pass_reply(daemon, report))
			return;
	}
}

/* The process ends with its parent, which ignores its status. */
static void control_proxy_run(int report, int daemon)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN);
	for (int fd = STDERR_FILENO + 1; fd < 1024; fd++) {
		if (fd != report && fd != daemon)
			close(fd);
	}
	pass_on(report, daemon);
	_exit(0);
}

int control_proxy_start(const char *socket)
{
	static pid_t pid;
	struct control_client *client = NULL;
	struct error err;
	int ends[2], r;

	/* An earlier proxy has ended with its connection. */
	if (pid > 0)
		waitpid(pid, NULL, WNOHANG);
	if (socket == NULL)
		return -EPERM;
	r = control_client_open(&client, socket, &err);
	if (r < 0)
		return r;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
		control_client_close(client);
		return -errno;
	}
	pid = fork();
	if (pid == 0)
		control_proxy_run(ends[1], control_client_fd(client));
	close(ends[1]);
	control_client_close(client);
	if (pid > 0)
		return ends[0];
	close(ends[0]);
	return -EAGAIN;
}
