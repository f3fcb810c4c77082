// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"
#include "tools/web/web_guard.h"

static const char *const names[] = {"profiles.example", "10.0.0.1"};

static void test_hosts_of_this_server_are_allowed(void **state)
{
	static const char *const hosts[] = {
		"localhost", "LocalHost:8197",	    "127.0.0.1",  "127.0.0.1:1",
		"[::1]",     "[::1]:65535",	    "localhost:", "profiles.example",
		"10.0.0.1",  "PROFILES.example:80",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++) {
		if (!web_host_allowed(hosts[i], names, 2))
			fail_msg("refused: %s", hosts[i]);
	}
	assert_false(web_host_allowed("profiles.example", NULL, 0));
}

static void test_other_hosts_are_refused(void **state)
{
	static const char *const hosts[] = {
		"",
		":",
		":80",
		"evil.example",
		"localhost.evil.example",
		"evil.localhost",
		"localhos",
		"localhost ",
		" localhost",
		"localhost:80:80",
		"localhost:8x",
		"localhost/",
		"localhost@evil.example",
		"user@localhost",
		"127.0.0.1.evil.example",
		"127.0.0.10",
		"127.1",
		"2130706433",
		"[::1",
		"[",
		"[]",
		"::1",
		"[::1]x",
		"[::1]]",
		"[::2]",
		"[::ffff:127.0.0.1]",
		"profiles.example.",
		"profiles_example",
	};

	(void)state;
	assert_false(web_host_allowed(NULL, names, 2));
	for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++) {
		if (web_host_allowed(hosts[i], names, 2))
			fail_msg("allowed: %s", hosts[i]);
	}
}

static void test_requests_for_other_sites_are_refused(void **state)
{
	(void)state;
	assert_true(web_fetch_allowed(NULL, NULL));
	assert_true(web_fetch_allowed("none", "navigate"));
	assert_true(web_fetch_allowed("same-origin", "cors"));
	assert_true(web_fetch_allowed("cross-site", "navigate"));
	assert_false(web_fetch_allowed("cross-site", "no-cors"));
	assert_false(web_fetch_allowed("same-site", "cors"));
	assert_false(web_fetch_allowed("cross-site", NULL));
	assert_false(web_fetch_allowed("", NULL));
}

/* Read a token from a file with these contents and permissions. */
static int read_token(struct web_token *token, const char *text, mode_t mode, struct error *err)
{
	char path[] = "/tmp/unit_web_guard.XXXXXX";
	int fd = mkstemp(path), r;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	r = web_token_read(token, path, err);
	unlink(path);
	return r;
}

static void test_only_the_token_matches(void **state)
{
	struct web_token token = {0};

	(void)state;
	assert_true(web_token_matches(&token, NULL));
	assert_true(web_token_matches(&token, "anything"));
	assert_int_equal(read_token(&token, "0123456789abcdef\n", 0600, NULL), 0);
	assert_true(token.required);
	assert_true(web_token_matches(&token, "0123456789abcdef"));
	assert_false(web_token_matches(&token, NULL));
	assert_false(web_token_matches(&token, ""));
	assert_false(web_token_matches(&token, "0123456789abcde"));
	assert_false(web_token_matches(&token, "0123456789abcdeff"));
	assert_false(web_token_matches(&token, "0123456789abcdef\n"));
	assert_false(web_token_matches(&token, "0123456789ABCDEF"));
}

static void test_token_is_stored_as_digest(void **state)
{
	struct web_token one = {0}, other = {0};

	(void)state;
	assert_int_equal(read_token(&one, "0123456789abcdef", 0600, NULL), 0);
	assert_int_equal(read_token(&other, "0123456789abcdef", 0640, NULL), 0);
	assert_null(memmem(&one, sizeof(one), "01234567", 8));
	assert_memory_not_equal(one.digest, other.digest, sizeof(one.digest));
}

static void test_bad_token_files_are_refused(void **state)
{
	struct web_token token = {0};
	char text[WEB_TOKEN_BYTES_MAX + 4];
	struct error err;

	(void)state;
	assert_int_equal(read_token(&token, "0123456789abcdef", 0604, &err), -EACCES);
	assert_non_null(strstr(err.message, "chmod 600"));
	assert_int_equal(read_token(&token, "", 0600, &err), -EINVAL);
	assert_int_equal(read_token(&token, "0123456789abcde\n", 0600, &err), -EINVAL);
	assert_int_equal(read_token(&token, "0123456789 abcdef\n", 0600, &err), -EINVAL);
	assert_int_equal(read_token(&token, "0123456789abcdef\n\nx", 0600, &err), -EINVAL);
	memset(text, 'x', sizeof(text));
	text[WEB_TOKEN_BYTES_MAX + 1] = '\0';
	assert_int_equal(read_token(&token, text, 0600, &err), -EINVAL);
	text[WEB_TOKEN_BYTES_MAX] = '\0';
	assert_int_equal(read_token(&token, text, 0600, &err), 0);
	assert_int_equal(web_token_read(&token, "/tmp", &err), -EINVAL);
	assert_int_equal(web_token_read(&token, "/nonexistent", &err), -ENOENT);
}

static void test_bearer_headers(void **state)
{
	(void)state;
	assert_string_equal(web_token_bearer("Bearer abc"), "abc");
	assert_string_equal(web_token_bearer("bearer   abc"), "abc");
	assert_string_equal(web_token_bearer("Bearer "), "");
	assert_null(web_token_bearer("Bearerabc"));
	assert_null(web_token_bearer("Basic abc"));
	assert_null(web_token_bearer(""));
	assert_null(web_token_bearer(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts_of_this_server_are_allowed),
		cmocka_unit_test(test_other_hosts_are_refused),
		cmocka_unit_test(test_requests_for_other_sites_are_refused),
		cmocka_unit_test(test_only_the_token_matches),
		cmocka_unit_test(test_token_is_stored_as_digest),
		cmocka_unit_test(test_bad_token_files_are_refused),
		cmocka_unit_test(test_bearer_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
