# SPDX-License-Identifier: GPL-2.0-only
#
# Print the body of docs/results/performance.md from lines of bench.h on standard input: the goals,
# the cost of a sample, then every figure by its part of the project. -v chart=FILE: write a chart
# of the cost of a sample to FILE (SVG).
BEGIN { FS = "\"" }

# Figures of tests/eval/overhead/bench_modes.sh have separate tables (docs/gen/overhead_md.awk).
$4 ~ /^(paths|context|calls|bursts|variation)_(overhead|instructions)_percent$|^image_percent$/ {
	next
}

$2 == "name" && $6 == "subject" && $10 == "workload" {
	number = $15
	gsub(/[^0-9.e+-]/, "", number)
	rows++
	figure[rows] = $4
	subject[rows] = $8
	workload[rows] = $12
	value[rows] = number + 0
	unit[rows] = $18
	v[$12, $4, $8] = number + 0
	if ($4 == "daemon_cost")
		ruled[++rulers] = $12
}

function said(number, of) {
	return sprintf("%.4g", number) (of ~ /^(percent|%)$/ ? " %" : of == "ratio" ? "" : " " of)
}

# goal WHAT SIGN LIMIT OF FIGURE SUBJECT: one line of the table of goals for the worst of all
# workloads; subject may be a regular expression
function goal(what, sign, limit, of, name, who, i, worst, found, where, met) {
	for (i = 1; i <= rows; i++) {
		if (figure[i] != name || subject[i] !~ ("^(" who ")$"))
			continue
		if (!found++ || (sign == "<=" ? value[i] > worst : value[i] < worst)) {
			worst = value[i]
			where = workload[i]
		}
		met += sign == "<=" ? value[i] <= limit : value[i] >= limit
	}
	if (!found) {
		printf "| %s | %s %s | not in this run | |\n", what, sign, said(limit, of)
		return
	}
	printf "| %s | %s %s | %s | %s |\n", what, sign, said(limit, of),
		(met == found ? "**" said(worst, of) "**" : said(worst, of) " (missed)"),
		(found > 1 ? sprintf("%d of %d; worst: %s", met, found, where) : where)
}

function goals() {
	print "## Goals\n"
	print "| measure | goal | worst measured | met by |"
	print "|---|---|---|---|"
	goal("total cost of a sample", "<=", 1300, "instructions", "sample_cost", "dcpi")
	goal("handler above the floor, hit", "<=", 110, "instructions", "handler_hit", "dcpi")
	goal("handler above the floor, miss", "<=", 180, "instructions", "handler_miss", "dcpi")
	goal("samples per delivered entry", ">=", 20, "samples", "data_reduction", "dcpi")
	goal("CPU time relative to `perf record`, `bpf`", "<=", 0.1, "ratio", "cpu_vs_perf", "bpf")
	goal("CPU time relative to `perf record`, `perf`", "<=", 0.5, "ratio", "cpu_vs_perf", "perf")
	goal("bytes written relative to `perf record`", "<=", 0.02, "ratio", "bytes_vs_perf", ".*")
	goal("storm: samples with unknown image, `kmod`, `bpf`", "<=", 0.05, "%", "unknown_percent", "kmod|bpf")
	goal("storm: samples with unknown image, `perf`", "<=", 0.5, "%", "unknown_percent", "perf")
	goal("storm: samples with a wrong image", "<=", 0.05, "%", "misattributed_percent", ".*")
	goal("slowdown with the default budget", "<=", 1.2, "%", "budget_slowdown_percent", ".*")
	goal("database of a week, 480 images, 2 events", "<=", 4e6, "bytes", "file_bytes", "db")
	goal("CPU time of the daemon, 256 CPUs at 5,200 samples/s", "<=", 100, "%", "scale_cpu_percent", "dcpid")
	goal("memory of the daemon, 500 live processes", "<=", 16, "MB", "daemon_memory", "dcpid")
	goal("overhead of counting with `dcpix`", "<=", 20, "%", "counts_overhead_percent", "dcpix")
	goal("rewriting speed of `dcpix`", ">=", 5, "MB/s", "rewriting_rate", "dcpix")
	goal("time to analyse 20.7 MB of code (all of cc1)", "<=", 10, "s", "analysis_all", "dcpicalc")
	goal("time to analyse one procedure of a 100 MB image", "<=", 0.1, "s", "analysis_one", "dcpicalc")
	goal("time to summarize 1,500 images", "<=", 10, "s", "summary_seconds", "dcpisumm")
	goal("time to find the worst stalls of 1,500 images", "<=", 10, "s", "summary_seconds", "dcpitopstalls")
}

function possible(w, of) {
	return (w, "possible_reduction", of) in v ? sprintf("%.1f", v[w, "possible_reduction", of]) : "-"
}

function cost_table(i, w, line) {
	if (!rulers)
		return
	print "\n## Cost of a sample\n"
	while ((getline line < "docs/gen/performance_cost.md") > 0)
		print line
	print "\n| workload | samples | interval | miss rate | floor | interrupt | daemon | total | perf record | reduction | unlimited table | one process | uncertainty |"
	print "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
	for (i = 1; i <= rulers; i++) {
		w = ruled[i]
		printf "| %s | %.0f | %.0f s | %.1f%% | %.0f | %.0f | %.0f | **%.0f** | %s | %.1f | %s | %s | %s |\n",
			w, v[w, "samples", "dcpi"], v[w, "merge_interval", "dcpi"],
			v[w, "miss_rate", "dcpi"], v[w, "sample_cost", "floor"],
			v[w, "interrupt_cost", "dcpi"], v[w, "daemon_cost", "dcpi"],
			v[w, "sample_cost", "dcpi"],
			(w, "sample_cost", "perf") in v ? sprintf("%.0f", v[w, "sample_cost", "perf"]) : "-",
			v[w, "data_reduction", "dcpi"], possible(w, "process"), possible(w, "address"),
			(w, "spread", "bare") in v ? v[w, "spread", "bare"] : "-"
	}
	if (("wide", "handler_miss", "dcpi") in v)
		printf "\nThe handler executes %.0f instructions above the floor for a hit (loop), and %.0f for a miss (wide).\n",
			v["loop", "handler_hit", "dcpi"], v["wide", "handler_miss", "dcpi"]
}

function bar(x, y, width, class, words) {
	printf "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"15\"><title>%s</title></rect>\n",
		class, x, y, width, words > chart
}

# Two bars for each workload: the cost of dcpi's samples, and of perf record's.
function draw(i, w, y, scale, x, n, names, classes, cost, k) {
	for (i = 1; i <= rulers; i++) {
		n = v[ruled[i], "sample_cost", "perf"]
		if (n > most)
			most = n
	}
	scale = 520 / most
	n = split("floor interrupt daemon", classes, " ")
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" width=\"700\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n", 50 + 46 * rulers > chart
	print "<style>rect.page{fill:#fff}.floor{fill:#9aa5b1}.interrupt{fill:#f2a541}.daemon{fill:#3d7ea6}.perf{fill:#d4d8dd;stroke:#7b8794}text{fill:#1f2933}</style>" > chart
	print "<rect class=\"page\" width=\"100%\" height=\"100%\"/>" > chart
	print "<text x=\"10\" y=\"18\" font-weight=\"bold\">Instructions per sample, whole machine</text>" > chart
	x = 300
	for (k = 1; k <= n; k++) {
		bar(x, 7, 12, classes[k], classes[k])
		printf "<text x=\"%d\" y=\"18\">%s</text>\n", x + 17, classes[k] > chart
		x += 85
	}
	bar(x, 7, 12, "perf", "perf record")
	printf "<text x=\"%d\" y=\"18\">perf record</text>\n", x + 17 > chart
	for (i = 1; i <= rulers; i++) {
		w = ruled[i]
		y = 40 + 46 * (i - 1)
		printf "<text x=\"10\" y=\"%d\">%s</text>\n", y + 20, w > chart
		cost["floor"] = v[w, "sample_cost", "floor"]
		cost["interrupt"] = v[w, "interrupt_cost", "dcpi"]
		cost["daemon"] = v[w, "daemon_cost", "dcpi"]
		x = 90
		for (k = 1; k <= n; k++) {
			bar(x, y, cost[classes[k]] * scale, classes[k], classes[k] ": " sprintf("%.0f", cost[classes[k]]))
			x += cost[classes[k]] * scale
		}
		printf "<text x=\"%.1f\" y=\"%d\">%.0f</text>\n", x + 6, y + 12, v[w, "sample_cost", "dcpi"] > chart
		if (!((w, "sample_cost", "perf") in v))
			continue
		bar(90, y + 17, v[w, "sample_cost", "perf"] * scale, "perf", "perf record")
		printf "<text x=\"%.1f\" y=\"%d\">%.0f</text>\n", 96 + v[w, "sample_cost", "perf"] * scale, y + 29, v[w, "sample_cost", "perf"] > chart
	}
	print "</svg>" > chart
	close(chart)
}

# section TITLE SUBJECTS FIGURES WORDS: print the rows that match both and were not printed yet
function section(title, who, names, words, i, begun) {
	for (i = 1; i <= rows; i++) {
		if (told[i] || subject[i] !~ ("^(" who ")$") || figure[i] !~ ("^(" names ")$"))
			continue
		if (!begun++) {
			print "\n### " title "\n\n" words
			print (words == "" ? "" : "\n") "| figure | subject | workload | value |"
			print "|---|---|---|---:|"
		}
		told[i] = 1
		printf "| %s | %s | %s | %s |\n", figure[i], subject[i], workload[i], said(value[i], unit[i])
	}
}

END {
	goals()
	cost_table()
	if (chart != "" && rulers)
		draw()
	print "\n## All figures"
	section("Emulated machine", "bare|floor|hold|dcpi|perf|process|address", "sample_cost|.*_cost|miss_rate|held_misses|data_reduction|possible_reduction|samples|merge_interval|repeatability|spread|handler_.*",
		"The figures of the table above. With `hold`, samples are counted but never drained.")
	section("Counting samples", "sample_store|x86_64|kmod", ".*",
		"The sample store and the branch interpreter, in user space, in one thread.")
	section("Comparison with `perf record`", "bpf|perf|perf_record", "cpu_.*|bytes_.*|.*_vs_perf.*",
		"dcpid without the module and `perf record -a`, alternately on this machine, at the same rate (tests/eval/overhead/bench_sources.sh).")
	section("Image map", "image_map", ".*",
		"The daemon's table of processes and their mappings.")
	section("Storms", ".*", "storm_rate|unknown_percent|misattributed_percent|storm_samples",
		"More than a thousand short processes per second on a loaded machine, and programs that exec each other under one process id (tests/eval/bench/bench_storm.sh).")
	section("The daemon", "dcpid|budget|daemon", ".*", "")
	section("Exact counts", "dcpix|gcov", ".*",
		"Programs rewritten by dcpix, and programs compiled with `-fprofile-generate` (gcov), compared with the original ones. [overhead.md](overhead.md) has the cost of the other modes.")
	section("The database", "db", ".*",
		"Profiles of synthetic programs, and a week of a timesharing machine like the paper's.")
	section("Reading images", "procedure_table|cfg|frequency_class|schedule|zydis|arm64|alpha|x86|insn", ".*",
		"Symbols, control flow and machine models of real images.")
	section("Estimates", "dcpicalc|flow_fit|paper|joint|average|dcpi|avg|max", ".*", "")
	section("Other figures", ".*", ".*", "")
}
