// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure the cost of the profile database: bytes per pair of offset and count, bytes per edge,
 * time per merged entry, and bytes on disk for a week in the paper's geometry. Prints one JSON line
 * per result.
 *
 * The workload "synthetic" has procedures of log-normal size and Zipf popularity, instructions of
 * x86's mean length (or 4 bytes: "fixed"), and loops inside procedures. Counts within a block are
 * thus close, and counts of different blocks far apart. Samples are drawn one at a time.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "db/edge_blob.h"
#include "db/profile_blob.h"
#include "db/profile_write.h"
#include "db/symbol_blob.h"
#include "lib/error.h"
#include "tests/eval/bench/bench.h"

#define PROCEDURES_MAX 4096

static uint64_t random_state = 1;

static uint64_t next_random(void)
{
	uint64_t z = (random_state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static double uniform(void)
{
	return ((double)(next_random() >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static void *need(void *memory)
{
	if (memory == NULL)
		abort();
	return memory;
}

/* An image: the offsets of its instructions, and the probability that a sample hits each. */
struct image {
	uint64_t *offsets;
	double *weights; /* cumulative */
	size_t instructions;
};

static uint64_t instruction_bytes(int fixed)
{
	/* Mean 4.2, range 1 to 10: about the distribution in compiled x86-64 code. */
	static const uint8_t lengths[16] = {1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 7, 10};

	return fixed ? 4 : lengths[next_random() % 16];
}

static void add_procedure(struct image *image, size_t *capacity, uint64_t *offset, double weight,
			  int fixed)
{
	size_t n = (size_t)(exp(4 + 1.2 * normal())) + 4, block = 0, i;
	double hot = 1, total = image->instructions ? image->weights[image->instructions - 1] : 0;

	for (i = 0; i < n; i++) {
		if (block-- == 0) {
			block = next_random() % 10;
			hot = uniform() < 0.5 ? 0 : exp(2 * normal());
		}
		if (image->instructions == *capacity) {
			*capacity = *capacity ? *capacity * 2 : 1024;
			image->offsets =
				need(realloc(image->offsets, *capacity * sizeof(uint64_t)));
			image->weights = need(realloc(image->weights, *capacity * sizeof(double)));
		}
		total += weight * hot * exp(0.7 * normal());
		image->offsets[image->instructions] = *offset;
		image->weights[image->instructions++] = total;
		*offset += instruction_bytes(fixed);
	}
	*offset = (*offset + 15) & ~15ULL;
}

static struct image make_image(size_t procedures, int fixed)
{
	struct image image = {0};
	uint64_t offset = 0x1000;
	size_t capacity = 0, i;

	for (i = 0; i < procedures; i++)
		add_procedure(&image, &capacity, &offset,
			      1.0 / (double)(1 + next_random() % PROCEDURES_MAX), fixed);
	return image;
}

static void free_image(struct image *image)
{
	free(image->offsets);
	free(image->weights);
}

/* Return the number of a random instruction. */
static size_t draw_one(const struct image *image)
{
	double where = uniform() * image->weights[image->instructions - 1];
	size_t low = 0, high = image->instructions - 1;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (image->weights[middle] < where)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Draw samples and return their pairs in ascending order. */
static struct profile_pairs draw(const struct image *image, size_t samples)
{
	uint64_t *counts = need(calloc(image->instructions, sizeof(*counts)));
	struct profile_pairs pairs = {0};
	size_t i;

	for (i = 0; i < samples; i++)
		counts[draw_one(image)]++;
	pairs.samples = need(calloc(image->instructions, sizeof(*pairs.samples)));
	for (i = 0; i < image->instructions; i++) {
		if (counts[i] == 0)
			continue;
		pairs.samples[pairs.count].offset = image->offsets[i];
		pairs.samples[pairs.count++].count = counts[i];
		pairs.total += counts[i];
	}
	free(counts);
	return pairs;
}

static void bench_size(const char *workload, int fixed, size_t samples)
{
	struct image image = make_image(2000, fixed);
	struct profile_pairs pairs = draw(&image, samples);
	struct profile_blob blob = {0};
	char label[64];
	uint64_t total;

	if (profile_blob_encode(&blob, 1, pairs.samples, pairs.count, &total) < 0)
		abort();
	snprintf(label, sizeof(label), "%s, %zu samples", workload, samples);
	bench_report("bytes_per_entry", "db", label, (double)blob.bytes / (double)pairs.count,
		     "bytes");
	bench_report("samples_per_entry", "db", label, (double)total / (double)pairs.count,
		     "samples");
	profile_pairs_deinit(&pairs);
	profile_blob_deinit(&blob);
	free_image(&image);
}

static int by_edge(const void *a, const void *b)
{
	const struct profile_edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

/*
 * Make branches at the sampled instructions. One in five is a conditional branch to a target some
 * twenty instructions before or after it, with a random share of taken executions. One in fifty
 * jumps or calls anywhere.
 */
static size_t make_edges(const struct profile_pairs *pairs, struct profile_edge *edges)
{
	size_t count = 0, i;

	for (i = 0; i < pairs->count; i++) {
		uint64_t from = pairs->samples[i].offset, samples = pairs->samples[i].count;
		uint64_t taken = (uint64_t)((double)samples * uniform() + 0.5);
		double distance = exp(3 + 1.2 * normal());
		uint64_t to = from + (uint64_t)distance * 4;

		if (next_random() % 50 == 0)
			edges[count++] = (struct profile_edge){
				from, pairs->samples[next_random() % pairs->count].offset, samples};
		if (next_random() % 5 != 0)
			continue;
		if (next_random() % 2 && from > (uint64_t)distance * 4)
			to = from - (uint64_t)distance * 4;
		if (taken > 0)
			edges[count++] = (struct profile_edge){from, to, taken};
		if (taken < samples)
			edges[count++] = (struct profile_edge){from, from + 4, samples - taken};
	}
	return count;
}

static void bench_edge_size(size_t samples)
{
	struct image image = make_image(2000, 1);
	struct profile_pairs pairs = draw(&image, samples);
	struct profile_edge *edges = need(calloc(3 * pairs.count + 1, sizeof(*edges)));
	size_t count = make_edges(&pairs, edges), i;
	struct edge_list sorted = {0}, list = {0};
	struct profile_blob blob = {0};
	uint64_t total, start;
	char label[64];

	/* Merge equal edges. */
	qsort(edges, count, sizeof(*edges), by_edge);
	sorted.edges = edges;
	for (i = 0; i < count; i++) {
		if (sorted.count > 0 && by_edge(&edges[sorted.count - 1], &edges[i]) == 0)
			edges[sorted.count - 1].count += edges[i].count;
		else
			edges[sorted.count++] = edges[i];
	}
	if (edge_blob_encode(&blob, 1, edges, sorted.count, &total) < 0)
		abort();
	for (i = 0, start = 0; i <= 20; i++) {
		if (i == 1) /* start after the memory has been allocated */
			start = (uint64_t)bench_now_ns();
		if (edge_blob_decode(&list, 1, blob.data, blob.bytes) < 0)
			abort();
	}
	snprintf(label, sizeof(label), "synthetic fixed, %zu samples", samples);
	bench_report("decode_ns_per_edge", "db", label,
		     (bench_now_ns() - (double)start) / 20 / (double)list.count, "ns");
	bench_report("bytes_per_edge", "db", label, (double)blob.bytes / (double)list.count,
		     "bytes");
	edge_list_deinit(&list);
	profile_pairs_deinit(&pairs);
	profile_blob_deinit(&blob);
	free(edges);
	free_image(&image);
}

/* Decode, merge with a few hundred new samples, and encode, as an _add() function does. */
static void bench_merge(void)
{
	struct image image = make_image(4096, 0);
	struct profile_pairs stored = draw(&image, 5000000), added = draw(&image, 500);
	struct profile_pairs decoded = {0}, merged = {0};
	struct profile_blob blob = {0};
	double start, entries, decode = 0, merge = 0, encode = 0;
	uint64_t total;
	int round;

	if (profile_blob_encode(&blob, 1, stored.samples, stored.count, &total) < 0)
		abort();
	for (round = 0; round < 50; round++) {
		start = bench_now_ns();
		if (profile_blob_decode(&decoded, 1, blob.data, blob.bytes) < 0)
			abort();
		decode += bench_now_ns() - start;
		start = bench_now_ns();
		if (profile_pairs_merge(&merged, &decoded, added.samples, added.count) < 0)
			abort();
		merge += bench_now_ns() - start;
		start = bench_now_ns();
		if (profile_blob_encode(&blob, 1, merged.samples, merged.count, &total) < 0)
			abort();
		encode += bench_now_ns() - start;
	}
	entries = 50.0 * (double)merged.count;
	bench_report("decode_ns_per_entry", "db", "large image", decode / entries, "ns");
	bench_report("merge_ns_per_entry", "db", "large image", merge / entries, "ns");
	bench_report("encode_ns_per_entry", "db", "large image", encode / entries, "ns");
	bench_report("add_ns_per_entry", "db", "large image", (decode + merge + encode) / entries,
		     "ns");
	bench_report("entries", "db", "large image", (double)merged.count, "entries");
	profile_pairs_deinit(&stored);
	profile_pairs_deinit(&added);
	profile_pairs_deinit(&decoded);
	profile_pairs_deinit(&merged);
	profile_blob_deinit(&blob);
	free_image(&image);
}

/* Names like those of a kernel: a subsystem, words, occasionally a suffix. */
static void bench_symbols(void)
{
	static const char *const words[] = {"ext4", "tcp",  "alloc", "page", "get",	"put",
					    "lock", "wait", "queue", "init", "release", "show",
					    "node", "read", "write", "show", "store",	"work"};
	static struct profile_symbol symbols[60000];
	static char names[60000][48];
	size_t words_count = sizeof(words) / sizeof(words[0]), i;
	struct profile_blob blob = {0};
	uint64_t offset = 0, start;

	for (i = 0; i < 60000; i++) {
		snprintf(names[i], sizeof(names[i]), "%s_%s_%s%s", words[i / 400 % words_count],
			 words[next_random() % words_count], words[next_random() % words_count],
			 next_random() % 20 ? "" : ".isra.0");
		symbols[i] = (struct profile_symbol){.offset = offset, .name = names[i]};
		offset += 16 * (1 + (uint64_t)exp(2 + normal()));
	}
	start = (uint64_t)bench_now_ns();
	if (symbol_blob_encode(&blob, 1, symbols, 60000) < 0)
		abort();
	bench_report("symbols_encode_ms", "db", "60,000 symbols",
		     (bench_now_ns() - (double)start) / 1e6, "ms");
	bench_report("bytes_per_symbol", "db", "60,000 symbols", (double)blob.bytes / 60000,
		     "bytes");
	profile_blob_deinit(&blob);
}

static void check(int r, const struct error *err)
{
	if (r == 0)
		return;
	fprintf(stderr, "bench_db: %s\n", err->message);
	exit(2);
}

static int64_t add_image(struct profile_writer *writer, unsigned int number)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE,
				      .identity_kind = PROFILE_IDENTITY_BUILD_ID,
				      .identity_bytes = 20};
	struct error err;
	char path[64];
	int64_t id;

	snprintf(path, sizeof(path), "/usr/lib/x86_64-linux-gnu/libexample-%u.so.1", number);
	memcpy(image.identity, &number, sizeof(number));
	image.path = path;
	check(profile_writer_image(writer, &image, &id, &err), &err);
	return id;
}

static const struct profile_epoch epoch = {
	.start_ns = 1,
	.host = "h",
	.machine_id = "",
	.cpu_model = "",
	.kernel = "",
	.source = "",
	.source_reason = "",
	.label = "",
};

/* Parameters of a week of 480 images. */
#define WEEK_IMAGES 480
#define WEEK_SAMPLES 10000000 /* per event, in the hottest image; others by Zipf's law */
#define WEEK_UNITS 20
#define WEEK_MERGES 12

/* How units are recorded. */
enum week {
	WEEK_PLAIN,   /* units = 0 */
	WEEK_SHARES,  /* the default: the number of samples per unit */
	WEEK_BY_UNIT, /* per_unit = all: also a profile per unit */
};

/* Return the number of units that have samples in an image: more units in hotter images. */
static uint32_t week_units(unsigned int image)
{
	return 1 + (WEEK_UNITS - 1) / (1 + image / 24);
}

static void week_samples(struct profile_writer *writer, const struct image *image,
			 unsigned int number, int64_t id, enum week week)
{
	uint32_t units = week == WEEK_BY_UNIT ? week_units(number) : 1, unit, event;
	struct error err;

	for (event = 0; event < 2; event++) {
		for (unit = 1; unit <= units; unit++) {
			struct profile_pairs drawn =
				draw(image, WEEK_SAMPLES / (number + 1) / WEEK_MERGES / units);
			int64_t pid =
				week == WEEK_BY_UNIT ? PROFILE_PID_OF_LABEL(unit) : PROFILE_PID_ALL;

			check(profile_writer_add(writer, id, event, pid, drawn.samples, drawn.count,
						 &err),
			      &err);
			profile_pairs_deinit(&drawn);
		}
	}
}

static void week_shares(struct profile_writer *writer, unsigned int image, int64_t id)
{
	struct error err;
	uint32_t unit;

	for (unit = 1; unit <= week_units(image); unit++) {
		check(profile_writer_share(writer, id, 0, unit, 1000, &err), &err);
		check(profile_writer_share(writer, id, 1, unit, 1000, &err), &err);
	}
}

/* Merge samples of all images once. */
static void week_merge(struct profile_writer *writer, const struct image *images, enum week week)
{
	struct error err;
	unsigned int i;

	check(profile_writer_begin(writer, &err), &err);
	for (i = 0; i < WEEK_IMAGES; i++) {
		int64_t id = add_image(writer, i);

		week_samples(writer, &images[i], i, id, week);
		if (week != WEEK_PLAIN)
			week_shares(writer, i, id);
	}
	check(profile_writer_commit(writer, &err), &err);
}

static void week_epoch(struct profile_writer *writer)
{
	static const struct profile_event events[2] = {
		{.number = 0, .name = "cycles", .unit = "cycles", .period_max = 64000},
		{.number = 1, .name = "imiss", .unit = "events", .period_max = 4096},
	};
	struct error err;
	uint32_t unit;

	check(profile_writer_epoch_begin(writer, &epoch, events, 2, &err), &err);
	check(profile_writer_begin(writer, &err), &err);
	for (unit = 1; unit <= WEEK_UNITS; unit++) {
		const struct profile_label label = {
			.number = unit, .unit = "example.service", .container = ""};

		check(profile_writer_label(writer, &label, &err), &err);
	}
	check(profile_writer_commit(writer, &err), &err);
}

/*
 * Measure a week in the paper's geometry: 480 images, two events, one epoch, and enough merges for
 * the database to move its pages. Image sizes are log-normal; samples follow Zipf's law.
 */
static void bench_week(const char *path, const char *label, enum week week)
{
	static struct image images[WEEK_IMAGES];
	struct profile_writer *writer;
	struct error err;
	struct stat status;
	double start = bench_now_ns();
	unsigned int i;

	random_state = 1; /* use the same images and samples each time */
	for (i = 0; i < WEEK_IMAGES; i++)
		images[i] = make_image((size_t)exp(3.5 + 1.2 * normal()) + 1, 1);
	check(profile_writer_open(&writer, path, &err), &err);
	week_epoch(writer);
	for (i = 0; i < WEEK_MERGES; i++)
		week_merge(writer, images, week);
	profile_writer_close(writer);
	if (stat(path, &status) < 0)
		abort();
	bench_report("file_bytes", "db", label, (double)status.st_size, "bytes");
	bench_report("seconds", "db", label, (double)(bench_now_ns() - start) / 1e9, "s");
	for (i = 0; i < WEEK_IMAGES; i++)
		free_image(&images[i]);
}

/* A day: slices of ten seconds in its last hour, and of a minute before. */
#define DAY_S 86400
#define DAY_FINE_S 3600
#define SECOND 1000000000LL

/* An image of the day: its samples so far, by event. */
struct day_image {
	struct image image;
	struct profile_pairs sum[2];
};

static int by_size(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* As draw(), in time that does not depend on the size of the image. */
static struct profile_pairs draw_few(const struct image *image, size_t samples)
{
	size_t *drawn = need(calloc(samples, sizeof(*drawn)));
	struct profile_pairs pairs = {.total = samples};

	pairs.samples = need(calloc(samples, sizeof(*pairs.samples)));
	for (size_t i = 0; i < samples; i++)
		drawn[i] = draw_one(image);
	qsort(drawn, samples, sizeof(*drawn), by_size);
	for (size_t i = 0; i < samples; i++) {
		if (i == 0 || drawn[i] != drawn[i - 1])
			pairs.samples[pairs.count++].offset = image->offsets[drawn[i]];
		pairs.samples[pairs.count - 1].count++;
	}
	free(drawn);
	return pairs;
}

/* Draw the samples of one slice; rare ones occur in some of the slices. */
static void day_slice(struct profile_writer *writer, struct day_image *images, int64_t slice,
		      double seconds)
{
	struct profile_pairs merged = {0}, last;
	struct error err;

	for (unsigned int i = 0; i < 2 * WEEK_IMAGES; i++) {
		struct day_image *image = &images[i / 2];
		double mean = WEEK_SAMPLES / 7.0 / (i / 2 + 1) * seconds / DAY_S;
		size_t samples = (size_t)(mean + uniform());
		struct profile_pairs drawn;

		if (samples == 0)
			continue;
		drawn = draw_few(&image->image, samples);
		check(profile_writer_slice_add(writer, slice, i / 2 + 1, i % 2, PROFILE_PID_ALL,
					       drawn.samples, drawn.count, &err),
		      &err);
		check(profile_writer_slice_share(writer, slice, i / 2 + 1, i % 2, 1, samples, &err),
		      &err);
		if (profile_pairs_merge(&merged, &image->sum[i % 2], drawn.samples, drawn.count) <
		    0)
			abort();
		last = image->sum[i % 2];
		image->sum[i % 2] = merged;
		merged = last;
		profile_pairs_deinit(&drawn);
	}
	profile_pairs_deinit(&merged);
}

static void day_slices(struct profile_writer *writer, struct day_image *images)
{
	int64_t seconds = 60, id;
	struct error err;

	for (int64_t at = 0; at < DAY_S; at += seconds) {
		struct profile_slice slice = {.end_ns = (at + seconds) * SECOND};

		seconds = at < DAY_S - DAY_FINE_S ? 60 : 10;
		check(profile_writer_begin(writer, &err), &err);
		check(profile_writer_slice(writer, 1 + at * SECOND, &id, &err), &err);
		day_slice(writer, images, id, (double)seconds);
		check(profile_writer_slice_set(writer, id, &slice, NULL, 0, &err), &err);
		check(profile_writer_commit(writer, &err), &err);
	}
}

static double used_bytes(struct profile_writer *writer)
{
	const struct profile_limits none = {0};
	struct profile_expired expired = {0};
	struct error err;

	while (profile_writer_expire(writer, &none, &expired, &err) == 1)
		;
	return (double)expired.used_bytes;
}

/* Measure what slices add to the size of a day, before and after the default limit applies. */
static void bench_slices(const char *path)
{
	static struct day_image images[WEEK_IMAGES];
	struct profile_slice_limits limits = {
		.now_ns = DAY_S * SECOND, .before_ns = INT64_MAX, .percent = 100};
	struct profile_writer *writer;
	struct error err;
	double plain, all;

	random_state = 1;
	check(profile_writer_open(&writer, path, &err), &err);
	week_epoch(writer);
	check(profile_writer_begin(writer, &err), &err);
	for (unsigned int i = 0; i < WEEK_IMAGES; i++) {
		images[i].image = make_image((size_t)exp(3.5 + 1.2 * normal()) + 1, 1);
		if (add_image(writer, i) != i + 1)
			abort();
	}
	check(profile_writer_commit(writer, &err), &err);
	day_slices(writer, images);
	all = used_bytes(writer);
	check(profile_writer_begin(writer, &err), &err);
	for (unsigned int i = 0; i < 2 * WEEK_IMAGES; i++) {
		struct profile_pairs *sum = &images[i / 2].sum[i % 2];

		check(profile_writer_add(writer, i / 2 + 1, i % 2, PROFILE_PID_ALL, sum->samples,
					 sum->count, &err),
		      &err);
		check(profile_writer_share(writer, i / 2 + 1, i % 2, 1, sum->total, &err), &err);
		profile_pairs_deinit(sum);
	}
	check(profile_writer_commit(writer, &err), &err);
	plain = used_bytes(writer) - all;
	bench_report("slices_bytes_percent", "db", "a day, without limit", 100 * all / plain, "%");
	while (profile_writer_slices_merge(writer, &limits, &err) == 1)
		;
	bench_report("slices_bytes_percent", "db", "a day, slices_percent = 100",
		     100 * (used_bytes(writer) - plain) / plain, "%");
	profile_writer_close(writer);
	for (unsigned int i = 0; i < WEEK_IMAGES; i++)
		free_image(&images[i].image);
}

/* Measure a commit that merges a few samples into a row with many, on this machine's disk. */
static void bench_commit(const char *path)
{
	static const struct profile_event event = {.name = "cycles", .unit = "cycles"};
	struct image image = make_image(4096, 0);
	struct profile_pairs stored = draw(&image, 5000000), added = draw(&image, 500);
	struct profile_writer *writer;
	struct error err;
	double start;
	int64_t id;
	int round;

	check(profile_writer_open(&writer, path, &err), &err);
	check(profile_writer_epoch_begin(writer, &epoch, &event, 1, &err), &err);
	check(profile_writer_begin(writer, &err), &err);
	id = add_image(writer, 0);
	check(profile_writer_add(writer, id, 0, -1, stored.samples, stored.count, &err), &err);
	check(profile_writer_commit(writer, &err), &err);
	start = bench_now_ns();
	for (round = 0; round < 50; round++) {
		check(profile_writer_begin(writer, &err), &err);
		check(profile_writer_add(writer, id, 0, -1, added.samples, added.count, &err),
		      &err);
		check(profile_writer_commit(writer, &err), &err);
	}
	bench_report("commit_ms", "db", "500 samples into a large image",
		     (bench_now_ns() - start) / 50e6, "ms");
	profile_writer_close(writer);
	profile_pairs_deinit(&stored);
	profile_pairs_deinit(&added);
	free_image(&image);
}

int main(void)
{
	char directory[] = "/tmp/dcpi-bench-db-XXXXXX", path[64], command[64];

	bench_size("synthetic", 0, 5000);
	bench_size("synthetic", 0, 100000);
	bench_size("synthetic", 0, 5000000);
	bench_size("synthetic fixed", 1, 5000);
	bench_size("synthetic fixed", 1, 100000);
	bench_size("synthetic fixed", 1, 5000000);
	bench_edge_size(5000);
	bench_edge_size(100000);
	bench_edge_size(5000000);
	bench_merge();
	bench_symbols();
	if (mkdtemp(directory) == NULL)
		abort();
	snprintf(path, sizeof(path), "%s/week.db", directory);
	bench_week(path, "480 images, 2 events", WEEK_SHARES);
	snprintf(path, sizeof(path), "%s/plain.db", directory);
	bench_week(path, "480 images, 2 events, units = 0", WEEK_PLAIN);
	snprintf(path, sizeof(path), "%s/by_unit.db", directory);
	bench_week(path, "480 images, 2 events, per_unit = all", WEEK_BY_UNIT);
	snprintf(path, sizeof(path), "%s/slices.db", directory);
	bench_slices(path);
	snprintf(path, sizeof(path), "%s/commit.db", directory);
	bench_commit(path);
	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	return system(command) == 0 ? 0 : 1;
}
