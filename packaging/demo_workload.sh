#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Real work for the demonstration, for a given time: a compile, a
# compression, a database query and some text processing, two at a time.
#
#   packaging/demo_workload.sh SECONDS SCRATCH_FOLDER
set -u
seconds=$1 scratch=$2
end=$((SECONDS + seconds))
mkdir -p "$scratch"

compile()
{
	local f

	for f in lib/*.c kmod/core/*.c db/*.c; do
		gcc -O2 -g -std=gnu17 -D_GNU_SOURCE -I. -Ibuild -Ibuild/gen -c -o "$scratch/x.o" "$f" \
			2> /dev/null
	done
}

compress()
{
	head -c 3000000 "$(command -v perl)" | xz -6 > "$scratch/x.xz"
	xz -dc "$scratch/x.xz" > "$scratch/x"
}

query()
{
	sqlite3 :memory: > /dev/null <<-'SQL'
		create table t(id integer primary key, k int, s text);
		insert into t with recursive c(x) as (select 1 union all select x + 1 from c limit 200000)
			select x, (x * 7919) % 10007, 'row ' || x from c;
		create index i on t(k);
		select k, count(*), max(s) from t group by k order by 2 desc, 3 limit 10;
		select count(*) from t a join t b on a.k = b.k where a.id < 20000 and b.s like '%99%';
	SQL
}

words()
{
	perl -e 'while (<>) { $n{lc $1}++ while /(\w+)/g }
		print "$_ $n{$_}\n" for (sort { $n{$b} <=> $n{$a} } keys %n)[0 .. 9]' \
		/usr/share/common-licenses/* /usr/include/*.h > "$scratch/words"
}

while [ $SECONDS -lt $end ]; do
	compile
	query
done &
while [ $SECONDS -lt $end ]; do
	compress
	words
done
wait
