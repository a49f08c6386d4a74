/** Measuring and comparing: the exact evaluation of a prompt, benchmarks, their reports. */
@org.jspecify.annotations.NullMarked
package ai.deltafin.bench;
