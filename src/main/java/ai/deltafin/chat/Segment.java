package ai.deltafin.chat;

/** One stretch of a rendered chat that is encoded by itself: no token reaches over its borders. */
public sealed interface Segment {

    /** How the segment reads, control tokens spelled. */
    String text();

    /** A control token. */
    record Control(Marker marker) implements Segment {
        @Override
        public String text() {
            return marker.spelling();
        }
    }

    /** Ordinary text, never empty; spellings of control tokens in it mean nothing. */
    record Text(String text) implements Segment {}

    /** Text in which spellings of control tokens count: the prompt of an image. */
    record Raw(String text) implements Segment {}

    /** The ids the model itself generated for an earlier answer, put back as they were. Not to be changed. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Replay(int[] ids, String text) implements Segment {}

    /** The four control tokens the chat format is made of. */
    enum Marker {
        OPEN("<|open|>"),
        CLOSE("<|close|>"),
        SEP("<|sep|>"),
        END_OF_MESSAGE("<|end_of_msg|>");

        private final String spelling;

        Marker(String spelling) {
            this.spelling = spelling;
        }

        /** As it is written. */
        public String spelling() {
            return spelling;
        }

        int id(ControlTokens controls) {
            return switch (this) {
                case OPEN -> controls.open();
                case CLOSE -> controls.close();
                case SEP -> controls.sep();
                case END_OF_MESSAGE -> controls.endOfMessage();
            };
        }
    }
}
