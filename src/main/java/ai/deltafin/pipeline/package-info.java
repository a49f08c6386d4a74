/** The verticles between a request and its tokens: tokenizer, decode, prefetch; their messages, addresses and the tap. */
@org.jspecify.annotations.NullMarked
package ai.deltafin.pipeline;
