/** The HTTP server: strict requests, the wire records of four APIs, server-sent events, the status page. */
@org.jspecify.annotations.NullMarked
package ai.deltafin.server;
