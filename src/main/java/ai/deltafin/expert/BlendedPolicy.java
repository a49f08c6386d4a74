package ai.deltafin.expert;

import java.util.Arrays;

/**
 * Keeps, per layer, the experts most likely to be used by the next token (expert-streaming.md 4.1): a weighted sum of
 * four estimates of that probability, from the heat file and from uses decayed with half-lives of 1, 4 and 24 committed
 * tokens. The weights are refitted by least squares as tokens come. All in double, fixed order, no fused operations:
 * the same bits everywhere.
 */
public final class BlendedPolicy implements ExpertPolicy {
    private static final int TERMS = 4;
    private static final double[] HALF_LIVES = {1, 4, 24};
    private static final double PRIOR_TOKENS = 64;
    private static final double COMMIT_EMA = 0.2;
    private static final double[] START = {0.39, 0.50, -0.18, 0.29};

    private final ExpertGeometry geometry;
    private final Heat heat;
    private final Quotas quotas;
    private final double[] decay = new double[TERMS - 1];
    private final double[][] recent; // [3][keys]
    private final boolean[] member;
    private final boolean[] pinned; // roster, frozen at start
    private final boolean[] candidate; // wrong guesses that were read
    private final PassRoutes pass;
    private final WeightFit fit = new WeightFit(START);
    private final double[] score; // [experts] of the layer at hand
    private final int[] contenders; // [experts]
    private double usualCommit = 1;

    /**
     * Nothing resident yet and no slots.
     *
     * @param heat uses of earlier runs; this policy adds to it
     * @param pins experts that stay once they were read, whatever their score
     */
    public BlendedPolicy(ExpertGeometry geometry, Heat heat, int[] pins) {
        this.geometry = geometry;
        this.heat = heat;
        this.quotas = new Quotas(geometry.layers());
        for (int i = 0; i < decay.length; i++) {
            decay[i] = StrictMath.pow(2, -1 / HALF_LIVES[i]);
        }
        recent = new double[TERMS - 1][geometry.keys()];
        member = new boolean[geometry.keys()];
        pinned = new boolean[geometry.keys()];
        candidate = new boolean[geometry.keys()];
        pass = new PassRoutes(geometry);
        score = new double[geometry.experts()];
        contenders = new int[geometry.experts()];
        for (int key : pins) {
            pinned[key] = true;
        }
    }

    @Override
    public String name() {
        return "blended";
    }

    /** Uses of this and earlier runs. */
    public Heat heat() {
        return heat;
    }

    /** The weights of the four estimates now. */
    public double[] weights() {
        return fit.weights().clone();
    }

    @Override
    public void slots(int total, Evictions out) {
        int pins = 0;
        for (boolean pin : pinned) {
            pins += pin ? 1 : 0;
        }
        quotas.total(Math.max(0, total - pins));
        for (int layer = geometry.firstLayer(); layer < geometry.firstLayer() + geometry.layers(); layer++) {
            scoreLayer(layer, PassRoutes.NONE, 0);
            keepBest(layer, out);
        }
    }

    @Override
    public void routed(int layer, int[] ids, int rows, boolean certain, Evictions out) {
        pass.add(layer, ids, rows);
        int first = geometry.key(layer, 0);
        for (int i = 0; i < rows * geometry.k(); i++) {
            candidate[first + ids[i]] = true;
        }
        int likely = certain ? rows : Math.clamp(Math.round(usualCommit), 1, rows);
        scoreLayer(layer, ids, likely);
        keepBest(layer, out);
    }

    /** Scores a layer as if the first {@code rows} rows were committed. */
    private void scoreLayer(int layer, int[] ids, int rows) {
        int first = geometry.key(layer, 0);
        double[] w = fit.weights();
        double share = (double) geometry.k() / geometry.experts();
        for (int e = 0; e < score.length; e++) {
            score[e] = w[0] * ((heat.uses(first + e) + PRIOR_TOKENS * share) / (heat.mass() + PRIOR_TOKENS));
        }
        for (int i = 0; i < decay.length; i++) {
            double d = decay[i];
            double factor = w[i + 1] * (1 - d);
            double old = factor * power(d, rows);
            for (int e = 0; e < score.length; e++) {
                score[e] += old * recent[i][first + e];
            }
            double weight = factor;
            for (int r = rows - 1; r >= 0; r--) {
                for (int j = r * geometry.k(); j < (r + 1) * geometry.k(); j++) {
                    score[ids[j]] += weight;
                }
                weight *= d;
            }
        }
    }

    private static double power(double d, int n) {
        double p = 1;
        for (int i = 0; i < n; i++) {
            p *= d;
        }
        return p;
    }

    /** Drops the contenders that score least until the layer's quota is kept: ties by non-residents, then higher ids. */
    private void keepBest(int layer, Evictions out) {
        int first = geometry.key(layer, 0);
        int count = 0;
        for (int e = 0; e < score.length; e++) {
            int key = first + e;
            boolean contends = member[key] || candidate[key];
            if (contends && pinned[key]) {
                member[key] = true;
            } else if (contends) {
                contenders[count++] = e;
            }
        }
        int quota = quotas.of(layer - geometry.firstLayer());
        while (count > quota) {
            int worst = 0;
            for (int i = 1; i < count; i++) {
                if (worse(first, contenders[i], contenders[worst])) {
                    worst = i;
                }
            }
            int key = first + contenders[worst];
            contenders[worst] = contenders[--count];
            member[key] = false;
            candidate[key] = false;
            out.add(key);
        }
        for (int i = 0; i < count; i++) {
            member[first + contenders[i]] = true;
        }
        Arrays.fill(candidate, first, first + score.length, false);
    }

    private boolean worse(int first, int a, int b) {
        if (score[a] != score[b]) {
            return score[a] < score[b];
        }
        if (member[first + a] != member[first + b]) {
            return !member[first + a];
        }
        return a > b;
    }

    @Override
    public void committed(int rows) {
        usualCommit += COMMIT_EMA * (rows - usualCommit);
        boolean refit = rows <= Heat.MAX_CHUNK_WEIGHT && fit.due(rows);
        int weight = Math.min(rows, Heat.MAX_CHUNK_WEIGHT);
        for (int layer = geometry.firstLayer(); layer < geometry.firstLayer() + geometry.layers(); layer++) {
            if (pass.rows(layer) > 0) {
                if (refit) {
                    observe(layer);
                }
                remember(layer, Math.min(rows, pass.rows(layer)));
            }
        }
        heat.age(weight);
        for (int layer = geometry.firstLayer(); layer < geometry.firstLayer() + geometry.layers(); layer++) {
            int uses = Math.min(rows, pass.rows(layer)) * geometry.k();
            for (int i = 0; i < uses; i++) {
                heat.use(geometry.key(layer, pass.id(layer, i)), (float) weight / rows);
            }
        }
        if (refit) {
            fit.solveIfDue();
        }
        pass.clear();
    }

    private void observe(int layer) {
        int first = geometry.key(layer, 0);
        double share = (double) geometry.k() / geometry.experts();
        fit.fade();
        for (int e = 0; e < geometry.experts(); e++) {
            fit.estimates(
                    (heat.uses(first + e) + PRIOR_TOKENS * share) / (heat.mass() + PRIOR_TOKENS),
                    recent[0][first + e] * (1 - decay[0]),
                    recent[1][first + e] * (1 - decay[1]),
                    recent[2][first + e] * (1 - decay[2]),
                    pass.usedByFirstRow(layer, e));
        }
    }

    private void remember(int layer, int rows) {
        int first = geometry.key(layer, 0);
        for (int i = 0; i < decay.length; i++) {
            double all = power(decay[i], rows);
            for (int e = 0; e < geometry.experts(); e++) {
                recent[i][first + e] *= all;
            }
            double weight = 1;
            for (int r = rows - 1; r >= 0; r--) {
                for (int j = r * geometry.k(); j < (r + 1) * geometry.k(); j++) {
                    recent[i][first + pass.id(layer, j)] += weight;
                }
                weight *= decay[i];
            }
        }
    }

    @Override
    public void guessReady(int layer, int expert) {
        candidate[geometry.key(layer, expert)] = true;
    }

    @Override
    public boolean resident(int layer, int expert) {
        return member[geometry.key(layer, expert)];
    }

    @Override
    public void lost(int layer, int expert) {
        member[geometry.key(layer, expert)] = false;
    }

    @Override
    public double score(int layer, int expert) {
        int key = geometry.key(layer, expert);
        double[] w = fit.weights();
        double share = (double) geometry.k() / geometry.experts();
        double s = w[0] * ((heat.uses(key) + PRIOR_TOKENS * share) / (heat.mass() + PRIOR_TOKENS));
        for (int i = 0; i < decay.length; i++) {
            s += w[i + 1] * (recent[i][key] * (1 - decay[i]));
        }
        return s;
    }
}
