package ai.deltafin.expert;

import ai.deltafin.io.AlignedMemory;

/** The slots: their memory, their states and how the image in each is cut into pieces. */
final class Slots {
    final SlotTable table;
    private final ExpertCatalog catalog;
    private final AlignedMemory memory;
    private final int stride;
    private final int[] ends; // [slots][maxPieces]: image position where a piece ends
    private final int[] pieces; // [slots]

    Slots(ExpertCatalog catalog, AlignedMemory memory, int count) {
        this.table = new SlotTable(count);
        this.catalog = catalog;
        this.memory = memory;
        this.stride = catalog.images().stride();
        this.ends = new int[Math.multiplyExact(count, catalog.maxPieces())];
        this.pieces = new int[count];
    }

    /** FREE → READING for an expert. */
    void reserve(int slot, int key, boolean guess) {
        pieces[slot] = catalog.cut(key, ends, slot * catalog.maxPieces());
        table.reserve(slot, key, guess, pieces[slot]);
    }

    int count() {
        return pieces.length;
    }

    int pieces(int slot) {
        return pieces[slot];
    }

    int from(int slot, int piece) {
        return piece == 0 ? 0 : ends[slot * catalog.maxPieces() + piece - 1];
    }

    int to(int slot, int piece) {
        return ends[slot * catalog.maxPieces() + piece];
    }

    /** Address where a slot's image begins. */
    long address(int slot) {
        return memory.address() + (long) slot * stride;
    }

    int holders(int slot, int piece) {
        return catalog.holders(table.key(slot), from(slot, piece), to(slot, piece));
    }
}
