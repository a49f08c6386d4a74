/**
 * Text and messages to token ids and back: the tokenizer, the K3 chat format (XTML), and the parser of what the model
 * writes. Knows nothing of tensors, of the pipeline or of HTTP.
 */
@org.jspecify.annotations.NullMarked
package ai.deltafin.chat;
