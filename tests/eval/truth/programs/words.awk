# SPDX-License-Identifier: GPL-2.0-only
# Count the occurrences of each word, and sum numbers.
{
	for (i = 1; i <= NF; i++) {
		if ($i ~ /^[0-9]+$/)
			sum += $i
		else
			count[tolower($i)]++
	}
	if (/a.*e.*i/ && length($0) > 30)
		long++
	gsub(/[aeiou]/, "")
	vowels += length($0)
}
END {
	for (word in count)
		total += count[word] * length(word)
	print total, sum, long, vowels
}
