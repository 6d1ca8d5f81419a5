/** A small decoder whose heads share keys and are together wider than its hidden states. */
export const TINY_QWEN3 = {
  model_type: "qwen3",
  hidden_size: 24,
  intermediate_size: 40,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 12,
};
