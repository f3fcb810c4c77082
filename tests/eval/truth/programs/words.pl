# SPDX-License-Identifier: GPL-2.0-only
# Words of a text by how often they are there, and how many begin with what others end with.
use strict;

my (%count, %ends, $joined);
while (<>) {
	for my $word (split) {
		next unless $word =~ /^[a-z]+$/;
		$count{$word}++;
		$ends{substr $word, -2}++;
	}
}
for my $word (sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count) {
	(my $turned = reverse $word) =~ tr/aeiou/AEIOU/;
	$joined += $ends{substr $word, 0, 2} // 0;
	print "$turned $count{$word}\n" if $count{$word} > 100;
}
print "$joined\n";
