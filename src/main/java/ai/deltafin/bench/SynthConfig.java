package ai.deltafin.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The config.json of a synthetic checkpoint, with every field of the released one that changes the computation. */
final class SynthConfig {
    private SynthConfig() {}

    static Map<String, @Nullable Object> of(SynthShape s) {
        Map<String, @Nullable Object> root = new LinkedHashMap<>();
        root.put("architectures", List.of("KimiK3ForConditionalGeneration"));
        root.put("model_type", "kimi_k3");
        root.put("dtype", "bfloat16");
        root.put("bos_token_id", s.vocab() - 4);
        root.put("eos_token_id", s.vocab() - 3);
        root.put("pad_token_id", s.vocab() - 1);
        root.put("tie_word_embeddings", false);
        root.put("text_config", text(s));
        return root;
    }

    private static Map<String, @Nullable Object> text(SynthShape s) {
        Map<String, @Nullable Object> c = new LinkedHashMap<>();
        c.put("model_type", "kimi_linear");
        c.put("dtype", "bfloat16");
        c.put("hidden_size", s.hidden());
        c.put("vocab_size", s.vocab());
        c.put("num_hidden_layers", s.layers());
        c.put("intermediate_size", s.dense());
        c.put("hidden_act", "situ");
        c.put("activation_situ_beta", 4.0);
        c.put("activation_situ_linear_beta", 25.0);
        c.put("rms_norm_eps", 1e-5);
        c.put("attn_res_block_size", s.block());
        c.put("num_attention_heads", s.mlaHeads());
        c.put("num_key_value_heads", s.mlaHeads());
        c.put("q_lora_rank", s.queryRank());
        c.put("kv_lora_rank", s.latentRank());
        c.put("qk_nope_head_dim", s.nopeDim());
        c.put("qk_rope_head_dim", s.ropeDim());
        c.put("v_head_dim", s.valueDim());
        c.put("mla_use_nope", true);
        c.put("mla_use_output_gate", true);
        c.put("num_experts", s.experts());
        c.put("first_k_dense_replace", 1);
        c.put("moe_layer_freq", 1);
        c.put("num_experts_per_token", s.perToken());
        c.put("moe_intermediate_size", s.expertWidth());
        c.put("num_shared_experts", s.shared());
        c.put("routed_expert_hidden_size", s.expertInput());
        c.put("latent_moe_use_norm", true);
        c.put("moe_router_activation_func", "sigmoid");
        c.put("moe_renormalize", true);
        c.put("routed_scaling_factor", 1.0);
        c.put("num_expert_group", 1);
        c.put("topk_group", 1);
        c.put("use_grouped_topk", true);
        c.put("topk_method", "noaux_tc");
        c.put("tie_word_embeddings", false);
        c.put("num_nextn_predict_layers", 0);
        c.put("max_position_embeddings", 1048576);
        c.put("bos_token_id", s.vocab() - 4);
        c.put("eos_token_id", s.vocab() - 3);
        c.put("pad_token_id", s.vocab() - 1);
        Map<String, Object> linear = new LinkedHashMap<>();
        linear.put("kda_layers", s.layerNumbers(false));
        linear.put("full_attn_layers", s.layerNumbers(true));
        linear.put("num_heads", s.kdaHeads());
        linear.put("head_dim", s.kdaDim());
        linear.put("short_conv_kernel_size", s.conv());
        linear.put("gate_lower_bound", -5.0);
        linear.put("use_full_rank_gate", true);
        c.put("linear_attn_config", linear);
        c.put("quantization_config", quantisation());
        return c;
    }

    private static Map<String, @Nullable Object> quantisation() {
        Map<String, @Nullable Object> weights = new LinkedHashMap<>();
        weights.put("num_bits", 4);
        weights.put("type", "float");
        weights.put("strategy", "group");
        weights.put("group_size", 32);
        weights.put("symmetric", true);
        weights.put("dynamic", false);
        weights.put("scale_dtype", "torch.uint8");
        Map<String, @Nullable Object> group = new LinkedHashMap<>();
        group.put("targets", List.of("Linear"));
        group.put("format", "mxfp4-pack-quantized");
        group.put("input_activations", null);
        group.put("output_activations", null);
        group.put("weights", weights);
        Map<String, @Nullable Object> q = new LinkedHashMap<>();
        q.put("quant_method", "compressed-tensors");
        q.put("format", "mxfp4-pack-quantized");
        q.put("quantization_status", "compressed");
        q.put("kv_cache_scheme", null);
        q.put("ignore", List.of("re:.*self_attn.*", "re:.*shared_experts.*", "re:.*lm_head.*"));
        q.put("config_groups", Map.of("group_0", group));
        return q;
    }
}
