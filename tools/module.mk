# SPDX-License-Identifier: GPL-2.0-only
# Packages: libjson-c-dev, and those of analysis and db
ARCHIVES += tool
tool-src := tools/cli.c tools/columns.c tools/epoch_list.c tools/image_symbols.c \
	tools/report_header.c tools/report_header_json.c tools/tally.c tools/text.c tools/time_spec.c

# What a tool is linked with.
TOOL_ARCHIVES := tool analysis db util
TOOL_PKGS = json-c $(ANALYSIS_PKGS) sqlite3 zlib

PROGRAMS += dcpiprof
dcpiprof-src := tools/dcpiprof.c
dcpiprof-archives := $(TOOL_ARCHIVES)
dcpiprof-pkgs = $(TOOL_PKGS)

# The database that tests/cli_*.sh look at is made by a program.
TEST_HELPERS += make_golden_db
make_golden_db-src := tests/make_golden_db.c
make_golden_db-archives := db util
make_golden_db-pkgs := sqlite3 zlib

UNIT_TESTS += unit_columns
unit_columns-src := tests/unit_columns.c
unit_columns-archives := tool util
unit_columns-pkgs := json-c

UNIT_TESTS += unit_cli
unit_cli-src := tests/unit_cli.c
unit_cli-archives := $(TOOL_ARCHIVES)
unit_cli-pkgs = $(TOOL_PKGS)
