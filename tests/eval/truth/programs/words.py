# SPDX-License-Identifier: GPL-2.0-only
"""Count the words of a text by length, and list the most frequent pairs of successive words."""
import sys

lengths = {}
pairs = {}
with open(sys.argv[1], encoding="ascii") as text:
    for line in text:
        words = line.split()
        for word in words:
            lengths.setdefault(len(word), set()).add(word)
        for pair in zip(words, words[1:]):
            pairs[pair] = pairs.get(pair, 0) + 1
print({n: len(words) for n, words in sorted(lengths.items())})
print(sorted(pairs.items(), key=lambda item: (-item[1], item[0]))[:5])
