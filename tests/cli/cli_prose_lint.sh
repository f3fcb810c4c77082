#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# The prose lint reports each kind of fault at its line, exempts what CONTRIBUTING.md
# exempts, and restricts itself to the lines that a change adds.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

lint=$PWD/tests/prose_lint.py
if git rev-parse --is-inside-work-tree > /dev/null 2>&1; then
	check "no folder of this tree has more than 1.0 findings per 1,000 words" "$lint" --tree
else
	skip "no folder of this tree has more than 1.0 findings per 1,000 words" "no git checkout"
fi
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2

# findings FILE: "LINE MESSAGE" of each finding
findings()
{
	"$lint" "$1" | sed 's/^[^:]*://; s/: / /'
}

long='The reader copies one entry of the table into the buffer of the program that asked
 * for it and then copies the next entry of the table into the same buffer and then copies
 * one more entry of the table.'
cat > faults.c << END
/* The entry is seldom read. */
int a; /* Whether the entry is valid. */
/*
 * $long
 */
char *s = "/* nobody */ // whoever";
// Whose entry is it?
END
is "faults of C comments" "$(findings faults.c)" '1 idiom "seldom": use rarely
2 a sentence opens with "Whether": name the subject first
4 a sentence of 40 words: divide it (at most 35)'

# Comments after code are independent: together, these have 40 words.
{
	echo 'enum {'
	for i in 1 2 3 4 5; do
		echo "	ENTRY_$i, /* entry of the table that the reader copies first */"
	done
	echo '};'
} > table.c
is "comments after code are independent" "$(findings table.c)" ""

cat > faults.sh << 'END'
#!/bin/sh
# The table is written anew.
echo "# nobody"	# told by the kernel
END
is "faults of shell comments" "$(findings faults.sh)" '2 idiom "anew": use again
3 idiom "told": use reported, known from'

cat > faults.md << 'END'
# What nobody reads

The entry is behind the table.

    nobody reads a code block

```
nobody reads a fenced block
```

- `nobody` is code, "nobody" is a quotation
- Nobody is an idiom

| table | such cells are prose, too, likewise |
END
is "faults of documents" "$(findings faults.md)" '3 idiom "behind": use after (in time or address), past
12 idiom "Nobody": use no process, no caller, no one: name it
14 idiom "likewise": use also, in the same way'

printf '/* The reader copies an entry. */\n' > right.c
check "a file without a fault passes" "$lint" right.c
"$lint" faults.c > /dev/null
is "a file with a fault fails" $? 1
"$lint" missing.c > out 2> errors
is "a missing file: exit status" $? 2
is "a missing file: message" "$(cat errors)" \
	"prose_lint: cannot open 'missing.c': No such file or directory"

# A change: only added lines and new subjects count.
commit()
{
	git add -A && git -c user.name=test -c user.email=test@example.com commit -qm "$1"
}
rm -f ./*
git init -q . && mkdir part && cd part || exit 2
printf '/* An entry that nobody reads. */\n' > old.c
commit "part: add old"
base=$(git rev-parse HEAD)
is "a change without new lines" "$("$lint" --change "$base")" ""
printf '/* An entry that is seldom read. */\n' >> old.c
is "an uncommitted line" "$("$lint" --change "$base")" \
	'part/old.c:2: idiom "seldom": use rarely'
printf 'static int %s(void)\n{\n\treturn 0;\n}\n' compare | tee a.c b.c c.c > d.c
git checkout -q old.c
is "a static name in four files" "$("$lint" --change "$base" | wc -l)" 4
like "a static name: message" "$("$lint" --change "$base")" \
	'^part/a.c:1: static function compare\(\) is defined in 4 files: prefix it with its object$'
rm d.c
commit "part: entries are there once"
like "a subject that is not imperative" "$("$lint" --change "$base")" \
	'^commit:[0-9a-f]+: subject "part: entries are there once" does not name the change'

"$lint" --tree > out
is "a tree above the limit fails" $? 1
like "a tree: rate of its folder" "$(cat out)" '^  part +5 words +1 findings +200.0 per 1,000$'
tap_done
