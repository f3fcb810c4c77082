// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/copy/copier.h"

#include "lib/array.h"

int copier_insn_decode(const struct copier *copier, const struct insn *insn,
		       ZydisDecodedInstruction *ret, const uint8_t **bytes)
{
	*bytes = copier->source->bytes(copier->source->context, insn->address, insn->bytes);
	if (*bytes == NULL || !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
				      &copier->decoder, NULL, *bytes, insn->bytes, ret)))
		return copier_refuse(copier, "unreadable code");
	return 0;
}

/* Only an instruction with a PC-relative operand has to be decoded again. */
int copier_insn_plain(struct copier *copier, const struct insn *insn)
{
	ZydisDecodedInstruction zydis;
	const uint8_t *bytes;
	int r;

	if (insn->opcode == ZYDIS_MNEMONIC_XBEGIN)
		return copier_refuse(copier, "a transaction");
	if (insn->opcode == ZYDIS_MNEMONIC_NOP)
		return 0; /* alignment does not apply to the clone */
	if (!insn->memory.pc_relative) {
		bytes = copier->source->bytes(copier->source->context, insn->address, insn->bytes);
		if (bytes == NULL)
			return copier_refuse(copier, "unreadable code");
		machine_code_bytes(copier->code, bytes, insn->bytes);
		return 0;
	}
	r = copier_insn_decode(copier, insn, &zydis, &bytes);
	if (r < 0)
		return r;
	if (zydis.attributes & ZYDIS_ATTRIB_HAS_ADDRESSSIZE)
		return copier_refuse(copier, "a 32-bit address");
	machine_code_relative(copier->code, bytes, insn->bytes, zydis.raw.disp.offset,
			      (uint64_t)insn->memory.displacement);
	return 0;
}

void copier_insn_leave(struct copier *copier, unsigned int kind, uint64_t target)
{
	long other = copier->source->find(copier->source->context, target);
	uint32_t number = (uint32_t)other;

	/* Without a check at the callee's entry, the burst would end there. */
	if (other >= 0 && copier->source->variant == COPY_INSTRUMENTED &&
	    !copier_turn_at_entry(copier, number))
		number |= COPY_RECORDING;
	if (other >= 0)
		machine_code_enter(copier->code, kind, number);
	else
		machine_code_leave(copier->code, kind, target);
}

static void pass_cuts(struct copier *copier, uint64_t address)
{
	const struct copy_source *source = copier->source;
	struct procedure_copy *copy = copier->copy;
	uint32_t label = machine_code_label(copier->code);

	machine_code_place(copier->code, label);
	for (; copier->cut < source->cut_count && source->cuts[copier->cut] <= address;
	     copier->cut++) {
		if (array_reserve(&copy->marks, &copy->mark_capacity, copy->mark_count + 1,
				  sizeof(*copy->marks)) < 0) {
			copier->code->failed = true;
			return;
		}
		copy->marks[copy->mark_count++] =
			(struct copy_mark){.address = source->cuts[copier->cut], .label = label};
	}
}

void copier_insn_mark(struct copier *copier, uint64_t address)
{
	if (copier->again.stride != NULL) {
		copier_insn_frame(copier, address);
		return;
	}
	if (copier->cut < copier->source->cut_count && copier->source->cuts[copier->cut] <= address)
		pass_cuts(copier, address);
	machine_code_frame(copier->code, (uint32_t)copier->cut);
}

void copier_insn_mark_end(struct copier *copier, const struct insn *insn)
{
	copier_insn_mark(copier, insn->address + insn->bytes);
}

void copier_insn_frame(struct copier *copier, uint64_t address)
{
	const struct copy_source *source = copier->source;
	size_t low = 0, high = source->cut_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (source->cuts[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	machine_code_frame(copier->code, (uint32_t)low);
}

int copier_insn_call(struct copier *copier, uint32_t index)
{
	const struct insn *insn = &copier->cfg->insns[index];
	int r = 0;

	if (insn->flow == INSN_FLOW_CALL_INDIRECT)
		r = copier_insn_plain(copier, insn);
	else if (insn->target == insn->address + insn->bytes)
		r = copier_refuse(copier, "a call of what follows");
	else
		copier_insn_leave(copier, MACHINE_CALL, insn->target);
	return r;
}
