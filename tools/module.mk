# SPDX-License-Identifier: GPL-2.0-only
# Packages: libjson-c-dev, and those of analysis and db
ARCHIVES += tool
tool-src := $(addprefix tools/base/, columns.c flame_graph.c graphviz.c json_stream.c progress.c \
	protobuf_writer.c stack_tree.c text.c time_spec.c)
tool-src += $(addprefix tools/report/, cli.c epoch_list.c event_choice.c event_role.c \
	event_scale.c image_symbols.c jit_elf.c output_file.c report.c report_header.c \
	report_header_json.c recording_source.c source_text.c symbol_cache.c)
tool-src += $(addprefix tools/tally/, build_match.c edge_listing.c edge_tally.c \
	owner_listing.c owner_tally.c sample_listing.c sample_sets.c tally.c tally_places.c)
tool-src += $(addprefix tools/calc/, calc_blocks.c calc_bubbles.c calc_cells.c calc_events.c \
	calc_counts.c calc_heading.c calc_images.c calc_json.c calc_listing.c calc_method.c \
	calc_output.c calc_procedure.c calc_profile.c calc_select.c calc_source.c calc_summary.c calc_walk.c \
	calc_worst.c)
tool-src += $(addprefix tools/flow/, flow_block.c flow_dot.c flow_text.c)
tool-src += $(addprefix tools/list/, list_file.c list_procedure.c list_rows.c)
tool-src += $(addprefix tools/stall/, stall_listing.c summary_listing.c)
tool-src += $(addprefix tools/stats/, diff_report.c set_table.c stats_columns.c \
	stats_compare.c stats_form.c stats_listing.c stats_options.c)
tool-src += $(addprefix tools/export/, execution_profile.c export_contexts.c export_flow.c export_variation.c exporter.c \
	exporter_autofdo.c exporter_bolt.c exporter_callgrind.c exporter_csv.c exporter_flamegraph.c exporter_folded.c \
	exporter_pixie.c exporter_pprof.c exporter_speedscope.c)
tool-src += $(addprefix tools/top/, top_batch.c top_code.c top_counts.c top_flush.c \
	top_view.c)

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
dcpiexport-src := tools/dcpiexport.c tools/calls/call_names.c tools/calls/call_source.c \
	tools/variation/variation_source.c
dcpiexport-archives := tool instrument analysis db util
dcpiexport-pkgs = $(TOOL_PKGS)
dcpiexport-ldlibs := -lm

PROGRAMS += dcpicfg
dcpicfg-src := tools/dcpicfg.c
dcpicfg-archives := $(TOOL_ARCHIVES)
dcpicfg-pkgs = $(TOOL_PKGS)
dcpicfg-ldlibs := -lm

# Packages: libncurses-dev
PROGRAMS += dcpitop
dcpitop-src := tools/dcpitop.c tools/top/top_draw.c tools/top/top_screen.c
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
