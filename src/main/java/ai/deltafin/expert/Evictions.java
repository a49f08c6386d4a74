package ai.deltafin.expert;

import java.util.Arrays;

/** Keys of experts that a policy no longer wants in RAM; reused from call to call. */
public final class Evictions {
    private int[] keys = new int[64];
    private int count;

    void clear() {
        count = 0;
    }

    void add(int key) {
        if (count == keys.length) {
            keys = Arrays.copyOf(keys, count * 2);
        }
        keys[count++] = key;
    }

    public int count() {
        return count;
    }

    public int key(int i) {
        return keys[i];
    }
}
