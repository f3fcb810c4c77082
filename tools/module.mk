# SPDX-License-Identifier: GPL-2.0-only
# Packages: libjson-c-dev, and those of analysis and db
ARCHIVES += tool
tool-src := tools/owner_listing.c tools/owner_tally.c tools/cli.c tools/columns.c tools/edge_listing.c tools/edge_tally.c \
	tools/epoch_list.c tools/event_choice.c tools/event_scale.c tools/image_symbols.c tools/output_file.c tools/report.c \
	tools/sample_listing.c tools/report_header.c tools/report_header_json.c tools/tally.c tools/tally_places.c tools/text.c tools/time_spec.c
tool-src += $(addprefix tools/calc_, blocks.c bubbles.c cells.c events.c heading.c images.c json.c listing.c method.c output.c \
	procedure.c profile.c select.c source.c summary.c walk.c worst.c) tools/event_role.c tools/json_stream.c \
	tools/source_text.c tools/jit_elf.c tools/progress.c

tool-src += tools/build_match.c tools/sample_sets.c tools/set_table.c tools/stats_columns.c tools/stats_compare.c \
	tools/stats_form.c tools/stats_listing.c tools/stats_options.c tools/diff_report.c
tool-src += tools/exporter.c $(addprefix tools/exporter_, autofdo.c bolt.c callgrind.c csv.c folded.c pixie.c \
	pprof.c speedscope.c) tools/export_flow.c tools/execution_profile.c tools/protobuf_writer.c
tool-src += tools/flow_block.c tools/flow_dot.c tools/flow_text.c tools/graphviz.c

tool-src += tools/symbol_cache.c tools/list_file.c tools/list_procedure.c tools/list_rows.c
tool-src += tools/stall_listing.c tools/summary_listing.c
tool-src += $(addprefix tools/top_, batch.c code.c counts.c flush.c view.c)

# What a tool is linked with.
TOOL_ARCHIVES := tool analysis db util
TOOL_PKGS = json-c $(ANALYSIS_PKGS) sqlite3 zlib

PROGRAMS += dcpiprof
dcpiprof-src := tools/dcpiprof.c
dcpiprof-archives := $(TOOL_ARCHIVES)
dcpiprof-pkgs = $(TOOL_PKGS)
dcpiprof-ldlibs := -lm

PROGRAMS += dcpicalc
dcpicalc-src := tools/dcpicalc.c
dcpicalc-archives := $(TOOL_ARCHIVES)
dcpicalc-pkgs = $(TOOL_PKGS)
dcpicalc-ldlibs := -lm

PROGRAMS += dcpisumm
dcpisumm-src := tools/dcpisumm.c
dcpisumm-archives := $(TOOL_ARCHIVES)
dcpisumm-pkgs = $(TOOL_PKGS)
dcpisumm-ldlibs := -lm

PROGRAMS += dcpitopstalls
dcpitopstalls-src := tools/dcpitopstalls.c
dcpitopstalls-archives := $(TOOL_ARCHIVES)
dcpitopstalls-pkgs = $(TOOL_PKGS)
dcpitopstalls-ldlibs := -lm

PROGRAMS += dcpilist
dcpilist-src := tools/dcpilist.c
dcpilist-archives := $(TOOL_ARCHIVES)
dcpilist-pkgs = $(TOOL_PKGS)
dcpilist-ldlibs := -lm

PROGRAMS += dcpistats
dcpistats-src := tools/dcpistats.c
dcpistats-archives := $(TOOL_ARCHIVES)
dcpistats-pkgs = $(TOOL_PKGS)
dcpistats-ldlibs := -lm

PROGRAMS += dcpidiff
dcpidiff-src := tools/dcpidiff.c
dcpidiff-archives := $(TOOL_ARCHIVES)
dcpidiff-pkgs = $(TOOL_PKGS)
dcpidiff-ldlibs := -lm

PROGRAMS += dcpiexport
dcpiexport-src := tools/dcpiexport.c
dcpiexport-archives := $(TOOL_ARCHIVES)
dcpiexport-pkgs = $(TOOL_PKGS)
dcpiexport-ldlibs := -lm

PROGRAMS += dcpicfg
dcpicfg-src := tools/dcpicfg.c
dcpicfg-archives := $(TOOL_ARCHIVES)
dcpicfg-pkgs = $(TOOL_PKGS)
dcpicfg-ldlibs := -lm

# Packages: libncurses-dev
PROGRAMS += dcpitop
dcpitop-src := tools/dcpitop.c tools/top_draw.c tools/top_screen.c
dcpitop-archives := $(TOOL_ARCHIVES)
dcpitop-pkgs = $(TOOL_PKGS) ncursesw
dcpitop-ldlibs := -lm

UNIT_TESTS += unit_calc_bubbles unit_calc_summary unit_json_stream unit_event_role
unit_calc_bubbles-src := tests/unit_calc_bubbles.c
unit_calc_bubbles-archives := tool analysis util
unit_calc_bubbles-pkgs = $(ANALYSIS_PKGS)
unit_calc_bubbles-ldlibs := -lm
unit_calc_summary-src := tests/unit_calc_summary.c
unit_calc_summary-archives := tool analysis util
unit_calc_summary-pkgs = $(ANALYSIS_PKGS)
unit_calc_summary-ldlibs := -lm
unit_json_stream-src := tests/unit_json_stream.c
unit_json_stream-archives := tool util
unit_json_stream-pkgs := json-c
unit_json_stream-ldlibs := -lm
unit_event_role-src := tests/unit_event_role.c
unit_event_role-archives := tool

# The database that tests/cli_*.sh look at is made by a program.
TEST_HELPERS += make_golden_db
make_golden_db-src := tests/make_golden_db.c
make_golden_db-archives := db util
make_golden_db-pkgs := sqlite3 zlib

TEST_HELPERS += make_profile_db
make_profile_db-src := tests/make_profile_db.c
make_profile_db-archives := db util
make_profile_db-pkgs := sqlite3 zlib

UNIT_TESTS += unit_columns
unit_columns-src := tests/unit_columns.c
unit_columns-archives := tool util
unit_columns-pkgs := json-c

UNIT_TESTS += unit_cli
unit_cli-src := tests/unit_cli.c
unit_cli-archives := $(TOOL_ARCHIVES)
unit_cli-pkgs = $(TOOL_PKGS)

UNIT_TESTS += unit_top_counts
unit_top_counts-src := tests/unit_top_counts.c
unit_top_counts-archives := $(TOOL_ARCHIVES)
unit_top_counts-pkgs = $(TOOL_PKGS)
unit_top_counts-ldlibs := -lm
