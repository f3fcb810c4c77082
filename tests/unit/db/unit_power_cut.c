// SPDX-License-Identifier: GPL-2.0-only
/*
 * Power failures while a database is written: merges, changes of epochs, expiry of old epochs,
 * shrinking of the file. For any state of the disk the database opens, is consistent, adds up, and
 * has all committed data.
 *
 * POINTS=N power failures (default: 60)
 */
#include "tests/fixtures/power_cut_vfs.h"
#include "tests/fixtures/profile_db_fixture.h"

#include <sqlite3.h>
#include <sys/stat.h>

#define IMAGES 30
#define SECOND 1000000000LL
/* One merge in that many begins an epoch, or expires some data. */
#define EPOCH_EVERY 23
#define EXPIRE_EVERY 3

static struct error err;

/*
 * @begun, @committed: merges; each adds its number to a counter of its epoch
 * @next:              changes until the next power failure
 */
static struct {
	uint64_t seed;
	uint64_t begun;
	uint64_t committed;
	uint64_t changes;
	uint64_t next;
	unsigned int points;
	unsigned int failures; /* of the check */
	bool may_fail;
	char directory[128];
} run;

static int64_t ask(sqlite3 *handle, const char *sql)
{
	sqlite3_stmt *statement;
	int64_t number = -1;

	if (sqlite3_prepare_v2(handle, sql, -1, &statement, NULL) != SQLITE_OK)
		return -1;
	if (sqlite3_step(statement) == SQLITE_ROW)
		number = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return number;
}

static const char *wrong_of(sqlite3 *handle)
{
	int64_t merges = ask(handle, "SELECT ifnull(max(count), 0) FROM counter "
				     "WHERE name = 'merges'");

	if (ask(handle, "SELECT count(*) FROM pragma_integrity_check "
			"WHERE integrity_check <> 'ok'") != 0)
		return "integrity";
	if (ask(handle, "SELECT count(*) FROM pragma_foreign_key_check") != 0)
		return "foreign keys";
	if (merges < (int64_t)run.committed)
		return "a merge that was committed has gone";
	if (merges > (int64_t)run.begun)
		return "a merge that never was";
	if (ask(handle, "SELECT count(*) FROM epoch WHERE interrupts <> "
			"(SELECT ifnull(sum(samples), 0) FROM profile WHERE epoch = id) + "
			"(SELECT ifnull(sum(count), 0) FROM counter WHERE epoch = id AND "
			"counter_group = 'loss')") != 0)
		return "the identity";
	return NULL;
}

static int count_profile(void *context, const struct profile *profile)
{
	(void)profile;
	++*(unsigned int *)context;
	return 0;
}

/* Recover like the daemon, then check. @writer is needed because a reader changes nothing. */
static const char *check(const char *path)
{
	struct profile_writer *writer = NULL;
	struct profile_reader *reader = NULL;
	unsigned int profiles = 0;
	const char *wrong = NULL;
	sqlite3 *handle = NULL;

	if (access(path, F_OK) < 0)
		return run.committed == 0 ? NULL : "the file is not there";
	if (profile_writer_open(&writer, path, &err) < 0)
		return err.message;
	assert_int_equal(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READONLY, "unix"), SQLITE_OK);
	wrong = wrong_of(handle);
	sqlite3_close(handle);
	if (wrong == NULL && profile_reader_open(&reader, path, &err) < 0)
		wrong = err.message;
	if (wrong == NULL &&
	    profile_reader_profiles(reader, NULL, count_profile, &profiles, &err) < 0)
		wrong = err.message;
	profile_reader_close(reader);
	profile_writer_close(writer);
	return wrong;
}

/* Restore SQLite's default file system for the check. */
static void power_fails(void)
{
	const char *const names[] = {"cut.db", "cut.db-wal", "cut.db-shm", "cut.db-lock"};
	char path[192];
	const char *wrong;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", run.directory, names[i]);
		unlink(path);
	}
	power_cut_save(run.directory, &run.seed);
	sqlite3_vfs_register(sqlite3_vfs_find("unix"), 1);
	snprintf(path, sizeof(path), "%s/%s", run.directory, names[0]);
	wrong = check(path);
	sqlite3_vfs_register(sqlite3_vfs_find("power-cut"), 1);
	run.points++;
	run.failures += wrong != NULL;
	if (wrong != NULL && !run.may_fail)
		fail_msg("power failure %u, after change %llu and merge %llu: %s", run.points,
			 (unsigned long long)run.changes, (unsigned long long)run.committed, wrong);
}

static void before_change(void *context)
{
	uint64_t spread = *(uint64_t *)context;

	if (++run.changes < run.next)
		return;
	run.next = run.changes + 1 + unit_random(&run.seed) % (2 * spread);
	power_fails();
}

static uint64_t merge_image(struct profile_writer *writer, uint64_t merge)
{
	static struct profile_sample samples[400];
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE};
	uint64_t offset = 0, sum = 0;
	size_t count = 1 + unit_random(&run.seed) % 400, i;
	char path[64];
	int64_t id;

	/* Some images belong to one epoch only, so that they expire with it. */
	snprintf(path, sizeof(path), "/bin/%llu-%llu",
		 (unsigned long long)(unit_random(&run.seed) % IMAGES),
		 (unsigned long long)(merge % 2 ? merge / EPOCH_EVERY : 0));
	image.path = path;
	assert_ok(profile_writer_image(writer, &image, &id, &err));
	for (i = 0; i < count; i++) {
		offset += 1 + unit_random(&run.seed) % 3000;
		samples[i] = (struct profile_sample){offset, 1 + unit_random(&run.seed) % 9};
		sum += samples[i].count;
	}
	assert_ok(profile_writer_add(writer, id, 0, -1, samples, count, &err));
	return sum;
}

static void merge(struct profile_writer *writer, uint64_t *interrupts)
{
	struct profile_counter counters[] = {{"stat", "merges", ++run.begun}, {"loss", "x", 3}};
	uint64_t images = 1 + unit_random(&run.seed) % 6, i;

	assert_ok(profile_writer_begin(writer, &err));
	for (i = 0; i < images; i++)
		*interrupts += merge_image(writer, run.begun);
	assert_ok(profile_writer_totals(writer, (int64_t)run.begun * SECOND, *interrupts + 3,
					counters, 2, &err));
	assert_ok(profile_writer_commit(writer, &err));
	run.committed = run.begun;
}

/* Each new epoch gets the counter, so that the newest value never expires. */
static void epoch(struct profile_writer *writer, uint64_t *interrupts)
{
	struct profile_epoch next = model_epoch(0);

	next.start_ns = (int64_t)run.begun * SECOND;
	assert_ok(profile_writer_epoch_begin(writer, &next, model_events, 1, &err));
	*interrupts = 0;
	merge(writer, interrupts);
}

static void expire(struct profile_writer *writer)
{
	const struct profile_limits limits = {((int64_t)run.begun - 50) * SECOND, 300 << 10};
	struct profile_expired expired;
	int more = profile_writer_expire(writer, &limits, &expired, &err);

	assert_in_range(more, 0, 1);
}

/* @spread: mean number of changes between two power failures */
static void work(unsigned int points, uint64_t spread, bool lying)
{
	struct profile_writer *writer;
	uint64_t interrupts = 0;

	run.begun = run.committed = run.changes = run.points = run.failures = 0;
	run.next = 1;
	run.may_fail = lying;
	snprintf(run.directory, sizeof(run.directory), "%s", path_of(lying ? "lying-cut" : "cut"));
	assert_int_equal(mkdir(run.directory, 0700), 0);
	power_cut_register(before_change, &spread, lying);
	writer = open_writer(path_of(lying ? "lying/cut.db" : "run/cut.db"));
	epoch(writer, &interrupts);
	while (run.points < points) {
		if (run.begun % EPOCH_EVERY == EPOCH_EVERY - 1)
			epoch(writer, &interrupts);
		else
			merge(writer, &interrupts);
		if (run.begun % EXPIRE_EVERY == 0)
			expire(writer);
	}
	before_change(&spread);
	profile_writer_close(writer);
	power_cut_unregister();
}

static unsigned int points_wanted(void)
{
	const char *text = getenv("POINTS");

	return text != NULL ? (unsigned int)strtoul(text, NULL, 10) : 60;
}

static void test_survives(void **state)
{
	(void)state;
	assert_int_equal(mkdir(path_of("run"), 0700), 0);
	work(points_wanted(), 120, false);
	print_message("%u power failures, %llu merges, %llu changes\n", run.points,
		      (unsigned long long)run.committed, (unsigned long long)run.changes);
	assert_int_equal(run.failures, 0);
}

/* On a disk with false syncs data is lost, and this test detects it. */
static void test_sees_loss(void **state)
{
	(void)state;
	assert_int_equal(mkdir(path_of("lying"), 0700), 0);
	work(15, 120, true);
	assert_true(run.failures > 5);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_survives),
		cmocka_unit_test(test_sees_loss),
	};

	run.seed = 20;
	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
