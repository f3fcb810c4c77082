# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154 # variables that others read, or set
#
# Common code of the tests of dcpiship. Source it after tests/lib/daemon_cli.sh.

# shipped_db FILE EPOCHS SLICES: make a database with samples, losses, edges and processes. Each
# epoch has SLICES slices, except the last, which has none.
shipped_db()
{
	awk -v epochs="$2" -v slices="$3" 'BEGIN {
		srand(49)
		for (e = 1; e <= epochs; e++) {
			print "event cycles cycles 60000 64000\nevent imiss events 1000 2000"
			print "host host" e % 2 "\nepoch Test CPU"
			for (s = 0; s < slices; s++) {
				if (e < epochs)
					print "slice", s * 10, 10
				for (i = 1; i <= 3; i++) {
					printf "image %s %040x /usr/bin/p%d\n", i == 3 ? "kernel" : "file", i, i
					for (p = 0; p < 2; p++) {
						print "process", p ? 40 + i : "-"
						for (k = 0; k < 5; k++)
							print "sample", int(rand() * 2), int(rand() * 2000) * 4, 1 + int(rand() * 50)
					}
				}
				if (s % 3 == 0)
					print "loss ring_full", 1 + int(rand() * 9)
			}
			print "process -\nimage kernel " sprintf("%040x", 3) " /usr/bin/p3"
			print "symbols first second third\nbranch 4 8 3\nbranch 12 8 " e "\nend"
		}
	}' | "$build/tests/make_profile_db" "$1"
}

# truth DB: print all samples, losses and edges of a database, by the start of the epoch
truth()
{
	sql "$1" "SELECT 'samples', start_ns, lower(hex(identity)), number, pid, offset, sum(count)
			FROM dcpi_samples s JOIN epoch e ON e.id = s.epoch JOIN image i ON i.id = s.image
			JOIN event v ON v.epoch = s.epoch AND v.name = s.event GROUP BY 1, 2, 3, 4, 5, 6
		UNION ALL SELECT 'loss', start_ns, name, '', '', '', count FROM counter c
			JOIN epoch e ON e.id = c.epoch WHERE counter_group = 'loss' AND count > 0
		UNION ALL SELECT 'edge', start_ns, lower(hex(identity)), '', from_offset, to_offset, count
			FROM dcpi_edges d JOIN epoch e ON e.id = d.epoch JOIN image i ON i.id = d.image" | sort
}

# The same of a destination: the keys of rows, and the views. Other kinds are not edges.
shipped_query="SELECT 'samples', p.start_ns, identity, event, pid, offset, sum(samples)
		FROM dcpi_live_samples s JOIN (SELECT DISTINCT epoch, start_ns FROM dcpi_epochs) p
			ON p.epoch = s.epoch
		JOIN (SELECT DISTINCT host, image, identity FROM dcpi_images) i
			ON i.host = s.host AND i.image = s.image GROUP BY 1, 2, 3, 4, 5, 6
	UNION ALL SELECT 'loss', p.start_ns, name, '', '', '', sum(count) FROM dcpi_live_losses l
		JOIN (SELECT DISTINCT epoch, start_ns FROM dcpi_epochs) p ON p.epoch = l.epoch GROUP BY 1, 2, 3
	UNION ALL SELECT 'edge', p.start_ns, identity, '', from_offset, to_offset, max(count)
		FROM dcpi_edges d JOIN (SELECT DISTINCT epoch, start_ns FROM dcpi_epochs) p ON p.epoch = d.epoch
		JOIN (SELECT DISTINCT host, image, identity FROM dcpi_images) i
			ON i.host = d.host AND i.image = d.image WHERE kind < 3 GROUP BY 1, 2, 3, 4, 5, 6"

# ship_config NAME LINE...: write the configuration of a destination at $url
ship_config()
{
	printf '%s\n' "db = $db" "state = $work/$1.state" "url = $url" 'interval_s = 1' \
		'retry_max_s = 1' "metrics_file = $work/$1.metrics" "${@:2}" > "$work/$1.conf"
}

# metric NAME METRIC: print a value of the metrics file
metric()
{
	awk -v name="dcpiship_$2" '$1 == name { print $2 }' "$work/$1.metrics"
}
