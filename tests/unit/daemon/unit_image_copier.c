// SPDX-License-Identifier: GPL-2.0-only
/* The archive of images: files that are copied, files that are refused, and eviction. */
#include "tests/lib/unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/archive/image_copier.h"
#include "daemon/archive/archive_dir.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/file_digest.h"
#include "tests/lib/patience.h"

#define FAST (1ULL << 40)

static char directory[64], store[96];
static struct error err;

/* Simulates a file system that does not respond while set. */
static atomic_bool held;

ssize_t __real_copy_file_range(int in, off_t *in_at, int out, off_t *out_at, size_t bytes,
			       unsigned int flags);
ssize_t __wrap_copy_file_range(int in, off_t *in_at, int out, off_t *out_at, size_t bytes,
			       unsigned int flags);

ssize_t __wrap_copy_file_range(int in, off_t *in_at, int out, off_t *out_at, size_t bytes,
			       unsigned int flags)
{
	while (held)
		usleep(1000);
	return __real_copy_file_range(in, in_at, out, out_at, bytes, flags);
}

static void setup_store(void)
{
	snprintf(directory, sizeof(directory), "/tmp/dcpi-copier-XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(store, sizeof(store), "%s/images", directory);
}

static void remove_store(void)
{
	char command[160];

	snprintf(command, sizeof(command), "rm -rf %s", directory);
	assert_int_equal(system(command), 0);
}

static struct image_copier *open_copier(uint64_t bytes_max, uint64_t bytes_per_second)
{
	const struct image_copier_config config = {
		.directory = store,
		.bytes_max = bytes_max,
		.bytes_per_second = bytes_per_second,
		.group = -1,
	};
	struct image_copier *copier = NULL;

	assert_int_equal(image_copier_open(&copier, &config, &err), 0);
	return copier;
}

/* Make a job for a file in memory; its digest is its identity. */
static struct image_copier_job job_of(uint32_t tag, uint8_t fill, size_t bytes)
{
	struct image_copier_job job = {
		.tag = tag,
		.kind = IMAGE_STORE_DIGEST,
		.identity_bytes = FILE_DIGEST_BYTES,
		.fd = memfd_create("image", MFD_CLOEXEC),
		.expires_ns = clock_real_ns(),
	};
	uint8_t *data = malloc(bytes);

	assert_true(job.fd >= 0);
	assert_non_null(data);
	memset(data, fill, bytes);
	assert_int_equal(write(job.fd, data, bytes), bytes);
	assert_int_equal(file_digest(job.identity, job.fd, bytes), 0);
	free(data);
	return job;
}

static struct image_copier_job result_wait(struct image_copier *copier)
{
	uint64_t until = patience_end_ns();
	struct image_copier_job job = {0};

	while (clock_monotonic_ns() < until) {
		if (image_copier_result(copier, &job))
			return job;
		usleep(5000);
	}
	fail_msg("no result");
	return job;
}

static int copy(struct image_copier *copier, const struct image_copier_job *job)
{
	struct image_copier_job done;

	assert_int_equal(image_copier_add(copier, job), 0);
	done = result_wait(copier);
	assert_int_equal(done.tag, job->tag);
	return done.result;
}

static void path_of(char path[256], const struct image_copier_job *job,
		    enum image_store_owner owner)
{
	char name[IMAGE_STORE_NAME_BYTES];

	assert_int_equal(
		image_store_name(name, job->kind, owner, job->identity, job->identity_bytes), 0);
	snprintf(path, 256, "%s/%s", store, name);
}

static bool has(const struct image_copier_job *job)
{
	char path[256];

	path_of(path, job, IMAGE_STORE_ROOT);
	if (access(path, F_OK) == 0)
		return true;
	path_of(path, job, IMAGE_STORE_USER);
	return access(path, F_OK) == 0;
}

/* Return: the mode of the unnamed copy in progress; 0 if there is none. */
static mode_t incoming_mode(void)
{
	DIR *descriptors = opendir("/proc/self/fd");
	char path[sizeof("/proc/self/fd/") + sizeof(((struct dirent *)NULL)->d_name)], target[256];
	struct dirent *entry;
	struct stat status;
	mode_t mode = 0;
	ssize_t n;

	assert_non_null(descriptors);
	while ((entry = readdir(descriptors)) != NULL) {
		snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
		n = readlink(path, target, sizeof(target) - 1);
		if (n <= (ssize_t)strlen(store) + 1)
			continue;
		target[n] = '\0';
		if (strncmp(target, store, strlen(store)) == 0 && stat(path, &status) == 0 &&
		    S_ISREG(status.st_mode) && status.st_nlink == 0)
			mode = status.st_mode & 07777;
	}
	closedir(descriptors);
	return mode;
}

static bool has_incoming(void)
{
	return incoming_mode() != 0;
}

/* Return: the number of named files in the archive. */
static unsigned int named_files(void)
{
	char command[160];
	unsigned int files = 0;
	FILE *pipe;

	snprintf(command, sizeof(command), "find %s -type f | wc -l", store);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_int_equal(fscanf(pipe, "%u", &files), 1);
	pclose(pipe);
	return files;
}

/* image_copier_close() may return before the copier thread, which has a low priority, has ended. */
static void wait_for_no_incoming(void)
{
	uint64_t until = patience_end_ns();

	while (has_incoming() && clock_monotonic_ns() < until)
		usleep(1000);
	assert_false(has_incoming());
}

static void names(void **state)
{
	const uint8_t identity[] = {0xab, 0xcd, 0x01};
	char name[IMAGE_STORE_NAME_BYTES], longest[IMAGE_STORE_IDENTITY_BYTES] = {0};

	(void)state;
	assert_int_equal(
		image_store_name(name, IMAGE_STORE_BUILD_ID, IMAGE_STORE_ROOT, identity, 3), 0);
	assert_string_equal(name, "ab/cd01.elf");
	assert_int_equal(image_store_name(name, IMAGE_STORE_DIGEST, IMAGE_STORE_USER,
					  (uint8_t *)longest, sizeof(longest)),
			 0);
	assert_int_equal(strlen(name), 2 * sizeof(longest) + 1 + strlen(".user.file"));
	assert_int_equal(
		image_store_name(name, IMAGE_STORE_BUILD_ID, IMAGE_STORE_ROOT, identity, 1),
		-EINVAL);
	assert_int_equal(image_store_name(name, IMAGE_STORE_BUILD_ID, IMAGE_STORE_ROOT,
					  (uint8_t *)longest, sizeof(longest) + 1),
			 -EINVAL);
}

static void copies_what_it_is_told(void **state)
{
	struct image_copier *copier;
	struct image_copier_job job, other;
	struct image_copier_status status;

	(void)state;
	setup_store();
	copier = open_copier(1 << 20, FAST);
	job = job_of(7, 'a', 100000);
	assert_int_equal(copy(copier, &job), 0);
	assert_true(has(&job));
	/* A second request: the archive already has the file. */
	other = job_of(8, 'a', 100000);
	assert_int_equal(image_copier_add(copier, &other), 0);
	other = result_wait(copier);
	assert_int_equal(other.result, 0);
	assert_false(other.copied);
	/* Another file with this identity is refused. */
	other = job_of(9, 'b', 100000);
	other.identity[5] ^= 1;
	assert_int_equal(copy(copier, &other), -EBADMSG);
	assert_false(has(&other));
	/* A file that was replaced before it is opened is refused. */
	other = job_of(10, 'c', 1000);
	close(other.fd);
	other.fd = -1;
	other.path = strdup("/etc/passwd");
	assert_int_equal(copy(copier, &other), -ENOTUNIQ);
	other.claim.inode = 1;
	other.path = strdup("/etc/passwd");
	assert_int_equal(copy(copier, &other), -ESTALE);
	other.path = strdup("/dev/null");
	assert_int_equal(copy(copier, &other), -ESTALE);
	/* A file that claims to be an ELF file, and is not. */
	other = job_of(11, 'd', 1000);
	other.kind = IMAGE_STORE_BUILD_ID;
	assert_int_equal(copy(copier, &other), -EBADMSG);
	/* A file that the user of the process may not read. */
	other = job_of(12, 'e', 1000);
	assert_int_equal(fchmod(other.fd, 0711), 0);
	other.claim.reader = (struct file_reader){.known = true, .user = 1000};
	assert_int_equal(copy(copier, &other), -EPERM);
	assert_false(has(&other));
	assert_int_equal(named_files(), 1);
	image_copier_status(copier, &status);
	assert_int_equal(status.files, 1);
	assert_int_equal(status.copied, 1);
	assert_int_equal(status.failed, 6);
	image_copier_close(copier);
	remove_store();
}

/* Code in memory has no owner, so it is never archived as the superuser's. */
static void keeps_code_of_memory(void **state)
{
	struct image_copier_job job = {.tag = 1,
				       .kind = IMAGE_STORE_JIT,
				       .identity_bytes = 16,
				       .fd = -1,
				       .data_bytes = 5000,
				       .identity = {1, 2, 3}};
	struct image_copier *copier;
	struct stat status;
	char path[256];

	(void)state;
	setup_store();
	copier = open_copier(1 << 20, FAST);
	job.data = calloc(1, job.data_bytes);
	assert_int_equal(copy(copier, &job), 0);
	path_of(path, &job, IMAGE_STORE_USER);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_size, 5000);
	assert_int_equal(status.st_mode & 0777, 0640);
	image_copier_close(copier);
	remove_store();
}

/* The least recently used copy is evicted; touching a copy keeps it. */
static void evicts_the_coldest(void **state)
{
	const int64_t now = clock_real_ns();
	struct image_copier_job jobs[6], touch;
	struct image_copier_status status;
	struct image_copier *copier;
	int i;

	(void)state;
	setup_store();
	copier = open_copier(400 << 10, FAST);
	for (i = 0; i < 5; i++) {
		jobs[i] = job_of((uint32_t)i, (uint8_t)('a' + i), 100 << 10);
		jobs[i].expires_ns = now + i;
		if (i == 4) {
			touch = jobs[0];
			touch.expires_ns = now + 100;
			assert_int_equal(image_copier_touch(copier, &touch), 0);
			assert_int_equal(result_wait(copier).result, 0);
		}
		assert_int_equal(copy(copier, &jobs[i]), 0);
	}
	assert_true(has(&jobs[0]));
	assert_false(has(&jobs[1]));
	assert_true(has(&jobs[2]) && has(&jobs[3]) && has(&jobs[4]));
	image_copier_status(copier, &status);
	assert_int_equal(status.files, 4);
	assert_int_equal(status.evicted, 1);
	assert_true(status.bytes <= 400 << 10);
	assert_int_equal(image_copier_touch(copier, &jobs[1]), 0);
	assert_int_equal(result_wait(copier).result, -ENOENT);
	/* A file larger than half of the limit is refused. */
	jobs[5] = job_of(5, 'z', (200 << 10) + 1);
	assert_int_equal(copy(copier, &jobs[5]), -EFBIG);
	image_copier_close(copier);
	/* The next run reads the stored times, and has a lower limit. */
	copier = open_copier(110 << 10, FAST);
	image_copier_status(copier, &status);
	assert_int_equal(status.files, 1);
	assert_true(has(&jobs[0]));
	image_copier_close(copier);
	remove_store();
}

static void keeps_holes(void **state)
{
	struct image_copier_job job = {.kind = IMAGE_STORE_DIGEST,
				       .identity_bytes = FILE_DIGEST_BYTES};
	const off_t bytes = 64 << 20;
	struct image_copier *copier;
	struct stat status;
	char path[256];

	(void)state;
	setup_store();
	copier = open_copier(1 << 30, FAST);
	job.fd = memfd_create("sparse", MFD_CLOEXEC);
	assert_int_equal(ftruncate(job.fd, bytes), 0);
	assert_int_equal(pwrite(job.fd, "code", 4, 40 << 20), 4);
	assert_int_equal(file_digest(job.identity, job.fd, (uint64_t)bytes), 0);
	assert_int_equal(copy(copier, &job), 0);
	path_of(path, &job, IMAGE_STORE_USER);
	if (stat(path, &status) < 0) {
		path_of(path, &job, IMAGE_STORE_ROOT);
		assert_int_equal(stat(path, &status), 0);
	}
	assert_int_equal(status.st_size, bytes);
	assert_true(status.st_blocks * 512 < 1 << 20);
	image_copier_close(copier);
	remove_store();
}

/* Copying keeps to its rate. Closing does not wait for a copy, and removes its partial data. */
static void keeps_to_its_rate(void **state)
{
	struct image_copier_job job, big;
	struct image_copier *copier;
	uint64_t start = clock_monotonic_ns();

	(void)state;
	setup_store();
	copier = open_copier(100 << 20, 4 << 20);
	job = job_of(1, 'a', 1 << 20);
	assert_int_equal(copy(copier, &job), 0);
	assert_true(clock_monotonic_ns() - start >= NS_PER_SECOND / 5);
	big = job_of(2, 'b', 40 << 20);
	assert_int_equal(image_copier_add(copier, &big), 0);
	while (!has_incoming())
		usleep(1000);
	start = clock_monotonic_ns();
	image_copier_close(copier);
	/* The rest of the copy would have taken nine seconds. */
	assert_true(clock_monotonic_ns() - start < 9 * NS_PER_SECOND);
	wait_for_no_incoming();
	assert_false(has(&big));
	remove_store();
}

/* image_copier_close() returns even if a file system does not respond; no copy remains. */
static void given_up_copies_are_removed(void **state)
{
	struct image_copier *copier;
	struct image_copier_job job;

	(void)state;
	setup_store();
	copier = open_copier(100 << 20, FAST);
	job = job_of(1, 'a', 1 << 20);
	held = true;
	assert_int_equal(image_copier_add(copier, &job), 0);
	while (!has_incoming())
		usleep(1000);
	image_copier_close(copier);
	assert_true(has_incoming());
	held = false;
	wait_for_no_incoming();
	assert_false(has(&job));
	remove_store();
}

/* If a file grows, shrinks or is written while it is copied, no copy is kept under any name. */
static void changing_files_are_not_copied(void **state)
{
	static const off_t sizes[] = {(1 << 20) + 1, 1000, 1 << 20};
	struct image_copier *copier;
	struct image_copier_job job;
	int file;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		setup_store();
		copier = open_copier(100 << 20, FAST);
		job = job_of(1, 'a', 1 << 20);
		file = dup(job.fd);
		held = true;
		assert_int_equal(image_copier_add(copier, &job), 0);
		while (!has_incoming())
			usleep(1000);
		/* Only the daemon's user may read an unverified copy. */
		assert_int_equal(incoming_mode(), 0600);
		assert_int_equal(named_files(), 0);
		assert_int_equal(pwrite(file, "b", 1, 10), 1);
		assert_int_equal(ftruncate(file, sizes[i]), 0);
		close(file);
		held = false;
		assert_true(result_wait(copier).result < 0);
		assert_false(has(&job));
		image_copier_close(copier);
		assert_int_equal(named_files(), 0);
		remove_store();
	}
}

static int begin_copy(struct archive_dir *archive, const char *text)
{
	int error, fd = archive_dir_incoming(archive, 100, &error);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return fd;
}

static void assert_copy(const char *name, const char *expected)
{
	char path[160], text[16] = "";
	int fd;

	snprintf(path, sizeof(path), "%s/%s", store, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(fd >= 0, expected != NULL);
	if (fd < 0)
		return;
	assert_true(read(fd, text, sizeof(text) - 1) >= 0);
	close(fd);
	assert_string_equal(text, expected);
}

/* An abandoned archive with a copy in progress, and another one that uses the same directory. */
static void copies_of_two_do_not_mix(void **state)
{
	struct archive_dir *given_up = NULL, *archive = NULL;
	char path[160];
	int old, new, left;

	(void)state;
	setup_store();
	assert_int_equal(archive_dir_open(&given_up, store, 1 << 20, -1, &err), 0);
	old = begin_copy(given_up, "old");
	/* A copy left by an ended daemon, on a file system without unnamed files, is removed. */
	snprintf(path, sizeof(path), "%s/incoming-1-2", store);
	left = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(left >= 0);
	close(left);
	assert_int_equal(archive_dir_open(&archive, store, 1 << 20, -1, &err), 0);
	assert_int_equal(named_files(), 0);
	new = begin_copy(archive, "new");
	assert_int_equal(named_files(), 0);
	assert_int_equal(archive_dir_put(archive, new, "00/new.elf", 1), 0);
	assert_copy("00/new.elf", "new");
	assert_int_equal(archive_dir_put(given_up, old, "00/old.elf", 1), 0);
	assert_copy("00/old.elf", "old");
	assert_copy("00/new.elf", "new");
	/* Replace the copy that has the name. */
	close(new);
	new = begin_copy(archive, "newer");
	assert_int_equal(archive_dir_put(archive, new, "00/old.elf", 1), 0);
	assert_copy("00/old.elf", "newer");
	close(old);
	close(new);
	archive_dir_close(archive);
	archive_dir_close(given_up);
	remove_store();
}

/* The number of waiting jobs is limited; small files are copied first. */
static void queues(void **state)
{
	struct image_copier_job job, small;
	struct image_copier *copier;
	int added = 0, result = 0;

	(void)state;
	setup_store();
	copier = open_copier(1 << 30, 1 << 20);
	while (added < 1000 && result == 0) {
		job = job_of((uint32_t)added, (uint8_t)added, (1 << 20) + (size_t)added);
		result = image_copier_add(copier, &job);
		added += result == 0;
	}
	assert_int_equal(result, -EAGAIN);
	close(job.fd);
	assert_in_range(added, 32, 128);
	image_copier_close(copier);

	copier = open_copier(1 << 30, 8 << 20);
	for (added = 0; added < 4; added++) {
		job = job_of((uint32_t)added, (uint8_t)added, 2 << 20);
		assert_int_equal(image_copier_add(copier, &job), 0);
	}
	small = job_of(99, 'x', 10);
	assert_int_equal(image_copier_add(copier, &small), 0);
	if (result_wait(copier).tag != 99)
		assert_int_equal(result_wait(copier).tag, 99);
	image_copier_close(copier);
	remove_store();
}

/* The number of copies is limited, for copies of any size. */
static void copies_are_limited(void **state)
{
	struct archive_dir *archive = NULL;
	uint64_t files, bytes, evicted;
	char name[128];
	int error, fd;

	(void)state;
	setup_store();
	assert_int_equal(mkdir(store, 0755), 0);
	for (unsigned int i = 0; i < ARCHIVE_DIR_MAX; i++) {
		snprintf(name, sizeof(name), "%s/%02x", store, i / 256);
		if (i % 256 == 0)
			assert_int_equal(mkdir(name, 0755), 0);
		snprintf(name, sizeof(name), "%s/%02x/%02x.elf", store, i / 256, i % 256);
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		assert_true(fd >= 0);
		close(fd);
	}
	assert_int_equal(archive_dir_open(&archive, store, 1 << 20, -1, &err), 0);
	archive_dir_count(archive, &files, &bytes, &evicted);
	assert_int_equal(files, ARCHIVE_DIR_MAX);
	assert_int_equal(evicted, 0);
	for (unsigned int i = 1; i <= 3; i++) {
		fd = archive_dir_incoming(archive, 0, &error);
		assert_true(fd >= 0);
		snprintf(name, sizeof(name), "00/new%u.elf", i);
		assert_int_equal(archive_dir_put(archive, fd, name, INT64_MAX), 0);
		close(fd);
		assert_int_equal(archive_dir_touch(archive, name, 0), 0);
		archive_dir_count(archive, &files, &bytes, &evicted);
		assert_int_equal(files, ARCHIVE_DIR_MAX);
		assert_int_equal(evicted, i);
	}
	archive_dir_close(archive);
	remove_store();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(copies_what_it_is_told),
		cmocka_unit_test(keeps_code_of_memory),
		cmocka_unit_test(evicts_the_coldest),
		cmocka_unit_test(keeps_holes),
		cmocka_unit_test(keeps_to_its_rate),
		cmocka_unit_test(given_up_copies_are_removed),
		cmocka_unit_test(changing_files_are_not_copied),
		cmocka_unit_test(copies_of_two_do_not_mix),
		cmocka_unit_test(queues),
		cmocka_unit_test(copies_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
