/** Deltafin for the JVM: runs the whole Kimi K3 on one machine. The rooms and what may import what: docs/architecture.md. */
@org.jspecify.annotations.NullMarked
package ai.deltafin;
