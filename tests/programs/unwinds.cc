// SPDX-License-Identifier: GPL-2.0-only
/* Exceptions over procedures that are on their way, in one thread, for paths. */
#include <cstdio>
#include <stdexcept>

static unsigned int seed = 1;

__attribute__((noipa)) static unsigned int draw(unsigned int below)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % below;
}

struct guard {
	long *sum;
	~guard() { *sum += draw(2) ? 5 : 7; }
};

__attribute__((noipa)) static long deeper(int n, long *sum)
{
	guard it{sum};

	if (draw(2) == 0)
		*sum += 3;
	if (n == 0 && draw(3) == 0)
		throw std::runtime_error("far");
	if (n > 0) {
		try {
			*sum += deeper(n - 1, sum);
		} catch (const std::exception &) {
			if (draw(3) == 0)
				throw;
			*sum -= n;
		}
	}
	return draw(2) == 0 ? *sum : -*sum;
}

int main()
{
	long sum = 0;

	for (int i = 0; i < 2000; i++) {
		try {
			sum = sum % 1000 + deeper((int)draw(6), &sum);
		} catch (const std::exception &) {
			sum += 11;
		}
	}
	std::printf("%ld\n", sum);
	return 0;
}
