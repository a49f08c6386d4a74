package ai.deltafin.kernel;

import java.lang.foreign.MemorySegment;

/**
 * An in-order queue of kernel work; one method a function of the ABI, which documents shapes and formulas. Addresses are
 * device addresses; strides count floats. Results may be looked at by the host after {@link #await}. Used by one thread
 * at a time.
 */
public final class Queue implements AutoCloseable {
    private final Abi abi;
    private final long handle;
    private long kernelNanos;

    Queue(Abi abi, long handle) {
        this.abi = abi;
        this.handle = handle;
    }

    /**
     * Waits for all queued work.
     *
     * @throws KernelException if any of it failed
     */
    public void await() {
        check(abi.queueWait(handle), "queued work");
    }

    /** Copies native host memory to the device. */
    public void write(long to, MemorySegment from) {
        check(abi.write(handle, to, from.address(), from.byteSize()), "write");
    }

    /** Copies device memory to native host memory and waits for it. */
    public void read(MemorySegment to, long from) {
        check(abi.read(handle, to.address(), from, to.byteSize()), "read");
    }

    /** Runs a group of products over the same {@code rows}. */
    public void matmul(MatmulGroup group, int rows) {
        done(System.nanoTime(), abi.matmul(handle, group.address(), group.size(), rows), "matmul");
    }

    /** Runs the first {@code count} experts of a group. */
    public void experts(ExpertGroup group, int count) {
        done(System.nanoTime(), abi.experts(handle, group.shapeAddress(), group.opsAddress(), count), "experts");
    }

    /** out[t] = sum over slots of weights[t][s] results[t*k+s], slots ascending. */
    public void expertSum(long out, long results, long weights, long latent, int k, int rows) {
        done(System.nanoTime(), abi.expertSum(handle, out, results, weights, latent, k, rows), "expert sum");
    }

    /** out[t] = row ids[t] of the table; {@code ids} is native host memory, int32 [rows]. */
    public void embed(long out, DeviceMatrix table, MemorySegment ids, int rows) {
        done(
                System.nanoTime(),
                abi.embed(
                        handle,
                        out,
                        table.address(),
                        table.format().code,
                        ids.address(),
                        table.rows(),
                        table.cols(),
                        rows),
                "embed");
    }

    /** Copies rows; strides and size in bytes; ranges may overlap. */
    public void copyRows(long to, long toStride, long from, long fromStride, long bytes, int rows) {
        done(System.nanoTime(), abi.copyRows(handle, to, toStride, from, fromStride, bytes, rows), "copy");
    }

    /** y += x over n floats. */
    public void add(long y, long x, long n) {
        done(System.nanoTime(), abi.add(handle, y, x, n), "add");
    }

    /** y = exp(x) over n floats. */
    public void exp(long y, long x, long n) {
        done(System.nanoTime(), abi.exp(handle, y, x, n), "exp");
    }

    /** y = sig(x) over n floats. */
    public void sigmoid(long y, long x, long n) {
        done(System.nanoTime(), abi.sigmoid(handle, y, x, n), "sigmoid");
    }

    /** y = x sig(g) over n floats. */
    public void gate(long y, long x, long g, long n) {
        done(System.nanoTime(), abi.gate(handle, y, x, g, n), "gate");
    }

    /** y = activation(g, u) over n floats. */
    public void activate(long y, long g, long u, long n, Activation activation) {
        done(
                System.nanoTime(),
                abi.activate(handle, y, g, u, n, activation.code(), activation.gateCap(), activation.upCap()),
                "activate");
    }

    /** Root-mean-square norm of rows of n floats. */
    public void rms(long y, long yStride, long x, long xStride, long weight, long n, int rows, float epsilon) {
        done(System.nanoTime(), abi.rms(handle, y, yStride, x, xStride, weight, n, rows, epsilon), "rms");
    }

    /** Block attention residual over {@code n} sources. */
    public void mix(
            long y,
            long yStride,
            long sources,
            long sourceStride,
            long rowStride,
            int n,
            long fold,
            long hidden,
            int rows,
            float epsilon) {
        done(
                System.nanoTime(),
                abi.mix(handle, y, yStride, sources, sourceStride, rowStride, n, fold, hidden, rows, epsilon),
                "mix");
    }

    /** out[t] (int32) = lowest index of the largest of n floats of row t. */
    public void argmax(long out, long x, long xStride, long n, int rows) {
        done(System.nanoTime(), abi.argmax(handle, out, x, xStride, n, rows), "argmax");
    }

    /** Picks experts: ids int32 [rows][k], weights fp32 [rows][k]; {@code bias} may be 0. */
    public void route(RouteShape shape, long ids, long weights, long logits, long bias, int rows) {
        done(System.nanoTime(), abi.route(handle, shape.address(), ids, weights, logits, bias, rows), "route");
    }

    /** Causal depthwise convolution and SiLU; the W-1 rows before x are the window. */
    public void shortConv(long y, long yStride, long x, long xStride, long weight, long channels, int width, int rows) {
        done(
                System.nanoTime(),
                abi.shortConv(handle, y, yStride, x, xStride, weight, channels, width, rows),
                "short convolution");
    }

    /** Per head: y = scale x / sqrt(sum x^2 + 1e-6). */
    public void l2norm(long y, long x, long heads, long headDim, int rows, float scale) {
        done(System.nanoTime(), abi.l2norm(handle, y, x, heads, headDim, rows, scale), "l2 norm");
    }

    /** KDA's decay; {@code lowerBound} >= 0 means the unbounded form. */
    public void decay(long alpha, long z, long bias, long a, long heads, long headDim, int rows, float lowerBound) {
        done(System.nanoTime(), abi.decay(handle, alpha, z, bias, a, heads, headDim, rows, lowerBound), "decay");
    }

    /** KDA's recurrence. */
    public void kda(KdaCall call) {
        done(System.nanoTime(), abi.kda(handle, call.address()), "KDA");
    }

    /** y = rms-normed head of o, times w, times sig(g). */
    public void headRmsGate(long y, long o, long weight, long g, long heads, long headDim, int rows, float epsilon) {
        done(
                System.nanoTime(),
                abi.headRmsGate(handle, y, o, weight, g, heads, headDim, rows, epsilon),
                "gated head norm");
    }

    /** Carries query heads into the latent space. */
    public void mlaAbsorb(MlaShape shape, long out, long q, int rows) {
        done(System.nanoTime(), abi.mlaAbsorb(handle, shape.address(), out, q, rows), "MLA absorb");
    }

    /** Causal attention over the latent cache; {@code pages} is the address of a host array of page addresses. */
    public void mlaAttend(
            MlaShape shape, long out, long q, long pages, long pagePositions, long base, int rows, float scale) {
        done(
                System.nanoTime(),
                abi.mlaAttend(handle, shape.address(), out, q, pages, pagePositions, base, rows, scale),
                "MLA attention");
    }

    /** Carries mixed latents to value heads. */
    public void mlaExpand(MlaShape shape, long out, long mixed, int rows) {
        done(System.nanoTime(), abi.mlaExpand(handle, shape.address(), out, mixed, rows), "MLA expand");
    }

    /** Time spent inside kernel calls since the queue was opened, in nanoseconds. */
    public long kernelNanos() {
        return kernelNanos;
    }

    /** Java evaluates arguments from left to right, so {@code start} is taken before the call that gives {@code status}. */
    private void done(long start, int status, String what) {
        kernelNanos += System.nanoTime() - start;
        check(status, what);
    }

    private void check(int status, String what) {
        if (status != 0) {
            throw new KernelException(what + " failed (" + status + "): " + abi.queueError(handle));
        }
    }

    @Override
    public void close() {
        abi.queueClose(handle);
    }
}
