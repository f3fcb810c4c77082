// SPDX-License-Identifier: GPL-2.0-only
/*
 * LLVM's profile inference (llvm::applyFlowInference: He, Mestre, Pupyrev, Wang and Yu,
 * "Profile inference revisited", POPL 2022) for graphs of any origin, to be measured
 * against. Reads procedures from standard input:
 *
 *	procedure BLOCKS
 *	block WEIGHT		as many; -1: not known
 *	jump FROM TO		numbers of blocks; FROM or TO -1: entry, exit
 *	end
 *
 * and prints, for each, the blocks' flows on one line.
 */
#include <cstdint>
#include <deque>
#include <iostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <llvm/Transforms/Utils/SampleProfileInference.h>

namespace
{

struct graph {
	std::vector<int64_t> weights;
	std::set<std::pair<uint64_t, uint64_t>> jumps;
	uint64_t entry() const { return weights.size(); }
	uint64_t exit() const { return weights.size() + 1; }
};

bool read(graph &g)
{
	std::string word;
	size_t blocks;

	if (!(std::cin >> word >> blocks) || word != "procedure")
		return false;
	g = {};
	while (std::cin >> word && word != "end") {
		int64_t from, to;

		if (word == "block" && std::cin >> from)
			g.weights.push_back(from);
		else if (word == "jump" && std::cin >> from >> to)
			g.jumps.insert({from < 0 ? blocks : static_cast<uint64_t>(from),
					to < 0 ? blocks + 1 : static_cast<uint64_t>(to)});
		else
			return false;
	}
	return g.weights.size() == blocks;
}

/* From the entry, or backwards from the exit. */
std::vector<bool> reached(const graph &g, bool backwards)
{
	std::vector<std::vector<uint64_t>> next(g.weights.size() + 2);
	std::vector<bool> seen(next.size());
	std::deque<uint64_t> queue = {backwards ? g.exit() : g.entry()};

	for (const auto &[from, to] : g.jumps)
		next[backwards ? to : from].push_back(backwards ? from : to);
	seen[queue.front()] = true;
	while (!queue.empty()) {
		for (uint64_t to : next[queue.front()]) {
			if (!seen[to])
				queue.push_back(to);
			seen[to] = true;
		}
		queue.pop_front();
	}
	return seen;
}

/* LLVM never shows its inference blocks that control doesn't reach, nor endless loops. */
std::vector<bool> complete(graph &g)
{
	std::vector<bool> seen = reached(g, false);

	for (;;) {
		std::vector<bool> leaves = reached(g, true);
		uint64_t b = g.weights.size();

		while (b > 0 && (!seen[b - 1] || leaves[b - 1]))
			b--;
		if (b == 0)
			break;
		g.jumps.insert({b - 1, g.exit()});
	}
	seen[g.exit()] = true;
	return seen;
}

void infer(graph &g)
{
	std::vector<bool> seen = complete(g);
	std::vector<uint64_t> number(seen.size());
	llvm::FlowFunction function;

	for (uint64_t b = 0; b < seen.size(); b++) {
		bool known = b < g.weights.size() && g.weights[b] >= 0;

		if (!seen[b])
			continue;
		number[b] = function.Blocks.size();
		function.Blocks.emplace_back();
		function.Blocks.back().Index = number[b];
		function.Blocks.back().UnknownWeight = !known;
		function.Blocks.back().Weight = known ? static_cast<uint64_t>(g.weights[b]) : 0;
	}
	for (const auto &[from, to] : g.jumps) {
		if (!seen[from])
			continue;
		function.Jumps.emplace_back();
		function.Jumps.back().Source = number[from];
		function.Jumps.back().Target = number[to];
		if (from == to)
			function.Blocks[number[from]].HasSelfEdge = true;
	}
	for (auto &jump : function.Jumps) {
		function.Blocks[jump.Source].SuccJumps.push_back(&jump);
		function.Blocks[jump.Target].PredJumps.push_back(&jump);
	}
	function.Entry = number[g.entry()];
	llvm::applyFlowInference(function);
	for (uint64_t b = 0; b < g.weights.size(); b++)
		std::cout << (b ? " " : "") << (seen[b] ? function.Blocks[number[b]].Flow : 0);
	std::cout << '\n';
}

} // namespace

int main()
{
	graph g;

	while (read(g))
		infer(g);
	return std::cin.eof() ? 0 : 2;
}
