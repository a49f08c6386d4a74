/** The one configuration record, its defaults, and how file, environment and command line are merged into it. */
@org.jspecify.annotations.NullMarked
package ai.deltafin.config;
