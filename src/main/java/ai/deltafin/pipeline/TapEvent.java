package ai.deltafin.pipeline;

/** What a tap shows of the engine at work. */
public sealed interface TapEvent {

    /** The address it is published on. */
    String address();

    /**
     * The routes of one layer for one pass.
     *
     * @param request id of the request
     * @param position tape position of the pass's first row
     * @param layer zero-based layer
     * @param ids expert ids [rows][k], descending by selection score
     * @param weights their mixing weights [rows][k]
     * @param k routed experts of a row
     */
    record Route(long request, int position, int layer, int[] ids, float[] weights, int k) implements TapEvent {
        @Override
        public String address() {
            return Tap.ROUTE;
        }
    }

    /**
     * One expert asked of the store.
     *
     * @param drive name of the drive; empty for a hit
     * @param layer zero-based layer
     * @param expert expert id
     * @param bytes bytes moved; 0 for a hit
     * @param micros time from submission to completion
     * @param kind hit, miss or speculative
     */
    record Read(String drive, int layer, int expert, long bytes, long micros, String kind) implements TapEvent {
        @Override
        public String address() {
            return Tap.READ;
        }
    }

    /**
     * One token chosen.
     *
     * @param request id of the request
     * @param position its place on the tape
     * @param id the token id
     * @param nanos time since the one before, or since the request was taken up
     */
    record Token(long request, int position, int id, long nanos) implements TapEvent {
        @Override
        public String address() {
            return Tap.TOKEN;
        }
    }

    /**
     * A request's state has changed.
     *
     * @param request id of the request
     * @param state started or ended
     * @param promptTokens ids of its prompt
     * @param completionTokens ids generated so far
     */
    record Request(long request, String state, int promptTokens, int completionTokens) implements TapEvent {
        @Override
        public String address() {
            return Tap.REQUEST;
        }
    }
}
