// SPDX-License-Identifier: GPL-2.0-only
/* select c.region, sum(o.amount) from orders o join customers c ... where ... group by */
#include "tests/eval/truth/programs/program.h"

#define CUSTOMERS 20000
#define ORDERS 300000
#define SLOTS 65536
#define REGIONS 50

struct customer {
	uint32_t id;
	uint32_t region;
	uint32_t balance;
};

struct order {
	uint32_t customer;
	uint32_t amount;
	uint32_t day;
};

static struct customer customers[CUSTOMERS];
static struct order orders[ORDERS];
static uint32_t table[SLOTS];
static uint64_t sums[REGIONS];

__attribute__((noipa)) static uint32_t slot(uint32_t id)
{
	id ^= id >> 16;
	id *= 0x7feb352dU;
	id ^= id >> 15;
	return id % SLOTS;
}

__attribute__((noipa)) static void build(uint32_t balance)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		table[i] = 0;
	for (uint32_t i = 0; i < CUSTOMERS; i++) {
		uint32_t at = slot(customers[i].id);

		if (customers[i].balance < balance)
			continue;
		while (table[at])
			at = (at + 1) % SLOTS;
		table[at] = i + 1;
	}
}

__attribute__((noipa)) static void probe(uint32_t first, uint32_t last)
{
	for (uint32_t i = 0; i < ORDERS; i++) {
		const struct order *o = &orders[i];
		uint32_t at;

		if (o->day < first || o->day > last)
			continue;
		for (at = slot(o->customer); table[at]; at = (at + 1) % SLOTS) {
			const struct customer *c = &customers[table[at] - 1];

			if (c->id == o->customer) {
				sums[c->region] += o->amount;
				break;
			}
		}
	}
}

int main(int argc, char **argv)
{
	unsigned int rounds = program_rounds(argc, argv, 4);
	uint64_t seed = 13, sum = 0;

	for (uint32_t i = 0; i < CUSTOMERS; i++)
		customers[i] = (struct customer){i * 7919 + 3, program_random(&seed) % REGIONS,
						 program_random(&seed) % 1000};
	for (uint32_t i = 0; i < ORDERS; i++) {
		uint32_t customer = program_random(&seed) % CUSTOMERS * 7919 + 3;
		uint32_t amount = program_random(&seed) % 10000;

		orders[i] = (struct order){customer, amount, program_random(&seed) % 365};
	}
	for (unsigned int i = 0; i < rounds; i++) {
		build(100 * i);
		probe(30 * i, 300);
	}
	for (int i = 0; i < REGIONS; i++)
		sum = sum * 31 + sums[i];
	return program_end(sum);
}
