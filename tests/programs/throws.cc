// SPDX-License-Identifier: GPL-2.0-only
/* Exceptions through several frames, threads and templates, for programs that are rewritten. */
#include <atomic>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct leaver {
	const char *name;
	~leaver() { printf("left %s\n", name); }
};

__attribute__((noipa)) static int deep(int n)
{
	if (n == 0)
		throw std::runtime_error("deep");
	return deep(n - 1) + 1;
}

__attribute__((noipa)) static int middle(int n)
{
	leaver left{"middle"};

	return deep(n) * 2;
}

int main()
{
	std::map<std::string, int> numbers;
	std::vector<int> values;
	std::vector<std::thread> threads;
	std::atomic<long> sum{0};

	for (int i = 0; i < 20000; i++) {
		numbers[std::to_string(i % 977)] += i;
		values.push_back(i * 7 % 1001);
	}
	for (int k = 0; k < 5; k++) {
		try {
			middle(k);
		} catch (const std::exception &error) {
			printf("caught %s %d\n", error.what(), k);
		}
	}
	for (int k = 0; k < 8; k++)
		threads.emplace_back([&, k] {
			for (int i = 0; i < 10000; i++)
				sum += values[(i * k) % values.size()];
		});
	for (auto &one : threads)
		one.join();
	printf("%ld %zu %d\n", sum.load(), numbers.size(), numbers["5"]);
	try {
		numbers.at("none");
	} catch (std::out_of_range &) {
		puts("out of range");
	}
	return 0;
}
