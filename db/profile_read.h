/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read a profile database, for the tools.
 *
 * Never changes the file. Works while a daemon writes to it and on a copy. Databases are not
 * trusted: every blob is bounds-checked and its checksum compared; damage is an error (-EBADMSG),
 * never a crash or a wrong number. Checksums cover samples, symbols, edges, exact counts and
 * recordings, with the numbers of their epoch, image, event and process. They do not cover names,
 * paths, counters and times.
 *
 * Errors besides those named: -EBADMSG, -EIO, -ENOMEM, -EBUSY another process has been recovering
 * the database for longer than five seconds.
 */
#ifndef DCPI_PROFILE_READ_H
#define DCPI_PROFILE_READ_H

#include <stdbool.h>

#include "db/profile.h"
#include "db/profile_recording.h"

struct error;
struct profile_reader;

/** enum profile_profiler - use of the samples of the profiler's processes in other images */
enum profile_profiler {
	PROFILE_PROFILER_TOO,
	PROFILE_PROFILER_NOT,
	PROFILE_PROFILER_ONLY,
};

/**
 * struct profile_filter - which profiles to read; zero-initialised means all
 * @since_ns:  slices that start at or after; of epochs without slices, those that end at or after;
 *             0: any
 * @until_ns:  slices, and epochs without slices, that start before; 0: any. Edges, exact counts and
 *             recordings are those of all epochs that have a selected slice
 * @epochs:    numbers of epochs, or NULL for any
 * @host:      host name, or NULL for any
 * @event:     event name, or NULL for any
 * @image:     number of an image, or 0 for any; profile_reader_epochs()
 *             ignores it, as well as @event and @pid
 * @pid:       only profiles stored for this process, or label (see struct profile);
 *             PROFILE_PID_ALL (and the default when @has_pid is 0): all samples
 * @unit:      only profiles stored for this systemd unit, or for a process in it: a pattern as
 *             for fnmatch(3); NULL: any
 * @container: a pattern for the container, or the beginning of its id; NULL: any
 * @others_too: profiles of other processes, units and containers, too: @chosen in struct profile
 *             distinguishes them. Only for iterations over profiles and totals
 * @profiler:  which profiles of an image are selected, with regard to PROFILE_PID_PROFILER
 * @ranges:    for profiles with more than @whole_max offsets, only samples in these ranges; NULL:
 *             all. Only for iterations over profiles
 * @by_slice:  iterations over profiles return the samples of each slice separately; those of epochs
 *             without slices as a whole
 */
struct profile_filter {
	int64_t since_ns;
	int64_t until_ns;
	const int64_t *epochs;
	size_t epoch_count;
	const char *host;
	const char *event;
	int64_t image;
	int has_pid;
	int64_t pid;
	const char *unit;
	const char *container;
	bool others_too;
	enum profile_profiler profiler;
	const struct profile_ranges *ranges;
	size_t whole_max;
	bool by_slice;
};

/**
 * profile_reader_open() - open a database for reading
 * @ret: out; freed by profile_reader_close()
 *
 * Only the right to read is needed. A file in a directory that is not writable, without an active
 * writer, is read without any locks. In that case, too, call profile_reader_snapshot() before each
 * series of reads, because it detects a writer that has started since.
 *
 * Return: 0, or
 * - -ENOENT: no such file
 * - -EMEDIUMTYPE: not a profile database
 * - -EPROTO: made by a newer version
 * - -EBADMSG: corrupt
 * - -EACCES: not readable, or the file needs its log (a copy of a database in use) and the
 *   directory is not writable
 * - -EISDIR, -ENOMEM
 */
int profile_reader_open(struct profile_reader **ret, const char *path, struct error *err);

/** profile_reader_close() - free. NULL is fine. */
void profile_reader_close(struct profile_reader *reader);

/**
 * profile_reader_has_writer() - return true if a process writes to the database, as far as is known
 */
bool profile_reader_has_writer(const struct profile_reader *reader);

/**
 * profile_reader_snapshot() - fix the state of the database for all reads until the next call
 *
 * Everything read until the next call of this function comes from one state of the database,
 * independent of the daemon's writes. Without it, only each iteration is consistent in itself.
 * While a snapshot is in use the writer's log grows: do not keep one idle.
 *
 * Return: 0; -EBUSY called from within a walk.
 */
int profile_reader_snapshot(struct profile_reader *reader, struct error *err);

/**
 * Called for each epoch, in order of start. A non-zero result ends the iteration and is returned by
 * the iterating function.
 */
typedef int (*profile_epoch_fn)(void *context, const struct profile_epoch *epoch);

/** profile_reader_epochs() - iterate over the epochs a filter selects; NULL: all. */
int profile_reader_epochs(struct profile_reader *reader, const struct profile_filter *filter,
			  profile_epoch_fn visit, void *context, struct error *err);

/** Called for each event of an epoch. */
typedef int (*profile_event_fn)(void *context, const struct profile_event *event);

/** profile_reader_events() - iterate over an epoch's events, by number. */
int profile_reader_events(struct profile_reader *reader, int64_t epoch, profile_event_fn visit,
			  void *context, struct error *err);

/** Called for each counter of an epoch. */
typedef int (*profile_counter_fn)(void *context, const struct profile_counter *counter);

/**
 * profile_reader_counters() - iterate over an epoch's counters, by group and name
 * @epoch: as profile_reader_epochs() passes it. With only some slices selected, counters of the
 *         groups "loss" and "unknown" are sums over these slices, and others are of the epoch
 */
int profile_reader_counters(struct profile_reader *reader, const struct profile_epoch *epoch,
			    profile_counter_fn visit, void *context, struct error *err);

/**
 * profile_reader_slices() - iterate over an epoch's slices, by start
 *
 * An epoch has slices for all its samples, or none. A file of a schema before version 8 has none.
 */
int profile_reader_slices(struct profile_reader *reader, int64_t epoch, profile_slice_fn visit,
			  void *context, struct error *err);

/**
 * struct profile - one profile: an image's samples of an event in an epoch
 * @pid:     the process; PROFILE_PID_ALL for samples not stored by process;
 *           PROFILE_PID_OF_LABEL() for samples stored by unit; PROFILE_PID_PROFILER
 * @samples: strictly ascending offsets, @count of them; NULL in profile_reader_totals()
 * @total:   the sum of all counts of the profile
 * @partial: @samples are only those in the filter's ranges; @total includes all samples
 * @chosen:  the profile belongs to the process, unit and container that the filter selects
 * @slice_ns: with @by_slice of the filter, the start of the slice that has the samples; 0: whole
 *           epoch
 */
struct profile {
	int64_t epoch;
	int64_t image;
	uint32_t event;
	const char *event_name;
	int64_t pid;
	const struct profile_sample *samples;
	size_t count;
	uint64_t total;
	bool chosen;
	bool partial;
	int64_t slice_ns;
};

/** Called for each profile; the data is valid only during the call. */
typedef int (*profile_fn)(void *context, const struct profile *profile);

/**
 * profile_reader_profiles() - iterate over the profiles a filter selects
 *
 * A sample is in exactly one profile: for images profiled by process, those of PROFILE_PID_ALL hold
 * the samples that were not attributed to a process. Ordered by image, epoch, event, pid, slice. A
 * filter of NULL selects all. All other functions of the reader except profile_reader_snapshot()
 * may be called from the callback.
 */
int profile_reader_profiles(struct profile_reader *reader, const struct profile_filter *filter,
			    profile_fn visit, void *context, struct error *err);

/**
 * profile_reader_totals() - iterate over profiles without their samples
 *
 * For callers that need to know which images are relevant. The samples themselves are not read, so
 * their checksum, which covers @total, is not verified either.
 */
int profile_reader_totals(struct profile_reader *reader, const struct profile_filter *filter,
			  profile_fn visit, void *context, struct error *err);

/**
 * struct profile_edges - edges of one kind from an image to an image in an epoch
 * @edges: strictly ascending by from, then to
 * @total: the sum of their counts
 */
struct profile_edges {
	int64_t epoch;
	int64_t image;
	int64_t to_image;
	enum profile_edge_kind kind;
	const struct profile_edge *edges;
	size_t count;
	uint64_t total;
};

/** Called for each set of edges; the data is valid only during the call. */
typedef int (*profile_edges_fn)(void *context, const struct profile_edges *edges);

/**
 * profile_reader_edges() - iterate over the edges of the epochs a filter selects
 *
 * With @image in the filter, only the edges that start in that image. The filter's events and
 * processes are ignored. All kinds. Ordered by image, epoch, to_image and kind. Otherwise like
 * profile_reader_profiles().
 */
int profile_reader_edges(struct profile_reader *reader, const struct profile_filter *filter,
			 profile_edges_fn visit, void *context, struct error *err);

/**
 * struct profile_counts - exact counts of one kind of an image in an epoch
 * @counts: strictly ascending by from, then to
 * @total:  the sum of their counts
 */
struct profile_counts {
	int64_t epoch;
	int64_t image;
	enum profile_count_kind kind;
	const struct profile_edge *counts;
	size_t count;
	uint64_t total;
};

/** Called for each set of counts; the data is valid only during the call. */
typedef int (*profile_counts_fn)(void *context, const struct profile_counts *counts);

/**
 * profile_reader_counts() - iterate over exact counts in the epochs a filter selects
 *
 * Ordered by image, epoch and kind. Otherwise like profile_reader_edges(). A file of a schema
 * before version 4 has no counts.
 */
int profile_reader_counts(struct profile_reader *reader, const struct profile_filter *filter,
			  profile_counts_fn visit, void *context, struct error *err);

/** Called for each recording; the data is valid only during the call. */
typedef int (*profile_recording_fn)(void *context, const struct profile_recording *recording);

/**
 * profile_reader_recordings() - iterate over recordings of a mode in the epochs a filter selects
 * @mode: enum profile_recording_mode, or -1 for all
 *
 * Ordered by image, epoch and mode. Otherwise like profile_reader_edges(). A file of a schema
 * before version 5 has no recordings.
 */
int profile_reader_recordings(struct profile_reader *reader, const struct profile_filter *filter,
			      int mode, profile_recording_fn visit, void *context,
			      struct error *err);

/**
 * profile_reader_image() - look an image up
 * @image: out; its path stays valid until the next call for this reader
 *
 * Return: 0; -ENOENT no such image.
 */
int profile_reader_image(struct profile_reader *reader, int64_t id, struct profile_image *image,
			 struct error *err);

/**
 * profile_reader_serialize() - copy the snapshot as the contents of a database file
 * @ret: out; freed by profile_serialized_free()
 *
 * The copy needs as much memory as the database is large. Unlike the file itself, it is complete
 * without a log.
 *
 * Return: 0 or -ENOMEM.
 */
int profile_reader_serialize(struct profile_reader *reader, unsigned char **ret, size_t *bytes,
			     struct error *err);

void profile_serialized_free(unsigned char *data);

/** struct profile_symbols - symbols and the memory that holds them */
struct profile_symbols {
	struct profile_symbol *symbols;
	size_t count;
	char *names;
};

/**
 * profile_reader_symbols() - read the symbols stored with an image, sorted by offset
 * @ret: out; freed by profile_symbols_deinit(); empty if none are stored
 */
int profile_reader_symbols(struct profile_reader *reader, int64_t image,
			   struct profile_symbols *ret, struct error *err);

void profile_symbols_deinit(struct profile_symbols *symbols);

/** Called for each label of an epoch. */
typedef int (*profile_label_fn)(void *context, const struct profile_label *label);

/**
 * profile_reader_labels() - iterate over an epoch's labels, by number
 *
 * A file of a schema before version 3 has no labels.
 */
int profile_reader_labels(struct profile_reader *reader, int64_t epoch, profile_label_fn visit,
			  void *context, struct error *err);

/** struct profile_share - samples of an image and event in an epoch that belong to a label */
struct profile_share {
	int64_t epoch;
	int64_t image;
	uint32_t event;
	const char *event_name;
	uint32_t label;
	uint64_t samples;
};

/** Called for each share. */
typedef int (*profile_share_fn)(void *context, const struct profile_share *share);

/**
 * profile_reader_shares() - iterate over the shares of the epochs a filter selects
 *
 * The filter's @pid is ignored. Ordered by epoch, image, event and label. Shares of an image and
 * event of an epoch add up to at most the sum of its profiles; the remaining samples have no label.
 * Otherwise like profile_reader_labels().
 */
int profile_reader_shares(struct profile_reader *reader, const struct profile_filter *filter,
			  profile_share_fn visit, void *context, struct error *err);

/** Called for a procedure's code, which is valid during the call. */
typedef int (*profile_code_fn)(void *context, const struct profile_code *code);

/** profile_reader_code() - iterate over the code stored with an image, by offset */
int profile_reader_code(struct profile_reader *reader, int64_t image, profile_code_fn visit,
			void *context, struct error *err);

/** Called for each process of an epoch that has a name. */
typedef int (*profile_process_fn)(void *context, const struct profile_process *process);

/** profile_reader_processes() - iterate over the names of an epoch's processes, by pid */
int profile_reader_processes(struct profile_reader *reader, int64_t epoch, profile_process_fn visit,
			     void *context, struct error *err);

/**
 * profile_reader_command() - read the name of a process
 * @command: out: room for @bytes bytes; "" if unknown
 */
int profile_reader_command(struct profile_reader *reader, int64_t epoch, int64_t pid, char *command,
			   size_t bytes, struct error *err);

#endif
