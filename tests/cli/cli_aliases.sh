#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Code with several symbol names: reports show them, and every name selects the code.
set -u
. "$(dirname "$0")/../lib/tool_cli.sh"
. "$(dirname "$0")/../lib/calc_db.sh"

# Functions of two classes at one address, as from a linker that folds identical code; an alias with
# a smaller size; a weak one; labels; compiler-generated names.
cat > "$scratch/zed.s" << 'END'
	.text
	.globl _ZN3Zed5drainEl, _ZN6Abelia4fillEl
	.type _ZN3Zed5drainEl, @function
	.type _ZN6Abelia4fillEl, @function
	.p2align 4
_ZN6Abelia4fillEl:
_ZN3Zed5drainEl:
	movl %edi, %eax
1:	decl %eax
	jnz 1b
	ret
	.size _ZN6Abelia4fillEl, 4
	.size _ZN3Zed5drainEl, . - _ZN3Zed5drainEl

	.globl copy, __copy
	.weak a_weak_copy
	.type copy, @function
	.type __copy, @function
	.type a_weak_copy, @function
	.type c, @function
	.type copy.part.0, @function
	.p2align 4
__copy:
copy:
a_weak_copy:
c:
copy.part.0:
copy_label:
	movl %edi, %eax
inside:
1:	decl %eax
	jnz 1b
	ret
	.size copy, 2
	.size __copy, . - copy
	.size a_weak_copy, . - copy
	.size c, . - copy
	.size copy.part.0, . - copy
	.section .note.GNU-stack,"",@progbits
END
for file in one two; do
	cat > "$scratch/$file.c" << END
static __attribute__((noinline, noclone)) int helper(volatile int *n)
{
	while (*n > 0)
		--*n;
	return *n;
}
int call_$file(int n)
{
	return helper(&n);
}
END
done
cat > "$scratch/main.c" << 'END'
int copy(int), call_one(int), call_two(int);
int main(int argc, char **argv)
{
	return argc > 5 ? copy(argc) + call_one(argc) + call_two(argc) : !argv;
}
END
cat > "$scratch/api.c" << 'END'
int old(volatile int *n) { while (*n > 0) --*n; return *n; }
int current(volatile int *n) { while (*n > 1) --*n; return *n; }
int only(volatile int *n) { while (*n > 2) --*n; return *n; }
__asm__(".symver old, api@V1\n.symver current, api@@V2\n.symver only, sole@@V2");
END
echo 'V1 { global: api; local: *; }; V2 { global: api; sole; } V1;' > "$scratch/api.map"
(
	cd "$scratch" || exit
	gcc -O1 -fno-inline -c one.c two.c main.c -fno-lto &&
		gcc -O1 -o zed zed.s one.o two.o main.o &&
		gcc -O1 -shared -fPIC -fno-lto -Wl,--version-script=api.map -o libapi.so api.c &&
		cp libapi.so stripped.so && strip stripped.so
) > "$scratch/log" 2>&1
check "programs are made" test -s "$scratch/stripped.so"

# address FILE NAME [NUMBER]: print the address of a symbol, of the second one with NUMBER 2
address()
{
	nm "$scratch/$1" | awk -v name="$2" -v nth="${3:-1}" '$3 == name && ++n == nth { print $1 }'
}

# samples FILE NAME COUNT [NUMBER [BYTE]]: print samples at a byte of a procedure
samples()
{
	printf 'sample 0 0x%x %d\n' $((0x$(address "$1" "$2" "${4:-1}") + ${5:-0})) "$3"
}

zed_db()
{
	echo "event cycles cycles 60000 64000"
	echo "epoch Some CPU"
	echo "image file - $scratch/zed"
	samples zed _ZN3Zed5drainEl 100
	samples zed _ZN3Zed5drainEl 900 1 4
	samples zed copy 50
	samples zed copy 450 1 4
	samples zed helper 300
	samples zed helper 200 2
	samples zed main 5
	for library in libapi stripped; do
		echo "image file - $scratch/$library.so"
		samples libapi.so api@V1 70
		samples libapi.so api@@V2 60
		samples libapi.so sole@@V2 40
	done
	echo end
}
zed_db | make_db zed

prof()
{
	"$bin/dcpiprof" --db "$scratch/zed.db" "$@"
}

# rows ARGUMENT...: print samples and procedure of each row of text
rows()
{
	prof "$@" | sed -nE 's,^ *([0-9]+) +[0-9.]+% +[0-9.]+% +(.*[^ ]) +/.*/[a-z.]+$,\1 \2,p' |
		sed 's/ *$//'
}

is "rows of a program" "$(rows -i zed)" "1000 Zed::drain(long) (+1 alias)
500 copy (+5 aliases)
300 helper (one.c)
200 helper (two.c)
5 main"
is "versions, with symbols" "$(rows -i libapi.so)" "70 api@V1 (+1 alias)
60 api@@V2 (+1 alias)
40 sole (+1 alias)"
is "versions, of dynamic symbols alone" "$(rows -i stripped.so)" "70 api@V1
60 api@@V2
40 sole"
is "a second time, from the index" "$(rows -i stripped.so; rows -i zed | head -n 2)" "70 api@V1
60 api@@V2
40 sole
1000 Zed::drain(long) (+1 alias)
500 copy (+5 aliases)"
is "as linkers have them" "$(rows -i zed --no-demangle | head -n 1)" \
	"1000 _ZN3Zed5drainEl (+1 alias)"

# names JQ ARGUMENT...: print the result of a jq expression for the rows
names()
{
	prof --json "${@:2}" | jq -c "[.rows[] | $1]"
}
is "JSON has names alone" "$(names .procedure -i libapi.so)" '["api@V1","api@@V2","sole"]'
is "JSON has the aliases" "$(names .aliases -i libapi.so)" '[["old"],["current"],["only"]]'
is "JSON has no aliases where there are none" "$(names .aliases -i stripped.so)" '[[],[],[]]'
is "all aliases, in order" "$(names .aliases -i zed | jq -c '.[0, 1]')" \
	'["Abelia::fill(long)"]
["__copy","a_weak_copy","c","copy.part.0","copy_label"]'
is "CSV has them, too" "$(prof --csv -i libapi.so | tr -d '\r' | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++)
	if ($i == "aliases") column = i } { print $column }')" "aliases
old
current
only"
valid "aliases" dcpiprof prof

# selected OPERAND: print the procedure that dcpilist selects
selected()
{
	"$bin/dcpilist" --db "$scratch/zed.db" --asm "$@" 2>&1 |
		sed -nE 's/^(dcpilist: .*|procedure +(.*))/\1/p; ' | sed 's/^procedure *//'
}

for name in Zed::drain "Zed::drain(long)" "Zed::drain(long) (+1 alias)" _ZN3Zed5drainEl \
	Abelia::fill "Abelia::fill(long)" _ZN6Abelia4fillEl zed:Abelia::fill; do
	is "selects the row: $name" "$(selected "$name")" "Zed::drain(long) (+1 alias)"
done
for name in copy __copy a_weak_copy c copy.part.0 copy_label inside "copy (+5 aliases)"; do
	is "selects the row: $name" "$(selected "$name")" "copy (+5 aliases)"
done
is "an old version" "$(selected libapi.so:api@V1)" "api@V1 (+1 alias)"
is "the current version" "$(selected libapi.so:api@@V2)" "api@@V2 (+1 alias)"
is "the current version, with one sign" "$(selected libapi.so:api@V2)" "api@@V2 (+1 alias)"
is "by the name of the implementation" "$(selected old)" "api@V1 (+1 alias)"
is "of dynamic symbols alone" "$(selected stripped.so:api@V1)" "api@V1"
is "a version that needs not be given" "$(selected stripped.so:sole@@V2)" "sole"
like "no such version" "$(selected stripped.so:api@V3)" "no procedure 'api@V3'"
like "without version, it may be one of two" "$(selected stripped.so:api)" "is ambiguous: 2 procedures"
is "of two files' procedures, one" "$(selected "helper (two.c)")" "helper (two.c)"
like "of two files' procedures" "$(selected helper)" "is ambiguous: 2 procedures"
for tool in dcpicalc dcpicfg; do
	like "$tool by an alias" "$("$bin/$tool" --db "$scratch/zed.db" Abelia::fill)" \
		"Zed::drain\(long\)"
done
is "the others are listed" "$("$bin/dcpicalc" --db "$scratch/zed.db" __copy |
	grep -c 'also named')" 5
is "JSON of dcpicalc" "$("$bin/dcpicalc" --db "$scratch/zed.db" --json Abelia::fill |
	jq -c '[.procedure, .aliases]')" '["Zed::drain(long)",["Abelia::fill(long)"]]'
like "dcpisumm" "$("$bin/dcpisumm" --db "$scratch/zed.db" --by procedure -i zed)" \
	"Zed::drain\(long\) \(\+1 alias\)"

# A linker that folds identical code: one row for the address, which each name selects.
cat > "$scratch/fold.cc" << 'END'
struct Zed { long drain(long n); };
struct Abe { long fill(long n); };
__attribute__((noinline)) long Zed::drain(long n) { volatile long s = n; while (s > 0) s--; return s; }
__attribute__((noinline)) long Abe::fill(long n) { volatile long s = n; while (s > 0) s--; return s; }
int main(int argc, char **) { return (int)(Zed().drain(argc) + Abe().fill(argc)); }
END
for linker in gold lld; do
	if ! g++ -O1 -ffunction-sections -fuse-ld=$linker -Wl,--icf=all -o "$scratch/fold" \
		"$scratch/fold.cc" 2> "$scratch/err"; then
		skip "code that $linker folds" "no $linker here"
		continue
	fi
	{
		echo "event cycles cycles 60000 64000"
		echo "epoch Some CPU"
		echo "image file - $scratch/fold"
		offset=$(objdump -F -d "$scratch/fold" | sed -nE \
			'/<_ZN3(Zed5drain|Abe4fill)El>.*File Offset/s/.*File Offset: (0x[0-9a-f]+).*/\1/p' |
			head -n 1)
		printf 'sample 0 %s 77\n' "$offset"
		echo end
	} | make_db fold
	"$bin/dcpiprof" --db "$scratch/fold.db" --json > "$scratch/json"
	is "code that $linker folds: both names" "$(jq -c '.rows[0] |
		[.procedure, .aliases[]] | sort' "$scratch/json")" \
		'["Abe::fill(long)","Zed::drain(long)"]'
	for name in Abe::fill Zed::drain; do
		like "code that $linker folds: $name" \
			"$("$bin/dcpilist" --db "$scratch/fold.db" --asm "$name")" \
			"(fill|drain)\(long\) \(\+1 alias\)"
	done
done

tap_done
