// SPDX-License-Identifier: GPL-2.0-only
/* Quotas of users: the accounts, and the events that the image map refuses. */
#include "tests/fixtures/image_map_fixture.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/image/quota.h"
#include "lib/clock.h"
#include "loader-hook/proc/process_owner.h"

#define START_NS (100 * NS_PER_SECOND)

/* Users of fake processes: uid 0 below 1000, uid N from N * 1000; 9000 and above have ended. */
static int fake_owner(uint32_t pid, uint32_t *uid)
{
	if (pid >= 9000)
		return -ESRCH;
	*uid = pid / 1000;
	return 0;
}

static void points_come_back(void **state)
{
	struct quota quota = {.others = {.uid = 0}};
	struct quota_user *user = quota_user_of(&quota, 7);

	(void)state;
	assert_ptr_equal(quota_user_of(&quota, 7), user);
	assert_int_equal(quota_points(user, START_NS), QUOTA_POINTS_MAX);
	assert_true(quota_spend(user, START_NS, QUOTA_POINTS_MAX));
	assert_false(quota_spend(user, START_NS, 1));
	assert_true(quota_spend(user, START_NS + NS_PER_SECOND, QUOTA_POINTS_PER_SECOND));
	assert_false(quota_spend(user, START_NS + NS_PER_SECOND, 1));
	/* Unexpectedly expensive work is charged afterwards. */
	quota_charge(user, START_NS + NS_PER_SECOND, QUOTA_POINTS_PER_SECOND);
	assert_false(quota_spend(user, START_NS + 2 * NS_PER_SECOND, 1));
	assert_true(quota_spend(user, START_NS + 3 * NS_PER_SECOND, 1));
	/* Points are limited to the maximum, and do not change when time goes back. */
	assert_int_equal(quota_points(user, 2 * START_NS), QUOTA_POINTS_MAX);
	assert_int_equal(quota_points(user, START_NS), QUOTA_POINTS_MAX);
	quota_deinit(&quota);
}

static void root_is_not_limited(void **state)
{
	struct quota quota = {.others = {.uid = 0}};
	struct quota_user *root;
	uint32_t uid;

	(void)state;
	for (uid = 1; uid <= QUOTA_USERS_MAX + 10; uid++)
		assert_true(quota_is_limited(quota_user_of(&quota, uid)));
	/* Users without their own account share one. */
	assert_ptr_equal(quota_user_of(&quota, uid), quota_user_of(&quota, uid + 1));
	root = quota_user_of(&quota, 0);
	assert_false(quota_is_limited(root));
	assert_true(quota_spend(root, START_NS, 100 * (int64_t)QUOTA_POINTS_MAX));
	assert_true(quota_spend(root, START_NS, 100 * (int64_t)QUOTA_POINTS_MAX));
	quota_deinit(&quota);
}

static void limits_are_counted_by_user(void **state)
{
	struct quota quota = {.others = {.uid = 0}};

	(void)state;
	assert_null(quota_worst(&quota, QUOTA_IMAGES));
	quota_refuse(&quota, quota_user_of(&quota, 3), QUOTA_IMAGES);
	quota_refuse(&quota, quota_user_of(&quota, 4), QUOTA_IMAGES);
	quota_refuse(&quota, quota_user_of(&quota, 4), QUOTA_IMAGES);
	assert_int_equal(quota_worst(&quota, QUOTA_IMAGES)->uid, 4);
	assert_int_equal(quota.refused[QUOTA_IMAGES], 3);
	assert_null(quota_worst(&quota, QUOTA_EVENTS));
	quota_deinit(&quota);
}

static void begin(struct fixture *fixture, uint32_t pid, uint64_t time_ns)
{
	struct image_event event = {
		.type = IMAGE_EVENT_EXEC, .pid = pid, .time_ns = time_ns, .path = "x"};

	image_map_event(fixture->map, &event);
	event = map_event(pid, time_ns, 1, 0, 1, 0);
	image_map_event(fixture->map, &event);
}

/* Cause more events than a user may. */
static void flood(struct fixture *fixture, uint32_t pid, uint64_t time_ns)
{
	for (int i = 0; i < QUOTA_POINTS_MAX + 1000; i++) {
		struct image_event event = map_event(pid, time_ns, 2, 10, 1, 0);

		image_map_event(fixture->map, &event);
	}
}

static struct image_place place_at(struct fixture *fixture, uint32_t pid, uint64_t time_ns)
{
	return image_map_lookup(fixture->map, pid, image_map_generation(fixture->map, pid, time_ns),
				BASE);
}

static void scan(struct fixture *fixture, uint32_t pid, uint64_t time_ns)
{
	struct image_event event = {.type = IMAGE_EVENT_FORK, .pid = pid, .scanned = true};

	event.time_ns = event.until_ns = time_ns;
	image_map_event(fixture->map, &event);
	event = map_event(pid, time_ns, 1, 0, 1, 0);
	event.scanned = true;
	image_map_event(fixture->map, &event);
}

static void a_flood_costs_its_user_only(void **state)
{
	const uint32_t flooder = 1000, same_user = 1001, other_user = 2000, root = 10;
	const uint64_t later_ns = START_NS + 20 * NS_PER_SECOND;
	struct fixture fixture;

	(void)state;
	setup(&fixture, true);
	image_map_limit_users(fixture.map, fake_owner, NULL, NULL);
	begin(&fixture, other_user, START_NS);
	begin(&fixture, same_user, START_NS);
	begin(&fixture, root, START_NS);
	begin(&fixture, flooder, START_NS);
	assert_int_equal(place_at(&fixture, flooder, START_NS).image, 1);
	flood(&fixture, flooder, START_NS + 10);
	assert_int_equal(place_at(&fixture, flooder, START_NS + 20).unknown,
			 IMAGE_UNKNOWN_QUOTA_EVENTS);
	flood(&fixture, root, START_NS + 10);
	assert_int_equal(place_at(&fixture, root, START_NS + 20).image, 1);
	/* A new process of the flooder's user starts with free events, also after an exec. */
	assert_int_equal(place_at(&fixture, same_user, START_NS + 20).image, 1);
	begin(&fixture, other_user, START_NS + 30);
	assert_int_equal(place_at(&fixture, other_user, START_NS + 40).image, 1);
	assert_true(image_map_quota(fixture.map)->refused[QUOTA_EVENTS] > 900);
	assert_int_equal(quota_worst(image_map_quota(fixture.map), QUOTA_EVENTS)->uid, 1);
	/* When the user has points again, the process must be scanned. */
	assert_int_equal(image_map_limited(fixture.map, START_NS + 50), 0);
	assert_int_equal(image_map_limited(fixture.map, later_ns), flooder);
	scan(&fixture, flooder, later_ns);
	assert_int_equal(place_at(&fixture, flooder, later_ns + 10).image, 1);
	assert_int_equal(image_map_limited(fixture.map, later_ns + 10), 0);
	teardown(&fixture);
}

static void children_count_for_their_user(void **state)
{
	struct image_event fork = {.type = IMAGE_EVENT_FORK, .parent = 1000};
	struct fixture fixture;
	uint32_t child;

	(void)state;
	setup(&fixture, true);
	image_map_limit_users(fixture.map, fake_owner, NULL, NULL);
	begin(&fixture, 1000, START_NS);
	/* The children have ended before their owner is read. */
	for (child = 9000; child < 9004; child++) {
		fork.pid = child;
		fork.time_ns = START_NS + 1;
		image_map_event(fixture.map, &fork);
		begin(&fixture, child, START_NS + 1);
		flood(&fixture, child, START_NS + 2);
	}
	assert_int_equal(quota_worst(image_map_quota(fixture.map), QUOTA_EVENTS)->uid, 1);
	assert_int_equal(place_at(&fixture, 9003, START_NS + 3).unknown,
			 IMAGE_UNKNOWN_QUOTA_EVENTS);
	teardown(&fixture);
}

static void maps_without_users_have_no_limits(void **state)
{
	struct fixture fixture;

	(void)state;
	setup(&fixture, true);
	begin(&fixture, 1000, START_NS);
	flood(&fixture, 1000, START_NS + 1);
	assert_int_equal(place_at(&fixture, 1000, START_NS + 2).image, 1);
	assert_null(image_map_user(fixture.map, 1000));
	teardown(&fixture);
}

static struct image_event image_event(uint32_t pid, uint64_t time_ns, uint32_t number)
{
	struct image_event event = map_event(pid, time_ns, 1, 0, 1, 0);

	memcpy(event.build_id, &number, sizeof(number));
	return event;
}

/* Map an image that no other process maps any longer. */
static struct image_place place_of_image(struct fixture *fixture, uint32_t pid, uint64_t time_ns,
					 uint32_t number)
{
	struct image_event exec = {
		.type = IMAGE_EVENT_EXEC, .pid = pid, .time_ns = time_ns, .path = "x"};
	struct image_event event = image_event(pid, time_ns + 1, number);

	image_map_event(fixture->map, &exec);
	image_map_event(fixture->map, &event);
	image_map_expire(fixture->map, time_ns);
	return place_at(fixture, pid, time_ns + 2);
}

static uint32_t forgotten;

static void count_forgotten(void *context, uint32_t image)
{
	(void)context;
	assert_int_not_equal(image, IMAGE_UNKNOWN);
	forgotten++;
}

static void numbers_without_samples_are_reused(void **state)
{
	enum {
		IMAGES = 4 * QUOTA_IMAGES_MAX,
	};
	uint64_t time_ns = START_NS;
	struct image_place place, sampled;
	struct fixture fixture;
	uint8_t identity[20];

	(void)state;
	setup(&fixture, true);
	forgotten = 0;
	image_map_limit_users(fixture.map, fake_owner, count_forgotten, NULL);
	sampled = place_of_image(&fixture, 1000, time_ns, IMAGES + 1);
	image_table_sampled(fixture.table, sampled.image);
	memcpy(identity, image_table_get(fixture.table, sampled.image)->identity, 20);
	for (uint32_t i = 1; i <= IMAGES; i++) {
		time_ns += 10;
		place = place_of_image(&fixture, 1000, time_ns, i);
		/* Wait for the real time between two sweeps. */
		if (place.image == IMAGE_UNKNOWN) {
			assert_int_equal(place.unknown, IMAGE_UNKNOWN_QUOTA_IMAGES);
			usleep(20000);
			i--;
			continue;
		}
		assert_memory_equal(image_table_get(fixture.table, place.image)->identity, &i,
				    sizeof(i));
	}
	assert_true(image_table_used(fixture.table) <= QUOTA_IMAGES_MAX + 1);
	assert_int_equal(image_table_count(fixture.table), QUOTA_IMAGES_MAX + 1);
	assert_true(forgotten >= IMAGES - QUOTA_IMAGES_MAX);
	assert_int_equal(place_of_image(&fixture, 2000, time_ns, IMAGES + 1).image, sampled.image);
	assert_memory_equal(image_table_get(fixture.table, sampled.image)->identity, identity, 20);
	teardown(&fixture);
}

/* One user keeps all of them mapped. */
static void numbers_are_limited_by_user(void **state)
{
	uint32_t number = 0, refused = 0;
	struct image_place place;
	struct fixture fixture;

	(void)state;
	setup(&fixture, true);
	image_map_limit_users(fixture.map, fake_owner, NULL, NULL);
	for (uint32_t pid = 1000; pid < 1000 + QUOTA_IMAGES_MAX / 50 + 10; pid++) {
		for (uint64_t page = 0; page < 50; page++) {
			struct image_event event = image_event(pid, START_NS, ++number);

			event.start += page * PAGE;
			image_map_event(fixture.map, &event);
		}
		place = place_at(&fixture, pid, START_NS + 1);
		refused += place.image == IMAGE_UNKNOWN;
		if (place.image == IMAGE_UNKNOWN)
			assert_int_equal(place.unknown, IMAGE_UNKNOWN_QUOTA_IMAGES);
	}
	assert_in_range(refused, 5, 15);
	assert_int_equal(quota_worst(image_map_quota(fixture.map), QUOTA_IMAGES)->uid, 1);
	place = place_of_image(&fixture, 2000, START_NS, ++number);
	assert_int_not_equal(place.image, IMAGE_UNKNOWN);
	for (int i = 0; i < QUOTA_IMAGES_MAX + 10; i++)
		place = place_of_image(&fixture, 1, START_NS + 10 * (uint64_t)i, ++number);
	assert_int_not_equal(place.image, IMAGE_UNKNOWN);
	teardown(&fixture);
}

/* Real processes: this one, and one with another real uid. */
static void owners_are_real_users(void **state)
{
	uint32_t uid = 1234567;
	int ready[2], status;
	char byte;
	pid_t child;

	(void)state;
	assert_int_equal(process_owner((uint32_t)getpid(), &uid), 0);
	assert_int_equal(uid, getuid());
	if (getuid() != 0)
		skip();
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		/* The saved uid stays root's, as in a set-user-ID program. */
		if (setresuid(65533, 0, 0) == 0)
			(void)!write(ready[1], "", 1);
		pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(process_owner((uint32_t)child, &uid), 0);
	assert_int_equal(uid, 65533);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	assert_int_equal(process_owner((uint32_t)child, &uid), -ESRCH);
	close(ready[0]);
	close(ready[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_come_back),
		cmocka_unit_test(root_is_not_limited),
		cmocka_unit_test(limits_are_counted_by_user),
		cmocka_unit_test(a_flood_costs_its_user_only),
		cmocka_unit_test(children_count_for_their_user),
		cmocka_unit_test(maps_without_users_have_no_limits),
		cmocka_unit_test(numbers_without_samples_are_reused),
		cmocka_unit_test(numbers_are_limited_by_user),
		cmocka_unit_test(owners_are_real_users),
	};

	return cmocka_run_group_tests_name("quota", tests, NULL, NULL);
}
