# SPDX-License-Identifier: GPL-2.0-only
# Numbers away, pairs of words exchanged, vowels marked, lines joined by two.
s/[0-9][0-9]*//g
s/\([a-z]*\) \([a-z]*\)/\2 \1/g
s/[aeiou]\{2,\}/<&>/g
N
s/\n/ + /
/^ *+/d
