"""Small models written out by hand, so that a test depends on no config reader and no catalog."""

from core.model_spec import Attention, CompressedAttention, Indexer, LatentAttention, Layer, LinearAttention, ModelSpec


def stack(*groups, name="shape"):
    """A model of (layers, mixer) groups, in that order; the mixer None is a layer without one."""
    layers = tuple(Layer(mixer=mixer) for count, mixer in groups for _ in range(count))
    return ModelSpec(
        id=name,
        name=name,
        model_type="test",
        hidden_size=4096,
        vocab_size=32_000,
        tie_word_embeddings=False,
        max_position_embeddings=131_072,
        layers=layers,
    )


def attention(kv_heads, head_dim, *, heads=None, v_head_dim=None, **traits):
    return Attention(
        num_heads=heads or kv_heads,
        num_kv_heads=kv_heads,
        head_dim=head_dim,
        v_head_dim=v_head_dim or head_dim,
        **traits,
    )


def gqa(layers, kv_heads, head_dim, **traits):
    """Every layer the same attention."""
    return stack((layers, attention(kv_heads, head_dim, **traits)))


def mla(layers, *, heads=128, indexer=None):
    """DeepSeek's latent attention: 512 + 64 elements a token."""
    mixer = LatentAttention(
        num_heads=heads,
        q_lora_rank=1536,
        kv_lora_rank=512,
        qk_nope_head_dim=128,
        qk_rope_head_dim=64,
        v_head_dim=128,
        indexer=indexer,
    )
    return stack((layers, mixer))


INDEXER = Indexer(num_heads=64, head_dim=128, top_k=2048)


def compressed(ratio, *, indexer=None):
    """DeepSeek-V4-Flash: one shared vector of 512, a window of 128."""
    return CompressedAttention(
        num_heads=64,
        head_dim=512,
        qk_rope_head_dim=64,
        q_lora_rank=1024,
        o_groups=8,
        o_lora_rank=1024,
        window=128,
        ratio=ratio,
        indexer=indexer,
    )


DEEPSEEK_V4_FLASH = stack((2, compressed(0)), (21, compressed(4, indexer=INDEXER)), (20, compressed(128)))

# Qwen3.5 and 3.6 27B: 48 gated-delta layers, 16 attention layers.
QWEN_27B = stack(
    (
        48,
        LinearAttention(
            rule="gated_delta",
            num_key_heads=16,
            num_value_heads=48,
            key_head_dim=128,
            value_head_dim=128,
            conv_kernel=4,
        ),
    ),
    (16, attention(4, 256, heads=24)),
)

GPT_OSS_120B = stack((18, attention(8, 64, heads=64, window=128)), (18, attention(8, 64, heads=64)))
LLAMA_70B = gqa(80, 8, 128, heads=64)
