// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/local_group.h"
#include "daemon/control.h"
#include "lib/clock.h"
#include "lib/error.h"

static char directory[64];
static char path[96];
static struct control *control;
static unsigned int requests;

static void handle(void *context, const char *verb, const char *argument,
		   struct control_reply *reply)
{
	int i;

	(void)context;
	requests++;
	if (strcmp(verb, "echo") == 0) {
		control_reply_value(reply, "argument", "%s", argument);
	} else if (strcmp(verb, "big") == 0) {
		for (i = 0; i < 100; i++)
			control_reply_value(reply, "line", "%0100d", i);
	} else if (strcmp(verb, "huge") == 0) {
		for (i = 0; i < 1000; i++)
			control_reply_value(reply, "line", "%0100d", i);
	} else {
		control_reply_error(reply, "unknown\nrequest \"%s\"", verb);
	}
}

static int setup(void **state)
{
	(void)state;
	snprintf(directory, sizeof(directory), "/tmp/dcpi-control-XXXXXX");
	if (mkdtemp(directory) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/made/socket", directory);
	requests = 0;
	return control_open(&control, path, "no-such-group", handle, NULL, NULL);
}

static int teardown(void **state)
{
	char made[96];

	(void)state;
	control_close(control);
	control = NULL;
	snprintf(made, sizeof(made), "%s/made", directory);
	return access(path, F_OK) == 0 || rmdir(made) < 0 || rmdir(directory) < 0;
}

static int peer_connect(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	strcpy(address.sun_path, path);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* Dispatch as often as a daemon's main loop would in a short time. */
static void serve(void)
{
	int i;

	for (i = 0; i < 50; i++)
		control_dispatch(control);
}

static void say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
	serve();
}

/* Return all data that can be read now; "" at the end of file, NULL if there is no data. */
static const char *heard(int fd)
{
	static char text[1 << 20];
	size_t at = 0;
	ssize_t bytes;

	while ((bytes = recv(fd, text + at, sizeof(text) - 1 - at, 0)) > 0) {
		at += (size_t)bytes;
		serve();
	}
	text[at] = '\0';
	return at == 0 && bytes < 0 && errno == EAGAIN ? NULL : text;
}

static void requests_are_answered(void **state)
{
	int fd = peer_connect();

	(void)state;
	say(fd, "echo two words\n");
	assert_string_equal(heard(fd), "argument two words\nok\n");
	say(fd, "echo\r\n");
	assert_string_equal(heard(fd), "argument \nok\n");
	say(fd, "what\n");
	assert_string_equal(heard(fd), "error unknown request \"what\"\n");
	say(fd, "\n");
	assert_string_equal(heard(fd), "error unknown request \"\"\n");
	say(fd, "echo a\necho b\necho c\n");
	assert_string_equal(heard(fd), "argument a\nok\nargument b\nok\nargument c\nok\n");
	close(fd);
	serve();
	assert_int_equal(control_peers(control), 0);
}

static void replies_have_a_limit(void **state)
{
	int fd = peer_connect();
	const char *reply;

	(void)state;
	say(fd, "big\n");
	reply = heard(fd);
	assert_int_equal(strlen(reply), 100 * 106 + 3);
	say(fd, "huge\n");
	reply = heard(fd);
	assert_true(strlen(reply) <= CONTROL_REPLY_BYTES);
	assert_non_null(strstr(reply, "\nerror the reply is too long\n"));
	close(fd);
}

static void partial_lines_wait_and_expire(void **state)
{
	int slow = peer_connect(), other = peer_connect();
	uint64_t now = clock_monotonic_ns();

	(void)state;
	say(slow, "ec");
	assert_null(heard(slow));
	say(other, "echo x\n");
	assert_string_equal(heard(other), "argument x\nok\n");
	say(slow, "ho y\n");
	assert_string_equal(heard(slow), "argument y\nok\n");
	say(slow, "ec");
	control_expire(control, now + CONTROL_IDLE_NS / 2);
	assert_int_equal(control_peers(control), 2);
	control_expire(control, clock_monotonic_ns() + CONTROL_IDLE_NS + 1);
	assert_int_equal(control_peers(control), 0);
	assert_string_equal(heard(slow), "");
	close(slow);
	close(other);
}

static void long_lines_are_hung_up_on(void **state)
{
	char line[CONTROL_REQUEST_BYTES + 1];
	int fd = peer_connect();

	(void)state;
	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	say(fd, line);
	assert_int_equal(control_peers(control), 0);
	assert_int_equal(requests, 0);
	close(fd);
	/* One byte less is a valid request. */
	fd = peer_connect();
	line[sizeof(line) - 2] = '\n';
	say(fd, line);
	assert_int_equal(requests, 1);
	assert_non_null(strstr(heard(fd), "error unknown"));
	close(fd);
}

/* A peer that requests much and reads nothing is served until its socket is full, then it waits. */
static void peers_that_never_read_wait(void **state)
{
	int deaf = peer_connect(), other = peer_connect(), i;
	unsigned int answered;

	(void)state;
	for (i = 0; i < 5000 && send(deaf, "big\n", 4, MSG_NOSIGNAL) == 4; i++)
		control_dispatch(control);
	for (i = 0; i < 5000; i++)
		control_dispatch(control);
	answered = requests;
	assert_true(answered < 200);
	for (i = 0; i < 1000; i++)
		control_dispatch(control);
	assert_int_equal(requests, answered);
	say(other, "echo alive\n");
	assert_string_equal(heard(other), "argument alive\nok\n");
	control_expire(control, clock_monotonic_ns() + CONTROL_IDLE_NS + 1);
	assert_int_equal(control_peers(control), 0);
	close(deaf);
	close(other);
}

static void floods_are_served_in_turn(void **state)
{
	int flood = peer_connect(), other = peer_connect();
	char lines[400];
	int i;

	(void)state;
	for (i = 0; i < 100; i++)
		memcpy(lines + (size_t)i * 4, "x y\n", 4);
	for (i = 0; i < 20; i++)
		assert_true(send(flood, lines, sizeof(lines), MSG_NOSIGNAL) > 0);
	assert_int_equal(send(other, "echo z\n", 7, MSG_NOSIGNAL), 7);
	/* Five dispatches: two to accept the peers, then one request of each peer per dispatch. */
	for (i = 0; i < 5; i++)
		control_dispatch(control);
	assert_true(requests <= 10);
	assert_string_equal(heard(other), "argument z\nok\n");
	close(flood);
	close(other);
	serve();
	assert_int_equal(control_peers(control), 0);
}

static void peers_are_limited(void **state)
{
	int fds[CONTROL_PEERS_MAX * 2], i;

	(void)state;
	for (i = 0; i < CONTROL_PEERS_MAX * 2; i++) {
		fds[i] = peer_connect();
		serve();
		assert_true(control_peers(control) <= CONTROL_PEERS_MAX);
	}
	assert_int_equal(control_peers(control), CONTROL_PEERS_MAX);
	assert_string_equal(heard(fds[CONTROL_PEERS_MAX]), "");
	say(fds[0], "echo first\n");
	assert_string_equal(heard(fds[0]), "argument first\nok\n");
	close(fds[0]);
	serve();
	assert_int_equal(control_peers(control), CONTROL_PEERS_MAX - 1);
	for (i = 1; i < CONTROL_PEERS_MAX * 2; i++)
		close(fds[i]);
}

/* Peers may disconnect at any point. */
static void peers_may_vanish(void **state)
{
	uint64_t seed = 1;
	int round;

	(void)state;
	for (round = 0; round < 3000; round++) {
		int fd = peer_connect();
		static const char text[] = "echo a\nbig\nnonsense\n\xff\xfe\necho";
		size_t bytes = unit_random(&seed) % sizeof(text);

		if (unit_random(&seed) % 2)
			control_dispatch(control);
		assert_true(send(fd, text, bytes, MSG_NOSIGNAL) >= 0);
		if (unit_random(&seed) % 2)
			control_dispatch(control);
		close(fd);
		control_dispatch(control);
	}
	serve();
	assert_int_equal(control_peers(control), 0);
}

static bool is_readable(void)
{
	struct pollfd wait = {.fd = control_poll_fd(control), .events = POLLIN};

	return poll(&wait, 1, 0) == 1;
}

/* Copy the descriptor at which the peer @client is served, as fork() does. */
static int served_copy(int client)
{
	for (int fd = 3; fd < 256; fd++) {
		int listens = 1;
		socklen_t bytes = sizeof(listens);

		if (fd != client &&
		    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) == 0 && !listens)
			return dup(fd);
	}
	return -1;
}

/*
 * A process that is being started, by any thread, has copies of the descriptors for a moment. The
 * connection then exists after the peer was closed, but must not be served.
 */
static void closed_peer_may_exist_elsewhere(void **state)
{
	int client = peer_connect(), copy;

	(void)state;
	say(client, "echo\n");
	assert_int_equal(control_peers(control), 1);
	copy = served_copy(client);
	assert_true(copy >= 0);
	assert_string_equal(heard(client), "argument \nok\n");
	close(client);
	serve();
	assert_int_equal(control_peers(control), 0);
	assert_false(is_readable());
	serve();
	close(copy);
}

/* Without a free descriptor for a new peer, the listening socket does not wake the loop. */
static void no_descriptor_for_a_peer(void **state)
{
	struct rlimit limit, none;
	int before = peer_connect(), late;

	(void)state;
	say(before, "echo x\n");
	assert_string_equal(heard(before), "argument x\nok\n");
	late = peer_connect();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){.rlim_cur = 3, .rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_true(is_readable());
	control_dispatch(control);
	assert_false(is_readable());
	/* The other peers are still served. */
	say(before, "echo y\n");
	assert_string_equal(heard(before), "argument y\nok\n");
	control_expire(control, clock_monotonic_ns());
	assert_true(is_readable());
	control_dispatch(control);
	assert_false(is_readable());
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	control_expire(control, clock_monotonic_ns());
	say(late, "echo z\n");
	assert_string_equal(heard(late), "argument z\nok\n");
	close(before);
	close(late);
}

static void strangers_are_hung_up_on(void **state)
{
	int status;
	pid_t child;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(chmod(directory, 0755), 0);
	child = fork();
	if (child == 0) {
		char byte;
		int fd;

		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(9);
		fd = peer_connect();
		fcntl(fd, F_SETFL, 0);
		send(fd, "echo x\n", 7, MSG_NOSIGNAL);
		_exit(recv(fd, &byte, 1, 0) == 1);
	}
	while (waitpid(child, &status, WNOHANG) == 0)
		control_dispatch(control);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(requests, 0);
}

static void one_listener_a_path(void **state)
{
	struct control *second;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct error err;
	char stale[128];
	int fd;

	(void)state;
	assert_int_equal(control_open(&second, path, NULL, handle, NULL, &err), -EADDRINUSE);
	assert_non_null(strstr(err.message, "another daemon"));
	assert_int_equal(access(path, F_OK), 0);
	/* A socket without a listener is replaced, a file is not. */
	snprintf(stale, sizeof(stale), "%s/stale", directory);
	strcpy(address.sun_path, stale);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
	assert_int_equal(control_open(&second, stale, NULL, handle, NULL, NULL), 0);
	control_close(second);
	fd = open(stale, O_CREAT | O_WRONLY, 0600);
	close(fd);
	assert_int_equal(control_open(&second, stale, NULL, handle, NULL, &err), -EADDRINUSE);
	assert_int_equal(unlink(stale), 0);
}

/* The groups of this machine have the ids that the C library finds in the same file. */
static void groups_are_found(void **state)
{
	FILE *file = fopen("/etc/group", "re");
	const struct group *entry;
	unsigned int count = 0;

	(void)state;
	assert_non_null(file);
	while ((entry = fgetgrent(file)) != NULL) {
		assert_int_equal(local_group_find(entry->gr_name), entry->gr_gid);
		count++;
	}
	fclose(file);
	assert_true(count > 1);
	assert_int_equal(local_group_find("no-such-group"), (gid_t)-1);
	assert_int_equal(local_group_find(""), (gid_t)-1);
	assert_int_equal(local_group_find("root:x"), (gid_t)-1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(requests_are_answered),
		TEST(replies_have_a_limit),
		TEST(partial_lines_wait_and_expire),
		TEST(long_lines_are_hung_up_on),
		TEST(peers_that_never_read_wait),
		TEST(floods_are_served_in_turn),
		TEST(peers_are_limited),
		TEST(peers_may_vanish),
		TEST(closed_peer_may_exist_elsewhere),
		TEST(no_descriptor_for_a_peer),
		TEST(strangers_are_hung_up_on),
		TEST(one_listener_a_path),
		cmocka_unit_test(groups_are_found),
	};

	return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
