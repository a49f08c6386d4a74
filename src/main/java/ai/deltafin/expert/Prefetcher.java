package ai.deltafin.expert;

import ai.deltafin.expert.StreamingOptions.Prefetch;
import java.util.Arrays;

/**
 * Chooses which experts to read ahead for the next layer (expert-streaming.md 6). Two predictors are scored for free
 * whenever a real route arrives: the engine's guess (the next router on what is known of its input) and the experts of
 * the previous token. The one with the better precision among experts not in RAM is followed, while it pays. Decode
 * thread only; nothing here can change what the model says.
 */
final class Prefetcher {
    private static final double EMA = 0.2;
    private static final int WARM_UP = 16;
    private static final int REST_EVERY = 32; // tokens between those without guesses, which keep the scores honest
    private static final int PIECES_AT_STAKE = 2;

    private final ExpertGeometry geometry;
    private final Prefetch mode;
    private final Predictor engine;
    private final Predictor previous;
    private double idleNanos;
    private long passes;

    Prefetcher(ExpertGeometry geometry, Prefetch mode) {
        this.geometry = geometry;
        this.mode = mode;
        this.engine = new Predictor(geometry);
        this.previous = new Predictor(geometry);
    }

    /** Lists and scores of one way of predicting, by layer. */
    private static final class Predictor {
        private final int[][] list; // [layers][n]
        private final int[] count;
        private final double[] recall; // EMA of |guess ∩ route| / |route|
        private final double[] precision; // EMA of right guesses among those not in RAM
        private final int[] samples;
        private final boolean[] wanted;

        Predictor(ExpertGeometry geometry) {
            list = new int[geometry.layers()][geometry.k()];
            count = new int[geometry.layers()];
            recall = new double[geometry.layers()];
            precision = new double[geometry.layers()];
            samples = new int[geometry.layers()];
            wanted = new boolean[geometry.experts()];
        }

        void set(int layer, int[] experts, int n) {
            if (list[layer].length < n) {
                list[layer] = new int[n];
            }
            System.arraycopy(experts, 0, list[layer], 0, n);
            count[layer] = n;
        }

        void score(int layer, int[] experts, int n, SlotStore store, int firstKey) {
            if (count[layer] == 0) {
                return;
            }
            for (int i = 0; i < n; i++) {
                wanted[experts[i]] = true;
            }
            int right = 0;
            int cold = 0;
            int coldRight = 0;
            for (int i = 0; i < count[layer]; i++) {
                int e = list[layer][i];
                right += wanted[e] ? 1 : 0;
                if (store.slot(firstKey + e) < 0) {
                    cold++;
                    coldRight += wanted[e] ? 1 : 0;
                }
            }
            for (int i = 0; i < n; i++) {
                wanted[experts[i]] = false;
            }
            double share = (double) right / n;
            boolean first = samples[layer]++ == 0;
            recall[layer] = first ? share : recall[layer] + EMA * (share - recall[layer]);
            if (cold > 0) {
                double hit = (double) coldRight / cold;
                precision[layer] = first ? hit : precision[layer] + EMA * (hit - precision[layer]);
            }
        }

        double meanRecall() {
            double sum = 0;
            int n = 0;
            for (int i = 0; i < recall.length; i++) {
                if (samples[i] > 0) {
                    sum += recall[i];
                    n++;
                }
            }
            return n == 0 ? 0 : sum / n;
        }
    }

    boolean wanted() {
        return mode != Prefetch.OFF;
    }

    void predict(int layer, int[] experts, int count) {
        engine.set(layer - geometry.firstLayer(), experts, count);
    }

    /** A real route: scores both predictors, before its experts get slots, and becomes the next token's prediction. */
    void routed(int layer, int[] experts, int count, SlotStore store) {
        int index = layer - geometry.firstLayer();
        int firstKey = geometry.key(layer, 0);
        engine.score(index, experts, count, store, firstKey);
        previous.score(index, experts, count, store, firstKey);
        engine.count[index] = 0;
        previous.set(index, experts, count);
    }

    /** How long the drives had nothing to do before a layer's route came. */
    void idle(long nanos) {
        idleNanos += EMA * (nanos - idleNanos);
    }

    void passEnded() {
        passes++;
    }

    /**
     * Experts to read for a layer, most likely first.
     *
     * @param out receives them; as long as a layer has experts
     * @param rate of all drives together, bytes a second
     * @return how many of them to read, at least one where guessing pays
     */
    int plan(int layer, int[] out, double rate, int expertBytes, int pieceBytes) {
        int index = layer - geometry.firstLayer();
        if (mode == Prefetch.OFF || passes % REST_EVERY == REST_EVERY - 1) {
            return 0;
        }
        Predictor p = choose(index);
        if (mode == Prefetch.AUTO
                && p.samples[index] >= WARM_UP
                && !pays(p.precision[index], expertBytes, pieceBytes)) {
            return 0;
        }
        System.arraycopy(p.list[index], 0, out, 0, p.count[index]);
        int fits = (int) Math.max(1, Math.min(Integer.MAX_VALUE, rate * idleNanos / 1e9 / expertBytes));
        return mode == Prefetch.ON ? p.count[index] : Math.min(p.count[index], fits);
    }

    private Predictor choose(int index) {
        if (engine.count[index] == 0) {
            return previous;
        }
        boolean better = previous.samples[index] >= WARM_UP
                && engine.samples[index] >= WARM_UP
                && previous.precision[index] > engine.precision[index];
        return better ? previous : engine;
    }

    /** What a right guess saves against the pieces that a wrong one puts before a demand. */
    private static boolean pays(double precision, int expertBytes, int pieceBytes) {
        return precision * expertBytes > (1 - precision) * PIECES_AT_STAKE * Math.min(pieceBytes, expertBytes);
    }

    /** Mean recall of the engine's predictions over layers. */
    double engineRecall() {
        return engine.meanRecall();
    }

    /** Mean recall of the previous token's experts over layers. */
    double previousRecall() {
        return previous.meanRecall();
    }

    /** Recall of both predictors a layer: [layers][2]. */
    double[][] recallByLayer() {
        double[][] out = new double[geometry.layers()][];
        Arrays.setAll(out, i -> new double[] {engine.recall[i], previous.recall[i]});
        return out;
    }
}
