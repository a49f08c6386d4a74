/**
 * How an id is chosen from logits: exactly, in one fixed order of arithmetic, with noise that depends on seed, position
 * and id alone; and what a constraint forbids. Formulae: spec, exact sampling by shared noise.
 */
@org.jspecify.annotations.NullMarked
package ai.deltafin.engine.sampling;
