// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/report/file_broker.h"

/* A folder with a database, an ELF file, a text file, and a link to the text file. */
struct scene {
	char folder[64];
	char database[80], elf[80], text[80], link[80], output[80], cache[80];
	const char *databases[1];
	struct cli cli;
	struct file_broker *broker;
};

static void write_file(const char *path, const char *contents)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(contents, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void make_path(char path[80], const struct scene *scene, const char *name)
{
	snprintf(path, 80, "%s/%s", scene->folder, name);
}

static int set_up(void **state)
{
	static struct scene scene;
	struct file_broker_access access = {.output = scene.output};

	scene = (struct scene){.folder = "/tmp/unit_file_broker.XXXXXX"};
	assert_non_null(mkdtemp(scene.folder));
	make_path(scene.database, &scene, "x.db");
	make_path(scene.elf, &scene, "elf");
	make_path(scene.text, &scene, "text");
	make_path(scene.link, &scene, "x.db-lock");
	make_path(scene.output, &scene, "out");
	make_path(scene.cache, &scene, "cache");
	write_file(scene.database, "database");
	write_file(scene.elf, "\177ELF is what it begins with");
	write_file(scene.text, "secret");
	assert_int_equal(symlink(scene.text, scene.link), 0);
	scene.databases[0] = scene.database;
	scene.cli = (struct cli){.tool = "test",
				 .databases = scene.databases,
				 .database_count = 1,
				 .symbol_cache = scene.cache};
	scene.broker = file_broker_create(&scene.cli, &access);
	assert_non_null(scene.broker);
	*state = &scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;
	char command[128];

	file_broker_destroy(scene->broker);
	snprintf(command, sizeof(command), "rm -rf %s", scene->folder);
	return system(command);
}

static int ask(struct scene *scene, enum broker_operation operation, enum broker_kind kind,
	       const char *path, int flags)
{
	struct broker_packet packet;

	broker_packet_init(&packet, operation);
	packet.message.kind = kind;
	packet.message.flags = flags;
	packet.message.mode = 0644;
	assert_int_equal(broker_packet_set_text(&packet, path), 0);
	file_broker_serve(scene->broker, &packet);
	if (operation == BROKER_OPEN && packet.message.result == 0)
		assert_true(packet.fds[0] >= 0);
	broker_packet_close(&packet);
	return packet.message.result;
}

static int ask_open(struct scene *scene, enum broker_kind kind, const char *path, int flags)
{
	return ask(scene, BROKER_OPEN, kind, path, flags);
}

static void grants_only_elf(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(ask_open(scene, BROKER_IMAGE, scene->elf, O_RDONLY), 0);
	assert_int_equal(ask_open(scene, BROKER_IMAGE, scene->text, O_RDONLY), -ENOEXEC);
	assert_int_equal(ask_open(scene, BROKER_IMAGE, scene->folder, O_RDONLY), -EMEDIUMTYPE);
	assert_int_equal(ask_open(scene, BROKER_IMAGE, "/dev/null", O_RDONLY), -EMEDIUMTYPE);
	assert_int_equal(ask_open(scene, BROKER_IMAGE, "/nonexistent", O_RDONLY), -ENOENT);
	/* Requested open flags are ignored for images. */
	assert_int_equal(ask_open(scene, BROKER_IMAGE, scene->elf, O_RDWR | O_TRUNC), 0);
	assert_int_equal(ask_open(scene, BROKER_IMAGE, scene->elf, O_RDONLY), 0);
	assert_int_equal(ask_open(scene, (enum broker_kind)99, scene->elf, O_RDONLY), -EPERM);
}

static void grants_source_to_reports_that_print_it(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(ask_open(scene, BROKER_SOURCE, scene->text, O_RDONLY), -EPERM);
	scene->cli.accepts = CLI_SOURCES;
	assert_int_equal(ask_open(scene, BROKER_SOURCE, scene->text, O_RDONLY), 0);
	assert_int_equal(ask_open(scene, BROKER_SOURCE, "/dev/zero", O_RDONLY), -EMEDIUMTYPE);
}

static void grants_databases_for_reading(void **state)
{
	struct scene *scene = *state;
	char path[128];

	assert_int_equal(ask_open(scene, BROKER_DATABASE, scene->database, O_RDONLY), 0);
	assert_int_equal(ask_open(scene, BROKER_DATABASE, scene->database, O_RDWR), -EACCES);
	assert_int_equal(ask_open(scene, BROKER_DATABASE, scene->text, O_RDONLY), -EPERM);
	snprintf(path, sizeof(path), "%s-wal", scene->database);
	/* SQLite retries the open with other flags. */
	assert_int_equal(ask_open(scene, BROKER_DATABASE, path, O_RDWR | O_CREAT), -EACCES);
	assert_int_equal(ask_open(scene, BROKER_DATABASE, path, O_RDONLY), 0);
	assert_int_equal(ask_open(scene, BROKER_DATABASE, path, O_RDWR), -EACCES);
	snprintf(path, sizeof(path), "%s-shm", scene->database);
	assert_int_equal(ask_open(scene, BROKER_DATABASE, path, O_RDWR | O_CREAT), 0);
	snprintf(path, sizeof(path), "%s-other", scene->database);
	assert_int_equal(ask_open(scene, BROKER_DATABASE, path, O_RDWR | O_CREAT), -EPERM);
	assert_int_equal(ask_open(scene, BROKER_DATABASE, scene->link, O_RDONLY | O_NOFOLLOW),
			 -ELOOP);
	assert_int_equal(ask(scene, BROKER_UNLINK, BROKER_DATABASE, scene->database, 0), -EPERM);
}

static void grants_the_output(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(ask_open(scene, BROKER_OUTPUT, scene->text, O_WRONLY), -EPERM);
	assert_int_equal(ask_open(scene, BROKER_OUTPUT, scene->output, O_WRONLY), 0);
	assert_int_equal(ask(scene, BROKER_UNLINK, BROKER_OUTPUT, scene->text, 0), -EPERM);
	assert_int_equal(ask(scene, BROKER_UNLINK, BROKER_OUTPUT, scene->output, 0), 0);
	assert_int_equal(ask_open(scene, BROKER_OPERAND, scene->text, O_RDONLY), -EPERM);
}

static int store(struct scene *scene, const char *name)
{
	struct broker_packet packet;
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", scene->cache, name);
	broker_packet_init(&packet, BROKER_STORE_INDEX);
	packet.fds[0] = memfd_create("index", MFD_CLOEXEC);
	assert_int_equal(write(packet.fds[0], "index", 5), 5);
	broker_packet_set_text(&packet, path);
	file_broker_serve(scene->broker, &packet);
	return packet.message.result;
}

static void keeps_indexes_in_the_cache(void **state)
{
	struct scene *scene = *state;
	char path[160];

	assert_int_equal(store(scene, "ab/cdef"), 0);
	snprintf(path, sizeof(path), "%s/ab/cdef", scene->cache);
	assert_int_equal(ask_open(scene, BROKER_INDEX, path, O_RDONLY), 0);
	assert_int_equal(store(scene, "../text"), -EPERM);
	assert_int_equal(store(scene, "ab/../../text"), -EPERM);
	assert_int_equal(store(scene, "ab"), -EPERM);
	assert_int_equal(store(scene, "ab/"), -EPERM);
	assert_int_equal(store(scene, "abc/def"), -EPERM);
	assert_int_equal(ask_open(scene, BROKER_INDEX, scene->text, O_RDONLY), -EPERM);
}

/* A report that has read another user's file could store wrong names for other images. */
static void stores_no_index_after_a_file_of_another_user(void **state)
{
	struct scene *scene = *state;

	if (geteuid() != 0)
		skip();
	assert_int_equal(ask_open(scene, BROKER_IMAGE, scene->elf, O_RDONLY), 0);
	assert_int_equal(store(scene, "ab/cdef"), 0);
	assert_int_equal(chown(scene->elf, 12345, 12345), 0);
	assert_int_equal(ask_open(scene, BROKER_IMAGE, scene->elf, O_RDONLY), 0);
	assert_int_equal(store(scene, "ab/cdef"), -EPERM);
	file_broker_forget_owners(scene->broker);
	assert_int_equal(store(scene, "ab/cdef"), 0);
}

static void refuses_what_failed(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(file_broker_refuse(scene->broker, scene->elf, "it crashed"), 0);
	assert_int_equal(ask_open(scene, BROKER_IMAGE, scene->elf, O_RDONLY), -ENOTRECOVERABLE);
}

static void refuses_damaged_requests(void **state)
{
	struct scene *scene = *state;
	struct broker_packet packet;

	for (uint32_t operation = 0; operation < 20; operation++) {
		broker_packet_init(&packet, (enum broker_operation)operation);
		packet.message.bytes = 3;
		memcpy(packet.message.data, "abc", 3);
		file_broker_serve(scene->broker, &packet);
		assert_true(packet.message.result < 0);
		broker_packet_close(&packet);
	}
	assert_int_equal(ask(scene, BROKER_DRAW, BROKER_IMAGE, "svg", 0), -EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(grants_only_elf),
		TEST(grants_source_to_reports_that_print_it),
		TEST(grants_databases_for_reading),
		TEST(grants_the_output),
		TEST(keeps_indexes_in_the_cache),
		TEST(stores_no_index_after_a_file_of_another_user),
		TEST(refuses_what_failed),
		TEST(refuses_damaged_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
