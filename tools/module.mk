# SPDX-License-Identifier: GPL-2.0-only
# Packages: libjson-c-dev
ARCHIVES += tool
tool-src := $(addprefix tools/base/, columns.c flame_graph.c graphviz.c json_stream.c json_tree.c \
	progress.c short_name.c stack_tree.c text.c time_spec.c)
tool-src += $(addprefix tools/report/, cli.c control_proxy.c epoch_list.c event_choice.c event_role.c \
	event_scale.c file_broker.c fleet_database.c image_label.c image_symbols.c code_elf.c jit_hint.c output_file.c passed_over.c \
	report.c report_header.c report_header_brief.c report_header_json.c recording_source.c sandboxed.c server_prefetch.c source_text.c \
	stored_extent.c symbol_cache.c procedure_classes.c profiler_class.c)
tool-src += $(addprefix tools/tally/, build_match.c data_listing.c edge_listing.c edge_tally.c \
	owner_excluded.c owner_listing.c owner_tally.c program_match.c sample_listing.c sample_sets.c tally.c \
	tally_config.c tally_images.c tally_places.c tally_procedures.c tally_row.c tally_state.c)
tool-src += $(addprefix tools/annotate/, calc_blocks.c calc_bubbles.c calc_cells.c calc_events.c calc_evidence.c \
	calc_faults.c calc_finding.c calc_kernel_counts.c calc_stacks.c \
	calc_counts.c calc_heading.c calc_images.c calc_json.c calc_listing.c calc_method.c \
	procedure_lookup.c calc_names.c calc_output.c calc_plan.c open_images.c calc_data.c calc_footprints.c calc_procedure.c calc_profile.c \
	calc_profiler.c calc_records.c calc_rest.c calc_select.c calc_source.c calc_summary.c calc_driver.c \
	calc_summary_text.c calc_sentence.c)
tool-src += $(addprefix tools/flow/, flow_block.c flow_dot.c flow_text.c)
tool-src += $(addprefix tools/list/, list_file.c list_procedure.c list_rows.c)
tool-src += $(addprefix tools/annotate/, counted_images.c stall_listing.c summary_listing.c)
tool-src += $(addprefix tools/stats/, diff_report.c set_table.c stats_columns.c \
	stats_compare.c stats_form.c stats_listing.c stats_options.c)
tool-src += $(addprefix tools/export/, call_order.c execution_profile.c export_archive.c export_contexts.c export_flow.c export_stacks.c export_variation.c exporter.c \
	exporter_autofdo.c exporter_bolt.c exporter_callgrind.c exporter_csv.c exporter_flamegraph.c exporter_folded.c \
	exporter_order.c exporter_pixie.c exporter_pprof.c exporter_speedscope.c \
	tar_writer.c)
tool-src += $(addprefix tools/opt/, bolt_candidate.c bolt_run.c layout_bound.c opt_folder.c opt_install.c \
	opt_measure.c opt_prepare.c opt_ranked.c rank_listing.c trial.c)
tool-src += $(addprefix tools/stacks/, context_diff.c stack_callers.c stack_calls.c stack_faults.c stack_listing.c \
	stack_profile.c stored_stacks.c thread_listing.c)
tool-src += $(addprefix tools/page/, page_detail.c page_document.c page_graph.c page_html.c page_part.c \
	page_sets.c page_source.c page_stacks.c page_timeline.c)
tool-src += $(addprefix tools/top/, top_batch.c top_code.c top_counts.c top_flush.c \
	top_view.c)

tool-needs := analysis db
tool-pkgs := json-c zlib
tool-ldlibs := -lm

tool-programs := dcpicalc dcpicfg dcpidiff dcpiexport dcpilist dcpiopt dcpiprof dcpireport dcpistats dcpisumm \
	dcpitop dcpitopstalls
dcpiexport-with := tools/calls/call_names.c tools/calls/call_source.c \
	tools/variation/variation_source.c
dcpiexport-archives := tool instrument
# The page without data, built from web/ (web/module.mk).
PAGE_ASSET := web/dist/page.html
$(OBJ)/tools/page/page_html.o: $(PAGE_ASSET)
$(OBJ)/tools/page/page_html.o: CPPFLAGS += -DPAGE_ASSET='"$(PAGE_ASSET)"'
# Packages: libncurses-dev
dcpitop-with := tools/top/top_draw.c tools/top/top_screen.c
dcpitop-pkgs := ncursesw

tool-src += tools/annotate/calc_why.c

# Packages: libmicrohttpd-dev
tool-programs += dcpiweb
dcpiweb-with := $(addprefix tools/web/, database_metrics.c database_state.c peer_user.c report_cache.c \
	report_process.c web_answer.c web_client.c web_guard.c web_listener.c web_metrics.c web_report.c \
	web_server.c)
dcpiweb-pkgs := libmicrohttpd

FUZZERS += fuzz_calc_names
fuzz_calc_names-with := tools/annotate/calc_names.c analysis/image/demangle.c
fuzz_calc_names-seeds := tests/fixtures/name_fixtures.sh
fuzz_calc_names-ldlibs := -liberty

tool-tests := unit_calc_bubbles unit_calc_names unit_calc_summary unit_call_order unit_cli unit_columns unit_event_role \
	unit_file_broker unit_json_stream unit_layout_bound unit_short_name unit_top_counts
unit_layout_bound-with := tests/fixtures/culprit_scene.c tests/fixtures/cfg_fixture.c
tool-tests += unit_web_guard unit_web_report
unit_web_guard-with := tools/web/web_guard.c
unit_web_report-with := tools/web/database_state.c tools/web/web_report.c
FUZZERS += fuzz_web_request
fuzz_web_request-with := tools/web/web_guard.c tools/web/web_report.c
fuzz_web_request-archives := tool
