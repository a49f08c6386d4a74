package ai.deltafin.kernel;

/**
 * What to ask of a device.
 *
 * @param threads compute threads, the calling thread included; 0 takes all physical cores this process may use
 * @param isa instruction set of the CPU provider
 */
public record DeviceOptions(int threads, Isa isa) {
    /** All cores, best instruction set. */
    public static final DeviceOptions DEFAULT = new DeviceOptions(0, Isa.BEST);

    /** Checks the thread count. */
    public DeviceOptions {
        if (threads < 0 || threads > 1024) {
            throw new IllegalArgumentException("threads must be 0 (all cores) to 1024, was " + threads);
        }
    }
}
