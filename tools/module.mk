# SPDX-License-Identifier: GPL-2.0-only
# Packages: libjson-c-dev
ARCHIVES += tool
tool-src := $(addprefix tools/base/, columns.c flame_graph.c graphviz.c json_stream.c json_tree.c \
	progress.c protobuf_writer.c stack_tree.c text.c time_spec.c)
tool-src += $(addprefix tools/report/, cli.c control_proxy.c epoch_list.c event_choice.c event_role.c \
	event_scale.c file_broker.c image_label.c image_symbols.c jit_elf.c jit_hint.c output_file.c passed_over.c \
	report.c report_header.c report_header_json.c recording_source.c sandboxed.c server_prefetch.c source_text.c \
	symbol_cache.c profiler_class.c)
tool-src += $(addprefix tools/tally/, build_match.c edge_listing.c edge_tally.c \
	owner_listing.c owner_tally.c program_match.c sample_listing.c sample_sets.c tally.c \
	tally_config.c tally_places.c tally_procedures.c tally_row.c tally_state.c)
tool-src += $(addprefix tools/calc/, calc_blocks.c calc_bubbles.c calc_cells.c calc_events.c calc_evidence.c \
	calc_counts.c calc_heading.c calc_images.c calc_json.c calc_listing.c calc_method.c \
	procedure_lookup.c calc_names.c calc_output.c calc_plan.c calc_procedure.c calc_profile.c \
	calc_profiler.c calc_rest.c calc_select.c calc_source.c calc_summary.c calc_driver.c \
	calc_summary_text.c)
tool-src += $(addprefix tools/flow/, flow_block.c flow_dot.c flow_text.c)
tool-src += $(addprefix tools/list/, list_file.c list_procedure.c list_rows.c)
tool-src += $(addprefix tools/stall/, counted_images.c stall_listing.c summary_listing.c)
tool-src += $(addprefix tools/stats/, diff_report.c set_table.c stats_columns.c \
	stats_compare.c stats_form.c stats_listing.c stats_options.c)
tool-src += $(addprefix tools/export/, execution_profile.c export_contexts.c export_flow.c export_variation.c exporter.c \
	exporter_autofdo.c exporter_bolt.c exporter_callgrind.c exporter_csv.c exporter_flamegraph.c exporter_folded.c \
	exporter_pixie.c exporter_pprof.c exporter_speedscope.c)
tool-src += $(addprefix tools/top/, top_batch.c top_code.c top_counts.c top_flush.c \
	top_view.c)

tool-needs := analysis db
tool-pkgs := json-c
tool-ldlibs := -lm

tool-programs := dcpicalc dcpicfg dcpidiff dcpiexport dcpilist dcpiprof dcpistats dcpisumm dcpitop \
	dcpitopstalls
dcpiexport-with := tools/calls/call_names.c tools/calls/call_source.c \
	tools/variation/variation_source.c
dcpiexport-archives := tool instrument
# Packages: libncurses-dev
dcpitop-with := tools/top/top_draw.c tools/top/top_screen.c
dcpitop-pkgs := ncursesw

FUZZERS += fuzz_calc_names
fuzz_calc_names-with := tools/calc/calc_names.c analysis/image/demangle.c
fuzz_calc_names-seeds := tests/name_fixtures.sh
fuzz_calc_names-ldlibs := -liberty

tool-tests := unit_calc_bubbles unit_calc_names unit_calc_summary unit_cli unit_columns unit_event_role unit_file_broker \
	unit_json_stream unit_top_counts
