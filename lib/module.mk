# SPDX-License-Identifier: GPL-2.0-only
ARCHIVES += util
util-src := $(addprefix lib/, array.c blake2b.c bounded_reader.c broker.c cache_folder.c config_file.c content_digest.c encoded_pointer.c \
	control_client.c cpu_list.c data_caches.c error.c file_digest.c file_identity.c file_read.c host.c image_store.c \
	local_socket.c near_names.c online_cpus.c options.c ordered_pool.c parse_guard.c path_match.c pid_namespace.c \
	pprof_writer.c printable.c program_path.c protobuf_writer.c sandbox.c string_table.c symbol_name.c text_wrap.c u64_map.c epoll_set.c)
util-pkgs := libxxhash
util-tests := unit_array unit_cache_folder unit_content_digest unit_cpu_list unit_near_names unit_online_cpus unit_options \
	unit_ordered_pool unit_sandbox unit_util unit_epoll_set
util-helpers := no_seccomp
