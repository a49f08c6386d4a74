package ai.deltafin.expert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.deltafin.expert.SlotTable.State;
import org.junit.jupiter.api.Test;

class SlotTableTest {
    private final SlotTable table = new SlotTable(2);

    @Test
    void demand_goesFromReadingToReadyToUsedAndBack() {
        table.reserve(0, 131071, false, 3);
        int generation = table.generation(0);
        assertThat(table.key(0)).isEqualTo(131071);
        assertThat(table.pieceEnded(0, generation, false)).isEqualTo(State.READING);
        assertThat(table.pieceEnded(0, generation, false)).isEqualTo(State.READING);
        assertThat(table.pieceEnded(0, generation, false)).isEqualTo(State.READY);
        table.use(0);
        assertThatThrownBy(() -> table.free(0)).isInstanceOf(IllegalStateException.class);
        table.release(0);
        table.free(0);
        assertThat(table.state(0)).isEqualTo(State.FREE);
        assertThat(table.generation(0)).isEqualTo(generation + 1);
    }

    @Test
    void aFailedPiece_failsTheSlotOnlyWhenAllHaveEnded() {
        table.reserve(0, 1, false, 2);
        int generation = table.generation(0);
        assertThat(table.pieceEnded(0, generation, true)).isEqualTo(State.READING);
        assertThat(table.pieceEnded(0, generation, false)).isEqualTo(State.FAILED);
    }

    @Test
    void giveUp_drainsUntilTheLastCompletion() {
        table.reserve(1, 7, true, 4);
        int generation = table.generation(1);
        assertThat(table.claim(1, generation, 0)).isTrue();
        assertThat(table.claim(1, generation, 0)).isFalse();
        int first = table.claimRest(1, 4);
        assertThat(first).isEqualTo(1);
        assertThat(table.claim(1, generation, 1)).isFalse();
        assertThat(table.giveUp(1, 4 - first)).isEqualTo(State.DRAINING);
        assertThat(table.pieceEnded(1, generation, false)).isEqualTo(State.FREE);
        assertThat(table.pieceEnded(1, generation, false))
                .as("a late completion")
                .isNull();
    }

    @Test
    void giveUp_beforeAnythingWasClaimed_freesAtOnce() {
        table.reserve(1, 7, true, 4);
        assertThat(table.giveUp(1, 4 - table.claimRest(1, 4))).isEqualTo(State.FREE);
    }

    @Test
    void aClaimOfAnEarlierTenant_isRefused() {
        table.reserve(0, 1, true, 2);
        int old = table.generation(0);
        table.giveUp(0, 2);
        table.reserve(0, 2, true, 2);
        assertThat(table.next(0, old)).isEqualTo(-1);
        assertThat(table.claim(0, old, 0)).isFalse();
        assertThat(table.claim(0, table.generation(0), 0)).isTrue();
    }

    @Test
    void promote_clearsTheClassOnly() {
        table.reserve(0, 5, true, 2);
        assertThat(table.guess(0)).isTrue();
        assertThat(table.promote(0)).isEqualTo(State.READING);
        assertThat(table.guess(0)).isFalse();
        assertThat(table.key(0)).isEqualTo(5);
        assertThat(table.left(0)).isEqualTo(2);
    }

    /** Two threads: one claims and ends pieces, the other promotes or gives up; no piece is lost or done twice. */
    @Test
    void claimsAndPromotions_neverLoseAPiece() throws InterruptedException {
        for (int round = 0; round < 2000; round++) {
            SlotTable t = new SlotTable(1);
            t.reserve(0, 9, true, 6);
            int generation = t.generation(0);
            boolean give = round % 2 == 0;
            Thread reader = Thread.ofPlatform().start(() -> {
                for (int p = t.next(0, generation); p >= 0 && p < 6; p = t.next(0, generation)) {
                    if (t.claim(0, generation, p)) {
                        t.pieceEnded(0, generation, false);
                    }
                }
            });
            int first = t.claimRest(0, 6);
            if (give) {
                t.giveUp(0, 6 - first);
            } else {
                t.promote(0);
                for (int p = first; p < 6; p++) {
                    t.pieceEnded(0, generation, false);
                }
            }
            reader.join();
            State wanted = give && first < 6 ? State.FREE : State.READY;
            if (give && first == 6) {
                assertThat(t.state(0)).isIn(State.FREE, State.READY);
            } else {
                assertThat(t.state(0)).isEqualTo(wanted);
            }
        }
    }
}
