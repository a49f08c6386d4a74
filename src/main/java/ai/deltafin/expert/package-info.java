/** Expert store: where routed experts come from, which drives hold them, what stays in RAM, what is read ahead, and the trace of it all. */
@org.jspecify.annotations.NullMarked
package ai.deltafin.expert;
