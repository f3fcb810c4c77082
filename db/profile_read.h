/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading a profile database: the tools' side.
 *
 * Never changes the file. Works while a daemon writes to it and on a copy.
 * Databases are not trusted: every blob is bounds-checked and its checksum
 * compared; damage is an error (-EBADMSG), never a crash or a wrong number.
 * Checksums cover samples and symbols, with the numbers of their epoch, image,
 * event and process; likewise edges, exact counts and
 * recordings; not names, paths, counters and times.
 *
 * Errors beside those named: -EBADMSG, -EIO, -ENOMEM, -EBUSY the database is
 * being recovered by someone else for longer than five seconds.
 */
#ifndef DCPI_PROFILE_READ_H
#define DCPI_PROFILE_READ_H

#include <stdbool.h>

#include "db/profile.h"
#include "db/profile_recording.h"

struct error;
struct profile_reader;

/**
 * struct profile_filter - which profiles to read; zero-initialised means all
 * @since_ns:  epochs that end at or after; 0: any
 * @until_ns:  epochs that start before; 0: any
 * @epochs:    numbers of epochs, or NULL for any
 * @host:      host name, or NULL for any
 * @event:     event name, or NULL for any
 * @image:     number of an image, or 0 for any; profile_reader_epochs() does
 *             not look at it, nor at @event and @pid
 * @pid:       only profiles kept for this process, or label (see struct profile);
 *             PROFILE_PID_ALL (and the default when @has_pid is 0): all samples
 * @unit:      only profiles kept for this systemd unit, or for a process in it: a pattern as
 *             for fnmatch(3); NULL: any
 * @container: likewise; or the beginning of its id
 * @others_too: profiles of other processes, units and containers, too: struct profile's
 *             @chosen tells them apart. Only of walks over profiles and totals
 * @ranges:    of profiles with more than @whole_max offsets, only samples at these; NULL: all.
 *             Only of walks over profiles
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
	const struct profile_ranges *ranges;
	size_t whole_max;
};

/**
 * profile_reader_open() - open a database for reading
 * @ret: out; freed by profile_reader_close()
 *
 * Nothing but the right to read is needed. A file in a directory that cannot
 * be written, with no writer at work, is read without any locks; call
 * profile_reader_snapshot() before each series of reads then, too, for it
 * notices a writer that has come since.
 *
 * Return: 0; -ENOENT no such file; -EISDIR; -EMEDIUMTYPE not a profile
 * database; -EPROTO made by a newer version; -EBADMSG corrupt; -EACCES not readable, or it needs
 * its log (a copy of a database in use) and the directory cannot be written;
 * -ENOMEM.
 */
int profile_reader_open(struct profile_reader **ret, const char *path, struct error *err);

/** profile_reader_close() - free. NULL is fine. */
void profile_reader_close(struct profile_reader *reader);

/** profile_reader_has_writer() - whether a process writes to the database, as far as is known. */
bool profile_reader_has_writer(const struct profile_reader *reader);

/**
 * profile_reader_snapshot() - everything read until the next call to this
 * function comes from one state of the database, whatever the daemon does
 *
 * Without it, each walk is consistent in itself only. While a snapshot is kept
 * the writer's log grows: do not keep one idle.
 *
 * Return: 0; -EBUSY called from within a walk.
 */
int profile_reader_snapshot(struct profile_reader *reader, struct error *err);

/** Called for each epoch, in order of start. Non-zero ends the walk and is returned. */
typedef int (*profile_epoch_fn)(void *context, const struct profile_epoch *epoch);

/** profile_reader_epochs() - walk over the epochs a filter selects; NULL: all. */
int profile_reader_epochs(struct profile_reader *reader, const struct profile_filter *filter,
			  profile_epoch_fn visit, void *context, struct error *err);

/** Called for each event of an epoch. */
typedef int (*profile_event_fn)(void *context, const struct profile_event *event);

/** profile_reader_events() - walk over an epoch's events, by number. */
int profile_reader_events(struct profile_reader *reader, int64_t epoch, profile_event_fn visit,
			  void *context, struct error *err);

/** Called for each counter of an epoch. */
typedef int (*profile_counter_fn)(void *context, const struct profile_counter *counter);

/** profile_reader_counters() - walk over an epoch's counters, by group and name. */
int profile_reader_counters(struct profile_reader *reader, int64_t epoch, profile_counter_fn visit,
			    void *context, struct error *err);

/**
 * struct profile - one profile: an image's samples of an event in an epoch
 * @pid:     the process, PROFILE_PID_ALL for those not kept by process, or
 *           PROFILE_PID_OF_LABEL() for those kept by unit
 * @samples: strictly ascending offsets, @count of them; NULL in profile_reader_totals()
 * @total:   the sum of their counts
 * @partial: @samples are those that lie in the filter's ranges; @total is that of all
 * @chosen:  whether it is of the process, unit and container that the filter asks for
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
};

/** Called for each profile; the data is valid only during the call. */
typedef int (*profile_fn)(void *context, const struct profile *profile);

/**
 * profile_reader_profiles() - walk over the profiles a filter selects
 *
 * A sample is in exactly one profile: of images profiled by process, those of
 * PROFILE_PID_ALL hold what was not attributed to a process. Ordered by image,
 * epoch, event, pid. A filter of NULL selects all. Other functions of the
 * reader but profile_reader_snapshot() may be called from the callback.
 */
int profile_reader_profiles(struct profile_reader *reader, const struct profile_filter *filter,
			    profile_fn visit, void *context, struct error *err);

/**
 * profile_reader_totals() - the same walk, without the samples
 *
 * For who must know which images are worth a look: the samples themselves are not
 * read, so neither is their checksum, which covers @total.
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
 * profile_reader_edges() - walk over the edges of the epochs a filter selects
 *
 * With the filter's @image, those that come from it; what it says of events and
 * processes is not looked at. Both kinds. Ordered by image, epoch, to_image and
 * kind. As for profile_reader_profiles() otherwise. A file of schema version 1
 * has none.
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
 * profile_reader_counts() - walk over exact counts in the epochs a filter selects
 *
 * Ordered by image, epoch and kind. As for profile_reader_edges() otherwise. A file of a
 * schema before version 4 has none.
 */
int profile_reader_counts(struct profile_reader *reader, const struct profile_filter *filter,
			  profile_counts_fn visit, void *context, struct error *err);

/** Called for each recording; the data is valid only during the call. */
typedef int (*profile_recording_fn)(void *context, const struct profile_recording *recording);

/**
 * profile_reader_recordings() - walk over recordings of a mode in the epochs a filter selects
 * @mode: enum profile_recording_mode, or -1 for all
 *
 * Ordered by image, epoch and mode. As for profile_reader_edges() otherwise. A file of a
 * schema before version 5 has none.
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

/** struct profile_symbols - symbols and the memory they are in. */
struct profile_symbols {
	struct profile_symbol *symbols;
	size_t count;
	char *names;
};

/**
 * profile_reader_symbols() - symbols kept with an image, sorted by offset
 * @ret: out; freed by profile_symbols_deinit(); empty if none are kept
 */
int profile_reader_symbols(struct profile_reader *reader, int64_t image,
			   struct profile_symbols *ret, struct error *err);

void profile_symbols_deinit(struct profile_symbols *symbols);

/** Called for each label of an epoch. */
typedef int (*profile_label_fn)(void *context, const struct profile_label *label);

/**
 * profile_reader_labels() - walk over an epoch's labels, by number
 *
 * A file of a schema before version 3 has none.
 */
int profile_reader_labels(struct profile_reader *reader, int64_t epoch, profile_label_fn visit,
			  void *context, struct error *err);

/** struct profile_share - samples of an image and event in an epoch that are a label's. */
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
 * profile_reader_shares() - walk over the shares of the epochs a filter selects
 *
 * Of the filter, @pid is not looked at. Ordered by epoch, image, event and label.
 * Shares of an image and event of an epoch add up to at most the sum of its
 * profiles; the rest was not labelled. As for labels otherwise.
 */
int profile_reader_shares(struct profile_reader *reader, const struct profile_filter *filter,
			  profile_share_fn visit, void *context, struct error *err);

/** Called for a procedure's code, which is valid during the call. */
typedef int (*profile_code_fn)(void *context, const struct profile_code *code);

/** profile_reader_code() - walk over the code kept with an image, by offset. */
int profile_reader_code(struct profile_reader *reader, int64_t image, profile_code_fn visit,
			void *context, struct error *err);

/** Called for each process of an epoch that has a name. */
typedef int (*profile_process_fn)(void *context, const struct profile_process *process);

/** profile_reader_processes() - walk over the names of an epoch's processes, by pid. */
int profile_reader_processes(struct profile_reader *reader, int64_t epoch, profile_process_fn visit,
			     void *context, struct error *err);

/**
 * profile_reader_command() - name of a process
 * @command: out: room for @bytes bytes; "" if not known
 */
int profile_reader_command(struct profile_reader *reader, int64_t epoch, int64_t pid, char *command,
			   size_t bytes, struct error *err);

#endif
