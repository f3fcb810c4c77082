// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exceptions that instructions of loops throw (-fnon-call-exceptions), whichever turn it is:
 * caught in the same procedure, and what is to be cleaned up is.
 */
#include <csignal>
#include <cstdio>

#define COUNT 100

struct trap {
};

static int left;

struct leaver {
	~leaver()
	{
		left++;
	}
};

static void handler(int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_UNBLOCK, &set, nullptr);
	throw trap{};
}

__attribute__((noipa)) static long one_block(const unsigned *list, const unsigned *by)
{
	long sum = 0;

	try {
		leaver leaver;

		for (int i = 0; i < COUNT; i++)
			sum += list[i] / by[i];
	} catch (const trap &) {
		return -sum - 1;
	}
	return sum;
}

__attribute__((noipa)) static long several(const unsigned *list, const unsigned *by)
{
	long sum = 0;

	try {
		leaver leaver;

		for (int i = 0; i < COUNT; i++) {
			if (list[i] % 2 != 0)
				sum += list[i] / by[i];
			else
				sum -= 3;
		}
	} catch (const trap &) {
		return -sum - 1;
	}
	return sum;
}

int main()
{
	static unsigned list[COUNT], by[COUNT];

	signal(SIGFPE, handler);
	for (unsigned i = 0; i < COUNT; i++) {
		list[i] = 2 * i * i + (i % 3 != 0);
		by[i] = i % 5 + 1;
	}
	for (unsigned &at : by) {
		unsigned old = at;

		at = 0;
		printf("%ld %ld\n", one_block(list, by), several(list, by));
		at = old;
	}
	printf("%d cleaned up\n", left);
}
