#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the machine models with llvm-mca on blocks of real code.

    mca.py BLOCK_CYCLES MODEL CPU TRIPLE IMAGE EVERY

Prints a JSON object: the number of blocks, the correlation of cycles, the median and mean relative
difference, and the shares of blocks that are equal and within a tenth. llvm-mca is not a ground
truth: the numbers show how far two models differ.
"""
import json
import statistics
import subprocess
import sys

LLVM = '-14'
LOOPS = 40


def disassemble(triple, cpu, blocks):
    """Return the assembly text of each block; None where LLVM decodes other instructions."""
    text = '\n'.join(' '.join(block['bytes']) for block in blocks) + '\n'
    output = subprocess.run(['llvm-mc' + LLVM, '--disassemble', '-triple=' + triple,
                             '-mcpu=' + cpu], input=text, capture_output=True, text=True,
                            check=False)
    if output.stderr:
        return None
    lines = [line.strip() for line in output.stdout.splitlines()]
    lines = [line for line in lines if line and line != '.text']
    return lines


def read_blocks(command, model, image, every):
    blocks = []
    lines = subprocess.run([command, model, image, every], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    for line in lines:
        fields = line.split()
        blocks.append({'address': fields[0], 'insns': int(fields[1]),
                       'cycles': float(fields[2]), 'bytes': fields[3:]})
    return blocks


def with_text(blocks, triple, cpu):
    """Return the blocks that LLVM decodes into the same number of instructions as our decoder."""
    lines = disassemble(triple, cpu, blocks)
    if lines is not None and len(lines) == sum(block['insns'] for block in blocks):
        for block in blocks:
            block['text'], lines = lines[:block['insns']], lines[block['insns']:]
        return blocks
    if len(blocks) == 1:
        return []
    half = len(blocks) // 2
    return with_text(blocks[:half], triple, cpu) + with_text(blocks[half:], triple, cpu)


def run_mca(blocks, triple, cpu):
    """Return the cycles of each block; blocks that llvm-mca cannot model are dropped."""
    comment = '//' if triple.startswith('aarch64') else '#'
    text = ''
    for block in blocks:
        text += f'{comment} LLVM-MCA-BEGIN {block["address"]}\n'
        text += '\n'.join(block['text']) + f'\n{comment} LLVM-MCA-END\n'
    output = subprocess.run(['llvm-mca' + LLVM, '-mtriple=' + triple, '-mcpu=' + cpu, '-json',
                             f'-iterations={LOOPS}'], input=text, capture_output=True,
                            text=True, check=False)
    try:
        regions = json.loads(output.stdout)['CodeRegions']
    except (json.JSONDecodeError, KeyError):
        regions = None
    if output.returncode != 0 or regions is None or len(regions) != len(blocks):
        if len(blocks) == 1:
            return []
        half = len(blocks) // 2
        return run_mca(blocks[:half], triple, cpu) + run_mca(blocks[half:], triple, cpu)
    for block, region in zip(blocks, regions):
        block['mca'] = region['SummaryView']['TotalCycles'] / LOOPS
    return blocks


def main():
    command, model, cpu, triple, image, every = sys.argv[1:7]
    blocks = run_mca(with_text(read_blocks(command, model, image, every), triple, cpu), triple,
                     cpu)
    ours = [block['cycles'] for block in blocks]
    theirs = [block['mca'] for block in blocks]
    differences = [abs(a - b) / b for a, b in zip(ours, theirs)]
    print(json.dumps({
        'model': model, 'cpu': cpu, 'image': image.rsplit('/', 1)[-1], 'blocks': len(blocks),
        'correlation': round(statistics.correlation(ours, theirs), 4),
        'median_difference': round(statistics.median(differences), 4),
        'mean_difference': round(statistics.mean(differences), 4),
        'same': round(sum(d < 0.03 for d in differences) / len(blocks), 4),
        'within_tenth': round(sum(d < 0.1 for d in differences) / len(blocks), 4),
        'ratio': round(sum(ours) / sum(theirs), 4)}))
    if len(sys.argv) > 7:
        for block in sorted(blocks, key=lambda b: -abs(b['cycles'] - b['mca']))[:int(sys.argv[7])]:
            print(f'# {block["address"]}: {block["cycles"]} against {block["mca"]}')
            print('\n'.join('#   ' + line for line in block['text']))


main()
