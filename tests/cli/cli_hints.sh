#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Advice: near names for a name that does not exist, and options of runtimes that generate code. The
# programs imitate such runtimes: their names are those of the runtimes, and they execute anonymous
# memory.
set -u
. "$(dirname "$0")/../lib/tool_cli.sh"
. "$(dirname "$0")/../lib/calc_db.sh"

# near STATUS TEXT TOOL ARGUMENT...: test that one line of error contains the text
near()
{
	tool_refused "$3" "$1" "$2" "$bin/$3" "${@:4}"
}

# meant NAME TOOL ARGUMENT...: test that the name is suggested, with status 2
meant()
{
	near 2 "did you mean .*'$1'[,?]" "${@:2}"
}

check "a database is made" "$helpers/make_golden_db" "$scratch/golden.db"
golden=(--db "$scratch/golden.db")
for program in dcpid dcpirun dcpictl dcpiimport dcpiprof dcpicalc dcpilist dcpistats dcpidiff dcpisumm \
	dcpitopstalls dcpicfg dcpitop dcpiexport dcpireport dcpipaths dcpicalls dcpicct dcpibursts \
	dcpivpp dcpiweb; do
	meant --version "$program" --verison
done
meant libmi.so dcpiprof "${golden[@]}" -i LIBMI
meant libmi.so dcpiprof "${golden[@]}" --by edge -i ibmi.so
meant libmi.so dcpistats "${golden[@]}" -i libim.so
meant libmi.so dcpidiff "${golden[@]}" -i libim.so 1 3
meant libmi.so dcpiexport "${golden[@]}" -i libim.so
meant libmi.so dcpisumm "${golden[@]}" -i libim.so
meant libmi.so dcpicalc "${golden[@]}" -i libim.so --all
meant libmi.so dcpilist "${golden[@]}" -i libim.so
meant libmi.so dcpicalc "${golden[@]}" libim.so:miZeroArcSetup
for program in dcpiprof dcpilist dcpistats dcpisumm dcpicalc dcpiexport; do
	meant imiss "$program" "${golden[@]}" -e imis
	meant alpha "$program" "${golden[@]}" --host alhpa
	near 2 'there are epochs 1 to 4' "$program" "${golden[@]}" --epoch 44
	near 1 'no epoch matches$' "$program" "${golden[@]}" --since @1900000000
done
near 2 'there are epochs 1 to 4' dcpistats "${golden[@]}" 1 44
meant web.service dcpiprof "${golden[@]}" --unit wbe.service
meant procedure dcpiprof "${golden[@]}" --by procedrue
meant image dcpisumm "${golden[@]}" --by images
meant cycles dcpiprof "${golden[@]}" --sort cycels
meant image dcpiprof "${golden[@]}" --by edge --sort imag
meant before dcpidiff "${golden[@]}" --sort befor 1 3
meant speedscope dcpiexport "${golden[@]}" -f speedscoop
meant alpha21164 dcpicalc "${golden[@]}" --model 21164
meant host dcpistats "${golden[@]}" --by hots
meant others dcpistats "${golden[@]}" --against other
meant total dcpistats "${golden[@]}" --normalize totals
meant procedure dcpitop --by procedrue
meant context dcpix --mode contxt true
meant perf dcpid --source pref
meant cycles dcpirun -e cycels true
meant status dcpictl statsu
meant per-process dcpictl perprocess
printf 'drain_intervall_ms = 5\n' > "$scratch/dcpid.conf"
meant drain_interval_ms dcpid --config "$scratch/dcpid.conf"
printf 'log_level = warn\n' > "$scratch/dcpid.conf"
meant warning dcpid --config "$scratch/dcpid.conf"

check "programs are made" tests/fixtures/calc_fixtures.sh "$scratch"
both_db | make_db both
both=(--db "$scratch/both.db")
meant list.s dcpilist "${both[@]}" --file List.s
meant list.s dcpilist "${both[@]}" --file ist.s
meant "$scratch/list.s" dcpilist "${both[@]}" --file "$scratch/lisst.s"
meant walk dcpilist "${both[@]}" wlak
meant walk dcpicalc "${both[@]}" list:Walk
meant 'space::spin\(.*\)' dcpicfg "${both[@]}" -o "$scratch/none.svg" pin

cat > "$scratch/run.c" << 'END'
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* run PERCENT: executes anonymous memory for so much of half a second of CPU time. */
int main(int argc, char **argv)
{
	/* x86-64: mov %edi,%eax; 1: dec %eax; jnz 1b; ret */
	static const unsigned char code[] = {0x89, 0xf8, 0xff, 0xc8, 0x75, 0xfc, 0xc3};
	double percent = argc > 1 ? atof(argv[1]) : 100, begin = now();
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(p, code, sizeof(code));
	mprotect(p, 4096, PROT_READ | PROT_EXEC);
	while (now() < begin + 0.005 * percent)
		((int (*)(int))p)(100000);
	while (now() < begin + 0.5)
		for (volatile int i = 0; i < 100000; i++)
			;
	return 0;
}
END
check "a program is made" gcc -O1 -o "$scratch/run" "$scratch/run.c"

# hint NAME [PERCENT]: print the lines of advice about a program of that name
hint()
{
	cp "$scratch/run" "$scratch/$1"
	rm -f "$scratch/db"
	"$bin/dcpirun" -q --db "$scratch/db" -e cpu-clock "$scratch/$1" "${2:-100}"
	"$bin/dcpiprof" --db "$scratch/db" | sed -n 's/^hint  *//p'
}

like "node" "$(hint node)" \
	'^[0-9]+ samples, [0-9.]+%, are in code that Node.js generated at run time: .*--perf-basic-prof'
is "one line" "$("$bin/dcpiprof" --db "$scratch/db" | grep -c '^hint')" 1
is "JSON has it" "$("$bin/dcpiprof" --db "$scratch/db" --json | jq -r '.hints | length')" 1
valid "a report with a hint" dcpiprof "$bin/dcpiprof" --db "$scratch/db"
like "other reports, too" "$("$bin/dcpiprof" --by line --db "$scratch/db")" '--perf-basic-prof'
like "a name with a version" "$(hint node18)" '--perf-basic-prof'
like "another one" "$(hint node-22)" '--perf-basic-prof'
is "a name that only begins so" "$(hint node_exporter)" ""
like "julia" "$(hint julia)" 'ENABLE_JITPROFILING=1'
like "mono" "$(hint mono-sgen)" 'mono --jitmap'
like "java" "$(hint java)" '-XX:\+DumpPerfMapAtExit'
like "java: why not that alone" "$(hint java)" 'only when the process ends'
like "python3" "$(hint python3)" '-X perf'
like "python3.12" "$(hint python3.12)" '-X perf'
like "dotnet" "$(hint dotnet)" 'DOTNET_PerfMapEnabled=1'
like "ruby" "$(hint ruby)" '--yjit-perf'
like "half of the time" "$(hint node 50)" '--perf-basic-prof'
is "another program" "$(hint other)" ""
is "a runtime without such code" "$(hint node 0)" ""
is "JSON without a hint" "$("$bin/dcpiprof" --db "$scratch/db" --json | jq -c '.hints')" null

# A launcher with another name, which spends some time in the runtime's library.
cat > "$scratch/jvm.c" << 'END'
void spend(void)
{
	for (volatile int i = 0; i < 100000; i++)
		;
}
END
sed -e 's/for (volatile.*/spend();/; /^\t\t\t;$/d' -e '1i void spend(void);' "$scratch/run.c" \
	> "$scratch/launch.c"
check "a launcher is made" gcc -O1 -shared -fPIC -o "$scratch/libjvm.so" "$scratch/jvm.c"
check "with a library" gcc -O1 -o "$scratch/launcher" "$scratch/launch.c" \
	"$scratch/libjvm.so" -Wl,-rpath,"$scratch"
rm -f "$scratch/db"
"$bin/dcpirun" -q --db "$scratch/db" -e cpu-clock "$scratch/launcher" 70
like "a launcher that loads libjvm.so" "$("$bin/dcpiprof" --db "$scratch/db" | grep '^hint')" \
	'Java'

# With a map that names the code, there is no advice.
cat > "$scratch/map.c" << 'END'
#include <stdio.h>
#include <unistd.h>
void write_map(void *p)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "w");
	fprintf(f, "%lx 1000 compiled\n", (unsigned long)p);
	fclose(f);
}
END
sed -e 's/^\twhile (now() < begin + 0.005/\twrite_map(p);\n&/' -e '1i void write_map(void *p);' \
	"$scratch/run.c" > "$scratch/mapped.c"
check "a program with a map is made" gcc -O1 -o "$scratch/mapped" "$scratch/mapped.c" \
	"$scratch/map.c"
mkdir "$scratch/named"
cp "$scratch/mapped" "$scratch/named/node"
rm -f "$scratch/db"
# shellcheck disable=SC2016 # for that shell, which becomes the program
"$bin/dcpirun" -q --db "$scratch/db" -e cpu-clock sh -c 'echo $$ > "$0"; exec "$@"' \
	"$scratch/pid" "$scratch/named/node" 300
rm -f "/tmp/perf-$(cat "$scratch/pid").map"
like "named code is listed" "$("$bin/dcpiprof" --db "$scratch/db")" 'compiled'
is "and needs no advice" "$("$bin/dcpiprof" --db "$scratch/db" | grep -c '^hint')" 0
tap_done
