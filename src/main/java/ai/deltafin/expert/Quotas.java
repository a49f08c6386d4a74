package ai.deltafin.expert;

/** An equal share of the slots for every layer, the remainder one each to the lowest (expert-streaming.md 4). */
final class Quotas {
    private final int layers;
    private int total;

    Quotas(int layers) {
        this.layers = layers;
    }

    void total(int slots) {
        total = slots;
    }

    /** Slots of a layer, counted among the MoE layers. */
    int of(int index) {
        return total / layers + (index < total % layers ? 1 : 0);
    }
}
