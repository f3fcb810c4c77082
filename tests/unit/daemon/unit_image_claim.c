// SPDX-License-Identifier: GPL-2.0-only
/* A file reported by an event is opened only with its identity, and only for its readers. */
#include "tests/lib/unit.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "daemon/image/image_file.h"
#include "lib/clock.h"
#include "loader-hook/image_event.h"

#define TICK_US 20000
#define USER 1000
#define OTHER_USER 1001
#define GROUP 2000

static char directory[64];
static char folder[96], file[128], other[128];

static void file_write(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

/* Make "folder/file" and "folder/other", readable by all users and older than a clock tick. */
static int setup(void **state)
{
	(void)state;
	snprintf(directory, sizeof(directory), "/tmp/dcpi-claim-XXXXXX");
	assert_non_null(mkdtemp(directory));
	assert_int_equal(chmod(directory, 0755), 0);
	snprintf(folder, sizeof(folder), "%s/folder", directory);
	assert_int_equal(mkdir(folder, 0755), 0);
	assert_int_equal(chmod(folder, 0755), 0);
	snprintf(file, sizeof(file), "%s/file", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	file_write(file, "file", 0755);
	file_write(other, "secret", 0755);
	usleep(TICK_US);
	return 0;
}

static int teardown(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

static uint64_t ns_of(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * NS_PER_SECOND + (uint64_t)time->tv_nsec;
}

/*
 * Make the claim of a file that a user maps now, as the BPF program reports it, without generation.
 */
static struct image_file_claim claim_of(const char *path, uint32_t user)
{
	struct image_event event = {.type = IMAGE_EVENT_MAP,
				    .time_ns = clock_monotonic_ns(),
				    .path = path,
				    .has_user = true,
				    .user = user,
				    .file_user = user,
				    .has_state = true};
	struct image_file_claim claim;
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	event.device = status.st_dev;
	event.inode = status.st_ino;
	event.file_bytes = (uint64_t)status.st_size;
	event.modified_ns = ns_of(&status.st_mtim);
	image_file_claim(&claim, &event);
	return claim;
}

/* Return: 0, or the error. */
static int found(const struct image_file_claim *claim, const char *path)
{
	struct stat status;
	int fd = image_file_open_claimed(claim, path, &status);

	if (fd < 0)
		return fd;
	assert_int_equal(status.st_ino, claim->inode);
	close(fd);
	return 0;
}

static void the_same_file_is_found(void **state)
{
	struct image_file_claim claim = claim_of(file, USER);

	(void)state;
	assert_int_equal(found(&claim, file), 0);
	/* perf's side band reports no state. */
	claim.has_state = false;
	assert_int_equal(found(&claim, file), 0);
	/* Within a tick of its creation another file may have had the inode number. */
	claim.before_ns -= TICK_US * 1000ULL;
	file_write(file, "file", 0755);
	claim = claim_of(file, USER);
	claim.has_state = false;
	claim.before_ns = claim.modified_ns;
	assert_int_equal(found(&claim, file), -ENOTUNIQ);
}

static void another_file_is_not(void **state)
{
	struct image_file_claim claim = claim_of(file, 0), forged;

	(void)state;
	assert_int_equal(found(&claim, other), -ESTALE);
	/* With the other file's size and time, which any user can set. */
	forged = claim_of(other, 0);
	forged.inode = claim.inode;
	assert_int_equal(found(&forged, other), -ESTALE);
	forged = claim_of(other, 0);
	forged.device++;
	assert_int_equal(found(&forged, other), -ESTALE);
	forged = claim_of(other, 0);
	forged.inode = 0;
	assert_int_equal(found(&forged, other), -ENOTUNIQ);
	forged = claim_of(other, 0);
	forged.version = IMAGE_EVENT_VERSION(0x12345678);
	assert_in_range(-found(&forged, other), ESTALE, ESTALE);
	assert_int_equal(found(&claim, "relative"), -EINVAL);
	assert_int_equal(found(&claim, directory), -ESTALE);
	claim.inode++;
	assert_int_equal(found(&claim, file), -ESTALE);
}

static void what_takes_its_place_is_not(void **state)
{
	struct image_file_claim claim = claim_of(file, 0);
	char path[160], moved[160];

	(void)state;
	assert_int_equal(rename(other, file), 0);
	assert_int_equal(found(&claim, file), -ESTALE);
	/* A symbolic link in place of the file or of its directory. */
	claim = claim_of(file, 0);
	snprintf(moved, sizeof(moved), "%s/moved", directory);
	assert_int_equal(rename(folder, moved), 0);
	assert_int_equal(symlink(moved, folder), 0);
	assert_int_equal(found(&claim, file), -ESTALE);
	assert_int_equal(unlink(folder), 0);
	assert_int_equal(rename(moved, folder), 0);
	snprintf(path, sizeof(path), "%s/link", folder);
	assert_int_equal(symlink(file, path), 0);
	assert_int_equal(found(&claim, path), -ESTALE);
	/* Special files are not opened, waited for or read. */
	assert_int_equal(unlink(file), 0);
	assert_int_equal(mkfifo(file, 0644), 0);
	assert_int_equal(found(&claim, file), -ESTALE);
	claim = claim_of(file, 0);
	assert_int_equal(found(&claim, file), -ENODEV);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(mkdir(file, 0755), 0);
	claim = claim_of(file, 0);
	assert_int_equal(found(&claim, file), -ENODEV);
	claim = claim_of("/dev/null", 0);
	assert_int_equal(found(&claim, "/dev/null"), -ENODEV);
}

/* Synthetic files of the kernel may have any identity. */
static void files_of_the_kernel_are_not(void **state)
{
	struct image_file_claim claim = claim_of("/proc/version", 0);

	(void)state;
	assert_int_equal(found(&claim, "/proc/version"), -ENODEV);
	claim = claim_of("/sys/kernel/notes", 0);
	assert_int_equal(found(&claim, "/sys/kernel/notes"), -ENODEV);
}

static void a_file_that_was_written_since_is_not(void **state)
{
	struct image_file_claim claim = claim_of(file, 0);
	struct timespec times[2];
	struct stat status;
	char path[160];

	(void)state;
	/* A changed size. */
	usleep(TICK_US);
	assert_int_equal(stat(file, &status), 0);
	file_write(file, "longer", 0755);
	assert_int_equal(found(&claim, file), -ESTALE);
	/* Changed contents with the same size and modification time. */
	file_write(file, "elif", 0755);
	times[0] = status.st_atim;
	times[1] = status.st_mtim;
	assert_int_equal(utimensat(AT_FDCWD, file, times, 0), 0);
	assert_int_equal(found(&claim, file), -ESTALE);
	/* Another hard link: the inode has changed, and its contents may have changed, too. */
	usleep(TICK_US);
	claim = claim_of(other, 0);
	usleep(TICK_US);
	snprintf(path, sizeof(path), "%s/hard", folder);
	assert_int_equal(link(other, path), 0);
	assert_int_equal(found(&claim, other), -ESTALE);
	claim = claim_of(other, 0);
	assert_int_equal(found(&claim, path), 0);
}

/* Return: the result for a file of an owner, group and mode. */
static int permitted(const struct file_reader *reader, uid_t owner, gid_t group, mode_t mode)
{
	struct image_file_claim claim;

	assert_int_equal(chown(file, owner, group), 0);
	assert_int_equal(chmod(file, mode), 0);
	usleep(TICK_US);
	claim = claim_of(file, USER);
	claim.reader = *reader;
	return found(&claim, file);
}

static void only_readers_get_it(void **state)
{
	struct file_reader user = {.known = true, .user = USER, .file_user = USER},
			   root = {.known = true}, unknown = {.known = false}, set_user = user,
			   member = user;

	(void)state;
	if (getuid() != 0)
		skip();
	set_user.file_user = 0;
	member.groups[0] = GROUP;
	member.group_count = 1;
	member.has_groups = true;
	assert_int_equal(permitted(&user, 0, 0, 0755), 0);
	assert_int_equal(permitted(&user, 0, 0, 0711), -EPERM);
	assert_int_equal(permitted(&root, 0, 0, 0711), 0);
	assert_int_equal(permitted(&root, USER, USER, 0100), 0);
	assert_int_equal(permitted(&user, USER, 0, 0700), 0);
	assert_int_equal(permitted(&user, USER, 0, 0377), -EPERM);
	assert_int_equal(permitted(&user, OTHER_USER, 0, 0700), -EPERM);
	/* A set-user-ID program of root that is execute-only. */
	assert_int_equal(permitted(&set_user, 0, 0, 04711), -EPERM);
	assert_int_equal(permitted(&set_user, 0, 0, 04755), 0);
	assert_int_equal(permitted(&member, 0, GROUP, 0750), 0);
	assert_int_equal(permitted(&member, 0, GROUP, 0705), -EPERM);
	assert_int_equal(permitted(&member, 0, 0, 0705), 0);
	assert_int_equal(permitted(&member, 0, 0, 0750), -EPERM);
	/* The process may be in the group without permission. */
	assert_int_equal(permitted(&user, 0, GROUP, 0705), -EPERM);
	assert_int_equal(permitted(&unknown, 0, 0, 0755), 0);
	assert_int_equal(permitted(&unknown, 0, 0, 0711), -EPERM);
	assert_int_equal(permitted(&unknown, 0, 0, 0750), -EPERM);
	assert_int_equal(permitted(&unknown, USER, 0, 0355), -EPERM);
}

static void directories_must_be_searchable(void **state)
{
	struct image_file_claim claim = claim_of(file, USER);

	(void)state;
	if (getuid() != 0)
		skip();
	assert_int_equal(chmod(folder, 0711), 0);
	assert_int_equal(found(&claim, file), 0);
	assert_int_equal(chmod(folder, 0700), 0);
	assert_int_equal(found(&claim, file), -EPERM);
	assert_int_equal(chown(folder, USER, USER), 0);
	assert_int_equal(found(&claim, file), 0);
	assert_int_equal(chmod(directory, 0700), 0);
	assert_int_equal(found(&claim, file), -EPERM);
	claim.reader = (struct file_reader){.known = false};
	assert_int_equal(found(&claim, file), -EPERM);
	claim.reader.known = true;
	assert_int_equal(found(&claim, file), 0);
}

static void access_lists_are_honoured(void **state)
{
	struct {
		struct posix_acl_xattr_header header;
		struct posix_acl_xattr_entry entries[5];
	} list = {.header = {htole32(POSIX_ACL_XATTR_VERSION)},
		  .entries = {{htole16(ACL_USER_OBJ), htole16(7), 0},
			      {htole16(ACL_USER), 0, htole32(USER)},
			      {htole16(ACL_GROUP_OBJ), htole16(5), 0},
			      {htole16(ACL_MASK), htole16(5), 0},
			      {htole16(ACL_OTHER), htole16(5), 0}}};
	struct image_file_claim claim;

	(void)state;
	if (getuid() != 0 || setxattr(file, "system.posix_acl_access", &list, sizeof(list), 0) < 0)
		skip();
	usleep(TICK_US);
	claim = claim_of(file, USER);
	assert_int_equal(found(&claim, file), -EPERM);
	claim = claim_of(file, 0);
	assert_int_equal(found(&claim, file), 0);
	list.entries[1].e_perm = htole16(5);
	assert_int_equal(setxattr(file, "system.posix_acl_access", &list, sizeof(list), 0), 0);
	usleep(TICK_US);
	claim = claim_of(file, USER);
	assert_int_equal(found(&claim, file), 0);
}

/* Access through the mapping: only the file's mode matters, not the path and its directories. */
static void a_mapped_file_is_checked(void **state)
{
	struct image_file_claim claim = claim_of(file, USER), nameless = {.inode = 0};
	int fd = open(file, O_PATH | O_CLOEXEC), wrong = open(other, O_PATH | O_CLOEXEC);
	struct stat status;

	(void)state;
	assert_int_equal(image_file_check(&claim, fd, &status), 0);
	assert_int_equal(image_file_check(&claim, wrong, &status), -ESTALE);
	nameless.reader = claim.reader;
	assert_int_equal(image_file_check(&nameless, wrong, &status), 0);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(image_file_check(&claim, fd, &status), 0);
	if (getuid() == 0) {
		assert_int_equal(chmod(other, 0711), 0);
		assert_int_equal(image_file_check(&nameless, wrong, &status), -EPERM);
	}
	close(fd);
	close(wrong);
}

/* Without credentials in the event, those of the running process are used. */
static void credentials_come_from_the_process(void **state)
{
	struct image_event event = {.type = IMAGE_EVENT_MAP, .pid = (uint32_t)getpid()};
	struct image_file_claim claim;

	(void)state;
	image_file_claim(&claim, &event);
	assert_true(claim.reader.known);
	assert_int_equal(claim.reader.user, getuid());
	assert_int_equal(claim.reader.file_user, geteuid());
	assert_true(claim.reader.group_count > 0);
	assert_int_equal(claim.reader.groups[0], getegid());
	event.pid = 0x7fffffff;
	image_file_claim(&claim, &event);
	assert_false(claim.reader.known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_same_file_is_found, setup, teardown),
		cmocka_unit_test_setup_teardown(another_file_is_not, setup, teardown),
		cmocka_unit_test_setup_teardown(what_takes_its_place_is_not, setup, teardown),
		cmocka_unit_test_setup_teardown(files_of_the_kernel_are_not, setup, teardown),
		cmocka_unit_test_setup_teardown(a_file_that_was_written_since_is_not, setup,
						teardown),
		cmocka_unit_test_setup_teardown(only_readers_get_it, setup, teardown),
		cmocka_unit_test_setup_teardown(directories_must_be_searchable, setup, teardown),
		cmocka_unit_test_setup_teardown(access_lists_are_honoured, setup, teardown),
		cmocka_unit_test_setup_teardown(a_mapped_file_is_checked, setup, teardown),
		cmocka_unit_test_setup_teardown(credentials_come_from_the_process, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
