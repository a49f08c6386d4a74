package ai.deltafin.expert;

import java.util.Arrays;

/** The routes of the pass in progress, kept until it is known how many of its rows are committed. */
final class PassRoutes {
    static final int[] NONE = {};

    private final ExpertGeometry geometry;
    private final short[][] ids; // [layers][rows * k]
    private final int[] rows;
    private int lastLayer = -1;

    PassRoutes(ExpertGeometry geometry) {
        this.geometry = geometry;
        this.ids = new short[geometry.layers()][64];
        this.rows = new int[geometry.layers()];
    }

    /** A layer at or below the last one begins a new pass: the old one was never committed. */
    void add(int layer, int[] route, int rowCount) {
        if (layer <= lastLayer) {
            clear();
        }
        lastLayer = layer;
        int index = layer - geometry.firstLayer();
        int n = rowCount * geometry.k();
        if (ids[index].length < n) {
            ids[index] = new short[n];
        }
        for (int i = 0; i < n; i++) {
            ids[index][i] = (short) route[i];
        }
        rows[index] = rowCount;
    }

    int rows(int layer) {
        return rows[layer - geometry.firstLayer()];
    }

    int id(int layer, int i) {
        return ids[layer - geometry.firstLayer()][i];
    }

    boolean usedByFirstRow(int layer, int expert) {
        for (int i = 0; i < geometry.k(); i++) {
            if (id(layer, i) == expert) {
                return true;
            }
        }
        return false;
    }

    void clear() {
        Arrays.fill(rows, 0);
        lastLayer = -1;
    }
}
