package ai.deltafin.kernel;

/**
 * What a device is.
 *
 * @param name processor or card
 * @param isa instruction set or architecture in use
 * @param threads compute threads
 * @param unified whether it computes on host memory in place
 * @param memoryBytes its own memory, or 0 where that is host memory
 */
public record DeviceDescription(String name, String isa, int threads, boolean unified, long memoryBytes) {}
