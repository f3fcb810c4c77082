// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/clone.h"

#include "lib/array.h"
#include "lib/partition_point.h"

int clone_insn_decode(const struct clone *clone, const struct insn *insn,
		      ZydisDecodedInstruction *ret, const uint8_t **bytes)
{
	*bytes = clone->source->bytes(clone->source->context, insn->address, insn->bytes);
	if (*bytes == NULL || !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
				      &clone->decoder, NULL, *bytes, insn->bytes, ret)))
		return clone_refuse(clone, "undecodable code");
	return 0;
}

/* Only an instruction with a PC-relative operand has to be decoded again. */
int clone_insn_plain(struct clone *clone, const struct insn *insn)
{
	ZydisDecodedInstruction zydis;
	const uint8_t *bytes;
	int r;

	if (insn->opcode == ZYDIS_MNEMONIC_XBEGIN)
		return clone_refuse(clone, "a transaction");
	if (insn->opcode == ZYDIS_MNEMONIC_NOP)
		return 0; /* alignment does not apply to the clone */
	if (!insn->memory.pc_relative) {
		bytes = clone->source->bytes(clone->source->context, insn->address, insn->bytes);
		if (bytes == NULL)
			return clone_refuse(clone, "undecodable code");
		machine_code_bytes(clone->code, bytes, insn->bytes);
		return 0;
	}
	r = clone_insn_decode(clone, insn, &zydis, &bytes);
	if (r < 0)
		return r;
	if (zydis.attributes & ZYDIS_ATTRIB_HAS_ADDRESSSIZE)
		return clone_refuse(clone, "a 32-bit address");
	machine_code_relative(clone->code, bytes, insn->bytes, zydis.raw.disp.offset,
			      (uint64_t)insn->memory.displacement);
	return 0;
}

void clone_insn_leave(struct clone *clone, unsigned int kind, uint64_t target)
{
	long other = clone->source->find(clone->source->context, target);
	uint32_t number = (uint32_t)other;

	/* Without a check at the callee's entry, the burst would end there. */
	if (other >= 0 && clone->source->variant == CLONE_INSTRUMENTED &&
	    !clone_switch_at_entry(clone, number))
		number |= CLONE_RECORDING;
	if (other >= 0)
		machine_code_enter(clone->code, kind, number);
	else
		machine_code_leave(clone->code, kind, target);
}

static void pass_cuts(struct clone *clone, uint64_t address)
{
	const struct clone_source *source = clone->source;
	struct procedure_clone *result = clone->result;
	uint32_t label = machine_code_label(clone->code);

	machine_code_bind_label(clone->code, label);
	for (; clone->cut < source->cut_count && source->cuts[clone->cut] <= address;
	     clone->cut++) {
		if (array_reserve(&result->marks, &result->mark_capacity, result->mark_count + 1,
				  sizeof(*result->marks)) < 0) {
			clone->code->failed = true;
			return;
		}
		result->marks[result->mark_count++] =
			(struct clone_mark){.address = source->cuts[clone->cut], .label = label};
	}
}

void clone_insn_mark(struct clone *clone, uint64_t address)
{
	if (clone->replica.stride != NULL) {
		clone_insn_frame(clone, address);
		return;
	}
	if (clone->cut < clone->source->cut_count && clone->source->cuts[clone->cut] <= address)
		pass_cuts(clone, address);
	machine_code_frame(clone->code, (uint32_t)clone->cut);
}

void clone_insn_mark_end(struct clone *clone, const struct insn *insn)
{
	clone_insn_mark(clone, insn->address + insn->bytes);
}

void clone_insn_frame(struct clone *clone, uint64_t address)
{
	const struct clone_source *source = clone->source;
	size_t low = partition_point(0, source->cut_count, i, source->cuts[i] <= address);

	machine_code_frame(clone->code, (uint32_t)low);
}

int clone_insn_call(struct clone *clone, uint32_t index)
{
	const struct insn *insn = &clone->cfg->insns[index];
	int r = 0;

	if (insn->flow == INSN_FLOW_CALL_INDIRECT)
		r = clone_insn_plain(clone, insn);
	else if (insn->target == insn->address + insn->bytes)
		r = clone_refuse(clone, "a call of the next instruction");
	else
		clone_insn_leave(clone, MACHINE_CALL, insn->target);
	return r;
}
