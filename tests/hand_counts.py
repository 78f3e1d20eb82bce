"""What is known of the real configs in tests/data/configs without this app: parameters and bytes of KV cache."""

import json
from pathlib import Path

EXACT = json.loads((Path(__file__).parent / "data/exact_params.json").read_text(encoding="utf-8"))
PARAMS: dict[str, int] = {name: row["total"] for name, row in EXACT["models"].items()}

LONG = 32_768  # tokens

# Bytes of one sequence in bf16 at 1 and at 32,768 tokens, from the numbers in each config.json by the architecture's
# own description: layers x KV heads x (key width + value width) x 2 bytes, or as the comment says.
KV_BYTES = {
    # Grattafiori et al. 2024, arXiv:2407.21783, table 3: 32, 80, 126 layers, 8 KV heads of 128.
    "meta-llama--Meta-Llama-3.1-8B": (32 * 8 * 256 * 2, 131_072 * LONG),
    "meta-llama--Meta-Llama-3.1-70B": (80 * 8 * 256 * 2, 327_680 * LONG),
    "meta-llama--Meta-Llama-3.1-405B": (126 * 8 * 256 * 2, 516_096 * LONG),
    # Jiang et al. 2024, arXiv:2401.04088, table 1: 32 layers, 8 KV heads of 128; sliding_window is null.
    "mistralai--Mixtral-8x7B-v0.1": (32 * 8 * 256 * 2, 131_072 * LONG),
    # Yang et al. 2025, arXiv:2505.09388, tables 1 and 2: KV heads 8, 8 and 4; head_dim 128, not hidden / heads.
    "Qwen--Qwen3-8B": (36 * 8 * 256 * 2, 147_456 * LONG),
    "Qwen--Qwen3-32B": (64 * 8 * 256 * 2, 262_144 * LONG),
    "Qwen--Qwen3-235B-A22B": (94 * 4 * 256 * 2, 192_512 * LONG),
    "Qwen--Qwen3-VL-8B-Instruct": (36 * 8 * 256 * 2, 147_456 * LONG),  # text_config: the shape of Qwen3-8B
    "MiniMaxAI--MiniMax-M2.5": (62 * 8 * 256 * 2, 253_952 * LONG),  # full attention in every layer
    # full_attention_interval 4: 16 of 64 and 12 of 48 layers; heads of 256.
    "Qwen--Qwen3.5-27B": (16 * 4 * 512 * 2, 65_536 * LONG),
    "qwen3-next-80B-A3B": (12 * 2 * 512 * 2, 24_576 * LONG),
    # hybrid_layer_pattern: 9 full layers with 4 KV heads, 39 with 8 that see 128; keys of 192, values of 128.
    "XiaomiMiMo--MiMo-V2-Flash": (
        9 * 4 * (192 + 128) * 2 + 39 * 8 * (192 + 128) * 2,
        23_040 * LONG + 199_680 * 128,
    ),
    # DeepSeek-AI 2024, arXiv:2412.19437, section 4.2: 61 layers of latents, 512 + 64; 70,272 bytes as in
    # arXiv:2505.09343, table 1. DeepSeek-V3.2 and GLM-5 (78 layers) keep index keys beside them, counted on request.
    "deepseek-ai--DeepSeek-V3": (61 * (512 + 64) * 2, 70_272 * LONG),
    "deepseek-ai--DeepSeek-V3.2": (61 * (512 + 64) * 2, 70_272 * LONG),
    "moonshotai--Kimi-K2-Instruct": (61 * (512 + 64) * 2, 70_272 * LONG),
    "zai-org--GLM-5": (78 * (512 + 64) * 2, 89_856 * LONG),
    # linear_attn_config.full_attn_layers names 24 of 93 layers; the others are KDA. mla_use_nope rotates nothing, but
    # the 64 elements are there.
    "moonshotai--Kimi-K3": (24 * (512 + 64) * 2, 27_648 * LONG),
    # compress_ratios without its last entry, which is the MTP module's: 0 twice, 4 in 21 layers, 128 in 20. One vector
    # of 512 is key and value; a layer of ratio 4 also keeps index keys of 128. The first token has no pooled entry.
    "deepseek-ai--DeepSeek-V4-Flash": (
        43 * 512 * 2,
        43 * 128 * 512 * 2 + 21 * (LONG // 4) * (512 + 128) * 2 + 20 * (LONG // 128) * 512 * 2,
    ),
    # layer_types: 25 sliding layers (window 1,024) with 8 heads of 256, 5 full ones with 2 of 512. attention_k_eq_v
    # shares the projection; the key is then normalised and rotated, so two tensors are cached.
    "google--gemma-4-26B-A4B": (
        25 * 8 * (256 + 256) * 2 + 5 * 2 * (512 + 512) * 2,
        204_800 * 1024 + 20_480 * LONG,
    ),
    # Every fourth layer is full (12 of 48), the others attend within a chunk of 8,192; 8 heads of 128.
    "meta-llama--Llama-4-Scout-17B-16E-Instruct": (48 * 8 * 256 * 2, 36 * 4096 * 8192 + 12 * 4096 * LONG),
    # block_configs: attention is left in 49 of 80 layers, n_heads_in_group 8 of 64 heads is 8 KV heads.
    "nvidia--Llama-3_3-Nemotron-Super-49B-v1": (49 * 8 * 256 * 2, 200_704 * LONG),
    # hybrid_override_pattern: "*" is attention, 6 of 52 and 10 of 118 blocks; 2 and 8 KV heads of 128.
    "nvidia--NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": (6 * 2 * 256 * 2, 6_144 * LONG),
    "nvidia--Nemotron-H-56B-Base-8K": (10 * 8 * 256 * 2, 40_960 * LONG),
    # layer_types: every second layer sees 128 tokens; 8 KV heads of 64.
    "openai--gpt-oss-120b": (36 * 8 * 128 * 2, 18 * 2048 * 128 + 18 * 2048 * LONG),
    "openai--gpt-oss-20b": (24 * 8 * 128 * 2, 12 * 2048 * 128 + 12 * 2048 * LONG),
}
