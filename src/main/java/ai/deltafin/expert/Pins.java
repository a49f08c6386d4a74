package ai.deltafin.expert;

import java.util.Comparator;
import java.util.stream.IntStream;

/** The roster of experts that are never evicted: the hottest of earlier runs (expert-streaming.md 4.2). */
final class Pins {
    private static final double MIN_MASS = 256;
    private static final double TIMES_UNIFORM = 2;

    private Pins() {}

    /** Keys of the hottest experts that fit into a budget; none while the heat is too thin to tell. */
    static int[] choose(ExpertImages images, Heat heat, long budgetBytes) {
        int most = (int) Math.min(budgetBytes / images.stride(), heat.keys());
        if (most == 0 || heat.mass() < MIN_MASS) {
            return new int[0];
        }
        ExpertGeometry g = images.geometry();
        double least = TIMES_UNIFORM * heat.mass() * g.k() / g.experts();
        return IntStream.range(0, heat.keys())
                .filter(key -> heat.uses(key) >= least)
                .boxed()
                .sorted(Comparator.comparingDouble((Integer key) -> -heat.uses(key))
                        .thenComparing(key -> key))
                .limit(most)
                .mapToInt(Integer::intValue)
                .toArray();
    }
}
