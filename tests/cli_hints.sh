#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Advice for programs that generate code at run time. The programs imitate such runtimes: their
# names are those of the runtimes, and they execute anonymous memory.
set -u
. "$(dirname "$0")/tool_cli.sh"

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
	'^[0-9]+ samples, [0-9.]+%, are code that Node.js made at run time: .*--perf-basic-prof'
is "one line" "$("$bin/dcpiprof" --db "$scratch/db" | grep -c '^hint')" 1
is "JSON has it" "$("$bin/dcpiprof" --db "$scratch/db" --json | jq -r '.hints | length')" 1
valid "a report with a hint" dcpiprof "$bin/dcpiprof" --db "$scratch/db"
like "other reports, too" "$("$bin/dcpiprof" --by line --db "$scratch/db")" '--perf-basic-prof'
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
