package ai.deltafin.kernel;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;

/**
 * One provider's functions, bound by hand: the only class that links native code of the kernel ABI. Pointers and
 * addresses travel as {@code long}; a test compares every prototype below with the header.
 */
final class Abi {
    /** DF_ABI_VERSION of the header this binding was written for. */
    static final int VERSION = 1;

    private static final class Cpu {
        static final Abi INSTANCE = new Abi(NativeLibrary.lookup());
    }

    private final SymbolLookup library;
    private final MethodHandle abiVersion;
    private final MethodHandle deviceOpen;
    private final MethodHandle deviceClose;
    private final MethodHandle deviceDescribe;
    private final MethodHandle alloc;
    private final MethodHandle free;
    private final MethodHandle importHost;
    private final MethodHandle release;
    private final MethodHandle queueOpen;
    private final MethodHandle queueClose;
    private final MethodHandle queueWait;
    private final MethodHandle write;
    private final MethodHandle read;
    private final MethodHandle matmul;
    private final MethodHandle experts;
    private final MethodHandle expertSum;
    private final MethodHandle embed;
    private final MethodHandle copyRows;
    private final MethodHandle add;
    private final MethodHandle exp;
    private final MethodHandle sigmoid;
    private final MethodHandle gate;
    private final MethodHandle activate;
    private final MethodHandle rms;
    private final MethodHandle mix;
    private final MethodHandle argmax;
    private final MethodHandle route;
    private final MethodHandle shortConv;
    private final MethodHandle l2norm;
    private final MethodHandle decay;
    private final MethodHandle kda;
    private final MethodHandle headRmsGate;
    private final MethodHandle mlaAbsorb;
    private final MethodHandle mlaAttend;
    private final MethodHandle mlaExpand;
    private final MethodHandle lastError;
    private final MethodHandle queueError;

    Abi(SymbolLookup library) {
        this.library = library;
        abiVersion = link("df_abi_version", "", Result.STATUS);
        deviceOpen = link("df_device_open", "ll", Result.STATUS);
        deviceClose = link("df_device_close", "l", Result.NOTHING);
        deviceDescribe = link("df_device_describe", "ll", Result.STATUS);
        alloc = link("df_alloc", "llil", Result.STATUS);
        free = link("df_free", "ll", Result.STATUS);
        importHost = link("df_import", "llll", Result.STATUS);
        release = link("df_release", "ll", Result.STATUS);
        queueOpen = link("df_queue_open", "ll", Result.STATUS);
        queueClose = link("df_queue_close", "l", Result.NOTHING);
        queueWait = link("df_queue_wait", "l", Result.STATUS);
        write = link("df_write", "llll", Result.STATUS);
        read = link("df_read", "llll", Result.STATUS);
        matmul = link("df_matmul", "llii", Result.STATUS);
        experts = link("df_experts", "llli", Result.STATUS);
        expertSum = link("df_expert_sum", "lllllii", Result.STATUS);
        embed = link("df_embed", "lllillli", Result.STATUS);
        copyRows = link("df_copy_rows", "lllllli", Result.STATUS);
        add = link("df_add", "llll", Result.STATUS);
        exp = link("df_exp", "llll", Result.STATUS);
        sigmoid = link("df_sigmoid", "llll", Result.STATUS);
        gate = link("df_gate", "lllll", Result.STATUS);
        activate = link("df_activate", "llllliff", Result.STATUS);
        rms = link("df_rms", "lllllllif", Result.STATUS);
        mix = link("df_mix", "llllllillif", Result.STATUS);
        argmax = link("df_argmax", "llllli", Result.STATUS);
        route = link("df_route", "lllllli", Result.STATUS);
        shortConv = link("df_short_conv", "lllllllii", Result.STATUS);
        l2norm = link("df_l2norm", "lllllif", Result.STATUS);
        decay = link("df_decay", "lllllllif", Result.STATUS);
        kda = link("df_kda", "ll", Result.STATUS);
        headRmsGate = link("df_head_rms_gate", "lllllllif", Result.STATUS);
        mlaAbsorb = link("df_mla_absorb", "lllli", Result.STATUS);
        mlaAttend = link("df_mla_attend", "lllllllif", Result.STATUS);
        mlaExpand = link("df_mla_expand", "lllli", Result.STATUS);
        lastError = link("df_last_error", "", Result.TEXT);
        queueError = link("df_queue_error", "l", Result.TEXT);
        int version = abiVersion();
        if (version != VERSION) {
            throw new KernelException("the native library speaks kernel ABI " + version + ", this build needs "
                    + VERSION + ": rebuild it with ./mvnw package");
        }
    }

    /** The CPU provider, linked once. */
    static Abi cpu() {
        return Cpu.INSTANCE;
    }

    /** What a function returns. */
    enum Result {
        STATUS,
        NOTHING,
        TEXT
    }

    private MethodHandle link(String name, String parameters, Result result) {
        MemorySegment symbol = library.find(name)
                .orElseThrow(() ->
                        new KernelException("the native library lacks " + name + ": rebuild it with ./mvnw package"));
        return Linker.nativeLinker().downcallHandle(symbol, descriptor(parameters, result));
    }

    /** Parameter letters: l a pointer, address or int64_t; i an int32_t; f a float. */
    static FunctionDescriptor descriptor(String parameters, Result result) {
        MemoryLayout[] layouts = parameters
                .chars()
                .mapToObj(letter -> switch (letter) {
                    case 'l' -> ValueLayout.JAVA_LONG;
                    case 'i' -> ValueLayout.JAVA_INT;
                    case 'f' -> ValueLayout.JAVA_FLOAT;
                    default -> throw new IllegalArgumentException("parameter letter " + (char) letter);
                })
                .toArray(MemoryLayout[]::new);
        return switch (result) {
            case STATUS -> FunctionDescriptor.of(ValueLayout.JAVA_INT, layouts);
            case NOTHING -> FunctionDescriptor.ofVoid(layouts);
            case TEXT -> FunctionDescriptor.of(ValueLayout.ADDRESS, layouts);
        };
    }

    String lastError() {
        try {
            return text((MemorySegment) lastError.invokeExact());
        } catch (Throwable e) {
            throw broken(e);
        }
    }

    String queueError(long queue) {
        try {
            return text((MemorySegment) queueError.invokeExact(queue));
        } catch (Throwable e) {
            throw broken(e);
        }
    }

    private static String text(MemorySegment pointer) {
        return pointer.address() == 0
                ? "no reason given"
                : pointer.reinterpret(1024).getString(0, StandardCharsets.UTF_8);
    }

    private static AssertionError broken(Throwable e) {
        return new AssertionError("a native call does not match its binding", e);
    }

    int abiVersion() {
        try {
            return (int) abiVersion.invokeExact();
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int deviceOpen(long a, long b) {
        try {
            return (int) deviceOpen.invokeExact(a, b);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    void deviceClose(long a) {
        try {
            deviceClose.invokeExact(a);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int deviceDescribe(long a, long b) {
        try {
            return (int) deviceDescribe.invokeExact(a, b);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int alloc(long a, long b, int c, long d) {
        try {
            return (int) alloc.invokeExact(a, b, c, d);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int free(long a, long b) {
        try {
            return (int) free.invokeExact(a, b);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int importHost(long a, long b, long c, long d) {
        try {
            return (int) importHost.invokeExact(a, b, c, d);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int release(long a, long b) {
        try {
            return (int) release.invokeExact(a, b);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int queueOpen(long a, long b) {
        try {
            return (int) queueOpen.invokeExact(a, b);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    void queueClose(long a) {
        try {
            queueClose.invokeExact(a);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int queueWait(long a) {
        try {
            return (int) queueWait.invokeExact(a);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int write(long a, long b, long c, long d) {
        try {
            return (int) write.invokeExact(a, b, c, d);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int read(long a, long b, long c, long d) {
        try {
            return (int) read.invokeExact(a, b, c, d);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int matmul(long a, long b, int c, int d) {
        try {
            return (int) matmul.invokeExact(a, b, c, d);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int experts(long a, long b, long c, int d) {
        try {
            return (int) experts.invokeExact(a, b, c, d);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int expertSum(long a, long b, long c, long d, long e, int f, int g) {
        try {
            return (int) expertSum.invokeExact(a, b, c, d, e, f, g);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int embed(long a, long b, long c, int d, long e, long f, long g, int h) {
        try {
            return (int) embed.invokeExact(a, b, c, d, e, f, g, h);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int copyRows(long a, long b, long c, long d, long e, long f, int g) {
        try {
            return (int) copyRows.invokeExact(a, b, c, d, e, f, g);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int add(long a, long b, long c, long d) {
        try {
            return (int) add.invokeExact(a, b, c, d);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int exp(long a, long b, long c, long d) {
        try {
            return (int) exp.invokeExact(a, b, c, d);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int sigmoid(long a, long b, long c, long d) {
        try {
            return (int) sigmoid.invokeExact(a, b, c, d);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int gate(long a, long b, long c, long d, long e) {
        try {
            return (int) gate.invokeExact(a, b, c, d, e);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int activate(long a, long b, long c, long d, long e, int f, float g, float h) {
        try {
            return (int) activate.invokeExact(a, b, c, d, e, f, g, h);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int rms(long a, long b, long c, long d, long e, long f, long g, int h, float i) {
        try {
            return (int) rms.invokeExact(a, b, c, d, e, f, g, h, i);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int mix(long a, long b, long c, long d, long e, long f, int g, long h, long i, int j, float k) {
        try {
            return (int) mix.invokeExact(a, b, c, d, e, f, g, h, i, j, k);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int argmax(long a, long b, long c, long d, long e, int f) {
        try {
            return (int) argmax.invokeExact(a, b, c, d, e, f);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int route(long a, long b, long c, long d, long e, long f, int g) {
        try {
            return (int) route.invokeExact(a, b, c, d, e, f, g);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int shortConv(long a, long b, long c, long d, long e, long f, long g, int h, int i) {
        try {
            return (int) shortConv.invokeExact(a, b, c, d, e, f, g, h, i);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int l2norm(long a, long b, long c, long d, long e, int f, float g) {
        try {
            return (int) l2norm.invokeExact(a, b, c, d, e, f, g);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int decay(long a, long b, long c, long d, long e, long f, long g, int h, float i) {
        try {
            return (int) decay.invokeExact(a, b, c, d, e, f, g, h, i);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int kda(long a, long b) {
        try {
            return (int) kda.invokeExact(a, b);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int headRmsGate(long a, long b, long c, long d, long e, long f, long g, int h, float i) {
        try {
            return (int) headRmsGate.invokeExact(a, b, c, d, e, f, g, h, i);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int mlaAbsorb(long a, long b, long c, long d, int e) {
        try {
            return (int) mlaAbsorb.invokeExact(a, b, c, d, e);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int mlaAttend(long a, long b, long c, long d, long e, long f, long g, int h, float i) {
        try {
            return (int) mlaAttend.invokeExact(a, b, c, d, e, f, g, h, i);
        } catch (Throwable x) {
            throw broken(x);
        }
    }

    int mlaExpand(long a, long b, long c, long d, int e) {
        try {
            return (int) mlaExpand.invokeExact(a, b, c, d, e);
        } catch (Throwable x) {
            throw broken(x);
        }
    }
}
