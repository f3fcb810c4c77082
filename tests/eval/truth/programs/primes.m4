dnl SPDX-License-Identifier: GPL-2.0-only
dnl Primes by trial division, by recursion.
define(`divides', `ifelse(eval($2 * $2 > $1), 1, 0, eval($1 % $2 == 0), 1, 1,
	`divides($1, eval($2 + 2))')')dnl
define(`prime', `ifelse(translit(divides($1, 3), ` 	
'), 0, `$1 ')')dnl
define(`primes', `ifelse(eval($1 < $2), 1, `prime($1)primes(eval($1 + 2), $2)')')dnl
primes(3, 4000)
