# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Queries about a profile of storms (tests/fixtures/programs/storm.c), for shells that define sql DB QUERY.
# $storm_dir has the images.

# storm_layout: set the first offset of the loops in each image, and their distance
: "${storm_dir:=/lib}"

storm_layout()
{
	# shellcheck disable=SC2046 # numbers
	set -- $("$storm_dir/image_0" layout) $("$storm_dir/user_10" layout) $("$storm_dir/tiny_20" layout)
	storm_step=$1 storm_program=$2 storm_user=$4 storm_library=$5 storm_tiny=$7
}

# storm_counts DB [EPOCH]: print the samples of loops that were credited right, and wrong
#
# In image_N, tiny_N and libstorm_N.so only loop N may have samples; in user_N and load, no loop.
# Every other sample in a loop belongs to another program, and was credited to the wrong image.
storm_counts()
{
	sql "$1" "
	WITH image(path, number, start) AS (
			SELECT DISTINCT path,
				CASE WHEN path LIKE '%/image_%'
					THEN CAST(substr(path, instr(path, '/image_') + 7) AS INTEGER)
				WHEN path LIKE '%/tiny_%'
					THEN CAST(substr(path, instr(path, '/tiny_') + 6) AS INTEGER)
				WHEN path LIKE '%/libstorm_%'
					THEN CAST(substr(path, instr(path, '/libstorm_') + 10) AS INTEGER)
				ELSE -1 END,
				CASE WHEN path LIKE '%/image_%' THEN $storm_program
				WHEN path LIKE '%/tiny_%' THEN $storm_tiny
				WHEN path LIKE '%/libstorm_%' THEN $storm_library
				ELSE $storm_user END
			FROM dcpi_samples WHERE path LIKE '$storm_dir/image_%' OR
				path LIKE '$storm_dir/tiny_%' OR
				path LIKE '$storm_dir/libstorm_%' OR
				path LIKE '$storm_dir/user_%' OR path = '$storm_dir/load'),
		loop(number, own, count) AS (
			SELECT image.number, (offset - start) / $storm_step, count
			FROM dcpi_samples JOIN image USING (path)
			WHERE offset >= start AND offset < start + 63 * $storm_step
				AND epoch >= ${2:-0})
	SELECT ifnull(sum(CASE WHEN number = own THEN count END), 0) || ' ' ||
		ifnull(sum(CASE WHEN number <> own THEN count END), 0) FROM loop"
}

# storm_unknown DB [EPOCH]: print the samples that are unknown although events should have reported
# their image, and all samples
#
# Samples that are known to have no image are not counted: code in anonymous memory (emulators that
# run at the same time have many such samples), and the kernel's BPF programs.
storm_unknown()
{
	sql "$1" "SELECT (SELECT ifnull(sum(count), 0) FROM counter
			WHERE counter_group = 'unknown' AND epoch >= ${2:-0} AND
				name IN ('process', 'address', 'replaced', 'lost')) || ' ' ||
		ifnull(sum(count), 0) FROM dcpi_samples WHERE epoch >= ${2:-0}"
}
