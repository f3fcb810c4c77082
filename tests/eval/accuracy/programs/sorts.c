// SPDX-License-Identifier: GPL-2.0-only
/* Sorting: quicksort, heap sort, merge sort of a list, libc's qsort; binary search. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 20000

struct item {
	struct item *next;
	uint32_t key;
};

static uint32_t values[N], work[N];
static struct item items[N];
static uint32_t seed = 7;

static uint32_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed;
}

static void insertion(uint32_t *v, int n)
{
	for (int i = 1; i < n; i++) {
		uint32_t key = v[i];
		int j = i;

		for (; j > 0 && v[j - 1] > key; j--)
			v[j] = v[j - 1];
		v[j] = key;
	}
}

static void quick(uint32_t *v, int n)
{
	while (n > 12) {
		uint32_t pivot = v[n / 2];
		int i = 0, j = n - 1;

		while (i <= j) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i <= j) {
				uint32_t t = v[i];

				v[i++] = v[j];
				v[j--] = t;
			}
		}
		if (j + 1 < n - i) {
			quick(v, j + 1);
			v += i;
			n -= i;
		} else {
			quick(v + i, n - i);
			n = j + 1;
		}
	}
	insertion(v, n);
}

static void sift(uint32_t *v, int root, int n)
{
	uint32_t value = v[root];

	for (;;) {
		int child = 2 * root + 1;

		if (child >= n)
			break;
		if (child + 1 < n && v[child + 1] > v[child])
			child++;
		if (v[child] <= value)
			break;
		v[root] = v[child];
		root = child;
	}
	v[root] = value;
}

static void heap(uint32_t *v, int n)
{
	for (int i = n / 2 - 1; i >= 0; i--)
		sift(v, i, n);
	for (int i = n - 1; i > 0; i--) {
		uint32_t t = v[0];

		v[0] = v[i];
		v[i] = t;
		sift(v, 0, i);
	}
}

static struct item *merge(struct item *a, struct item *b)
{
	struct item head = {0}, *tail = &head;

	while (a && b) {
		if (a->key <= b->key) {
			tail->next = a;
			a = a->next;
		} else {
			tail->next = b;
			b = b->next;
		}
		tail = tail->next;
	}
	tail->next = a ? a : b;
	return head.next;
}

static struct item *list_sort(struct item *list, int n)
{
	struct item *half = list;

	if (n == 1) {
		list->next = NULL;
		return list;
	}
	for (int i = 0; i < n / 2; i++)
		half = half->next;
	half = list_sort(half, n - n / 2);
	return merge(list_sort(list, n / 2), half);
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static int found(uint32_t key)
{
	int low = 0, high = N;

	while (low < high) {
		int middle = (low + high) / 2;

		if (work[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low < N && work[low] == key;
}

static uint32_t lists(void)
{
	for (int i = 0; i < N; i++) {
		items[i].key = values[i];
		items[i].next = i + 1 < N ? &items[i + 1] : NULL;
	}
	return list_sort(items, N)->next->key;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	uint32_t sum = 0;

	for (int r = 0; r < rounds; r++) {
		for (int i = 0; i < N; i++)
			values[i] = draw() % 1000000;
		memcpy(work, values, sizeof(work));
		quick(work, N);
		memcpy(work, values, sizeof(work));
		heap(work, N);
		memcpy(work, values, sizeof(work));
		qsort(work, N, sizeof(work[0]), compare);
		sum += lists();
		for (int i = 0; i < N; i++)
			sum += (uint32_t)found(draw() % 1000000);
	}
	printf("%u\n", sum);
	return 0;
}
