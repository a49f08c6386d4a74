/**
 * The model as released: config.json, tensor names and shapes, safetensors shards and their index, MXFP4 pairs. Reads a
 * Hugging Face style directory in place and refuses by name whatever the engine does not implement, before a weight is
 * used.
 */
@org.jspecify.annotations.NullMarked
package ai.deltafin.model;
