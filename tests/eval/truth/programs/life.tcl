# SPDX-License-Identifier: GPL-2.0-only
# Conway's game on a torus.
set size 24
for {set y 0} {$y < $size} {incr y} {
	for {set x 0} {$x < $size} {incr x} {
		set cell($x,$y) [expr {($x * 7 + $y * 13 + $x * $y) % 5 < 2}]
	}
}
proc around {x y} {
	global cell size
	set sum 0
	foreach dy {-1 0 1} {
		foreach dx {-1 0 1} {
			if {$dx != 0 || $dy != 0} {
				incr sum $cell([expr {($x + $dx) % $size}],[expr {($y + $dy) % $size}])
			}
		}
	}
	return $sum
}
for {set turn 0} {$turn < 12} {incr turn} {
	foreach place [array names cell] {
		lassign [split $place ,] x y
		set n [around $x $y]
		set next($place) [expr {$n == 3 || ($n == 2 && $cell($place))}]
	}
	array set cell [array get next]
}
set alive 0
foreach place [array names cell] { incr alive $cell($place) }
puts $alive
