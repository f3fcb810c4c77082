// SPDX-License-Identifier: GPL-2.0-only
/*
 * dcpiimport compared with a model of processes and their mappings, and with files that perf never
 * writes. (tests/cli/cli_dcpiimport.sh compares with perf report.)
 */
#include "tests/lib/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/import/import.h"
#include "db/profile_read.h"
#include "db/profile_write.h"
#include "lib/error.h"
#include "tests/fixtures/perfdata_writer.h"

#define PROCESSES 8
#define SLOTS 4
#define SLOT_BYTES 0x10000
#define IMAGES 5
#define CPUS 3
#define STEPS 4000
/* Number of different offsets: enough to detect a wrong mapping. */
#define OFFSETS 32
#define NOTHING 0

struct fixture {
	char db[64];
	char file[32];
	int fd;
	struct profile_writer *writer;
	struct import_result result;
	struct error err;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	snprintf(fixture->db, sizeof(fixture->db), "/tmp/unit_import.%d.db", getpid());
	assert_int_equal(profile_writer_open(&fixture->writer, fixture->db, &fixture->err), 0);
	fixture->fd = memfd_create("perf.data", 0);
	assert_true(fixture->fd >= 0);
	snprintf(fixture->file, sizeof(fixture->file), "/proc/self/fd/%d", fixture->fd);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	static const char *const suffixes[] = {"", "-lock", "-wal", "-shm"};
	struct fixture *fixture = *state;
	char path[80];

	profile_writer_close(fixture->writer);
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", fixture->db, suffixes[i]);
		unlink(path);
	}
	close(fixture->fd);
	free(fixture);
	return 0;
}

static int import_bytes(struct fixture *fixture, const void *bytes, size_t count)
{
	assert_int_equal(ftruncate(fixture->fd, 0), 0);
	assert_int_equal(pwrite(fixture->fd, bytes, count, 0), (ssize_t)count);
	return import_file(fixture->writer, fixture->file, NULL, &fixture->result, &fixture->err);
}

static int import(struct fixture *fixture, struct perfdata_writer *writer)
{
	perfdata_writer_end(writer);
	return import_bytes(fixture, writer->bytes, writer->used);
}

/* Samples by image (its build-id's first byte; 0: unknown) and offset. */
struct counts {
	uint64_t of[IMAGES + 1][OFFSETS];
	struct profile_reader *reader;
	uint64_t sum;
};

static int count_profile(void *context, const struct profile *profile)
{
	struct counts *counts = context;
	struct profile_image image;
	struct error err;

	assert_int_equal(profile_reader_image(counts->reader, profile->image, &image, &err), 0);
	for (size_t i = 0; i < profile->count; i++) {
		unsigned int number = image.kind == PROFILE_IMAGE_UNKNOWN ? 0 : image.identity[0];

		assert_true(number <= IMAGES && profile->samples[i].offset < OFFSETS);
		counts->of[number][profile->samples[i].offset] += profile->samples[i].count;
		counts->sum += profile->samples[i].count;
	}
	return 0;
}

static int add_loss(void *context, const struct profile_counter *counter)
{
	if (strcmp(counter->group, "loss") == 0)
		*(uint64_t *)context += counter->count;
	return 0;
}

static int check_identity(void *context, const struct profile_epoch *epoch)
{
	struct counts *counts = context;
	uint64_t losses = 0;
	struct error err;

	assert_int_equal(profile_reader_counters(counts->reader, epoch, add_loss, &losses, &err),
			 0);
	assert_int_equal(epoch->interrupts, counts->sum + losses);
	assert_false(epoch->open);
	return 0;
}

/* Read the samples of an epoch and check its identity. */
static void read_epoch(const struct fixture *fixture, struct counts *counts)
{
	const struct profile_filter filter = {.epochs = &fixture->result.epoch, .epoch_count = 1};
	struct error err;

	memset(counts, 0, sizeof(*counts));
	assert_int_equal(profile_reader_open(&counts->reader, fixture->db, &err), 0);
	assert_int_equal(
		profile_reader_profiles(counts->reader, &filter, count_profile, counts, &err), 0);
	assert_int_equal(
		profile_reader_epochs(counts->reader, &filter, check_identity, counts, &err), 0);
	profile_reader_close(counts->reader);
}

/* A process: the image mapped in each slot, 0: none; @base: its offset. */
struct process {
	bool alive;
	uint8_t image[SLOTS];
	uint64_t base[SLOTS];
};

struct model {
	uint64_t seed;
	struct process processes[PROCESSES];
	struct counts want;
	struct perfdata_writer cpus[CPUS];
	uint64_t time_ns;
};

static uint32_t below(struct model *model, uint32_t limit)
{
	return (uint32_t)(unit_random(&model->seed) % limit);
}

static uint64_t slot_start(unsigned int slot)
{
	return 0x400000 + (uint64_t)slot * SLOT_BYTES;
}

static void model_sample(struct model *model, struct perfdata_writer *cpu, uint32_t i)
{
	const struct process *process = &model->processes[i];
	unsigned int slot = below(model, SLOTS);
	uint64_t inside = below(model, 16), offset = process->base[slot] + inside;

	perfdata_writer_sample(cpu, PERF_RECORD_MISC_USER, 1, 100 + i, model->time_ns,
			       slot_start(slot) + inside, 1000);
	if (process->image[slot] == NOTHING)
		model->want.of[0][0]++;
	else
		model->want.of[process->image[slot]][offset]++;
}

static void model_map(struct model *model, struct perfdata_writer *cpu, uint32_t i)
{
	struct process *process = &model->processes[i];
	unsigned int slot = below(model, SLOTS);

	process->image[slot] = (uint8_t)(1 + below(model, IMAGES));
	process->base[slot] = below(model, 2) * 16;
	perfdata_writer_map(cpu, 100 + i, model->time_ns, slot_start(slot), SLOT_BYTES,
			    process->base[slot], process->image[slot]);
}

/* A process forks, starts, or ends; it may start again under its id. */
static void model_task(struct model *model, struct perfdata_writer *cpu, uint32_t i)
{
	struct process *process = &model->processes[i];
	uint32_t parent = below(model, PROCESSES);

	if (process->alive) {
		perfdata_writer_task(cpu, PERF_RECORD_EXIT, 100 + i, 1, model->time_ns);
		process->alive = false;
		return;
	}
	if (parent != i && model->processes[parent].alive)
		*process = model->processes[parent];
	else
		*process = (struct process){.alive = true};
	perfdata_writer_task(cpu, PERF_RECORD_FORK, 100 + i,
			     parent != i && model->processes[parent].alive ? 100 + parent : 1,
			     model->time_ns);
}

static void model_step(struct model *model)
{
	struct perfdata_writer *cpu = &model->cpus[below(model, CPUS)];
	uint32_t i = below(model, PROCESSES), what = below(model, 20);

	model->time_ns += 1 + below(model, 50);
	if (!model->processes[i].alive || what == 0) {
		model_task(model, cpu, i);
	} else if (what == 1) {
		memset(&model->processes[i], 0, sizeof(model->processes[i]));
		model->processes[i].alive = true;
		perfdata_writer_exec(cpu, 100 + i, model->time_ns);
	} else if (what < 5) {
		model_map(model, cpu, i);
	} else {
		model_sample(model, cpu, i);
	}
}

/*
 * Move the records of the CPUs to the file, one CPU after another. Unless @was_all, the model
 * continues meanwhile, so that a later CPU has records from after those that an earlier one keeps
 * for the next round.
 */
static void model_round(struct model *model, struct perfdata_writer *file, bool was_all)
{
	for (unsigned int i = 0; i < CPUS; i++) {
		struct perfdata_writer *cpu = &model->cpus[i];

		for (uint32_t n = was_all ? 0 : below(model, 20); n > 0; n--)
			model_step(model);

		for (size_t at = 0; at < cpu->used;) {
			const struct perf_event_header *record =
				(const struct perf_event_header *)(cpu->bytes + at);

			perfdata_writer_record(file, record->type, record->misc, record + 1,
					       record->size - sizeof(*record), 0, 0);
			at += record->size;
		}
		cpu->used = 0;
	}
	perfdata_writer_round(file);
}

static void is_the_model(void **state)
{
	struct fixture *fixture = *state;

	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct model model = {.seed = seed, .time_ns = 1000};
		struct perfdata_writer file = {0};
		struct counts got;

		perfdata_writer_begin(&file, 1, 0);
		for (int i = 0; i < STEPS; i++) {
			model_step(&model);
			if (below(&model, 100) == 0)
				model_round(&model, &file, false);
		}
		model_round(&model, &file, true);
		assert_int_equal(import(fixture, &file), 0);
		read_epoch(fixture, &got);
		assert_memory_equal(got.of, model.want.of, sizeof(got.of));
		assert_int_equal(fixture->result.unknown, model.want.of[0][0]);
		assert_int_equal(fixture->result.late, 0);
		perfdata_writer_free(&file);
		for (unsigned int i = 0; i < CPUS; i++)
			perfdata_writer_free(&model.cpus[i]);
	}
}

static void write_file(const char *folder, const char *name, const struct perfdata_writer *writer)
{
	char path[96];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(writer->used == 0 || fwrite(writer->bytes, writer->used, 1, file) == 1);
	assert_int_equal(fclose(file), 0);
}

static void remove_file(const char *folder, const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	unlink(path);
}

/* perf record --threads: a file of each CPU, which are in rounds of their own. */
static void is_the_model_in_files(void **state)
{
	static const char *const names[CPUS] = {"data.0", "data.1", "data.2"};
	struct fixture *fixture = *state;
	struct model model = {.seed = 77, .time_ns = 1000};
	struct perfdata_writer file = {0};
	struct counts got;
	char folder[64];

	snprintf(folder, sizeof(folder), "/tmp/unit_import.%d.data", getpid());
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(
		import_file(fixture->writer, folder, NULL, &fixture->result, &fixture->err),
		-EMEDIUMTYPE);
	perfdata_writer_begin(&file, 1, 0);
	perfdata_writer_round(&file);
	perfdata_writer_end(&file);
	write_file(folder, "data", &file);
	for (int i = 0; i < STEPS; i++) {
		model_step(&model);
		if (below(&model, 100) == 0)
			perfdata_writer_round(&model.cpus[below(&model, CPUS)]);
	}
	for (unsigned int i = 0; i < CPUS; i++)
		write_file(folder, names[i], &model.cpus[i]);
	assert_int_equal(
		import_file(fixture->writer, folder, NULL, &fixture->result, &fixture->err), 0);
	read_epoch(fixture, &got);
	assert_memory_equal(got.of, model.want.of, sizeof(got.of));
	assert_int_equal(fixture->result.late, 0);
	assert_false(fixture->result.cut_off);
	perfdata_writer_free(&file);
	for (unsigned int i = 0; i < CPUS; i++) {
		perfdata_writer_free(&model.cpus[i]);
		remove_file(folder, names[i]);
	}
	remove_file(folder, "data");
	assert_int_equal(rmdir(folder), 0);
}

/* Losses are reported by cause. */
static void losses_have_names(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t lost[2] = {7, 100}, lost_samples = 30, lost_images = 5;
	struct perfdata_writer file = {0};
	struct counts got;

	perfdata_writer_begin(&file, 2, 1);
	perfdata_writer_task(&file, PERF_RECORD_FORK, 100, 1, 10);
	perfdata_writer_map(&file, 100, 11, slot_start(0), SLOT_BYTES, 0, 1);
	perfdata_writer_sample(&file, PERF_RECORD_MISC_USER, 1, 100, 12, slot_start(0), 1000);
	perfdata_writer_sample(&file, PERF_RECORD_MISC_GUEST_USER, 1, 100, 13, slot_start(0), 1000);
	perfdata_writer_sample(&file, PERF_RECORD_MISC_USER, 77, 100, 14, slot_start(0), 1000);
	perfdata_writer_record(&file, PERF_RECORD_LOST, 0, lost, sizeof(lost), 15, 1);
	perfdata_writer_record(&file, PERF_RECORD_LOST_SAMPLES, 0, &lost_samples, 8, 0, 1);
	perfdata_writer_record(&file, PERF_RECORD_LOST_SAMPLES, 0, &lost_images, 8, 0, 2);
	assert_int_equal(import(fixture, &file), 0);
	read_epoch(fixture, &got);
	assert_int_equal(got.of[1][0], 1);
	assert_int_equal(got.sum, 1);
	/* Losses of samples alone count, not those of all record kinds in addition. */
	assert_int_equal(fixture->result.lost, 30 + 1 + 1);
	perfdata_writer_free(&file);
}

static void nothing_in_it(void **state)
{
	struct fixture *fixture = *state;
	struct perfdata_writer file = {0};

	perfdata_writer_begin(&file, 1, 0);
	perfdata_writer_task(&file, PERF_RECORD_FORK, 100, 1, 10);
	assert_int_equal(import(fixture, &file), -ENODATA);
	perfdata_writer_free(&file);
}

/* With a few changed bytes, or a missing end, the result is an error or a consistent epoch. */
static void damaged_files(void **state)
{
	struct fixture *fixture = *state;
	struct perfdata_writer file = {0};
	unsigned int imported = 0, refused = 0;
	uint64_t seed = 99;

	perfdata_writer_begin(&file, 2, 1);
	perfdata_writer_task(&file, PERF_RECORD_FORK, 100, 1, 10);
	perfdata_writer_map(&file, 100, 11, slot_start(0), SLOT_BYTES, 0, 1);
	for (uint64_t i = 0; i < 20; i++)
		perfdata_writer_sample(&file, PERF_RECORD_MISC_USER, 1, 100, 12 + i, slot_start(0),
				       1000);
	perfdata_writer_end(&file);
	for (int i = 0; i < 120; i++) {
		uint8_t *bytes = malloc(file.used);
		size_t used = file.used;

		assert_non_null(bytes);
		memcpy(bytes, file.bytes, used);
		for (uint64_t n = unit_random(&seed) % 4; n > 0; n--)
			bytes[unit_random(&seed) % used] = (uint8_t)unit_random(&seed);
		if (unit_random(&seed) % 4 == 0)
			used = unit_random(&seed) % used;
		if (import_bytes(fixture, bytes, used) == 0) {
			const struct profile_filter filter = {.epochs = &fixture->result.epoch,
							      .epoch_count = 1};
			struct counts counts = {.sum = fixture->result.samples};
			struct error err;

			imported++;
			assert_int_equal(profile_reader_open(&counts.reader, fixture->db, &err), 0);
			assert_int_equal(profile_reader_epochs(counts.reader, &filter,
							       check_identity, &counts, &err),
					 0);
			profile_reader_close(counts.reader);
		} else {
			refused++;
			assert_null(strchr(fixture->err.message, '\n'));
		}
		free(bytes);
	}
	assert_true(imported > 20 && refused > 20);
	perfdata_writer_free(&file);
}

static int count_epoch(void *context, const struct profile_epoch *epoch)
{
	assert_false(epoch->open);
	++*(unsigned int *)context;
	return 0;
}

static unsigned int epochs(const struct fixture *fixture)
{
	struct profile_reader *reader;
	unsigned int count = 0;
	struct error err;

	assert_int_equal(profile_reader_open(&reader, fixture->db, &err), 0);
	assert_int_equal(profile_reader_epochs(reader, NULL, count_epoch, &count, &err), 0);
	profile_reader_close(reader);
	return count;
}

static void file_limit_set(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Wherever the disk becomes full, a failed import leaves no epoch, also for the next writer. */
static void full_disks(void **state)
{
	enum {
		SAMPLES = 100000
	};
	struct fixture *fixture = *state;
	struct perfdata_writer file = {0};
	unsigned int failed = 0;
	uint64_t seed = 20;
	int r = -ENOSPC;

	perfdata_writer_begin(&file, 1, 0);
	perfdata_writer_task(&file, PERF_RECORD_FORK, 100, 1, 10);
	perfdata_writer_map(&file, 100, 11, slot_start(0), SLOT_BYTES, 0, 1);
	for (uint64_t i = 0; i < SAMPLES; i++)
		perfdata_writer_sample(&file, PERF_RECORD_MISC_USER, 1, 100, 12 + i,
				       slot_start(0) + unit_random(&seed) % SLOT_BYTES, 1000);
	perfdata_writer_end(&file);
	assert_int_equal(pwrite(fixture->fd, file.bytes, file.used, 0), (ssize_t)file.used);
	for (rlim_t bytes = 4096; r < 0; bytes += 4096) {
		file_limit_set(bytes);
		r = import_file(fixture->writer, fixture->file, NULL, &fixture->result,
				&fixture->err);
		file_limit_set(RLIM_INFINITY);
		profile_writer_close(fixture->writer);
		assert_true(r == 0 || r == -ENOSPC);
		failed += r < 0;
		assert_int_equal(profile_writer_open(&fixture->writer, fixture->db, &fixture->err),
				 0);
		assert_int_equal(epochs(fixture), r == 0);
	}
	assert_true(failed > 5);
	assert_int_equal(fixture->result.samples, SAMPLES);
	perfdata_writer_free(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(is_the_model, setup, teardown),
		cmocka_unit_test_setup_teardown(is_the_model_in_files, setup, teardown),
		cmocka_unit_test_setup_teardown(losses_have_names, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_in_it, setup, teardown),
		cmocka_unit_test_setup_teardown(damaged_files, setup, teardown),
		cmocka_unit_test_setup_teardown(full_disks, setup, teardown),
	};

	signal(SIGXFSZ, SIG_IGN);
	return cmocka_run_group_tests_name("import", tests, NULL, NULL);
}
