#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""random_gotos.py SEED: print a random C program with computed gotos.

Static procedures run random byte codes by tables of labels whose length no comparison limits. Tables
of pointers to procedures are next to them, in read-only data, structures and arrays. Procedures call
each other, so that compilers rely on registers that callees do not change (-fipa-ra). The program
prints checksums, and ends after a limited number of steps.
"""
import random
import sys

OPERATIONS = [
    "v += {n};", "v ^= v << 3 ^ {n};", "v = v * 3 + {n};", "v -= w;", "w += v >> 2;",
    "w ^= (unsigned)v * 2654435761u;", "d = d * 0.5 + {n};", "v += (int)d;", "v = h{h}(v, w);",
    "w += p{p}(v);", "s{s}[v & 7] += w;", "v ^= s{s}[w & 7];",
]


def helper(r, number):
    """A small procedure that uses several registers, and may call an earlier one."""
    lines = [f"static NOINLINE unsigned h{number}(unsigned a, unsigned b)", "{",
             "\tunsigned c = a * 5, e = b ^ 77, f = a + b;"]
    for _ in range(r.randrange(1, 5)):
        x, y, z = (r.choice("abcef") for _ in range(3))
        lines.append(f"\t{x} = {y} {r.choice(['+', '-', '^', '*', '&', '|'])} ({z} + {r.randrange(99)});")
    if number > 0 and r.random() < 0.5:
        lines.append(f"\tif ((a & 3) == 1)\n\t\te += h{r.randrange(number)}(f & 255, c & 15);")
    return lines + ["\treturn a + b + c + e + f;", "}"]


def pointed(r, number, helpers):
    """A procedure that is called through a table."""
    return [f"static unsigned p{number}(unsigned a)", "{",
            f"\treturn h{r.randrange(helpers)}(a, {r.randrange(99)}) ^ a;", "}"]


def interpreter(r, number, count, helpers, pointers, arrays):
    """A procedure with a table of @count labels and an end, in one of several forms."""
    labels = [f"l{i}" for i in range(count)] + ["end"]
    form = r.randrange(4)
    lines = [f"static NOINLINE unsigned i{number}(const unsigned char *code, unsigned v)", "{",
             "\tunsigned w = v ^ 9;", "\tdouble d = v & 15;"]
    names = ", ".join("&&" + x for x in labels)
    functions = ", ".join(f"p{r.randrange(pointers)}" for _ in range(3))
    if form == 0:
        lines += [f"\tstatic void *const table[] = {{{names}}};"]
        jump = "goto *table[*code++];"
    elif form == 1:
        lines += [f"\tstatic const struct {{ void *t[{len(labels)}]; fn f[3]; void *u[2]; }} all = {{"
                  f"{{{names}}}, {{{functions}}}, {{&&l0, &&end}}}};"]
        jump = "goto *all.t[*code++];"
    elif form == 2:
        offsets = ", ".join(f"&&{x} - &&l0" for x in labels)
        lines += [f"\tstatic const int table[] = {{{offsets}}};"]
        jump = "goto *(&&l0 + table[*code++]);"
    else:
        lines += [f"\tstatic void *table[] = {{{names}}};"]
        jump = "goto *table[*code++];"
    lines.append("\t" + jump)
    for label in labels[:-1]:
        body = " ".join(r.choice(OPERATIONS).format(
            n=r.randrange(1, 99), h=r.randrange(helpers), p=r.randrange(pointers),
            s=r.randrange(arrays)) for _ in range(r.randrange(1, 4)))
        if form == 1 and r.random() < 0.4:
            body += " v += all.f[w % 3](v);"
        if number > 0 and r.random() < 0.15:
            body += f" if ((v & 63) == 5) w += i{r.randrange(number)}(code, v & 7);"
        lines.append(f"{label}:\n\t{body}\n\t{jump}")
    lines += ["end:", "\treturn v + w + (unsigned)(int)d;", "}"]
    return lines


def main():
    r = random.Random(int(sys.argv[1]))
    helpers, pointers, arrays, interpreters = (r.randrange(2, 6), r.randrange(2, 5),
                                               r.randrange(1, 3), r.randrange(1, 4))
    lines = ["#include <stdio.h>", "#define NOINLINE __attribute__((noinline))",
             "typedef unsigned (*fn)(unsigned);"]
    lines += [f"static unsigned s{i}[8];" for i in range(arrays)]
    for i in range(helpers):
        lines += helper(r, i)
    for i in range(pointers):
        lines += pointed(r, i, helpers)
    names = ", ".join(f"p{r.randrange(pointers)}" for _ in range(4))
    lines.append(f"static const fn all_pointers[4] = {{{names}}};")
    count = r.randrange(3, 12)
    for i in range(interpreters):
        lines += interpreter(r, i, count, helpers, pointers, arrays)
    lines += ["int main(void)", "{", "\tunsigned char code[65];",
              f"\tunsigned total = 1, seed = {r.randrange(1, 9999)};"]
    for i in range(interpreters):
        lines += ["\tfor (int n = 0; n < 60; n++) {", "\t\tfor (int k = 0; k < 64; k++) {",
                  "\t\t\tseed = seed * 1103515245 + 12345;",
                  f"\t\t\tcode[k] = (unsigned char)((seed >> 16) % {count});", "\t\t}",
                  f"\t\tcode[64] = {count};",
                  f"\t\ttotal = total * 31 + i{i}(code + n % 50, total & 1023);",
                  "\t\ttotal ^= all_pointers[total & 3](total);", "\t}"]
    lines += ['\tprintf("%u\\n", total);', "\treturn 0;", "}"]
    print("\n".join(lines))


main()
