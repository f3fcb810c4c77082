// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write the reference database for the tests of the tools; its contents are always the same:
 *
 * make_golden_db FILE [IMAGE BUILD-ID OFFSET...]
 *
 * Epoch 1 is the x11perf run of the DCPI paper's figure 1; the procedures that the figure omits are
 * combined into one. Epoch 2 is from another host: two builds of one image, processes, losses, and
 * samples without an image. Epochs 3 and 4 have multiplexed events with different running times,
 * and edges. With an image, epoch 5 has ten samples at each of its offsets, and an edge from each
 * offset to the next.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/profile_write.h"
#include "lib/error.h"

#define HOUR_NS 3600000000000LL
#define START_NS (1700000000LL * 1000000000LL)

static struct profile_writer *writer;
static struct error err;

static void must(int r)
{
	if (r < 0) {
		fprintf(stderr, "make_golden_db: %s\n", err.message);
		exit(2);
	}
}

struct figure_row {
	const char *procedure;
	const char *image;
	uint64_t cycles;
	uint64_t imiss;
};

static const struct figure_row figure[] = {
	{"ffb8ZeroPolyArc", "/usr/shlib/X11/lib_dec_ffb_ev5.so", 2064143, 43443},
	{"ReadRequestFromClient", "/usr/shlib/X11/libos.so", 517464, 86621},
	{"miCreateETandAET", "/usr/shlib/X11/libmi.so", 305072, 18108},
	{"miZeroArcSetup", "/usr/shlib/X11/libmi.so", 271158, 26479},
	{"bcopy", "/vmunix", 245450, 11954},
	{"Dispatch", "/usr/shlib/X11/libdix.so", 209835, 12063},
	{"ffb8FillPolygon", "/usr/shlib/X11/lib_dec_ffb_ev5.so", 186413, 36170},
	{"in_checksum", "/vmunix", 170723, 20243},
	{"miInsertEdgeInET", "/usr/shlib/X11/libmi.so", 161326, 4891},
	{"miX1Y1X2Y2InRegion", "/usr/shlib/X11/libmi.so", 133768, 1546},
	/* chosen so that, with ten unknown samples, the totals are those of the figure */
	{"idle_thread", "/vmunix", 1829839, 855484},
};

#define FIGURE_ROWS (sizeof(figure) / sizeof(*figure))

/* Write all procedures of an image, each 4096 bytes long with samples at two offsets. */
static void write_figure_image(const char *path)
{
	struct profile_image image = {.path = path};
	struct profile_symbol symbols[FIGURE_ROWS];
	struct profile_sample cycles[2 * FIGURE_ROWS], imiss[2 * FIGURE_ROWS];
	size_t count = 0;
	int64_t id;

	image.kind = strcmp(path, "/vmunix") == 0 ? PROFILE_IMAGE_KERNEL : PROFILE_IMAGE_JIT;
	for (size_t i = 0; i < FIGURE_ROWS; i++) {
		uint64_t start = count * 4096;

		if (strcmp(figure[i].image, path) != 0)
			continue;
		symbols[count] = (struct profile_symbol){start, 4096, figure[i].procedure};
		cycles[2 * count] = (struct profile_sample){start, figure[i].cycles - 100};
		cycles[2 * count + 1] = (struct profile_sample){start + 4092, 100};
		imiss[2 * count] = (struct profile_sample){start + 8, figure[i].imiss - 7};
		imiss[2 * count + 1] = (struct profile_sample){start + 16, 7};
		count++;
	}
	must(profile_writer_image(writer, &image, &id, &err));
	must(profile_writer_symbols(writer, id, symbols, count, &err));
	must(profile_writer_add(writer, id, 0, PROFILE_PID_ALL, cycles, 2 * count, &err));
	must(profile_writer_add(writer, id, 1, PROFILE_PID_ALL, imiss, 2 * count, &err));
}

static void begin_epoch(const char *host, int64_t start_ns, const struct profile_event *events,
			size_t event_count)
{
	struct profile_epoch epoch = {
		.start_ns = start_ns,
		.host = host,
		.machine_id = "",
		.cpu_model = "Alpha 21164",
		.cpus = 1,
		.kernel = "4.0",
		.source = "kmod",
		.source_reason = "asked for",
		.label = "x11perf",
	};

	must(profile_writer_epoch_begin(writer, &epoch, events, event_count, &err));
	must(profile_writer_begin(writer, &err));
}

static void end_epoch(int64_t end_ns, uint64_t interrupts, const struct profile_counter *counters,
		      size_t count)
{
	must(profile_writer_totals(writer, end_ns, interrupts, counters, count, &err));
	must(profile_writer_commit(writer, &err));
	must(profile_writer_epoch_end(writer, end_ns, &err));
}

static void write_figure(void)
{
	static const struct profile_event events[] = {
		{0, "cycles", "cycles", 60000, 64000, 0, 0},
		{1, "imiss", "events", 4096, 4096, 0, 0},
	};
	static const struct profile_counter counters[] = {
		{"loss", "buffers_full", 90},
		{"loss", "nested", 7},
		{"stat", "flips", 12},
		{"unknown", "process", 10},
	};
	struct profile_image unknown = {.kind = PROFILE_IMAGE_UNKNOWN, .path = ""};
	struct profile_sample lost = {0, 10};
	int64_t id;

	begin_epoch("alpha", START_NS, events, 2);
	for (size_t i = 0; i < FIGURE_ROWS; i++) {
		size_t first = 0;

		while (strcmp(figure[first].image, figure[i].image) != 0)
			first++;
		if (first == i)
			write_figure_image(figure[i].image);
	}
	must(profile_writer_image(writer, &unknown, &id, &err));
	must(profile_writer_add(writer, id, 0, PROFILE_PID_ALL, &lost, 1, &err));
	end_epoch(START_NS + HOUR_NS, 6095201 + 1117002 + 97, counters, 4);
}

static int64_t write_twin(uint8_t first_byte, uint64_t count, int64_t pid)
{
	struct profile_image image = {
		.kind = PROFILE_IMAGE_FILE,
		.identity_kind = PROFILE_IDENTITY_BUILD_ID,
		.identity_bytes = 20,
		.identity = {first_byte, 0x22, 0x33, 0x44},
		.path = "/nonexistent/bin/server, \"main\"",
	};
	struct profile_sample sample = {0x1000, count};
	int64_t id;

	must(profile_writer_image(writer, &image, &id, &err));
	must(profile_writer_add(writer, id, 0, pid, &sample, 1, &err));
	return id;
}

static void write_second(void)
{
	static const struct profile_event events[] = {{0, "cpu-clock", "ns", 195000, 205000, 0, 0}};
	static const struct profile_counter counters[] = {{"loss", "buffers_full", 3}};
	struct profile_image jit = {.kind = PROFILE_IMAGE_JIT, .path = "[jit]\033[31m"};
	struct profile_symbol symbols[] = {{0, 0, "_ZN3Foo3barEi"}, {64, 16, "evil\n\033[2J\xff"}};
	struct profile_sample samples[] = {{3, 5}, {64, 4}, {100, 1}};
	struct profile_process process = {.pid = 42, .command = "server", .label = 1};
	static const struct profile_label web = {1, "web.service", ""};
	static const struct profile_label box = {2, "docker-0123abcd.scope", "0123abcd"};
	int64_t id;

	begin_epoch("beta", START_NS + 10 * HOUR_NS, events, 1);
	must(profile_writer_label(writer, &web, &err));
	must(profile_writer_label(writer, &box, &err));
	id = write_twin(0x11, 40, 42);
	must(profile_writer_share(writer, id, 0, 1, 40, &err));
	id = write_twin(0xee, 20, PROFILE_PID_ALL);
	must(profile_writer_share(writer, id, 0, 2, 15, &err));
	must(profile_writer_process(writer, &process, &err));
	must(profile_writer_image(writer, &jit, &id, &err));
	must(profile_writer_symbols(writer, id, symbols, 2, &err));
	must(profile_writer_add(writer, id, 0, PROFILE_PID_ALL, samples, 3, &err));
	end_epoch(START_NS + 11 * HOUR_NS, 75, counters, 1);
}

/*
 * Write an epoch with two multiplexed events. One was counted all the time, the other for a quarter
 * of the time in the first epoch and for a half in the second. One image is from the figure and has
 * two procedures of 4096 bytes.
 */
static void write_turns(unsigned int round)
{
	static const struct profile_event events[] = {
		{0, "cycles", "cycles", 60000, 64000, 0, 0},
		{1, "imiss", "events", 4096, 4096, 0, 0},
	};
	static const struct profile_edge near[] = {
		{0x10, 0x1004, 3}, {0x20, 0x8, 60}, {0x20, 0x24, 40}, {0x9000, 0x0, 2}};
	static const struct profile_edge far[] = {{0x1080, 0x4, 7}};
	struct profile_image image = {.kind = PROFILE_IMAGE_JIT,
				      .path = "/usr/shlib/X11/lib_dec_ffb_ev5.so"};
	struct profile_image kernel = {.kind = PROFILE_IMAGE_KERNEL, .path = "/vmunix"};
	struct profile_sample cycles[] = {{0x20, 30}, {0x24, 10}, {0x1004, 20}, {0x9000, 5}};
	struct profile_sample imiss[] = {{0x20, 5}, {0x1004, 2}};
	static const struct profile_counter counters[] = {
		{"stat", "edges_handed", 120},
		{"stat", "edges_unknown", 5},
		{"stat", "edges_pending", 0},
	};
	const uint64_t running[] = {25, 50};
	int64_t id, kernel_id;

	begin_epoch("alpha", START_NS + (20 + round) * HOUR_NS, events, 2);
	must(profile_writer_image(writer, &image, &id, &err));
	must(profile_writer_image(writer, &kernel, &kernel_id, &err));
	must(profile_writer_add(writer, id, 0, PROFILE_PID_ALL, cycles, 4, &err));
	must(profile_writer_add(writer, id, 1, PROFILE_PID_ALL, imiss, 2, &err));
	must(profile_writer_edges(writer, id, id, PROFILE_EDGE_BRANCH, near, 4, &err));
	must(profile_writer_edges(writer, id, kernel_id, PROFILE_EDGE_BRANCH, far, 1, &err));
	must(profile_writer_edges(writer, id, id, PROFILE_EDGE_DOUBLE, near, 1, &err));
	must(profile_writer_event_time(writer, 0, 100 * HOUR_NS, 100 * HOUR_NS, &err));
	must(profile_writer_event_time(writer, 1, 100 * HOUR_NS, running[round] * HOUR_NS, &err));
	end_epoch(START_NS + (21 + round) * HOUR_NS, 72, counters, 3);
}

/* argv: image, build-id, offsets in ascending order */
static void write_file_epoch(int argc, char **argv)
{
	static const struct profile_event events[] = {{0, "cpu-clock", "ns", 195000, 205000, 0, 0}};
	struct profile_image image = {
		.kind = PROFILE_IMAGE_FILE,
		.identity_kind = PROFILE_IDENTITY_BUILD_ID,
		.path = argv[0],
	};
	struct profile_edge edge = {.count = 10};
	uint64_t samples = 0;
	int64_t id;

	while (image.identity_bytes < 20 && sscanf(argv[1] + 2 * image.identity_bytes, "%2hhx",
						   &image.identity[image.identity_bytes]) == 1)
		image.identity_bytes++;
	begin_epoch("alpha", START_NS + 30 * HOUR_NS, events, 1);
	must(profile_writer_image(writer, &image, &id, &err));
	for (int i = 2; i < argc; i++) {
		struct profile_sample sample = {strtoull(argv[i], NULL, 0), 10};

		must(profile_writer_add(writer, id, 0, PROFILE_PID_ALL, &sample, 1, &err));
		samples += sample.count;
		edge.to = sample.offset;
		if (i > 2)
			must(profile_writer_edges(writer, id, id, PROFILE_EDGE_BRANCH, &edge, 1,
						  &err));
		edge.from = sample.offset;
	}
	end_epoch(START_NS + 31 * HOUR_NS, samples, NULL, 0);
}

int main(int argc, char **argv)
{
	if (argc != 2 && argc < 5) {
		fputs("usage: make_golden_db FILE [IMAGE BUILD-ID OFFSET...]\n", stderr);
		return 2;
	}
	must(profile_writer_open(&writer, argv[1], &err));
	write_figure();
	write_second();
	write_turns(0);
	write_turns(1);
	if (argc > 2)
		write_file_epoch(argc - 2, argv + 2);
	profile_writer_close(writer);
	return 0;
}
