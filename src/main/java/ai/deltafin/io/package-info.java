/** Reading drives at their full speed: aligned memory, files past the page cache, io_uring and pread readers behind one interface. */
@org.jspecify.annotations.NullMarked
package ai.deltafin.io;
