package ai.deltafin.expert;

import ai.deltafin.io.AlignedMemory;
import ai.deltafin.model.ExpertTensor;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The one demand in progress: which of a layer's experts wait for a slot, are being read, ready, taken, released.
 * Reused from layer to layer; decode thread only.
 */
final class LayerDemand implements ExpertSource.Demand {
    private static final long PROMOTED_LOOK_NANOS = 1_000_000L;
    private static final long LOOK_NANOS = 100_000_000L;
    private static final long PROMOTED_DEADLINE_NANOS = 5_000_000_000L;
    private static final int NAN_SCALE = 255;
    private static final ExpertTensor[] SCALES = {ExpertTensor.W1_SCALES, ExpertTensor.W2_SCALES, ExpertTensor.W3_SCALES
    };
    private static final int NONE = -1;

    private enum Phase {
        PENDING,
        READING,
        PROMOTED,
        READY,
        TAKEN,
        RELEASED
    }

    private final StreamingExperts experts;
    private final int[] keys;
    private final int[] slotOf;
    private final Phase[] phase;
    private final boolean[] fresh; // read for this demand: its scales are still unchecked
    private final boolean[] dropped; // freed after its use
    private final int[] demandOf; // [slots]: position in the demand, or NONE
    private final int[] positionOf; // [experts of a layer]: position in the demand, or NONE
    private final int[] ready; // positions not yet taken
    private int readyCount;
    private int count;
    private int layer;
    private int pendingFrom; // no PENDING before this position
    private int pending;
    private int taken;
    private int promotedOpen;
    private boolean open;
    private boolean decided;
    private long begun;
    private @Nullable ExpertReadException problem;

    LayerDemand(StreamingExperts experts, int most, int slots) {
        this.experts = experts;
        this.keys = new int[most];
        this.slotOf = new int[most];
        this.phase = new Phase[most];
        this.fresh = new boolean[most];
        this.dropped = new boolean[most];
        this.demandOf = new int[slots];
        Arrays.fill(demandOf, NONE);
        this.positionOf = new int[most];
        Arrays.fill(positionOf, NONE);
        this.ready = new int[most];
    }

    boolean open() {
        return open;
    }

    void begin(int ofLayer, int[] ids, int n) {
        open = true;
        decided = false;
        problem = null;
        layer = ofLayer;
        count = n;
        readyCount = 0;
        taken = 0;
        pending = 0;
        pendingFrom = 0;
        promotedOpen = 0;
        begun = experts.now();
        int hits = 0;
        int promoted = 0;
        long bytes = 0;
        for (int i = 0; i < n; i++) {
            keys[i] = experts.images().geometry().key(ofLayer, ids[i]);
            positionOf[ids[i]] = i;
            dropped[i] = false;
            slotOf[i] = experts.store.slot(keys[i]);
            fresh[i] = true;
            if (slotOf[i] == NONE) {
                await(i);
                bytes += experts.images().imageBytes(keys[i]);
                continue;
            }
            demandOf[slotOf[i]] = i;
            int guess = experts.store.guessIndex(slotOf[i]);
            if (guess >= 0) {
                experts.store.forgetGuess(guess);
                promote(i);
                promoted++;
            } else {
                fresh[i] = false;
                hits++;
                markReady(i);
                experts.listener().read(layer, ids[i], ExpertListener.Kind.HIT, 0, 0);
            }
        }
        experts.counted(n, hits, promoted, n - hits - promoted, bytes);
        startPending();
        experts.reads.poll(false, 0);
    }

    private void await(int i) {
        slotOf[i] = NONE;
        phase[i] = Phase.PENDING;
        pending++;
        pendingFrom = Math.min(pendingFrom, i);
    }

    /** A guess becomes a demand: its unclaimed pieces are read by this thread, the others by the prefetch thread. */
    private void promote(int i) {
        int slot = slotOf[i];
        SlotTable.State state = experts.slots.table.promote(slot);
        if (state == SlotTable.State.READING) {
            int first = experts.slots.table.claimRest(slot, experts.slots.pieces(slot));
            phase[i] = Phase.PROMOTED;
            promotedOpen++;
            experts.reads.add(slot, first);
        } else if (state == SlotTable.State.READY) {
            markReady(i);
        } else {
            readAnew(i);
        }
    }

    /** A guess whose read failed is read again as a demand. */
    private void readAnew(int i) {
        demandOf[slotOf[i]] = NONE;
        experts.store.free(slotOf[i]);
        await(i);
    }

    private void markReady(int i) {
        phase[i] = Phase.READY;
        ready[readyCount++] = i;
    }

    /** Gives slots to experts that wait for one, in the order of the demand. */
    private void startPending() {
        for (int i = pendingFrom; pending > 0 && i < count; i++) {
            if (phase[i] == Phase.PENDING) {
                int slot = experts.store.reserve(keys[i]);
                if (slot == NONE) {
                    pendingFrom = i;
                    break;
                }
                slotOf[i] = slot;
                demandOf[slot] = i;
                phase[i] = Phase.READING;
                pending--;
                experts.reads.add(slot, 0);
            }
        }
        experts.reads.fill();
    }

    /** A slot this thread reads into is READY or FAILED. */
    void settled(int slot) {
        int i = demandOf[slot];
        if (i == NONE) {
            return;
        }
        if (experts.slots.table.state(slot) == SlotTable.State.FAILED) {
            if (phase[i] == Phase.PROMOTED) {
                promotedOpen--;
                readAnew(i); // the failed piece may have been the prefetch thread's, which does not retry
            } else {
                problem = experts.reads.failure(slot, keys[i]);
            }
        } else {
            if (phase[i] == Phase.PROMOTED) {
                promotedOpen--;
            }
            markReady(i);
        }
    }

    /** A read hangs: another drive may serve the expert, into another slot; else the layer fails. */
    void late(int slot) {
        int i = demandOf[slot];
        if (i == NONE || (phase[i] != Phase.READING && phase[i] != Phase.PROMOTED)) {
            return;
        }
        if (!servedElsewhere(slot)) {
            problem = experts.reads.failure(slot, keys[i]);
            return;
        }
        if (phase[i] == Phase.PROMOTED) {
            promotedOpen--;
        }
        demandOf[slot] = NONE;
        experts.store.giveUp(slot, 0);
        await(i);
    }

    private boolean servedElsewhere(int slot) {
        for (int p = 0; p < experts.slots.pieces(slot); p++) {
            if (!experts.reads.usable(slot, p)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public int take(int[] indices) {
        if (!decided) {
            decided = true;
            experts.decide(layer);
        }
        long from = experts.now();
        while (true) {
            if (problem != null) {
                throw problem;
            }
            lookAtPromoted();
            if (readyCount > 0) {
                experts.waited(experts.now() - from);
                return takeReady(indices);
            }
            if (taken == count) {
                return 0;
            }
            startPending();
            waitForOne();
        }
    }

    private int takeReady(int[] indices) {
        int n = readyCount;
        readyCount = 0;
        for (int j = 0; j < n; j++) {
            int i = ready[j];
            if (fresh[i]) {
                check(i);
            }
            experts.slots.table.use(slotOf[i]);
            phase[i] = Phase.TAKEN;
            indices[j] = i;
        }
        taken += n;
        if (taken == count) {
            experts.demandEnded();
        }
        return n;
    }

    /** MXFP4 scale 255 is no number (k3-model.md 2.3): looked for once a read. */
    private void check(int i) {
        ExpertImages images = experts.images();
        for (ExpertTensor part : SCALES) {
            int bytes = images.partBytes(keys[i], part);
            if (bytes > 0 && AlignedMemory.find(address(i, part), bytes, NAN_SCALE) >= 0) {
                throw experts.reads.badScale(keys[i]);
            }
        }
        fresh[i] = false;
        int expert = images.geometry().expert(keys[i]);
        experts.listener()
                .read(
                        layer,
                        expert,
                        ExpertListener.Kind.DEMAND,
                        images.imageBytes(keys[i]),
                        (experts.now() - begun) / 1000);
    }

    /** Promoted guesses end on the prefetch thread: this one looks. */
    private void lookAtPromoted() {
        for (int i = 0; promotedOpen > 0 && i < count; i++) {
            if (phase[i] != Phase.PROMOTED) {
                continue;
            }
            switch (experts.slots.table.state(slotOf[i])) {
                case READY -> {
                    promotedOpen--;
                    markReady(i);
                }
                case FAILED -> {
                    promotedOpen--;
                    readAnew(i);
                }
                default -> {
                    if (experts.now() - begun > PROMOTED_DEADLINE_NANOS && experts.reads.inFlight() == 0) {
                        late(slotOf[i]);
                    }
                }
            }
        }
    }

    private void waitForOne() {
        if (experts.reads.inFlight() > 0) {
            experts.reads.poll(true, promotedOpen > 0 ? PROMOTED_LOOK_NANOS : LOOK_NANOS);
        } else if (promotedOpen > 0 || experts.store.drainingCount() > 0 || experts.store.guessCount() > 0) {
            experts.awaitGuesses(PROMOTED_LOOK_NANOS);
        } else if (readyCount == 0 && problem == null) {
            throw new IllegalStateException("all " + experts.slotCount()
                    + " expert slots are taken: release some before taking more, or raise --expert-cache");
        }
    }

    @Override
    public long address(int index, ExpertTensor part) {
        int offset = experts.images().partOffset(keys[index], part);
        return offset < 0 ? 0 : experts.slots.address(slotOf[index]) + offset;
    }

    @Override
    public void release(int index) {
        if (phase[index] != Phase.TAKEN) {
            throw new IllegalStateException("expert " + index + " of the demand is not taken");
        }
        phase[index] = Phase.RELEASED;
        int slot = slotOf[index];
        experts.slots.table.release(slot);
        demandOf[slot] = NONE;
        if (dropped[index]) {
            experts.store.free(slot);
        }
        if (pending > 0) {
            startPending();
            experts.reads.poll(false, 0);
        }
    }

    /** Marks a demanded expert to be freed when it is released; false if it is not part of the demand. */
    boolean dropAfterUse(int key) {
        int i = positionOf[experts.images().geometry().expert(key)];
        if (!open || i == NONE || keys[i] != key) {
            return false;
        }
        dropped[i] = true;
        return true;
    }

    @Override
    public void close() {
        if (!open) {
            return;
        }
        if (!decided) {
            decided = true;
            experts.decide(layer);
        }
        open = false;
        for (int i = 0; i < count; i++) {
            positionOf[experts.images().geometry().expert(keys[i])] = NONE;
            if (phase[i] == Phase.TAKEN) {
                release(i);
            } else if (phase[i] != Phase.RELEASED) {
                abandon(i);
            }
        }
        pending = 0;
        experts.reads.fill(); // drops the queued pieces of what was abandoned
        if (taken == count) {
            experts.guess(layer + 1);
        }
    }

    private void abandon(int i) {
        int slot = slotOf[i];
        if (slot != NONE) {
            demandOf[slot] = NONE;
            SlotTable.State state = experts.slots.table.state(slot);
            if (state == SlotTable.State.READING) {
                experts.store.giveUp(slot, 0);
                state = experts.slots.table.state(slot);
            }
            if (state == SlotTable.State.READY && !dropped[i] && !fresh[i]) {
                return; // stays as it was
            }
            if (experts.store.slot(keys[i]) == slot) {
                experts.store.free(slot);
            }
        }
        experts.policy.lost(layer, experts.images().geometry().expert(keys[i]));
    }
}
