#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Test dcpiopt. An optimizer that returns prepared files tests everything but BOLT: a copy that is
# faster, slower, wrong, crashes or hangs. Then BOLT itself rewrites a program.
set -u
. "$(dirname "$0")/../lib/tool_cli.sh"
db=$scratch/run.db
real_path=$PATH

opt()
{
	(cd "$scratch" && "$dcpiopt" "$@")
}

refused()
{
	tool_refused dcpiopt "$@"
}

# status STATUS RE NAME COMMAND...: test a command that reports to stdout
status()
{
	local want=$1 re=$2 name=$3 got
	shift 3

	got=$("$@" 2> "$scratch/err")
	want="$want $?"
	[ "${want% *}" = "${want#* }" ] && printf '%s\n' "$got" | grep -qE -- "$re" &&
		[ ! -s "$scratch/err" ]
	is "$name" $? 0
	[ "${want% *}" = "${want#* }" ] || printf '# status %s\n%s\n' "$want" "$got"
}

dcpiopt=$(realpath "$bin/dcpiopt")
folder=$scratch/work.opt

# work.c: as many iterations as the macro has. Output and status depend on the arguments.
cat > "$scratch/work.c" <<'EOF2'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __attribute__((noinline)) unsigned int step(unsigned int x)
{
	return x & 1 ? 3 * x + 1 : x / 2 + 12345;
}

int main(int argc, char **argv)
{
	volatile unsigned int x = 1;

	if (argc > 1 && strcmp(argv[1], "--version") == 0)
		return puts("work 1") < 0;
	for (long i = 0; i < ITERATIONS; i++)
		x = step(x);
#ifdef CRASH
	abort();
#endif
	printf("%s: %d arguments\n", strrchr(argv[0], '/') + 1, argc - 1);
#ifdef WRONG
	puts("wrong");
#endif
	return argc > 1 ? 3 : 0;
}
EOF2
build()
{
	"${CC:-gcc}" -O1 -Wl,-q "${@:2}" -o "$scratch/$1" "$scratch/work.c"
}

build_all()
{
	build work -DITERATIONS=60000000 && build fast -DITERATIONS=6000000 &&
		build slow -DITERATIONS=180000000 && build wrong -DITERATIONS=1 -DWRONG &&
		build crash -DITERATIONS=1 -DCRASH &&
		strip -o "$scratch/bare" "$scratch/work" &&
		objcopy -R .rela.text "$scratch/work" "$scratch/norelocs"
}
check "programs are built" build_all

# An optimizer for the test: it returns $scratch/result. It fails until it must skip "helper/1".
mkdir "$scratch/tools"
cat > "$scratch/tools/llvm-bolt" <<EOF2
#!/bin/sh
echo "\$*" >> "$scratch/calls"
case "\$*" in
*-skip-funcs=helper/1*) ;;
*) echo "BOLT-ERROR: unable to get new address corresponding to input address 0x3d in function" \
	"helper/1(*2). Consider adding this function to --skip-funcs=..."; exit 1 ;;
esac
exec cp "$scratch/result" "\$3"
EOF2
chmod +x "$scratch/tools/llvm-bolt"
PATH=$scratch/tools:$real_path

# prepared RESULT: prepare the program with this result
prepared()
{
	cp "$scratch/$1" "$scratch/result" && opt prepare work --db "$db"
}

# Samples of the program, and of one without relocations.
has_samples()
{
	"$bin/dcpirun" -q -e cpu-clock --user --db "$db" "$scratch/work" > "$scratch/out" &&
		"$bin/dcpiexport" --db "$db" -f bolt -i work > /dev/null 2>&1
}
check "the program is profiled" eventually has_samples

# rank
valid "rank" dcpiopt "$bin/dcpiopt" rank --db "$db"
is "rank: the gain is an interval, at most the image's share" \
	"$(jq '[.rows[] | .gain_low_percent <= .gain_high_percent and
		.gain_high_percent <= .percent + 0.001] | all' "$scratch/json")" true
is "rank: the program can be prepared" \
	"$(jq -r '.rows[] | select(.image | endswith("/work")) | .advice' "$scratch/json")" prepare
is "rank: a gain below --least is not worth it" "$("$bin/dcpiopt" rank --db "$db" --least 100 --json |
	jq -r '.rows[] | select(.image | endswith("/work")) |
		if .gain_high_percent < 100 then .advice else "not worth it: the gain is too small" end')" \
	"not worth it: the gain is too small"
refused 2 "unknown|no such column" "$bin/dcpiopt" rank --db "$db" --sort nothing

# prepare: not worth it, with the reason
status 1 'not worth it: it has no relocations' "prepare: no relocations" \
	opt prepare norelocs --db "$db"
status 1 'not worth it: it is stripped' "prepare: stripped" opt prepare bare --db "$db"
refused 2 "cannot open 'none'" "$bin/dcpiopt" prepare none --db "$db"
refused 2 "is not an ELF file" "$bin/dcpiopt" prepare "$0" --db "$db"
# A build that was not profiled: the profile of another build of the same path is not used.
mv "$scratch/work" "$scratch/work.kept"
check "another build gets the program's path" build work -DITERATIONS=60000001
like "prepare: a profile of another build is refused" \
	"$(cp "$scratch/fast" "$scratch/result"; opt prepare work --db "$db" 2>&1)" \
	'no profile of this build'
mv "$scratch/work.kept" "$scratch/work"

# prepare: inputs of other optimizers are those of dcpiexport
status 0 'llvm-profgen' "prepare --for autofdo" opt prepare work --db "$db" --for autofdo
is "its ranges are those of dcpiexport" "$(cat "$folder/profile.ranges")" \
	"$("$bin/dcpiexport" --db "$db" -i work -f profgen)"
status 0 'symbol-ordering-file' "prepare --for order" opt prepare work --db "$db" --for order
is "the order has the procedures" "$(sort "$folder/symbols.order" | tr '\n' ' ')" "main step "
refused 2 "unknown optimizer 'blot' .did you mean 'bolt'" "$bin/dcpiopt" prepare x --for blot
refused 2 "is not a folder of 'dcpiopt prepare'" "$bin/dcpiopt" check "$folder"

# prepare without a program: all that rank advises
cp "$scratch/fast" "$scratch/result"
status 0 "all/work-.*program: optimised copy of '.*/work'" "prepare: the ranking" \
	opt prepare --db "$db" --folder all
status 0 'work-[0-9a-f]{8}.opt: prepared earlier' "prepare: the ranking again" \
	opt prepare --db "$db" --folder all
refused 2 "'prepare' needs more arguments" "$bin/dcpiopt" prepare --for order
refused 2 "cannot open '.*missing.db'" "$bin/dcpiopt" prepare --db "$scratch/missing.db"

# A faster copy: check, measure, install, roll back.
: > "$scratch/calls"
status 0 "optimised copy of '.*/work'" "prepare: a copy" prepared fast
is "prepare: BOLT is run again without a function that it cannot rewrite" \
	"$(grep -c skip-funcs=helper/1 "$scratch/calls")/$(wc -l < "$scratch/calls")" 1/2
refused 2 "passed no check" "$bin/dcpiopt" install "$folder"
status 0 passed "check: --version by default" opt check work.opt
refused 2 "no gain is measured" "$bin/dcpiopt" install "$folder"
refused 2 "no argument '[{][}]'" "$bin/dcpiopt" check "$folder" -- true
refused 2 "two runs of .* differ" "$bin/dcpiopt" check "$folder" -- sh -c 'echo $$' {}
refused 2 "cannot run '/nonexistent'" "$bin/dcpiopt" check "$folder" -- /nonexistent {}
refused 2 "must use 0.02 s or more" "$bin/dcpiopt" measure "$folder" --pairs 3 -- {} --version
refused 2 "not a number of pairs, 3 to" "$bin/dcpiopt" measure "$folder" --pairs 2 -- {}
status 0 'CPU time that the copy saves: [0-9.]+% to [0-9.]+%' "measure: the copy is faster" \
	opt measure work.opt --pairs 4 -- {} argument
is "measure: the interval contains nine tenths, the known gain" "$(awk '$1 == "gain_low" { low = $2 }
	$1 == "gain_high" { high = $2 } END { print (low <= 93 && high >= 87) }' "$folder/state")" 1
status 0 'work.dcpiopt: installed' "install: beside the original" opt install work.opt
is "the copy is there, with the mode of the original" \
	"$(cmp "$scratch/work.dcpiopt" "$scratch/fast" && stat -c %a "$scratch/work.dcpiopt")" \
	"$(stat -c %a "$scratch/work")"
refused 2 "File exists" "$bin/dcpiopt" install "$folder"
status 0 'work.dcpiopt: removed' "rollback: the copy is removed" opt rollback work.opt
cp -p "$scratch/work" "$scratch/before"
status 0 replaced "install --replace: in place of the original" opt install work.opt --replace
is "the copy has the name" "$(cmp "$scratch/work" "$scratch/fast" &&
	cmp "$scratch/work.dcpi-original" "$scratch/before" && echo same)" same
status 0 restored "rollback: the original is restored" opt rollback work.opt
is "and nothing else remains" "$(cmp "$scratch/work" "$scratch/before" &&
	cd "$scratch" && echo work.dcpi*)" 'work.dcpi*'
refused 1 "is installed" "$bin/dcpiopt" rollback "$folder"
# A package was updated after the installation.
check "it is installed again" opt install work.opt --replace
cp "$scratch/norelocs" "$scratch/update" && mv "$scratch/update" "$scratch/work"
status 0 "left as it is" "rollback: an updated program is left alone" opt rollback work.opt
is "the update remains" "$(cmp "$scratch/work" "$scratch/norelocs" && echo same)" same
refused 2 "has changed: run 'dcpiopt prepare' again" "$bin/dcpiopt" install "$folder"
check "the program is restored" cp -p "$scratch/before" "$scratch/work"
chmod u+s "$scratch/work"
refused 2 "is set-user-ID" "$bin/dcpiopt" install "$folder"
chmod u-s "$scratch/work"
echo x >> "$folder/program"
refused 2 "program' has changed" "$bin/dcpiopt" check "$folder"

# Copies that are slower, or wrong.
check "a slower copy is prepared" prepared slow
check "and checked" opt check work.opt
status 1 'not worth it: the copy is slower' "measure: the copy is slower" \
	opt measure work.opt --pairs 3 -- {}
refused 2 "the copy is not faster" "$bin/dcpiopt" install "$folder"
status 0 installed "install --force" opt install work.opt --force
check "it is rolled back" opt rollback work.opt
check "a wrong copy is prepared" prepared wrong
status 1 'their output differs' "check: another output" opt check work.opt -- {} argument
check "a crashing copy is prepared" prepared crash
status 1 'copy: ended by signal 6' "check: a crash" opt check work.opt -- {}
status 1 'copy: ended by signal 6' "measure: a crash" opt measure work.opt -- {}
refused 2 "passed no check" "$bin/dcpiopt" install "$folder" --force
for damage in 's/^original .*/original work/' 's/digest ./digest x/' 2,9d 's/^gain_low.*/gain_low nan/' \
	's/^pairs.*/pairs -1x/' 's/^checked.*/checked 7/'; do
	cp "$folder/state" "$scratch/state"
	sed -i "$damage" "$folder/state"
	refused 2 "is damaged" "$bin/dcpiopt" check "$folder"
	mv "$scratch/state" "$folder/state"
done
refused 2 "a command is required" "$bin/dcpiopt"
refused 2 "unknown command 'mesure' .did you mean 'measure'" "$bin/dcpiopt" mesure
refused 2 "'measure' needs more arguments" "$bin/dcpiopt" measure "$folder"
refused 2 "unexpected argument 'more'" "$bin/dcpiopt" rank more

# BOLT itself, if it is installed.
PATH=$real_path
bolt=$(compgen -c llvm-bolt | sort -Vr | head -n 1)
interpreter=docs/optimize/interpreter.c
profiled()
{
	"$bin/dcpirun" -q -e cpu-clock --user --db "$scratch/bolt.db" "$scratch/interpreter" 60000 \
		> /dev/null && "$bin/dcpiexport" --db "$scratch/bolt.db" -f bolt -i interpreter > /dev/null
}
if [ -z "$bolt" ]; then
	not_measured "BOLT: a program is rewritten" "no llvm-bolt"
elif [ "$(uname -m)" != x86_64 ]; then
	not_measured "BOLT: a program is rewritten" "not x86-64"
else
	# BOLT does not understand all jump tables of position-independent code.
	check "BOLT: a program is built" clang -O2 -fno-pie -no-pie -Wl,-q -o "$scratch/interpreter" "$interpreter"
	check "BOLT: it is profiled" eventually profiled
	status 0 'optimised copy' "BOLT: it is rewritten" opt prepare interpreter --db "$scratch/bolt.db"
	is "BOLT: all of the profile is in the program" "$(grep -oE \
		'mismatching disassembled function contents: [0-9]+' "$scratch/interpreter.opt/llvm-bolt.log")" \
		'mismatching disassembled function contents: 0'
	status 0 passed "BOLT: the copy does what the original does" \
		opt check interpreter.opt -- {} 2000
	status 1 'BOLT has already rewritten it' "BOLT: a copy is not rewritten again" \
		opt prepare interpreter.opt/program --db "$scratch/bolt.db"
fi
tap_done
