// SPDX-License-Identifier: GPL-2.0-only
/* C++: maps, strings, sorting with a closure, virtual calls, exceptions now and then. */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace
{

uint32_t seed = 9;

uint32_t draw()
{
	seed = seed * 1664525U + 1013904223U;
	return seed >> 8;
}

struct shape {
	virtual ~shape() = default;
	virtual double area() const = 0;
};

struct circle : shape {
	explicit circle(double r) : radius(r) {}
	double area() const override { return 3.14159 * radius * radius; }
	double radius;
};

struct box : shape {
	box(double w, double h) : width(w), height(h) {}
	double area() const override
	{
		if (width > 9.99)
			throw std::out_of_range("box");
		return width * height;
	}
	double width, height;
};

struct polygon : shape {
	explicit polygon(int n)
	{
		for (int i = 0; i < n; i++)
			points.push_back({draw() % 100 / 10.0, draw() % 100 / 10.0});
	}
	double area() const override
	{
		double sum = 0;

		for (size_t i = 0; i < points.size(); i++) {
			const auto &a = points[i], &b = points[(i + 1) % points.size()];

			sum += a.first * b.second - b.first * a.second;
		}
		return sum < 0 ? -sum / 2 : sum / 2;
	}
	std::vector<std::pair<double, double>> points;
};

double shapes()
{
	std::vector<std::unique_ptr<shape>> all;
	double sum = 0;

	for (int i = 0; i < 500; i++) {
		switch (draw() % 3) {
		case 0: all.push_back(std::make_unique<circle>(draw() % 10)); break;
		case 1: all.push_back(std::make_unique<box>(draw() % 1001 / 100.0, 2)); break;
		default: all.push_back(std::make_unique<polygon>(3 + draw() % 6)); break;
		}
	}
	for (int round = 0; round < 10; round++) {
		for (const auto &s : all) {
			try {
				sum += s->area();
			} catch (const std::out_of_range &) {
				sum += 1;
			}
		}
	}
	return sum;
}

size_t words()
{
	std::map<std::string, int> ordered;
	std::unordered_map<std::string, int> hashed;
	std::vector<std::pair<std::string, int>> list;
	size_t sum = 0;

	for (int i = 0; i < 4000; i++) {
		std::string word = "w" + std::to_string(draw() % 700) +
				   (i % 3 == 0 ? "-with-a-longer-tail" : "");

		ordered[word]++;
		hashed[word] += 2;
	}
	list.assign(ordered.begin(), ordered.end());
	std::sort(list.begin(), list.end(), [](const auto &a, const auto &b) {
		return a.second != b.second ? a.second > b.second : a.first < b.first;
	});
	for (const auto &[word, count] : list)
		sum += word.size() * static_cast<size_t>(count + hashed[word]);
	return sum;
}

size_t erase_some()
{
	std::map<uint32_t, uint32_t> tree;

	for (int i = 0; i < 3000; i++)
		tree[draw() % 10000] = draw();
	for (int i = 0; i < 3000; i++)
		tree.erase(draw() % 10000);
	auto it = tree.lower_bound(5000);
	return tree.size() + (it == tree.end() ? 0 : it->first);
}

} // namespace

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	double sum = 0;

	for (int r = 0; r < rounds; r++)
		sum += shapes() + static_cast<double>(words() + erase_some());
	std::printf("%.3f\n", sum);
	return 0;
}
