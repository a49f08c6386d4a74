/** The forward pass of the model, the state of sessions, and how a token is chosen. */
@org.jspecify.annotations.NullMarked
package ai.deltafin.engine;
