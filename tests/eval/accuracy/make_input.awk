# SPDX-License-Identifier: GPL-2.0-only
# Print lines of words, always the same, as input for the programs of Debian.
function draw(n)
{
	state = state * 16807 % 2147483647 # Park and Miller
	return state % n
}
BEGIN {
	state = 73
	for (i = 0; i < 2000; i++) {
		word[i] = ""
		for (k = 2 + draw(8); k > 0; k--)
			word[i] = word[i] substr("etaoinshrdlucmfw", 1 + draw(16), 1)
	}
	for (line = 0; line < 6000; line++) {
		text = line % 7 == 0 ? draw(100000) : word[draw(2000)]
		for (k = draw(12); k > 0; k--)
			text = text " " word[int(draw(2000) * draw(2000) / 2000)]
		print text
	}
}
