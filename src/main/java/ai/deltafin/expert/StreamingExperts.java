package ai.deltafin.expert;

import ai.deltafin.io.AlignedMemory;
import ai.deltafin.io.DriveFile;
import ai.deltafin.io.DriveReader;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Experts that stream from drives into slots of one memory: what the policy keeps is found there, the rest is read when
 * a layer demands it, straight into the slot the kernels read from. The decode thread submits and collects its own
 * reads; a prefetch thread reads guesses meanwhile. Nothing on this path allocates on the heap.
 */
public final class StreamingExperts implements ExpertSource {
    private static final long CLOSE_NANOS = 2_000_000_000L;

    private final ExpertGeometry geometry;
    private final ExpertCatalog catalog;
    private final AlignedMemory memory;
    private final LongSupplier clock;
    private final int pieceBytes;
    final Slots slots;
    final SlotStore store;
    final DemandReads reads;
    final ExpertPolicy policy;
    private final @Nullable GuessReads guessReads;
    private final Prefetcher prefetcher;
    private final LayerDemand demand;
    private final Evictions evictions = new Evictions();
    private final int[] guessList;
    private int[] routeIds = new int[64];
    private int routeRows;
    private int routeLayer = -1;
    private long demandEndedNanos;
    private volatile ExpertListener listener = ExpertListener.NONE;

    private long demanded;
    private long hits;
    private long promoted;
    private long readCount;
    private long readBytes;
    private long waitNanos;
    private long guessed;

    /**
     * Takes over memory, readers and files; closes them all.
     *
     * @param slotCount experts that fit into {@code memory}
     * @param demandReader the decode thread's
     * @param guessReader the prefetch thread's; null reads nothing ahead
     * @param policy told how many experts may stay: all slots but those that reads in progress need
     */
    StreamingExperts(
            ExpertCatalog catalog,
            AlignedMemory memory,
            int slotCount,
            DriveReader demandReader,
            @Nullable DriveReader guessReader,
            ExpertPolicy policy,
            StreamingOptions options,
            LongSupplier clock) {
        this.geometry = catalog.images().geometry();
        this.catalog = catalog;
        this.memory = memory;
        this.clock = clock;
        this.policy = policy;
        this.pieceBytes = options.pieceBytes();
        this.slots = new Slots(catalog, memory, slotCount);
        int guessSlots = guessReader == null ? 0 : Math.min(geometry.k(), slotCount / 3);
        this.store = new SlotStore(geometry, slots, guessSlots);
        this.demand = new LayerDemand(this, geometry.experts(), slotCount);
        this.reads = new DemandReads(demandReader, slots, catalog, clock, demand::settled, demand::late);
        this.guessReads = guessReader == null ? null : new GuessReads(guessReader, slots, catalog, clock, reads);
        this.prefetcher =
                new Prefetcher(geometry, guessReader == null ? StreamingOptions.Prefetch.OFF : options.prefetch());
        this.guessList = new int[geometry.experts()];
        int spare = Math.min(geometry.k(), Math.max(1, slotCount / 3)) + guessSlots;
        policy.slots(Math.max(0, slotCount - spare), evictions);
        if (guessReads != null) {
            guessReads.start();
        }
    }

    /** Streams the experts of a model whose shards lie under one or more roots; see {@link ExpertStreams}. */
    public static StreamingExperts open(
            ExpertRanges ranges, List<DriveRoot> roots, StreamingOptions options, Heat heat) {
        return ExpertStreams.open(ranges, roots, options, heat);
    }

    @Override
    public Demand demand(int layer, int[] experts, int count) {
        if (demand.open()) {
            throw new IllegalStateException("layer " + layer + " demands experts before the last demand was closed");
        }
        if (demandEndedNanos != 0) {
            prefetcher.idle(clock.getAsLong() - demandEndedNanos);
        }
        prefetcher.routed(layer, experts, count, store);
        demand.begin(layer, experts, count);
        dropStaleGuesses(layer);
        return demand;
    }

    /** Wrong guesses of this layer and those left over from a pass that ended early. */
    private void dropStaleGuesses(int layer) {
        for (int i = store.guessCount() - 1; i >= 0; i--) {
            int slot = store.guess(i);
            int key = slots.table.key(slot);
            int guessLayer = geometry.layer(key);
            if (guessLayer == layer + 1) {
                continue;
            }
            store.forgetGuess(i);
            if (slots.table.state(slot) == SlotTable.State.READY) {
                becomeCandidate(slot, key, layer);
            } else {
                int first = slots.table.claimRest(slot, slots.pieces(slot));
                store.giveUp(slot, slots.pieces(slot) - first);
                if (slots.table.state(slot) == SlotTable.State.READY && store.slot(key) == slot) {
                    becomeCandidate(slot, key, layer);
                }
            }
        }
    }

    private void becomeCandidate(int slot, int key, int layer) {
        int guessLayer = geometry.layer(key);
        if (guessLayer == layer) {
            policy.guessReady(guessLayer, geometry.expert(key));
            listener.candidate(guessLayer, geometry.expert(key));
        } else {
            store.free(slot);
        }
    }

    /** Asks the policy once a layer's reads are under way; what it drops is freed, now or after its use. */
    void decide(int layer) {
        evictions.clear();
        if (routeLayer == layer) {
            policy.routed(layer, routeIds, routeRows, routeRows == 1 || routeRows > Heat.MAX_CHUNK_WEIGHT, evictions);
            routeLayer = -1;
        }
        for (int i = 0; i < evictions.count(); i++) {
            int slot = store.slot(evictions.key(i));
            if (!demand.dropAfterUse(evictions.key(i)) && slot >= 0) {
                store.free(slot);
            }
        }
    }

    @Override
    public void routed(int layer, int rows, int[] ids, float[] weights, int k) {
        int n = rows * k;
        if (routeIds.length < n) {
            routeIds = new int[n];
        }
        System.arraycopy(ids, 0, routeIds, 0, n);
        routeRows = rows;
        routeLayer = layer;
        listener.route(layer, rows, ids, weights, k);
    }

    @Override
    public void predict(int layer, int[] experts, int count) {
        if (prefetcher.wanted() && count > 0) {
            prefetcher.predict(layer, experts, count);
            guess(layer);
        }
    }

    @Override
    public boolean wantsPredictions() {
        return prefetcher.wanted();
    }

    /** Reserves slots for what the predictor names and hands them to the prefetch thread. */
    void guess(int layer) {
        if (guessReads == null || layer >= geometry.firstLayer() + geometry.layers()) {
            return;
        }
        double rate = 0;
        for (Drive drive : catalog.drives()) {
            rate += drive.usable() ? drive.rate() : 0;
        }
        int n = prefetcher.plan(layer, guessList, rate, catalog.images().stride(), pieceBytes);
        for (int i = 0; i < n; i++) {
            int key = geometry.key(layer, guessList[i]);
            if (store.slot(key) < 0) {
                int slot = store.reserveGuess(key);
                if (slot < 0) {
                    return;
                }
                guessed++;
                if (!guessReads.offer(slot)) {
                    store.forgetGuess(store.guessIndex(slot));
                    store.giveUp(slot, slots.pieces(slot));
                    return;
                }
            }
        }
    }

    @Override
    public void committed(int rows) {
        policy.committed(rows);
        prefetcher.passEnded();
        listener.commit(rows);
    }

    /** Waits a little for reads of the prefetch thread. */
    void awaitGuesses(long nanos) {
        if (guessReads != null) {
            guessReads.await(nanos);
        }
    }

    void counted(int asked, int found, int taken, int read, long bytes) {
        demanded += asked;
        hits += found;
        promoted += taken;
        readCount += read;
        readBytes += bytes;
    }

    void waited(long nanos) {
        waitNanos += nanos;
    }

    void demandEnded() {
        demandEndedNanos = clock.getAsLong();
    }

    long now() {
        return clock.getAsLong();
    }

    ExpertImages images() {
        return catalog.images();
    }

    /** Who is told of routes, reads and commits; {@link ExpertListener#NONE} to stop. */
    public void listen(ExpertListener newListener) {
        listener = newListener;
    }

    ExpertListener listener() {
        return listener;
    }

    @Override
    public ExpertStats stats() {
        long fromDrives = 0;
        for (Drive drive : catalog.drives()) {
            fromDrives += drive.bytesRead();
        }
        return new ExpertStats(demanded, hits, readCount, readBytes, Math.max(0, fromDrives - readBytes), waitNanos);
    }

    /** Guesses begun and those that a layer then wanted. */
    public long[] guesses() {
        return new long[] {guessed, promoted};
    }

    /** Mean recall of the engine's and the previous token's predictions. */
    public double[] recall() {
        return new double[] {prefetcher.engineRecall(), prefetcher.previousRecall()};
    }

    /** The drives, with their rates and health. */
    public List<Drive> drives() {
        return Arrays.asList(catalog.drives());
    }

    /** How many experts fit into RAM. */
    public int slotCount() {
        return slots.count();
    }

    @Override
    public void close() {
        demand.close();
        int stuck = guessReads == null ? 0 : guessReads.close();
        stuck += reads.close(CLOSE_NANOS);
        catalog.files().forEach(DriveFile::close);
        if (stuck == 0) {
            memory.close(); // else a drive may still write into it: it stays mapped
        }
    }
}
