// SPDX-License-Identifier: GPL-2.0-only
/* Merged databases hold the union of their sources, also after interrupted merges. */
#include "tests/fixtures/profile_db_fixture.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include "db/profile_merge.h"

#define SOURCES 3
#define KILLS 12

static struct error err;
/* By source; epochs of the sources have different start times. */
static struct model wanted[SOURCES], seen[SOURCES];
static uint64_t edges_wanted;

static int64_t start_of(unsigned int source, unsigned int epoch)
{
	return 1000000000LL * (epoch + 1) + source;
}

/* Images have another order, and thus other numbers, in each source. */
static uint64_t fill_epoch(struct profile_writer *writer, uint64_t *state, struct model *model,
			   unsigned int source, unsigned int epoch)
{
	uint64_t samples = 0;

	for (unsigned int n = 0; n < 24; n++) {
		unsigned int i = (unsigned int)(unit_random(state) % MODEL_IMAGES);
		unsigned int event = (unsigned int)(unit_random(state) % MODEL_EVENTS);
		unsigned int pid = (unsigned int)(unit_random(state) % MODEL_PIDS);
		unsigned int place = (unsigned int)(unit_random(state) % MODEL_OFFSETS);
		struct profile_sample sample = {model_offset(place), 1 + unit_random(state) % 9};
		struct profile_process process = {.command = "task"};
		const struct profile_symbol symbol = {4, 8, i % 2 ? "odd" : "even"};
		struct profile_image image;
		char path[64];
		int64_t id = 0;

		model_image(i, &image, path, sizeof(path));
		assert_ok(profile_writer_image(writer, &image, &id, &err));
		assert_ok(profile_writer_symbols(writer, id, &symbol, 1, &err));
		assert_ok(profile_writer_add(writer, id, event, model_pids[pid], &sample, 1, &err));
		assert_ok(numbered_edge(writer, id, source * 100 + n, &err));
		process.pid = model_pids[pid];
		assert_ok(profile_writer_process(writer, &process, &err));
		edges_wanted++;
		model->count[epoch][i][event][pid][place] += sample.count;
		samples += sample.count;
	}
	return samples;
}

static void write_source(const char *path, unsigned int source, uint64_t *state)
{
	const struct profile_counter loss = {"loss", "ring_full", 7};
	struct profile_writer *writer = NULL;

	assert_ok(profile_writer_open(&writer, path, &err));
	for (unsigned int e = 0; e < MODEL_EPOCHS; e++) {
		struct profile_epoch epoch = model_epoch(e);
		uint64_t samples;

		epoch.start_ns = start_of(source, e);
		assert_ok(profile_writer_epoch_begin(writer, &epoch, model_events, MODEL_EVENTS,
						     &err));
		assert_ok(profile_writer_begin(writer, &err));
		samples = fill_epoch(writer, state, &wanted[source], source, e);
		assert_ok(profile_writer_event_time(writer, 1, 1000 + e, 500 + source, &err));
		assert_ok(profile_writer_totals(writer, epoch.start_ns + 5, samples + 7, &loss, 1,
						&err));
		assert_ok(profile_writer_commit(writer, &err));
		assert_ok(profile_writer_epoch_end(writer, epoch.start_ns + 9, &err));
	}
	profile_writer_close(writer);
}

static const char *source_path(unsigned int source)
{
	char name[16];

	snprintf(name, sizeof(name), "source%u.db", source);
	return path_of(name);
}

static void write_sources(uint64_t seed)
{
	memset(wanted, 0, sizeof(wanted));
	edges_wanted = 0;
	for (unsigned int s = 0; s < SOURCES; s++)
		write_source(source_path(s), s, &seed);
}

static int merge_into(const char *path, unsigned int source, struct profile_merge_counts *counts)
{
	struct profile_writer *writer = NULL;
	struct profile_reader *reader = NULL;
	int r;

	assert_ok(profile_reader_open(&reader, source_path(source), &err));
	assert_ok(profile_writer_open(&writer, path, &err));
	r = profile_merge(writer, reader, NULL, NULL, counts, &err);
	profile_writer_close(writer);
	profile_reader_close(reader);
	return r;
}

/* State of a walk over the merged epochs. */
struct look {
	struct profile_reader *reader;
	unsigned int source;
	unsigned int epoch;
	uint64_t samples;
	uint64_t losses;
	uint64_t edges;
	unsigned int events;
	unsigned int epochs;
};

static unsigned int index_of_pid(int64_t pid)
{
	for (unsigned int i = 0; i < MODEL_PIDS; i++) {
		if (model_pids[i] == pid)
			return i;
	}
	fail_msg("a process that never was");
	return 0;
}

static int look_profile(void *context, const struct profile *profile)
{
	struct look *look = context;
	struct profile_symbols symbols;
	struct profile_image image, want;
	unsigned int i = 0, pid = index_of_pid(profile->pid), place = 0;
	char path[64], command[16];

	assert_ok(profile_reader_image(look->reader, profile->image, &image, &err));
	assert_int_equal(sscanf(image.path, "/usr/lib/image-%u.so", &i), 1);
	model_image(i, &want, path, sizeof(path));
	assert_int_equal(image.kind, want.kind);
	assert_int_equal(image.identity_kind, want.identity_kind);
	assert_memory_equal(image.identity, want.identity, sizeof(want.identity));
	assert_string_equal(profile->event_name, model_events[profile->event].name);
	assert_ok(profile_reader_symbols(look->reader, profile->image, &symbols, &err));
	assert_int_equal(symbols.count, 1);
	assert_string_equal(symbols.symbols[0].name, i % 2 ? "odd" : "even");
	profile_symbols_deinit(&symbols);
	assert_ok(profile_reader_command(look->reader, profile->epoch, profile->pid, command,
					 sizeof(command), &err));
	assert_string_equal(command, "task");
	for (size_t n = 0; n < profile->count; n++) {
		while (model_offset(place) != profile->samples[n].offset)
			assert_true(++place < MODEL_OFFSETS);
		seen[look->source].count[look->epoch][i][profile->event][pid][place] +=
			profile->samples[n].count;
	}
	look->samples += profile->total;
	return 0;
}

static int look_counter(void *context, const struct profile_counter *counter)
{
	struct look *look = context;

	assert_string_equal(counter->name, "ring_full");
	look->losses += counter->count;
	return 0;
}

static int look_event(void *context, const struct profile_event *event)
{
	struct look *look = context;

	assert_int_equal(event->period_max, model_events[event->number].period_max);
	assert_string_equal(event->unit, model_events[event->number].unit);
	assert_int_equal(event->enabled_ns, event->number == 1 ? 1000 + look->epoch : 0);
	assert_int_equal(event->running_ns, event->number == 1 ? 500 + look->source : 0);
	look->events++;
	return 0;
}

static int look_epoch(void *context, const struct profile_epoch *epoch)
{
	const struct profile_filter filter = {.epochs = &epoch->id, .epoch_count = 1};
	struct look *look = context;
	struct profile_epoch want;

	look->source = (unsigned int)(epoch->start_ns % 1000000000);
	look->epoch = (unsigned int)(epoch->start_ns / 1000000000) - 1;
	assert_true(look->source < SOURCES && look->epoch < MODEL_EPOCHS);
	want = model_epoch(look->epoch);
	assert_string_equal(epoch->host, want.host);
	assert_string_equal(epoch->machine_id, want.machine_id);
	assert_string_equal(epoch->label, want.label);
	assert_int_equal(epoch->end_ns, epoch->start_ns + 9);
	assert_int_equal(epoch->open, 0);
	look->samples = look->losses = look->events = 0;
	assert_ok(profile_reader_profiles(look->reader, &filter, look_profile, look, &err));
	assert_ok(profile_reader_counters(look->reader, epoch, look_counter, look, &err));
	assert_ok(profile_reader_events(look->reader, epoch->id, look_event, look, &err));
	assert_ok(profile_reader_edges(look->reader, &filter, numbered_edges_sum, &look->edges,
				       &err));
	assert_int_equal(look->events, MODEL_EVENTS);
	assert_int_equal(epoch->interrupts, look->samples + look->losses);
	look->epochs++;
	return 0;
}

/* Read all data, which must consist of complete epochs. Return: their number. */
static unsigned int look_at(const char *path, struct look *look)
{
	memset(seen, 0, sizeof(seen));
	memset(look, 0, sizeof(*look));
	assert_ok(profile_reader_open(&look->reader, path, &err));
	assert_ok(profile_reader_epochs(look->reader, NULL, look_epoch, look, &err));
	profile_reader_close(look->reader);
	return look->epochs;
}

static void check_union(const char *path)
{
	struct look look;

	assert_int_equal(look_at(path, &look), SOURCES * MODEL_EPOCHS);
	assert_memory_equal(seen, wanted, sizeof(wanted));
	assert_int_equal(look.edges, edges_wanted);
}

static void sql(const char *path, const char *text, const char *want)
{
	sqlite3_stmt *statement = NULL;
	sqlite3 *handle = NULL;

	assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(handle, text, -1, &statement, NULL), SQLITE_OK);
	if (want == NULL) {
		assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
	} else {
		assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
		assert_string_equal((const char *)sqlite3_column_text(statement, 0), want);
	}
	sqlite3_finalize(statement);
	sqlite3_close(handle);
}

static void test_union(void **state)
{
	struct profile_merge_counts counts = {0};
	const char *out = path_of("union.db");

	(void)state;
	write_sources(1);
	for (unsigned int s = 0; s < SOURCES; s++)
		assert_ok(merge_into(out, s, &counts));
	assert_int_equal(counts.epochs[PROFILE_MERGE_DONE], SOURCES * MODEL_EPOCHS);
	/* Two of them have no identity: each of the two hosts has separate ones. */
	assert_int_equal(counts.images, MODEL_IMAGES + 2);
	check_union(out);
	memset(&counts, 0, sizeof(counts));
	for (unsigned int s = 0; s < SOURCES; s++)
		assert_ok(merge_into(out, s, &counts));
	assert_int_equal(counts.epochs[PROFILE_MERGE_DONE], 0);
	assert_int_equal(counts.epochs[PROFILE_MERGE_KNOWN], SOURCES * MODEL_EPOCHS);
	assert_int_equal(counts.images, 0);
	check_union(out);
}

static void test_refused(void **state)
{
	struct profile_merge_counts counts = {0};
	const char *out = path_of("refused.db");
	struct look look;

	(void)state;
	assert_int_equal(merge_into(source_path(0), 0, &counts), -EINVAL);
	sql(source_path(0), "UPDATE epoch SET open = 1 WHERE id = 1", NULL);
	sql(source_path(0), "UPDATE profile SET data = zeroblob(9) WHERE epoch = 3", NULL);
	assert_int_equal(merge_into(out, 0, &counts), -EBADMSG);
	assert_int_equal(counts.epochs[PROFILE_MERGE_OPEN], 1);
	assert_int_equal(look_at(out, &look), 1);
	sql(source_path(0), "DELETE FROM profile WHERE epoch = 3", NULL);
	assert_int_equal(merge_into(out, 0, &counts), -EBADMSG);
	assert_int_equal(look_at(out, &look), 1);
	sql(out, "PRAGMA foreign_key_check", NULL);
	sql(out, "UPDATE epoch SET interrupts = 1", NULL);
	assert_int_equal(merge_into(out, 0, &counts), -EBADMSG);
	assert_int_equal(counts.epochs[PROFILE_MERGE_DIFFERS], 1);
}

/*
 * If a merge is killed at any time, the target has complete epochs, and another merge completes it.
 */
static void kill_once(const char *out, useconds_t after_us)
{
	struct profile_merge_counts counts = {0};
	struct look look;
	pid_t child;

	assert_ok(merge_into(out, 0, &counts));
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		for (unsigned int s = 1; s < SOURCES; s++)
			merge_into(out, s, &counts);
		_exit(0);
	}
	usleep(after_us);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	sql(out, "PRAGMA integrity_check", "ok");
	sql(out, "PRAGMA foreign_key_check", NULL);
	assert_true(look_at(out, &look) >= MODEL_EPOCHS);
	for (unsigned int s = 1; s < SOURCES; s++)
		assert_ok(merge_into(out, s, &counts));
	check_union(out);
}

static void test_killed(void **state)
{
	uint64_t random = 5;
	char name[16];

	(void)state;
	for (unsigned int s = 0; s < SOURCES; s++)
		unlink(source_path(s));
	write_sources(2);
	for (unsigned int n = 0; n < KILLS; n++) {
		snprintf(name, sizeof(name), "killed%u.db", n);
		kill_once(path_of(name), (useconds_t)(unit_random(&random) % 40000));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_union),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_killed),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
