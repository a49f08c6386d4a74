package ai.deltafin.bench;

import ai.deltafin.bench.SynthTensor.Values;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** The tensors of a synthetic checkpoint, shard by shard in file order (k3-model.md 2). */
final class SynthTensors {
    private static final String PREFIX = "language_model.";
    private static final int A_LOG_PADDED = 128;

    private final SynthShape s;
    private final long seed;
    private final List<SynthTensor> out = new ArrayList<>();

    private SynthTensors(SynthShape shape, long seed) {
        this.s = shape;
        this.seed = seed;
    }

    /** The tensors of one shard: a layer each, then one with the global tensors. */
    static List<SynthTensor> shard(SynthShape shape, long seed, int number) {
        SynthTensors t = new SynthTensors(shape, seed);
        if (number < shape.layers()) {
            t.layer(number);
        } else {
            t.global();
        }
        return t.out;
    }

    private void linear(String name, int rows, int columns, double gain) {
        out.add(new SynthTensor(
                name + ".weight", "BF16", List.of(rows, columns), new Values.Normal16(0, gain / Math.sqrt(columns))));
    }

    private void norm(String name, int n) {
        out.add(new SynthTensor(name + ".weight", "BF16", List.of(n), new Values.Normal16(1, 0.1)));
    }

    private void floats(String name, Values values, Integer... shape) {
        out.add(new SynthTensor(name, "F32", List.of(shape), values));
    }

    private void global() {
        String p = PREFIX + "model.";
        out.add(new SynthTensor(
                p + "embed_tokens.weight", "BF16", List.of(s.vocab(), s.hidden()), new Values.Normal16(0, 1)));
        linear(PREFIX + "lm_head", s.vocab(), s.hidden(), 3);
        norm(p + "norm", s.hidden());
        norm(p + "output_attn_res_norm", s.hidden());
        linear(p + "output_attn_res_proj", 1, s.hidden(), 2);
    }

    private void layer(int layer) {
        String p = PREFIX + "model.layers." + layer + ".";
        for (String n :
                List.of("input_layernorm", "post_attention_layernorm", "self_attention_res_norm", "mlp_res_norm")) {
            norm(p + n, s.hidden());
        }
        linear(p + "self_attention_res_proj", 1, s.hidden(), 2);
        linear(p + "mlp_res_proj", 1, s.hidden(), 2);
        if (s.mla(layer)) {
            mla(p + "self_attn.");
        } else {
            kda(p + "self_attn.");
        }
        if (layer == 0) {
            gated(p + "mlp.", s.dense());
        } else {
            moe(layer, p + "block_sparse_moe.");
        }
    }

    private void kda(String p) {
        int width = s.kdaHeads() * s.kdaDim();
        for (String n : List.of("q", "k", "v", "g")) {
            linear(p + n + "_proj", width, s.hidden(), 1.3);
        }
        linear(p + "o_proj", s.hidden(), width, 2);
        linear(p + "f_a_proj", s.kdaDim(), s.hidden(), 1);
        linear(p + "f_b_proj", width, s.kdaDim(), 1.5);
        linear(p + "b_proj", s.kdaHeads(), s.hidden(), 1);
        for (String n : List.of("q", "k", "v")) {
            floats(p + n + "_conv1d.weight", new Values.Normal32(0, 0.6), width, 1, s.conv());
        }
        int padded = Math.max(A_LOG_PADDED, s.kdaHeads());
        floats(p + "A_log", new Values.Uniform32(-0.5, 1, s.kdaHeads()), padded);
        floats(p + "dt_bias", new Values.Uniform32(-3, 1, width), width);
        floats(p + "o_norm.weight", new Values.Normal32(1, 0.1), s.kdaDim());
    }

    private void mla(String p) {
        int queries = s.mlaHeads() * (s.nopeDim() + s.ropeDim());
        linear(p + "q_a_proj", s.queryRank(), s.hidden(), 1);
        norm(p + "q_a_layernorm", s.queryRank());
        linear(p + "q_b_proj", queries, s.queryRank(), 1.5);
        linear(p + "kv_a_proj_with_mqa", s.latentRank() + s.ropeDim(), s.hidden(), 1);
        norm(p + "kv_a_layernorm", s.latentRank());
        linear(p + "kv_b_proj", s.mlaHeads() * (s.nopeDim() + s.valueDim()), s.latentRank(), 1.5);
        linear(p + "g_proj", s.mlaHeads() * s.valueDim(), s.hidden(), 1);
        linear(p + "o_proj", s.hidden(), s.mlaHeads() * s.valueDim(), 2);
    }

    private void gated(String p, int width) {
        linear(p + "gate_proj", width, s.hidden(), 2);
        linear(p + "up_proj", width, s.hidden(), 2);
        linear(p + "down_proj", s.hidden(), width, 2);
    }

    private void moe(int layer, String p) {
        linear(p + "gate", s.experts(), s.hidden(), 2);
        floats(p + "gate.e_score_correction_bias", new Values.Uniform32(-0.1, 0.1, s.experts()), s.experts());
        linear(p + "routed_expert_down_proj", s.expertInput(), s.hidden(), 1);
        norm(p + "routed_expert_norm", s.expertInput());
        linear(p + "routed_expert_up_proj", s.hidden(), s.expertInput(), 1);
        gated(p + "shared_experts.", s.expertWidth() * s.shared());
        List<Integer> order = new ArrayList<>();
        for (int e = 0; e < s.experts(); e++) {
            order.add(e);
        }
        Collections.shuffle(order, new Random(seed + layer)); // the released run is not in numeric order either
        for (int e : order) {
            String expert = p + "experts." + e + ".";
            quantised(expert + "w1", s.expertWidth(), s.expertInput());
            quantised(expert + "w2", s.expertInput(), s.expertWidth());
            quantised(expert + "w3", s.expertWidth(), s.expertInput());
        }
    }

    private void quantised(String name, int rows, int columns) {
        out.add(new SynthTensor(name + ".weight_packed", "U8", List.of(rows, columns / 2), new Values.Codes()));
        out.add(new SynthTensor(
                name + ".weight_scale", "U8", List.of(rows, columns / 32), new Values.Scales(2 / Math.sqrt(columns))));
    }
}
