// SPDX-License-Identifier: GPL-2.0-only
/* The profile database under adversity: foreign and damaged files, missing
 * rights, full disks, killed writers, readers beside a writer. */
#include "tests/profile_db_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "db/database.h"

#define NOBODY 65534

static struct error err;

static int try_read(const char *path)
{
	struct profile_reader *reader = NULL;
	int r = profile_reader_open(&reader, path, &err);

	profile_reader_close(reader);
	return r;
}

static int try_write(const char *path)
{
	struct profile_writer *writer = NULL;
	int r = profile_writer_open(&writer, path, &err);

	profile_writer_close(writer);
	return r;
}

/* Of each image one, in its first merge; each number depends on it. */
static int numbered_recording(struct profile_writer *writer, int64_t image, uint64_t number)
{
	static const char *const texts[] = {"main", "a_procedure"};
	uint64_t values[3 * 80];
	struct profile_recording recording = {
		.mode = PROFILE_RECORDING_CONTEXT,
		.metric = "cycles",
		.tables = {{.columns = 3, .rows = 80, .values = values}},
		.table_count = 1,
		.texts = texts,
		.text_count = 2,
	};

	for (uint64_t i = 0; i < 3 * 80; i++)
		values[i] = (number + 1) * (i % 3 * i + 1);
	return profile_writer_recording(writer, image, &recording, &err);
}

/* What is read is what was written of that image. */
static int check_recording(void *context, const struct profile_recording *recording)
{
	uint64_t *sum = context;

	assert_int_equal(recording->table_count, 1);
	assert_int_equal(recording->tables[0].columns, 3);
	assert_int_equal(recording->tables[0].rows, 80);
	for (uint64_t i = 0; i < 3 * 80; i++)
		assert_int_equal(recording->tables[0].values[i],
				 recording->tables[0].values[0] * (i % 3 * i + 1));
	assert_string_equal(recording->texts[1], "a_procedure");
	*sum += recording->tables[0].values[0];
	return 0;
}

/*
 * A merge by its number: samples at offsets that depend on it, three in all,
 * and the epoch's interrupts, so that every committed state can be told.
 */
static int merge(struct profile_writer *writer, uint64_t number)
{
	struct profile_sample samples[2] = {{number % 97 * 4, 1}, {1000 + number % 89, 2}};
	struct profile_image image;
	char path[64];
	int64_t id;
	int r;

	model_image((unsigned int)(number % MODEL_IMAGES), &image, path, sizeof(path));
	r = profile_writer_begin(writer, &err);
	if (r == 0)
		r = profile_writer_image(writer, &image, &id, &err);
	if (r == 0)
		r = profile_writer_add(writer, id, (uint32_t)(number % 2), PROFILE_PID_ALL, samples,
				       2, &err);
	if (r == 0)
		r = numbered_edge(writer, id, number, &err);
	if (r == 0 && number < MODEL_IMAGES)
		r = numbered_recording(writer, id, number);
	if (r == 0)
		r = profile_writer_totals(writer, 1500000000, 3 * (number + 1), NULL, 0, &err);
	if (r == 0)
		r = profile_writer_commit(writer, &err);
	if (r < 0)
		profile_writer_rollback(writer);
	return r;
}

static struct profile_writer *begin(const char *path)
{
	struct profile_epoch epoch = model_epoch(0);
	struct profile_writer *writer = NULL;

	assert_ok(profile_writer_open(&writer, path, &err));
	assert_ok(profile_writer_epoch_begin(writer, &epoch, model_events, 2, &err));
	return writer;
}

static void write_merges(const char *path, uint64_t count)
{
	struct profile_writer *writer = begin(path);
	uint64_t i;

	for (i = 0; i < count; i++)
		assert_ok(merge(writer, i));
	profile_writer_close(writer);
}

/* What an epoch should hold and what its profiles do. */
struct totals {
	int64_t epoch;
	uint64_t interrupts;
	uint64_t samples;
	uint64_t edges;
};

static int last_epoch(void *context, const struct profile_epoch *epoch)
{
	struct totals *totals = context;

	if (epoch->id > totals->epoch) {
		totals->epoch = epoch->id;
		totals->interrupts = epoch->interrupts;
	}
	return 0;
}

static int sum_profile(void *context, const struct profile *profile)
{
	struct totals *totals = context;
	size_t i;

	for (i = 0; i < profile->count; i++)
		totals->samples += profile->samples[i].count;
	return 0;
}

static struct totals read_totals(struct profile_reader *reader)
{
	struct totals totals = {0};
	struct profile_filter filter = {.epochs = &totals.epoch, .epoch_count = 1};

	assert_ok(profile_reader_snapshot(reader, &err));
	assert_ok(profile_reader_epochs(reader, NULL, last_epoch, &totals, &err));
	assert_ok(profile_reader_profiles(reader, &filter, sum_profile, &totals, &err));
	assert_ok(profile_reader_edges(reader, &filter, numbered_edges_sum, &totals.edges, &err));
	assert_int_equal(3 * totals.edges, totals.samples);
	return totals;
}

static void assert_sound(const char *path)
{
	struct database db = {0};
	int64_t complaints = -1;

	assert_ok(database_open_read(&db, path, &err));
	assert_ok(database_number(
		&db, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
		&complaints, &err));
	assert_int_equal(complaints, 0);
	assert_ok(database_number(&db, "SELECT count(*) FROM pragma_foreign_key_check", &complaints,
				  &err));
	assert_int_equal(complaints, 0);
	database_close(&db);
}

static struct totals check_file(const char *path)
{
	struct profile_reader *reader = NULL;
	struct totals totals;

	assert_sound(path);
	assert_ok(profile_reader_open(&reader, path, &err));
	totals = read_totals(reader);
	profile_reader_close(reader);
	assert_int_equal(totals.samples, totals.interrupts);
	return totals;
}

static uint8_t *read_file(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "r");
	uint8_t *data = malloc(1 << 24);

	assert_true(file != NULL && data != NULL);
	*bytes = fread(data, 1, 1 << 24, file);
	fclose(file);
	return data;
}

static void write_file(const char *path, const void *data, size_t bytes)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
}

static void not_databases(void **state)
{
	char text[5000];

	(void)state;
	memset(text, 'x', sizeof(text));
	write_file(path_of("text"), text, sizeof(text));
	write_file(path_of("empty"), "", 0);
	assert_int_equal(mkfifo(path_of("fifo"), 0600), 0);
	assert_int_equal(try_read(path_of("missing")), -ENOENT);
	assert_int_equal(try_read(path_of("no/such")), -ENOENT);
	assert_int_equal(try_write(path_of("no/such")), -ENOENT);
	assert_int_equal(try_read(fixture_directory), -EISDIR);
	assert_int_equal(try_write(fixture_directory), -EISDIR);
	assert_int_equal(try_read(path_of("fifo")), -EMEDIUMTYPE);
	assert_int_equal(try_write(path_of("fifo")), -EMEDIUMTYPE);
	assert_int_equal(try_read(path_of("text")), -EMEDIUMTYPE);
	assert_int_equal(try_write(path_of("text")), -EMEDIUMTYPE);
	assert_int_equal(try_read(path_of("empty")), -EMEDIUMTYPE);
	assert_int_equal(try_write(path_of("empty")), 0);
	assert_int_equal(try_read(path_of("empty")), 0);
	assert_int_equal(try_read("/dev/null"), -EMEDIUMTYPE);
}

/* The header's fields of SQLite's file format: whose file it is, its version. */
static void foreign_and_newer(void **state)
{
	const char *path = path_of("version.db");
	uint8_t *data;
	size_t bytes;

	(void)state;
	write_merges(path, 3);
	data = read_file(path, &bytes);
	data[63]++;
	write_file(path, data, bytes);
	assert_int_equal(try_read(path), -EPROTO);
	assert_int_equal(try_write(path), -EPROTO);
	data[63] = 0;
	write_file(path, data, bytes);
	assert_int_equal(try_read(path), -EBADMSG);
	assert_int_equal(try_write(path), -EBADMSG);
	data[63] = 1;
	data[71] ^= 1;
	write_file(path, data, bytes);
	assert_int_equal(try_read(path), -EMEDIUMTYPE);
	assert_int_equal(try_write(path), -EMEDIUMTYPE);
	free(data);
}

/* The profiles of a sound file, to compare damaged ones with. */
struct inventory {
	struct profile profiles[64];
	size_t count;
};

static int take_inventory(void *context, const struct profile *profile)
{
	struct inventory *inventory = context;
	struct profile_sample *copy = malloc(profile->count * sizeof(*copy));

	assert_true(copy != NULL && inventory->count < 64);
	memcpy(copy, profile->samples, profile->count * sizeof(*copy));
	inventory->profiles[inventory->count] = *profile;
	inventory->profiles[inventory->count++].samples = copy;
	return 0;
}

/* What is read must be what was written under the same numbers. */
static int check_inventory(void *context, const struct profile *profile)
{
	const struct inventory *inventory = context;
	const struct profile *p = inventory->profiles;
	size_t i;

	for (i = 0; i < inventory->count; i++, p++) {
		if (p->epoch == profile->epoch && p->image == profile->image &&
		    p->event == profile->event && p->pid == profile->pid)
			break;
	}
	assert_true(i < inventory->count);
	assert_int_equal(profile->count, p->count);
	assert_memory_equal(profile->samples, p->samples, p->count * sizeof(*p->samples));
	return 0;
}

static int read_damaged(const char *path, struct inventory *inventory)
{
	struct profile_reader *reader = NULL;
	struct profile_symbols symbols = {0};
	struct profile_image image;
	struct totals totals = {0};
	uint64_t recorded = 0;
	int r;

	r = profile_reader_open(&reader, path, &err);
	if (r == 0)
		r = profile_reader_epochs(reader, NULL, last_epoch, &totals, &err);
	if (r == 0)
		r = profile_reader_recordings(reader, NULL, -1, check_recording, &recorded, &err);
	if (r == 0)
		r = profile_reader_profiles(reader, NULL, check_inventory, inventory, &err);
	if (r == 0)
		r = profile_reader_edges(reader, NULL, numbered_edges_sum, &totals.edges, &err);
	if (r == 0)
		r = profile_reader_image(reader, 1, &image, &err);
	if (r == 0)
		r = profile_reader_symbols(reader, 1, &symbols, &err);
	profile_symbols_deinit(&symbols);
	profile_reader_close(reader);
	assert_true(r == 0 || r == -EBADMSG || r == -EMEDIUMTYPE || r == -EPROTO || r == -ENOENT ||
		    r == -EACCES || r == -EIO);
	return r;
}

/* A writer must get through or say why; what it leaves may be read again. */
static void write_damaged(const char *path)
{
	struct profile_epoch epoch = model_epoch(0);
	struct profile_writer *writer = NULL;
	int r;

	r = profile_writer_open(&writer, path, &err);
	if (r == 0)
		r = profile_writer_epoch_begin(writer, &epoch, model_events, 2, &err);
	if (r == 0)
		r = merge(writer, 5);
	assert_true(r <= 0);
	profile_writer_close(writer);
}

/* A row of the current epoch that the disk has forgotten: its samples are lost by name. */
static void damaged_row(void **state)
{
	const char *path = path_of("row.db");
	struct profile_counter none = {"loss", "x", 0};
	struct profile_epoch epoch = model_epoch(0);
	const struct profile_sample samples[] = {{16, 5}, {32, 7}};
	const struct profile_edge edge = {4, 8, 9};
	struct profile_writer *writer = open_writer(path);
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE, .path = "/bin/x"};
	struct database db = {0};
	int64_t id, number;
	int round;

	(void)state;
	assert_ok(profile_writer_epoch_begin(writer, &epoch, model_events, 1, &err));
	for (round = 1; round <= 3; round++) {
		assert_ok(profile_writer_begin(writer, &err));
		assert_ok(profile_writer_image(writer, &image, &id, &err));
		assert_ok(profile_writer_add(writer, id, 0, -1, samples, 2, &err));
		assert_ok(profile_writer_edges(writer, id, id, 0, &edge, 1, &err));
		assert_ok(profile_writer_totals(writer, 2000000000, 12 * (uint64_t)round, &none, 1,
						&err));
		assert_ok(profile_writer_commit(writer, &err));
		if (round != 2)
			continue;
		assert_ok(database_open_write(&db, path, &err));
		assert_ok(database_exec(&db,
					"UPDATE profile SET data = zeroblob(length(data));"
					"UPDATE edge SET data = zeroblob(length(data))",
					"damage", &err));
		database_close(&db);
	}
	assert_int_equal(profile_writer_damaged(writer), 24);
	profile_writer_close(writer);
	assert_ok(database_open_read(&db, path, &err));
	assert_ok(database_number(&db, "SELECT count FROM counter WHERE name = 'damaged'", &number,
				  &err));
	assert_int_equal(number, 24);
	assert_ok(database_number(
		&db, "SELECT interrupts - 24 - (SELECT sum(samples) FROM profile) FROM epoch",
		&number, &err));
	assert_int_equal(number, 0);
	assert_ok(database_number(&db, "SELECT count FROM counter WHERE name = 'edges_damaged'",
				  &number, &err));
	assert_int_equal(number, 18);
	database_close(&db);
}

static void damaged_files(void **state)
{
	const char *path = path_of("damaged.db"), *copy = path_of("copy.db");
	const char *log = path_of("copy.db-wal"), *shared = path_of("copy.db-shm");
	static struct inventory inventory;
	struct profile_reader *reader = NULL;
	unsigned int round, refused = 0;
	uint64_t seed = 21, recorded = 0;
	size_t bytes, at, i;
	uint8_t *data, *flipped;

	(void)state;
	write_merges(path, 300);
	assert_ok(profile_reader_open(&reader, path, &err));
	assert_ok(profile_reader_profiles(reader, NULL, take_inventory, &inventory, &err));
	assert_ok(profile_reader_recordings(reader, NULL, PROFILE_RECORDING_CONTEXT,
					    check_recording, &recorded, &err));
	assert_int_equal(recorded, MODEL_IMAGES * (MODEL_IMAGES + 1) / 2);
	profile_reader_close(reader);
	assert_int_equal(inventory.count, MODEL_IMAGES);
	data = read_file(path, &bytes);
	flipped = malloc(bytes);
	assert_non_null(flipped);
	for (round = 0; round < 1500; round++) {
		memcpy(flipped, data, bytes);
		at = unit_random(&seed) % bytes;
		flipped[at] ^= (uint8_t)(1 << unit_random(&seed) % 8);
		write_file(copy, flipped, round % 5 == 4 ? at : bytes);
		refused += read_damaged(copy, &inventory) < 0;
		if (round % 8 == 0) {
			write_damaged(copy);
			unlink(log);
			unlink(shared);
		}
	}
	assert_true(refused > 100);
	for (i = 0; i < inventory.count; i++)
		free((void *)(uintptr_t)inventory.profiles[i].samples);
	free(flipped);
	free(data);
}

/* Runs a function in a child with no rights; its result must fit a byte. */
static int as_nobody(int (*function)(const char *path), const char *path)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
			_exit(255);
		_exit(-function(path) & 0xff);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

/* Whether all 30 merges can be read; -errno, or -EDOM for other contents. */
static int read_thirty(const char *path)
{
	struct profile_reader *reader = NULL;
	struct totals totals = {0};
	int r;

	r = profile_reader_open(&reader, path, &err);
	if (r == 0)
		r = profile_reader_snapshot(reader, &err);
	if (r == 0)
		r = profile_reader_epochs(reader, NULL, last_epoch, &totals, &err);
	if (r == 0)
		r = profile_reader_profiles(reader, NULL, sum_profile, &totals, &err);
	profile_reader_close(reader);
	if (r == 0 && (totals.samples != 90 || totals.interrupts != 90))
		r = -EDOM;
	return r;
}

static void rights(void **state)
{
	const char *path = path_of("rights.db"), *torn = path_of("to%rn?.db");
	struct profile_writer *writer;
	uint8_t *data;
	size_t bytes;
	uint64_t i;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(fixture_directory, 0755), 0);
	writer = begin(path);
	for (i = 0; i < 30; i++)
		assert_ok(merge(writer, i));
	/* Beside the writer, with all there is in the log. */
	assert_int_equal(as_nobody(read_thirty, path), 0);
	assert_int_equal(as_nobody(try_write, path), -EACCES);
	/* A copy of file and log: no shared memory, and none can be made. */
	data = read_file(path, &bytes);
	write_file(torn, data, bytes);
	free(data);
	data = read_file(path_of("rights.db-wal"), &bytes);
	assert_true(bytes > 0);
	write_file(path_of("to%rn?.db-wal"), data, bytes);
	free(data);
	assert_int_equal(as_nobody(read_thirty, torn), -EACCES);
	assert_int_equal(read_thirty(torn), 0);
	profile_writer_close(writer);
	/* The log is gone, the directory cannot be written. */
	assert_int_equal(access(path_of("rights.db-wal"), F_OK), -1);
	assert_int_equal(as_nobody(read_thirty, path), 0);
	unlink(path_of("to%rn?.db-wal"));
	unlink(path_of("to%rn?.db-shm"));
	data = read_file(path, &bytes);
	write_file(torn, data, bytes);
	free(data);
	assert_int_equal(as_nobody(read_thirty, torn), 0);
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(as_nobody(try_read, path), -EACCES);
}

/* Merges until the disk is full; then, with space again, the same merge works. */
static uint64_t fill_disk(struct profile_writer *writer)
{
	uint64_t i;
	int r = 0;

	for (i = 0; i < 100000 && r == 0; i++)
		r = merge(writer, i);
	if (r != -ENOSPC)
		fail_msg("%d %s", r, err.message);
	assert_true(i > 1);
	return i - 1;
}

static void file_size_limit(void **state)
{
	const char *path = path_of("limit.db");
	struct profile_writer *writer = begin(path);
	struct rlimit old, limit;
	uint64_t next;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = 300000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	next = fill_disk(writer);
	assert_int_equal(merge(writer, next), -ENOSPC);
	assert_int_equal(check_file(path).interrupts, 3 * next);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_ok(merge(writer, next));
	assert_int_equal(check_file(path).interrupts, 3 * (next + 1));
	profile_writer_close(writer);
	assert_int_equal(check_file(path).interrupts, 3 * (next + 1));
}

static void full_disk(void **state)
{
	const char *mount_point = path_of("small");
	struct profile_writer *writer;
	char path[300];
	uint64_t next;

	(void)state;
	assert_int_equal(mkdir(mount_point, 0700), 0);
	if (mount("tmpfs", mount_point, "tmpfs", 0, "size=512k") < 0)
		skip();
	snprintf(path, sizeof(path), "%s/full.db", mount_point);
	writer = begin(path);
	next = fill_disk(writer);
	assert_int_equal(merge(writer, next), -ENOSPC);
	assert_int_equal(mount("tmpfs", mount_point, "tmpfs", MS_REMOUNT, "size=4m"), 0);
	assert_ok(merge(writer, next));
	assert_int_equal(check_file(path).interrupts, 3 * (next + 1));
	profile_writer_close(writer);
	assert_int_equal(check_file(path).interrupts, 3 * (next + 1));
	assert_int_equal(umount(mount_point), 0);
}

/* Shared with a writing child: merges that it knows to be committed. */
static volatile uint64_t *committed;

static pid_t start_writer(const char *path)
{
	struct profile_epoch epoch = model_epoch(0);
	struct profile_writer *writer = NULL;
	pid_t pid = fork();
	uint64_t i;
	int r;

	if (pid != 0)
		return pid;
	r = profile_writer_open(&writer, path, &err);
	if (r == 0)
		r = profile_writer_epoch_begin(writer, &epoch, model_events, 2, &err);
	for (i = 0; r == 0; i++) {
		r = merge(writer, i);
		if (r == 0)
			*committed = i + 1;
	}
	fprintf(stderr, "%s\n", err.message);
	_exit(1);
}

static void map_committed(void)
{
	void *memory = mmap(NULL, sizeof(*committed), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(memory != MAP_FAILED);
	committed = memory;
}

static void killed_writers(void **state)
{
	const char *path = path_of("killed.db");
	uint64_t seed = 22, known, found;
	struct totals totals;
	int round, status;
	pid_t pid;

	(void)state;
	map_committed();
	for (round = 0; round < 40; round++) {
		*committed = 0;
		pid = start_writer(path);
		while (*committed == 0 && waitpid(pid, &status, WNOHANG) == 0)
			usleep(200);
		usleep((useconds_t)(unit_random(&seed) % 20000));
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		assert_true(WIFSIGNALED(status));
		known = *committed;
		totals = check_file(path);
		found = totals.interrupts / 3;
		assert_int_equal(totals.interrupts, 3 * found);
		assert_true(found == known || found == known + 1);
	}
}

/* Every snapshot is a committed state, and they only move forward. */
static void reader_beside_writer(void **state)
{
	const char *path = path_of("beside.db");
	struct profile_reader *reader = NULL;
	uint64_t last = 0, before, changes = 0;
	struct totals totals;
	int round, status;
	pid_t pid;

	(void)state;
	map_committed();
	pid = start_writer(path);
	while (*committed == 0 && waitpid(pid, &status, WNOHANG) == 0)
		usleep(200);
	assert_ok(profile_reader_open(&reader, path, &err));
	for (round = 0; round < 300; round++) {
		before = *committed;
		totals = read_totals(reader);
		assert_int_equal(totals.samples, totals.interrupts);
		assert_true(totals.interrupts >= 3 * before && totals.interrupts >= last);
		changes += totals.interrupts > last;
		last = totals.interrupts;
	}
	assert_true(changes > 1);
	profile_reader_close(reader);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	assert_true(WIFSIGNALED(status));
}

static int unmount_and_teardown(void **state)
{
	/* Still mounted only if full_disk() failed. */
	umount2(path_of("small"), MNT_DETACH);
	return fixture_teardown(state);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(not_databases),
		cmocka_unit_test(foreign_and_newer),
		cmocka_unit_test(damaged_files),
		cmocka_unit_test(damaged_row),
		cmocka_unit_test(rights),
		cmocka_unit_test(file_size_limit),
		cmocka_unit_test(full_disk),
		cmocka_unit_test(killed_writers),
		cmocka_unit_test(reader_beside_writer),
	};

	return cmocka_run_group_tests(tests, fixture_setup, unmount_and_teardown);
}
