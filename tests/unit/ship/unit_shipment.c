// SPDX-License-Identifier: GPL-2.0-only
/*
 * Batches of a database that is written, merged and expired at random, while dcpiship crashes and
 * loses its state. The destination, a list of slices, has every interrupt once: as a sample or as a
 * loss. If nothing expires, it has the samples themselves.
 */
#include "tests/fixtures/profile_db_fixture.h"

#include <errno.h>
#include <unistd.h>

#include "db/ship_state.h"
#include "ship/protocol.h"
#include "ship/ship_config.h"
#include "ship/shipment.h"

#define SECOND 1000000000LL
#define START (1767398103 * SECOND)
#define EPOCHS_MAX 64
#define SLICES_MAX 4096
#define RECORDS_MAX 256
#define PROGRAMS 8
#define STEPS 100

static struct error err;

/* struct record - a slice in a request. @checksum: sum of counts times a weight of their place */
struct record {
	uint8_t epoch[SHIP_UUID_BYTES];
	struct profile_slice slice;
	uint64_t samples;
	uint64_t lost;
	uint64_t checksum;
	bool live;
};

/*
 * The destination: all records that have arrived, the number of epochs whose rest has, and of
 * slices that were replaced.
 */
static struct record arrived[SLICES_MAX];
static size_t arrived_count;
static uint64_t rests, replaced;
/* Merged slices whose parts had arrived in part. */
static uint64_t merged;

/* The batch that is being made. */
static struct record records[RECORDS_MAX];
static size_t record_count;

/* Data that the program has written. */
static struct {
	uint64_t interrupts;
	uint64_t checksum;
	unsigned int epochs;
	struct profile_epoch epoch;
	uint64_t epoch_interrupts;
	uint64_t epoch_lost;
	int64_t now_ns;
	int64_t slice_ns;    /* start of the current slice */
	uint64_t in_slice;   /* its interrupts */
	int64_t pending_ns;  /* start of the slice with pending samples */
	uint64_t pending;    /* their number */
	uint64_t in_pending; /* interrupts of that slice */
	bool open;
} model;

static uint64_t weight(int64_t pid, uint64_t offset)
{
	return (offset + 1) * 2654435761ULL + (uint64_t)(pid + 2) * 40503ULL;
}

/* --- the protocol ------------------------------------------------------------- */

static int fake_create(void **data, const struct ship_config *config, struct error *error)
{
	(void)config, (void)error;
	*data = NULL;
	return 0;
}

static void fake_destroy(void *data)
{
	(void)data;
}

static bool same_slice(const struct record *record, const uint8_t *epoch,
		       const struct profile_slice *slice)
{
	return memcmp(record->epoch, epoch, SHIP_UUID_BYTES) == 0 &&
	       record->slice.start_ns == slice->start_ns && record->slice.end_ns == slice->end_ns;
}

static int fake_known(struct http_client *client, const struct ship_config *config,
		      const struct ship_epoch *epoch, profile_slice_fn visit, void *context,
		      struct http_response *response)
{
	(void)client, (void)config, (void)response;
	for (size_t i = 0; i < arrived_count; i++) {
		if (arrived[i].live && memcmp(arrived[i].epoch, epoch->uuid, SHIP_UUID_BYTES) == 0)
			assert_ok(visit(context, &arrived[i].slice));
	}
	return 0;
}

static int fake_begin(struct batch_builder *batch)
{
	(void)batch;
	record_count = 0;
	return 0;
}

static struct record *record_add(struct batch_builder *batch, const struct profile_slice *slice)
{
	struct record *record = &records[record_count++];

	assert_true(record_count <= RECORDS_MAX);
	memset(record, 0, sizeof(*record));
	memcpy(record->epoch, batch->known->uuid, SHIP_UUID_BYTES);
	record->slice = *slice;
	record->live = true;
	return record;
}

static int take_profile(void *context, const struct profile *profile)
{
	struct record *record = context;

	record->samples += profile->total;
	for (size_t i = 0; i < profile->count; i++)
		record->checksum += profile->samples[i].count *
				    weight(profile->pid, profile->samples[i].offset);
	return 0;
}

static int take_counter(void *context, const struct profile_counter *counter)
{
	struct record *record = context;

	if (strcmp(counter->group, "loss") == 0)
		record->lost += counter->count;
	return 0;
}

static int fake_slice(struct batch_builder *batch, const struct profile_epoch *part,
		      const struct profile_slice *slice)
{
	const struct profile_filter filter = {
		.epochs = &part->id,
		.epoch_count = 1,
		.since_ns = part->since_ns,
		.until_ns = part->until_ns,
	};
	struct record *record = record_add(batch, slice);

	assert_ok(profile_reader_counters(batch->reader, part, take_counter, record, batch->err));
	assert_ok(
		profile_reader_profiles(batch->reader, &filter, take_profile, record, batch->err));
	assert_int_equal(record->samples + record->lost, slice->interrupts);
	return 0;
}

static int fake_lost(struct batch_builder *batch, const struct profile_slice *slice,
		     const char *name)
{
	if (strcmp(name, "merged") == 0)
		merged++;
	else
		assert_string_equal(name, "expired");
	record_add(batch, slice)->lost = slice->interrupts;
	return 0;
}

static int fake_replace(struct batch_builder *batch, const struct profile_slice *slice)
{
	record_add(batch, slice)->live = false;
	replaced++;
	return 0;
}

static int fake_rest(struct batch_builder *batch)
{
	assert_false(batch->epoch->open);
	rests++;
	return 0;
}

static int fake_end(struct batch_builder *batch)
{
	const struct ship_request request = {
		.target = "records",
		.expect = "",
		.entries = record_count,
		.body = (const uint8_t *)records,
		.bytes = record_count * sizeof(*records),
	};

	return record_count > 0
		       ? ship_state_request_add(batch->state, batch->number, &request, batch->err)
		       : 0;
}

static const struct protocol protocol_fake = {
	.name = "fake",
	.create = fake_create,
	.destroy = fake_destroy,
	.known = fake_known,
	.begin = fake_begin,
	.slice = fake_slice,
	.lost = fake_lost,
	.replace = fake_replace,
	.rest = fake_rest,
	.end = fake_end,
};

/* A destination that can neither replace slices nor report which ones it has. */
static const struct protocol protocol_without_replace = {
	.name = "without replace",
	.create = fake_create,
	.destroy = fake_destroy,
	.begin = fake_begin,
	.slice = fake_slice,
	.lost = fake_lost,
	.rest = fake_rest,
	.end = fake_end,
};

static const struct protocol *protocol = &protocol_fake;

/* A record arrives. A slice is the same whenever it arrives, and one that is not live stays so. */
static void arrive(const struct record *record)
{
	for (size_t i = 0; i < arrived_count; i++) {
		if (!same_slice(&arrived[i], record->epoch, &record->slice))
			continue;
		assert_int_equal(arrived[i].slice.interrupts, record->slice.interrupts);
		if (record->live)
			assert_int_equal(arrived[i].checksum, record->checksum);
		arrived[i].live &= record->live;
		return;
	}
	assert_true(record->live && arrived_count < SLICES_MAX);
	arrived[arrived_count++] = *record;
}

/* --- the database ------------------------------------------------------------- */

static void epoch_begin(struct profile_writer *writer)
{
	model.epoch = model_epoch(0);
	model.now_ns += SECOND;
	model.epoch.start_ns = model.slice_ns = model.now_ns;
	model.epoch_interrupts = model.epoch_lost = model.in_slice = model.pending = 0;
	assert_ok(profile_writer_epoch_begin(writer, &model.epoch, model_events, 1, &err));
	model.open = true;
	model.epochs++;
}

static void totals_write(struct profile_writer *writer)
{
	const struct profile_counter counters[] = {
		{"loss", "ring_full", model.epoch_lost},
		{"loss", "pending", model.pending},
	};

	assert_ok(profile_writer_totals(writer, model.now_ns, model.epoch_interrupts, counters, 2,
					&err));
}

static void slice_totals(struct profile_writer *writer, int64_t start_ns, int64_t end_ns,
			 uint64_t interrupts, uint64_t pending)
{
	const struct profile_slice slice = {.end_ns = end_ns, .interrupts = interrupts};
	const struct profile_counter counter = {"loss", "pending", pending};
	int64_t id = 0;

	assert_ok(profile_writer_slice(writer, start_ns, &id, &err));
	assert_ok(profile_writer_slice_set(writer, id, &slice, &counter, 1, &err));
}

static void samples_write(struct profile_writer *writer, int64_t slice_ns, uint64_t count,
			  uint64_t *seed)
{
	const struct profile_sample sample = {model_offset(unit_random(seed) % 8), count};
	int64_t pid = model_pids[unit_random(seed) % MODEL_PIDS], slice = 0, image = 0;
	struct profile_image description;
	char path[64];

	model_image(1 + (unsigned int)(unit_random(seed) % 3), &description, path, sizeof(path));
	assert_ok(profile_writer_image(writer, &description, &image, &err));
	assert_ok(profile_writer_add(writer, image, 0, pid, &sample, 1, &err));
	assert_ok(profile_writer_slice(writer, slice_ns, &slice, &err));
	assert_ok(profile_writer_slice_add(writer, slice, image, 0, pid, &sample, 1, &err));
	model.checksum += count * weight(pid, sample.offset);
}

/* The samples that were pending are stored. */
static void pending_write(struct profile_writer *writer, uint64_t *seed)
{
	uint64_t count = model.pending;

	if (count == 0)
		return;
	model.pending = 0;
	samples_write(writer, model.pending_ns, count, seed);
	slice_totals(writer, model.pending_ns, model.pending_ns + 10 * SECOND, model.in_pending, 0);
}

static void loss_write(struct profile_writer *writer, uint64_t count)
{
	int64_t slice = 0;

	assert_ok(profile_writer_slice(writer, model.slice_ns, &slice, &err));
	assert_ok(profile_writer_slice_count(writer, slice, "loss", "ring_full", count, &err));
	model.epoch_lost += count;
}

/* Merge samples into the current slice, and sometimes begin the next one. */
static void step_write(struct profile_writer *writer, uint64_t *seed)
{
	uint64_t count = 1 + unit_random(seed) % 100, kind = unit_random(seed) % 8;

	if (!model.open)
		epoch_begin(writer);
	assert_ok(profile_writer_begin(writer, &err));
	pending_write(writer, seed);
	model.interrupts += count;
	model.epoch_interrupts += count;
	model.in_slice += count;
	model.now_ns += SECOND;
	if (kind == 0) {
		loss_write(writer, count);
	} else if (kind == 1) {
		model.pending = count;
		model.pending_ns = model.slice_ns;
		model.in_pending = model.in_slice;
	} else {
		samples_write(writer, model.slice_ns, count, seed);
	}
	slice_totals(writer, model.slice_ns, model.slice_ns + 10 * SECOND, model.in_slice,
		     model.pending);
	if (unit_random(seed) % 2 == 0 || model.pending > 0) {
		model.slice_ns += 10 * SECOND;
		model.now_ns = model.slice_ns;
		model.in_slice = 0;
	}
	totals_write(writer);
	assert_ok(profile_writer_commit(writer, &err));
}

static void step_end(struct profile_writer *writer, uint64_t *seed)
{
	if (!model.open)
		return;
	assert_ok(profile_writer_begin(writer, &err));
	pending_write(writer, seed);
	model.now_ns += 10 * SECOND;
	totals_write(writer);
	assert_ok(profile_writer_commit(writer, &err));
	assert_ok(profile_writer_epoch_end(writer, model.now_ns, &err));
	model.open = false;
}

/* Merge slices, by age or completely. */
static void step_merge(struct profile_writer *writer, uint64_t *seed)
{
	const struct profile_slice_limits limits = {
		.now_ns = model.now_ns,
		.before_ns = model.pending > 0 ? model.pending_ns : model.slice_ns,
		.age_ns = {20 * SECOND, 200 * SECOND, 2000 * SECOND},
		.percent = unit_random(seed) % 8 == 0 ? 1 : 0,
	};
	int r;

	while ((r = profile_writer_slices_merge(writer, &limits, &err)) == 1)
		;
	assert_ok(r);
}

static void step_expire(struct profile_writer *writer, uint64_t *seed)
{
	const struct profile_limits limits = {.before_ns = model.now_ns - 100 * SECOND};
	struct profile_expired expired;

	for (uint64_t i = unit_random(seed) % 12; i > 0; i--)
		assert_true(profile_writer_expire(writer, &limits, &expired, &err) >= 0);
}

/* --- dcpiship ----------------------------------------------------------------- */

/* A process: its state file is opened, up to three batches are made and delivered, and it ends. */
struct process {
	struct ship_config config;
	struct ship_state *state;
	struct shipment *shipment;
};

static void process_start(struct process *process)
{
	memset(process, 0, sizeof(*process));
	snprintf(process->config.db, sizeof(process->config.db), "%s", path_of("db"));
	assert_ok(ship_state_open(&process->state, path_of("state"), false, &err));
	assert_ok(shipment_create(&process->shipment, &process->config, protocol, process->state,
				  NULL, &err));
}

static void process_end(struct process *process)
{
	shipment_destroy(process->shipment);
	ship_state_close(process->state);
}

/* Deliver the oldest batch. @lost: the response is lost, so that the batch stays */
static int batch_deliver(struct process *process, bool lost)
{
	struct ship_request request;
	struct ship_batch batch;
	int r = ship_state_batch(process->state, &batch, &err);

	assert_true(r >= 0);
	if (r == 0)
		return 0;
	r = ship_state_request(process->state, batch.number, 0, &request, &err);
	assert_true(r >= 0);
	if (r > 0) {
		assert_int_equal(request.bytes, request.entries * sizeof(struct record));
		for (size_t i = 0; i < request.entries; i++)
			arrive((const struct record *)(const void *)request.body + i);
		if (lost)
			return 1;
		assert_ok(ship_state_request_sent(process->state, request.sequence, true, &err));
	}
	assert_ok(ship_state_batch_delivered(process->state, batch.number, &err));
	return 1;
}

static void step_ship(struct process *process, uint64_t *seed)
{
	struct http_response response;
	int r = 0;

	while (batch_deliver(process, unit_random(seed) % 4 == 0) > 0) {
		if (unit_random(seed) % 4 == 0)
			return;
	}
	r = shipment_prepare(process->shipment, &response, &err);
	if (r < 0)
		fail_msg("%s", err.message);
}

static void step_crash(struct process *process)
{
	process_end(process);
	process_start(process);
}

/* The state file is lost when nothing waits for delivery: what waits would be lost with it. */
static void step_lose_state(struct process *process)
{
	while (batch_deliver(process, false) > 0)
		;
	process_end(process);
	unlink(path_of("state"));
	process_start(process);
}

static void ship_all(struct process *process)
{
	struct http_response response;
	int r = 1;

	while (r > 0) {
		while (batch_deliver(process, false) > 0)
			;
		r = shipment_prepare(process->shipment, &response, &err);
		assert_true(r >= 0);
	}
}

static void check_arrived(bool expires)
{
	uint64_t interrupts = 0, counted = 0, checksum = 0, lost = 0;

	for (size_t i = 0; i < arrived_count; i++) {
		if (!arrived[i].live)
			continue;
		interrupts += arrived[i].slice.interrupts;
		counted += arrived[i].samples + arrived[i].lost;
		checksum += arrived[i].checksum;
		lost += arrived[i].lost;
	}
	assert_int_equal(interrupts, model.interrupts);
	assert_int_equal(counted, model.interrupts);
	if (!expires && protocol->replace != NULL)
		assert_int_equal(checksum, model.checksum);
	assert_true(lost <= model.interrupts);
}

static void program_begin(struct profile_writer **writer, struct process *process)
{
	memset(&model, 0, sizeof(model));
	model.now_ns = START;
	arrived_count = 0;
	unlink(path_of("state"));
	unlink(path_of("db"));
	assert_ok(profile_writer_open(writer, path_of("db"), &err));
	process_start(process);
}

static void program_end(struct profile_writer *writer, struct process *process)
{
	process_end(process);
	profile_writer_close(writer);
}

/*
 * Run a random program; @expires: epochs are deleted, otherwise the state is lost if the protocol
 * permits that.
 */
static void run_program(uint64_t seed, bool expires)
{
	struct profile_writer *writer = NULL;
	struct process process;

	program_begin(&writer, &process);
	for (int i = 0; i < STEPS; i++) {
		uint64_t kind = unit_random(&seed) % 32;

		if (kind < 16)
			step_write(writer, &seed);
		else if (kind < 22)
			step_merge(writer, &seed);
		else if (kind < 23)
			step_end(writer, &seed);
		else if (kind < 28)
			step_ship(&process, &seed);
		else if (kind < 30)
			step_crash(&process);
		else if (!expires && protocol->known != NULL)
			step_lose_state(&process);
		else if (expires)
			/* An epoch that dcpiship has never seen leaves no trace. */
			ship_all(&process), step_expire(writer, &seed);
	}
	step_end(writer, &seed);
	ship_all(&process);
	check_arrived(expires);
	program_end(writer, &process);
}

static void test_delivers_each_interrupt_once(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < PROGRAMS; i++)
		run_program(i, false);
	assert_true(rests > PROGRAMS && replaced > 0);
}

static void test_delivers_once_without_replacing(void **state)
{
	(void)state;
	protocol = &protocol_without_replace;
	for (uint64_t i = 0; i < PROGRAMS; i++)
		run_program(2000 + i, false);
	protocol = &protocol_fake;
	assert_true(merged > 0);
}

static void test_skips_expired_epochs(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < PROGRAMS; i++)
		run_program(1000 + i, true);
}

/* Delete an epoch, up to a number of steps, after one of its batches was made. */
static void expire_in_the_middle(int steps)
{
	const struct profile_limits limits = {.before_ns = INT64_MAX};
	struct profile_writer *writer = NULL;
	struct profile_expired expired;
	struct http_response response;
	struct process process;
	uint64_t seed = 7, before = 0;

	program_begin(&writer, &process);
	while (model.slice_ns < START + 1000 * SECOND)
		step_write(writer, &seed);
	step_end(writer, &seed);
	assert_int_equal(shipment_prepare(process.shipment, &response, &err), 1);
	for (size_t i = 0; i < record_count; i++)
		before += records[i].slice.interrupts;
	assert_true(before > 0 && before < model.interrupts);
	for (int i = 0; i < steps; i++)
		assert_true(profile_writer_expire(writer, &limits, &expired, &err) >= 0);
	ship_all(&process);
	check_arrived(true);
	assert_true(arrived[arrived_count - 1].lost >= model.interrupts - before);
	program_end(writer, &process);
}

static void test_delivers_expired_samples_as_loss(void **state)
{
	(void)state;
	for (int steps = 1; steps < 400; steps = steps * 3 + 1)
		expire_in_the_middle(steps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_delivers_each_interrupt_once, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_delivers_once_without_replacing, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_skips_expired_epochs, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_delivers_expired_samples_as_loss,
						fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
