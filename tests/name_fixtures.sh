#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Symbols as initial inputs of fuzzers, one per file: every 97th of libstdc++, symbols that rustc
# 1.95 made in both of its schemes, and symbols of gfortran and OCaml.
#
#   tests/name_fixtures.sh FOLDER
set -eu
library=$(ldconfig -p | awk '/libstdc\+\+\.so\.6 .*x86-64/ { print $NF; exit }')
cd "$1"
{
	nm -D "$library" | awk '{ sub(/@.*/, "", $NF) } $NF ~ /^_Z/ && n++ % 97 == 0 { print $NF }'
	cat << 'end'
_RINvCs6xxl1lAjzDf_1a5applyNCNvB2_4mains_0EB2_
_RINvCs6xxl1lAjzDf_1a3mapFhEhNtB2_1TEB2_
_RNvMsa_NtCsgEmfK2I1SDS_4core3fmtNtB5_9Formatter26debug_struct_field2_finish
_RNvYINtNvNtCsjrHSEGnQ3l9_3std9panicking11begin_panic7PayloadReENtNtCsgEmfK2I1SDS_4core5panic12PanicPayload6as_strB9_
_RINvMs4_NtCsgY6Mt91CT9J_14rustc_demangle2v0NtB6_7Printer14print_sep_listNvB2_10print_typeEB8_
_ZN34_$LT$a..Sq$u20$as$u20$a..Shape$GT$4area17h40b5e2a844e7575aE.llvm.73
_ZN9hashbrown3raw21RawTable$LT$T$C$A$GT$14reserve_rehash17hfcb1ff683a746b13E
__shapes_mod.shapes_sub_MOD___copy_shapes_mod_T.constprop.0
__shapes_mod_MOD_area
camlStdlib__List__map_236
camlStdlib__Bytes.$2b$2b_127
camlStdlib__anon_fn$5bstdlib$2eml$3a334$2c0$2d$2d54$5d_1453
end
} | split -l 1 -a 4 - name.
