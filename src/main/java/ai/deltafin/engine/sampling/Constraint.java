package ai.deltafin.engine.sampling;

import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * What may come next, as an immutable value: stepping gives another one, so each row of a verification pass has its own
 * and nothing is to be undone.
 */
public interface Constraint {

    /** Anything may come, always. */
    Constraint NONE = new Constraint() {
        @Override
        public @Nullable BitSet allowed() {
            return null;
        }

        @Override
        public Constraint step(int id) {
            return this;
        }
    };

    /**
     * Ids that may come next; null if all may. Never empty. The set is shared: callers only read it.
     */
    @Nullable
    BitSet allowed();

    /**
     * The constraint behind an id.
     *
     * @throws IllegalArgumentException if the id was not allowed
     */
    Constraint step(int id);
}
