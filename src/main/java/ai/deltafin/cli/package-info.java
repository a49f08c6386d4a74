/** The commands, one class each, with no logic of their own: options in, text and exit code out. */
@org.jspecify.annotations.NullMarked
package ai.deltafin.cli;
